"""Planning the ratings of debates from settings, and what came of asking raters."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from delibsim.analysis.debates.rated import debates_of, edited
from delibsim.asking.kinds.rating import RATINGS, rated_in, showings
from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.road import merge
from delibsim.asking.settings import Settings, setting, settings_in, task_name
from delibsim.asking.texts import kin_among, plain
from delibsim.domain.allocation import allocate
from delibsim.domain.annotation import Coder, Panel
from delibsim.domain.errors import WrongInput
from delibsim.domain.rating import debated, digest
from delibsim.domain.run import Run, Session
from delibsim.domain.secret import refuse_key
from delibsim.domain.text import counted
from delibsim.domain.treatment import wording_plain
from delibsim.planning.compose import plan
from delibsim.planning.config import key_of, whole
from delibsim.prompts.rating import check_rater_texts
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs

WORDING = "oxford"
"""The wording that raters read by default."""


@dataclass(frozen=True)
class RatingSettings(Settings):
    """What is set for raters beside their group, models and limits: the name of the panel, and how
    many debates each rates (None: all).
    """

    name: str = setting("panel", task_name, "panel")
    each: int | None = setting(None, whole(1, 1_000_000))


def plan_ratings(runs: Runs, overrides: Sequence[str]) -> Plan:
    """The ratings of the panel that these settings describe; nobody is asked.

    WrongInput for a study without debates, for a debate that was edited after it was rated, for a
    number of debates that a rater cannot have, and for other settings of a panel that has begun.
    """
    settings, others = settings_in(RatingSettings, overrides, "setting of raters", strict=False)
    if not any(key_of(one) == "wording" for one in others):
        others.insert(0, f"wording={WORDING}")
    planned = plan(others)
    panel = panel_of(planned.session, settings.name)
    check_rater_texts(panel.wording)
    debates, faults = debates_of(runs)
    if changed := edited(debates):
        advice = (
            "Nobody was asked. Put the debate back as it was, or hold it anew in another study."
        )
        raise WrongInput("\n".join([*changed, advice]))
    ratings = Ratings.of(runs, panel.name)
    new = _task(runs, panel, planned.session.seed, settings.each, debates)
    task = merge(RATINGS, ratings, plain(new))
    if settings.each is not None:
        task["allocation"] = _allocated(panel, debates, settings.each, task)
    about = rated_in(panel, debates, task)
    debating = {name: own for run in debates for name, own in run.session.models.items()}
    return Plan(
        kind=RATINGS,
        runs=runs,
        answers=ratings,
        settings=settings,
        models=panel.models,
        limits=planned.limits,
        addresses=planned.addresses,
        task=task,
        about=about,
        warnings=tuple(kin_among(panel.models, debating, ("rater", "debater"))),
        faults=tuple(faults),
    )


def panel_of(session: Session, name: str = "panel") -> Panel:
    """The participants of a planned session as a panel of raters, counted from 1."""
    refuse_key("panel", name)
    coders = []
    for index, person in enumerate(session.participants, 1):
        coders.append(Coder(name, index, person.model, person.persona))
    return Panel(name, tuple(coders), session.models, session.wording, session.procedure.reasks)


def _task(
    runs: Runs, panel: Panel, seed: int, each: int | None, debates: Sequence[Run]
) -> dict[str, Any]:
    """What a study keeps of a panel: everything that decides on what is asked."""
    raters = {one.id: {"model": one.model, "persona": one.persona} for one in panel.coders}
    return {
        "study": runs.study,
        "seed": seed,
        "each": each,
        "reasks": panel.reasks,
        "wording": wording_plain(panel.wording),
        "raters": raters,
        "models": {name: dict(own) for name, own in panel.models.items()},
        "texts": {run.session.id: digest(run) for run in debates if debated(run)},
    }


def _allocated(
    panel: Panel, debates: Sequence[Run], each: int, task: Mapping[str, Any]
) -> dict[str, list[dict[str, str]]]:
    """Which debates each rater rates, with what was allocated before. Debates that were held since
    go to raters who join since.
    """
    complete = [run.session for run in debates if debated(run)]
    motions = {session.id: session.topic.id for session in complete}
    seed = complete[0].seed if complete else 0
    raters = [coder.id for coder in panel.coders]
    found = allocate(motions, raters, each, seed, showings(task))
    return plain({rater: list(map(asdict, own)) for rater, own in found.items()})


def ratings_plain(planned: Plan, outcome: Outcome) -> dict[str, Any]:
    """What came of asking the raters, as plain values."""
    about, counts = planned.about, planned.about.counts()
    return {
        "study": planned.runs.study,
        "panel": about.panel.name,
        "debates": len(about.debates),
        "incomplete": about.incomplete,
        **outcome.plain(),
        "faults": [*outcome.faults, *planned.faults],
        "planned": sum(counts),
        "fewest_raters": min(counts, default=0),
        "most_raters": max(counts, default=0),
        "unallocated": counts.count(0),
        "debates_per_rater": planned.settings.each,
    }


def ratings_told(planned: Plan, outcome: Outcome) -> list[str]:
    """How many ratings there are, and what was not to be rated, in sentences."""
    about, counts, each = planned.about, planned.about.counts(), planned.settings.each
    raters = counted(len(about.panel.coders), "rater")
    if each is not None:
        few, most = min(counts, default=0), max(counts, default=0)
        among = f"{few}" if few == most else f"{few} to {most}"
        word = "rater" if most == 1 else "raters"
        raters += f", {counted(each, 'debate')} each, {among} {word} a debate"
    lines = outcome.told("rating", f"{counted(len(about.debates), 'debate')}, {raters}")
    if n := counts.count(0):
        nobody = f"allocated to nobody yet: {counted(n, 'debate')}"
        lines.append(f"{nobody}; raters whom a larger group.size adds will rate them")
    if about.incomplete:
        lines.append(f"not rated, because they broke off: {about.incomplete}")
    return lines
