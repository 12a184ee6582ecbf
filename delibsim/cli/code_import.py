"""`delibsim code import`: codes of people brought back, from a form or any table of codes."""

from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.code_options import CodeSettings, values_of
from delibsim.cli.online import show_collected
from delibsim.cli.options import RUNS, Json, RunsFolder
from delibsim.cli.terminal import console, echo_json, exit_code, print_each
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted

FILE = "The form of a pack, filled in; or a table of codes (CSV), long or wide."
TRAINING = "These codes are of a training round, and are kept apart."


def import_(
    file: Annotated[Path, typer.Argument(help=FILE)],
    settings: CodeSettings = None,
    training: Annotated[bool, typer.Option("--training", help=TRAINING)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Read codes of people. Every line is checked; if one is wrong, all that are wrong are named
    and nothing is kept. The codes are scored at the end.

    A table of your own needs study=NAME and scheme=NAME, and is long (columns text, coder,
    dimension, level) or wide (text, and a column CODER.DIMENSION for each coder and dimension):
    delibsim code import codes.csv study=pilot scheme=dqi3. Exit code 0; 3 if cells were left empty,
    4 if there is no code at all.
    """
    from delibsim.asking.collect import is_form
    from delibsim.asking.kinds.code_import import import_codes
    from delibsim.conduct.packs import collect_and_score
    from delibsim.conduct.texts import rescore_codes
    from delibsim.store.tables.csv_cells import read_sheet

    values = values_of(settings, ("study", "scheme"))
    if is_form(read_sheet(file).header):
        if training or any(values.values()):
            raise WrongInput(
                f"{file} is the form of a pack, which knows its study, its scheme and whether it is"
                " for training; leave study=, scheme= and --training out"
            )
        raise typer.Exit(show_collected(collect_and_score(file, root), as_json))
    found = import_codes(file, root, values["study"], values["scheme"], training)
    if found.given:
        rescore_codes(found.runs)
    if as_json:
        echo_json(found.plain())
    else:
        apart = f", {found.training} of training" if found.training else ""
        lines = [
            f"{counted(found.new, 'code')} kept, {found.given - found.new} known before{apart},"
            f" {counted(found.empty, 'cell')} left empty"
        ]
        lines += [f"{coder}: {counted(n, 'code')}" for coder, n in found.coders.items()]
        print_each(lines, console())
        if found.not_read:
            columns = ", ".join(found.not_read)
            print_each([f"note: columns that were not read: {columns}"], console(stderr=True))
    raise typer.Exit(exit_code(bool(found.given), not found.empty))
