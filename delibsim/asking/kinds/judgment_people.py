"""People who judge summaries, a sheet a person: own opinion first, then a rating, a comparison;
and the plan of what people and models judge.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from delibsim.asking.designs import JudgedMaterial
from delibsim.asking.kinds import judgment
from delibsim.asking.nouns import Plan
from delibsim.asking.paper import hand_out
from delibsim.asking.people import Given, HandedOut, Online, Pack, Replies, SheetStep, new_folder
from delibsim.asking.road import merge, refuse_imported
from delibsim.asking.settings import CodersAsked
from delibsim.asking.texts import checked_wording, kin_among, plain
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import DIMENSIONS, Judgment, Sitting, Summary, spoken
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording, wording_kept, wording_plain
from delibsim.measures.inference.components import of_means, raters_needed
from delibsim.prompts.blocks import block, quoted
from delibsim.prompts.forms.choice import NUMBERED, VerdictForm
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose, UnreadableReply
from delibsim.prompts.verdict import QUESTION, check_verdict_texts, verdict_prompt
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Judgments, Summaries
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of

PUBLISHED = {"rep": 0.025, "inf": 0.057, "neu": 0.063, "pol": 0.014}
"""The reliability of single ratings of people, https://arxiv.org/abs/2510.05154 (recomputed)."""
CHECKS = (11, 89)
OPINION, RATING, COMPARISON, CHECK = "opinion", "rating", "comparison", "check"
OWN = "Before you read on: write your own opinion on this question in two or three sentences."
LONGEST = 500
"""Words of an opinion."""
INATTENTIVE = "inattentive"


@dataclass(frozen=True)
class OpinionWords(Words):
    """The words of an opinion, which have a letter or a digit."""

    def read(self, text: str) -> str:
        """The words; UnreadableReply where there is none."""
        words = super().read(text)
        if not spoken(words):
            raise UnreadableReply("the opinion has no word")
        return words


@dataclass
class SummaryPack(Pack):
    """A pack of summaries for people of whom each gets one sheet."""

    kind: ClassVar[Given] = "summaries"
    noun: ClassVar[str] = "judgment"
    person: ClassVar[str] = ""
    on_paper: ClassVar[Mapping[str, str]] = {OPINION: "(the opinion that you wrote above)"}

    def unit(self, sheet: str) -> str:
        """All sheets of a set of judgments are one: whoever has seen one sees no other."""
        return f"summaries {self.answers.name}"

    def step(self, sheet: str, given: Replies) -> SheetStep | None:
        """The opinion; beside it the rating; then the comparison, and the check."""
        material, shown = self._material, self.sheets[sheet]
        if OPINION not in given:
            asked = f"{block(QUESTION, quoted(material.question))}\n\n{OWN}"
            form = OpinionWords(LONGEST)
            said = Message("user", f"{asked}\n\n{form.describe()}")
            return SheetStep(OPINION, Prompt((said,), form, Purpose("Rater", OPINION)))
        own = given[OPINION]
        if own is None:
            return None  # the rating is about her own opinion, so nothing else can be asked
        rated, other = (material.summaries[shown[one]] for one in ("rated", "other"))
        if RATING not in given:
            return SheetStep(RATING, self._verdict(own, (rated,), RATING))
        if COMPARISON not in given:
            both = (rated, other) if shown["rated_is_a"] else (other, rated)
            return SheetStep(COMPARISON, self._verdict(own, both, COMPARISON))
        if CHECK not in given:
            return SheetStep(CHECK, check=int(shown["check"]))
        return None

    def _verdict(self, opinion: str, summaries: tuple[str, ...], step: str) -> Prompt:
        wording = wording_kept(self.answers.files.task()["wording"])
        question, purpose = self._material.question, Purpose("Rater", step)
        return verdict_prompt(question, opinion, summaries, "author", wording, purpose)

    def given(self, sheet: str, given: Replies) -> list[Judgment]:
        """The rating and the comparison, where there is an opinion; those of somebody inattentive
        are kept, with the reason why they do not count.
        """
        own = given.get(OPINION)
        if own is None:
            return []
        shown, opinion = self.sheets[sheet], f"{self.name}/{sheet}"
        self.known.setdefault(OPINION, {})[opinion] = own
        rated, other = shown["rated"], shown["other"]
        a, b = (rated, other) if shown["rated_is_a"] else (other, rated)
        both = Sitting(a, opinion, b)
        asked = ((Sitting(rated, opinion), RATING, ""), (both, COMPARISON, rated))
        attentive = given.get(CHECK) == str(shown["check"])
        found = []
        for sitting, step, first in asked:
            values = _numbers(given.get(step), step == COMPARISON)
            reason = None if values else Reason("not_given")
            if not attentive:
                reason = Reason(INATTENTIVE)
            found.append(Judgment(sitting, opinion, values, reason, first))
        return found

    def written(self, sheet: str, given: Replies, rater: str) -> list[Judgment]:
        """The same; WrongInput for numbers without an opinion."""
        if given.get(OPINION) is None and any(given.values()):
            raise WrongInput(f"sheet {sheet}: the opinion has no word")
        return self.given(sheet, given)

    def said(self, answer: Judgment) -> str:
        """The numbers."""
        listed = ", ".join(f"{name} {value}" for name, value in answer.values.items())
        return str(answer.missing) if answer.missing else listed

    def told(self, answers: Sequence[Judgment]) -> list[str]:
        """How many sheets have another check."""
        lost = {one.judge for one in answers if one.missing and one.missing.code == INATTENTIVE}
        told = "kept, and counted as missing (inattentive)"
        return [f"{counted(len(lost), 'sheet')} with another check: {told}"] if lost else []

    def add(self, answers: Sequence[Judgment]) -> None:
        """The judgments, with the opinions that people wrote before."""
        written = self.known.get(OPINION, {})
        opinions = {one.judge: written[one.judge] for one in answers if one.judge in written}
        if opinions:
            self.answers.keep_opinions(opinions)
        super().add(answers)

    @cached_property
    def _material(self) -> JudgedMaterial:
        """Question and summaries, read once; WrongInput where a summary was edited since."""
        task = self.answers.files.task()
        summaries = Summaries.begun(self.runs, task["summaries"])
        made = [one for one in summaries.all() if one.missing is None]
        now = {one.id: one.sha256 for one in made}
        if any(now.get(id) != digest for id, digest in task["judged"].items()):
            raise WrongInput(f"a summary was edited after pack {self.name} was handed out")
        return judgment.judged_material(self.runs, summaries, opinions_of(self.runs), made)


def _numbers(reply: Any, two: bool) -> Mapping[str, int]:
    """The numbers of a verdict by dimension: from the reply of a page, or as they were written."""
    if reply is None:
        return {}
    if isinstance(reply, str):
        return VerdictForm(two).read(reply)
    return {NUMBERED[label]: value for label, value in reply.items()}


def _hints(per_summary: int) -> Iterator[str]:
    """How reliable the means of so many ratings are, by published ratings of people."""
    for name in DIMENSIONS:
        icc = PUBLISHED[name]
        have, need = of_means(icc, per_summary), raters_needed(icc, 0.8)
        yield f"{name}: {have:.2f} expected; 0.8 takes {need:.0f} raters a summary"


def export_summaries(
    planned: Plan,
    name: str,
    per_summary: int,
    to: Path | None = None,
    online: Online | None = None,
) -> HandedOut:
    """Hand out a pack in which each whole summary is rated by so many people, each of whom then
    compares it with another one; nobody sees two sheets.

    By default it is written into pack_NAME in the study. Which summary is A, and which is rated,
    are drawn independently. WrongInput for a pack that is there already, for a folder that is not
    empty, and where there are not two summaries.
    """
    whole, files = planned.about.whole, planned.answers.files
    if len(whole) < 2:
        raise WrongInput("a pack needs two summaries of the whole; make more: delibsim summarise")
    if name in packs_of(files):
        raise WrongInput(f"there is a pack '{name}' already; name another: pack=NAME")
    folder = new_folder(to, files.folder.parents[1] / f"pack_{name}", online)
    rng = np.random.default_rng(seed_of(*planned.about.material.names, "pack", name))
    sheets: dict[str, dict[str, Any]] = {}
    for number, place in enumerate(rng.permutation(len(whole) * per_summary).tolist(), 1):
        rated = whole[place % len(whole)]
        others = [id for id in whole if id != rated]
        other = others[int(rng.integers(len(others)))]
        rated_is_a = bool(rng.integers(2))
        check = int(rng.integers(*CHECKS))
        shown = {"rated": rated, "other": other, "rated_is_a": rated_is_a, "check": check}
        sheets[f"S{number:04}"] = shown
    begun = files.annotations.is_file()
    asked_nobody = {**planned.task, "models": {}, "asks": []}
    files.settle(planned.task if begun else asked_nobody)
    plain = {"summaries": planned.task["summaries"]}
    pack = SummaryPack(planned.runs, name, sheets, answers=planned.answers, plain=plain)
    hand_out(pack, folder, online)
    hints = list(_hints(per_summary))
    lines = [
        f"{counted(len(sheets), 'sheet')}, a person each{'' if folder else ', on pages'}",
        "Reliability of the mean of a summary, by published ratings of people:",
        *hints,
    ]
    return HandedOut(name, folder, {"pack": name, "sheets": len(sheets), "hints": hints}, lines)


def plan_judging(runs: Runs, overrides: Sequence[str]) -> Plan:
    """The judgments that these settings describe; nobody is asked.

    WrongInput where there is nothing to be judged, for a ring that cannot be, and for other
    settings or summaries under a name that has begun.
    """
    settings, judges = judgment.judging_asked(overrides)
    summaries = Summaries.begun(runs, settings.summaries)
    made = [one for one in summaries.all() if one.missing is None]
    if not made:
        raise WrongInput(f"{study_named(runs.study)}: there is no summary to be judged")
    material = judgment.judged_material(runs, summaries, opinions_of(runs), made)
    notes = list(judges.ignored)
    k = judgment.ring(settings, made, notes)
    wording = checked_wording(settings.wording, check_verdict_texts)
    judgments = Judgments.of(runs, settings.name)
    refuse_imported(judgments.files.task(), f"judgments {judgments.name}")
    new = _task(runs, settings, judges, summaries.name, made, wording)
    task = merge(judgment.JUDGMENTS, judgments, plain(new))
    material = judgment.with_people(material, judgments)
    sittings = judgment.sittings_of(settings, material, made, k)
    if settings.people:
        sittings += judgment.of_people(judgments, material, sittings)
    writing = summaries.files.task()["models"]
    return judges.planned(
        judgment.JUDGMENTS,
        runs,
        judgments,
        settings,
        task=task,
        about=judgment.Judged(
            material=material,
            sittings=tuple(sittings),
            whole=judgment.whole_of(made),
            role=settings.role,
            wording=wording,
            reasks=task["reasks"],
        ),
        notes=tuple(notes),
        warnings=tuple(kin_among(judges.models, writing, ("judge", "summariser"))),
    )


def _task(
    runs: Runs,
    settings: judgment.JudgingSettings,
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
