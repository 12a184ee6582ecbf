"""From the folders of studies to what is known of their summaries."""

from collections.abc import Sequence
from typing import Any

from delibsim.analysis.summaries import judged
from delibsim.asking.kinds.judgment import judged_in
from delibsim.asking.kinds.summary import summarised_in
from delibsim.asking.road import IMPORTED
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.summary import Judgment, Summary
from delibsim.domain.text import study_named
from delibsim.store.answers import Judgments, Summaries
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of
from delibsim.store.training import TrainedScores, trained_judges_of

TRAINED = "trained"
"""The kind of a judge that is a trained network."""


def judged_set(
    runs: Runs, summaries: str = "", judgments: str = "", faults: list[str] | None = None
) -> judged.JudgedSet:
    """What is known of the summaries of a study: those that are named, or its only ones, and all
    judgments of them or, where `judgments` names a task, those of it.

    What could not be read is added to `faults`. WrongInput where there are no summaries, or none of
    that name.
    """
    told = [] if faults is None else faults
    found = Summaries.begun(runs, summaries)
    task, opinions = found.files.task(), opinions_of(runs)
    about = summarised_in(task, opinions)
    material, slots = about.material, {slot.id: slot for slot in about.slots}
    every = {one.id: one for one in found.all(told)}
    for id, one in every.items():
        slots.setdefault(id, one.slot)
    asked = _asked(runs, found, judgments)
    ratings: list[tuple[Judgment, bool]] = []
    compared: list[tuple[Judgment, bool]] = []
    wanted: dict[str, set[str]] = {}
    judges: dict[str, Any] = {}
    for own in asked:
        judges |= own.files.task().get("models", {})
        for people, given in ((False, own.all(told)), (True, own.people(told))):
            for one in given:
                (compared if one.sitting.other else ratings).append((one, people))
        if IMPORTED in own.files.task():
            for one in own.all():
                wanted.setdefault(one.judge, set()).add(one.sitting.id)
        for judge, sittings in _planned(runs, own, every).items():
            wanted[judge] = wanted[judge] | sittings if judge in wanted else sittings
    planned = {judge: len(sittings) for judge, sittings in wanted.items()}
    trained = _trained(runs, found, judgments)
    shown = {id: frozenset(material.shown(one.slot)) for id, one in every.items()}
    for scores in trained:
        asked_for = [len(shown[id]) for id, one in every.items() if not one.missing]
        if scores.files.task().get("controls"):  # as many others, where there are so many
            asked_for += [n for n in asked_for if 2 * n <= len(material.opinions)]
        planned[scores.judge] = sum(asked_for)
        judges[scores.judge] = {"kind": TRAINED}
    by_networks = [judged.trained_table(one.judge, one.all(told), shown) for one in trained]
    return judged.JudgedSet(
        study=runs.study,
        question=opinions.question,
        kind=opinions.kind,
        opinions=judged.opinions_table(opinions),
        summaries=judged.summaries_table(slots, every),
        sources={id: material.shown(slot) for id, slot in slots.items()},
        ratings=judged.ratings_table(ratings, by_networks),
        comparisons=judged.comparisons_table(compared),
        planned=planned,
        models=task["models"],
        judges=judges,
    )


def _asked(runs: Runs, summaries: Summaries, name: str) -> list[Judgments]:
    """The tasks of judges of these summaries, or the one that is named."""
    found = []
    for known in Judgments.names(runs):
        own = Judgments.of(runs, known)
        if own.files.task().get("summaries") == summaries.name and name in ("", known):
            found.append(own)
    manners: dict[str, list[str]] = {}
    for own in found:
        task = own.files.task()
        if task["models"]:
            manner = f"{task['role']}, {task['temperature']}, {task['wording']}"
            manners.setdefault(manner, []).append(own.name)
    if len(manners) > 1:
        raise refused(
            "judgments_differ_in_asking",
            study=study_named(runs.study),
            join=" and ".join(map(", ".join, manners.values())),
            named=found[0].name,
        )
    if name and not found and name not in trained_judges_of(runs):
        raise refused(
            "no_judgments_of_summaries",
            study=study_named(runs.study),
            named=name,
            summaries=summaries.name,
        )
    return found


def _trained(runs: Runs, summaries: Summaries, name: str) -> list[TrainedScores]:
    """The scores of trained judges of these summaries, or of the judge that is named."""
    found = []
    for judge in trained_judges_of(runs):
        own = TrainedScores.of(runs, judge)
        if own.files.task().get("summaries") == summaries.name and name in ("", judge):
            found.append(own)
    return found


def _planned(runs: Runs, judgments: Judgments, every: dict[str, Summary]) -> dict[str, set[str]]:
    """The sittings that a task asks each judge for; two tasks may ask for the same."""
    task = judgments.files.task()
    made = [every[id] for id in task["judged"] if id in every and not every[id].missing]
    if not task.get("models") or len(made) < len(task["judged"]):
        return {}
    sittings = {sitting.id for sitting in judged_in(runs, judgments, task, made).sittings}
    return dict.fromkeys(task["models"], sittings)


def judged_sets(
    studies: Sequence[Runs], summaries: str, judgments: str, faults: list[str]
) -> list[judged.JudgedSet]:
    """What is known of the summaries of several studies; WrongInput for a study named twice."""
    names = [runs.study for runs in studies]
    if len(set(names)) < len(names):
        raise WrongInput("a study is named twice; each set of opinions counts once")
    return [judged_set(runs, summaries, judgments, faults) for runs in studies]
