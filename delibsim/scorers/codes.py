"""The codes of statements as scores: of each coder and of the ensemble, up to the whole run."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from delibsim.domain.coding import Code, Coded, measure_id
from delibsim.domain.run import Run
from delibsim.domain.scheme import Dimension, Scheme
from delibsim.domain.score import Score, Unit


class Codes:
    """Every code of every statement, and its means over a participant's texts and over the run.

    `SCHEME.DIMENSION` is the level where levels have numbers; a nominal dimension gives
    `SCHEME.DIMENSION.LEVEL` for each level, 1 where it was given, otherwise 0, and shares as means.
    The coder is "ensemble", a model or a person. A code that is missing is NaN with its reason and
    no part of a mean; runs that nobody coded have no scores. The measures are those of the schemes
    (`domain.coding.measures_of_scheme`), so the class declares none. See docs/coding.md.
    """

    name = "codes"
    version = 1
    by_run = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of every coded run among the runs."""
        found: list[Score] = []
        for run in runs:
            if isinstance(run, Coded):
                for scheme, codes in run.codes:
                    found += _of_scheme(run, scheme, codes)
        return found


def scores_of_texts(scheme: Scheme, codes: Iterable[Code]) -> Iterator[Score]:
    """The codes of texts that were not held as scores of the unit "text", by every coder."""
    dimensions = {dimension.id: dimension for dimension in scheme.dimensions}
    for code in codes:
        dimension = dimensions[code.dimension]
        levels = dimension.values if dimension.scale == "nominal" else (None,)
        for level in levels:
            measure = measure_id(scheme.id, dimension.id, level)
            note = code.missing.code if code.missing else ""
            value = _value(dimension, code, level)
            yield Score(measure, "text", code.text, value, coder=code.coder, note=note)


def _of_scheme(run: Run, scheme: Scheme, codes: Iterable[Code]) -> Iterator[Score]:
    by_coder: dict[tuple[str, str], list[Code]] = defaultdict(list)
    for code in codes:
        by_coder[code.dimension, code.coder].append(code)
    speakers = _speakers(run)
    for dimension in scheme.dimensions:
        for (of, coder), own in by_coder.items():
            if of == dimension.id:
                levels = dimension.values if dimension.scale == "nominal" else (None,)
                for level in levels:
                    measure = measure_id(scheme.id, dimension.id, level)
                    values = {code.text: _value(dimension, code, level) for code in own}
                    notes = {code.text: code.missing.code for code in own if code.missing}
                    yield from _scores(run.session.id, measure, coder, values, notes, speakers)


def _scores(
    session: str,
    measure: str,
    coder: str,
    values: Mapping[str, float],
    notes: Mapping[str, str],
    speakers: Mapping[str, str],
) -> Iterator[Score]:
    """The scores of one measure and coder: of texts, of participants, of the run."""

    def row(unit: Unit, target: str, of: Iterable[str]) -> Score:
        texts = list(of)
        given = [values[text] for text in texts if not math.isnan(values[text])]
        if given:
            return Score(measure, unit, target, fmean(given), coder=coder)
        reasons = [notes[text] for text in texts]
        note = max(reasons, key=reasons.count)
        return Score(measure, unit, target, math.nan, coder=coder, note=note)

    by_speaker: dict[str, list[str]] = defaultdict(list)
    for text in values:
        if text in speakers:
            yield row("statement", text, [text])
        by_speaker[speakers.get(text, text)].append(text)
    for target, texts in by_speaker.items():
        if target != session:
            yield row("participant", target, texts)
    yield row("run", session, values)


def _value(dimension: Dimension, code: Code, level: object) -> float:
    """The value of a code: its level, or whether it is this level of a nominal dimension."""
    if code.level is None:
        return math.nan
    if level is None:
        return float(code.level)
    return float(code.level == level)


def _speakers(run: Run) -> dict[str, str]:
    """The target of the speaker of each statement, by the statement's id."""
    session = run.session.id
    found = {}
    for statement in run.transcript:
        found[f"{session}/{statement.turn.index}"] = f"{session}/{statement.turn.speaker}"
    return found
