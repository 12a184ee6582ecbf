"""The table of imported texts, with what stood beside each in its file; and tables without what
people, models and readers wrote, where hashes, counts and reason codes stay.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from delibsim.domain.annotation import Text
from delibsim.domain.reason import SEPARATOR
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.codebook import Column
from delibsim.store.tables.sheets import Table

NAME = "texts"
FACTS = "facts."
"""What the names of the other columns of an imported file begin with."""
COLUMNS = (
    Column("study", "text", "name of the study"),
    Column("text_id", "text", "id of the text, as the file named it; the target of its scores"),
    Column("group", "text", "what the text belongs to, as the file named it"),
    Column("source", "text", "name of the file that the text came from"),
    Column("words", "integer", "words of the text, between blanks", "words"),
    Column("sha256", "text", "SHA-256 of the text"),
    Column("text", "text", "the text, word for word"),
)
OF_OPINIONS = (
    Column("author", "text", "who holds the opinion, as the file named the person"),
    Column("stance", "text", "what the person is for: positive, negative or not sure"),
    Column("minority", "text", "whether it is the view of few, by the person's own word"),
)

LEFT_OUT = {
    "texts": {"text", "author"},
    "summaries": {"text"},
    "samples": {"rationale"},
    "votes": {"rationale"},
    "calls": {"reply", "reasoning", "detail"},
    "notes": {"note", "tags"},
}
"""The columns, by table, that hold what somebody wrote, or who wrote it."""
REASON = "missing"
"""The column of reasons, whose details may quote what was written."""
DETAIL = ", and detail behind a colon"
"""What the meaning of this column ends with."""


def table_of_texts(runs: Runs) -> Table:
    """The texts of a study of texts as a table of the export; the other columns of their files
    follow as facts.NAME.
    """
    texts = StudyTexts(runs).all()
    facts: dict[str, None] = {}
    for text in texts:
        facts |= dict.fromkeys(text.facts)
    others = [
        Column(f"{FACTS}{name}", "text", "a column of the file that was imported") for name in facts
    ]
    said = []
    for column in OF_OPINIONS:
        if any(getattr(text, column.name) for text in texts):
            said.append(column)
    rows = _rows(runs.study, texts, [column.name for column in said], list(facts))
    return Table(NAME, "one row an imported text", (*COLUMNS, *said, *others), rows)


def _rows(
    study: str, texts: Sequence[Text], said: Sequence[str], facts: Sequence[str]
) -> Iterator[list[Any]]:
    for text in texts:
        words = len(text.text.split())
        own = [study, text.id, text.group or None, text.source, words, text.sha256, text.text]
        own += [getattr(text, name) or None for name in said]
        yield own + [text.facts.get(name) for name in facts]


def columns_without_texts(table: str, columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of a table that hold no texts. The other columns of imported files go with them:
    nobody has looked at what they hold.
    """
    held = LEFT_OUT.get(table, set())
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
