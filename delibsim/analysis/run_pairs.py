"""Intersubjective consistency of one run: agreement of every pair on considerations and on
preferences, before and after.
"""

from dataclasses import dataclass

from delibsim.domain.run import Run
from delibsim.domain.survey import PHASES
from delibsim.measures.dri import dri, over_pairs, pair_indices, rank_correlations, why_undefined
from delibsim.scorers.arrays import considerations, preferences, surveyed


@dataclass(frozen=True)
class Pair:
    """Two participants, and the rank correlations of their ratings and of their ranks, -1 to 1."""

    first: str
    second: str
    considerations: float
    preferences: float


@dataclass(frozen=True)
class PairsInPhase:
    """Every pair of a group in one phase, and the Deliberative Reason Index, which is the mean over
    them; without either the reason code is `why`.
    """

    phase: str
    pairs: tuple[Pair, ...]
    index: float | None
    why: str = ""


def pairs_of(run: Run) -> list[PairsInPhase]:
    """The pairs of a run before and after; [] for a debate, whose survey has no preferences.

    Source: Niemeyer et al. 2024, doi:10.1017/S0003055423000023.
    """
    if not list(surveyed([run])):
        return []
    people = [person.id for person in run.session.participants]
    found = []
    for phase in PHASES:
        rated, ranked = considerations(run, phase), preferences(run, phase)
        if why := why_undefined(rated, ranked):
            found.append(PairsInPhase(phase, (), None, why))
            continue
        both = over_pairs(rank_correlations(rated)), over_pairs(rank_correlations(ranked))
        pairs = []
        for i, j, c, p in zip(*pair_indices(len(people)), *both, strict=True):
            pairs.append(Pair(people[i], people[j], float(c), float(p)))
        found.append(PairsInPhase(phase, tuple(pairs), float(dri(rated, ranked))))
    return found
