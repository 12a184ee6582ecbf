"""Which outcomes and treatments of a study an analysis takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from delibsim.analysis.study.sample.silent_sessions import NONE
from delibsim.domain.compared import PAIRS

STRENGTH = "strength"
"""The scale of the scores of texts that were compared in pairs."""
BASIC, NORMATIVE = "basic", "normative"
PLANNED = ((NORMATIVE, NONE), (BASIC, NONE), (NORMATIVE, BASIC))
"""The three contrasts of the published study, a and b of each; they are one family."""


@dataclass(frozen=True)
class Outcome:
    """A measure's change on a scale: absolute, or relative to the room there was for it; on the
    scale `strength` the measure itself, which knows no phases.
    """

    measure: str
    scale: str = "absolute"

    @property
    def column(self) -> str:
        """Its column in the table of a study."""
        if self.scale == STRENGTH:
            return self.measure
        relative = "_relative" if self.scale == "relative" else ""
        return f"{self.measure}{relative}_change"

    def __str__(self) -> str:
        """As it is named in notes."""
        return f"{self.measure} ({self.scale})"


OUTCOMES = (
    Outcome("dri"),
    Outcome("dri", "relative"),
    Outcome("dri_adjusted"),
    Outcome("dri_adjusted", "relative"),
    Outcome("diversity"),
)
"""What treatments are compared on. A change of diversity has no bound and so no relative scale."""


def compared_outcomes(rows: pd.DataFrame) -> list[Outcome]:
    """The strengths of texts that were compared in pairs, as far as a study has some."""
    found = []
    for name in map(str, rows.columns):
        if name.startswith(f"{PAIRS}.") and not name.endswith("_note"):
            found.append(Outcome(name, STRENGTH))
    return found


def treatments_of(rows: pd.DataFrame) -> list[str]:
    """The treatments of these sessions: none, basic, normative first, then all others by name."""
    found = set(rows["treatment"].dropna().astype(str))
    first = [name for name in (NONE, BASIC, NORMATIVE) if name in found]
    return first + sorted(found - set(first))


def families_of(treatments: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """The contrasts of these treatments by family: a and b of each.

    The published three, as far as their treatments are there, are one family; all other pairs, the
    later treatment less the earlier one, are another. So no treatment is left out.
    """
    planned = [pair for pair in PLANNED if set(pair) <= set(treatments)]
    others = []
    for earlier, later in combinations(treatments, 2):
        if (later, earlier) not in planned:
            others.append((later, earlier))
    families = {"published contrasts": planned, "all pairs": others}
    if planned:
        families = {"published contrasts": planned, "other pairs": others}
    return {name: pairs for name, pairs in families.items() if pairs}


def contrasts_of(treatments: Sequence[str]) -> list[tuple[str, str]]:
    """All contrasts of these treatments, those of the published study first."""
    pairs = []
    for family in families_of(treatments).values():
        pairs += family
    return pairs


def outcomes_of(
    rows: pd.DataFrame,
    outcomes: Sequence[Outcome] = OUTCOMES,
) -> tuple[list[Outcome], list[str]]:
    """The outcomes of which some session has a value, and a sentence on each of the others."""
    given, missing = [], []
    for outcome in outcomes:
        if outcome.column not in rows.columns:
            missing.append(f"{outcome}: the study has no column {outcome.column}.")
        elif not rows[outcome.column].notna().any():
            missing.append(f"{outcome}: no session has a value of {outcome.column}.")
        else:
            given.append(outcome)
    return given, missing


def why_no_outcome(rows: pd.DataFrame, outcomes: Sequence[Outcome]) -> tuple[str, str]:
    """Why these sessions have none of the outcomes, as a code and a sentence; "" twice if some."""
    if not len(rows):
        return "no_sessions", "The study has no sessions."
    if outcomes:
        return "", ""
    if "format" in rows.columns and (rows["format"] == "debate").all():
        return "debates", "This is a study of debates: nobody is surveyed before and after."
    detail = "No session has an index or a diversity before and after"
    return "no_value", f"{detail}: they need surveys that all participants answered."


def why_no_contrast(rows: pd.DataFrame, outcomes: Sequence[Outcome]) -> tuple[str, str]:
    """Why these sessions give no contrast, as a code and a sentence; "" twice where they may."""
    code, detail = why_no_outcome(rows, outcomes)
    treatments = treatments_of(rows)
    if code or len(treatments) > 1:
        return code, detail
    held = f"The study has one treatment only ({', '.join(treatments)})"
    return "one_treatment", f"{held}; a contrast needs two."
