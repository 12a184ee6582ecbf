"""How long the statements of a run are."""

import math
from collections.abc import Sequence
from statistics import fmean

from delibsim import Measure, Run, Score


class WordCount:
    """Words of each statement, and their mean over the run; undefined where nobody spoke."""

    name = "words"
    version = 2
    measures = (
        Measure(
            id="words",
            label="words a statement",
            definition="Words of a statement, or their mean over the statements of a run.",
            source="https://example.org/delibsim-example",
            unit="words",
            range=(0, math.inf),
            phases=(),
            comparable=True,
        ),
    )

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run."""
        return [score for run in runs for score in self._score(run)]

    def _score(self, run: Run) -> list[Score]:
        target = run.session.id
        counts = [len(statement.text.split()) for statement in run.transcript]
        mean = fmean(counts) if counts else math.nan
        scores = [Score("words", "run", target, mean, note="" if counts else "no_statements")]
        return scores + [
            Score("words", "statement", f"{target}/{s.turn.index}", float(n))
            for s, n in zip(run.transcript, counts, strict=True)
        ]
