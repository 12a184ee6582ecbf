"""Observers: what an interface, such as a web page, learns while sessions are held."""

from delibsim.conduct.outcome import Outcome
from delibsim.engine.agenda import Event
from delibsim.models.replay import Exchange


class Observer:
    """Does nothing with what it learns; an observer overrides the methods it needs.

    The methods are called by whatever holds the sessions and must return soon: the sessions wait.
    """

    def on_event(self, event: Event) -> None:
        """A participant begins, or has finished, a survey or a turn."""

    def on_exchange(self, exchange: Exchange) -> None:
        """A call to a model came back and was appended to the log of its session."""

    def on_session(self, outcome: Outcome) -> None:
        """A session is over: it has a run, or the outcome says why it has none."""
