"""The audit of a study's codes: its rationales read by rule, and its disagreements with people."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.analysis.coding.costs import audit_rows, corrected_rows, failure_counts
from delibsim.asking.kinds.coding import Coding, coded_by_models, ensemble_of, scored
from delibsim.asking.kinds.rationale_rules import (
    concluded,
    entry_texts,
    is_unstable,
    misquoted,
    proposed_kind,
    quotations,
)
from delibsim.domain.annotation import Text
from delibsim.domain.coding import Code, Failure, Reading, Sample, Verdict
from delibsim.domain.scheme import Dimension, LevelValue
from delibsim.store.answers import Audits
from delibsim.store.codec import Damaged
from delibsim.store.coded import DimensionSamples, SchemeCodes


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
