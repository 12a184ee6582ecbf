"""`delibsim compare online`: pairs handed out to people who compare in a browser."""

from typing import Annotated

import typer

from delibsim.cli.compare_ask import EQUAL, studies_of
from delibsim.cli.compare_export import EACH, SETTINGS
from delibsim.cli.online import HOURS, HandOn, show_online
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import console, print_each
from delibsim.domain.text import counted

RATERS = "How many people judge."


def online(
    study: StudyName,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)
    ] = None,
    raters: Annotated[str, typer.Option("--raters", help=RATERS)] = "5",
    each: Annotated[int | None, typer.Option("--pairs-per-rater", min=1, help=EACH)] = None,
    keep_equal: Annotated[bool, typer.Option("--keep-equal", help=EQUAL)] = False,
    hand_on: HandOn = HOURS,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Hand pairs out to people who compare in a browser: the sheets, the orders and the repeated
    sheets of a pack on paper, and the questions of language models.

    Each who follows a link of `delibsim people invite STUDY --rater TASK` gets the next free place.
    Votes are kept as they are handed in, as from paper.
    """
    from delibsim.asking.kinds.pair_people import export_pairs, for_people
    from delibsim.asking.people import Online, people_named

    people = people_named(raters, "--raters", "rater", online=True)
    runs, sources, settings = studies_of(study, overrides or [], root)
    asked = for_people(runs, settings, keep_equal, sources)
    print_each([f"note: {line}" for line in asked.notes], console(stderr=True))
    pack = export_pairs(asked, people, each, online=Online(hand_on))
    sheets = counted(sum(pack.raters.values()), "sheet")
    told = (
        f"{counted(pack.pairs, 'pair')} of {pack.among:,} for {counted(len(people), 'rater')}:"
        f" {sheets}, of which {pack.repeated} repeated, on pages"
    )
    show_online(runs.study, pack.name, [told], pack.plain() if as_json else None)
