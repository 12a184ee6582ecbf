"""`delibsim compare import`: judgments of people, from the form of a pack or made elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from delibsim.asking.collect import is_form
from delibsim.asking.kinds.pair_import import columns_of, import_pairs
from delibsim.asking.settings import task_name
from delibsim.cli.code_options import values_of
from delibsim.cli.online import show_collected
from delibsim.cli.options import RUNS, Json, RunsFolder
from delibsim.cli.terminal import console, echo_json, print_each, tell_folder
from delibsim.conduct.packs import collect_and_score
from delibsim.conduct.texts import rescore_pairs
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, quoted, study_named
from delibsim.store.gathered import gathered_and_own
from delibsim.store.runs import Runs
from delibsim.store.tables.csv_cells import read_sheet

FILE = "The form of a pack, filled in; or a table (CSV) with a row a judgment."
PAIRS = "The columns of both texts and the outcome (a, b or tie), then rater and group if any."
PAIRS_USUAL = "a,b,outcome"
GROUP = "The column of the group within which texts were compared, such as the topic."
SETTINGS = "study=NAME, and name=NAME (main) and dimension=NAME (overall) of the comparison."


def import_(
    file: Annotated[Path, typer.Argument(help=FILE)],
    settings: Annotated[list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)] = None,
    pairs: Annotated[str, typer.Option(help=PAIRS)] = PAIRS_USUAL,
    group: Annotated[str, typer.Option(help=GROUP)] = "",
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Bring in judgments of pairs: the form of a pack, which knows its study, or a table of your
    own: delibsim compare import pairs.csv study=webis --group topic

    A file is imported whole or not at all, and only once. Exit code 0; of a form 3 if sheets were
    left empty, 4 if there is no answer at all.
    """
    given = values_of(settings, ["study", "name", "dimension"])
    cells = read_sheet(file, columns_of(pairs, group).named)
    if is_form(cells.header):
        if any(given.values()) or group or pairs != PAIRS_USUAL:
            raise WrongInput(
                f"{file} is the form of a pack, which knows its study and its columns; leave"
                " settings, --pairs and --group out"
            )
        raise typer.Exit(show_collected(collect_and_score(file, root), as_json))
    if not given["study"]:
        raise WrongInput("name the study that the judgments are of: study=NAME")
    name = task_name("name", given["name"] or "main")
    runs = Runs(root, given["study"])
    tell_folder(runs)
    columns = columns_of(pairs, group)
    dimension = task_name("dimension", given["dimension"] or "overall")
    found = import_pairs(file, runs, columns, name, dimension)
    if found.new:
        rescore_pairs(gathered_and_own(runs))
    if as_json:
        echo_json(found.plain())
        return
    texts = f"{counted(found.texts, 'text')} in {counted(found.groups, 'group')}"
    lines = [
        f"{file.name}: {counted(found.new, 'vote')} new, {found.before:,} known before",
        f"{study_named(runs.study)}, comparison {name}: {counted(found.pairs, 'pair')} of {texts},"
        f" by {counted(found.judges, 'judge')}",
        f"Next       delibsim compare report {quoted(runs.study)}",
    ]
    print_each(lines, console())
