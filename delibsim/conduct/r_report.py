"""A document in R, Quarto or R Markdown, in which the table, figure and mixed model of a study are
made again.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.analysis.study.methods import methods, record_of
from delibsim.analysis.study.mixed import Design, design_of
from delibsim.analysis.study.outcomes import measured
from delibsim.analysis.study.sample import (
    CITIZENS,
    MODELS,
    families_of,
    kinds_of_participants,
    main_population,
    treatments_of,
    wanted_outcomes,
    why_no_value,
    without_copies,
)
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.conduct.analysed import place_of, study_table
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.study import slug
from delibsim.domain.text import quoted, study_named
from delibsim.planning.preregistered import plain, refuse_if_filled_in, sealed, written
from delibsim.store.files import write_atomically
from delibsim.store.runs import Runs

FORMS = {"quarto": "qmd", "rmarkdown": "Rmd"}
"""The forms of a document, and how the names of their files end."""


@dataclass(frozen=True)
class ReportPlaces:
    """Where a document finds what it reads: a folder, by default that of the study, and in it the
    study table and the tables of the report.
    """

    folder: str = ""
    wide: str = "tables/runs_wide.csv"
    written: str = "analysis/tables"


def write_r_report(
    name: str,
    root: Path,
    form: str = "quarto",
    to: Path | None = None,
    places: ReportPlaces = ReportPlaces(),
) -> Path:
    """Write the document on a study into the folder one is in, or as the file `to`; its path. It
    reads its tables at these `places`.

    WrongInput for another form, for a study without a value of its outcome, and where a file lies
    that somebody changed.
    """
    if form not in FORMS:
        raise unknown("form of a report", form, FORMS)
    runs = place_of(name, root).runs
    if runs is None:
        raise WrongInput(f"a report reads the folder of a study, and {name} is a table alone")
    path = to or Path(f"{slug(runs.study)}.{FORMS[form]}")
    refuse_if_filled_in(path, "")
    beside = Path(os.path.relpath(runs.folder, path.resolve().parent)).as_posix()
    found = vars(places) | {"folder": places.folder or beside}
    text = sealed(written("report", _facts(runs, form) | found))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    return path


def _facts(runs: Runs, form: str) -> dict[str, Any]:
    """What the template says of a study."""
    record, table = record_of(runs), study_table(runs)
    if record is not None and record.primary:
        table = replace(table, primary=record.primary)
    absolute = wanted_outcomes(table, relative=False)
    outcome = next(one for one in absolute if one.measure == table.primary)
    code, detail = why_no_value(table, [outcome.column])
    if code:
        raise WrongInput(f"{study_named(runs.study)} gives no report in R: {detail}")
    rows = main_population(table)[0]
    kinds = kinds_of_participants(table)
    held = rows[rows[outcome.column].notna()]
    treatments = treatments_of(held)
    families = families_of(treatments)
    settings = list(held["setting"][held["interaction"].astype(bool)].drop_duplicates())
    meaning = next(one.meaning for one in table.columns if one.name == outcome.column)
    questions = record.questions if record is not None else {}
    return {
        "form": form,
        "title": _inert(f"Report on the study {runs.study}"),
        "command": quoted(runs.study),
        "beside_citizens": MODELS in kinds and CITIZENS in kinds,
        "population": MODELS if MODELS in kinds else CITIZENS,
        "copies": bool(without_copies(table.rows)[1]),
        "paraphrases": bool(table.rows["paraphrase_of"].notna().any()),
        "treatments": treatments,
        "outcome": outcome.measure,
        "scale": outcome.scale,
        "column": outcome.column,
        "meaning": _inert(meaning),
        "label": measured(outcome.measure),
        "questions": [(_inert(topic), _inert(asked)) for topic, asked in questions.items()],
        "methods": [_inert(one) for one in methods(table, DrawCounts(), record)],
        "unit": "topic" if held["topic"].nunique() > 1 else "replicate",
        "pairs": [(*pair, family) for family, own in families.items() for pair in own],
        "random": list(_random(design_of(held, table.paired))),
        "settings": settings if len(settings) > 1 else [],
    }


def _random(design: Design) -> Iterator[str]:
    """The random terms of the mixed model as lme4 writes them."""
    for term in design.terms:
        name = term.name.removeprefix("slope of ").removesuffix(" by model")
        if name != term.name:
            yield f"(0 + `is_{name}` | model)"
        else:
            yield {"topic x replicate": "(1 | topic:replicate)"}.get(name, f"(1 | {name})")


def _inert(text: str) -> str:
    """A text in which nothing is markup or code of R."""
    return plain(text).replace("`", "'")
