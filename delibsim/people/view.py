"""What the page of a seat shows: a person is told what a model in that seat is told."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from delibsim.domain.run import Session
from delibsim.domain.survey import PHASES
from delibsim.domain.transcript import PREPARATION, Statement, Turn
from delibsim.store.people import rooms as acts
from delibsim.store.people.register import Register
from delibsim.store.people.requests import (
    WaitingRequest,
    last_given,
    occasions_answered,
    open_request,
)
from delibsim.store.people.rooms import Room, Seat, messages
from delibsim.store.people.schema import RoomState, SeatState
from delibsim.store.withdrawn import WITHDRAWN

EVERYWHERE = "everywhere"
"""The value of `procedure.instructions` with which surveys are told them too."""


WAITS = {
    RoomState.LOBBY: "lobby",
    RoomState.OVER: "over",
    RoomState.CANCELLED: "cancelled",
    RoomState.STOPPED: "stopped",
}


@dataclass(frozen=True)
class View:
    """What the page of a seat shows: who is in the room, what was said, what waits for her.

    `waits` says how the seat stands: "lobby", "wait", "asked", "over", "cancelled", "ended",
    "stopped", "left". `said` is the talk as a model in this seat is shown it. `instructions` are
    those that she is told now, and `read` says that they stood in full on a page of hers before.
    """

    room: Room
    seat: str
    waits: str
    here: tuple[str, ...]
    said: tuple[Statement, ...]
    speaker: str
    request: WaitingRequest | None
    messages: tuple[str, ...]
    question: str
    instructions: str = ""
    read: bool = False
    silent: tuple[Turn, ...] = ()
    """The turns that were taken without a word, as far as the talk is shown."""

    @property
    def talk(self) -> list[tuple[Turn, str]]:
        """Every turn that is shown, in order, and what was said in it; "" where nothing was."""
        said = [(one.turn, one.text) for one in self.said]
        return sorted([*said, *((turn, "") for turn in self.silent)], key=lambda one: one[0].index)


def view_of(
    register: Register,
    room: Room,
    own: Seat,
    session: Session | None,
    heard: Callable[[str, str], Sequence[Statement]],
    silent: Callable[[str, str], Sequence[Turn]],
    speaker: str,
) -> View:
    """The view of a seat; `heard` gives what it has heard, by session and seat, and `silent` the
    turns in which it could have heard something and did not.
    """
    name, seat = room.session, own.name
    asks = own.state == SeatState.TAKEN and room.state not in (RoomState.OVER, RoomState.CANCELLED)
    request = open_request(register, name, seat) if asks else None
    state = WAITS.get(room.state, "asked" if request else "wait")
    if own.state in SeatState.LEFT:
        state, request = "left", None
    elif room.state == RoomState.CANCELLED and room.detail == acts.ENDED:
        state = "ended"
    said: tuple[Statement, ...] = ()
    passed: tuple[Turn, ...] = ()
    instructions, read = "", False
    if session is not None and room.detail != WITHDRAWN:
        all_heard = heard(name, seat)
        said = _talk(register, session, seat, all_heard, request)
        if len(said) == len(all_heard) and session.procedure.show_transcript:
            passed = tuple(silent(name, seat))
        if request is not None:
            instructions = instructions_on(session, seat, request.occasion)
    if instructions and session is not None and request is not None:
        before = occasions_answered(register, name, seat)
        read = were_read(session, seat, request.occasion, before)
    return View(
        room=room,
        seat=seat,
        waits=state,
        here=tuple(one.id for one in session.participants) if session else (),
        said=said,
        speaker=speaker,
        request=request,
        messages=tuple(messages(register, name, own.person)),
        question=session.topic.question if session else "",
        instructions=instructions,
        read=read,
        silent=passed,
    )


def _talk(
    register: Register,
    session: Session,
    seat: str,
    heard: Sequence[Statement],
    request: WaitingRequest | None,
) -> tuple[Statement, ...]:
    """The talk on the page of a seat."""
    if not heard:
        return ()
    last = request or last_given(register, session.id, seat)
    occasion = last.occasion if last else ""
    return talk_on_page(session, seat, heard, occasion, waits=request is None)


def talk_on_page(
    session: Session, seat: str, heard: Sequence[Statement], occasion: str, waits: bool
) -> tuple[Statement, ...]:
    """The part of what a seat has heard that its page shows.

    `occasion` is what the seat is asked for, or was asked for last ("" before that). While it is
    asked, the page shows the talk that the prompt shows. While it `waits`, new statements appear as
    they are made; where the procedure keeps some of them from prompts, they appear with the next
    prompt. The seat's own notes are shown while it waits, and stand in the prompt otherwise.
    """
    plan = session.in_force(seat, occasion or "pre")
    procedure = plan.procedure
    speaks = occasion.startswith("turn ")
    whole = procedure.show_transcript and not procedure.transcript_window
    if waits and whole and (speaks or occasion in ("", "pre")):
        return tuple(heard)
    if not speaks and (occasion not in ("post", "position") or not procedure.show_transcript):
        return ()
    number = int(occasion.removeprefix("turn ")) if speaks else None
    aloud = [one for one in heard if one.turn.task != PREPARATION]
    told = [one for one in aloud if number is None or one.turn.index < number]
    shown = told[-(procedure.transcript_window or len(told)) :] if told else []
    own = [one for one in heard if waits and one.turn.index == number]
    return (*shown, *own)


def instructions_on(session: Session, seat: str, occasion: str) -> str:
    """The instructions of the treatment that a seat is told on an occasion; "" where it is told
    none.
    """
    plan = session.in_force(seat, occasion)
    surveyed = occasion in PHASES and plan.procedure.instructions == EVERYWHERE
    told = surveyed or occasion.startswith("turn ")
    return plan.treatment.instructions.strip() if told else ""


def were_read(session: Session, seat: str, occasion: str, before: Collection[str]) -> bool:
    """Whether the instructions of an occasion stood in full on a page of the seat before: `before`
    holds the occasions on which the person was shown a page and answered it.
    """
    now = instructions_on(session, seat, occasion)
    earlier = [one for one in before if one != occasion]
    return any(instructions_on(session, seat, one) == now for one in earlier)
