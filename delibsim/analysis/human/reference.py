"""The measures of real citizen deliberations, to stand beside those of a run; no answers."""

import json
import math
from collections.abc import Sequence
from functools import cache
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delibsim.domain.run import Session
from delibsim.domain.score import MEASURES, SCORE_PHASES
from delibsim.domain.survey import Survey, Topic
from delibsim.store.instruments.library import Library, package_data

if TYPE_CHECKING:
    import pandas as pd

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


def ceiling_of_five(measure: str = "dri") -> dict[str, Any]:
    """The change of DRI, or of diversity, on its value before over all groups of five of the twelve
    topics.

    The keys are those of `groups_of_five.GroupCeiling`, and `intercept`: with it the line goes
    through the means of all groups.

    >>> ceiling_of_five()["n"]
    77
    """
    five = _document()["groups_of_five"]
    fit = five["ceiling" if measure == "dri" else "convergence"]
    means = five["mean_of_groups"][measure]
    intercept = means["change"]["mean"] - fit["beta"] * means["pre"]["mean"]
    return {**fit, "intercept": intercept}


def partition_of_five(topic_id: str, measure: str) -> dict[str, list[float]]:
    """DRI or diversity of people of a topic dealt once into groups of five: before, and change.

    >>> len(partition_of_five("ccps", "diversity")["change"])
    6
    """
    people = groups_of_five(topic_id)
    return people["one_partition"][measure] if people else {"pre": [], "change": []}


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


def people_of(session: Session) -> dict[str, Any] | None:
    """The human reference of a session, as `reference` gives it, with what may be shown beside it.

    None unless topic and survey are those that people deliberated on, or our short form, word for
    word. On the short form a measure that is not comparable between instruments is None, and its
    note says `another_instrument`. Figures: docs/human-reference.md.
    """
    topic, survey = session.topic, session.survey
    people = reference(topic.id)
    if people is None or not _known_to_people(topic, survey):
        return None
    notes = dict(people.get("notes", {}))
    for phase in SCORE_PHASES:
        for measure in people[phase]:
            if withheld(topic.id, measure, survey.id):
                people[phase][measure] = None
                notes[measure] = "another_instrument"
    return people | {"notes": notes}


def on_their_instrument(session: Session) -> bool:
    """Whether the survey of a session is the one that people answered on its topic."""
    return session.survey.id == f"deliberr.{session.topic.id}"


@cache
def _known_to_people(topic: Topic, survey: Survey) -> bool:
    """Whether people deliberated on this topic and answered this survey, or its short form."""
    if survey.id not in (topic.id, f"deliberr.{topic.id}"):
        return False
    ours = Library(package_data("topics").parent)
    if topic != ours.topic(topic.id):
        return False
    return survey.id != topic.id or survey == ours.survey(survey.id)


KEYS = ("topic", "measure", "phase")
"""Columns by which people's values are found."""
COLUMNS = ("people", "people_n", "people_of_five", "people_of_five_sd", "people_note")
"""Columns that are added."""


def add_human_reference(table: "pd.DataFrame") -> "pd.DataFrame":
    """The table with what real people did on the same topic in the same measure and phase.

    Needs columns `topic`, `measure` and `phase` (pre, post, change); uses `survey` where there is
    one. Adds `people` (all participants of the topic pooled), `people_n`, `people_of_five` (mean
    over groups of five, for the measures that have it), `people_of_five_sd` (between those groups)
    and `people_note`: why there is no value. Raises ValueError where a column is missing.
    """
    import pandas as pd  # which no run needs

    lacking = [name for name in KEYS if name not in table.columns]
    if lacking:
        raise ValueError(f"the table lacks the columns {', '.join(lacking)}")
    surveys = table["survey"] if "survey" in table.columns else [""] * len(table)
    keys = zip(*(table[name] for name in KEYS), surveys, strict=True)
    rows = [_people(*key) for key in keys]
    joined = pd.DataFrame(rows, columns=list(COLUMNS), index=table.index)
    return pd.concat([table, joined], axis=1)


def _people(topic: str, measure: str, phase: str, survey: str) -> tuple[float | str, ...]:
    value, note = human_value(topic, measure, phase, survey)
    people = reference(topic)
    n = people["n"] if people else math.nan
    if value is None:
        return math.nan, n, math.nan, math.nan, note
    five: dict[str, Any] = (groups_of_five(topic) or {}).get(measure, {}).get(phase, {})
    return value, n, five.get("mean", math.nan), five.get("between_groups", math.nan), ""
