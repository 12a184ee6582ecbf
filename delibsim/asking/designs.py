"""Designs of comparisons in pairs: which sheets there are, and how further ones are chosen: by a
draw, or by what is known so far, the next batch of a dimension or why there is none. And of
judgments: which summaries are put beside which opinions.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Batch, Orders, Pair, Rule, Scheme, Sheet, Stop, Vote
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import Sitting
from delibsim.measures import designs
from delibsim.measures.bradley_terry.adaptive import (
    expected_r,
    expected_r_by_probe,
    lengthened,
    mean_error,
    next_pairs,
    with_prior,
)
from delibsim.measures.bradley_terry.counts import Counts, counted
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.strengths import apart
from delibsim.measures.bradley_terry.uncertainty import Uncertainty, uncertainty
from delibsim.measures.designs import directed_ring, ring, shown

Names = tuple[str | int, ...]
"""What seeds begin with: the name of the study and its seed."""


def groups_of(texts: Iterable[Text]) -> dict[str, list[str]]:
    """The ids of texts by their group, in order."""
    found: dict[str, list[str]] = {}
    for text in texts:
        found.setdefault(text.group, []).append(text.id)
    return found


@dataclass(frozen=True)
class PairDesign:
    """How the pairs of every group are chosen: the scheme, comparisons a text (`ring`, `random`),
    the size of the groups of `groups`, the order of the texts, and the pairs of a `list`.
    """

    scheme: Scheme = "random"
    per_text: int = 10
    size: int = 8
    order: Orders = "one"
    listed: tuple[Pair, ...] = ()

    def design(self, n: int) -> tuple[Scheme, int]:
        """The design of a group of n texts, with its neighbours, its size or its pairs: all pairs
        where so many comparisons a text need them.

        >>> PairDesign("random", per_text=10).design(30)
        ('random', 150)
        >>> PairDesign("ring", per_text=10).design(8)
        ('all', 0)
        """
        if self.scheme in ("all", "list"):
            return self.scheme, 0
        if self.scheme == "groups":
            return ("all", 0) if n < self.size else ("groups", self.size)
        if self.per_text >= n - 1:
            return "all", 0
        if self.scheme == "ring":
            return "ring", self.per_text
        return "random", max(math.ceil(n * self.per_text / 2), n - 1)


def sheets_of(
    groups: Mapping[str, Sequence[str]], drawing: PairDesign, layers: Sequence[int], names: Names
) -> list[Sheet]:
    """The sheets of a design within each group, in which no pair stands twice.

    `layers` are the numbers of comparisons a text that were asked for one after the other, the
    least first: each adds pairs, and pairs that were there keep their order. With order `one` every
    text is shown first in half of the sheets of a layer, give or take one.
    """
    found = []
    for group, ids in groups.items():
        known: set[tuple[int, int]] = set()
        for layer in layers if len(ids) > 1 else ():
            pairs = []
            for pair in _pairs(group, ids, replace(drawing, per_text=layer), names):
                if pair not in known:
                    pairs.append(pair)
            known |= set(pairs)
            if not pairs:
                continue
            shown = designs.shown(pairs, len(ids), seed_of(*names, "order", group, layer))
            for first, second in shown.tolist():
                sheet = Sheet(ids[first], ids[second], group)
                found += [sheet, sheet.turned] if drawing.order == "both" else [sheet]
    return found


def _pairs(
    group: str, ids: Sequence[str], drawing: PairDesign, names: Names
) -> list[tuple[int, int]]:
    """The pairs of one group by number, each with the lower first."""
    if drawing.scheme == "list":
        numbers = {id: number for number, id in enumerate(ids)}
        own = [pair for pair in drawing.listed if pair.group == group]
        listed = [sorted((numbers[pair.one], numbers[pair.other])) for pair in own]
        return [(low, high) for low, high in listed]
    n = len(ids)
    scheme, number = drawing.design(n)
    seed = seed_of(*names, "pairs", scheme, group)
    if scheme == "groups":
        found = designs.groups(n, number, seed)
    elif scheme == "ring":
        found = designs.ring(n, number, seed)
    elif scheme == "random":
        found = designs.random_pairs(n, number, seed)
    else:
        found = designs.all_pairs(n)
    return [(low, high) for low, high in found.tolist()]


OUTCOME = {"a": 1, "tie": 0, "b": -1}
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Chain:
    """How the batches of one dimension are chosen.

    `groups` are the ids of texts by group, `names` what seeds begin with, `size` the pairs of a
    batch, `probe` the share of them that is drawn at random, `per_text` the comparisons a text at
    most, on average, and `until` the limits of the rules that end it. With the ring of the first
    batch what is drawn is the random part of the votes, from which errors and intervals come; there
    is none where `probe` is 0.
    """

    dimension: str
    groups: Mapping[str, Sequence[str]]
    names: Names
    size: int
    probe: float
    order: Orders
    per_text: int
    until: Mapping[Rule, float] = field(default_factory=dict)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The texts that have another to be compared with, in order."""
        return tuple(id for ids in self.groups.values() if len(ids) > 1 for id in ids)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The place of every text in `ids`."""
        return {id: place for place, id in enumerate(self.ids)}

    @cached_property
    def group(self) -> Places:
        """The number of the group of every text in `ids` (n,)."""
        sizes = [len(ids) for ids in self.groups.values() if len(ids) > 1]
        return np.repeat(np.arange(len(sizes)), sizes)

    def seed(self, what: str, number: int) -> int:
        """A seed of a batch, by its number."""
        return seed_of(*self.names, "adaptive", what, self.dimension, number)

    @cached_property
    def every(self) -> int:
        """All pairs of all groups."""
        return sum(n * (n - 1) // 2 for n in np.bincount(self.group).tolist())

    @cached_property
    def most(self) -> int:
        """The pairs of all groups at most: `per_text` a text on average, but a ring at least."""
        total = 0
        for n in np.bincount(self.group).tolist():
            total += min(max(math.ceil(n * self.per_text / 2), n), n * (n - 1) // 2)
        return total

    def sheets(self, pairs: Places, number: int) -> dict[frozenset[str], list[Sheet]]:
        """The sheets of pairs (p, 2) by their two texts: in one order each, balanced over texts, or
        in both.
        """
        names = [name for name, ids in self.groups.items() if len(ids) > 1]
        found: dict[frozenset[str], list[Sheet]] = {}
        for first, second in shown(pairs, len(self.ids), self.seed("order", number)).tolist():
            sheet = Sheet(self.ids[first], self.ids[second], names[self.group[first]])
            both = [sheet, sheet.turned] if self.order == "both" else [sheet]
            found[frozenset((sheet.a, sheet.b))] = both
        return found


def chain_of(task: Mapping[str, Any], texts: Sequence[Text], dimension: str) -> Chain:
    """How the batches of a dimension are chosen, from what a study keeps of a comparison.

    A batch has at most so many pairs that no text needs to stand in two of them.
    """
    design, groups = task["design"], groups_of(texts)
    several = sum(len(ids) for ids in groups.values() if len(ids) > 1)
    return Chain(
        dimension=dimension,
        groups=groups,
        names=(task["study"], task["seed"]),
        size=min(design["batch"], max(several // 2, 1)),
        probe=design["probe"],
        order=design["order"],
        per_text=task["per_text"][-1],
        until=task["until"],
    )


def next_step(chain: Chain, batches: Sequence[Batch], votes: Sequence[Vote]) -> Batch | Stop:
    """The batch after these, which follows from all `votes` on the dimension, or why there is none.

    The same batches, votes and seed give the same.
    """
    if not batches:
        rings = _rings(chain)
        return _batch(chain, (rings, rings[:0]), Batch(chain.dimension, 1, 0, (), size=len(rings)))
    known = Known(chain, batches, votes)
    if not known.counts.votes.sum():
        return Stop(chain.dimension, len(batches), len(votes), "no_votes")
    for rule, limit in chain.until.items():
        if rule != "usd" and known.holds(rule, limit):
            return known.stop(rule, limit)
    judged = known.pairs
    if len(judged) == chain.every:
        return known.stop("all", None)
    size = min(chain.size, chain.most - len(judged))
    if size < 1:
        return known.stop("per_text", chain.per_text)
    number = len(batches) + 1
    seed = chain.seed("pairs", number)
    chosen, probes = next_pairs(known.found, judged, size, seed, chain.probe, chain.group)
    batch = Batch(chain.dimension, number, len(votes), (), size=size)
    return _batch(chain, (probes, chosen), batch)


def further_sheets(chain: Chain, judged: Iterable[Pair]) -> list[Sheet]:
    """Sheets drawn among all that are not judged yet, until there are as many as there can be."""
    low, high = np.triu_indices(len(chain.ids), 1)
    free = chain.group[low] == chain.group[high]
    places = _places(chain, judged)
    closed = set(map(tuple, np.sort(places, axis=1).tolist()))
    order = np.random.default_rng(chain.seed("further", 0)).permutation(np.flatnonzero(free))
    found = []
    for one in order.tolist():
        if len(found) == chain.most - len(closed):
            break
        if (int(low[one]), int(high[one])) not in closed:
            found.append((low[one], high[one]))
    sheets = chain.sheets(np.array(found, dtype=np.int64).reshape(-1, 2), 0)
    return [sheet for own in sheets.values() for sheet in own]


def rechosen(
    chain: Chain, batches: Sequence[Batch], votes: Sequence[Vote]
) -> Iterator[tuple[Batch, Batch | Stop]]:
    """Every batch beside the one that follows from the votes that there were.

    `votes` are all of its dimension, in the order in which they came.
    """
    # Rules and limits may have been others then; the size says how far the batch was to go.
    free = replace(chain, until={}, per_text=len(chain.ids))
    for place, batch in enumerate(batches):
        own = replace(free, size=batch.size)
        yield batch, next_step(own, batches[:place], votes[: batch.votes])


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the scores of a dimension after some batches."""

    chain: Chain
    batches: Sequence[Batch]
    votes: Sequence[Vote]

    @cached_property
    def pairs(self) -> Places:
        """The pairs of all batches (p, 2), by the places of their texts."""
        return _places(self.chain, (pair for batch in self.batches for pair in sorted(batch.pairs)))

    @cached_property
    def counts(self) -> Counts:
        """The votes that have an outcome."""
        used = [vote for vote in self.votes if vote.outcome]
        judges = sorted({vote.judge for vote in used})
        number = self.chain.numbers
        return counted(
            len(self.chain.ids),
            [number[vote.sheet.a] for vote in used],
            [number[vote.sheet.b] for vote in used],
            [OUTCOME[str(vote.outcome)] for vote in used],
            [judges.index(vote.judge) for vote in used],
        )

    @cached_property
    def found(self) -> Uncertainty:
        """The fit of all votes: places and thresholds of the judges' own, and a normal prior."""
        several = self.counts.judges > 1
        return with_prior(
            self.counts, Model(order=True, judges="own_bias" if several else "pooled")
        )

    @cached_property
    def r_fit(self) -> float:
        """The expected correlation of the scores with the truth, by the errors of the fit."""
        return expected_r(self.found)

    @cached_property
    def _drawn(self) -> NDArray[np.bool_]:
        """Which rows of the counts are of pairs that were drawn at random (m,)."""
        pairs = {sheet.pair for batch in self.batches for sheet in batch.drawn}
        drawn = {tuple(sorted(pair)) for pair in _places(self.chain, pairs).tolist()}
        marks = np.array([tuple(pair) in drawn for pair in self.counts.pairs.tolist()])
        return marks[self.counts.pair]

    @cached_property
    def random(self) -> Uncertainty | None:
        """The errors of the random part of the votes alone, fitted as reports do by default; of all
        votes where all pairs are judged, and None where there is no random part.
        """
        whole = len(self.pairs) == self.chain.every
        if not whole and (self.chain.probe == 0 or not self._drawn.any()):
            return None
        several = self.counts.judges > 1
        model = Model(order=True, judges="discriminating" if several else "pooled")
        return uncertainty(fit(self.counts if whole else self.counts.only(self._drawn), model))

    @cached_property
    def r_probe(self) -> float:
        """The same by the pairs that were drawn at random, against all others."""
        by_row = self._drawn
        if by_row.all() or not by_row.any():
            return math.nan
        model = self.found.fit.model
        probes, others = self.counts.only(by_row), self.counts.only(~by_row)
        r = expected_r_by_probe(
            uncertainty(fit(probes, model), clustered=False), fit(others, model)
        )
        return lengthened(r, self.counts.votes.sum() / others.votes.sum())

    def value(self, rule: Rule) -> float:
        """What a rule looks at; NaN where it is not known.

        Errors of all votes are too small, since pairs were chosen by what was known of them.
        """
        if rule in ("se", "apart"):
            if self.random is None:
                return math.nan
            order = self.found.fit.scores
            return mean_error(self.random) if rule == "se" else apart(self.random, order=order)
        both = self.r_fit, self.r_probe
        return math.nan if any(map(math.isnan, both)) else min(both)

    def holds(self, rule: Rule, limit: float) -> bool:
        """Whether a rule ends the comparison; what is not known does not."""
        value = self.value(rule)
        return value <= limit if rule == "se" else value >= limit

    def stop(self, rule: Rule, limit: float | None) -> Stop:
        """The end by a rule, with all that is known."""
        values = {name: self.value(name) for name in ("se", "r", "apart")}
        values |= {"r_fit": self.r_fit, "r_probe": self.r_probe}
        shown = {name: None if math.isnan(value) else value for name, value in values.items()}
        size = len(self.batches), len(self.votes)
        return Stop(self.chain.dimension, *size, rule, limit, **shown)


def _places(chain: Chain, pairs: Iterable[Pair]) -> Places:
    """Pairs (p, 2) by the places of their texts."""
    numbers = chain.numbers
    found = [(numbers[pair.one], numbers[pair.other]) for pair in pairs]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _rings(chain: Chain) -> Places:
    """A drawn ring of the texts of every group (p, 2): two texts have one pair."""
    found = []
    for group, ids in chain.groups.items():
        if len(ids) < 2:
            continue
        places = np.array([chain.numbers[id] for id in ids])
        seed = seed_of(*chain.names, "adaptive", "ring", chain.dimension, group)
        found.append(places[ring(len(ids), 2, seed)] if len(ids) > 2 else places[None, :])
    return np.concatenate(found)


def _batch(chain: Chain, pairs: tuple[Places, Places], batch: Batch) -> Batch:
    """A batch with the sheets of pairs that were drawn and of others that were chosen."""
    sheets = chain.sheets(np.concatenate(pairs), batch.number)
    parts = []
    for own in pairs:
        texts = [frozenset((chain.ids[one], chain.ids[other])) for one, other in own.tolist()]
        parts.append(tuple(sheet for pair in texts for sheet in sheets[pair]))
    return replace(batch, drawn=parts[0], chosen=parts[1])


EVERY = 0
"""All opinions that a summary was written from."""


@dataclass(frozen=True)
class JudgedMaterial:
    """The question, opinions and summaries by id as judges see them, the opinions that each summary
    was written from (`sources`), and the names that seeds begin with.
    """

    names: Names
    question: str
    opinions: Mapping[str, str]
    summaries: Mapping[str, str]
    sources: Mapping[str, Sequence[str]]


def rating_sittings(
    material: JudgedMaterial, per_summary: int = EVERY, controls: bool = False
) -> list[Sitting]:
    """Each summary before the opinions that it was written from, or so many of them, drawn.

    With `controls` each summary of at most half of the opinions also comes before as many that it
    was not written from.
    """
    found = []
    for summary, own in material.sources.items():
        for opinion in _drawn(material, own, per_summary, "raters", summary):
            found.append(Sitting(summary, opinion))
        if not controls:
            continue
        shown = set(own)
        others = [id for id in material.opinions if id not in shown]
        if len(own) <= len(others):
            wanted = per_summary or len(own)
            for opinion in _drawn(material, others, wanted, "controls", summary):
                found.append(Sitting(summary, opinion, control=True))
    return found


def comparison_sittings(
    material: JudgedMaterial, whole: Sequence[str], k: int, both_ways: bool
) -> list[Sitting]:
    """The `whole` summaries in a drawn order on a ring, each as A with the k that follow it, before
    an opinion that both were written from or, where there is none, one of either.
    """
    order = np.random.default_rng(seed_of(*material.names, "ring")).permutation(len(whole))
    found = []
    for i, j in directed_ring(len(whole), k).tolist():
        a, b = whole[order[i]], whole[order[j]]
        other = set(material.sources[b])
        shared = [id for id in material.sources[a] if id in other]
        either = shared or [*material.sources[a], *material.sources[b]]
        (opinion,) = _drawn(material, either, 1, "compares", a, b)
        found.append(Sitting(a, opinion, b))
        if both_ways:
            found.append(Sitting(b, opinion, a))
    return list(dict.fromkeys(found))


def _drawn(material: JudgedMaterial, ids: Sequence[str], n: int, *names: str) -> list[str]:
    """The first `n` of some ids in a drawn order, all of them where n is `EVERY`."""
    order = np.random.default_rng(seed_of(*material.names, *names)).permutation(len(ids))
    chosen = order if n == EVERY else order[:n]
    return [ids[place] for place in chosen.tolist()]
