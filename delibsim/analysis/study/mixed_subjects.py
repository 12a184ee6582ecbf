"""People and models as subjects: the effect in people, made more precise by their twins of models.

A unit is a session: what people gave where they held it, what each model gave in the session of the
same topic, setting, treatment and replicate, and the chance with which the plan gave it to people.
Source: Broska, Howes and van Loon 2025, Sociological Methods & Research 54(3).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.coding.effect import CodedTexts, effects_table
from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.counts import outcome_of
from delibsim.analysis.study.outcomes import RELATIVE, with_interval
from delibsim.analysis.study.sample import outcomes_of, wanted_outcomes
from delibsim.analysis.study.study_table import HELD, StudyTable
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.text import counted, quoted

NAMES = frozenset({"person", "people", "human"})
"""What the model of a session is called that people hold."""
UNIT = ["topic", "setting", "treatment", "replicate"]
CHANCE = "chance"
"""The column of a table with the chance with which a session was given to people."""


def held_by_people(rows: pd.DataFrame) -> pd.Series:
    """Which sessions were planned for people in all seats."""
    named = rows["model"].astype(str).str.lower().isin(NAMES)
    if "people_seats" in rows.columns and "group_size" in rows.columns:
        named |= (rows["people_seats"] >= rows["group_size"]).fillna(False).astype(bool)
    return named


def mixed_subjects(study: StudyTable, share: float | None) -> tuple[Result, list[str]]:
    """The table `mixed_subjects`, and what it says; `share` is the chance that the plan drew by,
    None where the table has a column of chances.

    WrongInput where no session was given to people with a known chance.
    """
    people = held_by_people(study.rows)
    if not people.any():
        raise refused("no_sessions_of_people")
    if share is None and CHANCE not in study.rows.columns:
        raise refused("chance_not_known", chance=CHANCE)
    if share is None and not study.rows.loc[people, CHANCE].between(1e-9, 1).all():
        raise WrongInput(f"column {CHANCE} of sessions of people is above 0 and at most 1")
    if not study.rows.loc[people, "status"].isin(HELD).any():
        raise WrongInput(f"people have held no session yet: delibsim serve {quoted(study.study)}")
    notes = [*_left_out(study.rows[people]), *_without_twin(study.rows, people)]
    outcomes = outcomes_of(study.rows, wanted_outcomes(study))[0]
    texts = []
    for outcome in outcomes:
        name = f"{outcome.measure} (relative)" if outcome.scale == RELATIVE else outcome.measure
        texts.append(_of_outcome(study, people, name, outcome.column, share))
    table = effects_table(texts)[0]
    deciding = outcome_of(study)
    first = [one for one, outcome in zip(texts, outcomes, strict=True) if outcome == deciding]
    told = []
    if first:
        of_first, told, _ = effects_table(first, whom="in people")
        told += list(_beside(of_first.plain()))
    return make_table("study/mixed_subjects", table.rows, notes=notes), told


def _beside(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What people alone and models alone say of each contrast."""
    named = {"people": "people alone", "models": "models alone, which is not valid by itself"}
    for row in rows:
        if row["row"] in named and row["estimate"] is not None:
            numbers = with_interval(row["estimate"], row["low"], row["high"])
            yield f"{row['a']} against {row['b']}, {named[row['row']]}: {numbers}"


def _left_out(rows: pd.DataFrame) -> Iterator[str]:
    """Which sessions of people count as not held, and why."""
    if len(stood := rows[stood_in(rows)]):
        yield (
            f"{counted(len(stood), 'session')} of people in which a stand-in gave replies count as"
            " not held by people"
        )
    if len(unheld := rows[~rows["status"].isin(HELD)]):
        yield f"{counted(len(unheld), 'session')} planned for people not held"


def _without_twin(rows: pd.DataFrame, people: pd.Series) -> Iterator[str]:
    """How many sessions of people no model held too."""
    units = pd.MultiIndex.from_frame(rows[UNIT].fillna("").astype(str))
    lacking = int((~units[people].isin(units[~people])).sum())
    if lacking:
        yield (
            f"{counted(lacking, 'session')} of people without a twin, a session of a model of the"
            f" same {', '.join(UNIT)}: models say nothing of it"
        )


def stood_in(rows: pd.DataFrame) -> pd.Series:
    """The sessions in which a stand-in gave a reply in a seat for people."""
    if "people_stood_in" not in rows.columns:
        return pd.Series(False, index=rows.index, dtype=bool)
    return (rows["people_stood_in"] > 0).fillna(False).astype(bool)


def _of_outcome(
    study: StudyTable, people: pd.Series, name: str, column: str, share: float | None
) -> CodedTexts:
    """The sessions of an outcome as units, a proxy a model."""
    rows = study.rows.assign(value=study.rows[column].astype(float))
    rows.loc[people & stood_in(rows), "value"] = np.nan
    keys = rows[UNIT].fillna("").astype(str)
    rows = rows.assign(**{key: keys[key] for key in UNIT})
    models = rows[~people]
    proxies = models.pivot_table(index=UNIT, columns="model", values="value", aggfunc="mean")
    gold = rows[people].groupby(UNIT)["value"].mean()
    units = proxies.index.union(gold.index)
    frame = units.to_frame(index=False)
    chance = pd.Series(np.nan if share is None else share, index=units)
    if share is None:
        chance = rows.groupby(UNIT)[CHANCE].max().astype(float).reindex(units)
    cluster = frame["topic"] + "/" + frame["replicate"]
    if not study.paired:
        cluster += "/" + frame["treatment"]
    held = {key: frame[key].to_numpy(dtype=str) for key in ("topic", "setting")}
    return CodedTexts(
        outcome=name,
        treatment=frame["treatment"].to_numpy(dtype=str),
        session=cluster.to_numpy(dtype=str),
        proxies={str(m): proxies[m].reindex(units).to_numpy(float) for m in proxies.columns},
        people=gold.reindex(units).to_numpy(dtype=float),
        chance=chance.to_numpy(dtype=float),
        held={key: values for key, values in held.items() if len(set(values)) > 1},
    )
