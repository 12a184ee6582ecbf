"""A study while it is held: a table by combination of models, or a line where none is painted."""

from rich.console import Console, Group, RenderableType
from rich.text import Text

from delibsim.analysis.table import numbers, texts
from delibsim.cli.table import table_lines
from delibsim.cli.terminal import safe
from delibsim.cli.view import View
from delibsim.conduct.progress import StudyProgress
from delibsim.conduct.study import Prepared

HEADS = ("done", "of", "running", "failed", "to be tried again")


class StudyView(View):
    """Shows sessions by combination of models, calls and tokens a minute, money and time left."""

    def __init__(self, prepared: Prepared, screen: Console, quiet: bool = False) -> None:
        self.progress = StudyProgress(prepared.waiting, prepared.pool, len(prepared.held))
        self.observer = self.progress
        super().__init__(screen, quiet)

    def line(self) -> str:
        """How it stands, in one line."""
        return self.progress.line()

    def render(self) -> RenderableType:
        """The table, the totals, and the last failure."""
        columns = [*texts("models"), *numbers(HEADS)]
        rows = []
        for combination, *counts in self.progress.table():
            # The models may stand on several lines, each whole.
            models = safe(combination).replace("+", " + ")
            rows.append([models, *(str(n) if n else "-" for n in counts)])
        lines = table_lines(columns, rows, self.screen.width, self.screen)
        table = Group(*(Text(line, style=style) for line, style in lines))
        failure = self.progress.last_failure
        last = f"last failure: {safe(failure)}" if failure else ""
        return Group(table, Text(self.progress.totals(), style="dim"), Text(last, style="dim"))


class WorkersView(StudyView):
    """Shows, in one line, what the workers have reported."""

    def __init__(self, prepared: Prepared, workers: int, screen: Console, quiet: bool) -> None:
        self.workers = workers
        super().__init__(prepared, screen, quiet)

    def line(self) -> str:
        """How it stands, in one line."""
        return self.progress.workers_line(self.workers)

    def render(self) -> RenderableType:
        """The line."""
        return Text(self.line(), style="dim")
