"""What may be said of differences between debaters, in sentences, by the rules for verbs."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from delibsim.analysis.debates.contrasts import HEADLINE, ON_THESE
from delibsim.analysis.debates.notes import in_sentences
from delibsim.analysis.figures.style import number
from delibsim.analysis.study.report.words import missing, p_in_words
from delibsim.domain.text import counted

VERBS: Mapping[str, str] = {
    "better": "better",
    "worse": "worse",
    "on_these_motions": "on these motions alone",
    "none": "not clear",
    "": "",
}
"""The verbs of contrasts in words."""
KINDS: Mapping[str, str] = {"model": "The models", "human": "the people", "rest": "the rest"}
"""How sentences name kinds of debaters, of which models come first."""
AIMS: Mapping[str, tuple[str, str, int]] = {
    "winning": ("won more often than", "won less often than", 3),
    "performance": ("performed better than", "performed worse than", 1),
}
"""How a difference in an outcome is told: upwards, downwards, and with how many decimals."""


def findings(contrasts: pd.DataFrame) -> Iterator[str]:
    """A sentence for each contrast of the first family and outcome, the headline first."""
    if contrasts.empty:
        return
    own = contrasts[contrasts["family"] == contrasts["family"].iloc[0]]
    for (_, outcome), rows in own.groupby(["contrast", "outcome"], sort=False):
        by_question = {row["question"]: row for row in rows.to_dict("records")}
        yield finding(str(outcome), by_question[HEADLINE], by_question[ON_THESE])


def finding(outcome: str, headline: Mapping[str, Any], on_these: Mapping[str, Any]) -> str:
    """What one contrast says: over motions like these, on these motions alone, or nothing clear."""
    one, _, other = str(headline["contrast"]).partition(" - ")
    other = "its opponents" if other == "opponents" else other
    if headline["family"] == "kinds":
        one, other = KINDS.get(one, one), KINDS.get(other, other)
    up, down, places = AIMS[outcome]
    if missing(headline["estimate"]):
        return f"{one} against {other}: no estimate of the difference in {outcome}."
    motions = counted(int(headline["units"]), "motion")
    said = f"{one} {up if headline['estimate'] > 0 else down} {other}"
    size = number(headline["estimate"], places)
    here = f"{size}; {_by(on_these)}, {_p(on_these)}"
    over = _over(headline, motions, places)
    if headline["verb"] in ("better", "worse"):
        return f"{said}: {over}."
    if headline["verb"] == "on_these_motions":
        others = f"over motions like these it is not clear ({over})"
        return f"On these {motions} {said} ({here}); {others}."
    none = f"{one} against {other}: no clear difference in {outcome}"
    return f"{none} on these {motions} ({here}) or on others like them ({over})."


def _over(row: Mapping[str, Any], motions: str, places: int) -> str:
    """An estimate over motions with its interval and tests, or why there is none."""
    if missing(row["low"]):
        return in_sentences(str(row["note"]))
    low, high, size = (number(row[name], places) for name in ("low", "high", "estimate"))
    return f"{size} [{low}, {high}], t over {motions}, {row['df']:g} df, {_p(row)}"


def _by(row: Mapping[str, Any]) -> str:
    """How a difference on these motions was tested."""
    debates = counted(int(row["debates"]), "debate")
    if row["unit"] == "debate":
        return f"signs of {debates} flipped"
    return f"t over {debates} within their motions, {row['df']:g} df"


def _p(row: Mapping[str, Any]) -> str:
    """A p value, and after Holm's correction."""
    return f"{p_in_words(row['p'])}, after Holm's correction {p_in_words(row['p_holm'])}"
