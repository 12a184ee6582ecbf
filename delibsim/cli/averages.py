"""The averages of a study as `delibsim score` prints them: one table as wide as the terminal."""

from collections.abc import Mapping, Sequence

from rich.console import Console

from delibsim.analysis.average_notes import SD, average_notes, design_notes, sessions_in_words
from delibsim.analysis.average_tables import Comparison, table_of_levels
from delibsim.analysis.averages import Averages
from delibsim.analysis.individual_tables import MEANING, by_condition
from delibsim.analysis.run.summary import FLAG
from delibsim.analysis.table import Table
from delibsim.cli.table import fits, show_table
from delibsim.cli.terminal import print_each, shown
from delibsim.conduct.scored import ScoredStudy
from delibsim.conduct.texts import on_people
from delibsim.domain.errors import unknown
from delibsim.domain.measure import Measure, in_order
from delibsim.domain.text import counted, safe

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
    tables = [] if measures else _that_fit(Comparison(averages, shown_of, declared), screen)
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


def _that_fit(comparison: Comparison, screen: Console) -> list[Table]:
    """The widest tables that the terminal holds with every cell in one line; the narrowest ones if
    no column stands below the others; or none.
    """
    tables: list[Table] = []
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
