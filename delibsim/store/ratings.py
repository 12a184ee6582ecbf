"""The ratings of a study's debates on disk: one folder a panel, one rating a line.

The debates that people were handed, and what they say of them, lie in the folder of `OF_PEOPLE`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from delibsim.domain.annotation import annotated
from delibsim.domain.pooled import digest_of
from delibsim.domain.rating import Rating
from delibsim.domain.run import Run
from delibsim.domain.treatment import Wording, wording_kept
from delibsim.store.annotations import ANNOTATIONS, packs_of
from delibsim.store.answers import TaskAnswers
from delibsim.store.runs import Runs

OF_PEOPLE = "people"
"""The task of the packs for people."""


@dataclass(frozen=True)
class PanelRatings(TaskAnswers[Rating]):
    """The ratings of one panel of language models, or those of people."""

    prefix = "rating-"
    called = "panel"
    key = "panel"
    command = "delibsim rate ask"
    of_models = Rating


def rater(runs: Runs, faults: list[str] | None = None) -> Callable[[Run], Run]:
    """What makes of a run one with its ratings where it is a debate: those of language models by
    panel, then those of people. Damaged lines are left out, and told in `faults`.
    """
    by_debate: dict[str, list[Rating]] = {}
    tasks = [PanelRatings.of(runs, name) for name in _names(runs)]
    for own in tasks:
        for rating in (*own.all(faults), *own.people(faults)):
            by_debate.setdefault(rating.session, []).append(rating)
    wordings = _wordings(tasks)

    def rated(run: Run) -> Run:
        if not run.session.kind.sides:
            return run
        own = tuple(by_debate.get(run.session.id, ()))
        return annotated(run, ratings=own, wordings=wordings)

    return rated


def _names(runs: Runs) -> list[str]:
    """The names of the panels of a study, and that of people where they were handed anything."""
    folders = (runs.folder / ANNOTATIONS).glob(f"{PanelRatings.prefix}*/")
    return sorted(folder.name.removeprefix(PanelRatings.prefix) for folder in folders)


def _wordings(tasks: list[PanelRatings]) -> dict[str, str]:
    """What the raters of every panel and pack read, by name: the id of the wording; where several
    have one id and say other things to raters, with the first digits of the SHA-256 of that.
    """
    kept = {}
    for own in tasks:
        if task := own.files.task():
            kept[own.name] = wording_kept(task["wording"])
        for pack, plain in packs_of(own.files).items():
            kept[pack] = wording_kept(plain["wording"])
    read = {name: (one.id, digest_of(_to_raters(one))) for name, one in kept.items()}
    versions = Counter(id for id, _ in set(read.values()))
    found = {}
    for name, (id, digest) in read.items():
        found[name] = id if versions[id] == 1 else f"{id} ({digest[:8]})"
    return found


def _to_raters(wording: Wording) -> dict[str, str]:
    """Those texts of a wording that are for raters alone."""
    return {name: text for name, text in wording.texts.items() if name.startswith("rater_")}
