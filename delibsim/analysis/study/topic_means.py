"""Means over topics of what sessions and people show, with an interval by t over topics."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from delibsim.analysis.human.reference import human_value, reference
from delibsim.analysis.result import Result, said
from delibsim.analysis.study.aqua import AQUA, PUBLISHED, SCORED, scores_of_five
from delibsim.analysis.study.blocks import NONE, missing_note
from delibsim.analysis.study.effects import (
    ENOUGH,
    means_by,
    noted,
    published_coverage,
    published_interval,
    too_few,
)
from delibsim.analysis.study.factors import WITHOUT_INTERACTION, levels_of, varied
from delibsim.analysis.study.outcomes import CHANGE, OutcomeMeasure
from delibsim.analysis.study.sample import (
    PEOPLE,
    Population,
    Taken,
    changes_of,
    complete,
    kinds_of_participants,
    main_population,
    measurable,
    notes_of,
    populations,
    taken,
    wanted_outcomes,
    why_no_value,
    why_none,
    without_value,
)
from delibsim.analysis.study.study_table import BLOCK, DrawCounts, StudyTable
from delibsim.domain.survey import Phase
from delibsim.measures.inference.means import mean_of_units


def by_population(
    study: StudyTable,
    measures: Sequence[str],
    draws: DrawCounts,
    more: Sequence[Population] = (),
) -> tuple[Taken, list[dict[str, Any]]]:
    """A row a measure and population of the mean change, and what is said of what has no value;
    `more` are populations beside those of every study.

    A measure that no session has is one row a population without a value.
    """
    why, detail = why_none(study, [f"{measure}_change" for measure in measures])
    notes = [] if why else notes_of(study)
    rows = []
    for measure in () if why else measures:
        column = f"{measure}_change"
        for population in (*populations(study), *more):
            mean = _mean(population.rows, column, draws)
            rows.append({"measure": measure, "population": population.name, **mean})
        people = of_people(main_population(study)[0], measure, draws)
        rows.append({"measure": measure, "population": PEOPLE, **people})
        notes += without_value(study.rows, (column,))
    return Taken(study.rows, notes=notes, why=why, detail=detail), rows


def over_topics(values: pd.Series, topics: pd.Series, draws: DrawCounts) -> dict[str, Any]:
    """The members mean, low, high, df, n, topics and so on of values that are all known."""
    if values.empty:
        return empty("no_value")
    return described(means_by(values, topics), len(values), draws)


def described(means: np.ndarray, n: int, draws: DrawCounts) -> dict[str, Any]:
    """The same from the means of topics, behind which `n` sessions or persons stand."""
    found, topics = mean_of_units(means), len(means)
    published = published_interval(means, np.arange(topics), "topic", draws)
    note = "few_topics" if topics < ENOUGH else ""
    if topics == 1:
        note = "one_topic"
    elif np.isnan(found.error):
        note = "no_variance"
    row = {"mean": found.estimate, "low": found.low, "high": found.high, "df": found.df}
    row |= {"published_low": published[0], "published_high": published[1]}
    if topics >= ENOUGH:
        row["published_coverage"] = published_coverage(topics)
    return row | {"n": n, "topics": topics, "note": note}


def empty(reason: str) -> dict[str, Any]:
    """The members of a mean that does not exist."""
    return {"mean": float("nan"), "n": 0, "topics": 0, "note": reason}


def _mean(rows: pd.DataFrame, column: str, draws: DrawCounts) -> dict[str, Any]:
    """The mean of a column over the topics of these sessions."""
    known = rows[complete(rows, (column,))]
    return over_topics(known.get(column, pd.Series()), known["topic"], draws)


def of_people(rows: pd.DataFrame, measure: str, draws: DrawCounts) -> dict[str, Any]:
    """People's mean change of a measure over those topics of the study on which it is known.

    Where a study asks another instrument, a measure that is not comparable is withheld. The note
    is the reason that most topics have, where no topic has a value.
    """
    values, persons, reasons = [], 0, []
    pairs = rows[["topic"]].assign(survey=rows.get("survey", ""))
    for topic, surveys in pairs.fillna("").groupby("topic")["survey"]:
        found = [human_value(str(topic), measure, "change", str(own)) for own in surveys.unique()]
        known = [value for value, _ in found if value is not None]
        if known:
            values.append(known[0])
            persons += (reference(str(topic)) or {"n": 0})["n"]
        else:
            reasons.append(found[0][1])
    if not values:
        reason = max(sorted(set(reasons)), key=reasons.count) if reasons else "no_value"
        return empty(reason)
    return described(np.array(values), persons, draws)


GAINS = ("consideration_agreement", "preference_agreement")
CHANGES = ("opinion_change_c", "opinion_change_p", "rank_stability")
RANKS = "rank_stability_change"


def decomposition(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `decomposition`: a row a population and measure."""
    own, rows = by_population(study, GAINS, draws, _with_personas(study))
    gains = [{**row, "gain": row["mean"]} for row in rows]
    return own.result("study/decomposition", gains, n=draws.resamples)


def _with_personas(study: StudyTable) -> list[Population]:
    """The sessions of each kind of personas, where a study has sessions with and without."""
    if "persona" not in study.rows.columns:
        return []
    rows = main_population(study)[0].reset_index(drop=True)
    levels = levels_of(rows)["persona"]
    kinds = sorted(set(levels)) if levels.nunique() > 1 else []
    return [Population(f"personas: {kind}", rows[levels == kind]) for kind in kinds]


def opinion_change(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `opinion_change`: a row a population and measure."""
    own, rows = by_population(study, CHANGES, draws)
    return own.result("study/opinion_change", rows, n=draws.resamples)


def rank_stability(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `rank_stability`: a row a number of rounds."""
    why, detail = why_no_value(study, (RANKS,))
    if not why and "rounds" not in study.rows.columns:
        why = "no_rounds"
    own = Taken(study.rows, why=why, detail=detail)
    rows, notes = ([], []) if why else _by_rounds(study, draws)
    return own.result("study/rank_stability", rows, notes, n=draws.resamples)


def _by_rounds(study: StudyTable, draws: DrawCounts) -> tuple[list[dict[str, Any]], list[str]]:
    rows, notes = main_population(study, copies=True)
    rows = rows.reset_index(drop=True)
    silent = rows[levels_of(rows)["rounds"] == WITHOUT_INTERACTION]
    spoken = varied(rows, "rounds")
    notes += [*spoken.notes, *without_value(rows, (RANKS,))]
    table = []
    if len(silent):
        alike = silent["topic"].isin(spoken.rows["topic"])
        alike &= silent["model"].isin(spoken.rows["model"])
        kept = silent[alike] if len(spoken.rows) else silent
        table.append({"rounds": 0, **_mean(kept, RANKS, draws)})
        notes.append(said("study/rounds_of_none"))
    for level in spoken.levels:
        own = spoken.rows[spoken.rows["level"] == level]
        mean = _mean(own, RANKS, draws)
        if spoken.why_not == "no_common_block":
            mean["note"] = spoken.why_not
        table.append({"rounds": int(float(level)), **mean})
    return table, notes


def means(study: StudyTable, draws: DrawCounts) -> Result:
    """What each outcome was under every treatment, people's published AQuA beside."""
    own = taken(study, wanted_outcomes(study, relative=False), contrast=False)
    rows, notes = [], []
    for kind, sessions in kinds_of_participants(study).items():
        if AQUA in sessions.columns and sessions[AQUA].notna().any():
            scores, notes = scores_of_five(sessions)
            sessions = sessions.assign(**{AQUA: scores})
        for outcome in own.outcomes:
            for row in _means_of(sessions, outcome, draws):
                rows.append({"population": kind, "outcome": outcome.measure, **row})
    if any(row["outcome"] == AQUA for row in rows):
        rows.append({"population": PEOPLE, "outcome": AQUA, "phase": "", **vars(SCORED)})
    return own.result("study/means", rows, notes, people=PUBLISHED.what)


def _means_of(
    sessions: pd.DataFrame, outcome: OutcomeMeasure, draws: DrawCounts
) -> Iterator[dict[str, Any]]:
    """The rows of one outcome: a phase, treatment and setting each."""
    settings = sessions.reindex(columns=["setting"])["setting"].fillna("").astype(str)
    for phase in (*get_args(Phase), "change") if outcome.scale == CHANGE else ("",):
        column = f"{outcome.measure}_{phase}" if phase else outcome.measure
        if column not in sessions.columns:
            continue
        for treatment in measurable(sessions, outcome):
            of_treatment = sessions["treatment"] == treatment
            for setting in sorted(set(settings[of_treatment])):
                own = sessions[of_treatment & (settings == setting)]
                known = own[own[column].notna()]
                values = known[column].astype(float)
                found = over_topics(values, known["topic"], draws)
                named = {"phase": phase, "treatment": treatment, "setting": setting}
                named["sd"] = values.std(ddof=1)
                yield found | named | {"note": noted(missing_note(own, column), found["note"])}


def noise_floor(study: StudyTable, draws: DrawCounts) -> Result:
    """How far each outcome changed under the treatment none."""
    own = taken(study, changes_of(study), contrast=False)
    sessions = own.rows[own.rows["treatment"] == NONE]
    if not own.why and sessions.empty:
        own = replace(own, why="no_control")
    rows = (_noise(sessions, outcome, draws) for outcome in own.outcomes)
    return own.result("study/noise_floor", rows, n=draws.resamples)


def _noise(sessions: pd.DataFrame, outcome: OutcomeMeasure, draws: DrawCounts) -> dict[str, Any]:
    """The noise floor of one outcome."""
    known = sessions[sessions[outcome.column].notna()]
    values = known[outcome.column].astype(float)
    row: dict[str, Any] = {"outcome": outcome.measure, "treatment": NONE, "n": len(values)}
    notes = [missing_note(sessions, outcome.column)]
    if not len(values):
        return row | {"note": noted(*notes)}
    found = over_topics(values, known["topic"], draws)
    within = values.groupby([known[name] for name in BLOCK], dropna=False).std(ddof=1)
    single = int(within.isna().sum())
    if single:
        blocks = f"{single} of {len(within)} blocks have one session only"
        notes.append(f"no_replication: {blocks} and no standard deviation of their own")
    notes.append(too_few("topic", 1) if found["note"] == "one_topic" else found["note"])
    return {
        **found,
        **row,
        "sd": float(values.std(ddof=1)) if len(values) > 1 else np.nan,
        "mean_absolute": float(values.abs().mean()),
        "within_block_sd": float(within.mean()),
        "note": noted(*notes),
    }
