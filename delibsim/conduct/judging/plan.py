"""What is to be judged by whom: summaries, opinions, sittings and judges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.annotation.judging import (
    JudgedMaterial,
    VerdictTask,
    by_id,
    comparison_sittings,
    rating_sittings,
)
from delibsim.conduct.asking.begun import changed_settings, refuse_if
from delibsim.conduct.asking.texts import checked_wording, plain
from delibsim.conduct.panel import kin_among
from delibsim.conduct.summarising.plan import material_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.judgment import Sitting
from delibsim.domain.opinion import OpinionSet
from delibsim.domain.summary import Summary
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording
from delibsim.measures.designs import directed_ring, mirrored
from delibsim.planning.compose import Plan
from delibsim.planning.judging import JudgingAsked, JudgingSettings, judging_asked
from delibsim.prompts.verdict import check_verdict_texts
from delibsim.store.judgments import Judgments
from delibsim.store.opinions import opinions_of
from delibsim.store.runs import Runs
from delibsim.store.summaries import Summaries, summaries_begun

FIXED = ("summaries", "role", "temperature", "reasks", "seed", "wording")
"""Settings that are the same for all judgments of a task."""


@dataclass(frozen=True)
class JudgingPlan:
    """Which sittings a command asks for, with its limits.

    `whole` names the summaries of the whole set, those of groups aside; `models` are the settings
    of the judges by name, `task` what the study keeps, `kin` warnings of
    judges and summarisers of one family, `notes` what must be known.
    """

    runs: Runs
    settings: JudgingSettings
    judgments: Judgments
    opinions: OpinionSet
    material: JudgedMaterial
    whole: tuple[str, ...]
    sittings: tuple[Sitting, ...]
    wording: Wording
    models: Mapping[str, Mapping[str, Any]]
    plan: Plan
    task: Mapping[str, Any]
    kin: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def asking(self, judge: str) -> VerdictTask:
        """What a judge is asked."""
        return task_asked(self.task, self.material, self.sittings, judge)


def plan_judging(runs: Runs, overrides: Sequence[str]) -> JudgingPlan:
    """The judgments that these settings describe; nobody is asked.

    WrongInput where there is nothing to be judged, for a ring that cannot be, and for other
    settings or summaries under a name that has begun.
    """
    asked = judging_asked(overrides)
    settings = asked.settings
    summaries = summaries_begun(runs, settings.summaries)
    opinions = opinions_of(runs)
    made = [one for one in summaries.all() if one.missing is None]
    if not made:
        raise WrongInput(f"{study_named(runs.study)}: there is no summary to be judged")
    material = judged_material(runs, summaries, opinions, made)
    notes = list(asked.judges.ignored)
    k = _ring(settings, made, notes)
    wording = checked_wording(settings.wording, check_verdict_texts)
    judgments = Judgments.of(runs, settings.name)
    new = _task(runs, asked, summaries, made, wording)
    task = _merged(judgments, plain(new), runs)
    material = with_people(material, judgments)
    sittings = sittings_of(settings, material, made, k)
    if settings.people:
        sittings += _of_people(judgments, material, sittings)
    writing = summaries.files.task()["models"]
    return JudgingPlan(
        runs=runs,
        settings=settings,
        judgments=judgments,
        opinions=opinions,
        material=material,
        whole=whole_of(made),
        sittings=tuple(sittings),
        wording=wording,
        models=asked.judges.models,
        plan=asked.judges.plan,
        task=task,
        kin=tuple(kin_among(asked.judges.models, writing, ("judge", "summariser"))),
        notes=tuple(notes),
    )


def judged_material(
    runs: Runs, summaries: Summaries, opinions: OpinionSet, made: Sequence[Summary]
) -> JudgedMaterial:
    """Opinions and summaries as judges see them; WrongInput where an opinion was edited since."""
    task = summaries.files.task()
    now = {text.id: text.sha256 for text in opinions.texts}
    lost = [id for id, digest in task["texts"].items() if now.get(id) != digest]
    if lost:
        raise WrongInput(
            f"{study_named(runs.study)}: {counted(len(lost), 'opinion')} ({lost[0]} first) were"
            " edited or removed since they were summarised; summarise them under another name"
        )
    own = material_of(task, opinions)
    return JudgedMaterial(
        names=own.names,
        question=own.question,
        opinions=own.opinions,
        summaries={one.id: one.text for one in made},
        sources={one.id: own.shown(one.slot) for one in made},
    )


def sittings_of(
    settings: JudgingSettings, material: JudgedMaterial, made: Sequence[Summary], k: int
) -> list[Sitting]:
    """The sittings that settings ask for: ratings, comparisons of whole summaries, or both."""
    found = []
    if settings.asked != "comparison":
        found += rating_sittings(material, settings.per_summary, settings.controls)
    if settings.asked != "rating":
        found += comparison_sittings(material, whole_of(made), k, settings.both_ways)
    return found


def whole_of(made: Sequence[Summary]) -> tuple[str, ...]:
    """The summaries of the whole set, in the order in which they came."""
    return tuple(one.id for one in made if not one.slot.group)


def _ring(settings: JudgingSettings, made: Sequence[Summary], notes: list[str]) -> int:
    """The comparisons of each summary as A; WrongInput where a summary would meet itself."""
    if settings.asked == "rating":
        for name in ("k", "both_ways"):
            if name in settings.keys:
                raise WrongInput(f"{name} is of comparisons; add: asked=comparison or asked=both")
        return 0
    if settings.asked == "comparison" and settings.keys & {"per_summary", "controls"}:
        raise WrongInput("per_summary and controls are of ratings; leave them out, or: asked=both")
    n = sum(not one.slot.group for one in made)
    k = settings.k if "k" in settings.keys else min(settings.k, n - 1)
    if n < 2 or k >= n:
        raise WrongInput(
            f"k={k} with {counted(n, 'summary')} of the whole: each is compared with others, so k"
            f" is at most {max(n - 1, 0)}"
        )
    twice = mirrored(directed_ring(n, k))
    if twice:
        notes.append(f"k={k} with {n} summaries: {counted(twice, 'pair')} stand in both directions")
    return k


def _task(
    runs: Runs,
    asked: JudgingAsked,
    summaries: Summaries,
    made: Sequence[Summary],
    wording: Wording,
) -> dict[str, Any]:
    """What a study keeps of its judgments: everything that decides on what is asked."""
    settings, session = asked.settings, asked.judges.plan.session
    asks = {
        "asked": settings.asked,
        "per_summary": settings.per_summary,
        "k": settings.k if "k" in settings.keys else 0,
        "both_ways": settings.both_ways,
        "controls": settings.controls,
        "people": settings.people,
        "of": len(made),
    }
    return {
        "study": runs.study,
        "seed": session.seed,
        "summaries": summaries.name,
        "asks": [asks],
        "role": settings.role,
        "temperature": settings.temperature,
        "reasks": session.procedure.reasks,
        "wording": {"id": wording.id, "texts": dict(wording.texts)},
        "models": {name: dict(own) for name, own in asked.judges.models.items()},
        "judged": {one.id: one.sha256 for one in made},
    }


def _merged(judgments: Judgments, new: Mapping[str, Any], runs: Runs) -> dict[str, Any]:
    """What a study keeps of its judgments after this command.

    Nobody is bound to the settings of a command that got no judgment. WrongInput, naming what
    differs, where other settings or summaries would stand under the judgments that there are.
    """
    files = judgments.files
    if not files.annotations.is_file() and not files.people.is_file():
        return dict(new)
    begun = files.task()
    where = f"{study_named(runs.study)}, judgments {judgments.name}"
    refuse_if(
        changed_settings(begun, new, FIXED, ("models",)),
        f"{where}: these settings are not those of the judgments that there are",
        "go on with the settings as they were, or name others: name=NAME; other settings of a"
        " model need another model.name",
    )
    before, now = begun["judged"], new["judged"]
    changed = [f"{id}: another text" for id in before if now.get(id, before[id]) != before[id]]
    lost = [f"{id}: no longer there" for id in before if id not in now]
    refuse_if(
        [*changed, *lost],
        f"{where}: the summaries are not those that were judged",
        "nobody was asked; name other judgments: name=NAME",
    )
    found = {**new, "study": begun["study"], "models": {**begun["models"], **new["models"]}}
    found["asks"] = [*begun["asks"], *(one for one in new["asks"] if one not in begun["asks"])]
    found["judged"] = {**before, **now}
    return found


def task_asked(
    task: Mapping[str, Any],
    material: JudgedMaterial,
    sittings: Sequence[Sitting],
    judge: str,
) -> VerdictTask:
    """What a judge of a task as it was kept is asked."""
    wording = Wording(task["wording"]["id"], task["wording"]["texts"])
    return VerdictTask(material, by_id(sittings), task["role"], wording, judge, task["reasks"])


def with_people(material: JudgedMaterial, judgments: Judgments) -> JudgedMaterial:
    """The same with the opinions that people wrote who judged."""
    written = judgments.opinions_of_people()
    return replace(material, opinions={**material.opinions, **written}) if written else material


def _only(material: JudgedMaterial, made: Sequence[Summary]) -> JudgedMaterial:
    """The same with these summaries alone."""
    sources = {one.id: material.sources[one.id] for one in made}
    return replace(material, sources=sources)


def _of_people(
    judgments: Judgments, material: JudgedMaterial, sittings: Sequence[Sitting]
) -> list[Sitting]:
    """The sittings of people with these texts that are not among others."""
    known = {sitting.id for sitting in sittings}
    found = {}
    for one in judgments.of_people():
        own = one.sitting
        shown = {own.summary, own.other or own.summary} <= material.summaries.keys()
        if own.id not in known and shown and own.opinion in material.opinions:
            found[own.id] = own
    return list(found.values())


def planned_of(
    task: Mapping[str, Any],
    material: JudgedMaterial,
    made: Sequence[Summary],
    judgments: Judgments | None = None,
) -> Iterator[Sitting]:
    """Every sitting that a task as it was kept asks of each judge, once; with those of people where
    it asks for them.
    """
    known: set[str] = set()
    for asks in task["asks"]:
        keys = frozenset({"k"} if asks["k"] else ())
        settings = JudgingSettings(
            asked=asks["asked"],
            per_summary=asks["per_summary"],
            k=asks["k"] or JudgingSettings.k,
            both_ways=asks["both_ways"],
            controls=asks["controls"],
            keys=keys,
        )
        then = made[: asks["of"]]  # summaries are only ever added, behind those that there were
        k = _ring(settings, then, [])
        asked = sittings_of(settings, _only(material, then), then, k)
        if asks["people"] and judgments is not None:
            asked += _of_people(judgments, material, asked)
        for sitting in asked:
            if sitting.id not in known:
                known.add(sitting.id)
                yield sitting
