"""The scores of comparisons in pairs: of each text, up to the participant and the whole run."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from delibsim.domain.compared import PAIRS, ComparedRun, TextScore, measure_of_pairs
from delibsim.domain.run import Run
from delibsim.domain.score import Score, Unit


class Pairs:
    """The strength of every text that was compared, and its means over a participant and the run.

    `pairs.COMPARISON.DIMENSION` is the strength in log odds, 0 being the mean of the texts that a
    text was compared with; the coder is the comparison. A text that nobody judged is NaN with its
    reason and no part of a mean. A run has no mean where its texts were compared with each other
    only (`within_session`: it would be 0 whatever was said) and where votes do not join the texts
    of its group (`not_connected`). The measures are those of the comparisons, so the class declares
    none.
    See docs/compare.md.
    """

    name = PAIRS
    version = 1
    by_run = True
    on_request = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of every run among the runs whose texts were compared."""
        found: list[Score] = []
        for run in runs:
            if isinstance(run, ComparedRun):
                by_measure: dict[tuple[str, str], list[TextScore]] = defaultdict(list)
                for one in run.compared:
                    by_measure[one.coder, one.dimension].append(one)
                for own in by_measure.values():
                    found += _of_run(run, own)
        return found


def scores_of_texts(found: Iterable[TextScore]) -> Iterator[Score]:
    """The strengths of texts that were not held, as scores of the unit "text"."""
    for one in found:
        measure = measure_of_pairs(one.coder, one.dimension).id
        yield Score(measure, "text", one.text, one.value, coder=one.coder, note=one.note)


def _of_run(run: Run, own: Sequence[TextScore]) -> Iterator[Score]:
    """The scores of one comparison and dimension: of texts, of participants, of the run."""
    session, first = run.session.id, own[0]
    measure = measure_of_pairs(first.coder, first.dimension).id
    speakers = {}
    for statement in run.transcript:
        turn = statement.turn
        speakers[f"{session}/{turn.index}"] = f"{session}/{turn.speaker}"

    def row(unit: Unit, target: str, of: Sequence[TextScore], apart: str = "") -> Score:
        given = [one.value for one in of if not math.isnan(one.value)]
        if given and not apart:
            return Score(measure, unit, target, fmean(given), coder=first.coder)
        reasons = [one.note for one in of if one.note]
        note = apart or max(reasons, key=reasons.count)
        return Score(measure, unit, target, math.nan, coder=first.coder, note=note)

    by_speaker: dict[str, list[TextScore]] = defaultdict(list)
    for one in own:
        if one.text in speakers:
            yield row("statement", one.text, [one])
        by_speaker[speakers.get(one.text, one.text)].append(one)
    for target, texts in by_speaker.items():
        yield row("participant", target, texts)
    yield row("run", session, own, next(filter(None, (one.apart for one in own)), ""))
