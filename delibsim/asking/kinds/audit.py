"""The audit of a study's codes: its rationales read by rule, and its disagreements with people."""

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.analysis.coding.costs import audit_rows, corrected_rows, failure_counts
from delibsim.asking.kinds.coding import Coding, coded_by_models
from delibsim.domain.annotation import Text
from delibsim.domain.coding import Code, Failure, FailureKind, Reading, Sample, Verdict
from delibsim.domain.data import patterns
from delibsim.domain.scheme import Dimension, LevelValue
from delibsim.store.answers import Audits
from delibsim.store.codec import Damaged
from delibsim.store.coded import DimensionSamples, SchemeCodes

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


@dataclass(frozen=True)
class Audit:
    """What an audit finds: a reading of each call with a level, verdicts of readers, failures.

    `without_level` counts calls that gave no level, `edited` readings whose text is another now, so
    that its quotations could not be looked for.
    """

    coding: Coding
    readings: tuple[Reading, ...]
    verdicts: tuple[Verdict, ...]
    failures: tuple[Failure, ...]
    without_level: int

    @property
    def edited(self) -> int:
        """How many readings have quotations that could not be looked for."""
        return sum(one.misquoted is None for one in self.readings)

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        made_up = []
        for reading in self.readings:
            if reading.misquoted:
                sample = reading.sample
                made_up.append(
                    {
                        "text": sample.text,
                        "dimension": sample.dimension,
                        "model": sample.model,
                        "index": sample.index,
                        "quotations": list(reading.misquoted),
                    }
                )
        failures = []
        for one in self.failures:
            failures.append({name: getattr(one, name) for name in one.__dataclass_fields__})
        return {
            "study": self.coding.runs.study,
            "scheme": self.coding.scheme.id,
            "calls": len(self.readings),
            "without_level": self.without_level,
            "edited": self.edited,
            "by_rule": audit_rows(self.readings),
            "by_readers": corrected_rows(self.readings, self.verdicts),
            "failures": failures,
            "kinds": failure_counts(self.failures),
            "misquoted": made_up,
        }


def audit_of(coding: Coding) -> Audit:
    """Read every rationale by rule, and compare the ensemble with people; nobody is asked.

    WrongInput where no model was asked.
    """
    codes = coded_by_models(coding)
    samples = scored(codes)
    texts = {text.id: text for text in coding.texts()}
    shown = coding.shown(list(texts.values()))
    steps = _steps(coding)
    readings = []
    for sample in samples:
        if sample.level is None:
            continue
        word_for_word = texts.get(sample.text)
        seen: list[Text] = []
        if word_for_word is not None and word_for_word.sha256 == sample.text_sha256:
            seen = [shown[sample.text], word_for_word]
        own = steps.get((sample.dimension, sample.model), ())
        dimension = coding.scheme.dimension(sample.dimension)
        readings.append(read_by_rule(sample, dimension, seen, own))
    audits = Audits.of(coding.runs, coding.scheme.id)
    return Audit(
        coding=coding,
        readings=tuple(readings),
        verdicts=tuple(_every(audits)),
        failures=tuple(_failures(codes, samples, audits)),
        without_level=len(samples) - len(readings),
    )


def _every(audits: Audits) -> list[Verdict]:
    """Every verdict, of models and then of people; Damaged for a line that is none."""
    faults: list[str] = []
    found = audits.every(faults)
    if faults:
        raise Damaged("; ".join(faults))
    return found


def read_by_rule(
    sample: Sample, dimension: Dimension, shown: Sequence[Text], steps: Sequence[str] = ()
) -> Reading:
    """The reading of a sample that has a level.

    `shown` holds the text as the coder saw it and word for word, nothing where it was edited since;
    `steps` are those that the coder followed.
    """
    quoted = quotations(sample.rationale)
    made_up: tuple[str, ...] | None = None
    if shown:
        also = [*entry_texts(dimension), *steps]
        for text in shown:
            also += [text.text, *text.context]
        made_up = tuple(misquoted(sample.rationale, shown[0].text, also))
    level = concluded(sample.rationale, dimension)
    return Reading(sample, level, len(quoted), made_up)


def _steps(coding: Coding) -> dict[tuple[str, str], Sequence[str]]:
    """The steps that each model wrote for each dimension, which it may quote."""
    found = {}
    for line in coding.codings.steps():
        key = str(line.get("dimension")), str(line.get("model"))
        found[key] = [str(step) for step in line.get("steps") or ()]
    return found


def _failures(codes: SchemeCodes, samples: Sequence[Sample], audits: Audits) -> list[Failure]:
    """Every disagreement between the ensemble and a person; training rounds do not count."""
    people: defaultdict[str, list[Code]] = defaultdict(list)
    for code in codes.people:
        if code.level is not None and not code.training:
            people[code.dimension].append(code)
    if not people:
        return []
    by_text: defaultdict[tuple[str, str], list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.level is not None:
            by_text[sample.text, sample.dimension].append(sample)
    corrections = audits.corrections()
    found = []
    for own in codes.by_dimension.values():
        dimension, ensemble = own.dimension, ensemble_of(own)
        for code in people[dimension.id]:
            level = ensemble.get(code.text)
            if level is None or code.level is None or level == code.level:
                continue
            given = by_text[code.text, dimension.id]
            unstable = is_unstable(_of_models(own, code.text), _of_samples(given))
            said = [sample.rationale for sample in given if sample.level == level]
            kind = proposed_kind(dimension, level, code.level, said, unstable)
            key = code.text, dimension.id, code.coder
            corrected = corrections.get(key, kind)
            found.append(Failure(*key, code.level, level, kind, corrected, unstable))
    return found


def _of_models(own: DimensionSamples, text: str) -> list[LevelValue]:
    """The levels of the models on a text."""
    levels = map(own.level_at, own.levels[own.texts.index(text)])
    return [level for level in levels if level is not None]


def _of_samples(samples: Sequence[Sample]) -> list[list[LevelValue]]:
    """The levels of the samples of each model."""
    found: defaultdict[str, list[LevelValue]] = defaultdict(list)
    for sample in samples:
        if sample.level is not None:
            found[sample.model].append(sample.level)
    return list(found.values())


def scored(codes: SchemeCodes) -> list[Sample]:
    """The samples that make the codes: those of the scored wording."""
    return [sample for sample in codes.samples if sample.wording == codes.asked.wording]


def ensemble_of(own: DimensionSamples) -> dict[str, LevelValue]:
    """The level that the ensemble gives each text, of the texts to which it gives one."""
    found = {}
    for text, place in zip(own.texts, own.ensemble(), strict=True):
        level = own.level_at(place)
        if level is not None:
            found[text] = level
    return found
