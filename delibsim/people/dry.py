"""Before people come: models are checked, and citizens sit in their seats and fill their sheets.

Citizens answer as people do in all that follows: through requests, the register, limits and pages.
The study of a dry run lies in a folder of its own, so that its sessions are never taken for
people's.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from delibsim.asking.people import SheetStep
from delibsim.conduct.cost import budget_of
from delibsim.conduct.study import Notify, closed_on_failure, proven_pool
from delibsim.domain.errors import refused
from delibsim.domain.hosting import A_PERSON, PERSON, Hosting, Limit
from delibsim.domain.run import Session
from delibsim.domain.seed import seed_of
from delibsim.models.base import LanguageModel, read
from delibsim.models.person.browser import Given, WaitingPrompt
from delibsim.models.person.fields import told
from delibsim.models.pool import ModelPool, PlannedCalls
from delibsim.people.hall import Hall
from delibsim.people.raters import AnswerWriter, RaterDesk, rater_rows
from delibsim.planning.compose import StudyPlan
from delibsim.planning.freeze import as_begun, cells_of, frozen, settled, those_of
from delibsim.prompts.forms.words import Words
from delibsim.prompts.session import longest_prompt
from delibsim.store.people.assignments import Held, hand_in_step, replies_in, show_step
from delibsim.store.people.persons import add_person, consent, set_stage
from delibsim.store.people.register import ADDRESS, FILE, Register
from delibsim.store.people.rooms import rooms_of
from delibsim.store.people.schema import Role, RoomState, Stage
from delibsim.store.runs import Runs


async def prepared_for_people(
    plan: StudyPlan, runs: Runs, sessions: Sequence[Session], notify: Notify
) -> tuple[ModelPool, tuple[Session, ...]]:
    """The models of sessions that wait for people, after their preflight, and the sessions as they
    are held.

    WrongInput, before anything is written or asked, if the study is another one, or if a model
    cannot be asked.
    """
    runs.durable = True  # what people have given is on the disk before it counts
    plan = as_begun(plan, runs)
    manifest = frozen(plan)
    runs.compare(manifest, plan.sessions)
    for session in plan.sessions:
        runs.compare_plan(session)
    calls = []
    for session in cells_of(those_of(plan, sessions)).values():
        asked = {}
        for name, settings in session.voices.items():
            if settings.get("kind") != PERSON:
                asked[name] = settings
        calls.append(PlannedCalls(session.id, asked, longest_prompt(session)))
    budget = budget_of(plan.limits, runs)
    pool = await proven_pool(calls, plan.limits, plan.addresses, budget, notify)
    async with closed_on_failure(pool):
        found = settled(plan, pool.settled)
        waiting = those_of(found, sessions)
        with runs.lock():
            runs.settle(manifest if found is plan else frozen(found))
            for session in waiting:
                runs.plan(session)  # so that the study can be served again by its name
    return pool, waiting


TYPED, A_LINE = 40.0, 6.0
"""Words that a person types in a minute; seconds that she takes for a line of a survey."""
LOOK = 0.1
ENDS = (RoomState.OVER, RoomState.CANCELLED, RoomState.STOPPED)


@dataclass(frozen=True)
class Visitor:
    """A citizen in the seat of a person, `speed` times as fast as people are taken to be."""

    model: LanguageModel
    speed: float

    async def __call__(self, asked: WaitingPrompt) -> Given:
        """Answer after the time that a person takes."""
        found = await self.model.complete(asked.prompt, asked.seed)
        await asyncio.sleep(seconds_of(asked.prompt.purpose.occasion, found.text) / self.speed)
        return Given(found.text, found.status, found.detail, A_PERSON)


def hurried(hosting: Hosting, speed: float) -> Hosting:
    """What is declared, with times that are as much shorter; visitors are never away."""
    found: dict[str, Limit] = {"away": Limit()}
    for name in ("lobby", "survey", "turn"):
        limit: Limit = getattr(hosting, name)
        if limit.minutes is not None:
            found[name] = Limit(limit.minutes / speed, limit.binds)
    typing = None if hosting.typing is None else hosting.typing * speed
    return replace(hosting, typing=typing, **found)


def seconds_of(occasion: str, reply: str) -> float:
    """The seconds that a person is taken to need for a reply.

    >>> seconds_of("turn 1", "I am for it."), seconds_of("survey pre", "Q1: 3")
    (6.0, 6.0)
    """
    if occasion.startswith("turn "):
        return 60 * len(reply.split()) / TYPED
    return A_LINE * len(reply.splitlines())


def seat_everybody(hall: Hall) -> None:
    """Give every seat for people to a visitor who has agreed to what is declared."""
    for name, session in hall.sessions.items():
        for seat in session.seats_of_people:
            code = add_person(hall.register, Role.PARTICIPANT, hall.hosting.language)
            consent(hall.register, code, hall.hosting.consent_version)
            set_stage(hall.register, code, Stage.READY)
            hall.join(code, name, seat)


async def until_all_are_over(hall: Hall, speed: float, told: Callable[[str], None]) -> None:
    """Wait until no room goes on; of each it is told how it ended, and how long it would take."""
    begun: dict[str, float] = {}
    ended: set[str] = set()
    while len(ended) < len(hall.sessions):
        for room in await asyncio.to_thread(rooms_of, hall.register):
            if room.state == RoomState.HELD:
                begun.setdefault(room.session, time.monotonic())
            if room.state in ENDS and room.session not in ended:
                ended.add(room.session)
                took = time.monotonic() - begun.get(room.session, time.monotonic())
                how = room.detail or hall.runs.status(room.session) or room.state
                told(f"{room.session}: {how}; about {speed * took / 60:.0f} minutes with people")
        await asyncio.sleep(LOOK)


READ = 238.0
"""Words that an adult reads in a minute: Brysbaert 2019, doi:10.1016/j.jml.2019.104047."""
OPINION = "I would weigh the reasons of all who live with what is decided."
"""What is said where a sheet asks for an opinion, which citizens have in a conversation only."""


@dataclass(frozen=True)
class DryTask:
    """A task whose sheets were all filled: how many places and sheets it has, how many of these the
    study took, and the median minutes that a person is taken to need for a place.
    """

    task: str
    kind: str
    places: int
    sheets: int
    kept: int
    not_kept: int
    minutes: float


def refuse_begun(runs: Runs, names: Iterable[str]) -> None:
    """WrongInput for a task of which people have handed something in: the study has their rows."""
    if not os.environ.get(ADDRESS) and not (runs.folder / FILE).is_file():
        return  # nobody was invited or served yet
    with closing(Register.of(runs)) as register:
        for name in names:
            if replies_in(register, name):
                raise refused("dry_run_too_late", named=name, study=runs.study)


@contextmanager
def copied(runs: Runs) -> Generator[RaterDesk]:
    """A desk over a copy of a study without its register; both are gone when the block ends."""
    with TemporaryDirectory(prefix="delibsim-dry-") as folder:
        left_out = shutil.ignore_patterns(f"{FILE}*", ".lock")
        shutil.copytree(runs.folder, Path(folder) / runs.study, ignore=left_out)
        own = Runs(Path(folder), runs.study)
        with closing(Register.of(own, "")) as register:
            yield RaterDesk(own, register)


async def rate(desk: RaterDesk, name: str, model: LanguageModel) -> DryTask:
    """Let a model fill every sheet of a task, and bring the rows into the study."""
    minutes = []
    for _ in desk.task(name).places():
        held = desk.join(add_person(desk.register, Role.RATER), name)
        if held is not None:
            minutes.append(await _fill(desk, held, model) / 60)
    AnswerWriter(desk, desk.runs.lock).bring()
    rows = rater_rows(desk, [name])

    def total(column: str) -> int:
        return sum(int(row[column]) for row in rows)

    numbers = total("sheets"), total("kept"), total("not_kept")
    kind, spent = desk.task(name).kind, round(median(minutes or [0.0]), 1)
    return DryTask(name, kind, len(rows), *numbers, spent)


async def _fill(desk: RaterDesk, held: Held, model: LanguageModel) -> float:
    """Hand in every step of a place; the seconds that a person is taken to need."""
    seconds = 0.0
    while (found := desk.next(held)) is not None:
        key = show_step(desk.register, held, found.sheet, found.step.name, found.known)
        reply = await _reply(found.step, model)
        hand_in_step(desk.register, held, key, reply)
        seconds += _seconds(found.step, reply)
    return seconds


async def _reply(step: SheetStep, model: LanguageModel) -> str:
    if step.prompt is None:
        return str(step.check)
    completion = await model.complete(step.prompt, seed_of("dry run", step.name, step.prompt.text))
    return completion.text if read(step.prompt, completion)[1].status == "ok" else OPINION


def _seconds(step: SheetStep, reply: str) -> float:
    """The seconds for what is read, and for what is typed or marked line by line."""
    if step.prompt is None:
        return A_LINE
    shown = 60 * len(told(step.prompt).split()) / READ
    if isinstance(step.prompt.reply, Words):
        return shown + 60 * len(reply.split()) / TYPED
    return shown + A_LINE * len(reply.splitlines())
