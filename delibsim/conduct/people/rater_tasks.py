"""The packs of a study that people answer on pages, by name."""

from collections.abc import Callable
from functools import partial
from typing import Any

from delibsim.conduct.people.rater_debates import debate_pack, debate_packs
from delibsim.conduct.people.rater_pack import RaterPack
from delibsim.conduct.people.rater_pairs import PairPack
from delibsim.conduct.people.rater_summaries import SummaryPack
from delibsim.conduct.people.rater_texts import TextPack
from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.annotations import tasks_with_packs
from delibsim.store.codings import Codings
from delibsim.store.comparisons import Comparisons
from delibsim.store.judgments import Judgments
from delibsim.store.packs import packs_of
from delibsim.store.runs import Runs

OF_STORES: tuple[tuple[Any, type[RaterPack]], ...] = (
    (Comparisons, PairPack),
    (Codings, TextPack),
    (Judgments, SummaryPack),
)
"""What packs are made of the tasks of a kind of answers."""


def rater_packs(runs: Runs) -> dict[str, Callable[[], RaterPack]]:
    """What makes each task for raters and coders on pages, by its name."""
    found: dict[str, Callable[[], RaterPack]] = {}
    for name in debate_packs(runs):
        found[name] = partial(debate_pack, runs, name)
    for store, made in OF_STORES:
        for task in tasks_with_packs(runs, store.prefix):
            answers = store.of(runs, task.removeprefix(store.prefix))
            for name, pack in packs_of(answers.files).items():
                if "online" in pack:
                    hours = float(pack["online"]["hand_on"])
                    found[name] = partial(made, runs, name, pack["sheets"], hours, answers, pack)
    return found


def rater_tasks(runs: Runs) -> list[str]:
    """The names of the tasks for raters and coders on pages, in order."""
    return sorted(rater_packs(runs))


def rater_task(runs: Runs, name: str) -> RaterPack:
    """A task by its name; WrongInput, with those that there are, for another."""
    packs = rater_packs(runs)
    if name in packs:
        return packs[name]()
    if not packs:
        raise WrongInput(
            f"study '{runs.study}' has no task for raters on pages; hand one out: delibsim rate"
            f" handout {runs.study} --online (or code, compare, judge)"
        )
    raise unknown("task", name, sorted(packs))
