"""The codes of one dimension as a table: a row a text, a column a coder, places of levels."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.domain.annotation import Text
from delibsim.domain.coding import Code
from delibsim.domain.scheme import Dimension
from delibsim.domain.score import ENSEMBLE
from delibsim.measures.ensemble import Rule, ensemble_levels
from delibsim.store.coded import DimensionSamples, SchemeCodes, samples_by_dimension

Array = NDArray[np.float64]
GROUP = "group"
"""The column by which texts are clustered unless another is named."""
TEXT, CLUSTER = "text", "cluster"
"""What intervals rest on: texts one by one, or clusters of them."""
Row = dict[str, Any]


LEAST = 0.60
"""The coefficient of people that the lower end of its interval must reach."""
BOUND = 0.10
"""The bound of equivalence that the published study declared."""


@dataclass(frozen=True)
class Draw:
    """A pack or draw by which people came to read texts.

    `chances` are those of its texts to be drawn, `every` those of all texts that could have been,
    as far as that is known; `random` are the texts that were drawn at random, `design` is how;
    `by_doubt` says whether the others were drawn because the ensemble is in doubt.
    """

    name: str
    chances: Mapping[str, float]
    random: frozenset[str]
    by_doubt: bool
    design: str = "random"
    every: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, pack: Mapping[str, Any]) -> "Draw":
        """A draw from the file of its pack."""
        chances = {text: float(chance) for text, chance in pack.get("texts", {}).items()}
        by_doubt = pack.get("kind", "review") == "review"
        at_random, design = frozenset(pack.get("random", ())), pack.get("design", "random")
        every = {text: float(chance) for text, chance in pack.get("chances", {}).items()}
        return cls(name, chances, at_random, by_doubt, design, every)


@dataclass(frozen=True, eq=False)
class DimensionCodes:
    """The codes of one dimension.

    `places` holds the places of levels among those declared, NaN where there is none: a row a text,
    a column a coder, the ensemble first, then models, then people. `packs` names for a text and a
    person the pack by which it was read. `samples` are None where no model was asked. `groups` name
    for a text the session, or whatever else, that it shares with others.
    """

    dimension: Dimension
    places: pd.DataFrame
    models: tuple[str, ...]
    people: tuple[str, ...]
    samples: DimensionSamples | None
    packs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the dimension."""
        return self.dimension.id

    @property
    def ordered(self) -> bool:
        """Whether its levels have an order."""
        return self.dimension.scale != "nominal"

    @property
    def weighting(self) -> str:
        """The weights of the coefficient: none where levels have no order."""
        return "linear" if self.ordered else "identity"

    @property
    def q(self) -> int:
        """How many levels are declared."""
        return len(self.dimension.values)

    @property
    def coders(self) -> tuple[str, ...]:
        """All coders in the order of columns."""
        return tuple(map(str, self.places.columns))

    @cached_property
    def columns(self) -> dict[str, Array]:
        """The places of each coder, (texts,)."""
        return {coder: self.places[coder].to_numpy(dtype=float) for coder in self.coders}

    @cached_property
    def texts(self) -> list[str]:
        """The ids of the texts, in the order of rows."""
        return list(map(str, self.places.index))

    def clusters_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """The number of the cluster of each of these texts, a text without a group being one of its
        own; None where no two are of one cluster.
        """
        texts = [text for text, own in zip(self.texts, chosen, strict=True) if own]
        numbers: dict[tuple[bool, str], int] = {}
        found = []
        for text in texts:
            group = self.groups.get(text, "")
            found.append(numbers.setdefault((group != "", group or text), len(numbers)))
        return np.array(found, dtype=np.int64) if len(numbers) < len(texts) else None

    def kind(self, coder: str) -> str:
        """What a coder is: "ensemble", "model" or "human"."""
        if coder in self.people:
            return "human"
        return "ensemble" if coder == ENSEMBLE else "model"

    def level(self, place: float) -> Any:
        """The level at a place, None at NaN."""
        return None if np.isnan(place) else self.dimension.values[int(place)]

    def with_ensemble(self, places: Array) -> "DimensionCodes":
        """The same codes under another ensemble, whose places (texts,) are in the order of rows."""
        return replace(self, places=self.places.assign(**{ENSEMBLE: places}))

    def ensemble_of(self, rule: Rule | None = None, without: str = "") -> Array:
        """The places (texts,) of another ensemble: by another rule, or without one model."""
        own = self.samples
        if own is None:
            return np.full(len(self.places), np.nan)
        kept = [j for j, model in enumerate(own.models) if model != without]
        found = ensemble_levels(
            own.counts[:, kept], own.levels[:, kept], rule or own.rule, own.values, own.ordered
        )
        return pd.Series(found, index=list(own.texts)).reindex(self.places.index).to_numpy(float)


@dataclass(frozen=True, eq=False)
class CodedStudy:
    """Everything that a report on the codes of a study by one scheme rests on.

    `dimensions` count all codes; in `fair`, by which agreement is computed, codes of people on
    texts that were drawn by doubt are left out. `texts` are those of the study by id. Of the texts
    that were `edited` since they were coded no code counts.
    """

    study: str
    coded: SchemeCodes
    texts: Mapping[str, Text]
    dimensions: Sequence[DimensionCodes]
    draws: Mapping[str, Draw] = field(default_factory=dict)
    edited: Sequence[str] = ()

    @cached_property
    def fair(self) -> list[DimensionCodes]:
        """The dimensions without codes of people on texts that were drawn by doubt."""
        return [_without_doubt(own, self.draws) for own in self.dimensions]

    @property
    def by_doubt(self) -> bool:
        """Whether people read texts that were drawn by doubt."""
        pairs = zip(self.dimensions, self.fair, strict=True)
        return any(own is not fair for own, fair in pairs)

    @property
    def people(self) -> list[str]:
        """The people who coded, in the order in which they came."""
        return list(dict.fromkeys(person for own in self.dimensions for person in own.people))

    def clustered(self, column: str) -> "CodedStudy":
        """The same, texts with one value of a column being of one cluster."""
        groups = self.fact(column)
        return replace(self, dimensions=[replace(own, groups=groups) for own in self.dimensions])

    def fact(self, column: str) -> dict[str, str]:
        """The value of a column by text, for the texts that have one."""
        found = {}
        for id, text in self.texts.items():
            value = text.group if column == GROUP else text.facts.get(column, "")
            if value != "":
                found[id] = value
        return found

    def columns(self) -> list[str]:
        """The columns that texts have beside their words."""
        names: dict[str, None] = {}
        for text in self.texts.values():
            names |= dict.fromkeys(text.facts)
            if text.group:
                names.setdefault(GROUP)
        return list(names)


def coded_study(
    study: str,
    coded: SchemeCodes,
    texts: Iterable[Text],
    packs: Mapping[str, Mapping[str, Any]] | None = None,
) -> CodedStudy:
    """The codes of a study by one scheme, dimension by dimension; training rounds are left out."""
    known = {text.id: text for text in texts}
    edited = _edited(coded, known)
    by_dimension: dict[str, list[Code]] = {}
    for code in coded.people:
        if not code.training and code.text not in edited:
            by_dimension.setdefault(code.dimension, []).append(code)
    found = []
    for dimension in coded.scheme.dimensions:
        samples = coded.by_dimension.get(dimension.id)
        own = by_dimension.get(dimension.id, [])
        if samples is not None or own:
            found.append(_codes(dimension, samples, own, edited))
    counted = {name: pack for name, pack in (packs or {}).items() if pack.get("kind") != "training"}
    draws = {name: Draw.of(name, pack) for name, pack in counted.items()}
    return CodedStudy(study, coded, known, found, draws, sorted(edited)).clustered(GROUP)


def _edited(coded: SchemeCodes, texts: Mapping[str, Text]) -> set[str]:
    """The texts that are others than those that were coded, by SHA-256."""
    codes = [(code.text, code.text_sha256) for code in coded.people]
    found = set()
    for id, digest in (*coded.asked.texts.items(), *codes):
        if digest and id in texts and texts[id].sha256 != digest:
            found.add(id)
    return found


def in_wording(study: CodedStudy, wording: str) -> CodedStudy:
    """The same where models were asked in this wording; people read one."""
    own = study.coded
    counted_in = samples_by_dimension(own.scheme, own.samples, own.asked, wording)
    found = []
    for dimension in study.dimensions:
        samples = counted_in.get(dimension.id)
        if samples is not None:
            columns = {person: dimension.places[person] for person in dimension.people}
            table = pd.DataFrame({**_of_models(samples), **columns}, index=dimension.places.index)
            found.append(replace(dimension, places=table, models=samples.models, samples=samples))
    return replace(study, coded=replace(own, by_dimension=counted_in), dimensions=found)


def _of_models(samples: DimensionSamples) -> dict[str, Any]:
    """The places of the ensemble and of each model, by text."""
    index = list(samples.texts)
    columns: dict[str, Any] = {ENSEMBLE: pd.Series(samples.ensemble(), index=index)}
    for j, model in enumerate(samples.models):
        columns[model] = pd.Series(samples.levels[:, j], index=index)
    return columns


def _codes(
    dimension: Dimension,
    samples: DimensionSamples | None,
    people: Sequence[Code],
    edited: Collection[str],
) -> DimensionCodes:
    texts = dict.fromkeys(samples.texts if samples else ())
    texts |= dict.fromkeys(code.text for code in people)
    for id in edited:
        texts.pop(id, None)
    columns = {} if samples is None else _of_models(samples)
    places = {value: i for i, value in enumerate(dimension.values)}
    given: dict[str, dict[str, float]] = {}
    packs = {}
    for code in people:
        own = given.setdefault(code.coder, {})
        packs[code.text, code.coder] = code.pack
        if code.level is not None:
            own[code.text] = float(places[code.level])
    for person, own in given.items():
        columns[person] = pd.Series(own, dtype=float)
    table = pd.DataFrame(columns, index=list(texts), dtype=float)
    models = samples.models if samples else ()
    return DimensionCodes(dimension, table, models, tuple(given), samples, packs)


def _without_doubt(own: DimensionCodes, draws: Mapping[str, Draw]) -> DimensionCodes:
    """The codes without those of people on texts that were drawn by doubt; `own` if none were."""
    left_out: dict[str, list[str]] = {}
    for (text, person), pack in own.packs.items():
        draw = draws.get(pack)
        if draw is not None and draw.by_doubt and text not in draw.random:
            left_out.setdefault(person, []).append(text)
    if not left_out:
        return own
    table = own.places.copy()
    for person, texts in left_out.items():
        table.loc[texts, person] = np.nan
    return replace(own, places=table)


def both_given(own: DimensionCodes, coders: Collection[str]) -> NDArray[np.bool_]:
    """Which texts have a code of every one of these coders."""
    given = [~np.isnan(own.columns[coder]) for coder in coders]
    return np.logical_and.reduce(given)
