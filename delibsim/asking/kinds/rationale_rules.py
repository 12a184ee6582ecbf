"""Rationales read by rule: the level that each concludes, its quotations, and kinds of
disagreement with a person.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from delibsim.domain.coding import FailureKind
from delibsim.domain.data import patterns
from delibsim.domain.scheme import Dimension, LevelValue

LONGEST = 1_000
"""Characters of a clause that is read."""
NUMBERS = {"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
_WORDS = patterns("rationales")
_FILLER = rf"(?:\s+(?:{_WORDS['filler']}))*"
_NAMED = _WORDS["named"]
_ASSERTS = "|".join([_WORDS["satisfies"], _WORDS["gives"], _WORDS["is"]])
ASSERTION = re.compile(rf"\b(?P<word>{_ASSERTS})(?P<filler>{_FILLER})[\s:=]*$", re.I)
BEHIND = re.compile(
    rf"^\W{{0,3}}(?:\([^)]*\)\s*)?(?:anchor |level )?(?:{_WORDS['behind']})\b", re.I
)
"""What asserts a level that stands before it: "level 2 applies", "2 is the right level"."""
NEGATION = re.compile(rf"\b(?:{_WORDS['negation']})\b|n['’]t\b", re.I)
HYPOTHESIS = re.compile(rf"\b(?:{_WORDS['hypothesis']})\b", re.I)
INFINITIVE = re.compile(r"\bto (?:also |fully |really )?$", re.I)
CLAUSE = re.compile(_WORDS["clause"], re.I)
QUOTED = re.compile(r"[“«„\"]([^“”«»„\"]{1,2000})[”»\"]|(?<!\w)['‘]([^'‘’\n]{1,400})['’](?!\w)")
ALTERNATIVE = re.compile(r"^\W{0,3}(?:or|to|and|/|-|–)\s*(?:level |perhaps )?[\d\"'“]", re.I)
UNIT = re.compile(r"^[.,]?\d|^\s*(?:/|%|of \d|out of)", re.I)
"""What makes of a number something else than a level: 2.5, 2/3, 2%."""


def concluded(rationale: str, dimension: Dimension) -> LevelValue | None:
    """The level that a rationale concludes on a dimension; None where it cannot be read.

    >>> from delibsim.domain.scheme import Level
    >>> levels = (Level(0, "none", "No reason."), Level(1, "some", "A reason."))
    >>> ca = Dimension("ca", "Answers", "ordinal", levels)
    >>> concluded("Level 1 would require a reason, so the text meets level 0.", ca)
    0
    >>> concluded("The text does not meet level 1.", ca)
    """
    names = _names_of(dimension)
    found = None
    for clause in _clauses(_without_speech(rationale, names)):
        level = _asserted(clause, names)
        found = found if level is None else level
    return found


@dataclass(frozen=True)
class _Names:
    """The levels of a dimension by what a rationale may call them, and the patterns of these names
    and of the dimension's own.
    """

    levels: Mapping[str, LevelValue]
    mention: re.Pattern[str]
    own: re.Pattern[str]


def _names_of(dimension: Dimension) -> _Names:
    """The names of a dimension and of its levels."""
    levels = tuple((level.value, level.name) for level in dimension.levels)
    return _names(dimension.id, dimension.name, dimension.scale == "ordinal", levels)


@functools.lru_cache(maxsize=256)  # a coding has thousands of rationales of a few dimensions
def _names(id: str, name: str, ordinal: bool, levels: tuple[tuple[LevelValue, str], ...]) -> _Names:
    by_name: dict[str, LevelValue] = {}
    for value, _ in levels:
        by_name[str(value).casefold()] = value
    for value, called in levels:
        if called:
            by_name.setdefault(called.casefold(), value)
    if ordinal:
        for word, digit in NUMBERS.items():
            if digit in by_name:
                by_name.setdefault(word, by_name[digit])
    longest_first = sorted(by_name, key=len, reverse=True)
    joined = "|".join(map(re.escape, longest_first))
    mention = re.compile(rf"(?<![\w.])(?:{joined})(?!\w)", re.I)
    own = re.compile(rf"\b(?:{re.escape(id)}|{re.escape(name)})\s*(?:=|:|is)\s*$", re.I)
    return _Names(by_name, mention, own)


def _without_speech(rationale: str, names: _Names) -> str:
    """A rationale without what it quotes, which is the text's and may say "score 3"; the name of a
    level in quotes stays.
    """

    def bare(match: re.Match[str]) -> str:
        inner = (match[1] or match[2] or "").strip()
        short = re.sub(r"^level\s+", "", inner.casefold())
        return inner if short in names.levels else " (quoted) "

    return QUOTED.sub(bare, rationale)


def _clauses(text: str) -> list[str]:
    """The clauses of a text that are short enough to be clauses; decimals stay whole."""
    found, start = [], 0
    for cut in CLAUSE.finditer(text):
        found.append(text[start : cut.start()])
        start = cut.start() if cut[0].isalpha() else cut.end()
    found.append(text[start:])
    return [clause for clause in found if len(clause) <= LONGEST]


def _asserted(clause: str, names: _Names) -> LevelValue | None:
    """The last level that a clause asserts; None if it asserts none, or two in one breath."""
    if clause.rstrip().endswith("?") or HYPOTHESIS.search(clause):
        return None
    found = None
    for match in names.mention.finditer(clause):
        before, after = clause[: match.start()], clause[match.end() :]
        if NEGATION.search(before) or ALTERNATIVE.match(after) or UNIT.match(after):
            continue
        if _is_asserted(before, after, match[0], names):
            found = names.levels.get(match[0].casefold(), found)
    return found


def _is_asserted(before: str, after: str, mention: str, names: _Names) -> bool:
    """Whether a mention stands right behind, or before, a word that asserts it."""
    prefix = re.sub(r"[\s\"'“‘(*_]+$", " ", before)
    if names.own.search(prefix):
        return True
    named = re.search(_NAMED, prefix, re.I) is not None
    assertion = ASSERTION.search(prefix)
    bare = mention.isdigit() and not named
    if bare and not _ends(after):
        return False  # "meets 2 criteria" speaks of criteria
    if assertion is not None and not INFINITIVE.search(before[: assertion.start()]):
        weak = assertion["word"].casefold() in ("so", "thus", "hence", "therefore")
        return named or not weak
    negated = re.search(r"\b(?:not|n['’]t)\b", after[:12])
    return named and BEHIND.match(after) is not None and not negated


def _ends(after: str) -> bool:
    """Whether nothing that is counted follows a bare number."""
    rest = after.lstrip(" \t\"'”’)*_")
    return re.match(r"$|[(:]|(?:on|for|under|here|as|in|overall|at most)\b", rest) is not None


OF_REASONS = re.compile(r"(?<!counter)(?:justif|reason|premise)", re.I)
"""The id or name of a dimension that grades reasons."""
NOTHING_NAMED = re.compile(_WORDS["nothing"], re.I)
"""What a rationale says that finds nothing in the text."""


def proposed_kind(
    dimension: Dimension,
    ensemble: LevelValue,
    person: LevelValue,
    rationales: Iterable[str],
    unstable: bool,
) -> FailureKind:
    """The kind of a disagreement: the first of the rules that takes it (`domain.audit.KINDS`).

    `rationales` are those of the samples that gave the ensemble's level. Levels without an order
    are never above or below. ValueError where both levels are the same.
    """
    if ensemble == person:
        raise ValueError("levels that are the same are no disagreement")
    if dimension.scale != "nominal":
        places = dimension.values
        distance = places.index(ensemble) - places.index(person)
        ends = ensemble == places[0] and person == places[-1]
        if ends and any(map(_names_nothing, rationales)):
            return "strict"
        if distance == -1:
            return "acknowledged"
        if distance > 0:
            return "over_graded" if is_of_reasons(dimension) else "over_read"
    return "unstable" if unstable else "other"


def _names_nothing(rationale: str) -> bool:
    """Whether a rationale finds nothing in the text; what it quotes of the text does not count."""
    return NOTHING_NAMED.search(QUOTED.sub(" ", rationale)) is not None


def is_of_reasons(dimension: Dimension) -> bool:
    """Whether a dimension grades reasons, by its id and its name."""
    return bool(OF_REASONS.search(dimension.id) or OF_REASONS.search(dimension.name))


def is_unstable(models: Iterable[LevelValue], samples: Iterable[Sequence[LevelValue]]) -> bool:
    """Whether the models give three levels, or one model several levels in its samples."""
    return len(set(models)) >= 3 or any(len(set(own)) > 1 for own in samples)


QUOTATION = re.compile(
    r"“([^“”]{1,2000})”|«([^«»]{1,2000})»|„([^„“”]{1,2000})[“”]|\"([^\"]{1,2000})\""
    r"|(?<!\w)['‘]([^'‘’\n]{1,400})['’](?!\w)"
)
LEAST = 2
"""Words of a quotation that is looked for: a single word in quotes is often a term, not a quote."""
GAP = re.compile(r"\s*(?:\[[^\]]*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3}|…)\s*")
"""What stands for words that were left out, or puts in others."""


def misquoted(rationale: str, text: str, also: Iterable[str] = ()) -> list[str]:
    """The quotations of two words or more that stand neither in the text nor in what else the
    coder was shown (`also`: what came before the text, the entry of the dimension, the steps).

    Case, spaces, marks and the shape of quotation marks and dashes do not count; what stands around
    "..." or "[...]" is looked for piece by piece, in order.

    >>> misquoted("It says “trees are dear” and “nobody knows”.", "Trees  are dear!")
    ['nobody knows']
    """
    quoted = quotations(rationale)
    if not quoted:
        return []
    shown = [_plain(text), *map(_plain, also)]
    found = []
    for quotation in quoted:
        if not any(_stands_in(quotation, one) for one in shown):
            found.append(quotation)
    return found


def quotations(rationale: str) -> list[str]:
    """The quotations of two words or more in a rationale."""
    found = []
    for match in QUOTATION.finditer(rationale):
        quotation = next(filter(None, match.groups())).strip()
        if len(_plain(quotation).split()) >= LEAST:
            found.append(quotation)
    return found


def entry_texts(dimension: Dimension) -> list[str]:
    """What a coder reads of a dimension, which a rationale may quote."""
    found = [dimension.name, dimension.brief, dimension.full, dimension.use, dimension.not_use]
    found += [dimension.applies, *dimension.steps]
    for level in dimension.levels:
        found += [f"{level.value} {level.name}", f"level {level.value}", level.name, level.anchor]
    for example in dimension.examples:
        found += [example.text, example.why]
    return [text for text in found if text]


def _stands_in(quotation: str, shown: str) -> bool:
    """Whether the pieces of a quotation stand in a plain text, as whole words and in order."""
    place = 0
    for piece in map(_plain, GAP.split(quotation)):
        if not piece:
            continue
        at = shown.find(piece, place)
        if at < 0:
            return False
        place = at + len(piece) - 1  # the space behind it may be that before the next
    return True


@functools.lru_cache(maxsize=4096)  # the entry of a dimension is looked through for each rationale
def _plain(text: str) -> str:
    """A text as its words alone, each between spaces."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(words)} " if words else ""
