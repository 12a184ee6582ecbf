"""Judging summaries: how far a summary carries an opinion, and which of two is better.

A unit is a sitting: an opinion beside a summary, or beside two of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any

from delibsim.asking.designs import JudgedMaterial, comparison_sittings, rating_sittings
from delibsim.asking.nouns import Growth, Kind, Outcome, Plan, Question, Round
from delibsim.asking.road import missing_reason, refuse_imported
from delibsim.asking.settings import (
    CodersAsked,
    KindSettings,
    called,
    coders_asked,
    setting,
    settings_in,
    task_name,
)
from delibsim.asking.texts import material_of
from delibsim.domain.annotation import Annotation
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import (
    ASKED,
    DIMENSIONS,
    ROLES,
    Asked,
    Judgment,
    OpinionSet,
    Role,
    Sitting,
    Summary,
)
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording, wording_kept
from delibsim.measures.designs import directed_ring, mirrored
from delibsim.planning.config import one_name, one_of, temperature, whole, yes_or_no
from delibsim.planning.load import MESSAGE, Load, Range, tokens_of
from delibsim.prompts.blocks import quoted
from delibsim.prompts.forms.choice import VerdictForm
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.prompts.verdict import verdict_prompt, verdict_reask
from delibsim.store.answers import Judgments, Summaries
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of

JUDGES = called("judgment")
_TOLD = read_data("asked.yaml")["judgment"]
DEFAULT_RING = 6


@dataclass(frozen=True)
class JudgingSettings(KindSettings):
    """What is set for judging beside models and limits.

    `summaries` names the task of summaries, "" the only one. `people`: what people have judged is
    judged too, beside the opinions that they wrote. `per_summary` 0: all opinions that a
    summary was written from. `temperature` None: none is sent.
    """

    name: str = setting("main", task_name)
    summaries: str = setting("", task_name)
    asked: Asked = setting("rating", one_of(ASKED))
    role: Role = setting("reader", one_of(ROLES))
    per_summary: int = setting(0, whole(0, 1_000_000))
    k: int = setting(DEFAULT_RING, whole(1, 100_000))
    both_ways: bool = setting(False, yes_or_no)
    controls: bool = setting(False, yes_or_no)
    people: bool = setting(False, yes_or_no)
    temperature: float | None = setting(0.0, temperature)
    max_tokens: int = setting(200, whole(1, 1_000_000))
    wording: str = setting("verdict", one_name)


def judging_asked(overrides: Sequence[str]) -> tuple[JudgingSettings, CodersAsked]:
    """What settings ask for, and the judges; WrongInput for a key or value that cannot be."""
    settings, others = settings_in(JudgingSettings, overrides, "setting of judging")
    return settings, coders_asked(others, settings.temperature, settings.max_tokens, JUDGES)


Key = tuple[str, str]
"""A judgment: judge, sitting."""


@dataclass(frozen=True)
class Judged:
    """What is put before judges: opinions and summaries, the sittings that are asked for, and how.

    `whole` names the summaries of the whole set, those of groups aside; `edited` those that are
    another text now than the one that was judged.
    """

    material: JudgedMaterial
    sittings: tuple[Sitting, ...]
    whole: tuple[str, ...]
    role: Role
    wording: Wording
    reasks: int
    edited: tuple[str, ...] = ()

    def prompt(self, sitting: Sitting, judge: str) -> Prompt:
        """The prompt with the opinion and the summaries; no name of a summariser is shown."""
        material = self.material
        shown = [material.summaries[sitting.summary]]
        if sitting.other:
            shown.append(material.summaries[sitting.other])
        opinion, purpose = material.opinions[sitting.opinion], Purpose(judge, sitting.id)
        return verdict_prompt(
            material.question, opinion, tuple(shown), self.role, self.wording, purpose
        )


class JudgmentKind(Kind):
    """The kind: judgments of judges at sittings."""

    noun = "judgment"
    called = "the judging"
    growth = Growth(
        fixed=("summaries", "role", "temperature", "reasks", "seed", "wording"),
        joined=("asks", "judged"),
        texts="judged",
        come=True,
    )

    def kept(self, runs: Runs, name: str) -> Plan:
        """The judgments of a task as they were kept; WrongInput for those of people alone."""
        judgments = Judgments.begun(runs, name)
        if not judgments.files.annotations.is_file():
            raise WrongInput(
                f"judgments {judgments.name} are of people alone, so there is no record"
            )
        task = judgments.files.task()
        refuse_imported(task, f"judgments {judgments.name}")
        every = {one.id: one for one in Summaries.of(runs, task["summaries"]).all()}
        digests = {id: one.sha256 for id, one in every.items() if one.missing is None}
        edited = [id for id, digest in task["judged"].items() if digests.get(id) != digest]
        made = [] if edited else [every[id] for id in task["judged"]]
        return self.as_kept(
            runs, judgments, replace(judged_in(runs, judgments, task, made), edited=tuple(edited))
        )

    def lost(self, plan: Plan) -> list[str]:
        """The summaries that are not those that were judged."""
        return [f"{id}: the summary was edited or removed" for id in plan.about.edited]

    def keys(self, plan: Plan, coder: str) -> Iterable[Key]:
        """One judgment a sitting."""
        return ((coder, sitting.id) for sitting in plan.about.sittings)

    def occasion(self, key: Key) -> str | None:
        """The sitting."""
        return key[1]

    def rounds(
        self, plan: Plan, coder: str, keys: set[Key], done: Mapping[Key, Any], faults: list[str]
    ) -> Iterator[Round]:
        """All sittings at once, those of one summary after another."""
        yield Round(
            question(plan.about, sitting, coder)
            for sitting in plan.about.sittings
            if (coder, sitting.id) in keys
        )

    def longest(self, plan: Plan) -> Prompt:
        """The prompt with the longest texts that meet."""
        material = plan.about.material
        opinions = {id: len(text) for id, text in material.opinions.items()}
        summaries = {id: len(text) for id, text in material.summaries.items()} | {"": 0}

        def length(sitting: Sitting) -> int:
            return summaries[sitting.summary] + summaries[sitting.other] + opinions[sitting.opinion]

        return plan.about.prompt(max(plan.about.sittings, key=length), "judge")

    def load(self, plan: Plan, coder: str, waiting: set[Key]) -> Load:
        """Setting, question and summaries are cacheable from the second sitting of the same
        summaries on.

        Sittings are counted by summaries and by opinion, and no prompt is made, since there may be
        hundreds of thousands.
        """
        material = plan.about.material
        summaries = {id: tokens_of(quoted(text)) for id, text in material.summaries.items()}
        summaries[""] = Range()
        frame, reply = self._frame(plan), tokens_of(VerdictForm().example(""))
        sittings = [one for one in plan.about.sittings if (coder, one.id) in waiting]
        n, whole, prefix = len(sittings), Range(), Range()
        shown = Counter((one.summary, one.other) for one in sittings)
        for (summary, other), times in shown.items():
            tokens = frame + summaries[summary] + summaries[other]
            whole += tokens.times(times)
            prefix += tokens.times(times - 1)
        for opinion, times in Counter(one.opinion for one in sittings).items():
            whole += tokens_of(quoted(material.opinions[opinion])).times(times)
        return Load(n, n, whole, prefix, reply.times(n), min(n, 1))

    def _frame(self, plan: Plan) -> Range:
        """Tokens of a prompt without opinion and summaries."""
        rest, material = self.longest(plan).text, plan.about.material
        texts = [*material.opinions.values(), *material.summaries.values()]
        for text in sorted(filter(None, texts), key=len, reverse=True):
            rest = rest.replace(quoted(text), "", 1)
        return tokens_of(rest) + Range(0, 3 * MESSAGE)

    def named(self, answer: Judgment) -> str:
        """The sitting and the judge."""
        return f"{answer.sitting.id}, {answer.judge}"

    def said(self, answer: Judgment) -> str:
        """The numbers."""
        if answer.missing:
            return str(answer.missing)
        return ", ".join(f"{name} {value}" for name, value in answer.values.items())

    def plain(self, plan: Plan, outcome: Outcome) -> dict[str, Any]:
        """What came of a command, as plain values."""
        rows = judge_rows(plan)
        return {
            "study": plan.runs.study,
            "name": plan.settings.name,
            "summaries": len(plan.about.material.summaries),
            "sittings": counts_of(plan),
            **outcome.plain(),
            "judges": rows,
            "notes": [*plan.notes, *self.notes(plan)],
            "warnings": list(plan.warnings),
            "faults": list(outcome.faults),
        }

    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """How many judgments there are, and which are missing and why."""
        summaries = counted(len(plan.about.material.summaries), "summary")
        judges = counted(len(plan.models), "judge")
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in counts_of(plan).items())
        return outcome.told("judgment", f"{summaries}, {judges}, {kinds} each")

    def notes(self, plan: Plan) -> list[str]:
        """What must be known of the judges before their judgments are read."""
        notes = []
        if any(settings["kind"] == "citizen" for settings in plan.models.values()):
            notes.append(_TOLD["rule_based"])
        notes += [f"{row['judge']} {_TOLD['alike']}" for row in judge_rows(plan) if row["alike"]]
        return notes


JUDGMENTS = JudgmentKind()


def question(about: Judged, sitting: Sitting, judge: str) -> Question:
    """What one judge is asked at a sitting."""

    def seed(prompt: Prompt) -> int:
        own = (sitting.id, judge, about.role, about.wording.id, prompt.purpose.attempt)
        return seed_of(*about.material.names, "verdict", *own)

    def read(reply: Annotation) -> list[Judgment]:
        return [Judgment(sitting, judge, reply.value or {}, missing_reason(reply))]

    return Question(
        unit=sitting.id,
        prompt=partial(about.prompt, sitting, judge),
        seed=seed,
        again=partial(verdict_reask, about.wording),
        reasks=about.reasks,
        keys=((judge, sitting.id),),
        read=read,
    )


def judged_in(
    runs: Runs, judgments: Judgments, task: Mapping[str, Any], made: Sequence[Summary]
) -> Judged:
    """What judges of a task as it was kept are given, with every sitting that it asks for once."""
    summaries = Summaries.of(runs, task["summaries"])
    material = judged_material(runs, summaries, opinions_of(runs), made)
    material = with_people(material, judgments)
    return Judged(
        material=material,
        sittings=tuple(planned_of(task, material, made, judgments)) if made else (),
        whole=whole_of(made),
        role=task["role"],
        wording=wording_kept(task["wording"]),
        reasks=task["reasks"],
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


def ring(settings: JudgingSettings, made: Sequence[Summary], notes: list[str]) -> int:
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


def with_people(material: JudgedMaterial, judgments: Judgments) -> JudgedMaterial:
    """The same with the opinions that people wrote who judged."""
    written = judgments.opinions_of_people()
    return replace(material, opinions={**material.opinions, **written}) if written else material


def _only(material: JudgedMaterial, made: Sequence[Summary]) -> JudgedMaterial:
    """The same with these summaries alone."""
    sources = {one.id: material.sources[one.id] for one in made}
    return replace(material, sources=sources)


def of_people(
    judgments: Judgments, material: JudgedMaterial, sittings: Sequence[Sitting]
) -> list[Sitting]:
    """The sittings of people with these texts that are not among others."""
    known = {sitting.id for sitting in sittings}
    found = {}
    for one in judgments.people():
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
        k = ring(settings, then, [])
        asked = sittings_of(settings, _only(material, then), then, k)
        if asks["people"] and judgments is not None:
            asked += of_people(judgments, material, asked)
        for sitting in asked:
            if sitting.id not in known:
                known.add(sitting.id)
                yield sitting


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


def counts_of(planned: Plan) -> dict[str, int]:
    """How many sittings are ratings, controls and comparisons."""
    kinds: Counter[str] = Counter()
    for sitting in planned.about.sittings:
        kind = "comparisons" if sitting.other else "ratings"
        kinds["controls" if sitting.control else kind] += 1
    return dict(kinds)
