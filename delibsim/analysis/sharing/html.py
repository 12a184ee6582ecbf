"""A run as one HTML file: nothing is fetched, nothing is run, every text of others is inert."""

from collections.abc import Sequence
from itertools import groupby

from delibsim.analysis.pages.standalone import standalone
from delibsim.analysis.sharing.shared_run import SharedRun
from delibsim.analysis.table import Column


def html(shared: SharedRun) -> str:
    """A run as an HTML document with its style inside."""
    return standalone("run.html", ("page.css", "run.css"), {"spans": spans}, shared=shared)


def spans(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """The groups of neighbouring columns, each with its number of columns."""
    found = []
    for name, members in groupby(columns, key=lambda column: column.group):
        found.append((name, len(list(members))))
    return found
