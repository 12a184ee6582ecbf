"""Planning judgments of summaries from settings, and what came of asking judges."""

from collections.abc import Sequence
from typing import Any

from delibsim.asking.kinds.judgment import (
    JUDGMENTS,
    Judged,
    JudgingSettings,
    judged_material,
    judging_asked,
    of_people,
    ring,
    sittings_of,
    whole_of,
    with_people,
)
from delibsim.asking.nouns import Plan
from delibsim.asking.road import merge
from delibsim.asking.settings import CodersAsked
from delibsim.asking.texts import checked_wording, kin_among, plain
from delibsim.domain.errors import WrongInput
from delibsim.domain.summary import Summary
from delibsim.domain.text import study_named
from delibsim.domain.treatment import Wording, wording_plain
from delibsim.prompts.verdict import check_verdict_texts
from delibsim.store.answers import Judgments, Summaries
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of


def plan_judging(runs: Runs, overrides: Sequence[str]) -> Plan:
    """The judgments that these settings describe; nobody is asked.

    WrongInput where there is nothing to be judged, for a ring that cannot be, and for other
    settings or summaries under a name that has begun.
    """
    settings, judges = judging_asked(overrides)
    summaries = Summaries.begun(runs, settings.summaries)
    made = [one for one in summaries.all() if one.missing is None]
    if not made:
        raise WrongInput(f"{study_named(runs.study)}: there is no summary to be judged")
    material = judged_material(runs, summaries, opinions_of(runs), made)
    notes = list(judges.ignored)
    k = ring(settings, made, notes)
    wording = checked_wording(settings.wording, check_verdict_texts)
    judgments = Judgments.of(runs, settings.name)
    new = _task(runs, settings, judges, summaries.name, made, wording)
    task = merge(JUDGMENTS, judgments, plain(new))
    material = with_people(material, judgments)
    sittings = sittings_of(settings, material, made, k)
    if settings.people:
        sittings += of_people(judgments, material, sittings)
    writing = summaries.files.task()["models"]
    return judges.planned(
        JUDGMENTS,
        runs,
        judgments,
        settings,
        task=task,
        about=Judged(
            material=material,
            sittings=tuple(sittings),
            whole=whole_of(made),
            role=settings.role,
            wording=wording,
            reasks=task["reasks"],
        ),
        notes=tuple(notes),
        warnings=tuple(kin_among(judges.models, writing, ("judge", "summariser"))),
    )


def _task(
    runs: Runs,
    settings: JudgingSettings,
    judges: CodersAsked,
    summaries: str,
    made: Sequence[Summary],
    wording: Wording,
) -> dict[str, Any]:
    """What a study keeps of its judgments: everything that decides on what is asked."""
    session = judges.plan.session
    names = ("asked", "per_summary", "both_ways", "controls", "people")
    asks = {name: getattr(settings, name) for name in names}
    asks |= {"k": settings.k if "k" in settings.keys else 0, "of": len(made)}
    return {
        "study": runs.study,
        "seed": session.seed,
        "summaries": summaries,
        "asks": [asks],
        "role": settings.role,
        "temperature": settings.temperature,
        "reasks": session.procedure.reasks,
        "wording": wording_plain(wording),
        "models": {name: dict(own) for name, own in judges.models.items()},
        "judged": {one.id: one.sha256 for one in made},
    }
