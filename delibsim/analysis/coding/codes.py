"""The codes of one dimension as a table: a row a text, a column a coder, places of levels; and
whether the ensemble agrees with a person as far as another person does, within a bound.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.domain.annotation import Text
from delibsim.domain.coding import Code
from delibsim.domain.scheme import Dimension
from delibsim.domain.score import ENSEMBLE
from delibsim.measures.ensemble import RULES, Rule, ensemble_levels
from delibsim.measures.inference.means import equivalence, jackknifed
from delibsim.measures.reliability.bootstrap import verdicts
from delibsim.measures.reliability.clusters import ClusteredEstimate, over_clusters
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import (
    Estimate,
    influences,
    patterns_for,
    t_interval,
)
from delibsim.store.coded import DimensionSamples, SchemeCodes, samples_by_dimension

Array = NDArray[np.float64]
GROUP = "group"
"""The column by which texts are clustered unless another is named."""
TEXT, CLUSTER = "text", "cluster"
"""What intervals rest on: texts one by one, or clusters of them."""
Row = dict[str, Any]
AS_POOR = "as poor as people"
CURVE = tuple(round(0.01 * i, 2) for i in range(1, 41))
"""The bounds of the curve."""


@dataclass(frozen=True)
class Delta:
    """Delta with its standard error and degrees of freedom, over clusters of the `texts` texts or,
    where no two are of one cluster, over texts; `people` is the agreement of people.
    """

    ensemble: float
    people: Estimate
    value: float
    error: float
    df: int
    texts: int
    reason: str = ""

    @property
    def note(self) -> str:
        """Why there is no value, or none with an interval; "" where there are both."""
        if self.reason or self.error > 0:
            return self.reason
        if self.texts < 2:
            return "too_few_texts"
        return "one_cluster" if self.df < 1 else "no_variance"

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval by t; it is not cut, for a difference may exceed 1."""
        low, _ = t_interval(self.value, self.error, self.df, level)
        return low, 2 * self.value - low


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


def delta_of(own: DimensionCodes, anchor: str, others: Sequence[str], alone: bool = False) -> Delta:
    """Delta for one anchor; with several others the mean over them, on the texts all have. Texts
    are taken one by one if `alone`.
    """
    both = both_given(own, (ENSEMBLE, anchor, *others))
    clusters = None if alone else own.clusters_of(both)
    found, moved = [], []
    for coder in (ENSEMBLE, *others):
        columns = own.columns[coder][both], own.columns[anchor][both]
        estimate, by_unit = _by_unit(own, np.column_stack(columns), clusters)
        found.append(estimate)
        moved.append(by_unit)
    ensemble, *people = found
    reason = next((one.reason for one in found if one.reason), "")
    mean = people[0]
    if len(people) > 1:
        mean = _mean(people, np.mean(moved[1:], axis=0))
    value = float(np.mean([ensemble.value - one.value for one in people]))
    error = _standard_error(value, moved[0] - np.mean(moved[1:], axis=0), clusters is None)
    return Delta(ensemble.value, mean, value, error, mean.df, int(both.sum()), reason)


def _by_unit(own: DimensionCodes, table: Array, clusters: Any) -> tuple[Estimate, Array]:
    """A coefficient and what it is without each cluster or, without clusters, what each text adds
    to it (units,).
    """
    codes = codes_of(table, list(range(own.q)))
    found = over_clusters(codes, "ac", own.weighting, clusters)
    if isinstance(found, ClusteredEstimate):
        return found, found.others
    patterns = patterns_for(codes, ["ac"])
    moved = None if found.reason else influences(patterns, "ac", own.weighting)
    if moved is None:
        return found, np.full(len(table), np.nan)
    return found, moved[patterns.which]


def _mean(people: Sequence[Estimate], moved: Array) -> Estimate:
    """The mean of the agreement of several people, from what units do to it on average."""
    first = people[0]
    value = float(np.mean([one.value for one in people]))
    reason = next((one.reason for one in people if one.reason), "")
    clustered = isinstance(first, ClusteredEstimate)
    error = _standard_error(value, moved, not clustered)
    if clustered and value == 1 and (moved == 1).all():
        error = 0.0
    changed: dict[str, Any] = {"value": value, "error": error, "reason": reason}
    return replace(first, **changed, **({"others": moved} if clustered else {}))


def _standard_error(value: float, moved: Array, of_texts: bool) -> float:
    """From what each text adds to a value (texts,), or the value without each cluster."""
    if not of_texts:
        return jackknifed(value, moved).error
    n = len(moved)
    return float(np.sqrt((moved**2).sum() / (n * (n - 1)))) if n > 1 else float("nan")


def anchors_of(own: DimensionCodes) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every comparison: the anchor, what the others are called, who they are.

    With more than two people also the mean over the others, and each of them left out in turn.
    """
    for anchor, other in permutations(own.people, 2):
        yield anchor, other, (other,)
    if len(own.people) < 3:
        return
    for anchor in own.people:
        others = tuple(person for person in own.people if person != anchor)
        yield anchor, f"mean of {len(others)}", others
        if len(others) > 2:
            for left_out in others:
                kept = tuple(person for person in others if person != left_out)
                yield anchor, f"mean without {left_out}", kept


def verdict_of(low: float, high: float, bound: float, people_low: float, least: float) -> str:
    """What an interval of delta says, in the words of `verdicts`, joined by "and".

    Equivalence to people who hardly agree themselves is no praise, and is called so.
    """
    words = list(verdicts(low, high, bound))
    poor = not people_low >= least
    return " and ".join(AS_POOR if poor and word == "equivalent" else word for word in words)


def why_none(dimensions: Iterable[DimensionCodes]) -> str:
    """Why nothing can be said of equivalence."""
    return "one_coder" if any(own.models for own in dimensions) else "no_models"


def equivalences(own: DimensionCodes, bound: float, least: float) -> Iterator[Row]:
    """A row an anchor and other person."""
    for anchor, name, others in anchors_of(own) if own.models else ():
        found = delta_of(own, anchor, others)
        low, high = found.interval()
        low_90, high_90 = found.interval(0.90)
        people_low, people_high = found.people.interval()
        tested = found.error > 0
        published = delta_of(own, anchor, others, alone=True).interval()
        yield {
            "dimension": own.id,
            "anchor": anchor,
            "other": name,
            "texts": found.texts,
            "ensemble": found.ensemble,
            "people": found.people.value,
            "people_low": people_low,
            "people_high": people_high,
            "estimate": found.value,
            "se": found.error,
            "df": found.df,
            "low": low,
            "high": high,
            "low_90": low_90,
            "high_90": high_90,
            "p": _p(found.value, found.error, found.df, bound) if tested else np.nan,
            "published_low": published[0],
            "published_high": published[1],
            "bound": bound,
            "verdict": verdict_of(low, high, bound, people_low, least),
            "note": found.note,
        }


def _p(value: float, error: float, df: float, bound: float) -> float:
    return equivalence(value, error, df, bound).p


def curve(row: Mapping[str, Any]) -> Iterator[Row]:
    """What equivalence says at every bound, from a row of `equivalences`."""
    for bound in CURVE if row["se"] > 0 else ():
        p = _p(row["estimate"], row["se"], row["df"], bound)
        inside = bool(-bound < row["low"] and row["high"] < bound)
        yield {**row, "bound": bound, "inside": inside, "p": p}


def robustness(
    own: DimensionCodes, bound: float, worded: Mapping[str, Sequence[DimensionCodes]]
) -> Iterator[Row]:
    """Delta for ensembles that were made otherwise; `worded` are the codes in other wordings."""
    if own.samples is None or len(own.people) < 2:
        return
    variants = list(_variants(own, worded))
    for anchor, name, others in anchors_of(own):
        for variant, places in variants:
            found = delta_of(own.with_ensemble(places), anchor, others)
            low, high = found.interval()
            row: Row = {"dimension": own.id, "anchor": anchor, "other": name, "variant": variant}
            row |= {"changed": _changed(own.columns[ENSEMBLE], places), "estimate": found.value}
            row |= {"low": low, "high": high, "note": found.note}
            row |= {"point_inside": None, "inside": None}
            if not np.isnan(low + high):
                row["point_inside"] = bool(abs(found.value) < bound)
                row["inside"] = bool(-bound < low and high < bound)
            yield row


def _variants(
    own: DimensionCodes, worded: Mapping[str, Sequence[DimensionCodes]]
) -> Iterator[tuple[str, Array]]:
    """Ensembles as arrays of places (texts,), with what is done otherwise."""
    yield "as reported", own.columns[ENSEMBLE]
    if len(own.models) > 1:
        for model in own.models:
            yield f"without {model}", own.ensemble_of(without=model)
    if own.ordered and own.samples is not None:
        for rule in RULES:
            if rule != own.samples.rule:
                yield f"rule {rule}", own.ensemble_of(rule)
    for wording, codes in worded.items():
        for other in codes:
            if other.id == own.id:
                column = other.places[ENSEMBLE].reindex(own.places.index)
                yield f"wording {wording}", column.to_numpy(dtype=float)


def _changed(first: Array, second: Array) -> int:
    """How many texts have another level, of those that have one in both."""
    both = ~np.isnan(first) & ~np.isnan(second)
    return int((first[both] != second[both]).sum())
