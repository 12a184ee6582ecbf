"""The measures of real citizen deliberations on the benchmark's topics, to stand beside those of a
run; figures only, no answers.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from delibsim.domain.measure import MEASURES

FIGURES = Path(__file__).parents[2] / "data" / "human_reference.json"


@cache
def _document() -> dict[str, Any]:
    return json.loads(FIGURES.read_text(encoding="utf-8"))


def reference(topic_id: str) -> dict[str, Any] | None:
    """What `delibsim human --json` gives for a topic: {"id", "n", "pre", "post", "change"}; None
    where no real people are known.

    >>> round(reference("ccps")["change"]["dri"], 3)
    0.104
    """
    group = next((group for group in _document()["groups"] if group["id"] == topic_id), None)
    return (
        None
        if group is None
        else {**group, **{part: dict(group[part]) for part in ("pre", "post", "change")}}
    )


def groups_of_five(topic_id: str) -> dict[str, Any] | None:
    """The same people dealt out into groups of five: by measure and part, mean over partitions and
    spreads; None as above.

    >>> groups_of_five("ccps")["groups"]
    6
    """
    return next(
        (
            dict(group)
            for group in _document()["groups_of_five"]["topics"]
            if group["id"] == topic_id
        ),
        None,
    )


def of_people(topic_id: str, measure: str, phase: str, survey_id: str) -> tuple[float | None, str]:
    """What people did on a topic in a measure and phase (pre, post, change), and, where there is no
    value to compare with, why.

    >>> of_people("ccps", "diversity", "pre", "ccps")
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
    return (
        (value, "")
        if value is not None
        else (None, people.get("notes", {}).get(measure, "not_measured_in_people"))
    )


def withheld(topic_id: str, measure: str, survey_id: str) -> bool:
    """Whether people's value is not shown because they answered another instrument.

    So it is for every measure that is not comparable between instruments, unless the survey is
    the one people answered.

    >>> withheld("ccps", "diversity", "ccps"), withheld("ccps", "diversity", "deliberr.ccps")
    (True, False)
    """
    own = survey_id == f"deliberr.{topic_id}"
    return not own and measure in MEASURES and not MEASURES[measure].comparable
