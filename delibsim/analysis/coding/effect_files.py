"""The texts of a CSV file on which effects are computed, and those of a study."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes, Draw
from delibsim.analysis.coding.effect import Array, CodedTexts, Words
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.text import counted
from delibsim.store.tables.csv_cells import CsvSheet, read_sheet, refuse_faults

TEXT, SESSION, TREATMENT, HUMAN, CHANCE = "text", "session", "treatment", "human", "chance"
ROLES = (TEXT, SESSION, TREATMENT, HUMAN, CHANCE)
MODELS = "models"
MISSING = frozenset({"NA", "NaN", "nan", "."})
LARGEST = 1e9
"""The largest code."""
HELD = ("topic", "setting")
"""Columns of such a name are held constant; every other one holds the codes of a model."""
EXAMPLE = 14
"""The seed of the example."""
DRAW = "delibsim code handout STUDY draw=spread"
OF_STUDY = (*HELD, "model")
"""What is held constant of the texts of a study, where it varies."""


def texts_in(path: Path, named: Mapping[str, str]) -> tuple[CodedTexts, list[str]]:
    """The texts of a CSV file, and what must be known of it.

    A row is a text, with the columns text, session, treatment, one a model, and `human` and
    `chance` where people coded it; `named` gives other names of these columns. WrongInput, with
    all lines that are wrong.
    """
    sheet = read_sheet(path)
    chosen = [name for name in named.get(MODELS, "").split(",") if name]
    columns = _columns(path, sheet, {role: own for role, own in named.items() if role != MODELS})
    held = [name for name in HELD if name in sheet.header]
    taken = {*columns.values(), *held}
    models = [name for name in sheet.header if name not in taken]
    for name in chosen:
        if name not in models:
            raise unknown("column of a model", name, models)
    models = chosen or models
    faults: list[str] = []
    _check_texts(sheet, columns.get(TEXT, ""), faults)
    given = [columns[role] for role in (HUMAN, CHANCE) if role in columns]
    numbers = {name: _numbers(sheet, name, faults) for name in (*models, *given)}
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
    return texts, list(notes_on(texts))


def _columns(path: Path, sheet: CsvSheet, named: Mapping[str, str]) -> dict[str, str]:
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


def _check_texts(sheet: CsvSheet, column: str, faults: list[str]) -> None:
    """Each text stands in one line."""
    first: dict[str, int] = {}
    for line, name in zip(sheet.lines, _cells(sheet, column) if column else (), strict=False):
        if name and name in first:
            faults.append(f"line {line}: text '{name[:40]}' stands in line {first[name]} already")
        first.setdefault(name, line)


def _cells(sheet: CsvSheet, name: str) -> Words:
    place = sheet.header.index(name)
    return np.array([row[place].strip() for row in sheet.rows], dtype=str)


def _numbers(sheet: CsvSheet, name: str, faults: list[str]) -> Array:
    """The numbers of a column, NaN where a cell is empty."""
    found = np.full(len(sheet.rows), np.nan)
    for i, cell in enumerate(_cells(sheet, name)):
        written = cell.replace(",", ".") if sheet.decimal_comma else cell
        written = "" if written in MISSING else written
        try:
            found[i] = float(written or "nan")
        except ValueError:
            faults.append(f"line {sheet.lines[i]}: '{name}' holds numbers, not '{cell[:40]}'")
            continue
        if written and not abs(found[i]) <= LARGEST:
            faults.append(f"line {sheet.lines[i]}: '{name}' holds numbers, not '{cell[:40]}'")
    return found


def _check_names(sheet: CsvSheet, cells: Mapping[str, Words], faults: list[str]) -> None:
    for name, column in cells.items():
        for i, cell in enumerate(column):
            if not cell:
                faults.append(f"line {sheet.lines[i]}: no {name}")


def _check_chances(sheet: CsvSheet, people: Array, chance: Array, faults: list[str]) -> None:
    """Every text of people has the chance with which it was drawn."""
    for i in np.flatnonzero(~np.isnan(people)):
        if not 0 < chance[i] <= 1:
            faults.append(
                f"line {sheet.lines[i]}: people coded this text, and 'chance' does not say with"
                " what chance it was drawn, above 0 and at most 1; codes of people's own choice"
                " correct nothing"
            )


def notes_on(texts: CodedTexts) -> Iterator[str]:
    """How many texts each model did not code, by treatment."""
    for name, values in texts.proxies.items():
        of = Counter(map(str, texts.treatment[np.isnan(values)]))
        if of:
            by = ", ".join(f"{treatment} {n}" for treatment, n in sorted(of.items()))
            yield (
                f"{texts.outcome}: {name} has no code of {counted(of.total(), 'text')} ({by}); they"
                " count by people, and not in the row of models alone"
            )


def texts_of_study(
    study: CodedStudy, dimension: str, named: Mapping[str, str]
) -> tuple[list[CodedTexts], list[str]]:
    """The texts of a study as outcomes, those of one dimension or of all; and what must be known.

    The outcome is the level where levels have an order, else for each level whether it was given.
    `named` gives other columns than treatment and session. WrongInput for a dimension that was not
    coded, for texts without a treatment, and for codes of people on texts that were not drawn.
    """
    _check_treatments(study, named.get(TREATMENT, TREATMENT))
    known = [own.id for own in study.dimensions]
    if dimension and dimension not in known:
        raise unknown("coded dimension", dimension, known)
    found: list[CodedTexts] = []
    notes: list[str] = list(_edited(study))
    for own in study.dimensions:
        if dimension in ("", own.id):
            chances = chances_of(study, own, notes)
            for name, values in _outcomes(own):
                texts = texts_of_dimension(study, own, name, values, chances, named)
                found.append(texts)
                notes += notes_on(texts)
    return found, notes


def _edited(study: CodedStudy) -> Iterator[str]:
    """Which texts were edited since they were coded, and are left out."""
    if study.edited:
        named = ", ".join(study.edited[:5])
        yield f"edited since they were coded, and left out: {named} ({len(study.edited)} in all)"


def _outcomes(own: DimensionCodes) -> list[tuple[str, Array]]:
    """What is averaged: the level of each place, or for each level whether it is this one."""
    if own.ordered:
        return [(own.id, np.array([float(value) for value in own.dimension.values]))]
    levels = enumerate(own.dimension.values)
    return [(f"{own.id}: {level}", np.eye(own.q)[place]) for place, level in levels]


@dataclass(frozen=True)
class Chances:
    """The chance of each text that could be drawn for people, those that were `drawn`, and whether
    all others could not be (`whole`; else it is not known of them).
    """

    of: Mapping[str, float]
    drawn: frozenset[str]
    whole: bool


def chances_of(study: CodedStudy, own: DimensionCodes, notes: list[str]) -> Chances:
    """The chances with which texts were drawn for people; notes on texts that were not.

    The last review counts all that was read before with the chance 1. Of draws of one design the
    largest holds the others; draws of several designs are independent. WrongInput where people
    coded texts of their own choice alone.
    """
    reviews = [draw for draw in study.draws.values() if draw.by_doubt]
    draws = [max(reviews, key=_size)] if reviews else list(study.draws.values())
    by_design: dict[str, dict[str, float]] = {}
    for draw in draws:
        known = by_design.setdefault(draw.design, {})
        for text, chance in (draw.every or draw.chances).items():
            known[text] = max(chance, known.get(text, 0.0))
    left: dict[str, float] = {}
    for known in by_design.values():
        for text, chance in known.items():
            left[text] = left.get(text, 1.0) * (1 - chance)
    read = {text for text, _ in own.packs}
    drawn = {text for draw in draws for text in draw.chances}
    by_choice = read - drawn
    if by_choice and by_choice == read:
        raise refused("coded_without_draw", read=counted(len(read), "text"), id=own.id, draw=DRAW)
    if by_choice:
        notes.append(
            f"{own.id}: {counted(len(by_choice), 'text')} that people coded without a draw left out"
        )
    if read and (missing := drawn - read):
        notes.append(
            f"{own.id}: {counted(len(missing), 'drawn text')} without a code of people, as if not"
            " drawn"
        )
    whole = bool(draws) and all(draw.every for draw in draws)
    never = study.texts.keys() & set(own.texts) - left.keys()
    if whole and never and read:
        notes.append(
            f"{own.id}: {counted(len(never), 'text')} that could not be drawn for people left out"
        )
    return Chances({text: 1 - chance for text, chance in left.items()}, frozenset(drawn), whole)


def _size(draw: Draw) -> int:
    return len(draw.chances)


def _check_treatments(study: CodedStudy, column: str) -> None:
    """WrongInput where it is not known of a text under which treatment it was written."""
    texts = {text for own in study.dimensions for text in own.texts if text in study.texts}
    if not texts <= study.fact(column).keys():
        raise WrongInput(f"not every text has a '{column}'; name the column: treatment=NAME")


def texts_of_dimension(
    study: CodedStudy,
    own: DimensionCodes,
    outcome: str,
    values: Array,
    chances: Chances,
    named: Mapping[str, str] = MappingProxyType({}),
) -> CodedTexts:
    """The texts of one dimension that can be read, without those that could not be drawn; `values`
    are what is averaged, by the place of a level.
    """

    def valued(coder: str) -> Array:
        places = own.columns[coder]
        given = ~np.isnan(places)
        found = np.full(len(places), np.nan)
        found[given] = values[places[given].astype(int)]
        return found

    chance = np.array([chances.of.get(text, np.nan) for text in own.texts])
    people = np.column_stack([np.full((len(own.texts), 1), np.nan), *map(valued, own.people)])
    drawn = np.array([text in chances.drawn for text in own.texts], dtype=bool)
    some = (~np.isnan(people)).any(axis=1) & drawn
    mean = np.full(len(own.texts), np.nan)
    mean[some] = np.nanmean(people[some], axis=1)
    compared = named.get(TREATMENT, TREATMENT)
    held = {name: _facts(study, own, name) for name in OF_STUDY if name != compared}
    found = CodedTexts(
        outcome=outcome,
        treatment=_facts(study, own, compared),
        session=_facts(study, own, named.get(SESSION, SESSION), or_group=True),
        proxies={model: valued(model) for model in own.models},
        people=mean,
        chance=chance,
        held={name: column for name, column in held.items() if len(set(column)) > 1},
        text=np.array(own.texts, dtype=str),
    )
    there = np.array([text in study.texts for text in own.texts], dtype=bool)
    if chances.whole and some.any():
        there &= ~np.isnan(chance)
    return found.chosen(there)


def _facts(study: CodedStudy, own: DimensionCodes, column: str, or_group: bool = False) -> Words:
    """What a column says of each text, "" where it says nothing; or then the text's group."""
    found = []
    for id in own.texts:
        text = study.texts.get(id)
        fact = text.facts.get(column, "") if text else ""
        if or_group:
            fact = fact or (text.group if text else "") or id
        found.append(fact)
    return np.array(found, dtype=str)


def texts_of_scores(
    scores: Iterable[Mapping[str, np.ndarray]], rows: pd.DataFrame
) -> Iterator[CodedTexts]:
    """The scores of statements as outcomes, a proxy a coder; what has no score is left out.

    `scores` have the columns measure, target (SESSION/TURN), coder and value; `rows` are those of
    the study, which say of each session what it is.
    """
    tables = [pd.DataFrame(columns) for columns in scores]
    facts = rows.set_index("session")[[*OF_STUDY, TREATMENT]].fillna("").astype(str)
    found = pd.concat(tables) if tables else pd.DataFrame({"measure": []})
    for measure, own in found.groupby("measure"):
        values = own.pivot(index="target", columns="coder", values="value")
        of = np.array([target.rpartition("/")[0] for target in values.index], dtype=str)
        known = np.isin(of, facts.index)
        placed = facts.loc[of[known]]
        nothing = np.full(len(placed), np.nan)
        varied = [name for name in OF_STUDY if placed[name].nunique() > 1]
        held = {name: placed[name].to_numpy(dtype=str) for name in varied}
        proxies = {str(coder): values.loc[known, coder].to_numpy(float) for coder in values}
        treatment = placed[TREATMENT].to_numpy(dtype=str)
        yield CodedTexts(str(measure), treatment, of[known], proxies, nothing, nothing, held)


def example() -> Iterator[str]:
    """The lines of a table that a program made: 60 sessions of eight texts, coded from 0 to 3.

    People find more justification under `normative`, by .45 before levels are cut off. Both models
    follow people, and underrate these texts by .9; people coded a fourth of them.
    """
    rng = np.random.default_rng(EXAMPLE)
    yield "text,session,treatment,model_a,model_b,human,chance"
    for session in range(60):
        treated, of_session = session % 2, rng.normal(1.4, 0.3)
        for text in range(8):
            latent = of_session + 0.45 * treated + rng.normal(0, 0.8)
            models = latent - 0.9 * treated + rng.normal(0, 0.35, 2)
            human, *codes = np.clip(np.rint([latent, *models]), 0, 3).astype(int)
            drawn = human if rng.random() < 0.25 else ""
            arm = "normative" if treated else "basic"
            cells = (f"s{session}/{text}", f"s{session}", arm, *codes, drawn, 0.25)
            yield ",".join(map(str, cells))
