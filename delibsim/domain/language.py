"""Whether a text is German or English by its words, and where a long text may be parted."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from delibsim.domain.data import read_data

GERMAN, ENGLISH, OTHER = (
    frozenset(words.split()) for words in read_data("function_words.yaml").values()
)
"""Function words: of German that English has not, of English that German has not, and of the
languages around.
"""
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


def language(text: str) -> Language | None:
    """German or English, each by its function words with a clear margin; else unknown.

    None for a few words that do not say their language.

    >>> language("Das ist mir zu teuer."), language("That is too expensive for me.")
    ('german', 'english')
    >>> language("C'est trop cher."), language("42!")
    ('unknown', None)
    """
    words = WORD.findall(text.lower())
    german = sum(word in GERMAN for word in words)
    english = sum(word in ENGLISH for word in words)
    other = sum(word in OTHER or not LETTERS.fullmatch(word) for word in words)
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
