"""`delibsim summaries`: look at summaries of opinions, replay them, see how good they are and whom
they leave out.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.analysis.table import number, numbers, texts
from delibsim.asking.embedding import embedding_named
from delibsim.asking.kinds.summary import SUMMARIES
from delibsim.cli.asking import replay_and_exit
from delibsim.cli.code_options import values_of
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.results import end_with_report, print_result
from delibsim.cli.table import print_table, print_text
from delibsim.cli.terminal import (
    console,
    echo_json,
    exit_code,
    print_each,
    safe,
    say,
    study_at,
)
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.study import slug
from delibsim.domain.text import quoted

app = typer.Typer(add_completion=False, no_args_is_help=True)
NAME = "name=NAME, where a study has several sets of summaries."
ONE = "The id of a summary or of an opinion; without one, all summaries are listed."
STUDIES = (
    "Names or folders of studies, one a question, or CSV files with published scores; settings:"
    " summaries=NAME, judgments=NAME, intervals=topics|cells, by=COLUMN, embedding=NAME."
)
TO = "Write the report into this folder. Default: the folder report_summaries of the first study."
KEYS = ("summaries", "judgments", "intervals", "by", "embedding")
INTERVALS = ("", "topics", "cells")
NEAREST = 2
"""Opinions that are listed with a sentence."""


@app.callback()
def _group() -> None:
    """Look at summaries of opinions: how good they are, and whom they leave out."""


@app.command()
def show(
    study: StudyName,
    id: Annotated[str | None, typer.Argument(metavar="ID", help=ONE)] = None,
    settings: Annotated[list[str] | None, typer.Argument(metavar="[name=NAME]", help=NAME)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """List the summaries, or show one with the opinions that are most similar to each sentence, or
    an opinion with its most similar sentence.

    Similarity is the cosine of TF-IDF: a lead for readers, and no proof. Exit code 0; 4 if there is
    none yet.
    """
    from delibsim.analysis.summaries.minorities import listed, of_opinion, of_summary
    from delibsim.conduct.summaries_report import judged_set

    words = [*([id] if id and "=" in id else []), *(settings or [])]
    name = values_of(words, ["name"])["name"]
    judged = judged_set(study_at(study, root), name)
    wanted = None if id and "=" in id else id
    screen = console()
    if wanted is None:
        rows = listed(judged)
        if as_json:
            echo_json({"study": judged.study, "question": judged.question, "summaries": rows})
        else:
            cells = []
            for row in rows:
                counts = [f"{row['opinions']:,}", f"{row['words']:,}"]
                cells.append([row["id"], *counts, row["state"]])
            columns = [*texts("summary"), *numbers(["opinions", "words"]), *texts("state")]
            print_table(judged.question, columns, cells, screen)
        raise typer.Exit(exit_code(any(row["words"] for row in rows), whole=True))
    if wanted in judged.summaries.index:
        _show_summary(judged, wanted, of_summary(judged, wanted, NEAREST), as_json)
    elif wanted in judged.opinions.index:
        found = of_opinion(judged, wanted)
        if as_json:
            echo_json(
                {"opinion": wanted, "text": judged.opinions.loc[wanted, "text"]}
                | {"nearest": found}
            )
            return
        print_text(safe(str(judged.opinions.loc[wanted, "text"])), screen)
        cells = [[row["summary"], number(row["similarity"]), row["sentence"]] for row in found]
        columns = [*texts("summary"), *numbers(["similarity"]), *texts("most similar sentence")]
        print_table("", columns, cells, screen)
    else:
        known = [*judged.summaries.index, *judged.opinions.index]
        raise unknown("summary or opinion", wanted, known)


def _show_summary(judged: Any, id: str, found: list[dict[str, Any]], as_json: bool) -> None:
    """Print a summary, sentence by sentence, with the opinions most similar to each."""
    if as_json:
        echo_json({"summary": id, "text": judged.summaries.loc[id, "text"], "sentences": found})
        return
    screen = console()
    if not found:
        screen.print(f"{safe(id)}: missing ({judged.summaries.loc[id, 'missing']})")
    for row in found:
        print_text(safe(row["sentence"]), screen)
        for near in row["nearest"]:
            told = f"  {near['opinion']} ({near['similarity']:.2f}): {near['text']}"
            screen.print(safe(told), style="dim", soft_wrap=True)


@app.command()
def replay(
    study: StudyName,
    settings: Annotated[list[str] | None, typer.Argument(metavar="[name=NAME]", help=NAME)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Make all summaries again from the recorded exchanges alone: delibsim summaries replay tram.

    No model is asked. Exit code 0 if they are equal to those that were kept, 4 if not.
    """
    name = values_of(settings, ["name"])["name"]
    replay_and_exit(SUMMARIES.kept(study_at(study, root), name), "task", as_json)


@app.command()
def report(
    words: Annotated[
        list[str], typer.Argument(metavar="STUDY [STUDY ...] [settings]", help=STUDIES)
    ],
    to: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Which summariser is better, by how much, and who is left out; as tables and one page.

    Of files (.csv) with published scores it says the first: delibsim summaries report scores.csv

    Exit code 0; 3 if summaries or judgments are missing or could not be read, 4 if nothing was
    judged.
    """
    from delibsim.analysis.summaries.report import summaries_report

    studies, given = _read(words)
    faults: list[str] = []
    intervals: Any = given["intervals"] or "topics"
    if all(name.lower().endswith(".csv") for name in studies):
        from delibsim.analysis.summaries.score_files import report_on_files

        _refuse_settings(given)
        found = report_on_files([Path(name) for name in studies], intervals)
        folder = Path(f"report_{slug(Path(studies[0]).stem)}")
    else:
        sets, folder = _sets(studies, given, root, faults)
        by = [one for one in given["by"].split(",") if one]
        found = summaries_report(sets, intervals, by, faults, embedding_named(given["embedding"]))
    if not found.something:
        say(f"nothing was judged yet; give: delibsim judge ask {quoted(studies[0])}", err=True)
        raise typer.Exit(4)
    end_with_report(found, to or folder, as_json)


@app.command()
def minorities(
    words: Annotated[list[str], typer.Argument(metavar="STUDY [settings]", help=STUDIES)],
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Who is left out: gaps of groups with their controls, and the least represented opinions.

    Groups are those by own word (minority), by stance, by meaning (local outliers), and by columns:
    by=COLUMN. Exit code 0; 4 if nothing was judged.
    """
    from delibsim.analysis.summaries.report import minority_tables

    studies, given = _read(words)
    faults: list[str] = []
    sets, _ = _sets(studies, given, root, faults)
    if not any(one.ratings["rep"].notna().any() for one in sets):
        say(f"nothing was rated yet; give: delibsim judge ask {quoted(studies[0])}", err=True)
        raise typer.Exit(4)
    by = [one for one in given["by"].split(",") if one]
    tables = minority_tables(sets, by, embedding_named(given["embedding"]))
    if as_json:
        echo_json({table.name: table.plain() for table in tables} | {"faults": faults})
    else:
        screen = console()
        for table in tables:
            if table.given:
                print_result(table, screen)
            else:
                screen.print(f"{table.title}: {table.detail}", soft_wrap=True)
    print_each([f"left out, damaged: {safe(fault)}" for fault in faults], console(stderr=True))
    raise typer.Exit(exit_code(True, not faults))


def _refuse_settings(given: dict[str, str]) -> None:
    """WrongInput for settings that need the texts of a study."""
    for name, value in given.items():
        if value and name != "intervals":
            raise WrongInput(f"{name}={value} is about a study; files take intervals=topics|cells")


def _read(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The studies and the settings of a command; WrongInput where there is no study."""
    studies = [word for word in words if "=" not in word]
    given = values_of([word for word in words if "=" in word], KEYS)
    if not studies:
        raise WrongInput("name a study with opinions: delibsim summaries report tram")
    if given["intervals"] not in INTERVALS:
        raise unknown("value of intervals", given["intervals"], INTERVALS[1:])
    return studies, given


def _sets(
    studies: list[str], given: dict[str, str], root: Path, faults: list[str]
) -> tuple[list[Any], Path]:
    """What is known of the summaries of studies, and the folder of the report on them."""
    from delibsim.conduct.summaries_report import judged_sets  # pandas is slow to import

    runs = [study_at(study, root) for study in studies]
    sets = judged_sets(runs, given["summaries"], given["judgments"], faults)
    for column in filter(None, given["by"].split(",")):
        for one in sets:
            if column not in one.opinions:
                raise unknown("column", column, one.opinions.columns, f"Columns of {one.study}")
    return sets, runs[0].folder / "report_summaries"
