"""Coding texts by a scheme: a language model writes its steps for a dimension, then gives samples
of the level of each text, blind to who wrote it.

A unit is a text on one dimension, under one wording; a sample is one of several answers about it.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any

from delibsim.asking.kinds.code_settings import CodingSettings, coding_asked
from delibsim.asking.nouns import Growth, Kind, Plan, Question, Round
from delibsim.asking.road import answered, merge, refuse_if
from delibsim.asking.settings import CodersAsked
from delibsim.asking.texts import (
    IMPORTED,
    checked_wording,
    kin_among,
    plain,
    shown_texts,
    speaking_in,
    study_texts,
    unit_in,
)
from delibsim.domain.annotation import Annotation, Text
from delibsim.domain.coding import Sample, Steps
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.language import word_count, wordless
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording
from delibsim.models.limits import Limits
from delibsim.planning.load import MESSAGE, Load, tokens_of_prompt
from delibsim.planning.tokens import Range, tokens_of
from delibsim.prompts.coding import (
    check_coder_texts,
    code_form,
    coding_prompt,
    coding_reask,
    longest_coding_prompt,
    steps_prompt,
)
from delibsim.prompts.forms.steps import StepsForm
from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.store.codec import differences
from delibsim.store.codings import Codings, scheme_to_plain
from delibsim.store.instruments.library import Library
from delibsim.store.packs import packs_of
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
class Uncoded:
    """A text that is not put before coders on a dimension, and why."""

    text: str
    dimension: str
    reason: Reason


@dataclass(frozen=True)
class Coded:
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

    name = "code"
    noun = "sample"
    called = "the coding"
    growth = Growth(
        fixed=("unit", "context", "rules", "temperature", "same", "seed", "reasks"),
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
        for text in study_texts(runs, by, task["context"], []):
            if task["texts"].get(text.id) == text.sha256:
                texts.append(text)
        dimensions = [scheme.dimension(id) for id in task["dimensions"]]
        about = coded_in(runs, task, scheme, dimensions, texts)
        return Plan(
            kind=self,
            runs=runs,
            answers=codings,
            settings=None,
            models=task["models"],
            limits=Limits(),
            addresses={},
            task=task,
            about=about,
        )

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
        about: Coded = plan.about
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
        self, about: Coded, coder: str, keys: set[Key], done: Mapping[Any, Any]
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


CODES = CodeKind()


@lru_cache(maxsize=256)
def _alike(setting: str) -> Range:
    """Tokens of what is alike in the prompts of all texts, counted once."""
    return tokens_of(setting)


def steps_question(
    about: Coded, dimension: Dimension, wording: Wording, coder: str, faults: list[str]
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
    about: Coded, dimension: Dimension, wording: Wording, steps: Written, key: Key
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


def _asked_of(about: Coded, place: tuple[str, str, str, str], waiting: set[Key]) -> int:
    """How many samples of a text are asked for: with same=once those of its equals are not."""
    text, *rest = place
    n = 0
    for index in range(1, about.samples + 1):
        n += any((id, *rest, index) in waiting for id in about.alike(text))
    return n


def occurrences_of(texts: Iterable[Text]) -> dict[str, int]:
    """How many texts before it, in this order, are word for word like each text, by id."""
    seen: Counter[str] = Counter()
    found = {}
    for text in texts:
        digest = text.sha256
        found[text.id] = seen[digest]
        seen[digest] += 1
    return found


def why_not_coded(text: str, scheme: Scheme, dimension: Dimension) -> Reason | None:
    """Why a text is not put before coders on a dimension; None if it is."""
    if not text.strip():
        return Reason("empty")
    if wordless(text):
        return Reason("wordless")
    words = word_count(text)
    least, most = max(scheme.least_words, dimension.least_words), scheme.most_words
    if words < least:
        return Reason("too_short", f"{words} words, and the scheme codes from {least} on")
    if most is not None and words > most:
        return Reason("too_long", f"{words} words, and the scheme codes up to {most}")
    return None


def dimensions_for(scheme: Scheme, text: Text) -> list[str]:
    """The ids of the dimensions on which a text is coded; none for one that is not coded at all."""
    found = []
    for dimension in scheme.dimensions:
        if why_not_coded(text.text, scheme, dimension) is None:
            found.append(dimension.id)
    return found


def plan_coding(runs: Runs, overrides: Sequence[str], home: Any = None) -> Plan:
    """The coding that these settings describe, of the texts of a study; nobody is asked.

    Raises WrongInput for a study without texts, for settings that cannot be, for another scheme,
    other settings or edited texts under a coding that has begun.
    """
    settings, coders = coding_asked(overrides)
    if not settings.scheme:
        raise WrongInput("name the scheme: scheme=dqi3 (delibsim code schemes lists them)")
    scheme = Library(home).scheme(settings.scheme)
    dimensions = chosen_dimensions(scheme, settings)
    wordings = {name: wording_named(name) for name in settings.wordings}
    faults: list[str] = []
    texts = study_texts(runs, settings.by, settings.context, faults)
    codings = Codings.of(runs, scheme.id)
    new = _task(runs, settings, coders, scheme, dimensions, wordings, texts)
    uncoded = uncoded_of(scheme, dimensions, texts)
    new["not_coded"] = {f"{one.text} {one.dimension}": str(one.reason) for one in uncoded}
    task = _merged(codings, plain(new))
    about = replace(
        coded_in(runs, task, scheme, dimensions, texts),
        wordings=wordings,
        samples=settings.samples,
    )
    return Plan(
        kind=CODES,
        runs=runs,
        answers=codings,
        settings=settings,
        models=coders.models,
        limits=coders.plan.limits,
        addresses=coders.plan.addresses,
        task=task,
        about=about,
        notes=(*coders.ignored, *fewer_samples(task)),
        warnings=tuple(kin_among(coders.models, speaking_in([runs]), ("coder", "speaker"))),
        faults=tuple(faults),
    )


def coded_in(
    runs: Runs,
    task: Mapping[str, Any],
    scheme: Scheme,
    dimensions: Sequence[Dimension],
    texts: Sequence[Text],
) -> Coded:
    """What coders are given, by what the study keeps. Occurrences are counted in the order in which
    the study came to know the texts, so that texts which are added change no seed.
    """
    shown, by_id = shown_texts(runs, texts), {text.id: text for text in texts}
    occurrences = occurrences_of(by_id[id] for id in task["texts"] if id in by_id)
    return Coded(
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


def tried(planned: Plan, n: int) -> Plan:
    """The same coding of n texts, drawn by the study's seed among those that are coded at all.

    With same=once all texts that are alike are drawn together.
    """
    about: Coded = planned.about
    found: list[str] = []
    for dimension in about.dimensions:
        found += [text.id for text in about.coded(dimension)]
    ids = [id for id in dict.fromkeys(found) if about.alike(id)]
    drawn = random.Random(seed_of("try", *about.names)).sample(sorted(ids), min(n, len(ids)))
    chosen: set[str] = set()
    for id in drawn:
        chosen |= set(about.alike(id))
    return replace(planned, about=replace(about, chosen=frozenset(chosen)))


def chosen_dimensions(scheme: Scheme, settings: CodingSettings) -> tuple[Dimension, ...]:
    """The dimensions that are coded; WrongInput for one that the scheme does not have, and for a
    rule that names cannot follow.
    """
    known = [dimension.id for dimension in scheme.dimensions]
    for name in settings.dimensions:
        if name not in known:
            raise unknown(f"dimension of scheme {scheme.id}", name, known)
    wanted = settings.dimensions or tuple(known)
    found = tuple(dimension for dimension in scheme.dimensions if dimension.id in wanted)
    named = [dimension.id for dimension in found if dimension.scale == "nominal"]
    if named and settings.rules not in ("", "mode"):
        raise WrongInput(
            f"rules={settings.rules} needs levels in order, and those of {', '.join(named)} are"
            " names: take rules=mode, leave rules= out, or choose other dimensions=[...]"
        )
    return found


def wording_named(name: str) -> Wording:
    """A wording for coders; WrongInput if there is none, or if it lacks a text."""
    return checked_wording(name, check_coder_texts)


def uncoded_of(
    scheme: Scheme, dimensions: Sequence[Dimension], texts: Sequence[Text]
) -> tuple[Uncoded, ...]:
    """The texts that are not put before coders, by dimension."""
    found = []
    for dimension in dimensions:
        for text in texts:
            reason = why_not_coded(text.text, scheme, dimension)
            if reason is not None:
                found.append(Uncoded(text.id, dimension.id, reason))
    return tuple(found)


def twins_of(
    shown: Mapping[str, Text], occurrences: Mapping[str, int], texts: Sequence[Text]
) -> dict[str, tuple[str, ...]]:
    """By the id of the first of the texts that coders see alike, context included: all of them; by
    the id of any other: nothing.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for text in sorted(texts, key=lambda text: occurrences[text.id]):
        seen = shown[text.id]
        groups.setdefault((seen.text, seen.context), []).append(text.id)
    found: dict[str, tuple[str, ...]] = {}
    for ids in groups.values():
        found |= dict.fromkeys(ids[1:], ())
        found[ids[0]] = tuple(ids)
    return found


def _task(
    runs: Runs,
    settings: CodingSettings,
    coders: CodersAsked,
    scheme: Scheme,
    dimensions: Sequence[Dimension],
    wordings: Mapping[str, Wording],
    texts: Sequence[Text],
) -> dict[str, Any]:
    """What a study keeps of a coding: everything that decides on what is asked."""
    session = coders.plan.session
    return {
        "study": runs.study,
        "seed": session.seed,
        "scheme": scheme_to_plain(scheme),
        "scheme_sha256": scheme.sha256,
        "unit": unit_in(runs, settings.by),
        "context": settings.context,
        "samples": settings.samples,
        "samples_by_model": dict.fromkeys(coders.models, settings.samples),
        "rules": settings.rules or "lower",
        "temperature": settings.temperature,
        "same": settings.same,
        "reasks": session.procedure.reasks,
        "dimensions": [dimension.id for dimension in dimensions],
        "models": {name: dict(own) for name, own in coders.models.items()},
        "wordings": {name: dict(own.texts) for name, own in wordings.items()},
        "texts": {text.id: text.sha256 for text in texts},
    }


def _merged(codings: Codings, new: Mapping[str, Any]) -> dict[str, Any]:
    """What a study keeps of a coding after this command; a command that failed at once binds nobody
    to its settings. WrongInput too where people code, or were handed packs, by another scheme, unit
    or context.
    """
    for pack, kept in packs_of(codings.files).items():
        _refuse_other(kept, new, f"pack {pack} was handed to people")
    _refuse_other(codings.of_people(), new, "people have coded")
    files = codings.files
    if not (files.steps.is_file() or files.people.is_file() or answered(files)):
        return dict(new)
    begun = files.task()
    if not begun:
        return dict(new)
    where = f"{study_named(begun['study'])}, scheme {codings.name}"
    refuse_if(
        differences(begun["scheme"], new["scheme"]) or _other_sha256(begun, new),
        f"{where}: the scheme is not the one by which texts were coded",
        "put the scheme back as it was, or give the changed one an id of its own",
    )
    return merge(begun, new, CODES.growth, where, CODES.noun)


def _other_sha256(begun: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return differences(begun["scheme_sha256"], new["scheme_sha256"], "scheme_sha256")


def _refuse_other(plain: Mapping[str, Any], new: Mapping[str, Any], told: str) -> None:
    """WrongInput where what people were given differs from what models would be asked."""
    changed = []
    for name in ("scheme_sha256", "unit", "context"):
        changed += differences(plain.get(name, new[name]), new[name], name)
    refuse_if(
        changed,
        f"{told} with another scheme, unit or context",
        "ask models as people were asked, or code in another study",
    )


def fewer_samples(task: Mapping[str, Any]) -> list[str]:
    """What is to be said of coders that were asked for fewer samples than others."""
    each: Mapping[str, int] = task.get("samples_by_model", {})
    most = max(each.values(), default=0)
    few = [coder for coder, n in each.items() if n < most]
    if not few:
        return []
    named = ", ".join(f"{coder} for {each[coder]:,}" for coder in few)
    return [
        f"others were asked for {counted(most, 'sample')} of a text, and {named}: levels of models"
        f" with fewer samples are less stable; samples={most} asks all of them alike"
    ]
