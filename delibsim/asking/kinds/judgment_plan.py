"""Planning judgments of summaries from settings: sittings and judges."""

from collections.abc import Mapping, Sequence
from typing import Any

from delibsim.asking.kinds.judgment import (
    JUDGMENTS,
    Judged,
    judged_material,
    of_people,
    ring,
    sittings_of,
    whole_of,
    with_people,
)
from delibsim.asking.kinds.judgment_settings import JudgingSettings, judging_asked
from delibsim.asking.nouns import Plan
from delibsim.asking.road import merge
from delibsim.asking.settings import CodersAsked
from delibsim.asking.texts import checked_wording, kin_among, plain, wording_plain
from delibsim.domain.errors import WrongInput
from delibsim.domain.summary import Summary
from delibsim.domain.text import study_named
from delibsim.domain.treatment import Wording
from delibsim.prompts.verdict import check_verdict_texts
from delibsim.store.judgments import Judgments
from delibsim.store.opinions import opinions_of
from delibsim.store.runs import Runs
from delibsim.store.summaries import Summaries


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
    task = _merged(judgments, plain(_task(runs, settings, judges, summaries.name, made, wording)))
    material = with_people(material, judgments)
    sittings = sittings_of(settings, material, made, k)
    if settings.people:
        sittings += of_people(judgments, material, sittings)
    writing = summaries.files.task()["models"]
    return Plan(
        kind=JUDGMENTS,
        runs=runs,
        answers=judgments,
        settings=settings,
        models=judges.models,
        limits=judges.plan.limits,
        addresses=judges.plan.addresses,
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


def _merged(judgments: Judgments, new: Mapping[str, Any]) -> dict[str, Any]:
    """What a study keeps of its judgments after this command; summaries may be added.

    Nobody is bound to the settings of a command that got no judgment.
    """
    files = judgments.files
    if not files.annotations.is_file() and not files.people.is_file():
        return dict(new)
    begun = files.task()
    where = f"{study_named(begun['study'])}, judgments {judgments.name}"
    return merge(begun, new, JUDGMENTS.growth, where, JUDGMENTS.noun)
