"""Calls to raters and coders as rows of the table `calls`."""

from collections.abc import Iterator

from delibsim.domain.text import counted
from delibsim.store.annotation_logs import AnnotationLog, annotation_logs
from delibsim.store.files import each_line
from delibsim.store.runs import Runs
from delibsim.store.tables.calls import Row, call_row
from delibsim.store.tables.session_rows import Kept


def annotation_calls(runs: Runs, sessions: Kept, faults: list[str]) -> Iterator[Row]:
    """A row for each call to a rater or coder, with the condition of the session that it is about;
    damaged lines are told in `faults`.
    """
    for log in annotation_logs(runs):
        number = damaged = 0
        for _, record in each_line(log.file):
            row = call_row(record or {}, number + 1, log.models)
            if row is None:
                damaged += 1
                continue
            number += 1
            yield _condition(runs.study, log, row, sessions) | row | {"task": log.task}
        if damaged:
            faults.append(f"{log.file}: {counted(damaged, 'damaged line')} left out")


def _condition(study: str, log: AnnotationLog, row: Row, sessions: Kept) -> Row:
    """The columns of the session of a debate or of a statement; the study alone elsewhere."""
    session = log.session or str(row["occasion"]).partition("/")[0]
    found = sessions.of(session)
    return {"study": study} if found is None else found
