"""The multiverse of codes: an effect under every choice of coder, wording and reading of levels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd

from delibsim.analysis.coding.effect import Array, CodedTexts, contrasts_of, effect_rows
from delibsim.analysis.result import Result, make_table

LEVEL = "level"
MOST_LEVELS = 8
"""Different values above which codes have no thresholds."""
ROUNDING = 1e-12
NAMED = ["outcome", "a", "b", "row"]
ALL = "all models"


def multiverse(
    worded: Mapping[str, Sequence[CodedTexts]], contrasts: Sequence[tuple[str, str]] = ()
) -> list[Result]:
    """The tables `multiverse`, a row a contrast and choices, and `multiverse_shares`.

    `worded` are the same outcomes by the wording in which the models were asked.
    """
    found = []
    for wording, outcomes in worded.items():
        for texts in outcomes:
            for choices, chosen in _choices(texts):
                for row in effect_rows(chosen, contrasts or contrasts_of(texts.treatment)):
                    if row["row"] != "people":
                        found.append(row | choices | {"wording": wording})
    table = make_table("effects/multiverse", [_plain(row) for row in found])
    return [table, make_table("effects/multiverse_shares", list(_shares(table.rows)))]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    names = (*NAMED, "coder", "wording", "reading", "estimate", "se", "low", "high", "note")
    return {name: row[name] for name in names if name in row}


def _choices(texts: CodedTexts) -> Iterator[tuple[dict[str, str], CodedTexts]]:
    """The texts under each coder and reading, and what was chosen."""
    given = [*texts.proxies.values(), texts.people]
    for reading, least in _readings(given):
        people = _read(texts.people, least)
        every = {name: _read(values, least) for name, values in texts.proxies.items()}
        yield (
            {"coder": ALL, "reading": reading},
            replace(texts, people=people, proxies=every),
        )
        several = texts.proxies if len(texts.proxies) > 1 else {}
        for coder, values in _coders(several):
            alone = replace(texts, people=people, proxies={coder: _read(values, least)})
            yield {"coder": coder, "reading": reading}, alone


def _readings(given: Sequence[Array]) -> list[tuple[str, float]]:
    """The level itself, and whether it is a level or above: the reading and the least level."""
    known = np.concatenate(given)
    values = np.unique(known[~np.isnan(known)])
    found = [(LEVEL, np.nan)]
    if 2 < len(values) <= MOST_LEVELS:
        found += [(f"{value:g} or more", float(value)) for value in values[1:]]
    return found


def _read(values: Array, least: float) -> Array:
    """The values, or 1 where they reach the least and else 0; NaN stays."""
    if np.isnan(least):
        return values
    return np.where(np.isnan(values), np.nan, (values >= least).astype(float))


def _coders(proxies: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """Each model alone, and the lower median and the mean of those that coded."""
    if proxies:
        yield from proxies.items()
        table = pd.DataFrame(dict(proxies))
        yield "median", table.quantile(0.5, axis=1, interpolation="lower").to_numpy(dtype=float)
        yield "mean", table.mean(axis=1).to_numpy(dtype=float)


def _shares(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """How many specifications keep the sign and the clearness of all models and the level."""
    for key, own in table.groupby(NAMED, sort=False):
        names = cast("tuple[str, ...]", key)
        known = own[own["estimate"].notna()]
        main = known[(known["coder"] == ALL) & (known["reading"] == LEVEL)].head(1)
        row: dict[str, Any] = dict(zip(NAMED, names, strict=True))
        row["specifications"] = len(known)
        if main.empty:
            yield row | {"note": "no estimate by all models"}
            continue
        signs = np.sign(known["estimate"].where(known["estimate"].abs() > ROUNDING, 0.0))
        same = signs == signs[main.index[0]]
        clear = (known["low"] > 0) | (known["high"] < 0)
        row |= {"estimate": main["estimate"].iloc[0], "same_sign": same.mean()}
        row |= {"clear": clear.mean(), "clear_with_sign": (clear & same).mean()}
        yield row | {"lowest": known["estimate"].min(), "highest": known["estimate"].max()}
