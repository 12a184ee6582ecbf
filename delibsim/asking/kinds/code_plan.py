"""Planning a coding from settings (scheme, dimensions, texts, coders), and what came of asking."""

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.asking.kinds.code import CODES, CodingMaterial, Key, coded_in
from delibsim.asking.kinds.coding import occurrences_of, uncoded_of
from delibsim.asking.nouns import Plan, Question
from delibsim.asking.record import ask_in_turn
from delibsim.asking.road import kept_answers, merge, refuse_if
from delibsim.asking.settings import (
    CodersAsked,
    KindSettings,
    called,
    coders_asked,
    roles,
    setting,
    settings_in,
)
from delibsim.asking.texts import (
    CITIZENS,
    checked_wording,
    kin_among,
    of_roles,
    plain,
    speaking_in,
    study_texts,
    unit_in,
)
from delibsim.domain.annotation import Annotation, Text
from delibsim.domain.coding import Sample, Steps
from delibsim.domain.cost import OUTCOMES
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording
from delibsim.models.base import LanguageModel
from delibsim.models.clients.settings import price_in
from delibsim.models.limits import Limits
from delibsim.models.replay import exchanges_in
from delibsim.planning.config import names, one_name, one_of, temperature, whole
from delibsim.prompts.coding import check_coder_texts
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Codings, scheme_to_plain
from delibsim.store.codec import differences
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs

RULES = ("lower", "mean", "mode", "pooled")
"""How samples become one level; all are computed, and one of them is the score."""
UNITS = ("statement", "speaker")
SAME = ("each", "once")
"""Whether texts that are word for word alike are asked each, or once for all."""
MOST_SAMPLES = 1000
CODERS = called("code")


@dataclass(frozen=True)
class CodingSettings(KindSettings):
    """What is set for a coding beside models and limits.

    `temperature` None: none is sent. `max_tokens` bounds every reply. `dimensions` () stands for
    all of the scheme. `rules` "" stands for the lower median, and the mode where levels are names.
    """

    scheme: str = setting("", one_name)
    samples: int = setting(5, whole(1, MOST_SAMPLES))
    temperature: float | None = setting(0.7, temperature)
    max_tokens: int = setting(400, whole(1, 1_000_000))
    rules: str = setting("", one_of(RULES))
    by: str = setting("statement", one_of(UNITS))
    context: int = setting(0, whole(0, 1_000))
    roles: tuple[str, ...] = setting(CITIZENS, roles)
    same: str = setting("each", one_of(SAME))
    dimensions: tuple[str, ...] = setting((), names)
    wordings: tuple[str, ...] = setting(("coding",), names)


def coding_asked(overrides: Sequence[str]) -> tuple[CodingSettings, CodersAsked]:
    """What settings ask for, and the coders; WrongInput for a key or value that cannot be."""
    settings, others = settings_in(CodingSettings, overrides, "setting of a coding")
    return settings, coders_asked(others, settings.temperature, settings.max_tokens, CODERS)


def plan_coding(runs: Runs, overrides: Sequence[str], home: Any = None) -> Plan:
    """The coding that these settings describe, of the texts of a study; nobody is asked.

    Raises WrongInput for a study without texts, for settings that cannot be, for another scheme,
    other settings or edited texts under a coding that has begun.
    """
    settings, coders = coding_asked(overrides)
    if not settings.scheme:
        raise WrongInput("name the scheme: scheme=dqi3 (delibsim list schemes lists them)")
    scheme = Library(home).scheme(settings.scheme)
    dimensions = chosen_dimensions(scheme, settings)
    wordings = {name: wording_named(name) for name in settings.wordings}
    faults: list[str] = []
    texts = study_texts(runs, settings.by, settings.context, faults, roles=settings.roles)
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
    return coders.planned(
        CODES,
        runs,
        codings,
        settings,
        task=task,
        about=about,
        notes=(*coders.ignored, *fewer_samples(task)),
        warnings=tuple(kin_among(coders.models, speaking_in([runs]), ("coder", "speaker"))),
        faults=tuple(faults),
    )


def tried(planned: Plan, n: int) -> Plan:
    """The same coding of n texts, drawn by the study's seed among those that are coded at all.

    With same=once all texts that are alike are drawn together.
    """
    about: CodingMaterial = planned.about
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
        **of_roles(settings.roles),
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
    begun = codings.files.task() if codings.bound else {}
    if begun:
        other = [begun["scheme_sha256"], new["scheme_sha256"], "scheme_sha256"]
        refuse_if(
            differences(begun["scheme"], new["scheme"]) or differences(*other),
            f"{study_named(begun['study'])}, scheme {codings.name}: the scheme is not the one by"
            " which texts were coded",
            "put the scheme back as it was, or give the changed one an id of its own",
        )
    return merge(CODES, codings, new)


def _refuse_other(plain: Mapping[str, Any], new: Mapping[str, Any], told: str) -> None:
    """WrongInput where what people were given differs from what models would be asked."""
    changed = []
    for name in ("scheme_sha256", "unit", "context", "roles"):
        changed += differences(plain.get(name, new.get(name)), new.get(name), name)
    refuse_if(
        changed,
        f"{told} with another scheme, unit, context or roles",
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


@dataclass(frozen=True)
class Measured:
    """What the calls of one coder used on average, and what those to come will take by that.

    None where the provider did not say.
    """

    coder: str
    calls: int
    to_come: int
    input_tokens: float | None
    cached_tokens: float | None
    output_tokens: float | None
    usd: float | None
    usd_to_come: float | None


def measured(planned: Plan) -> list[Measured]:
    """What the calls that are on record used, by coder, and what all calls to come will take if
    they use as much; `planned` is the coding of all texts.
    """
    done = kept_answers(planned)
    files = planned.answers.files
    exchanges, _ = exchanges_in(files.read(files.exchanges)[0])
    found = []
    for coder, settings in planned.models.items():
        used = []
        for exchange in exchanges:
            own = exchange.model == coder and not exchange.purpose.occasion.startswith("steps for ")
            if own and exchange.completion.status in OUTCOMES:
                used.append(exchange.completion.usage)
        to_come = sum(key not in done for key in CODES.keys(planned, coder))
        usd = _mean([use.cost_usd for use in used])
        if price_in(settings).source == "free":
            usd = 0.0
        found.append(
            Measured(
                coder=coder,
                calls=len(used),
                to_come=to_come,
                input_tokens=_mean([use.input_tokens for use in used]),
                cached_tokens=_mean([use.cached_tokens for use in used]),
                output_tokens=_mean([use.output_tokens for use in used]),
                usd=usd,
                usd_to_come=None if usd is None else usd * to_come,
            )
        )
    return found


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the numbers that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


REASKS = 3
NOWHERE = Runs(Path(), "texts")
"""Nothing is recorded."""


async def code(
    texts: Sequence[Text | str],
    scheme: Scheme | str,
    voices: Mapping[str, LanguageModel],
    samples: int = 5,
    seed: int = 0,
    wording: str = "coding",
    at_once: int = 8,
) -> list[Sample]:
    """Samples of the level of each text on each dimension of a scheme, by every language model.

    `scheme` is a scheme or the id of one; a text that is a str has its place in the sequence, from
    1, as id. A sample that a model refused, or that could not be read or asked for, has no level
    and a reason. Texts that the scheme does not code have no samples. Nothing is recorded: for
    that, and for limits and a budget, use `delibsim code ask`. WrongInput for two texts of one id.
    """
    applied = Library().scheme(scheme) if isinstance(scheme, str) else scheme
    named = []
    for number, text in enumerate(texts, 1):
        named.append(Text(str(number), text) if isinstance(text, str) else text)
    shown = {text.id: text for text in named}
    if len(shown) < len(named):
        raise WrongInput("two texts have one id; give every text an id of its own")
    sentences = wording_named(wording)
    about = CodingMaterial(
        names=("", seed),
        scheme=applied,
        dimensions=applied.dimensions,
        wordings={sentences.id: sentences},
        texts=tuple(named),
        shown=shown,
        occurrences=occurrences_of(named),
        chosen=frozenset(shown),
        reasks=REASKS,
        samples=samples,
        uncoded=uncoded_of(applied, applied.dimensions, named),
    )
    found = await asyncio.gather(*(_by(about, one, name, at_once) for name, one in voices.items()))
    return [sample for own in found for sample in own]


async def _by(
    about: CodingMaterial, voice: LanguageModel, coder: str, at_once: int
) -> list[Sample]:
    """The samples of one coder, in the order of dimensions, texts and samples."""
    plan = Plan(
        kind=CODES,
        runs=NOWHERE,
        answers=Codings.of(NOWHERE, about.scheme.id),
        settings=None,
        models={},
        limits=Limits(),
        addresses={},
        task={},
        about=about,
    )
    keys = list(CODES.keys(plan, coder))
    done: dict[Any, Any] = {}

    def keep(question: Question, reply: Annotation) -> None:
        done.update({answer.key: answer for answer in question.read(reply)})

    why = ""
    for one in CODES.rounds(plan, coder, set(keys), done, []):
        why = why or await ask_in_turn(one.questions, voice, keep, at_once)
    return [done.get(key) or _missing(about, key, done, why) for key in keys]


def _missing(about: CodingMaterial, key: Key, done: Mapping[Any, Any], why: str) -> Sample:
    """A sample that was not given: the coder wrote no steps, or was asked nothing more."""
    text, dimension, coder, wording, index = key
    steps = done.get(Steps(dimension, coder, wording).key)
    reason = Reason("unavailable", why)
    if steps is not None and steps.missing:
        reason = Reason("no_steps", str(steps.missing))
    own = (text, about.by_id[text].sha256, dimension, coder, index)
    return Sample(*own, None, "", reason, wording)
