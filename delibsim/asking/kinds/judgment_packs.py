"""Packs for people who judge summaries: sheets, a form to fill in, and the key of who saw what."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.asking.forms import form_text
from delibsim.asking.handing_out import Online, new_folder
from delibsim.asking.nouns import Plan
from delibsim.domain.errors import WrongInput
from delibsim.domain.judgment import DIMENSIONS
from delibsim.domain.seed import seed_of
from delibsim.domain.text import safe
from delibsim.measures.inference.components import of_means, raters_needed
from delibsim.store.files import make_folder, write_atomically
from delibsim.store.packs import add_pack, packs_of

PUBLISHED = {"rep": 0.025, "inf": 0.057, "neu": 0.063, "pol": 0.014}
"""The reliability of single ratings of people, https://arxiv.org/abs/2510.05154 (recomputed)."""
COMPARED = tuple(f"c_{name}" for name in DIMENSIONS)
COLUMNS = ("pack", "sheet", "opinion", *DIMENSIONS, *COMPARED, "check")
CHECKS = (11, 89)
KIND = "summaries"
"""What these packs call themselves among those of the study."""


@dataclass(frozen=True)
class Pack:
    """What was handed out: where (None: on pages), how many sheets, and what to expect of their
    reliability.
    """

    name: str
    folder: Path | None
    sheets: int
    per_summary: int

    def hints(self) -> list[str]:
        """How reliable the means of so many ratings are, by published ratings of people."""
        lines = []
        for name, icc in PUBLISHED.items():
            have = of_means(icc, self.per_summary)
            need = raters_needed(icc, 0.8)
            lines.append(f"{name}: {have:.2f} expected; 0.8 takes {need:.0f} raters a summary")
        return lines


def export_pack(
    planned: Plan,
    name: str,
    per_summary: int,
    to: Path | None = None,
    online: Online | None = None,
) -> Pack:
    """Write a pack in which each whole summary is rated by so many people, each of whom then
    compares it with another one; nobody sees two sheets.

    By default it is written into pack_NAME in the study; nothing is where it is answered `online`.
    Which summary is A, and which is rated, are drawn independently. WrongInput for a pack that is
    there already, for a folder that is not empty, and where there are not two summaries.
    """
    whole = planned.about.whole
    if len(whole) < 2:
        raise WrongInput("a pack needs two summaries of the whole; make more: delibsim summarise")
    if name in packs_of(planned.answers.files):
        raise WrongInput(f"there is a pack '{name}' already; name another: pack=NAME")
    folder = None
    if online is None:
        folder = new_folder(to, planned.answers.files.folder.parents[1] / f"pack_{name}")
    rng = np.random.default_rng(seed_of(*planned.about.material.names, "pack", name))
    sheets: dict[str, dict[str, Any]] = {}
    for number, place in enumerate(rng.permutation(len(whole) * per_summary).tolist(), 1):
        rated = whole[place % len(whole)]
        others = [id for id in whole if id != rated]
        other = others[int(rng.integers(len(others)))]
        rated_is_a = bool(rng.integers(2))
        check = int(rng.integers(*CHECKS))
        shown = {"rated": rated, "other": other, "rated_is_a": rated_is_a, "check": check}
        sheets[f"S{number:04}"] = shown
    if folder is not None:
        _write(planned, name, sheets, folder)
    begun = planned.answers.files.annotations.is_file()
    asked_nobody = {**planned.task, "models": {}, "asks": []}
    planned.answers.files.settle(planned.task if begun else asked_nobody)
    key = {"kind": KIND, "summaries": planned.task["summaries"], "sheets": sheets}
    if online is not None:
        key["online"] = online.plain()
    add_pack(planned.answers.files, name, key)
    return Pack(name, folder, len(sheets), per_summary)


def _write(planned: Plan, name: str, sheets: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """Write the sheets of a pack, and its form."""
    make_folder(folder / "sheets")
    for sheet, shown in sheets.items():
        write_atomically(folder / "sheets" / f"{sheet}.txt", _sheet(planned, sheet, shown))
    unfilled = [""] * (len(COLUMNS) - 2)
    form = form_text(COLUMNS, ([name, sheet, *unfilled] for sheet in sheets))
    write_atomically(folder / "form.csv", form)


def _sheet(planned: Plan, sheet: str, shown: Mapping[str, Any]) -> str:
    """One sheet: own opinion first, then the rating, then the comparison; no name of a model."""
    texts = planned.about.wording.texts
    summaries = planned.about.material.summaries
    rated, other = summaries[shown["rated"]], summaries[shown["other"]]
    a, b = (rated, other) if shown["rated_is_a"] else (other, rated)
    questions = []
    for name in DIMENSIONS:
        asked, _, scale = texts[f"verdict_{name}"].partition("|")
        questions.append((name, asked.strip(), scale.strip()))
    rated_on, compared_on = [], []
    for n, (name, asked, scale) in enumerate(questions, 1):
        rated_on.append(f"  {n}. {asked}\n     {scale}\n     ____  [column {name}]")
        compared_on.append(f"  {n}. {asked}  ____  [column c_{name}]")
    ratings, compared = "\n\n".join(rated_on), "\n\n".join(compared_on)
    return safe(
        f"Sheet {sheet}\n\n{planned.about.material.question}\n\n"
        "1. Before you read on: write your own opinion on this question in two or three sentences"
        ".  [column opinion]\n\n"
        f"2. Read this summary of many opinions.\n\n{rated}\n\n"
        "Rate it with whole numbers from 1 to 5. The first question is about your own opinion."
        f"\n\n{ratings}\n\n"
        f"3. Now compare two summaries.\n\nSummary A\n\n{a}\n\nSummary B\n\n{b}\n\n"
        f"{texts['verdict_scale'].strip()}\n\n{compared}\n\n"
        "4. So that we know that this was read with care, write here the number"
        f" {shown['check']}.  ____  [column check]\n"
    )
