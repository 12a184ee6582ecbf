"""Effects of treatments on what was coded: by people alone, by models alone, and corrected."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.report import Report
from delibsim.analysis.result import catalogue, make_table
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.study import natural
from delibsim.domain.text import counted
from delibsim.measures.corrected_effect import (
    FEW_CLUSTERS,
    Effect,
    corrected,
    models_alone,
    people_alone,
    units,
)
from delibsim.store.tables.csv_cells import Sheet, read_sheet, refuse_faults

Array = NDArray[np.float64]
NONE = "none"
"""The treatment with which others are compared, where there is one."""
FEWEST = 10
"""Sessions of a treatment that people must have read for a corrected interval."""
NOT_VALID = "not valid by itself"


@dataclass(frozen=True)
class CodedTexts:
    """The texts of an outcome: what n texts are, and what models and people say of each.

    `proxies` are the codes of each model; `people` is NaN where nobody coded, `chance` NaN where it
    is not known with what chance a text was drawn. `held` are factors that are held constant.
    """

    outcome: str
    treatment: Sequence[str]
    session: Sequence[str]
    proxies: Mapping[str, Array]
    people: Array
    chance: Array
    held: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def chosen(self, which: NDArray[np.bool_]) -> "CodedTexts":
        """The same of some of the texts."""
        places = np.flatnonzero(which)
        return CodedTexts(
            self.outcome,
            [self.treatment[i] for i in places],
            [self.session[i] for i in places],
            {name: values[which] for name, values in self.proxies.items()},
            self.people[which],
            self.chance[which],
            {name: [values[i] for i in places] for name, values in self.held.items()},
        )

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """The texts that people coded."""
        return ~np.isnan(self.people)


def contrasts_of(treatments: Sequence[str]) -> list[tuple[str, str]]:
    """Every treatment against none; without it, every pair.

    >>> contrasts_of(["none", "normative", "basic"])
    [('basic', 'none'), ('normative', 'none')]
    """
    found = sorted(set(treatments), key=natural)
    if NONE in found:
        return [(one, NONE) for one in found if one != NONE]
    return [(one, other) for i, other in enumerate(found) for one in found[i + 1 :]]


def effect_rows(
    texts: CodedTexts, contrasts: Sequence[tuple[str, str]] = ()
) -> Iterator[dict[str, Any]]:
    """The rows of the table of effects: three of each contrast, or one without codes of people."""
    for a, b in contrasts or contrasts_of(texts.treatment):
        which = np.array([one in (a, b) for one in texts.treatment])
        yield from _three(texts.chosen(which), a, b)


def _three(own: CodedTexts, a: str, b: str) -> Iterator[dict[str, Any]]:
    design, contrast = _design(own, a)
    proxies = np.column_stack([np.zeros((len(own.session), 0)), *own.proxies.values()])
    known = units(design, proxies, own.people, own.chance, own.session)
    named = {"outcome": own.outcome, "a": a, "b": b}
    whole = int(np.linalg.matrix_rank(design)) == design.shape[1]
    some = _read_in_each(own, (a, b))
    why = "" if whole else "the treatments differ in what is held constant"
    missing = why or ("" if min(some) else "people coded no text of one of the treatments")
    people = None if missing else people_alone(known, contrast)
    if own.drawn.any():
        yield named | {"row": "people"} | _row(people, missing)
    if own.proxies:
        models = None if why else models_alone(known, contrast)
        yield named | {"row": "models"} | _row(models, why or NOT_VALID)
    if own.proxies and own.drawn.any():
        found = None if missing else corrected(known, contrast)
        row = named | {"row": "corrected"} | _row(found, missing)
        yield row | _beside(own, found, people, min(some))


def _design(own: CodedTexts, a: str) -> tuple[Array, list[float]]:
    """The design of a text (n, p): the intercept, treatment a, what is held; and the contrast."""
    columns = [np.ones(len(own.treatment)), np.array([one == a for one in own.treatment], float)]
    for values in own.held.values():
        for level in sorted(set(values), key=natural)[1:]:
            columns.append(np.array([value == level for value in values], float))
    return np.column_stack(columns), [0.0, 1.0, *[0.0] * (len(columns) - 2)]


def _read_in_each(own: CodedTexts, treatments: Sequence[str]) -> list[int]:
    """Of how many sessions of each treatment people coded a text."""
    read = {(own.treatment[i], own.session[i]) for i in np.flatnonzero(own.drawn)}
    return [sum(treatment == one for one, _ in read) for treatment in treatments]


def _row(found: Effect | None, note: str) -> dict[str, Any]:
    if found is None:
        return {"note": note}
    by = "t" if math.isnan(found.jackknife) else "jackknife"
    return {
        "estimate": found.estimate,
        "se": found.se,
        "low": found.low,
        "high": found.high,
        "interval": by,
        "interval_se": found.error,
        "n": found.n,
        "clusters": found.clusters,
        "note": note,
    }


def _beside(
    own: CodedTexts, found: Effect | None, people: Effect | None, fewest: int
) -> dict[str, Any]:
    """What the corrected row says beside its estimate; no interval where too few were read."""
    if found is None or people is None:
        return {}
    weights = list(found.weights)
    told = {
        "lambda": weights[0] if len(weights) == 1 else weights,
        "correlation": _correlation(own, weights),
    }
    if fewest < FEWEST:
        note = f"{fewest} sessions of a treatment were read by people, {FEWEST} are needed"
        return told | {"low": math.nan, "high": math.nan, "interval": "", "note": note}
    told["effective"] = people.n * people.error**2 / found.error**2
    if not any(weights):
        told["note"] = "the models say nothing of what people coded: their weight is 0"
    return told


def _correlation(own: CodedTexts, weights: Sequence[float]) -> float:
    """The correlation of people with the weighted sum of the models; NaN where one is constant."""
    parts = [w * values for w, values in zip(weights, own.proxies.values(), strict=True)]
    proxy = np.sum(parts, axis=0)[own.drawn]
    people = own.people[own.drawn]
    if len(people) < 3 or not (np.ptp(proxy) and np.ptp(people)):
        return math.nan
    return float(np.corrcoef(people, proxy)[0, 1])


TEXT, SESSION, TREATMENT, HUMAN, CHANCE = "text", "session", "treatment", "human", "chance"
ROLES = (TEXT, SESSION, TREATMENT, HUMAN, CHANCE)
HELD = ("topic", "setting")
"""Columns of such a name are held constant; every other one holds the codes of a model."""


def texts_in(path: Path, named: Mapping[str, str]) -> tuple[CodedTexts, list[str]]:
    """The texts of a CSV file, and what must be known of it.

    A row is a text, with the columns text, session, treatment, one a model, and `human` and
    `chance` where people coded it; `named` gives other names of these columns. WrongInput, with
    all lines that are wrong.
    """
    sheet = read_sheet(path)
    columns = _columns(path, sheet, named)
    held = [name for name in HELD if name in sheet.header]
    taken = {*columns.values(), *held}
    models = [name for name in sheet.header if name not in taken]
    faults: list[str] = []
    numbers = {
        name: _numbers(sheet, name, faults)
        for name in (*models, *(columns[role] for role in (HUMAN, CHANCE) if role in columns))
    }
    cells = {name: _cells(sheet, name) for name in (columns[SESSION], columns[TREATMENT], *held)}
    _check_names(sheet, cells, faults)
    nobody = np.full(len(sheet.rows), np.nan)
    people = numbers.get(columns.get(HUMAN, ""), nobody)
    chance = numbers.get(columns.get(CHANCE, ""), nobody)
    _check_chances(sheet, people, chance, faults)
    refuse_faults(path, faults)
    texts = CodedTexts(
        outcome=path.stem,
        treatment=cells[columns[TREATMENT]],
        session=cells[columns[SESSION]],
        proxies={name: numbers[name] for name in models},
        people=people,
        chance=chance,
        held={name: cells[name] for name in held},
    )
    return _complete(texts)


def _columns(path: Path, sheet: Sheet, named: Mapping[str, str]) -> dict[str, str]:
    """The column of each role that the table has."""
    for role, name in named.items():
        if role not in ROLES:
            raise unknown("role of a column", role, ROLES)
        if name not in sheet.header:
            raise unknown("column", name, sheet.header)
    found = {role: named.get(role, role) for role in ROLES}
    for role in (SESSION, TREATMENT):
        if found[role] not in sheet.header:
            raise WrongInput(f"{path} has no column '{role}'; name it: {role}=NAME")
    return {role: name for role, name in found.items() if name in sheet.header}


def _cells(sheet: Sheet, name: str) -> list[str]:
    place = sheet.header.index(name)
    return [row[place].strip() for row in sheet.rows]


def _numbers(sheet: Sheet, name: str, faults: list[str]) -> Array:
    """The numbers of a column, NaN where a cell is empty."""
    found = np.full(len(sheet.rows), np.nan)
    for i, cell in enumerate(_cells(sheet, name)):
        written = cell.replace(",", ".") if sheet.decimal_comma else cell
        try:
            found[i] = float(written or "nan")
        except ValueError:
            faults.append(f"line {sheet.lines[i]}: '{name}' holds numbers, not '{cell[:40]}'")
            continue
        if written and not math.isfinite(found[i]):
            faults.append(f"line {sheet.lines[i]}: '{name}' holds numbers, not '{cell[:40]}'")
    return found


def _check_names(sheet: Sheet, cells: Mapping[str, Sequence[str]], faults: list[str]) -> None:
    for name, column in cells.items():
        for i, cell in enumerate(column):
            if not cell:
                faults.append(f"line {sheet.lines[i]}: no {name}")


def _check_chances(sheet: Sheet, people: Array, chance: Array, faults: list[str]) -> None:
    """Every text of people has the chance with which it was drawn."""
    for i in np.flatnonzero(~np.isnan(people)):
        if not 0 < chance[i] <= 1:
            faults.append(
                f"line {sheet.lines[i]}: people coded this text, and 'chance' does not say with"
                " what chance it was drawn, above 0 and at most 1; codes of people's own choice"
                " correct nothing"
            )


def _complete(texts: CodedTexts) -> tuple[CodedTexts, list[str]]:
    """The texts that every model coded, and how many were left out."""
    gaps = {name: np.isnan(values) for name, values in texts.proxies.items()}
    without = np.zeros(len(texts.session), bool)
    for gap in gaps.values():
        without |= gap
    if not without.any():
        return texts, []
    by = ", ".join(f"{name} {int(gap.sum())}" for name, gap in gaps.items() if gap.any())
    n = counted(int(without.sum()), "text")
    return texts.chosen(~without), [f"{n} left out, which a model did not code: {by}"]


def effects(
    texts: CodedTexts, notes: Sequence[str] = (), contrasts: Sequence[tuple[str, str]] = ()
) -> Report:
    """The report on the effects on one outcome."""
    for one in (name for pair in contrasts for name in pair):
        if one not in texts.treatment:
            raise unknown("treatment", one, sorted(set(texts.treatment), key=natural))
    found = list(effect_rows(texts, contrasts))
    told = [*_sentences(found, texts), *notes]
    table = make_table("effects/effects", found, few=FEW_CLUSTERS)
    return Report(
        catalogue=catalogue("effects"),
        title=f"Effects on {texts.outcome}",
        results={table.name: table},
        about={"outcome": texts.outcome, "notes": list(notes)},
        told=told,
        summary=told,
        something=any("estimate" in row for row in found),
        complete=not notes,
        shape=lambda: {"sentences": told, "rows": table.plain()},
    )


def _sentences(rows: Sequence[Mapping[str, Any]], texts: CodedTexts) -> list[str]:
    """What the corrected rows say, or that there is none."""
    if len(set(texts.treatment)) < 2:
        return ["one treatment alone: there is nothing to compare"]
    if not texts.drawn.any():
        return [
            "models alone coded these texts: what they say of a treatment is not valid by itself;"
            " hand a drawn sample to people: delibsim code handout STUDY"
        ]
    return [_sentence(row) for row in rows if row["row"] == "corrected"]


def _sentence(row: Mapping[str, Any]) -> str:
    pair = f"{row['a']} against {row['b']}"
    low, high = row.get("low", math.nan), row.get("high", math.nan)
    if "estimate" not in row or math.isnan(low):
        return f"{pair}: nothing can be said: {row['note']}"
    verb = "raised" if low > 0 else "lowered" if high < 0 else "made no difference that is shown in"
    return (
        f"{pair}: the treatment {verb} {row['outcome']}, {row['estimate']:+.3f}"
        f" [{low:.3f}; {high:.3f}], as people would code all texts"
    )
