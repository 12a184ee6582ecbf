"""How far the group agrees with its collective statement, and whom the statement leaves out."""

from collections.abc import Iterator, Sequence

import numpy as np

from delibsim.domain.consensus import AGREES, LEFT_OUT, Consensus, ConsensusVote
from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, Score
from delibsim.measures.schulze import concordance, schulze

NO_VOTES = "no_votes"


class ConsensusScorer:
    """Agreement with the collective statement before and after the critique, concordance of ranks,
    and whether there was a Condorcet winner; runs that sought no statement have no scores.

    Definitions and sources: docs/consensus.md, "Measures".
    """

    name = "consensus"
    version = 1
    measures = CATALOGUE["consensus"]
    by_run = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run, and of each participant its agreement with the statement."""
        found: list[Score] = []
        for run in runs:
            if run.consensus is not None:
                found += _scores(run.session.id, run.consensus)
        return found


def _scores(target: str, consensus: Consensus) -> Iterator[Score]:
    last, first = consensus.last, consensus.first
    given = last.agreement(last.winner) if last.winner else {}
    now = np.array(list(given.values()), dtype=float)
    before = list(first.agreement(first.winner).values()) if first.winner else []
    concordant, condorcet = _of_ranks(last)
    values = {
        "agreement": now.mean() if len(now) else np.nan,
        "agreement_before": np.mean(before) if before else np.nan,
        "least": now.min() if len(now) else np.nan,
        "agreeing": (now >= AGREES).mean() if len(now) else np.nan,
        "left_out": (now <= LEFT_OUT).mean() if len(now) else np.nan,
        "concordance": concordant,
        "condorcet": condorcet,
        "extractive": _extractive(consensus),
    }
    for name, value in values.items():
        note = "" if np.isfinite(value) else _why(name, consensus)
        yield Score(f"consensus.{name}", "run", target, float(value), note=note)
    for participant, value in given.items():
        place = f"{target}/{participant}"
        yield Score("consensus.agreement", "participant", place, float(value))


def _extractive(consensus: Consensus) -> float:
    """The distance of the statement to the one that copies sentences of the positions; NaN without
    a statement or a position.
    """
    said = [one.text for one in consensus.positions if one.missing is None]
    if consensus.statement is None or not said:
        return np.nan
    from delibsim.measures.summaries.texts import sentence_vectors  # imports scikit-learn
    from delibsim.models.sentences import by_relevance

    vectors = sentence_vectors([consensus.statement.text, by_relevance(said), *said])
    likeness = float((vectors[[0]] @ vectors[[1]].T).toarray()[0, 0])
    return 1 - min(likeness, 1.0)


def _of_ranks(vote: ConsensusVote) -> tuple[float, float]:
    """Kendall's W of the ranks, and 1 or 0 for a Condorcet winner; NaN twice below two candidates
    or without a vote, and W is NaN for one voter.
    """
    if not vote.cast or len(vote.standing) < 2:
        return np.nan, np.nan
    return concordance(vote.ranks), float(schulze(vote.ranks).condorcet is not None)


def _why(name: str, consensus: Consensus) -> str:
    """Why a measure of the last vote is undefined."""
    vote = consensus.last
    if name == "extractive" and all(one.missing for one in consensus.positions):
        return "no_positions"
    if not vote.standing:
        return "no_candidates"
    if not vote.cast:
        return NO_VOTES
    return "one_candidate" if len(vote.standing) == 1 else "too_few_participants"
