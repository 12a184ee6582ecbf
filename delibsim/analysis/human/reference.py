"""The measures of real citizen deliberations, to stand beside those of a run; no answers."""

import json
from collections.abc import Sequence
from functools import cache
from math import nan
from pathlib import Path
from typing import Any

from delibsim.domain.measure import MEASURES, SCORE_PHASES

FIGURES = Path(__file__).parents[2] / "data" / "human_reference.json"


@cache
def _document() -> dict[str, Any]:
    return json.loads(FIGURES.read_text(encoding="utf-8"))


def reference(topic_id: str) -> dict[str, Any] | None:
    """What `delibsim list people --json` gives for a topic; None where no real people are known.

    The keys are id, n, pre, post, change, and notes where a measure is undefined.

    >>> round(reference("ccps")["change"]["dri"], 3)
    0.104
    """
    for group in _document()["groups"]:
        if group["id"] == topic_id:
            return {**group, **{phase: dict(group[phase]) for phase in SCORE_PHASES}}
    return None


def of_topics(topic_ids: Sequence[str], measure: str, phase: str) -> list[float]:
    """People's values of a measure in a phase on topics, NaN where it is undefined or unknown.

    They are those of the instruments that people answered.

    >>> [round(value, 3) for value in of_topics(["ccps", "tea"], "dri", "change")]
    [0.104, nan]
    """
    found = []
    for topic in topic_ids:
        value = (reference(topic) or {}).get(phase, {}).get(measure)
        found.append(nan if value is None else value)
    return found


def groups_of_five(topic_id: str) -> dict[str, Any] | None:
    """The same people dealt into groups of five; None where no real people are known.

    By measure and phase: the mean over partitions, and its standard deviations.

    >>> groups_of_five("ccps")["groups"]
    6
    """
    for group in _document()["groups_of_five"]["topics"]:
        if group["id"] == topic_id:
            return dict(group)
    return None


def ceiling_of_five() -> dict[str, Any]:
    """The change of DRI on DRI before over all groups of five of the twelve topics.

    The keys are those of `groups_of_five.GroupCeiling`, and `intercept`: with it the line goes
    through the means of all groups.

    >>> ceiling_of_five()["n"]
    77
    """
    five = _document()["groups_of_five"]
    fit, means = five["ceiling"], five["mean_of_groups"]["dri"]
    intercept = means["change"]["mean"] - fit["beta"] * means["pre"]["mean"]
    return {**fit, "intercept": intercept}


def human_value(
    topic_id: str,
    measure: str,
    phase: str,
    survey_id: str,
) -> tuple[float | None, str]:
    """People's value of a measure on a topic in a phase (pre, post, change); None with a reason.

    `survey_id` is that of the survey it is to be compared on, "" where it is unknown.

    >>> human_value("ccps", "diversity", "pre", "ccps")
    (None, 'another_instrument')
    """
    people = reference(topic_id)
    if people is None:
        return None, "no_people_on_this_topic"
    if survey_id not in ("", topic_id, f"deliberr.{topic_id}"):
        return None, "another_survey"
    if withheld(topic_id, measure, survey_id):
        return None, "another_instrument" if survey_id else "instrument_unknown"
    value = people.get(phase, {}).get(measure)
    if value is None:
        return None, people.get("notes", {}).get(measure, "not_measured_in_people")
    return value, ""


def withheld(topic_id: str, measure: str, survey_id: str) -> bool:
    """Whether people's value is not shown because they answered another instrument.

    So it is for every measure that is not comparable between instruments, unless the survey is
    the one people answered.

    >>> withheld("ccps", "diversity", "ccps"), withheld("ccps", "diversity", "deliberr.ccps")
    (True, False)
    """
    own = survey_id == f"deliberr.{topic_id}"
    return not own and measure in MEASURES and not MEASURES[measure].comparable
