"""The length of speeches in debates, and the rules that accepted speeches break."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from delibsim.domain.annotation import debated
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, Score
from delibsim.domain.transcript import PREPARATION, Statement
from delibsim.domain.treatment import KINDS, Rules


class Speeches:
    """Words of every speech and of each side, the difference between the sides, and the rules that
    each speech breaks.

    `speech.words` is about a statement or a debater, `speech.words_difference` (proposition less
    opposition) and `speech.broken.KIND` (how many speeches) about the debate; KIND is too_short,
    too_long, link, citation or disclosure. `speech.cut` is how many speeches were cut because they
    were too long, and so do not count as such. In a debate that broke off only the speeches
    themselves have values; sums and counts, which would be of fewer speeches, are NaN
    (debate_incomplete).
    """

    name = "speeches"
    version = 2
    measures = CATALOGUE["speeches"]
    by_run = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of every debate among the runs."""
        debates = [run for run in runs if run.session.kind.sides]
        return [score for run in debates for score in self._score(run)]

    def _score(self, run: Run) -> list[Score]:
        target = run.session.id
        speeches = [said for said in run.transcript if said.turn.task != PREPARATION]
        scores = []
        for said in speeches:
            statement = f"{target}/{said.turn.index}"
            scores.append(Score("speech.words", "statement", statement, _words(said)))
        totals = list(_words_by_side(run, speeches))
        rules = run.session.procedure.rules
        if rules is not None:
            totals += _broken(target, speeches, rules)
        if not debated(run):
            totals = [replace(s, value=math.nan, note="debate_incomplete") for s in totals]
        return scores + totals


def _words(said: Statement) -> float:
    return float(len(said.text.split()))


def _words_by_side(run: Run, speeches: Sequence[Statement]) -> Iterator[Score]:
    """The words of each side, and their difference."""
    target = run.session.id
    seats = {participant.role: participant.id for participant in run.session.participants}
    spoken = dict.fromkeys(seats.values(), 0.0)
    for said in speeches:
        spoken[said.turn.speaker] += _words(said)
    for side in SIDES:
        debater = seats[side]
        yield Score("speech.words", "participant", f"{target}/{debater}", spoken[debater])
    difference = spoken[seats["proposition"]] - spoken[seats["opposition"]]
    yield Score("speech.words_difference", "run", target, difference)


def _broken(target: str, speeches: Sequence[Statement], rules: Rules) -> Iterator[Score]:
    """How many speeches break each rule, and how many were cut."""
    broken = [rules.broken(said.text) for said in speeches]
    for kind in KINDS:
        n = sum(kind in faults for faults in broken)
        yield Score(f"speech.broken.{kind}", "run", target, float(n))
    cut = sum(said.cut for said in speeches)
    yield Score("speech.cut", "run", target, float(cut))
