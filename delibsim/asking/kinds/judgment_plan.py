"""Planning judgments of summaries from settings, and what came of asking judges."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
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
from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.road import merge
from delibsim.asking.settings import CodersAsked
from delibsim.asking.texts import checked_wording, kin_among, plain
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.judgment import DIMENSIONS, Judgment
from delibsim.domain.summary import Summary
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording, wording_plain
from delibsim.prompts.verdict import check_verdict_texts
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of
from delibsim.store.summaries import Judgments, Summaries


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


_TOLD = read_data("asked.yaml")["judgment"]


def judge_rows(planned: Plan) -> list[dict[str, Any]]:
    """By judge: sittings planned and judged, what is missing, and the mean rating a dimension."""
    wanted = {sitting.id for sitting in planned.about.sittings}
    found: dict[str, list[Judgment]] = {judge: [] for judge in planned.models}
    for one in planned.answers.all():
        if one.judge in found and one.sitting.id in wanted:
            found[one.judge].append(one)
    rows = []
    for judge, own in found.items():
        there = [one for one in own if one.missing is None]
        rated = [one for one in there if not one.sitting.other and not one.sitting.control]
        row: dict[str, Any] = {"judge": judge, "planned": len(wanted), "judged": len(there)}
        row["missing"] = len(own) - len(there)
        for name in DIMENSIONS:
            values = [one.values[name] for one in rated if name in one.values]
            row[name] = fmean(values) if values else None
        row["alike"] = len(there) > 1 and len({tuple(one.values.items()) for one in there}) == 1
        rows.append(row)
    return rows


def notes_of(planned: Plan, rows: list[dict[str, Any]]) -> list[str]:
    """What must be known of the judges before their judgments are read."""
    notes = []
    if any(settings["kind"] == "citizen" for settings in planned.models.values()):
        notes.append(_TOLD["rule_based"])
    notes += [f"{row['judge']} {_TOLD['alike']}" for row in rows if row["alike"]]
    return notes


def counts_of(planned: Plan) -> dict[str, int]:
    """How many sittings are ratings, controls and comparisons."""
    kinds: Counter[str] = Counter()
    for sitting in planned.about.sittings:
        kind = "comparisons" if sitting.other else "ratings"
        kinds["controls" if sitting.control else kind] += 1
    return dict(kinds)


def judging_plain(planned: Plan, outcome: Outcome) -> dict[str, Any]:
    """What came of a command, as plain values."""
    rows = judge_rows(planned)
    return {
        "study": planned.runs.study,
        "name": planned.settings.name,
        "summaries": len(planned.about.material.summaries),
        "sittings": counts_of(planned),
        **outcome.plain(),
        "judges": rows,
        "notes": [*planned.notes, *notes_of(planned, rows)],
        "warnings": list(planned.warnings),
        "faults": list(outcome.faults),
    }


def judging_told(planned: Plan, outcome: Outcome) -> list[str]:
    """How many judgments there are, and which are missing and why."""
    summaries = counted(len(planned.about.material.summaries), "summary")
    judges = counted(len(planned.models), "judge")
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in counts_of(planned).items())
    return outcome.told("judgment", f"{summaries}, {judges}, {kinds} each")
