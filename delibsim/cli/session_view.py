"""One session while it is held: painted on a terminal, plain lines elsewhere."""

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from delibsim.cli.terminal import brief, safe
from delibsim.cli.view import View
from delibsim.conduct.observe import Observer
from delibsim.conduct.session_progress import SessionProgress
from delibsim.domain.run import Session
from delibsim.domain.transcript import Silence, Statement
from delibsim.engine.agenda import Event
from delibsim.models.replay import Exchange

LONGEST = 1_500  # characters of a statement that are shown


class SessionView(View, Observer):
    """Shows phase, speaker, what is said, calls and time."""

    def __init__(self, session: Session, screen: Console, quiet: bool = False) -> None:
        self.session, self.observer = session, self
        self.progress = SessionProgress(session)
        self.now = Text("")
        self.last = Text("")
        # A person who is asked at this terminal needs it whole.
        asks = any(settings.get("kind") == "human" for settings in session.voices.values())
        super().__init__(screen, quiet, live=not asks)

    def on_event(self, event: Event) -> None:
        """Take note of who is asked, or of what was said."""
        self.progress.on_event(event)
        if not event.done:
            self.now = Text(self.progress.asked(event))
            return
        if isinstance(event.said, Statement):
            self.last = Text(f"{event.participant}: {brief(event.said.text, LONGEST)[0]}")
        elif isinstance(event.said, Silence):
            self.last = Text(f"{event.participant} said nothing that counts: {event.said.status}")
        line = self.progress.line(event)
        if line and not self.quiet and not self._live:
            self.screen.print(f"{self.progress.seconds:6.1f}s  {safe(line)}")

    def on_exchange(self, exchange: Exchange) -> None:
        """Count a call that came back."""
        self.progress.on_exchange(exchange)

    def render(self) -> Panel:
        """Phases, who is asked now, what was said last, and calls."""
        phases = Text()
        for name, done, planned in self.progress.phases():
            begun = "bold" if done else "dim"
            style = "green" if planned and done == planned else begun
            phases.append(f"{name} {done}/{planned}   ", style=style)
        foot = Text(f"{self.progress.calls()}, {self.progress.seconds:.1f} s", style="dim")
        lines = Group(phases, self.now, self.last, foot)
        return Panel(lines, title=self.session.id, title_align="left")
