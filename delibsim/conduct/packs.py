"""The packs of studies that people answer, by name; their answers brought back to the studies, and
the scores that follow from them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from delibsim.asking.collect import CollectedForm, collect, packs_in
from delibsim.asking.kinds.code_people import TextPack
from delibsim.asking.kinds.judgment_people import SummaryPack
from delibsim.asking.kinds.pair_people import PairPack
from delibsim.asking.kinds.rating_people import DebatePack
from delibsim.asking.kinds.rationale import RationalePack
from delibsim.asking.people import Pack
from delibsim.conduct.score import score_all
from delibsim.conduct.texts import rescore_codes, rescore_pairs
from delibsim.domain.coding import CODES
from delibsim.domain.comparison import PAIRS
from delibsim.domain.errors import refused, unknown
from delibsim.store.annotations import packs_of, tasks_with_packs
from delibsim.store.answers import (
    Audits,
    Codings,
    Comparisons,
    Judgments,
    PanelRatings,
    gathered_and_own,
)
from delibsim.store.runs import Runs


def collect_and_score(file: Path, runs: Runs) -> CollectedForm:
    """Keep the answers in a form of any kind of packs of a study, and score them.

    WrongInput, and nothing is kept, where a line is wrong or contradicts what was kept before.
    """
    found = bring_back(file, runs)
    by_study = {(pack.scorer, pack.runs.folder): pack for pack in found.packs}
    for pack in by_study.values():
        rescore(pack)
    return found


def rescore(pack: Pack) -> None:
    """Write the scores anew that are computed from the answers of a pack."""
    if pack.scorer == CODES:
        rescore_codes(pack.runs)
    elif pack.scorer == PAIRS:
        rescore_pairs(gathered_and_own(pack.runs))
    elif pack.scorer:
        score_all(pack.runs, [pack.scorer])


OF_STORES: tuple[tuple[Any, type[Pack]], ...] = (
    (Comparisons, PairPack),
    (Codings, TextPack),
    (Judgments, SummaryPack),
    (Audits, RationalePack),
    (PanelRatings, DebatePack),
)
"""What packs are made of the tasks of a kind of answers."""


def packs_of_study(runs: Runs) -> Iterator[tuple[str, bool, Any]]:
    """Every pack of a study: its name, whether it is answered on pages, and what makes it."""
    for store, made in OF_STORES:
        for task in tasks_with_packs(runs, store.prefix):
            yield from _made(made, runs, store.of(runs, task.removeprefix(store.prefix)))


def _made(made: type[Pack], runs: Runs, answers: Any) -> Iterator[tuple[str, bool, Any]]:
    for name, kept in packs_of(answers.files).items():
        plain = {key: value for key, value in kept.items() if key not in ("sheets", "online")}
        more: dict[str, Any] = {"answers": answers, "plain": plain}
        if "online" in kept:
            more["hand_on"] = float(kept["online"]["hand_on"])
        own = (runs, name, kept["sheets"])
        yield name, "online" in kept, lambda own=own, more=more: made(*own, **more)


def rater_tasks(runs: Runs) -> list[str]:
    """The names of the tasks for raters and coders on pages, in order."""
    return sorted(name for name, online, _ in packs_of_study(runs) if online)


def rater_task(runs: Runs, name: str) -> Pack:
    """A task on pages by its name; WrongInput, with those that there are, for another."""
    packs = {own: made for own, online, made in packs_of_study(runs) if online}
    if name in packs:
        return packs[name]()
    if not packs:
        raise refused("no_task_on_pages", study=runs.study)
    raise unknown("task", name, sorted(packs))


def bring_back(file: Path, runs: Runs) -> CollectedForm:
    """Keep the answers in the form of packs of any kind of a study."""
    wanted = set(packs_in(file))
    found = {name: made() for name, _, made in packs_of_study(runs) if name in wanted}
    return collect(file, found)
