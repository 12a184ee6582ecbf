"""What real people did on the topics of a study, as far as it may stand beside its sessions."""

import pandas as pd

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import human_value, of_topics
from delibsim.analysis.study.study_table import StudyTable

REASONS = {
    "another_instrument": "they answered another instrument",
    "another_survey": "they answered another survey",
    "instrument_unknown": "which instrument was used is not known",
    "no_people_on_this_topic": "no people are known on these topics",
    "not_measured_in_people": "it was not measured in people",
}
"""Reason codes in words."""


def people_of(study: StudyTable, measure: str) -> pd.DataFrame:
    """People's value of a measure before and after on every topic of a study.

    The columns are topic, pre, post, change and note; values are NaN where people are not known or
    answered another instrument, with the reason code as note.
    """
    surveys = study.rows["survey"] if "survey" in study.rows.columns else ""
    pairs = study.rows[["topic"]].assign(survey=surveys).fillna("").drop_duplicates("topic")
    found = []
    for topic, survey in pairs.itertuples(index=False):
        values = {}
        for phase in ("pre", "post", "change"):
            value, note = human_value(str(topic), measure, phase, str(survey))
            values[phase] = float("nan") if value is None else value
        found.append({"topic": str(topic), **values, "note": note})
    return pd.DataFrame(found, columns=["topic", "pre", "post", "change", "note"])


def known_people(study: StudyTable, measure: str) -> pd.DataFrame:
    """The topics of a study whose people have a value of this measure before and after."""
    return people_of(study, measure).dropna(subset=["pre", "post"])


def why_no_people(study: StudyTable, measure: str) -> str:
    """Why no people stand beside the sessions, in a sentence; empty where some do."""
    table = people_of(study, measure)
    if table.dropna(subset=["pre", "post"]).empty:
        codes = sorted(set(table["note"]) - {""})
        reasons = ", ".join(REASONS.get(code, code.replace("_", " ")) for code in codes)
        return f" No people beside: {reasons}." if codes else ""
    return ""


def of_benchmark(study: StudyTable, measure: str) -> pd.DataFrame:
    """People on the twelve topics of the benchmark, where they may stand beside this study.

    The columns are topic, pre and change; there are no rows where people of none of the study's
    topics have a value.
    """
    if known_people(study, measure).empty:
        return pd.DataFrame(columns=["topic", "pre", "change"])
    own = {phase: of_topics(BENCHMARK, measure, phase) for phase in ("pre", "change")}
    return pd.DataFrame({"topic": BENCHMARK, **own}).dropna()
