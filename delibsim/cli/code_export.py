"""`delibsim code export`: blinded pages and a form for people who code texts."""

from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.cli.code_options import Coders, CodeSettings, values_of, whole_number
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import console, echo_json, print_each, shown, study_at
from delibsim.domain.text import quoted

TEXTS = "How many texts are drawn at random."
TRAINING = "A training round: its texts and codes are kept apart."
TO = "The folder to write; default: codes-NAME."


def export(
    study: StudyName,
    settings: CodeSettings = None,
    coders: Coders = "2",
    texts: Annotated[int, typer.Option("--texts", min=1, help=TEXTS)] = 200,
    training: Annotated[bool, typer.Option("--training", help=TRAINING)] = False,
    out: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Write a blinded pack for people who code: pages to print for each of them, and a form to fill
    in.

    The pages hold the anchors that language models read, and nothing of who spoke. The study keeps
    the key. --stratify COLUMN draws in proportion within the values of a column of the texts, or
    within their groups (--stratify group). A larger --texts adds texts to those that were drawn.
    delibsim code export pilot scheme=dqi3 --coders Ann,Ben --texts 50
    """
    from delibsim.asking.kinds.code_people import draw_texts, export_codes, told
    from delibsim.asking.kinds.coding import coding_of
    from delibsim.asking.people import people_named

    values = values_of(settings, ("scheme", "by", "context", "stratify"))
    context = whole_number("context", values["context"])
    coding = coding_of(study_at(study, root), values["scheme"], values["by"], context)
    column = values["stratify"]
    people = people_named(coders, "--coders", "coder")
    draw = draw_texts(coding, texts, column, training)
    pack = export_codes(coding, people, draw, "training" if training else "pack", out)
    show_pack(pack, told(pack), as_json)


def show_pack(pack: Any, lines: list[str], as_json: bool) -> None:
    """Print what was handed out, and what comes next."""
    if as_json:
        echo_json(pack.plain())
        return
    folder = shown(Path(pack.folder or "").resolve())
    screen = console()
    print_each(lines, screen)
    screen.print(f"Folder     {folder}")
    screen.print(f"Next       delibsim code import {quoted(f'{folder}/form.csv')}")
