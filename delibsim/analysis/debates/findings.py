"""What may be said of differences between debaters, in sentences, by the rules for verbs."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from delibsim.analysis.debates.contrasts import HEADLINE, ON_THESE
from delibsim.analysis.study.report.summary import missing, p_in_words, short, with_interval
from delibsim.domain.text import counted

VERBS: Mapping[str, str] = {
    "better": "better",
    "worse": "worse",
    "on_these_motions": "on these motions alone",
    "none": "not clear",
    "": "",
}
"""The verbs of contrasts in words."""
AIMS: Mapping[str, tuple[str, str, str]] = {
    "winning": (
        "was named the winner more often than",
        "was named the winner less often than",
        "winning",
    ),
    "performance": ("performed better than", "performed worse than", "performance"),
}
"""How a difference in an outcome is told: upwards, downwards, and its name."""


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
    up, down, name = AIMS[outcome]
    motions = counted(int(headline["units"]), "motion")
    size = short(headline["estimate"])
    if missing(headline["estimate"]):
        return f"{one} against {other}: no estimate of the difference in {name}."
    said = up if headline["estimate"] > 0 else down
    if headline["verb"] in ("better", "worse"):
        return f"{one} {said} {other}: {_over(headline, motions)}."
    if headline["verb"] == "on_these_motions":
        flips = f"signs of {counted(int(on_these['debates']), 'debate')} flipped"
        tests = f"{flips}, {p_in_words(on_these['p'])}, Holm {p_in_words(on_these['p_holm'])}"
        return (
            f"On these {motions}, {one} {said} {other} by {size} ({tests}); over motions like these"
            f" it is not clear{_why(headline, motions)}."
        )
    where = f"{size} on these {motions}" if _few(headline) else _over(headline, motions)
    return f"{one} against {other}: no clear difference in {name}, {where}."


def _over(row: Mapping[str, Any], motions: str) -> str:
    """An estimate over motions with interval and tests."""
    if missing(row["low"]):
        return f"{short(row['estimate'])} in every one of {motions}"
    numbers = with_interval(row["estimate"], row["low"], row["high"])
    tests = f"t over {motions}, {row['df']:g} df, {p_in_words(row['p'])}"
    return f"{numbers} ({tests}, Holm {p_in_words(row['p_holm'])})"


def _why(row: Mapping[str, Any], motions: str) -> str:
    """Why nothing is said of other motions, for the end of a sentence."""
    if _few(row):
        return f", because {motions} say nothing of others"
    return f" ({_over(row, motions)})"


def _few(row: Mapping[str, Any]) -> bool:
    return str(row["note"]) == "few_motions"
