"""`delibsim score`: score every run of a study, or the texts of a file."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from delibsim.analysis.average_tables import (
    SD,
    MeasuresByLevel,
    average_notes,
    condition_tables,
    design_notes,
    sessions_in_words,
    table_of_levels,
)
from delibsim.analysis.averages import COLUMNS, Averages
from delibsim.analysis.conditions import ByCondition
from delibsim.analysis.run.summary import FLAG
from delibsim.analysis.table import MEANING, DisplayTable, by_condition
from delibsim.cli.estimate import plain, show_found
from delibsim.cli.options import RUNS, Words, declared
from delibsim.cli.table import fits, show_table
from delibsim.cli.terminal import (
    agreed,
    console,
    echo_json,
    exit_code,
    number,
    on_terminal,
    print_each,
    progress,
    safe,
    shown,
    study_at,
)
from delibsim.conduct.score import usual_scorers
from delibsim.conduct.scored import ScoredStudy, scored_study
from delibsim.conduct.texts import (
    ScoredTexts,
    human_references,
    on_people,
    score_file,
    score_study_texts,
    scorers_of_texts,
    texts_of_file,
)
from delibsim.conduct.translate import estimate_translations
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.reason import in_words
from delibsim.domain.score import Measure, in_order
from delibsim.domain.text import counted, quoted, study_named
from delibsim.models.limits import Limits
from delibsim.planning.estimate import CostEstimate
from delibsim.plugins import load, names
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts

app = typer.Typer(add_completion=False)

TREATMENT, PARTICIPANT = "treatment", "participant"


@declared(app, "score", "score")
def score(
    study: str,
    scorer: Words = None,
    by: str = TREATMENT,
    measure: Words = None,
    everything: bool = False,
    column: str = "text",
    to: Path | None = None,
    only: bool = False,
    yes: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Score every run of a study, and compare its treatments. Exit code 0; 3 if a run could not be
    read, or --scorer gave no run a value; 4 if the study has no run.

    Of a study of texts, name a scorer that reads single texts: --scorer aqua.

    Of a file, a row is a text: delibsim score speeches.csv --scorer aqua.
    """
    installed = names("delibsim.scorers")
    for name in scorer or []:
        if name not in installed:
            raise unknown("scorer", name, installed)
    if only:
        _print_estimate(*_expected(study, root, column, scorer or []), as_json)
        return
    if scorer and not yes and on_terminal():
        agreed(_expected(study, root, column, scorer)[2].usd.high, yes)
    if _is_file(study):
        raise typer.Exit(_score_file(Path(study), column, to, scorer, as_json))
    columns = _columns(by, measure or [], everything)
    individually = columns == (PARTICIPANT,)
    runs = study_at(study, root)
    if StudyTexts(runs).held():
        if columns != (TREATMENT,) or measure or everything:
            raise refused("texts_without_conditions")
        raise typer.Exit(_score_imported(runs, scorer or [], as_json))
    watch = progress()
    with _writable(study):
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


def _expected(
    place: str, root: Path, column: str, scorers: Sequence[str]
) -> tuple[str, Limits, CostEstimate]:
    """What the translations take that scorers wait for, which alone ask a model, and of what."""
    made = [load("delibsim.scorers", name) for name in scorers or usual_scorers()]
    if _is_file(place):
        _, texts = texts_of_file(Path(place), column)
        return place, *estimate_translations(made, (), texts)
    runs = study_at(place, root)
    texts = [text.text for text in StudyTexts(runs).all()] if StudyTexts(runs).held() else ()
    found = estimate_translations(made, () if texts else runs.all()[0], texts)
    return study_named(runs.study), *found


def _print_estimate(named: str, limits: Limits, found: CostEstimate, as_json: bool) -> None:
    told = f"{counted(found.waiting, 'translation')} to be asked for"
    before = [f"{named}: {told}; scoring itself asks nobody"]
    show_found(found, limits, plain(found), as_json, before, "translations")


def _is_file(place: str) -> bool:
    """Whether a file of texts is named, and no study."""
    return Path(place).suffix == ".csv" or Path(place).is_file()


@contextmanager
def _writable(study: str) -> Generator[None]:
    """Says how a study is scored in whose folder nothing may be written."""
    try:
        yield
    except PermissionError as error:
        raise PermissionError(
            error.errno,
            f"{error.strerror}, and scores are kept in the folder of the study (delibsim analyze"
            f" {quoted(study)} -o FOLDER scores it and writes nothing there)",
            error.filename,
        ) from None


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


def _score_file(
    file: Path, column: str, to: Path | None, scorers: Sequence[str] | None, as_json: bool
) -> int:
    """Score the texts in a column of a CSV file, and print what came of it; the exit code."""
    if not scorers or len(scorers) > 1:
        raise WrongInput("to score texts, name one scorer: --scorer aqua")
    watch = progress()
    scored = score_file(file, column, scorers[0], to, watch)
    return _print_scored(scored, as_json)


def _score_imported(runs: Runs, scorers: Sequence[str], as_json: bool) -> int:
    """Score the texts of a study of texts, and print what came of it; the exit code."""
    if len(scorers) != 1:
        able = ", ".join(scorers_of_texts())
        raise refused("scorer_of_texts_not_named", study=study_named(runs.study), able=able)
    watch = progress()
    scored = score_study_texts(runs, scorers[0], watch)
    return _print_scored(scored, as_json)


def _print_scored(scored: ScoredTexts, as_json: bool) -> int:
    """Print what came of scoring texts; the exit code."""
    scorers = [scored.scorer]
    summaries = {measure: scored.summary(measure) for measure in scored.measures}
    valid = [summary["valid"] for summary in summaries.values()]
    whole = min(valid) == len(scored.values) and not scored.faults
    code = exit_code(max(valid) > 0, whole)
    place = shown(scored.place)
    print_each((f"left out, damaged: {fault}" for fault in scored.faults), console(stderr=True))
    if as_json:
        people = {measure: vars(known) for measure, known in human_references(scorers).items()}
        found = summaries[scored.measures[0]] if len(summaries) == 1 else {"measures": summaries}
        echo_json({**found, "people": people, "file": place, "rows": scored.values})
        return code
    screen = console()
    for measure, summary in summaries.items():
        print_each(_summed_up(measure, summary), screen)
    print_each(on_people(scorers), screen)
    screen.print(f"written: {place}")
    return code


def _summed_up(measure: str, summary: Mapping[str, Any]) -> Iterator[str]:
    """The mean of a measure, and how many texts have none for which reason, in sentences."""
    mean, sd = number(summary["mean"]), number(summary["sd"])
    count = f"{summary['valid']} of {counted(summary['texts'], 'text')}"
    yield f"{measure}: mean {mean}, SD {sd}, {count}"
    for why, n in summary["missing"].items():
        yield f"undefined: {counted(n, 'text')}: {in_words(why)}"


HEADLINE = "dri"
"""The measure that is printed where there is no room for all."""


def print_averages(
    scored: ScoredStudy, by: Sequence[str], measures: Sequence[str], screen: Console
) -> None:
    """Print the averages by these columns: of the measures named, or of all that the summary of a
    run shows; then what must be known of them.
    """
    averages = scored.averages(by)
    declared = scored.measures
    found = averages.measures()
    known = [name for name in in_order(declared) if name in found]
    known += [name for name in found if name not in declared]
    for name in measures:
        if known and name not in known:
            raise unknown("measure", name, known)
    _print_head(scored, averages, screen)
    if not known:
        _print_end(scored, screen)
        return
    shown_of = list(measures) or _usual(known, declared, scored.asked_for)
    tables = [] if measures else _that_fit(MeasuresByLevel(averages, shown_of, declared), screen)
    long = not tables
    if long:
        if not measures:
            shown_of = [HEADLINE if HEADLINE in shown_of else shown_of[0]]
        tables = [table_of_levels(averages, name, declared) for name in shown_of]
    for table in tables:
        show_table(table, screen)
    notes = average_notes(scored.found, averages, shown_of, declared, scored.plans)
    if long:
        notes[0] += f" {SD}"
    print_each([*notes, *on_people(scored.asked_for)], screen)
    others = [name for name in known if name not in shown_of and not name.startswith(FLAG)]
    if others and not measures:
        listed = ", ".join(others)
        screen.print(safe(f"also scored: {listed} (--measure ID, or --all)"), soft_wrap=True)
    _print_end(scored, screen)


def print_participants(scored: ScoredStudy, screen: Console) -> None:
    """Print how every participant changed, a table for each condition."""
    _print_head(scored, scored.averages(("treatment",)), screen)
    for table, why in by_condition(scored.moved, scored.of):
        show_table(table, screen)
        print_each(why, screen)
        screen.print()
    if scored.moved:
        screen.print(MEANING, soft_wrap=True)
    elif scored.account.held:
        screen.print("no session of the study has a survey with considerations and preferences")
    _print_end(scored, screen)


def _usual(
    known: Sequence[str], declared: Mapping[str, Measure], asked_for: Sequence[str]
) -> list[str]:
    """The measures that are printed if none is named: all of scorers that were asked for, or else
    those that the summary of a run shows, if there are any.
    """
    in_summary = [name for name in known if name in declared and declared[name].in_summary]
    return list(known) if asked_for or not in_summary else in_summary


def _that_fit(comparison: MeasuresByLevel, screen: Console) -> list[DisplayTable]:
    """The widest tables that the terminal holds with every cell in one line; the narrowest ones if
    no column stands below the others; or none.
    """
    tables: list[DisplayTable] = []
    for tables in comparison.tables():
        if all(fits(table, screen) for table in tables):
            return tables
    return tables if all(fits(table, screen, wrapped=True) for table in tables) else []


def _print_head(scored: ScoredStudy, averages: Averages, screen: Console) -> None:
    """Print how many sessions there are, and what is doubtful."""
    account, effects = scored.account, scored.effects
    held = sessions_in_words(scored.found, len(account.held), len(account.planned))
    if not account.held:
        held = "no runs to score yet"
    screen.print(safe(f"study {scored.study}: {held}"), soft_wrap=True)
    notice = account.notice()
    print_each([f"{notice}."] if notice else [], screen)
    print_each(design_notes(scored.found, averages, effects.settings, effects.dropped), screen)


def _print_end(scored: ScoredStudy, screen: Console) -> None:
    """Print which runs are left out, and what was written."""
    scoring = scored.scoring
    print_each((f"{line}." for line in scored.branches), screen)
    print_each(scored.left_out(), screen)
    if scoring.files:
        files = counted(len(scoring.files), "file")
        written = f"written: {files} in {shown(scoring.files[0].parent)}"
        if scored.without_scores:
            written += f"; no scores: {', '.join(scored.without_scores)}"
        screen.print(safe(written), soft_wrap=True)
