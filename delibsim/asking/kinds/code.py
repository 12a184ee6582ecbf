"""Coding texts by a scheme: a language model writes its steps for a dimension, then gives samples
of the level of each text, blind to who wrote it.

A unit is a text on one dimension, under one wording; a sample is one of several answers about it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any

from delibsim.asking.kinds.coding import Uncoded, occurrences_of, twins_of, uncoded_of
from delibsim.asking.nouns import Growth, Kind, Outcome, Plan, Question, Round
from delibsim.asking.texts import IMPORTED, roles_in, shown_texts, study_texts
from delibsim.domain.annotation import Annotation, Text
from delibsim.domain.coding import Sample, Steps
from delibsim.domain.reason import Reason, in_words
from delibsim.domain.scheme import Dimension, Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, word_count
from delibsim.domain.treatment import Wording
from delibsim.planning.load import MESSAGE, Load, Range, tokens_of, tokens_of_prompt
from delibsim.prompts.coding import (
    code_form,
    coding_prompt,
    coding_reask,
    longest_coding_prompt,
    steps_prompt,
)
from delibsim.prompts.forms.words import StepsForm
from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.store.answers import Codings
from delibsim.store.runs import Runs

OF_STEPS = {"temperature": 0.0, "max_tokens": 1000}
"""How a coder is asked for its steps, whatever the samples are asked for with."""
LONGEST_CHECKED = 10_000
"""Words of the longest text that a preflight looks at; what a longer one exceeds is its own fault,
and is told when it is asked.
"""
RATIONALE = (25, 110)
"""Words of two short sentences and of four long ones: what a rationale may have."""
Key = tuple[str, str, str, str, int]
"""A sample: text, dimension, coder, wording, number."""
Written = tuple[str, ...]
"""The steps by which a dimension is applied."""


@dataclass(frozen=True)
class CodingMaterial:
    """What is put before coders: the texts word for word, and `shown` by id as coders see them.

    `names` are what seeds begin with; `occurrences` counts, from 0, texts that are word for word
    alike, so that each has seeds of its own. `chosen` are the ids of the texts that are coded now,
    `uncoded` those that are not put before coders on a dimension. With same=once one answer is for
    all `twins` of a text.
    """

    names: tuple[str, int]
    scheme: Scheme
    dimensions: tuple[Dimension, ...]
    wordings: Mapping[str, Wording]
    texts: tuple[Text, ...]
    shown: Mapping[str, Text]
    occurrences: Mapping[str, int]
    chosen: frozenset[str]
    reasks: int
    samples: int
    uncoded: tuple[Uncoded, ...] = ()
    twins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> dict[str, Text]:
        """The texts by id, word for word."""
        return {text.id: text for text in self.texts}

    def coded(self, dimension: Dimension) -> Iterator[Text]:
        """The chosen texts that are put before coders on a dimension."""
        left_out = {one.text for one in self.uncoded if one.dimension == dimension.id}
        for text in self.texts:
            if text.id in self.chosen and text.id not in left_out:
                yield text

    def alike(self, text: str) -> tuple[str, ...]:
        """The ids of the texts that one answer is for: this one, and with same=once its equals."""
        return self.twins.get(text, (text,))

    def seed(self, dimension: Dimension, coder: str, wording: Wording, *names: str | int) -> int:
        """A seed of the study, for this scheme, dimension, coder and wording."""
        own = (self.scheme.id, dimension.id, coder, wording.id)
        return seed_of(*self.names, *names, *own)

    def places(self) -> Iterator[tuple[Dimension, Wording]]:
        """Every dimension under every wording."""
        for dimension in self.dimensions:
            for wording in self.wordings.values():
                yield dimension, wording


class CodeKind(Kind):
    """The kind: samples of coders about texts, and the steps that they wrote before."""

    noun = "sample"
    called = "the coding"
    growth = Growth(
        fixed=("unit", "context", "roles", "rules", "temperature", "same", "seed", "reasks"),
        named=("models", "wordings"),
        joined=("texts", "not_coded", "dimensions"),
        larger=("samples", "samples_by_model"),
        come=True,
        go=True,
    )

    def kept(self, runs: Runs, name: str) -> Plan:
        """The coding by a scheme as it was kept."""
        codings = Codings.begun(runs, name)
        task, scheme = codings.files.task(), codings.scheme()
        by = "statement" if task["unit"] == IMPORTED else task["unit"]
        texts = []
        for text in study_texts(runs, by, task["context"], [], roles=roles_in(task)):
            if task["texts"].get(text.id) == text.sha256:
                texts.append(text)
        dimensions = [scheme.dimension(id) for id in task["dimensions"]]
        about = coded_in(runs, task, scheme, dimensions, texts)
        return self.as_kept(runs, codings, about)

    def differs(self, plan: Plan, answers: Sequence[Any]) -> list[str]:
        """The texts that the study no longer holds as they were coded."""
        lost = [id for id in plan.task["texts"] if id not in plan.about.by_id]
        return [f"{id}: the text was edited or removed since it was coded" for id in lost]

    def keys(self, plan: Plan, coder: str) -> Iterator[Key]:
        """One sample a dimension, wording, text and number."""
        about = plan.about
        for dimension, wording in about.places():
            for text in about.coded(dimension):
                for index in range(1, about.samples + 1):
                    yield text.id, dimension.id, coder, wording.id, index

    def rounds(
        self, plan: Plan, coder: str, keys: set[Key], done: Mapping[Any, Any], faults: list[str]
    ) -> Iterator[Round]:
        """The steps of the coder for each dimension, as far as there are none; then the samples."""
        about: CodingMaterial = plan.about
        wanted = {key[1:4:2] for key in keys}
        asked = []
        for dimension, wording in about.places():
            written = done.get(Steps(dimension.id, coder, wording.id).key)
            known = dimension.steps or (written is not None and written.steps)
            if (dimension.id, wording.id) in wanted and not known:
                asked.append(steps_question(about, dimension, wording, coder, faults))
        yield Round(asked, OF_STEPS)
        yield Round(self._samples(about, coder, keys, done))

    def _samples(
        self, about: CodingMaterial, coder: str, keys: set[Key], done: Mapping[Any, Any]
    ) -> Iterator[Question]:
        """The samples that are to be asked of a coder, in order."""
        for dimension, wording in about.places():
            written = done.get(Steps(dimension.id, coder, wording.id).key)
            steps = dimension.steps or (written.steps if written else ())
            if not steps:
                continue
            for text in about.coded(dimension):
                for index in range(1, about.samples + 1):
                    key = text.id, dimension.id, coder, wording.id, index
                    if any((id, *key[1:]) in keys for id in about.alike(text.id)):
                        yield sample_question(about, dimension, wording, steps, key)

    def longest(self, plan: Plan) -> Prompt:
        """That of the longest text, those beyond `LONGEST_CHECKED` words left out."""
        about = plan.about
        usual = [one for one in about.shown.values() if word_count(one.text) <= LONGEST_CHECKED]
        among = usual or about.shown.values()
        longest = max(among, key=lambda text: len(text.text) + sum(map(len, text.context)))
        lower, prompts = about.scheme.lower_in_doubt, []
        for wording in about.wordings.values():
            prompts.append(longest_coding_prompt(about.dimensions, lower, wording, longest))
        return max(prompts, key=lambda prompt: len(prompt.text))

    def load(self, plan: Plan, coder: str, waiting: set[Key]) -> Load:
        """What is alike for all texts is cacheable from its second use on, and so is all of a
        prompt from the second sample of its text on.
        """
        about, found = plan.about, Load()
        begun = {(line["dimension"], line["model"]) for line in plan.answers.steps()}
        usual = tuple(StepsForm().read(StepsForm().example("")))
        for dimension, wording in about.places():
            short, long = (tokens_of(code_form(dimension).example("", n)) for n in RATIONALE)
            reply, first = Range(short.low, long.high), True
            steps = dimension.steps or usual
            for text in about.coded(dimension):
                place = (text.id, dimension.id, coder, wording.id)
                n = _asked_of(about, place, waiting)
                if not n:
                    continue
                prompt = sample_question(about, dimension, wording, steps, (*place, 1)).prompt()
                system, user = prompt.messages
                alike = _alike(system.content)
                whole = alike + tokens_of(user.content) + Range(0, 3 * MESSAGE)
                prefix = whole.times(n - 1) + (Range() if first else alike)
                found += Load(0, n, whole.times(n), prefix, reply.times(n), 2)
                first = False
            if not (first or dimension.steps or (dimension.id, coder) in begun):
                asked = steps_question(about, dimension, wording, coder, []).prompt()
                out = tokens_of(asked.reply.example(""))
                found += Load(0, 1, tokens_of_prompt(asked), Range(), out, 1)
        return replace(found, sessions=len(waiting))

    def named(self, answer: Sample | Steps) -> str:
        """What it is about, by whom, in which words."""
        if isinstance(answer, Steps):
            return f"steps of {answer.model} for {answer.dimension}, {answer.wording}"
        place = f"{answer.text}, {answer.dimension}, {answer.model}"
        return f"{place}, {answer.wording}, sample {answer.index}"

    def said(self, answer: Sample | Steps) -> str:
        """The level, or how many steps."""
        if answer.missing:
            return str(answer.missing)
        if isinstance(answer, Steps):
            return counted(len(answer.steps), "step")
        return f"level {answer.level}"

    def plain(self, plan: Plan, outcome: Outcome) -> dict[str, Any]:
        """What came of a command, as plain values."""
        return {
            "study": plan.runs.study,
            "scheme": plan.about.scheme.id,
            "dimensions": [dimension.id for dimension in plan.about.dimensions],
            "coders": list(plan.models),
            "wordings": list(plan.about.wordings),
            "texts": len(plan.about.chosen),
            "samples_a_text": plan.settings.samples,
            **outcome.plain(),
            "not_coded": [
                {"text": one.text, "dimension": one.dimension, "reason": str(one.reason)}
                for one in plan.about.uncoded
                if one.text in plan.about.chosen
            ],
            "faults": [*outcome.faults, *plan.faults],
            "steps": plan.answers.steps(),
        }

    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """How many samples there are, which have no level and why; which texts are not coded."""
        texts = counted(len(plan.about.chosen), "text")
        coders = counted(len(plan.models), "coder")
        dimensions = counted(len(plan.about.dimensions), "dimension")
        lines = outcome.told("sample", f"{texts}, {dimensions}, {coders}", "No level")
        return [*lines, *uncoded_told(plan)]


CODES = CodeKind()


@lru_cache(maxsize=256)
def _alike(setting: str) -> Range:
    """Tokens of what is alike in the prompts of all texts, counted once."""
    return tokens_of(setting)


def steps_question(
    about: CodingMaterial, dimension: Dimension, wording: Wording, coder: str, faults: list[str]
) -> Question:
    """What a coder is asked for before it gives samples on a dimension; why there are no steps is
    added to `faults`.
    """

    def seed(prompt: Prompt) -> int:
        return about.seed(dimension, coder, wording, "steps", prompt.purpose.attempt)

    def read(reply: Annotation) -> list[Steps]:
        reason = reply.reason if reply.value is None else None
        if reason is not None:
            faults.append(f"{coder}, {dimension.id}: no code without steps: {reason}")
        return [Steps(dimension.id, coder, wording.id, tuple(reply.value or ()), reason)]

    lower = about.scheme.lower_in_doubt
    return Question(
        unit=dimension.id,
        prompt=partial(steps_prompt, dimension, lower, wording, coder),
        seed=seed,
        again=partial(coding_reask, wording),
        reasks=about.reasks,
        keys=(Steps(dimension.id, coder, wording.id).key,),
        read=read,
    )


def sample_question(
    about: CodingMaterial, dimension: Dimension, wording: Wording, steps: Written, key: Key
) -> Question:
    """What a coder is asked for one sample of the level of a text; with same=once the answer is
    for all texts that are alike.
    """
    id, _, coder, _, index = key
    text, ids = about.by_id[id], about.alike(id)

    def prompt() -> Prompt:
        purpose = Purpose(coder, f"{id} {dimension.id} {wording.id} {index}")
        lower = about.scheme.lower_in_doubt
        return coding_prompt(dimension, lower, wording, steps, about.shown[id], purpose)

    def seed(asked: Prompt) -> int:
        own = (text.sha256, about.occurrences[id], index, asked.purpose.attempt)
        return about.seed(dimension, coder, wording, *own)

    def read(reply: Annotation) -> list[Sample]:
        own = (dimension.id, coder, wording.id, index)
        return [_sample(about.by_id[one], own, reply) for one in ids if one in about.chosen]

    return Question(
        unit=id,
        prompt=prompt,
        seed=seed,
        again=partial(coding_reask, wording),
        reasks=about.reasks,
        keys=tuple((one, *key[1:]) for one in ids),
        read=read,
    )


def _sample(text: Text, of: tuple[str, str, str, int], reply: Annotation) -> Sample:
    """The sample that a reply is, for a text that was shown."""
    dimension, coder, wording, index = of
    coded, level, rationale = reply.value, None, ""
    if coded is None:
        missing = Reason(reply.reason.code, whole_characters(reply.reason.detail))
    else:
        level, rationale = coded.level, coded.rationale or ""
        missing = Reason("not_applicable") if level is None else None
    return Sample(
        text=text.id,
        text_sha256=text.sha256,
        dimension=dimension,
        model=coder,
        index=index,
        level=level,
        rationale=rationale,
        missing=missing,
        wording=wording,
    )


def _asked_of(about: CodingMaterial, place: tuple[str, str, str, str], waiting: set[Key]) -> int:
    """How many samples of a text are asked for: with same=once those of its equals are not."""
    text, *rest = place
    n = 0
    for index in range(1, about.samples + 1):
        n += any((id, *rest, index) in waiting for id in about.alike(text))
    return n


def coded_in(
    runs: Runs,
    task: Mapping[str, Any],
    scheme: Scheme,
    dimensions: Sequence[Dimension],
    texts: Sequence[Text],
) -> CodingMaterial:
    """What coders are given, by what the study keeps. Occurrences are counted in the order in which
    the study came to know the texts, so that texts which are added change no seed.
    """
    shown, by_id = shown_texts(runs, texts), {text.id: text for text in texts}
    occurrences = occurrences_of(by_id[id] for id in task["texts"] if id in by_id)
    return CodingMaterial(
        names=(task["study"], task["seed"]),
        scheme=scheme,
        dimensions=tuple(dimensions),
        wordings={name: Wording(name, own) for name, own in task["wordings"].items()},
        texts=tuple(texts),
        shown=shown,
        occurrences=occurrences,
        chosen=frozenset(by_id),
        reasks=task["reasks"],
        samples=task["samples"],
        uncoded=uncoded_of(scheme, dimensions, texts),
        twins=twins_of(shown, occurrences, texts) if task["same"] == "once" else {},
    )


def uncoded_told(planned: Plan) -> list[str]:
    """How many texts are not put before coders on each dimension, by reason."""
    counts: dict[str, Counter[str]] = {}
    for one in planned.about.uncoded:
        if one.text in planned.about.chosen:
            counts.setdefault(one.reason.code, Counter())[one.dimension] += 1
    lines = []
    for code, by_dimension in counts.items():
        each = ", ".join(f"{n} on {dimension}" for dimension, n in by_dimension.items())
        lines.append(f"Not coded  {each}: {in_words(code)}")
    return lines
