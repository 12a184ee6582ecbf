"""Summarising opinions: one statement that stands for many, by language models or by copying.

A unit is a slot: a summariser, a size, a drawn subset, an order, a group. A summary may be given in
two steps, of parts and then of their summaries; that is another method than a summary, so whoever
gives it has a name of its own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

from delibsim.asking.nouns import Growth, Kind, Outcome, Plan, Question, Round, changed_since
from delibsim.asking.road import IMPORTED, missing_reason, refuse_imported
from delibsim.asking.texts import OpinionMaterial, material_of, parts_of, slots_of
from delibsim.domain.annotation import Annotation
from delibsim.domain.data import read_data
from delibsim.domain.reason import Reason, in_words
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import FLOORS, OpinionSet, Slot, Summary, flags_of
from delibsim.domain.text import counted, prevailing
from delibsim.domain.treatment import Wording, wording_kept
from delibsim.models.base import LanguageModel
from delibsim.models.clients.settings import context_window
from delibsim.models.retry import estimated_tokens
from delibsim.models.sentences import Copying
from delibsim.planning.load import Load, Range, tokens_of, tokens_of_prompt
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.prompts.verdict import summary_prompt, summary_reask
from delibsim.store.answers import Summaries
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of

JOINING = "summary_parts"
"""The wording in which the summaries of parts are summarised."""
SHORT, LONG = 133, 435
"""Words of a summary in 5 and 95 per cent of those that people rated."""


_TOLD = read_data("asked.yaml")["summary"]


@dataclass(frozen=True)
class Summarised:
    """What is put before summarisers: the opinions, the `slots` that are planned, and in which
    words.

    `parts` holds, by summariser, how many opinions a part has at most where the summary is given in
    two steps; the summaries of the parts are summarised in the words of `joining`. `floors` are the
    extractive summarisers.
    """

    material: OpinionMaterial
    slots: tuple[Slot, ...]
    wording: Wording
    reasks: int
    floors: tuple[str, ...]
    parts: Mapping[str, int] = field(default_factory=dict)
    joining: Wording | None = None

    def of(self, model: str) -> list[Slot]:
        """The summaries that a summariser is to give."""
        return [slot for slot in self.slots if slot.model == model]

    def parts_in(self, slot: Slot) -> list[list[str]]:
        """The ids of the opinions of each part of a summary; none where it is given in one step."""
        if slot.model not in self.parts:
            return []
        return parts_of(self.material.shown(slot), self.parts[slot.model])

    def prompt(self, slot: Slot, ids: Sequence[str], occasion: str) -> Prompt:
        """The prompt with these opinions."""
        opinions = [self.material.opinions[id] for id in ids]
        purpose = Purpose(slot.model, occasion)
        return summary_prompt(self.material.question, opinions, self.wording, purpose)

    def joined(self, slot: Slot, parts: Sequence[str]) -> Prompt:
        """The prompt of the second step, with these summaries of parts."""
        assert self.joining is not None
        purpose = Purpose(slot.model, slot.id)
        return summary_prompt(self.material.question, parts, self.joining, purpose)

    def prompts(self, slot: Slot, words: int) -> list[Prompt]:
        """Every prompt that a summary takes, before anything is asked; in that of a second step,
        texts of so many words stand for the summaries of the parts.
        """
        parts = self.parts_in(slot)
        if not parts:
            return [self.prompt(slot, self.material.shown(slot), slot.id)]
        own = [self.prompt(slot, ids, _part_name(slot, n)) for n, ids in enumerate(parts, 1)]
        return [*own, self.joined(slot, [" ".join(["tram"] * words)] * len(own))]


class SummaryKind(Kind):
    """The kind: summaries of summarisers."""

    noun = "summary"
    called = "the summaries"
    growth = Growth(
        fixed=("question", "groups", "embedding", "temperature", "reasks", "seed", "wording"),
        named=("models", "joining"),
        joined=("sizes", "parts"),
        larger=("draws", "runs"),
        kept=("study", "grouped", "embedded"),
    )

    def coders(self, plan: Plan) -> list[str]:
        """Language models, then the extractive summarisers."""
        return [*plan.models, *plan.about.floors]

    def voice(self, coder: str) -> LanguageModel | None:
        """An extractive summariser."""
        return Copying(coder) if coder in FLOORS else None

    def kept(self, runs: Runs, name: str) -> Plan:
        """The summaries of a task as they were kept."""
        summaries = Summaries.begun(runs, name)
        task, opinions = summaries.files.task(), opinions_of(runs)
        refuse_imported(task, f"summaries {summaries.name}")
        return self.as_kept(runs, summaries, summarised_in(task, opinions))

    def unfit(self, plan: Plan) -> list[str]:
        """The sizes that do not fit a model, and what to do."""
        found = list(too_long(plan))
        advice = "leave that size out, or that model, or summarise in parts: plan=chunks part=100"
        return [*found, advice] if found else []

    def lost(self, plan: Plan) -> list[str]:
        """The opinions that the study no longer holds as they were summarised."""
        now = {text.id: text.sha256 for text in opinions_of(plan.runs).texts}
        told = "the opinion was edited or removed since it was summarised"
        return changed_since(plan.task["texts"], now, told)

    def keys(self, plan: Plan, coder: str) -> Iterable[Slot]:
        """The slots of a summariser."""
        return plan.about.of(coder)

    def rounds(
        self, plan: Plan, coder: str, keys: set[Slot], done: Mapping[Any, Any], faults: list[str]
    ) -> Iterator[Round]:
        """The parts, where there are any; then the summaries whose parts are there."""
        about: Summarised = plan.about
        slots = [slot for slot in about.of(coder) if slot in keys]
        found: dict[Slot, dict[int, Annotation]] = {slot: {} for slot in slots}
        parts = {slot: about.parts_in(slot) for slot in slots}
        questions = []
        for slot in slots:
            for number, ids in enumerate(parts[slot], 1):
                questions.append(_part_question(about, slot, (number, ids), parts, found))
        if questions:
            yield Round(questions)
        yield Round(_questions(about, slots, parts, found, done))

    def longest(self, plan: Plan) -> Prompt:
        """One of the largest size."""
        largest = max(plan.about.slots, key=lambda slot: (not slot.group, slot.size))
        return max(plan.about.prompts(largest, LONG), key=lambda prompt: len(prompt.text))

    def load(self, plan: Plan, coder: str, waiting: set[Slot]) -> Load:
        """A call a summary, or one for each part and one for their summaries."""
        words = "tram " * SHORT, "tram " * LONG
        reply = Range(tokens_of(words[0]).low, tokens_of(words[1]).high)
        loads: dict[object, Load] = {}
        found = Load()
        for slot in plan.about.of(coder):
            if slot in waiting:
                place = slot.size, slot.draw, slot.group
                if place not in loads:  # the order of opinions changes next to nothing
                    loads[place] = _load(plan.about, slot, reply)
                found += loads[place]
        return found

    def named(self, answer: Summary) -> str:
        """Its slot."""
        return answer.id

    def said(self, answer: Summary) -> str:
        """How long it is, and the first digits of its SHA-256."""
        return (
            str(answer.missing) if answer.missing else f"{answer.words} words, {answer.sha256[:8]}"
        )

    def plain(self, plan: Plan, outcome: Outcome) -> dict[str, Any]:
        """What came of a command, as plain values."""
        found = summaries_of_plan(plan)
        return {
            "study": plan.runs.study,
            "name": plan.settings.name,
            "question": plan.about.material.question,
            "opinions": len(plan.about.material.opinions),
            **outcome.plain(),
            "summaries": summariser_rows(plan, found),
            "flags": flag_counts(plan, found),
            "notes": [*plan.notes, *self.notes(plan)],
            "faults": list(outcome.faults),
        }

    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """How many summaries there are, and which are missing and why."""
        opinions = counted(len(plan.about.material.opinions), "opinion")
        who = counted(len(plan.coders), "summariser")
        new = counted(outcome.new, "summary")
        calls = counted(outcome.asked, "call")
        lines = [f"{opinions}, {who}: {new} now, {outcome.before:,} before ({calls})"]
        for code, n in outcome.missing.items():
            lines.append(f"Missing    {counted(n, 'summary', 'summaries')}: {in_words(code)}")
        return lines

    def notes(self, plan: Plan) -> list[str]:
        """What must be known of the summaries before they are read."""
        notes = [_TOLD["rule_based"]]
        for model, flags in flag_counts(plan, summaries_of_plan(plan)).items():
            for flag, n in flags.items():
                told = f"(kept) {_TOLD['flags'][flag]} ({flag})"
                notes.append(f"{model}: {counted(n, 'summary', 'summaries')} {told}")
        return notes


SUMMARIES = SummaryKind()


def _part_question(
    about: Summarised,
    slot: Slot,
    part: tuple[int, Sequence[str]],
    parts: Mapping[Slot, Sequence[Sequence[str]]],
    found: Mapping[Slot, dict[int, Annotation]],
) -> Question:
    """The question about one part of a summary; a part that is missing makes the summary missing,
    once all parts are there.
    """
    number, ids = part
    unit = _part_name(slot, number)

    def seed(prompt: Prompt) -> int:
        own = (unit, about.wording.id, prompt.purpose.attempt)
        return seed_of(*about.material.names, "summary part", *own)

    def read(reply: Annotation) -> list[Summary]:
        found[slot][number] = reply
        whole = len(found[slot]) == len(parts[slot])
        reason = _why_missing(found[slot]) if whole else None
        return [] if reason is None else [Summary(slot, missing=reason)]

    return Question(
        unit=unit,
        prompt=partial(about.prompt, slot, ids, unit),
        seed=seed,
        again=partial(summary_reask, about.wording),
        reasks=about.reasks,
        keys=(slot,),
        read=read,
    )


def _questions(
    about: Summarised,
    slots: Sequence[Slot],
    parts: Mapping[Slot, Sequence[Sequence[str]]],
    found: Mapping[Slot, Mapping[int, Annotation]],
    done: Mapping[Any, Any],
) -> Iterator[Question]:
    """The questions about summaries whose parts are all there."""
    for slot in slots:
        if slot in done or len(found[slot]) < len(parts[slot]):
            continue
        texts = [found[slot][number].value for number in sorted(found[slot])]
        if texts:
            yield _question(about, slot, partial(about.joined, slot, texts))
        else:
            shown = about.material.shown(slot)
            yield _question(about, slot, partial(about.prompt, slot, shown, slot.id))


def _question(about: Summarised, slot: Slot, prompt: Any) -> Question:
    """What a summariser is asked for a summary."""

    def seed(prompt: Prompt) -> int:
        own = (slot.model, slot.size, slot.draw, slot.run, slot.group, about.wording.id)
        return seed_of(*about.material.names, "summary", *own, prompt.purpose.attempt)

    def read(reply: Annotation) -> list[Summary]:
        return [Summary(slot, reply.value or "", missing_reason(reply))]

    again = partial(summary_reask, about.wording)
    return Question(slot.id, prompt, seed, again, about.reasks, (slot,), read)


def _why_missing(parts: Mapping[int, Annotation]) -> Reason | None:
    """Why there is no summary of the parts: the first that is missing; None where none is."""
    for number in sorted(parts):
        why = missing_reason(parts[number])
        if why is not None:
            detail = f"part {number} of {len(parts)}"
            return Reason(why.code, f"{detail}: {why.detail}" if why.detail else detail)
    return None


def _part_name(slot: Slot, number: int) -> str:
    """What a part of a summary is called, counted from 1."""
    return f"{slot.id} part {number}"


def _load(about: Summarised, slot: Slot, reply: Range) -> Load:
    """What one summary takes."""
    short, long = about.prompts(slot, SHORT), about.prompts(slot, LONG)
    found = Load()
    for low, high in zip(short, long, strict=True):
        tokens = Range(tokens_of_prompt(low).low, tokens_of_prompt(high).high)
        found += Load(0, 1, tokens, Range(), reply, 0)
    return found + Load(1, 0, Range(), Range(), Range(), min(len(long), 2))


def summarised_in(task: Mapping[str, Any], opinions: OpinionSet) -> Summarised:
    """What summarisers of a task as it was kept are given: all summaries that are planned in it;
    none where they were imported.
    """
    material, joining = material_of(task, opinions), task.get("joining")
    models = [*task["models"], *task["floors"]]
    asked = material, models, task["sizes"], task["draws"], task["runs"]
    slots = () if IMPORTED in task else slots_of(*asked)
    return Summarised(
        material=material,
        slots=tuple(slots),
        wording=wording_kept(task["wording"]),
        reasks=task["reasks"],
        floors=tuple(task["floors"]),
        parts=task.get("parts", {}),
        joining=joining and wording_kept(joining),
    )


def too_long(plan: Plan) -> Iterator[str]:
    """The sizes that do not fit a model, in sentences."""
    about: Summarised = plan.about
    for model, settings in plan.models.items():
        window = context_window(str(settings.get("model", "")))
        told = set()
        for slot in about.of(model):
            if window is None or slot.group or slot.size in told:
                continue
            prompts = about.prompts(slot, LONG)
            tokens = max(estimated_tokens(prompt.messages) for prompt in prompts)
            tokens += int(settings.get("max_tokens") or 0)
            if tokens > window:
                told.add(slot.size)
                yield (
                    f"size {slot.size:,} does not fit {model}: up to {tokens:,} tokens, and it"
                    f" takes {window:,}"
                )


def ratings_of(plan: Plan) -> int:
    """How many ratings one judge gives all planned summaries, each beside every opinion that it is
    written from.
    """
    counted_of: dict[object, int] = {}
    found = 0
    for slot in plan.about.slots:
        place = (slot.size, slot.draw, slot.group)
        if place not in counted_of:
            counted_of[place] = len(plan.about.material.shown(slot))
        found += counted_of[place]
    return found


def summaries_of_plan(planned: Plan) -> list[Summary]:
    """The summaries that there are of those that a command was to give."""
    wanted = set(planned.about.slots)
    return [one for one in planned.answers.all() if one.slot in wanted]


def summariser_rows(planned: Plan, found: Sequence[Summary]) -> list[dict[str, Any]]:
    """By summariser and size: summaries planned, made, missing, and the median of their words."""
    rows = []
    for model in planned.coders:
        for size in sorted({slot.size for slot in planned.about.of(model)}):
            planned_here = [slot for slot in planned.about.of(model) if slot.size == size]
            own = [one for one in found if (one.slot.model, one.slot.size) == (model, size)]
            made = [one for one in own if one.missing is None]
            row: dict[str, Any] = {"model": model, "size": size, "planned": len(planned_here)}
            row |= {"made": len(made), "missing": len(own) - len(made)}
            row["words"] = median(one.words for one in made) if made else None
            rows.append(row)
    return rows


def flag_counts(planned: Plan, found: Sequence[Summary]) -> dict[str, dict[str, int]]:
    """How many summaries of each summariser have which flag."""
    spoken = prevailing(planned.about.material.opinions.values())
    counts: dict[str, Counter[str]] = {}
    for one in found:
        if one.missing is None:
            own = counts.setdefault(one.slot.model, Counter())
            own.update(flags_of(one.text, spoken))
    return {model: dict(own) for model, own in counts.items() if own}
