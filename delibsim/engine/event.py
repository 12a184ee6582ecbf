"""Events: what is learnt of a session while it is held."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from delibsim.domain.survey import Response
from delibsim.domain.transcript import Silence, Statement, Turn


@dataclass(frozen=True)
class Event:
    """One participant begins to answer a survey or to take a turn, or has done so (`done`).

    `said` is what came of it, None before. While a collective statement is sought, an event a reply
    says who replied, the mediator included.
    """

    session: str
    occasion: Literal["pre", "turn", "post", "consensus"]
    participant: str
    turn: Turn | None = None
    done: bool = False
    said: Statement | Silence | Response | None = None


Watch = Callable[[Event], None]
"""What is called with every event of a session."""
