"""`delibsim texts`: import texts of your own into a study of texts, and look at them."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.analysis.texts_described import described, word_count
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_text
from delibsim.cli.terminal import (
    brief,
    console,
    echo_json,
    exit_code,
    print_each,
    report,
    safe,
    study_at,
    tell_folder,
)
from delibsim.cli.words import settings_among
from delibsim.conduct.import_texts import Columns, import_texts
from delibsim.conduct.opinion_columns import OpinionColumns
from delibsim.conduct.take_opinions import Taking, missing_told, take_opinions
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import counted, quoted, study_named
from delibsim.store.opinions import example, question_of
from delibsim.store.study_texts import StudyTexts

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Import texts of your own into a study of texts, and look at them.",
)
FILE = (
    "A CSV file in UTF-8 (comma, semicolon or tab), one row a text, and study=NAME, the study that"
    " the texts are added to."
)
COLUMN = "The column of the texts. Default: the one that is named text or alike."
ID = "The column of the ids. Default: the one that is named id or alike; without one, row numbers."
GROUP = "The column of what a text belongs to (a speaker, a debate, a topic)."
WITHOUT = "Keep no authors of opinions."
OPINIONS = ("question", "kind", "stance", "minority", "author")
EPILOG = (
    "Opinions: --question TEXT says what they answer; --stance, --minority and --author name their"
    " columns (default: those of that name), --kind open|stance says what they are. --example tram"
    " in the place of a file imports 300 invented opinions."
)
ONE = "Print this text whole."
FROM = "study=NAME: the study that the opinions are added to; with several topics, NAME_TOPIC."
TAKE = (
    "What is taken of each participant: the last statement (last), all of them joined (all), or"
    " the position that it wrote where the group sought a statement of its own (position)."
)
ITEM = "The item of the survey that gives the stance, cut at the middle of its scale."
PHASE = "Whether that is answered before (pre) or after (post) the discussion."
TOPIC = "Take the opinions on this topic only."


@app.command(name="import", epilog=EPILOG)
def import_(
    words: Annotated[list[str], typer.Argument(metavar="FILE study=NAME", help=FILE)],
    column: Annotated[str, typer.Option(help=COLUMN)] = "",
    id: Annotated[str, typer.Option("--id", help=ID)] = "",
    group: Annotated[str, typer.Option(help=GROUP)] = "",
    without_authors: Annotated[bool, typer.Option("--without-authors", help=WITHOUT)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Import the texts of a CSV file: delibsim texts import speeches.csv --column text --id id
    study=pilot

    All rows are kept, or none: every fault is named with its line. All other columns are kept
    beside the texts, and coders are never shown them. The same file again is known before; more
    rows are added. Exit code 0, 2 if something is wrong.
    """
    files, given = settings_among(words, ("study", "example", *OPINIONS))
    name = given.pop("example", "")
    study = _study_in(given, files[0] if name and files else "", files[1:])
    if bool(name) == bool(files):
        raise WrongInput("name one file with texts, or --example tram")
    file = Path(files[0]) if files else Path()
    opinions = {key: given.get(key, "") for key in OPINIONS}
    if name:
        file, question = example(name)
        opinions["question"] = opinions["question"] or question
    found = import_texts(
        file,
        study,
        root,
        Columns(column, id, group),
        OpinionColumns(**opinions, drop_authors=without_authors),
    )
    tell_folder(found.runs)
    description = described(found.texts)
    if as_json:
        echo_json(found.plain() | {"described": description.plain()})
        return
    screen = console()
    print_each([*found.lines(), *description.lines()], screen)
    screen.print(f"Next       delibsim texts show {quoted(found.runs.study)}")


def _study_in(given: dict[str, str], unread: str, rest: list[str]) -> str:
    """The study that is named; WrongInput where none is, and for words that are not read."""
    word = unread or (rest[0] if rest else "")
    if word or not given.get("study", "").strip():
        told = f"; '{safe(word)}' is no setting here" if word else ""
        raise WrongInput(f"name the study that the texts are added to: study=NAME{told}")
    return given["study"]


@app.command(name="from")
def from_(
    study: StudyName,
    settings: Annotated[list[str], typer.Argument(metavar="study=NAME", help=FROM)],
    take: Annotated[str, typer.Option(help=TAKE)] = "last",
    item: Annotated[str, typer.Option("--stance-item", help=ITEM)] = "",
    phase: Annotated[str, typer.Option(help=PHASE)] = "post",
    topic: Annotated[str, typer.Option(help=TOPIC)] = "",
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Take the opinions of participants from the runs of a study: delibsim texts from smoke
    study=said

    The question is that of the topic; each topic gives a study of its own. Exit code 0; 3 if a run
    cannot be read or a topic has no opinion, 2 if there is none at all.
    """
    words, given = settings_among(settings, ("study",))
    target = _study_in(given, "", words)
    faults: list[str] = []
    taking = Taking(take, item, phase, topic)
    taken = take_opinions(study_at(study, root), target, root, taking, faults)
    screen = console()
    rows: list[dict[str, Any]] = []
    for one in taken:
        tell_folder(one.runs)
        held = len(one.texts)
        rows.append({"study": one.runs.study, "question": one.question} | {"new": one.new})
        rows[-1] |= {"texts": held, "missing": dict(one.missing)}
        rows[-1]["described"] = described(one.texts).plain()
        if not as_json:
            screen.print(f"{study_named(one.runs.study)}: {safe(one.question)}")
            screen.print(f"{counted(one.new, 'opinion')} new; it holds {held:,}")
            if one.missing:
                without = counted(sum(one.missing.values()), "participant")
                told = f"{without} without an opinion: {missing_told(one.missing)}"
                screen.print(safe(told), soft_wrap=True)
            print_each(described(one.texts).lines(), screen)
    if as_json:
        echo_json({"taken": rows, "faults": faults})
    report(faults)


@app.command()
def show(
    study: StudyName,
    id: Annotated[str | None, typer.Argument(metavar="ID", help=ONE)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """What the texts of a study are like (how many, words, groups, repeated ones), or one of them.

    Exit code 0; 2 if the study holds no texts of one's own.
    """
    runs = study_at(study, root)
    held = StudyTexts(runs)
    if not held.held():
        raise WrongInput(
            f"{study_named(runs.study)} holds sessions and no imported texts; read them with:"
            f" delibsim show {quoted(runs.study)}"
        )
    if id is not None:
        _show_one(held.named(), id, as_json)
        return
    description = described(held.all())
    question, kind = question_of(runs)
    if as_json:
        about = {"question": question, "kind": kind} if question else {}
        echo_json({"study": runs.study, **about, **description.plain()})
    else:
        screen = console()
        screen.print(f"{study_named(runs.study)}: {counted(description.texts, 'imported text')}")
        if question:
            screen.print(safe(f"question   {question} ({kind})"), soft_wrap=True)
        print_each(description.lines(), screen)
    raise typer.Exit(exit_code(description.texts > 0, whole=True))


def _show_one(texts: dict[str, Text], id: str, as_json: bool) -> None:
    """Print one text with all that is kept beside it."""
    if id not in texts:
        raise unknown("text", id, texts)
    text = texts[id]
    if as_json:
        plain: dict[str, Any] = asdict(text) | {"sha256": text.sha256}
        echo_json(plain | {"words": word_count(text.text)})
        return
    screen = console()
    group = f", group {text.group}" if text.group else ""
    screen.print(f"{text.id}: {counted(word_count(text.text), 'word')}{group}, {text.source}")
    clean, cut = brief(text.text)
    print_text(clean, screen)
    if cut:
        screen.print(f"{cut}; --json prints all", style="dim")
    print_each((f"{name}: {value}" for name, value in text.facts.items()), screen, "dim")
