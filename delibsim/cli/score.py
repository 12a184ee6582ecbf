"""`delibsim score`: score every run of a study, or the texts of a file."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.analysis.average_tables import condition_tables
from delibsim.analysis.averages import COLUMNS
from delibsim.analysis.conditions import ByCondition
from delibsim.cli.averages import print_averages, print_participants
from delibsim.cli.estimate import EstimateOnly, print_lines
from delibsim.cli.options import RUNS, Json, RunsFolder
from delibsim.cli.table import show_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, safe, shown, study_at
from delibsim.cli.texts import kept_if_stopped, score_imported, score_texts
from delibsim.cli.words import settings_among
from delibsim.conduct.score import usual_scorers
from delibsim.conduct.scored import ScoredStudy, scored_study
from delibsim.conduct.texts import texts_of_file
from delibsim.conduct.translate import estimate_translations
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.measure import Measure
from delibsim.domain.text import counted, quoted, study_named
from delibsim.plugins import load, names
from delibsim.store.study_texts import StudyTexts

app = typer.Typer(add_completion=False)

TREATMENT, PARTICIPANT = "treatment", "participant"
STUDY = "Name or folder of the study; or the word texts, with a file of texts behind it."
MORE = "With texts: a CSV file with a row a text."
SCORER = "A scorer; may be given several times. Default: all that need not be asked for."
BY = (
    "What is compared: columns of the design, joined by commas (topic, model, treatment, rounds,"
    " size, temperature, wording, persona, setting, or any setting); or participant."
)
MEASURE = "A measure, by its id; may be given several times: all that is known of it."
ALL = "Print every measure of every condition."


@app.command()
def score(
    study: Annotated[str, typer.Argument(help=STUDY)],
    more: Annotated[list[str] | None, typer.Argument(metavar="FILE", help=MORE)] = None,
    scorer: Annotated[list[str] | None, typer.Option(help=SCORER)] = None,
    by: Annotated[str, typer.Option(help=BY)] = TREATMENT,
    measure: Annotated[list[str] | None, typer.Option(help=MEASURE)] = None,
    everything: Annotated[bool, typer.Option("--all", help=ALL)] = False,
    only: EstimateOnly = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Score every run of a study, and compare its treatments. Exit code 0; 3 if a run could not be
    read, or --scorer gave no run a value; 4 if the study has no run.

    Of a study of texts, name a scorer that reads single texts: --scorer aqua.

    `delibsim score texts FILE --scorer aqua --column NAME --to FILE` scores texts that were not
    held here: one row a text, in a CSV file, by default in its column text. The values are written
    to FILE.<scorer>.csv if --to does not say otherwise.
    """
    installed = names("delibsim.scorers")
    for name in scorer or []:
        if name not in installed:
            raise unknown("scorer", name, installed)
    if only:
        _print_estimate(study, root, more or [], scorer or [], as_json)
        return
    if more:
        raise typer.Exit(_score_texts(study, more, scorer, as_json))
    columns = _columns(by, measure or [], everything)
    individually = columns == (PARTICIPANT,)
    runs = study_at(study, root)
    if StudyTexts(runs).held():
        if columns != (TREATMENT,) or measure or everything:
            raise WrongInput(
                "imported texts have no conditions; leave out --by, --measure and --all"
            )
        raise typer.Exit(score_imported(runs, scorer or [], as_json))
    with kept_if_stopped() as watch, _writable(study):
        scored = scored_study(runs, scorer or [], watch, individually)
    if as_json:
        echo_json(_plain(scored, columns, individually))
    elif everything:
        _print(scored, console())
    elif individually:
        print_participants(scored, console())
    else:
        print_averages(scored, columns, measure or [], console())
    raise typer.Exit(exit_code(bool(scored.found.means), scored.whole))


def _print_estimate(
    study: str, root: Path, more: Sequence[str], scorers: Sequence[str], as_json: bool
) -> None:
    """Say what the translations take that scorers wait for; no other scorer asks a model."""
    made = [load("delibsim.scorers", name) for name in scorers or usual_scorers()]
    if more:
        (file, *_), settings = settings_among(more, ("column", "to"))
        _, texts = texts_of_file(Path(file), settings.get("column", "text"))
        named, limits, found = file, *estimate_translations(made, (), texts)
    else:
        runs = study_at(study, root)
        texts = [text.text for text in StudyTexts(runs).all()] if StudyTexts(runs).held() else ()
        named = study_named(runs.study)
        limits, found = estimate_translations(made, () if texts else runs.all()[0], texts)
    if as_json:
        from delibsim.planning.estimate_tables import plain

        echo_json(plain(limits, found))
        return
    screen = console()
    told = f"{counted(found.waiting, 'translation')} to be asked for"
    screen.print(f"{named}: {told}; scoring itself asks nobody", soft_wrap=True)
    print_lines(limits, found, screen, "translations")


@contextmanager
def _writable(study: str) -> Generator[None]:
    """Says how a study is scored in whose folder nothing may be written."""
    try:
        yield
    except PermissionError as error:
        raise PermissionError(
            error.errno,
            f"{error.strerror}, and scores are kept in the folder of the study (delibsim analyze"
            f" {quoted(study)} --to FOLDER scores it and writes nothing there)",
            error.filename,
        ) from None


def _score_texts(study: str, more: Sequence[str], scorer: list[str] | None, as_json: bool) -> int:
    """Score the texts of a file; the exit code. WrongInput where the words name no file."""
    words, settings = settings_among(more, ("column", "to"))
    for word in words:
        name, equals, value = word.partition("=")
        if equals and not Path(word).exists():
            options = {"runs": f" --runs {value}"}
            advice = f"delibsim score {quoted(study)}{options.get(name, '')}"
            raise WrongInput(f"a study is scored without settings, and {word} is one: {advice}")
    if study != "texts" or len(words) != 1:
        if study == "texts":
            raise WrongInput("name one file of texts: delibsim score texts FILE --scorer aqua")
        first = words[0] if words else "FILE"
        raise WrongInput(
            "one study is scored at a time; to score the texts of a file: delibsim score texts"
            f" {first} --scorer aqua"
        )
    to = Path(settings["to"]) if "to" in settings else None
    return score_texts(Path(words[0]), settings.get("column", "text"), to, scorer, as_json)


def _columns(by: str, measures: Sequence[str], everything: bool) -> tuple[str, ...]:
    """The columns of the design that are asked for; WrongInput for what cannot be had."""
    columns = tuple(dict.fromkeys(column.strip() for column in by.split(",")))
    for column in columns:
        if column not in (*COLUMNS, PARTICIPANT) and "." not in column:
            raise unknown("column", column, (*COLUMNS, PARTICIPANT))
    if PARTICIPANT in columns and (len(columns) > 1 or measures):
        raise WrongInput("--by participant stands alone: it has columns of its own")
    if everything and (measures or columns != (TREATMENT,)):
        raise WrongInput("--all prints every measure by condition; leave out --by and --measure")
    return columns


def _plain(scored: ScoredStudy, by: Sequence[str], individually: bool) -> dict[str, Any]:
    """What was found as plain values."""
    files = list(map(shown, scored.scoring.files))
    found = scored.plain() | {"files": files}
    if individually:
        return found | {"participants": [row.plain() for row in scored.moved]}
    return found | {"table": scored.averages(by).plain()}


def _print(scored: ScoredStudy, screen: Console) -> None:
    """Print all measures by condition, and what must be known of them."""
    if not scored.account.held:
        screen.print(f"{study_named(scored.study)} has no runs to score yet")
    print_each(scored.doubts(), screen)
    print_conditions(scored.found, scored.measures, screen)
    print_each(scored.remarks(), screen)
    print_each((f"written: {shown(file)}" for file in scored.scoring.files), screen)
    if scored.without_scores:
        which = ", ".join(scored.without_scores)
        screen.print(f"not written, because they have no score for any run: {which}")


def print_conditions(found: ByCondition, declared: Mapping[str, Measure], screen: Console) -> None:
    """Print a table for each condition; `declared` are the measures of the scorers, by id."""
    for condition in condition_tables(found, declared):
        screen.print(safe(condition.title), soft_wrap=True)
        if condition.table:
            show_table(condition.table, screen)
        print_each(condition.missing, screen)
