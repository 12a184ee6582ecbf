"""Factors that vary in a study beside its treatments, and the sessions in which only one varies."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from delibsim.analysis.study.study_table import WORDING
from delibsim.domain.data import read_data
from delibsim.domain.text import counted

PARTS = ("phases", "facilitation", "briefing", "witnesses", "small_groups")
"""Parts of a session, of which a session has one or "none", and the order of its phases, where that
is not the usual one.
"""
SETTINGS_OF: Mapping[str, re.Pattern[str]] = {
    name: re.compile(keys) for name, keys in read_data("settings.yaml")["factors"].items()
}
"""The columns of the table of a study that are factors, and the keys of the settings that are those
of each; paraphrases of a treatment are another factor.
"""
OF_SPEECH = ("rounds", "facilitation", "small_groups")
"""Factors that a session in which nobody speaks has no level of."""
OF_THE_TOPIC = "of the topic"
"""The level of sessions that differ by topic alone, such as those with a briefing of their own."""
STRATUM = ("topic", "model", "treatment")
WITHOUT_INTERACTION = "0"
"""The level of `rounds` of sessions in which nobody speaks."""
NOT_SET = "not set"
ANEW = "drawn anew for each replicate"
Stated = frozenset[tuple[str, str]]
SETTING = re.compile(r"(?:^|, )([A-Za-z_][\w.]*)=")
"""Where a setting begins in the text of all settings; a value may hold commas of its own."""


@dataclass(frozen=True, eq=False)
class Factor:
    """The sessions in which one factor varies and the others are held.

    `rows` have a column `level`; every topic, model and treatment among them occurs at every one of
    the `levels`. `notes` are sentences: where the other factors are held, and what was left out.
    `why_not` is the reason code of a factor whose levels cannot be compared.
    """

    name: str
    rows: pd.DataFrame
    levels: tuple[str, ...]
    notes: tuple[str, ...] = ()
    why_not: str = ""


def factors(rows: pd.DataFrame) -> list[Factor]:
    """Every factor with two or more levels, in the order of SETTINGS_OF, then paraphrases."""
    rows = rows.reset_index(drop=True)
    settings = levels_of(rows)
    found = []
    for name in settings.columns:
        varying = settings[name]
        if name == "rounds":
            varying = varying[varying != WITHOUT_INTERACTION]
        if varying.nunique() > 1:
            found.append(varied(rows, name))
    return [*found, *_paraphrases(rows)]


def with_levels(rows: pd.DataFrame) -> pd.DataFrame:
    """The sessions with a column `facilitation=` that names their level, `facilitation=rounds`, for
    each part of a session that varies; where neither a part nor the treatment does, for every other
    factor that does. A level is empty where a session can have none.
    """
    if rows.empty:
        return rows
    levels = levels_of(rows)
    parts = [name for name in PARTS if name in levels and levels[name].nunique() > 1]
    others = [] if parts or rows["treatment"].nunique() > 1 else levels.columns
    added = {}
    for name in parts or others:
        own = _in_detail(rows, name, levels[name])
        if name in OF_SPEECH and "rounds" in levels:
            own = own.where(levels["rounds"] != WITHOUT_INTERACTION)
        if own.nunique() > 1:
            added[f"{name}="] = f"{name}=" + own
    return rows.assign(**added) if added else rows


def levels_named(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The levels of each factor that `with_levels` named, in their order."""
    found = {}
    for column in rows.columns:
        if str(column).endswith("="):
            known = rows[column].dropna().unique()
            found[column[:-1]] = sorted(known, key=lambda one: _order(one.partition("=")[2]))
    return found


def varied_in_words(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The same for a sentence: "small groups" with "none" and "2"."""
    found = {}
    for factor, levels in levels_named(with_levels(rows)).items():
        found[factor.replace("_", " ")] = [level.partition("=")[2] for level in levels]
    return found


def _in_detail(rows: pd.DataFrame, name: str, levels: pd.Series) -> pd.Series:
    """The levels of a factor, with the settings of it in which one level differs on a topic, such
    as the model that facilitates; what differs by topic alone is one level.
    """
    topics = rows["topic"]
    if name in PARTS:
        told = levels.where(levels != "none")
        if told.nunique() > 1 and (told.groupby(topics).nunique() < 2).all():
            levels = told.mask(told.notna(), OF_THE_TOPIC).fillna("none")
    settings = rows["setting"].astype(str).map(lambda text: dict(stated(text)))
    for key in sorted(set().union(*settings)):
        own = settings.map(lambda one, key=key: one.get(key, ""))
        if SETTINGS_OF[name].fullmatch(key) and own.groupby([topics, levels]).nunique().max() > 1:
            levels = levels + own.where(own == "", f" {key}=" + own)
    return levels


def levels_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The level of every session in every factor that the table knows, as text."""
    found = {}
    for name in SETTINGS_OF:
        if name in rows.columns:
            found[name] = rows[name].map(_level)
    if "persona" in found:
        found["persona"] = _personas(rows, found["persona"])
    for name in PARTS:
        if name in found:
            found[name] = found[name].replace(NOT_SET, "none")
    return pd.DataFrame(found, index=rows.index)


def _level(value: object) -> str:
    if pd.isna(value) or value == "":
        return NOT_SET
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _personas(rows: pd.DataFrame, levels: pd.Series) -> pd.Series:
    """Personas by the name of their set, without the topic whose people or set they are.

    Seats that are drawn anew for each replicate of a cell are one level.
    """
    ends = [f":{topic}" for topic in rows["topic"].astype(str)]
    named = [level.removesuffix(end) for level, end in zip(levels, ends, strict=True)]
    found = pd.Series(named, index=rows.index).replace(NOT_SET, "none")
    if "cell" in rows.columns:
        told = found.where(found != "none")
        several = told.groupby(rows["cell"]).transform("nunique") > 1
        found = found.mask(several & told.notna(), ANEW)
    return found


def varied(rows: pd.DataFrame, name: str) -> Factor:
    """The sessions in which a factor varies, the others held at one level each.

    They are held where the factor has most levels, of several such places where there are most
    sessions. Rounds of speech are not held of sessions in which nobody speaks.
    """
    rows = rows.reset_index(drop=True)
    settings = levels_of(rows)
    settings = settings.assign(level=settings[name])
    others = [other for other in settings.columns if other not in (name, "level")]
    silent = pd.Series(False, index=rows.index)
    if "rounds" in settings.columns:
        silent = settings["rounds"] == WITHOUT_INTERACTION
    if name == "rounds":
        settings, silent = settings[~silent], silent[~silent]
    held = _common(settings if silent.all() else settings[~silent], others)
    fits = pd.Series(True, index=settings.index)
    for other, level in held.items():
        alike = settings[other] == level
        fits &= (alike | silent) if other == "rounds" else alike
    kept = rows.loc[settings.index[fits]].assign(level=settings["level"][fits])
    notes = []
    if len(kept) < len(settings):
        left = len(settings) - len(kept)
        at = _in_words(held)
        notes.append(f"{name}: the other factors are held at {at}; sessions that differ: {left}.")
    return _crossed(name, kept, list(STRATUM), notes)


def _common(settings: pd.DataFrame, others: list[str]) -> dict[str, str]:
    """Where the other factors are held: most levels, then most sessions, then the first by name."""
    varying = [other for other in others if settings[other].nunique() > 1]
    if not varying:
        return {}
    by_place = settings.groupby(varying, sort=True)["level"]
    places = by_place.agg(levels="nunique", sessions="count").reset_index()
    ranked = places.sort_values(["levels", "sessions"], ascending=False, kind="stable")
    best = ranked[varying].iloc[0]
    return {str(name): str(level) for name, level in best.items()}


def _crossed(name: str, rows: pd.DataFrame, stratum: list[str], notes: list[str]) -> Factor:
    """The sessions of those strata that occur at every level of the factor."""
    levels = tuple(sorted(rows["level"].unique(), key=_order))
    if len(levels) < 2:
        return Factor(name, rows, levels, tuple(notes), "one_level")
    there = rows.groupby(stratum, dropna=False)["level"].transform("nunique")
    kept = rows[there == len(levels)]
    left = len(rows) - len(kept)
    if left:
        what = " x ".join(stratum)
        notes = [
            *notes,
            f"{name}: left out are {counted(left, 'session')} of a {what} that lacks a level.",
        ]
    return Factor(name, kept, levels, tuple(notes), "" if len(kept) else "no_common_block")


def _order(level: str) -> tuple[int, float, str]:
    """Levels that are numbers by size, then "none", then names."""
    try:
        return 0, float(level), ""
    except ValueError:
        return (1, 0.0, "") if level == "none" else (2, 0.0, level)


def _paraphrases(rows: pd.DataFrame) -> Iterator[Factor]:
    """A treatment and its paraphrases, where it was held in several wordings."""
    if WORDING not in rows.columns:
        return
    for name, own in rows.groupby("treatment", sort=True):
        if own[WORDING].nunique() > 1:
            levelled = own.assign(level=own[WORDING].astype(str))
            yield _held_elsewhere(f"wording of {name}", levelled)


def _in_words(held: Mapping[str, str]) -> str:
    """The levels at which factors are held."""
    return ", ".join(f"{name.replace('_', ' ')} {level}" for name, level in held.items())


def _held_elsewhere(name: str, rows: pd.DataFrame) -> Factor:
    """Paraphrases where all factors are held at one level each."""
    settings = levels_of(rows).assign(level=rows["level"])
    held = _common(settings, [other for other in settings.columns if other != "level"])
    fits = pd.Series(True, index=rows.index)
    for other, level in held.items():
        fits &= settings[other] == level
    notes = []
    if not fits.all():
        left = int((~fits).sum())
        notes.append(
            f"{name}: factors are held at {_in_words(held)}; sessions that differ: {left}."
        )
    return _crossed(name, rows[fits], ["topic", "model"], notes)


def stated(setting: str) -> Stated:
    """The settings of a session by key, from their text.

    >>> sorted(stated("group.size=4, rounds=2"))
    [('group.size', '4'), ('rounds', '2')]
    >>> sorted(stated("long"))
    [('', 'long')]
    """
    found = list(SETTING.finditer(setting))
    if not found or found[0].start() > 0:
        return frozenset({("", setting)} if setting else ())
    ends = [match.start() for match in found[1:]] + [len(setting)]
    named = zip(found, ends, strict=True)
    return frozenset((match[1], setting[match.end() : end]) for match, end in named)
