"""Sentences and labels of figures, filled in from the rows of a table."""

from collections.abc import Callable, Iterable, Mapping
from string import Formatter
from typing import Any

import pandas as pd

from delibsim.analysis.figures.style import number
from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import human_value, of_topics, partition_of_five
from delibsim.analysis.pages.cells import cell, decimals
from delibsim.analysis.result import Result
from delibsim.analysis.study.outcomes import p_in_words
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.score import MEASURES, SCORE_PHASES
from delibsim.domain.text import counted
from delibsim.measures.inference.means import t_quantile

ENDS = {"_change": "change of {}", "_pre": "{} before", "_post": "{} after"}


def _outcome(name: object) -> str:
    """An outcome in words, such as "change of DRI"."""
    text = str(name)
    for end, words in ENDS.items():
        if text.endswith(end):
            return words.format(label_of(text))
    return label_of(text)


def _label(name: object) -> str:
    label = label_of(str(name))
    return f"{label[:1].upper()}{label[1:]}"


KINDS: Mapping[str, Callable[[Any], str]] = {
    "level": lambda value: str(value).removesuffix(".0"),
    "outcome": _outcome,
    "Label": _label,
    "number": number,
    "hundredths": lambda value: number(value, 2),
    "decimals": decimals,
    "size": lambda value: decimals(abs(value)),
    "tenths": lambda value: number(value, 1),
    "equals": p_in_words,
    "p": lambda value: cell(value, "p_control_holm"),
    "capital": lambda value: str(value)[:1].upper() + str(value)[1:],
}


class _Words(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec in KINDS:
            return KINDS[format_spec](value)
        one, _, many = format_spec.partition("/")
        if format_spec.replace("/", "").isalpha() and len(format_spec) > 1:
            return counted(int(value), one, many or f"{one}s")
        return super().format_field(value, format_spec)


def filled_in(template: str, values: Mapping[str, Any]) -> str:
    """A template with these values; KeyError for a name that is not among them.

    >>> filled_in("{a} − {b}, {topics:topic}", {"a": "x", "b": "y", "topics": 2})
    'x − y, 2 topics'
    """
    return _Words().vformat(template, (), values)


def fields_of(template: str) -> list[str]:
    """The columns that a template names."""
    return list(dict.fromkeys(name for _, name, _, _ in Formatter().parse(template) if name))


def told_of(rows: pd.DataFrame) -> dict[str, Any]:
    """What a caption may say of a table: how many `rows` it has, and of each numeric column the
    largest value by its name, the others after `least_` and `median_`.
    """
    numeric = rows.select_dtypes("number")
    found: dict[str, Any] = {"rows": len(rows)}
    for name in numeric:
        own = numeric[name]
        found |= {str(name): own.max(), f"least_{name}": own.min(), f"median_{name}": own.median()}
    return found


SHORT = {
    "dri": "DRI",
    "dri_adjusted": "adjusted DRI",
    "consideration_agreement": "agreement on considerations",
    "preference_agreement": "agreement on preferences",
}
"""Labels of measures that stand beside an axis."""
NULL_WORDS = "null citizen"
NOT_ABOUT_MODELS = (
    "All participants are citizens of the null model: nothing here is about language models."
)


def label_of(outcome: str) -> str:
    """The label of a measure or of one of its columns, such as dri or dri_change."""
    for end in ("_relative_change", "_change", "_pre", "_post"):
        base = outcome.removesuffix(end)
        if base != outcome and base in MEASURES:
            outcome = base
    if outcome in SHORT:
        return SHORT[outcome]
    return MEASURES[outcome].label if outcome in MEASURES else outcome.replace("_", " ")


def of_outcome(rows: pd.DataFrame, outcome: str) -> pd.DataFrame:
    """The rows of a result on one measure, whether it is named dri or dri_change."""
    return rows[rows["outcome"].isin([outcome, f"{outcome}_change"])]


def rows_of(results: Mapping[str, Result], name: str) -> pd.DataFrame:
    """The rows of a result; an empty table where it is missing or not given."""
    result = results.get(name)
    if result is None or not result.given:
        return pd.DataFrame()
    return result.rows


def of_models(study: StudyTable, column: str) -> pd.DataFrame:
    """The analysed sessions of models; those of the null citizen where there are no others."""
    known = study.analysed(column)
    own = known[~is_null(known)]
    return own if len(own) else known


def of_null(study: StudyTable, column: str) -> pd.DataFrame:
    """The analysed sessions of the null citizen that stand beside models; none if all are."""
    known = study.analysed(column)
    null = is_null(known)
    return known[null] if not null.all() else known.iloc[:0]


def is_null(rows: pd.DataFrame) -> pd.Series:
    """Which sessions have citizens of the null model alone."""
    if "null" not in rows.columns:
        return pd.Series(False, index=rows.index)
    return rows["null"].fillna(False).astype(bool)


def population(study: StudyTable) -> str:
    """Whose sessions `of_models` gives, in words."""
    only = len(study.rows) > 0 and bool(is_null(study.rows).all())
    return "sessions of the null citizen" if only else "sessions of language models"


def remark(study: StudyTable) -> str:
    """A sentence for captions where a study is one of the null citizen alone; otherwise empty."""
    only = len(study.rows) > 0 and bool(is_null(study.rows).all())
    return f" {NOT_ABOUT_MODELS}" if only else ""


def left_out(study: StudyTable, used: pd.DataFrame, column: str) -> str:
    """How many sessions of a study have no value of a column, in a sentence; empty for none."""
    missing = len(study.rows) - len(study.analysed(column))
    if not missing:
        return ""
    return f" {missing:,} of {len(study.rows):,} planned sessions have no value and are left out."


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
    surveys = study.rows.get("survey", "")
    pairs = study.rows[["topic"]].assign(survey=surveys).fillna("").drop_duplicates("topic")
    found = []
    for topic, survey in pairs.astype(str).itertuples(index=False):
        values = [human_value(topic, measure, phase, survey) for phase in SCORE_PHASES]
        found.append([topic, *(value for value, _ in values), values[-1][1]])
    rows = pd.DataFrame(found, columns=["topic", *SCORE_PHASES, "note"])
    return rows.astype(dict.fromkeys(SCORE_PHASES, float))


def known_people(study: StudyTable, measure: str) -> pd.DataFrame:
    """The topics of a study whose people have a value of this measure before and after."""
    return people_of(study, measure).dropna(subset=["pre", "post"])


def why_no_people(study: StudyTable, measure: str) -> str:
    """Why no people stand beside the sessions, in a sentence; empty where some do."""
    codes = sorted(set(people_of(study, measure)["note"]) - {""})
    if not codes or len(known_people(study, measure)):
        return ""
    reasons = ", ".join(REASONS.get(code, code.replace("_", " ")) for code in codes)
    return f" No people beside: {reasons}."


def of_benchmark(study: StudyTable, measure: str) -> pd.DataFrame:
    """People on the twelve topics of the benchmark, where they may stand beside this study.

    The columns are topic, pre and change; there are no rows where people of none of the study's
    topics have a value.
    """
    topics = () if known_people(study, measure).empty else BENCHMARK
    own = {phase: of_topics(topics, measure, phase) for phase in ("pre", "change")}
    return pd.DataFrame({"topic": topics, **own}).dropna()


def of_fives(topics: Iterable[str], measure: str) -> pd.DataFrame:
    """People of these topics in groups of five, dealt once: the columns pre and change."""
    parts = [pd.DataFrame(partition_of_five(topic, measure)) for topic in topics]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["pre", "change"])


FEWEST = 4
"""Topics from which on a mean over topics has an interval."""


def interval_over(values: pd.Series) -> tuple[float, float, float]:
    """Mean of one value a topic with its 95% interval of Student's t; NaN below four topics, where
    it would be wider than the scale.
    """
    known = values.dropna()
    mean = float(known.mean())
    if len(known) < FEWEST:
        return mean, float("nan"), float("nan")
    half = t_quantile(len(known) - 1) * float(known.sem())
    return mean, mean - half, mean + half
