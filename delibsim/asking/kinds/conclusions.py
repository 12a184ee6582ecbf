"""Which level the rationale of a code concludes, read by rule: agrees, differs, or not read.

A level counts only right behind a word of assertion ("meets level 2", "scores 2", "fits the anchor
'qualified'"), in a clause without negation and hypothesis; the last such level counts. What the
rule cannot read is said to be not read, and never taken for agreement or difference.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from delibsim.domain.scheme import Dimension, LevelValue

LONGEST = 1_000
"""Characters of a clause that is read."""
NUMBERS = {"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
_SATISFIES = (
    r"satisf(?:y|ies|ied)|meets?|met|fits?|match(?:es|ed)?|align(?:s|ed)? with|corresponds? to"
    r"|belongs? (?:to|at|in)|falls? (?:at|in|into|under|within)|qualif(?:y|ies) (?:as|for)"
    r"|reach(?:es|ed)|counts? as|amounts? to|exemplif(?:y|ies)|consistent with|in line with"
    r"|characteristic of|typical of|places? (?:it|this|the \w+) (?:at|in|on)"
)
_GIVES = (
    r"scores?|scored|rates?|rated|codes?|coded|assign(?:s|ed)?|giv(?:e|es|en)|earns?|deserves?"
    r"|warrants?|merits?|receives?|justif(?:y|ies)|supports?|indicates?|suggests?|points? to|choose"
    r"|chosen|conclude|select(?:ed)?|settle (?:on|for)|therefore|hence|thus|so"
)
_IS = r"(?:level|score|code|rating|category|anchor)(?: here)?(?: is|:| =)"
_FILLER = (
    r"(?:\s+(?:it|this|the|a|an|of|at|as|for|to|in|on|is|with|only|just|clearly|best|most|closely"
    r"|exactly|text|speech|statement|here|anchor|anchors|level|levels|score|code|rating|category"
    r"|standard|criteria|criterion|description|definition|dimension))*"
)
_NAMED = r"\b(?:level|score|code|rating|category|anchor)(?: of| is)?[\s:=]*$"
ASSERTION = re.compile(
    rf"\b(?P<word>{_SATISFIES}|{_GIVES}|{_IS})(?P<filler>{_FILLER})[\s:=]*$", re.I
)
BEHIND = re.compile(
    r"^\W{0,3}(?:\([^)]*\)\s*)?(?:anchor |level )?"
    r"(?:applies|is (?:met|satisfied|reached|the (?:right|best|correct)|appropriate|warranted"
    r"|justified)|fits|best describes)\b",
    re.I,
)
"""What asserts a level that stands before it: "level 2 applies", "2 is the right level"."""
NEGATION = re.compile(
    r"\b(?:not|no|none|never|neither|nor|cannot|without|lacks?|lacking|fails?|failing|falls? short"
    r"|short of|below|beneath|above|beyond|under|over|higher|lower|exceeds?|more than|less than"
    r"|rather than|instead of|other than|almost|nearly|barely|hardly|unlike|as opposed to"
    r"|rules? out|ruled out|reject(?:s|ed)?|too \w+ for|stops? before|between|either)\b|n['’]t\b",
    re.I,
)
HYPOTHESIS = re.compile(
    r"\b(?:if|unless|were|would|could|might|may|should|must|had|needs?|needed|requir(?:e|es|ed|ing)"
    r"|in order|in case|suppose|perhaps|possibly|tempting|one could|to be)\b",
    re.I,
)
INFINITIVE = re.compile(r"\bto (?:also |fully |really )?$", re.I)
CLAUSE = re.compile(
    r"[.;!](?=\s|$)|,|\n|(?<=\?)\s|\s[-–—]\s"
    r"|\b(?:but|because|since|although|though|while|whereas|yet|however|and|so that|which)\b",
    re.I,
)
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
