"""A DuckDB database in memory that fetches nothing, and ends as other code does when stopped."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

STOPPED = "Query interrupted"
"""What DuckDB says where Ctrl-C or the end of a job met a query: a RuntimeError of its own."""


@contextmanager
def offline_database(threads: int) -> Generator[Any]:
    """A connection to a database in memory; nothing is fetched from the network.

    One thread keeps the order of rows. KeyboardInterrupt where a query is interrupted.
    """
    import duckdb

    offline: dict[str, Any] = {
        "threads": threads,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(config=offline) as database:
        try:
            yield database
        except RuntimeError as error:
            if STOPPED not in str(error):
                raise
            raise KeyboardInterrupt from None
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
