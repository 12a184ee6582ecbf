"""From a run and what is to differ to the plans of its forks; and to those of its probes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from delibsim.domain.branching import Edit
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.parentage import Parentage
from delibsim.domain.phases import CLOSING, phase_of
from delibsim.domain.run import Run, Session
from delibsim.domain.study import is_file_name, slug
from delibsim.engine.check import check
from delibsim.models.limits import Limits
from delibsim.planning.cell import Composer, digest
from delibsim.planning.config import built
from delibsim.planning.fork_changes import (
    ELSEWHERE,
    Changed,
    Places,
    Spot,
    changed,
    changes_any,
    edits_of,
    numbers,
    spots_of,
)
from delibsim.planning.overrides import Sweep, read
from delibsim.prompts.prompt import UnreadableReply
from delibsim.prompts.session import form_of_turn, stated
from delibsim.store.codec import session_to_plain

MOST_FORKS = 20_000
"""A command holds no more forks."""
LONGEST_NAME = 150
"""Characters of a parent's name that the names of its forks keep."""


@dataclass(frozen=True)
class Parent:
    """The run that is branched off: its place and the SHA-256 of its run.json."""

    run: Run
    study: str
    sha256: str

    @property
    def turns(self) -> int:
        """The number of its last turn; 0 where nobody was to speak."""
        held = (*self.run.transcript, *self.run.silences)
        return max((said.turn.index for said in held), default=0)


@dataclass(frozen=True)
class ForkPlan:
    """The plans of the forks, the name of the study that was asked for ("" for none), and what is
    for this process alone.
    """

    sessions: tuple[Session, ...]
    study: str
    limits: Limits
    addresses: Mapping[str, str]
    sweep: Sweep


def plan_forks(
    parent: Parent, places: Places, settings: Sequence[str], home: Path | None = None
) -> ForkPlan:
    """The forks of a run at these places under these settings, of which several values are a sweep;
    WrongInput for what cannot be.
    """
    composer = Composer(home or Path.cwd())
    asked = read(settings, composer.presets, composer.topics, sweep=True)
    if asked.launcher != "delibsim" or asked.launcher_overrides:
        raise WrongInput("forks are held in one process; leave hydra/launcher out")
    spots = spots_of(places)
    forks = len(asked.jobs) * len(spots) * places.times
    if forks > MOST_FORKS:
        raise WrongInput(f"{forks:,} forks are too many; a command holds {MOST_FORKS:,} at most")
    try:
        return _planned(parent, places, asked, spots, composer)
    except WrongInput:
        raise
    except ValueError as error:
        raise WrongInput(str(error)) from None


def _planned(
    parent: Parent, places: Places, asked: Sweep, spots: Sequence[Spot], composer: Composer
) -> ForkPlan:
    """The forks at these spots; ValueError for what cannot be."""
    found: dict[str, Session] = {}
    limits, addresses, study = Limits(), {}, ""
    for job in asked.jobs:
        made = changed(parent.run.session, job, places, composer)
        limits = limits_of(made)
        addresses |= made.addresses
        study = str(made.config.study or "")
        for spot in spots:
            for session in _of_spot(parent, spot, places, made):
                found.setdefault(session.id, session)
    for session in found.values():
        check(session)
    return ForkPlan(tuple(found.values()), study, limits, addresses, asked)


def limits_of(made: Changed) -> Limits:
    """The limits of this process among the settings."""
    return built(Limits, "limits", made.config.limits)


def _of_spot(parent: Parent, spot: Spot, places: Places, made: Changed) -> list[Session]:
    """The forks at one spot, and their controls, in which nothing is changed but the seed."""
    own = parent.run.session
    names = [person.id for person in own.participants]
    if own.unasked and places.control:
        raise refused("no_control_of_people")
    if names and len(made.session.unasked) == len(names):
        raise refused("people_cannot_go_on")
    unknown = [one.seat for one in spot.spoken if one.seat > len(names)]
    if unknown:
        raise WrongInput(f"--insert: there is no seat {unknown[0]}; there are {len(names)}")
    edits = edits_of(spot, places.removed, names)
    _check_place(parent, spot.at, edits, made.session.treatment.rounds)
    found = branch(parent, spot.at, edits, places.times, made)
    if places.control and (edits or changes_any(own, made.session)):
        unchanged = replace(made, session=replace(own, seed=made.session.seed), label=())
        found += branch(parent, spot.at, (), places.times, unchanged)
    return found


def branch(
    parent: Parent, at: int, edits: tuple[Edit, ...], times: int, made: Changed
) -> list[Session]:
    """So many branches of a run that are alike, each with seeds of its own."""
    own = parent.run.session
    try:
        parentage = Parentage(parent.study, own.id, parent.sha256, at, edits)
    except ValueError as error:
        raise WrongInput(str(error)) from None
    base = replace(
        made.session,
        id="",
        replicate=1,
        parentage=parentage,
        before=_past(parent.run),
        conversation=None,
    )
    if parentage.stops:
        base = replace(base, consensus=None)
    cell = f"{_short(own.id)}.at{at}.{_label(edits, made.label)}_{_digest(base)}"
    found = []
    for number in range(1, times + 1):
        found.append(replace(base, id=f"{cell}.r{number}", replicate=number))
    return found


def _past(run: Run) -> Session:
    """The plan of what a branch has of a run: of a conversation of people with what was said and
    answered, of which there is no record.
    """
    conversation = run.session.conversation
    if conversation is None:
        return run.session
    said = {one.turn.index: one.text for one in run.transcript}
    turns = [replace(held, said=said.get(held.turn.index)) for held in conversation.turns]
    held = replace(conversation, turns=tuple(turns), responses=run.responses)
    return replace(run.session, conversation=held)


def _digest(base: Session) -> str:
    """Eight characters that tell this branch from all others."""
    return digest(session_to_plain(base))[:8]


def _short(name: str) -> str:
    """The name of a parent within those of its forks, which must be names of files."""
    if len(name) <= LONGEST_NAME and is_file_name(name):
        return name
    return slug(name[:LONGEST_NAME])


def _label(edits: Sequence[Edit], changes: Sequence[str]) -> str:
    """What differs, in a few words that are part of a name."""
    said = [f"{edit.kind}{edit.turn}" for edit in edits if edit.kind != "stop"]
    stopped = ["probe"] if any(edit.kind == "stop" for edit in edits) else []
    parts = [*stopped, *said, *changes]
    return slug("_".join(parts or ["same"]))[:50].strip("-_")


def _check_place(parent: Parent, at: int, edits: Sequence[Edit], rounds: int) -> None:
    """WrongInput for a place or a turn that the run does not have, and for words that cannot be
    said there.
    """
    session, last = parent.run.session, parent.turns
    if at > last + 1:
        raise refused(
            "fork_after_the_end",
            at=at,
            study=parent.study,
            id=session.id,
            last=last,
            after=last + 1,
        )
    _check_facilitated(parent, at, edits, rounds)
    spoken = [turn.index for turn in session.planned_turns if phase_of(turn) == "plenary"]
    over, more = max(spoken, default=last), rounds > session.treatment.rounds
    if session.procedure.phases and more and over < min(at, last):
        raise refused("no_round_after_rounds", over=over)
    for edit in edits:
        beyond = last + (edit.kind == "insert")
        if not last or edit.turn > beyond:
            raise WrongInput(f"there is no turn {edit.turn}; the last is {last}")
        if session.kind.sides and edit.kind in ("insert", "remove"):
            raise refused("debate_order_fixed")
        if edit.text:
            _check_words(parent, edit)


def _check_facilitated(parent: Parent, at: int, edits: Sequence[Edit], rounds: int) -> None:
    """WrongInput for what cannot differ once a facilitator has spoken."""
    session = parent.run.session
    if session.procedure.facilitator_names and any(edit.kind == "remove" for edit in edits):
        raise refused("no_turn_left_out")
    closed = [said.turn.index for said in parent.run.transcript if said.turn.task == CLOSING]
    if closed and session.facilitated and at > closed[-1] and rounds > session.treatment.rounds:
        raise refused("no_round_after_closing", closed=closed[-1])


def _check_words(parent: Parent, edit: Edit) -> None:
    """WrongInput for words that would not be read as a statement in that turn."""
    turns = {turn.index: turn for turn in parent.run.session.planned_turns}
    turn = turns.get(edit.turn) or turns[max(turns)]
    try:
        read_as = stated(turn, form_of_turn(parent.run.session, turn).read(edit.text)).text
    except UnreadableReply as error:
        raise refused("words_no_statement", turn=edit.turn, error=error) from None
    if read_as != edit.text:
        raise refused("words_would_be_cut", turn=edit.turn)


EACH, ROUNDS = "each", "rounds"


def plan_probes(
    parent: Parent, after: str, times: int, settings: Sequence[str], home: Path | None = None
) -> ForkPlan:
    """The probes of a run after these turns: numbers, a range, "each" (every turn but the last,
    after which the run itself has its survey) or "rounds" (the last turn of every round but the
    last).

    WrongInput for a turn that the run does not have, and for settings that would change it.
    """
    if parent.run.session.unasked:
        raise refused("no_probe_of_people", study=parent.study, id=parent.run.session.id)
    if not parent.run.session.respondents:
        raise WrongInput(f"{parent.study}/{parent.run.session.id}: nobody is surveyed in it")
    composer = Composer(home or Path.cwd())
    asked = read(settings, composer.presets, composer.topics, sweep=False)
    (job,) = asked.jobs
    for key in (*job.choices, *job.values):
        if key.partition(".")[0] not in ELSEWHERE or key == "study":
            raise refused("probe_changes_nothing", key=key)
    made = changed(parent.run.session, job, Places(at=(0,)), composer)
    sessions = []
    for turn in _turns(parent, after):
        stop = (Edit("stop", turn + 1),)
        sessions += branch(parent, turn + 1, stop, times, made)
    return ForkPlan(tuple(sessions), "", limits_of(made), made.addresses, asked)


def _turns(parent: Parent, after: str) -> tuple[int, ...]:
    """The turns that are named, in order."""
    run = parent.run
    held = sorted(said.turn.index for said in (*run.transcript, *run.silences))
    if after == EACH:
        found = tuple(held[:-1])
    elif after == ROUNDS:
        last = {said.turn.round: 0 for said in (*run.transcript, *run.silences)}
        for said in (*run.transcript, *run.silences):
            last[said.turn.round] = max(last[said.turn.round], said.turn.index)
        found = tuple(sorted(last.values())[:-1])
    else:
        found = tuple(sorted(numbers(after, "after")))
    beyond = [turn for turn in found if turn > parent.turns]
    if beyond:
        raise refused(
            "probe_after_the_end",
            beyond=beyond[0],
            study=parent.study,
            id=run.session.id,
            turns=parent.turns,
        )
    if not found:
        raise refused("no_turn_to_probe", study=parent.study, id=run.session.id, after=after)
    return found
