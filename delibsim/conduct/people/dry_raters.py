"""A dry run of raters: citizens fill every sheet of a task, in a copy of the study.

What they hand in goes the way of people's: through places, steps, the register and the checks of
rows. So it shows before people come that every sheet can be asked, answered and kept.
"""

import os
import shutil
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from delibsim.asking.people import Step
from delibsim.conduct.people.dry import A_LINE, TYPED
from delibsim.conduct.people.rater_desk import RaterDesk
from delibsim.conduct.people.rater_progress import rater_rows
from delibsim.conduct.people.rater_rows import Rows
from delibsim.domain.errors import WrongInput
from delibsim.domain.seed import seed_of
from delibsim.models.base import LanguageModel, read
from delibsim.models.person.page import told
from delibsim.prompts.forms.words import Words
from delibsim.store.people.assignments import Held, hand_in_step, replies_in, show_step
from delibsim.store.people.databases import ADDRESS
from delibsim.store.people.persons import add_person
from delibsim.store.people.register import FILE, Register
from delibsim.store.people.states import Role
from delibsim.store.runs import Runs

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
                raise WrongInput(
                    f"people have begun the task {name}; a dry run is for before they come. It"
                    f" takes another with --task; how far people are: delibsim people raters"
                    f" {runs.study}"
                )


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
    Rows(desk, desk.runs.lock).bring()
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


async def _reply(step: Step, model: LanguageModel) -> str:
    if step.prompt is None:
        return str(step.check)
    completion = await model.complete(step.prompt, seed_of("dry run", step.name, step.prompt.text))
    return completion.text if read(step.prompt, completion)[1].status == "ok" else OPINION


def _seconds(step: Step, reply: str) -> float:
    """The seconds for what is read, and for what is typed or marked line by line."""
    if step.prompt is None:
        return A_LINE
    shown = 60 * len(told(step.prompt).split()) / READ
    if isinstance(step.prompt.reply, Words):
        return shown + 60 * len(reply.split()) / TYPED
    return shown + A_LINE * len(reply.splitlines())
