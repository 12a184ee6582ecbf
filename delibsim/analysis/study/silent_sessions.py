"""Where sessions without interaction stand when they are compared with sessions that have it.

A session in which nobody speaks has no rounds of speech, so it is held once for all levels of a
setting of speech. It is compared with the sessions of each of these levels.
"""

import re
from collections.abc import Collection, Sequence

import pandas as pd

from delibsim.domain.effect import OF_TURNS

NONE = "none"
"""The treatment under which nobody speaks."""
Stated = frozenset[tuple[str, str]]
NAMED = re.compile(r"(?:^|, )([A-Za-z_][\w.]*)=")
"""Where a setting begins in the text of all settings; a value may hold commas of its own."""
PLACE = ["topic", "model"]


def is_silent(rows: pd.DataFrame) -> pd.Series:
    """Which sessions are without interaction, as booleans.

    The column `interaction` says so. Where it is not known, sessions under the treatment none are.
    """
    named = rows["treatment"].astype(str) == NONE
    if "interaction" not in rows.columns:
        return named
    known = rows["interaction"].astype("boolean")
    return (~known).fillna(named).astype(bool)


def stated(setting: str) -> Stated:
    """The settings of a session by key, from their text.

    >>> sorted(stated("group.size=4, rounds=2"))
    [('group.size', '4'), ('rounds', '2')]
    >>> sorted(stated("long"))
    [('', 'long')]
    """
    found = list(NAMED.finditer(setting))
    if not found or found[0].start() > 0:
        return frozenset({("", setting)} if setting else ())
    ends = [match.start() for match in found[1:]] + [len(setting)]
    parts = []
    for match, end in zip(found, ends, strict=True):
        parts.append((match[1], setting[match.end() : end]))
    return frozenset(parts)


def beside_speech(setting: str) -> Stated:
    """The settings of a session without those of its speech.

    >>> sorted(beside_speech("group.size=4, rounds=2"))
    [('group.size', '4')]
    """
    return frozenset(part for part in stated(setting) if part[0] not in OF_TURNS)


def counterparts(spoken: Collection[str], silent: Collection[str]) -> dict[str, str]:
    """For each setting with speech that of the silent sessions it is compared with, where one is.

    Both agree in all that does not concern speech. Of several such settings it is the one that
    agrees in most that does, then the first by name.

    >>> counterparts(["rounds=2", "rounds=4"], [""])
    {'rounds=2': '', 'rounds=4': ''}
    """
    found = {}
    for setting in spoken:
        rest, own = beside_speech(setting), stated(setting)
        alike = [other for other in silent if beside_speech(other) == rest]
        if alike:
            ranked = sorted(alike, key=lambda other: (-len(own & stated(other)), other))
            found[setting] = ranked[0]
    return found


def placed(rows: pd.DataFrame) -> pd.DataFrame:
    """The sessions, those without interaction once in every block in which they are compared.

    `setting` is then that of the block. Silent sessions that no other session of their topic and
    model can be compared with stay in the block of their own.
    """
    if rows["setting"].nunique(dropna=False) < 2:
        return rows
    silent = is_silent(rows)
    if silent.all() or not silent.any():
        return rows
    parts = [rows[~silent]]
    spoken = {place: own["setting"] for place, own in rows[~silent].groupby(PLACE, dropna=False)}
    for place, own in rows[silent].groupby(PLACE, dropna=False, sort=False):
        settings = list(dict.fromkeys(spoken[place])) if place in spoken else []
        chosen = counterparts(settings, set(own["setting"]))
        used = own["setting"].isin(set(chosen.values()))
        parts.append(own[~used])
        for setting, counterpart in chosen.items():
            parts.append(own[own["setting"] == counterpart].assign(setting=setting))
    return pd.concat(parts, ignore_index=True)


def shares(rows: pd.DataFrame, settings: Sequence[str]) -> pd.DataFrame:
    """How far each session stands at each of these settings: 1 at its own, and 0 at the others.

    A silent session stands at the mean of the settings with speech that it is compared with, so
    that a treatment with several levels is compared with it at the mean of these levels.
    """
    found = pd.DataFrame(0.0, index=rows.index, columns=list(settings))
    silent = is_silent(rows)
    spoken = list(dict.fromkeys(rows.loc[~silent, "setting"]))
    chosen = counterparts(spoken, set(rows.loc[silent, "setting"]))
    for setting in settings:
        own = rows["setting"] == setting
        levels = [level for level, counterpart in chosen.items() if counterpart == setting]
        found.loc[own & ~silent, setting] = 1.0
        found.loc[own & silent, levels or [setting]] = 1.0 / max(len(levels), 1)
    return found
