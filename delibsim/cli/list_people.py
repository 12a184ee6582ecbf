"""`delibsim list people|personas|texts`: what is known of people, and texts of one's own."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from delibsim.cli.options import choice, flag, settings_of, whole
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import (
    brief,
    console,
    echo_json,
    exit_code,
    print_each,
    safe,
    say,
    shown,
    study_at,
)
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.text import counted, quoted, study_named

IMPORTED = Path("surveys/imported/deliberr")
"""Where the answers of people lie that were imported as published."""


def people(words: Sequence[str], out: Path | None, as_json: bool) -> None:
    """Show how real people deliberated: n, and every measure before, after and its change."""
    from delibsim.analysis.human.groups_of_five import PARTITIONS
    from delibsim.analysis.human.report import GROUPINGS, people_report
    from delibsim.store.instruments.imported import read_people  # numpy is slow to import

    known = {"by": choice(*GROUPINGS, default="topic"), "all": flag()}
    known["partitions"] = whole(PARTITIONS)
    folders = [word for word in words if "=" not in word]
    given = settings_of([word for word in words if word not in folders], known)
    if len(folders) > 1:
        raise WrongInput(f"one folder of answers at a time: {folders[0]} or {folders[1]}")
    answers, scales = read_people(Path(folders[0]) if folders else IMPORTED)
    report = people_report(answers, scales, given["by"], given["partitions"], whole=given["all"])
    if out is not None:
        from delibsim.analysis.human.report import report_of_people

        report_of_people(report).write(out)
    if as_json:
        echo_json(report.plain())
        return
    print_people(report)
    if out is not None:
        say(f"written: {shown(out.resolve())}")


def print_people(report: Any) -> None:
    """Print every table of the report on people, and what must be known of them."""
    from delibsim.analysis.human.report import (
        ceiling_of_five,
        notes_on_groups,
        table_of_figures,
        table_of_five,
        tables_of_groups,
    )

    screen = console()
    for table in tables_of_groups(report):
        show_table(table, screen)
        screen.print()
    print_each(notes_on_groups(report), screen)
    if not report.missing:
        show_table(table_of_figures(report), screen)
        screen.print()
    if report.topics:
        show_table(table_of_five(report), screen)
        screen.print()
        print_each(report.without_index(), screen)
        print_text(ceiling_of_five(report), screen)
    definitions = "Definitions: docs/measures.md. Range-normalised: by the range of each item."
    print_text(f"{definitions} More measures: --json.", screen)


def personas(name: str, out: Path | None, as_json: bool) -> None:
    """Print a set of personas and, where it was built from people's answers, the report on it."""
    from delibsim.store.instruments.library import read_persona_file

    plain = read_persona_file(name, Path.cwd())
    written = None
    if out is not None:
        from delibsim.analysis.personas import personas_report

        written = personas_report(plain).write(out)
    if as_json:
        echo_json(plain)
        return
    say(f"persona={name}")
    print_personas(plain)
    if written is not None:
        say(f"written: {shown(written.resolve())}")


def print_personas(plain: Mapping[str, Any]) -> None:
    """A set of personas; of one that was built, how the clusters differ and what the check says."""
    from delibsim.analysis.personas import (
        check_in_words,
        origin_in_words,
        table_of_clusters,
        texts_of,
        warnings_of,
    )

    screen, built = console(), plain.get("built")
    if not built:
        for text in texts_of(plain):
            print_text(text, screen)
        return
    screen.print(origin_in_words(built))
    show_table(table_of_clusters(plain, built), screen)
    screen.print(check_in_words(built["check"]), soft_wrap=True)
    print_each([f"warning: {warning}" for warning in warnings_of(built)], screen)


def texts_of_study(words: Sequence[str], root: Path, as_json: bool) -> None:
    """What the texts of a study are like (how many, words, groups, repeated ones), or one."""
    from delibsim.analysis.texts_described import described
    from delibsim.store.study_texts import StudyTexts, question_of

    if not 1 <= len(words) <= 2:
        raise WrongInput("name the study: delibsim list texts STUDY, and perhaps the id of a text")
    runs = study_at(words[0], root)
    held = StudyTexts(runs)
    if not held.held():
        raise refused("no_imported_texts", study=study_named(runs.study), plain=quoted(runs.study))
    if len(words) == 2:
        _show_text(held.named(), words[1], as_json)
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


def _show_text(texts: Mapping[str, Any], id: str, as_json: bool) -> None:
    """Print one text with all that is kept beside it."""
    from delibsim.analysis.texts_described import word_count

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
