"""What is to be coded by whom: the texts of a study, the scheme, and the coders."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from delibsim.annotation.coding.tasks import Material, occurrences_of, why_not_coded
from delibsim.conduct.asking.texts import checked_wording, plain, shown_texts, study_texts, unit_in
from delibsim.conduct.coding.begun import kept_task, merged, refuse_other_packs
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.treatment import Wording
from delibsim.planning.coding import CodingAsked, CodingSettings, coding_asked
from delibsim.planning.compose import Plan
from delibsim.prompts.coding import check_coder_texts
from delibsim.store.codings import Codings, scheme_to_plain
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class Uncoded:
    """A text that is not put before coders on a dimension, and why."""

    text: str
    dimension: str
    reason: Reason


@dataclass(frozen=True)
class CodingPlan:
    """Who is to code which texts of a study on which dimensions, with the limits of the command.

    `models` are the settings of the coders by name, `faults` names runs that cannot be read,
    `chosen` are the ids of the texts that are coded now (all, or a sample of them), `ignored` says
    which settings had no effect. `task` is what the study keeps of it.
    """

    runs: Runs
    settings: CodingSettings
    scheme: Scheme
    dimensions: tuple[Dimension, ...]
    texts: tuple[Text, ...]
    material: Material
    models: Mapping[str, Mapping[str, Any]]
    wordings: Mapping[str, Wording]
    plan: Plan
    task: Mapping[str, Any]
    uncoded: tuple[Uncoded, ...]
    chosen: frozenset[str]
    faults: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    twins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def codings(self) -> Codings:
        """The codes of the study by the scheme."""
        return Codings.of(self.runs, self.scheme.id)

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

    def keys_of(self, coder: str) -> Iterator[tuple[str, str, str, str, int]]:
        """The keys of all samples that a coder is to give, as `Sample.key` has them."""
        for dimension in self.dimensions:
            for wording in self.wordings:
                for text in self.coded(dimension):
                    for index in range(1, self.settings.samples + 1):
                        yield text.id, dimension.id, coder, wording, index


def plan_coding(runs: Runs, overrides: Sequence[str], home: Any = None) -> CodingPlan:
    """The coding that these settings describe, of the texts of a study; nobody is asked.

    Raises WrongInput for a study without texts, for settings that cannot be, for another scheme,
    other settings or edited texts under a coding that has begun.
    """
    asked = coding_asked(overrides)
    if not asked.settings.scheme:
        raise WrongInput("name the scheme: scheme=dqi3 (delibsim code schemes lists them)")
    scheme = Library(home).scheme(asked.settings.scheme)
    dimensions = chosen_dimensions(scheme, asked.settings)
    wordings = {name: wording_named(name) for name in asked.settings.wordings}
    faults: list[str] = []
    texts = study_texts(runs, asked.settings.by, asked.settings.context, faults)
    uncoded = uncoded_of(scheme, dimensions, texts)
    begun = kept_task(Codings.of(runs, scheme.id))
    new = task_of(runs, asked, scheme, dimensions, wordings, texts)
    new["not_coded"] = {f"{one.text} {one.dimension}": str(one.reason) for one in uncoded}
    refuse_other_packs(Codings.of(runs, scheme.id), new)
    task = merged(begun, plain(new), runs)
    material = material_of(runs, task, texts)
    return CodingPlan(
        runs=runs,
        settings=asked.settings,
        scheme=scheme,
        dimensions=dimensions,
        texts=tuple(texts),
        material=material,
        models=asked.models,
        wordings=wordings,
        plan=asked.plan,
        task=task,
        uncoded=uncoded,
        chosen=frozenset(text.id for text in texts),
        faults=tuple(faults),
        ignored=asked.ignored,
        twins=twins_of(material, texts) if asked.settings.same == "once" else {},
    )


def tried(planned: CodingPlan, n: int) -> CodingPlan:
    """The same coding of n texts, drawn by the study's seed among those that are coded at all.

    With same=once all texts that are alike are drawn together.
    """
    found: list[str] = []
    for dimension in planned.dimensions:
        found += [text.id for text in planned.coded(dimension)]
    ids = [id for id in dict.fromkeys(found) if planned.alike(id)]
    seed = seed_of("try", planned.material.study, planned.material.seed)
    drawn = random.Random(seed).sample(sorted(ids), min(n, len(ids)))
    chosen: set[str] = set()
    for id in drawn:
        chosen |= set(planned.alike(id))
    return replace(planned, chosen=frozenset(chosen))


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


def material_of(runs: Runs, task: Mapping[str, Any], texts: Sequence[Text]) -> Material:
    """The texts as coders see them; occurrences are counted in the order in which the study came to
    know the texts, so that texts which are added change no seed.
    """
    shown = shown_texts(runs, texts)
    by_id = {text.id: text for text in texts}
    in_order = [by_id[id] for id in task["texts"] if id in by_id]
    return Material(task["study"], task["seed"], shown, occurrences_of(in_order))


def twins_of(material: Material, texts: Sequence[Text]) -> dict[str, tuple[str, ...]]:
    """By the id of the first of the texts that coders see alike, context included: all of them; by
    the id of any other: nothing.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for text in sorted(texts, key=lambda text: material.occurrences[text.id]):
        shown = material.shown[text.id]
        groups.setdefault((shown.text, shown.context), []).append(text.id)
    found: dict[str, tuple[str, ...]] = {}
    for ids in groups.values():
        found |= dict.fromkeys(ids[1:], ())
        found[ids[0]] = tuple(ids)
    return found


def task_of(
    runs: Runs,
    asked: CodingAsked,
    scheme: Scheme,
    dimensions: Sequence[Dimension],
    wordings: Mapping[str, Wording],
    texts: Sequence[Text],
) -> dict[str, Any]:
    """What a study keeps of a coding: everything that decides on what is asked."""
    settings, session = asked.settings, asked.plan.session
    return {
        "study": runs.study,
        "seed": session.seed,
        "scheme": scheme_to_plain(scheme),
        "scheme_sha256": scheme.sha256,
        "unit": unit_in(runs, settings.by),
        "context": settings.context,
        "samples": settings.samples,
        "samples_by_model": dict.fromkeys(asked.models, settings.samples),
        "rules": settings.rules or "lower",
        "temperature": settings.temperature,
        "same": settings.same,
        "reasks": session.procedure.reasks,
        "dimensions": [dimension.id for dimension in dimensions],
        "models": {name: dict(own) for name, own in asked.models.items()},
        "wordings": {name: dict(own.texts) for name, own in wordings.items()},
        "texts": {text.id: text.sha256 for text in texts},
    }
