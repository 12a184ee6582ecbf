"""Who was in the room: people, models, stand-ins and silent seats, by condition."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.study_table import StudyTable

CONDITION = ("topic", "model", "setting", "treatment")
HELD = ("complete", "partial")
COUNTED = {
    "people_seats": "seats",
    "people_stood_in": "stood_in",
    "people_silent": "silent",
    "answers_absent_pre": "answers_absent_pre",
    "answers_absent_post": "answers_absent_post",
    "answers_stood_in": "answers_stood_in",
    "turns_absent": "turns_absent",
}
"""The columns of the study table that are summed, and the names of their sums."""
MEDIANS = ("minutes", "people_survey_seconds", "people_turn_seconds")
MEANINGS = {
    "topic": "id of the topic",
    "model": "models of the group, joined by +",
    "setting": "every other setting in which sessions of the study differ",
    "treatment": "name of the treatment",
    "sessions": "sessions with seats for people that were begun",
    "held": "of these, sessions that have a run",
    "seats": "seats for people in the sessions that were held",
    "stood_in": "of these, seats in which a stand-in gave a reply",
    "silent": "of these, seats in which nobody answered what was asked last",
    "by_models": "seats that models had from the beginning, in the same sessions",
    "answers_absent_pre": "answers before that are missing because nobody was there",
    "answers_absent_post": "answers after that are missing because nobody was there",
    "answers_stood_in": "answers that are missing because a stand-in gave them after a person",
    "turns_absent": "turns in which nobody was there",
    "unknown": "sessions whose record is damaged, which no count but seats holds",
    "minutes": "median minutes of a session",
    "people_survey_seconds": "median over sessions of the seconds that a person took for a survey",
    "people_turn_seconds": "median over sessions of the seconds that a person took for a turn",
}


def in_room(study: StudyTable, draws: Draws) -> Sequence[Result]:
    """The seats for people by condition; nothing of a study that has none."""
    rows = study.rows
    if "people_seats" not in rows or not (rows["people_seats"] > 0).any():
        return ()
    own = rows[(rows["people_seats"] > 0).fillna(False).astype(bool)]
    by = [name for name in CONDITION if name in own]
    found = [
        dict(zip(by, key, strict=True)) | _counted(group)
        for key, group in own.groupby(by, sort=False, dropna=False)
    ]
    table = pd.DataFrame(found, columns=list(MEANINGS))
    result = make_table("study/in_room", table, notes=different_shares(rows))
    return (result,)


def different_shares(rows: pd.DataFrame) -> list[str]:
    """A sentence where stand-ins took more of people's seats in one treatment than in another."""
    if "people_stood_in" not in rows:
        return []
    known = rows[rows["people_stood_in"].notna()]
    sums = known.groupby("treatment")[["people_stood_in", "people_seats"]].sum()
    if sums.empty:
        return []
    shares = (sums["people_stood_in"] / sums["people_seats"]).astype(float)
    if shares.max() == shares.min():
        return []
    told = [
        f"{name} {int(sums.loc[name, 'people_stood_in'])} of {int(sums.loc[name, 'people_seats'])}"
        for name in shares.index
    ]
    return [
        f"Stand-ins took different shares of people's seats: {', '.join(told)}. A contrast of these"
        " treatments compares people with models too; specifications has it without such sessions."
    ]


def _counted(group: pd.DataFrame) -> dict[str, Any]:
    held = group[group["status"].isin(HELD)]
    known = held["people_stood_in"].notna()
    row: dict[str, Any] = {"sessions": len(group), "held": len(held)}
    row["unknown"] = int((~known).sum())
    for column, name in COUNTED.items():
        row[name] = int(held[column].sum())
    row["by_models"] = int((held["size"] - held["people_seats"]).sum())
    for column in MEDIANS:
        row[column] = float(held[column].astype(float).median()) if len(held) else float("nan")
    return row
