"""The tables of a study about texts: those that were imported, their codes, votes, summaries,
judgments and notes; and tables without what people, models and readers wrote, where hashes, counts
and reason codes stay.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.domain.data import read_data
from delibsim.domain.reason import SEPARATOR, Reason
from delibsim.domain.summary import DIMENSIONS, Judgment
from delibsim.domain.text import counted
from delibsim.store.answers import Judgments, Summaries, comparisons_about, schemes_of
from delibsim.store.notes import Notes
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.sheets import Column, Table, standing_in, tables_in
from delibsim.store.training import TrainedScores, trained_judges_of

FILE = "asked_tables.yaml"
FACTS = "facts."
"""What the names of the other columns of an imported file begin with."""
OF_OPINIONS = ("author", "stance", "minority")
"""The columns of texts that only opinions have."""
LEFT_OUT: Mapping[str, tuple[str, ...]] = read_data(FILE)["left_out"]
"""The columns, by table, that hold what somebody wrote, or who wrote it."""
REASON = "missing"
"""The column of reasons, whose details may quote what was written."""
DETAIL = ", and detail behind a colon"
"""What the meaning of this column ends with."""


Row = Mapping[str, Any]


def table_of(name: str, rows: Iterator[Row], columns: Sequence[Column] = ()) -> Table:
    """A table of the file of tables from rows as values by column; an empty text is missing.
    Without `columns` it has all of them.
    """
    row, known = tables_in(FILE)[name]
    shown = tuple(columns) or known
    return Table(name, row, shown, _cells(rows, [column.name for column in shown]))


def _cells(rows: Iterator[Row], names: Sequence[str]) -> Iterator[list[Any]]:
    for row in rows:
        yield [_cell(row.get(name)) for name in names]


def _cell(value: Any) -> Any:
    if isinstance(value, Reason):
        return str(value)
    return None if value == "" else value


def code_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The tables `codes` and `samples`, where texts of the study were coded."""
    if not schemes_of(runs):
        return []
    from delibsim.store.tables.scored import coding_tables  # imports numpy

    return coding_tables(runs, faults)


def vote_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The table `votes` of a study, of pairs with a text of it; none where nothing was compared.

    Damaged lines are left out and told in `faults`.
    """
    if not list(comparisons_about(runs)):
        return []
    return [table_of("votes", _votes(runs, faults))]


def _votes(runs: Runs, faults: list[str]) -> Iterator[Row]:
    for one in comparisons_about(runs):
        kind = "imported" if "imported" in one.comparisons.files.task() else "model"
        found = [(kind, vote) for vote in one.comparisons.all(faults)]
        found += [("human", vote) for vote in one.comparisons.people(faults)]
        for judge, vote in found:
            if any(text.startswith(one.prefix) for text in (vote.sheet.a, vote.sheet.b)):
                about = {"study": runs.study, "comparison": one.coder, "judge_kind": judge}
                yield about | standing_in("vote", vote)


def note_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The table of the notes of readers, where there are any."""
    notes = Notes(runs)
    if n := notes.damaged():
        faults.append(f"{notes.file}: {counted(n, 'damaged line')} left out")
    rows = []
    for note in notes.all():
        own = {"study": runs.study, "tags": "; ".join(note.tags)}
        rows.append(own | standing_in("note", note))
    return [table_of("notes", iter(rows))] if rows else []


def summary_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The tables `summaries`, `judgments` and `summary_comparisons` of a study, with
    `trained_scores` where a trained judge scored; none where nothing was summarised. Damaged lines
    are left out and told in `faults`.
    """
    if not Summaries.names(runs):
        return []
    made = [
        table_of("summaries", _summaries(runs, faults)),
        table_of("judgments", _judgments(runs, False, [])),
        table_of("summary_comparisons", _judgments(runs, True, faults)),
    ]
    if trained_judges_of(runs):
        made.append(table_of("trained_scores", _trained(runs, faults)))
    return made


def _summaries(runs: Runs, faults: list[str]) -> Iterator[Row]:
    for name in Summaries.names(runs):
        for one in Summaries.of(runs, name).all(faults):
            about = {"study": runs.study, "task": name, "summary": one.id, **vars(one.slot)}
            row = about | {"drawn": one.slot.size, "missing": one.missing}
            if one.text:
                row |= {"words": one.words, "sha256": one.sha256, "text": one.text}
            yield row


def _judgments(runs: Runs, two: bool, faults: list[str]) -> Iterator[Row]:
    for name in Judgments.names(runs):
        own = Judgments.of(runs, name)
        about = {"study": runs.study, "task": name}
        about["summaries"] = str(own.files.task().get("summaries", ""))
        for kind, given in (("model", own.all(faults)), ("human", own.people(faults))):
            for one in given:
                if bool(one.sitting.other) == two:
                    who = {"judge": one.judge, "judge_kind": kind}
                    yield {**about, **who, **_judgment(one, two)}


def _judgment(one: Judgment, two: bool) -> Row:
    sitting = one.sitting
    named: dict[str, Any] = {"summary": sitting.summary, "control": sitting.control}
    if two:
        named = {"a": sitting.summary, "b": sitting.other, "first": one.first}
    values = {name: one.values.get(name) for name in DIMENSIONS}
    return {**named, "opinion": sitting.opinion, **values, "missing": one.missing}


def _trained(runs: Runs, faults: list[str]) -> Iterator[Row]:
    for judge in trained_judges_of(runs):
        own = TrainedScores.of(runs, judge)
        task = own.files.task()
        about = {"study": runs.study, "summaries": task.get("summaries"), "judge": judge}
        about["checkpoint"] = task.get("checkpoint")
        for one in own.all(faults):
            values = {name: float(one.values[name]) for name in DIMENSIONS}
            yield {**about, "summary": one.summary, "opinion": one.opinion, **values}


def table_of_texts(runs: Runs) -> Table:
    """The texts of a study of texts; the other columns of their files follow as facts.NAME."""
    texts = StudyTexts(runs).all()
    facts: dict[str, None] = {}
    for text in texts:
        facts |= dict.fromkeys(text.facts)
    shown = []
    for column in tables_in(FILE)["texts"][1]:
        said = any(getattr(text, column.name, "") for text in texts)
        if column.name not in OF_OPINIONS or said:
            shown.append(column)
    other = "a column of the file that was imported"
    shown += [Column(f"{FACTS}{name}", "text", other) for name in facts]
    rows = []
    for text in texts:
        known = {name: getattr(text, name) for name in ("group", "source", "sha256", *OF_OPINIONS)}
        known |= {"study": runs.study, "text_id": text.id, "text": text.text}
        known["words"] = len(text.text.split())
        rows.append(known | {f"{FACTS}{name}": cell for name, cell in text.facts.items()})
    return table_of("texts", iter(rows), shown)


def opinion_tables(runs: Runs) -> list[Table]:
    """The table of votes on opinions, where there are any."""
    voters = StudyTexts(runs).voters()
    rows = []
    for one in voters:
        own = {"study": runs.study, "voter": one.id, "opinion_group": one.group}
        for (id, vote, time), later in zip(one.votes, one.holding, strict=True):
            rows.append(own | {"text_id": id, "vote": vote, "time": time, "holds": later})
    return [table_of("opinion_votes", iter(rows))] if rows else []


def columns_without_texts(table: str, columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of a table that hold no texts. The other columns of imported files go with them:
    nobody has looked at what they hold.
    """
    held = LEFT_OUT.get(table, ())
    kept = []
    for column in columns:
        imported = table == "texts" and column.name.startswith(FACTS)
        if column.name not in held and not imported:
            kept.append(replace(column, meaning=column.meaning.removesuffix(DETAIL)))
    return tuple(kept)


def without_texts(table: Table) -> Table:
    """A table without texts, and with the codes of reasons alone."""
    columns = columns_without_texts(table.name, table.columns)
    return Table(table.name, table.row, columns, _without(table, columns))


def _without(table: Table, columns: Sequence[Column]) -> Iterator[list[Any]]:
    names = [column.name for column in table.columns]
    places = [names.index(column.name) for column in columns]
    for row in table.rows:
        values = list(row)
        if REASON in names and values[names.index(REASON)] is not None:
            at = names.index(REASON)
            values[at] = values[at].partition(SEPARATOR)[0]
        yield [values[place] for place in places]
