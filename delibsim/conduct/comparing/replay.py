"""Computing the votes of a comparison again from the recorded exchanges alone, and comparing them
with those that were kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.annotation.ask import ask_in_turn, could_not_be_asked
from delibsim.annotation.pairs import PairTask, unit_of
from delibsim.annotation.task import Task
from delibsim.conduct.asking.replay import Replayed, compared, outcomes_in
from delibsim.conduct.comparing.batches import batches_of, chain_of, rechosen, sheets_in
from delibsim.conduct.comparing.plan import manner_of, material_of
from delibsim.conduct.comparing.texts import kept_texts
from delibsim.domain.adaptive import Batch, Stop
from delibsim.domain.annotation import Annotation, Text, Unit
from delibsim.domain.comparison import Vote
from delibsim.domain.errors import WrongInput
from delibsim.domain.treatment import Wording
from delibsim.models.replay import Replay
from delibsim.store.comparisons import comparison_begun
from delibsim.store.runs import Runs

EDITED = "the text was edited or removed since it was compared"


async def replay_comparison(runs: Runs, name: str = "") -> Replayed:
    """Compute the votes of a comparison again from its record; nobody is asked.

    WrongInput for a comparison whose votes were imported, which has no record.
    """
    comparisons = comparison_begun(runs, name)
    task = comparisons.files.task()
    if task.get("imported"):
        raise WrongInput(f"comparison {comparisons.name} was imported, so it has no record")
    recorded = {vote.key: vote for vote in comparisons.votes()}
    texts, lost = _texts(runs, task)
    if lost:
        return Replayed(comparisons.name, 0, tuple(f"{id}: {EDITED}" for id in lost))
    computed: dict[tuple[Any, ...], Vote] = {}
    faults: dict[tuple[Any, ...], str] = {}
    steps = comparisons.steps()
    kept = {id: sheets_in(own) for id, own in batches_of(steps).items()}
    every = [sheet for own in kept.values() for sheet in own]
    material = material_of(runs, task, texts)
    if every:
        material = replace(material, sheets={sheet.id: sheet for sheet in every})

    def keep(asked: Task, unit: Unit, answer: Annotation) -> None:
        assert isinstance(asked, PairTask)
        vote = asked.vote(material.sheets[unit.id], answer)
        if could_not_be_asked(answer):
            faults[vote.key] = answer.detail
        else:
            computed[vote.key] = vote

    wording = Wording(task["wording"]["id"], task["wording"]["texts"])
    manner, exchanges = manner_of(task), outcomes_in(comparisons.files)
    for dimension in comparisons.dimensions().values():
        for judge in task["models"]:
            questions = []
            for run in range(1, task["runs"] + 1):
                asked = PairTask(material, dimension, manner, wording, judge, task["reasks"], run)
                for sheet in kept.get(dimension.id, material.sheets.values()):
                    questions.append((asked, unit_of(sheet, material)))
            await ask_in_turn(questions, Replay(judge, exchanges), keep, at_once=1)
    differences = list(compared(recorded, computed, faults, (_named, _said, "vote")))
    differences += _other_batches(task, texts, steps, [computed.get(key) for key in recorded])
    return Replayed(comparisons.name, len(computed), tuple(differences))


def _other_batches(
    task: Mapping[str, Any],
    texts: Sequence[Text],
    steps: Sequence[Batch | Stop],
    votes: Sequence[Vote | None],
) -> list[str]:
    """The batches of an adaptive comparison that do not follow from the votes before them, which
    are given in the order in which they came.
    """
    found = []
    for dimension, batches in batches_of(steps).items():
        own = [vote for vote in votes if vote is not None and vote.dimension == dimension]
        for kept, again in rechosen(chain_of(task, texts, dimension), batches, own):
            if kept != again:
                found.append(f"{dimension}, batch {kept.number}: other pairs follow from the votes")
    return found


def _texts(runs: Runs, task: Any) -> tuple[list[Text], list[str]]:
    """The texts of the record as the study holds them, and the ids of those it does not."""
    found = []
    for text in kept_texts(runs, task):
        if task["texts"].get(text.id) == text.sha256:
            found.append(text)
    known = {text.id for text in found}
    return found, [id for id in task["texts"] if id not in known]


def _named(vote: Vote) -> str:
    place = f"{vote.sheet.a} and {vote.sheet.b}, {vote.dimension}"
    return f"{place}, {vote.judge}, run {vote.run}"


def _said(vote: Vote) -> str:
    """What a vote says, in brief."""
    return str(vote.missing) if vote.missing else str(vote.outcome)
