"""Texts that others wrote (a model, a provider, a file), made safe to print; whether one is German
or English by its words, and where a long one may be parted.
"""

import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from html import escape
from typing import Any, Literal

HIDDEN = ("Cc", "Cf", "Cs", "Co")
"""The categories of characters by which a text could command a terminal."""
NO_CHARACTERS = "\ufffe\uffff"
"""Code points that are no characters, which no XML document can hold."""
LONGEST = 6_000
"""Characters of one text that are printed; about a thousand words."""
BARS = re.compile(r"(?<![^ ])\|+(?![^ ])")
"""Bars that stand alone between blanks, as between names that are joined."""


def safe(text: str) -> str:
    r"""Text made inert for a terminal: no control, escape or direction-changing characters, and
    none that XML cannot hold; line ends and tabs stay.

    >>> safe("a\x1b[31mb")
    'a[31mb'
    """
    line = text.replace("\n", "").replace("\t", "")
    if line.isprintable():  # which no hidden character is; most texts end here, much sooner
        return text
    kept = text.translate(dict.fromkeys(map(ord, NO_CHARACTERS)))
    return "".join(c for c in kept if c in "\n\t" or unicodedata.category(c) not in HIDDEN)


def brief(text: str, longest: int = LONGEST) -> tuple[str, str]:
    """Safe text, cut at `longest` characters, and a note of how much is not shown, or ""."""
    clean = safe(text[: 4 * longest])
    if len(clean) <= longest and len(text) <= 4 * longest:
        return clean, ""
    return clean[:longest].rstrip(), f"({len(text):,} characters in all)"


def counted(n: int, noun: str, plural: str = "") -> str:
    """A number and what it counts; the plural ends in s, or -ies, unless it is given.

    >>> counted(1, "session"), counted(1980, "session"), counted(0, "reply", "replies")
    ('1 session', '1,980 sessions', '0 replies')
    """
    return f"{n:,} {noun if n == 1 else plural or plural_of(noun)}"


def one_name(*names: str) -> str:
    """Several names as one, with a bar between them, which no other names give: bars that stand
    alone in a name get one more.

    >>> one_name("t1", "t2"), one_name("a|b", "c")
    ('t1 | t2', 'a|b | c')
    >>> one_name("a | b", "c"), one_name("a", "b | c")
    ('a || b | c', 'a | b || c')
    """
    joined = " | ".join(names)
    if joined.count("|") == len(names) - 1:  # as for nearly all, of which there may be millions
        return joined
    return " | ".join(BARS.sub(r"\g<0>|", name) for name in names)


def plural_of(noun: str) -> str:
    """The plural of a regular noun.

    >>> plural_of("summary"), plural_of("day"), plural_of("vote")
    ('summaries', 'days', 'votes')
    """
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{noun[:-1]}ies" if ends_in_y else f"{noun}s"


def study_named(name: str) -> str:
    """A study as messages name it: quoted where a shell would not take the name as one word.

    >>> study_named("first"), study_named("my study")
    ('study first', "study 'my study'")
    """
    return f"study {quoted(name)}"


def quoted(word: object) -> str:
    """A name or a place in a command that is proposed, as a shell takes it for one word.

    >>> quoted("first"), quoted("my study")
    ('first', "'my study'")
    """
    return shlex.quote(safe(str(word)))


SHOWN, SAID = 180, 40
"""Characters of a noun that is shown in short, and of one text within it."""


def in_short(noun: Any) -> str:
    """A dataclass as a reader of a notebook sees it, in under 200 characters: what it is called,
    how many things it holds, the beginnings of its texts. What is as by default is left out.
    """
    told, left = [], SHOWN - len(type(noun).__name__)
    for own in fields(noun):
        value = getattr(noun, own.name)
        usual = own.default is not MISSING and value == own.default
        if not own.repr or usual or (isinstance(value, Sized) and not len(value)):
            continue
        part = f"{own.name}={_in_short(value)}"
        left -= len(part) + 2
        if left < 0:
            told.append("...")
            break
        told.append(part)
    return f"{type(noun).__name__}({', '.join(told)})"


def _in_short(value: Any) -> str:
    """A value within a noun: a text by its beginning, another noun by its name, many by number."""
    if isinstance(value, str):
        return repr(value if len(value) <= SAID else f"{value[: SAID - 3]}...")
    if is_dataclass(value):
        name = getattr(value, "id", None) or getattr(value, "name", "")
        whole = repr(value)
        if not name and len(whole) <= 2 * SAID:
            return whole
        return f"{type(value).__name__}({_in_short(name) if name else '...'})"
    return f"<{len(value)}>" if isinstance(value, Sized) else repr(value)[:SAID]


def as_card(title: str, facts: Mapping[str, object], told: Iterable[str] = ()) -> str:
    """What a notebook shows of a noun: a title, facts by name, a row each, and sentences, as HTML
    in which no text of others is markup.
    """
    cell = "<td style='text-align:left'>"
    known = {name: value for name, value in facts.items() if str(value)}
    rows = [f"<tr>{cell}{_inert(k)}</td>{cell}{_inert(v)}</td></tr>" for k, v in known.items()]
    head = f"<p><b>{_inert(title)}</b></p>" if title else ""
    table = f"<table>{''.join(rows)}</table>" if rows else ""
    lines = "".join(f"<p>{_inert(line)}</p>" for line in told if line)
    return f"<div>{head}{table}{lines}</div>"


def _inert(text: object) -> str:
    return escape(safe(str(text)))


WORD = re.compile(r"[^\W\d_]+")
ALONE = re.compile(r"(?<!\w)[^\W\d_]{2,}(?!\w)")
LINK = re.compile(r"(?:https?://|www\.)\S*|(?<!\S)\S[^\s@]*+@\S[^\s.]*+\.\S+", re.IGNORECASE)
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Characters of Thai, Lao, Burmese, Khmer, Japanese and Chinese, punctuation included."""
LETTERS = re.compile(r"[a-zäöüß]+")
SHARE = 10  # words, of which one at least must be a function word of the language
MARGIN = 2  # times as many of them as of words of other languages
SHORT = 8  # words of a text that need not say its language
Language = Literal["german", "english", "unknown"]
ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-zÄÖÜäöü]|Dr|Prof|Mr|Mrs|Ms|St|vs|etc|ca|bzw|usw|Nr|No|Abs|Art|evtl|ggf"
    r"|inkl|Mio|Mrd|approx|dept|gov|Sen|Rep)\.)\Z"
)
LONGEST_ABBREVIATION = len("approx.")
SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'»”’)\]]*+\s+|\n+")
CLAUSE_END = re.compile(r"[,;:–—]\s+")
WORD_END = re.compile(r"\s+")


@cache
def function_words() -> list[frozenset[str]]:
    """Function words: of German that English has not, of English that German has not, and of the
    languages around.
    """
    from delibsim.domain.data import read_data  # YAML takes long to import

    return [frozenset(words.split()) for words in read_data("function_words.yaml").values()]


def language(text: str) -> Language | None:
    """German or English, each by its function words with a clear margin; else unknown.

    None for a few words that do not say their language.

    >>> language("Das ist mir zu teuer."), language("That is too expensive for me.")
    ('german', 'english')
    >>> language("C'est trop cher."), language("42!")
    ('unknown', None)
    """
    words = WORD.findall(text.lower())
    of_german, of_english, of_others = function_words()
    german = sum(word in of_german for word in words)
    english = sum(word in of_english for word in words)
    other = sum(word in of_others or not LETTERS.fullmatch(word) for word in words)
    if german * SHARE >= len(words) and german >= max(1, MARGIN * (english + other)):
        return "german"
    if english * SHARE >= len(words) and english >= max(1, MARGIN * (german + other)):
        return "english"
    return "unknown" if other or len(words) > SHORT else None


def wordless(text: str) -> bool:
    """Whether a text holds no word: two letters or more that are joined to no digit, outside of
    links and addresses.

    >>> wordless("-99"), wordless("https://example.org/a"), wordless("R_3kJ2x"), wordless("Ja.")
    (True, True, True, False)
    """
    return not ALONE.search(LINK.sub(" ", text))


def word_count(text: str) -> int:
    """How many words a text has; in scripts without spaces two characters count as one word.

    >>> word_count("We should."), word_count("我们应该种树。")
    (2, 4)
    """
    unspaced = len(UNSPACED.findall(text))
    return len(UNSPACED.sub(" ", text).split()) + (unspaced + 1) // 2


def prevailing(texts: Iterable[str]) -> Language:
    """The language of more than half of those texts that say one; else unknown."""
    found = [known for known in map(language, texts) if known]
    if 2 * found.count("german") > len(found):
        return "german"
    return "english" if 2 * found.count("english") > len(found) else "unknown"


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with the space behind it: joined they are the text.

    >>> sentences("Dr. Roe is right. Is she? Yes")
    ['Dr. Roe is right. ', 'Is she? ', 'Yes']
    """
    return _cut(text, SENTENCE_END, not_abbreviated=True)


def parts(text: str, fits: Callable[[str], bool]) -> list[str]:
    """A text in parts that fit: whole sentences together as far as they fit.

    A sentence that is too long is parted at clauses, else at words. Joined they are the text:
    nothing is dropped, and even a word that does not fit is parted.
    """
    if fits(text):
        return [text]
    found: list[str] = []
    for sentence in _small(text, fits):
        if found and fits(found[-1] + sentence):
            found[-1] += sentence
        else:
            found.append(sentence)
    return found


def joined(pieces: Sequence[str], translated: Sequence[str]) -> str:
    """The translations of the parts of a text as one text, parted as the parts were.

    >>> joined(["One. ", "Two."], ["Eins.", "Zwei."])
    'Eins. Zwei.'
    """
    whole = []
    for piece, translation in zip(pieces, translated, strict=True):
        whole += [translation, piece[len(piece.rstrip()) :]]
    return "".join(whole).strip()


def _small(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Sentences, and of those that do not fit clauses, words, halves of words."""
    pieces = sentences(text)
    for end in (CLAUSE_END, WORD_END):
        smaller = []
        for piece in pieces:
            smaller += [piece] if fits(piece) else _cut(piece, end)
        pieces = smaller
    return [half for piece in pieces for half in _halves(piece, fits)]


def _halves(piece: str, fits: Callable[[str], bool]) -> list[str]:
    middle = len(piece) // 2
    if middle == 0 or fits(piece):
        return [piece]
    return [*_halves(piece[:middle], fits), *_halves(piece[middle:], fits)]


def _cut(text: str, end: re.Pattern[str], not_abbreviated: bool = False) -> list[str]:
    """A text cut behind each end, where words stand before it; `not_abbreviated`: not behind an
    abbreviation.
    """
    pieces, begun, looked, said = [], 0, 0, False
    for match in end.finditer(text):
        said = said or (not text[looked : match.start()].isspace() and looked < match.start())
        if said and not (not_abbreviated and _abbreviated(text, begun, match.end())):
            pieces.append(text[begun : match.end()])
            begun, said = match.end(), False
        else:
            said = said or not match[0].isspace()
        looked = match.end()
    return [*pieces, text[begun:]] if text[begun:] or not pieces else pieces


def _abbreviated(text: str, begun: int, end: int) -> bool:
    """Whether what stands between two places of a text ends with an abbreviation."""
    # Only its end is looked at: a text may hold nothing but abbreviations.
    while end > begun and text[end - 1].isspace():
        end -= 1
    return ABBREVIATION.search(text[max(begun, end - LONGEST_ABBREVIATION - 1) : end]) is not None
