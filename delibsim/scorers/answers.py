"""What was said of finished texts as scores: ratings of debates, codes, strengths from pairs.

Codes and strengths are scores of each text, with their means over a participant's texts and over
the run. A value that is missing is NaN with its reason, and no part of a mean.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from delibsim.domain.annotation import DIMENSIONS, AnnotatedRun, Rating, debated
from delibsim.domain.coding import CODES, Code, measure_id
from delibsim.domain.comparison import PAIRS, TextScore, measure_of_pairs
from delibsim.domain.participant import SIDES
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.scheme import Dimension, LevelValue, Scheme
from delibsim.domain.score import CATALOGUE, Score, Unit
from delibsim.domain.survey import PHASES

NOT_ANSWERED = Reason("not_answered")


class Codes:
    """Every code of every statement, and its means over a participant's texts and over the run.

    `SCHEME.DIMENSION` is the level where levels have numbers; a nominal dimension gives
    `SCHEME.DIMENSION.LEVEL` for each level, 1 where it was given, otherwise 0, and shares as means.
    The coder is "ensemble", a model or a person. Runs that nobody coded have no scores. The
    measures are those of the schemes (`domain.coding.measures_of_scheme`), so the class declares
    none. See docs/coding.md.
    """

    name = CODES
    version = 1
    by_run = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of every coded run among the runs."""
        found: list[Score] = []
        for run in annotated_runs(runs):
            for scheme, codes in run.codes:
                for measure, coder, own in _by_measure(scheme, codes):
                    found += _of_run(run, measure, coder, own)
        return found


class Pairs:
    """The strength of every text that was compared, and its means over a participant and the run.

    `pairs.COMPARISON.DIMENSION` is the strength in log odds, 0 being the mean of the texts that a
    text was compared with; the coder is the comparison. A run has no mean where its texts were
    compared with each other only (`within_session`: it would be 0 whatever was said) and where
    votes do not join the texts of its group (`not_connected`). The measures are those of the
    comparisons, so the class declares none. See docs/compare.md.
    """

    name = PAIRS
    version = 1
    by_run = True
    on_request = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of every run among the runs whose texts were compared."""
        found: list[Score] = []
        for run in annotated_runs(runs):
            by_measure: dict[tuple[str, str], list[TextScore]] = defaultdict(list)
            for one in run.compared:
                by_measure[one.coder, one.dimension].append(one)
            for (coder, dimension), own in by_measure.items():
                values = {one.text: (one.value, one.note) for one in own}
                apart = next(filter(None, (one.apart for one in own)), "")
                measure = measure_of_pairs(coder, dimension).id
                found += _of_run(run, measure, coder, values, apart)
        return found


def annotated_runs(runs: Iterable[Run]) -> Iterator[AnnotatedRun]:
    """Those of the runs that have answers about their texts."""
    return (run for run in runs if isinstance(run, AnnotatedRun))


def codes_of_texts(scheme: Scheme, codes: Iterable[Code]) -> Iterator[Score]:
    """The codes of texts that were not held as scores of the unit "text", by every coder."""
    dimensions = {dimension.id: dimension for dimension in scheme.dimensions}
    for code in codes:
        dimension = dimensions[code.dimension]
        for level in _levels(dimension):
            measure = measure_id(scheme.id, dimension.id, level)
            value, note = _value(code, level)
            yield Score(measure, "text", code.text, value, coder=code.coder, note=note)


def strengths_of_texts(found: Iterable[TextScore]) -> Iterator[Score]:
    """The strengths of texts that were not held, as scores of the unit "text"."""
    for one in found:
        measure = measure_of_pairs(one.coder, one.dimension).id
        yield Score(measure, "text", one.text, one.value, coder=one.coder, note=one.note)


def _by_measure(
    scheme: Scheme, codes: Iterable[Code]
) -> Iterator[tuple[str, str, dict[str, tuple[float, str]]]]:
    """Every measure and coder, with value and reason by text."""
    by_coder: dict[tuple[str, str], list[Code]] = defaultdict(list)
    for code in codes:
        by_coder[code.dimension, code.coder].append(code)
    for dimension in scheme.dimensions:
        for (of, coder), own in by_coder.items():
            for level in _levels(dimension) if of == dimension.id else ():
                measure = measure_id(scheme.id, dimension.id, level)
                yield measure, coder, {code.text: _value(code, level) for code in own}


def _levels(dimension: Dimension) -> Sequence[LevelValue | None]:
    """The levels that are measures of their own; None stands for the level itself."""
    return dimension.values if dimension.scale == "nominal" else (None,)


def _value(code: Code, level: LevelValue | None) -> tuple[float, str]:
    """The level of a code, or whether it is this one; NaN and the reason where it has none."""
    if code.level is None:
        return math.nan, code.missing.code if code.missing else ""
    return float(code.level if level is None else code.level == level), ""


def _of_run(
    run: Run, measure: str, coder: str, values: Mapping[str, tuple[float, str]], apart: str = ""
) -> Iterator[Score]:
    """The scores of one measure and coder, of which `values` has value and reason by text: of
    texts, of participants, of the run. `apart` is why the mean of the run says nothing. The words
    of a facilitator and of witnesses are in no mean of the run.
    """
    session, speakers, others = run.session.id, {}, set()
    for statement in run.transcript:
        turn = statement.turn
        speakers[f"{session}/{turn.index}"] = f"{session}/{turn.speaker}"
        others |= {f"{session}/{turn.speaker}"} if turn.role else set()

    def row(unit: Unit, target: str, of: Iterable[str], apart: str = "") -> Score:
        own = [values[text] for text in of]
        given = [value for value, _ in own if not math.isnan(value)]
        if given and not apart:
            return Score(measure, unit, target, fmean(given), coder=coder)
        reasons = [note for _, note in own if note]
        note = apart or max(reasons, key=reasons.count)
        return Score(measure, unit, target, math.nan, coder=coder, note=note)

    by_speaker: dict[str, list[str]] = defaultdict(list)
    for text in values:
        if text in speakers:
            yield row("statement", text, [text])
        by_speaker[speakers.get(text, text)].append(text)
    for target, texts in by_speaker.items():
        if target != session:
            yield row("participant", target, texts)
    own = [text for target, texts in by_speaker.items() if target not in others for text in texts]
    if own:
        yield row("run", session, own, apart)


class Ratings:
    """Every rating of every debate, the rater being the coder; and per debate the share that saw
    the proposition win.

    `rating.DIMENSION` and `rating.winner` (1 won, 0 lost) are about a debater, `stance` before,
    after and in change and `rating.attentive` about the rater. A debate that broke off or that
    nobody rated is one row of NaN with the reason. Definitions and sources: docs/measures.md,
    "Debates".
    """

    name = "ratings"
    version = 1
    measures = CATALOGUE["ratings"]
    by_run = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of every debate among the runs, and of imported ones with votes of an audience;
        deliberations have none.
        """
        debates = [run for run in runs if run.session.kind.sides]
        found = [score for run in debates for score in self._score(run)]
        return [*found, *(score for run in runs for score in _of_audience(run))]

    def _score(self, run: Run) -> Iterator[Score]:
        target = run.session.id
        ratings = run.ratings if isinstance(run, AnnotatedRun) else ()
        yield _proposition_wins(run, ratings)
        if debated(run):
            seats = {person.role: person.id for person in run.session.participants}
            for rating in ratings:
                yield from _rows(rating, target, seats)


def _of_audience(run: Run) -> Iterator[Score]:
    """What the votes of an audience of people come to: its stance, where against is 0, undecided 50
    and for 100; by how many points the proposition gained more than the opposition; and whether it
    won, as the side does that gained more.
    """
    held, target = run.session.conversation, run.session.id
    if held is None or not held.votes:
        return
    stance = {phase: own["for"] + own["undecided"] / 2 for phase, own in held.votes.items()}
    for phase, value in stance.items():
        yield Score("audience.stance", "run", target, value, phase)
    if len(stance) < len(PHASES):
        return
    before, after = (held.votes[phase] for phase in PHASES)
    gains = [after[side] - before[side] for side in ("for", "against")]
    gain = round(gains[0] - gains[1], 6)
    yield Score("audience.stance", "run", target, stance["post"] - stance["pre"], "change")
    yield Score("audience.gain", "run", target, gain)
    won = float(gain > 0) if gain else math.nan
    yield Score(
        "audience.proposition_wins", "run", target, won, note="" if gain else "audience_tied"
    )


def _proposition_wins(run: Run, ratings: Sequence[Rating]) -> Score:
    """The share of attentive raters who named the proposition the winner."""
    winners = []
    for rating in ratings:
        if rating.winner is not None and rating.attentive is not False:
            winners.append(rating.winner)
    value, note = math.nan, ""
    if not debated(run):
        note = "debate_incomplete"
    elif not ratings:
        note = "not_rated"
    elif not winners:
        note = "no_winner_named"
    else:
        value = winners.count("proposition") / len(winners)
    return Score("proposition_wins", "run", run.session.id, value, note=note)


def _rows(rating: Rating, target: str, seats: Mapping[str, str]) -> Iterator[Score]:
    """What one rater said about both debaters and about itself."""

    def row(measure: str, about: str, value: float | None, gap: str, phase: str = "") -> Score:
        where = f"{target}/{about}"
        if value is not None:
            return Score(measure, "participant", where, float(value), phase, rating.rater)
        note = rating.missing.get(gap, NOT_ANSWERED).code
        return Score(measure, "participant", where, math.nan, phase, rating.rater, note)

    for side in SIDES:
        given = rating.of(side)
        for dimension in DIMENSIONS:
            gap = f"{side}.{dimension}"
            yield row(f"rating.{dimension}", seats[side], given.get(dimension), gap)
        won = None if rating.winner is None else rating.winner == side
        yield row("rating.winner", seats[side], won, "winner")
    before, after, rater = rating.before, rating.after, rating.rater
    change = None if before is None or after is None else after - before
    yield row("stance", rater, before, "before", "pre")
    yield row("stance", rater, after, "after", "post")
    yield row("stance", rater, change, "before" if before is None else "after", "change")
    yield row("rating.attentive", rater, rating.attentive, "attentive")
