"""Tables of results as the commands of reports print them."""

from collections.abc import Collection
from typing import Any

from rich.console import Console

from delibsim.cli.table import print_table
from delibsim.cli.terminal import print_each, safe


def print_result(result: Any, hidden: Collection[str], screen: Console) -> None:
    """Print one table under its title, with what must be known of it below; `hidden` columns are
    in the files only. A table without rows is its title and the words "no rows".
    """
    from dataclasses import replace

    from delibsim.analysis.pages.cells import reading
    from delibsim.analysis.table import Column

    kept = [name for name in result.rows.columns if name not in hidden]
    read = reading(replace(result, rows=result.rows[kept]))
    screen.print()
    columns = [Column(head.name, text=head.text) for head in read.heads]
    if read.rows:
        print_table(result.title, columns, read.rows, screen)
    else:
        print_table(result.title, [], [], screen)
        screen.print("no rows")
    if read.in_words:
        screen.print(safe(read.in_words), soft_wrap=True)
    print_each((f"{letter} {text}" for letter, text in read.footnotes.items()), screen)
    if read.left_out:
        screen.print(f"and {read.left_out} rows more: --to FOLDER writes all")
    print_each(result.notes, screen)
