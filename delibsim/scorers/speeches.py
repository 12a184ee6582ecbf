"""The length of speeches in debates, and the rules they break: what was accepted after the last
re-ask is counted here.
"""

from collections.abc import Sequence
from dataclasses import replace

from delibsim.domain.measure import CATALOGUE
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import debated
from delibsim.domain.rules import KINDS
from delibsim.domain.run import Run
from delibsim.domain.score import Score
from delibsim.domain.transcript import PREPARATION


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

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of every debate among the runs."""
        debates = [run for run in runs if run.session.kind.sides]
        return [score for run in debates for score in self._score(run)]

    def _score(self, run: Run) -> list[Score]:
        target, rules = run.session.id, run.session.procedure.rules
        speeches = [said for said in run.transcript if said.turn.task != PREPARATION]
        words = [len(said.text.split()) for said in speeches]
        scores = [
            Score("speech.words", "statement", f"{target}/{said.turn.index}", float(n))
            for said, n in zip(speeches, words, strict=True)
        ]
        seats = {p.role: p.id for p in run.session.participants}
        spoken = {
            side: sum(
                n
                for said, n in zip(speeches, words, strict=True)
                if said.turn.speaker == seats[side]
            )
            for side in SIDES
        }
        sums = [
            Score("speech.words", "participant", f"{target}/{seats[side]}", float(n))
            for side, n in spoken.items()
        ]
        sums.append(
            Score(
                "speech.words_difference",
                "run",
                target,
                float(spoken["proposition"] - spoken["opposition"]),
            )
        )
        if rules is not None:
            broken = [set(rules.broken(said.text)) for said in speeches]
            sums += [
                Score(f"speech.broken.{kind}", "run", target, float(sum(kind in b for b in broken)))
                for kind in KINDS
            ]
            sums.append(
                Score("speech.cut", "run", target, float(sum(said.cut for said in speeches)))
            )
        if not debated(run):
            sums = [replace(score, value=float("nan"), note="debate_incomplete") for score in sums]
        return scores + sums
