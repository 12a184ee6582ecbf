"""The votes of a comparison on one dimension as counts, and the fit of their strengths."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.comparison import Pair, Vote
from delibsim.domain.study import natural
from delibsim.measures.bradley_terry.counts import Counts, counted
from delibsim.measures.bradley_terry.fit import Fit, Model, fit
from delibsim.measures.bradley_terry.stability import RefitDraws, bootstrap
from delibsim.measures.bradley_terry.strengths import unit_scale, win_scale, z_scale
from delibsim.measures.bradley_terry.uncertainty import Uncertainty, uncertainty
from delibsim.measures.reliability.ratings import LabelAgreement

Array = NDArray[np.float64]
Judged = Literal["pooled", "own_bias", "discriminating"]
Scale = Literal["log_odds", "z", "unit", "win"]
OUTCOME = {"a": 1, "tie": 0, "b": -1}
"""The outcomes as counts of votes know them."""
NO_RANDOM_PART = "no_random_part"
NAN = float("nan")
MODELS: tuple[Judged, ...] = ("pooled", "own_bias", "discriminating")
"""Models of the judges, from the smallest to the largest; each holds the one before it."""


@dataclass(frozen=True)
class Settings:
    """How scores are computed and shown.

    `top` asks for the differences among so many texts of each group, `differences` for those of
    these texts; `bootstrap` is the number of draws.
    """

    model: Model = field(default_factory=Model)
    scale: Scale = "log_odds"
    level: float = 0.95
    top: int = 0
    differences: tuple[tuple[str, str], ...] = ()
    bootstrap: int = 0


@dataclass(frozen=True)
class JudgesAsked:
    """How a comparison was asked: the `runs` of a sheet, the `temperature`, and the recorded calls
    as plain values.
    """

    runs: int = 1
    temperature: float | None = None
    calls: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class People:
    """The votes of people with whom judges are compared, and where they come from.

    `ordered` says whether the order of their sheets was drawn. Votes on `left_out` pairs, which
    judges were shown as examples, count in no agreement.
    """

    name: str
    votes: tuple[Vote, ...]
    ordered: bool = False
    left_out: frozenset[Pair] = frozenset()


@dataclass(frozen=True, eq=False)
class Compared:
    """A comparison of a study: its votes, and how many were planned, by judge and dimension.

    `imported` says whether the votes come from a file; `texts` are the ids of all texts with their
    group; `seed` is that of splits and draws. `probes` are the pairs that were drawn at random, by
    dimension, where the others were chosen by what was known; None where all were drawn. `people`
    are those beside whom judges are to stand. `facts` say of texts by id what is known of them:
    their session, treatment and model.
    """

    study: str
    name: str
    votes: tuple[Vote, ...]
    planned: Mapping[tuple[str, str], int]
    texts: Mapping[str, str]
    imported: bool
    seed: int
    probes: Mapping[str, frozenset[Pair]] | None = None
    asked: JudgesAsked = field(default_factory=JudgesAsked)
    people: People | None = None
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def dimensions(self) -> list[str]:
        """The dimensions with a vote, in the order in which they came."""
        return list(dict.fromkeys(vote.dimension for vote in self.votes))

    @cached_property
    def calls_by_judge(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The recorded calls of each judge."""
        found = defaultdict(list)
        for record in self.asked.calls:
            found[str(record.get("purpose", {}).get("participant"))].append(record)
        return found


@dataclass(frozen=True, eq=False)
class Fitted:
    """The votes on one dimension that have an outcome, as arrays, and the fit of a model to them.

    `ids` (n,) are the texts that were compared, `judges` (K,) those who gave a vote; `seed` is that
    of splits and draws. `probes` are the pairs that were drawn at random, None where all were.
    """

    dimension: str
    votes: tuple[Vote, ...]
    ids: tuple[str, ...]
    groups: tuple[str, ...]
    judges: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    outcome: NDArray[np.int64]
    judge: NDArray[np.int64]
    settings: Settings
    seed: int
    probes: frozenset[Pair] | None = None

    @cached_property
    def counts(self) -> Counts:
        """The votes as counts, by judge."""
        return counted(len(self.ids), self.first, self.second, self.outcome, self.judge)

    @cached_property
    def fit(self) -> Fit:
        """The fit of the model that is asked for."""
        return fit(self.counts, self.settings.model)

    @cached_property
    def base(self) -> "Fitted":
        """The votes from which errors, intervals and tests come: all of them, or the random part
        where pairs were chosen by what was known of them; all without errors where there is no such
        part. Its texts and judges have the same numbers.
        """
        if not self.chosen or not self.random.any():
            return self
        kept = self.random
        return replace(
            self,
            votes=tuple(vote for vote, own in zip(self.votes, kept, strict=True) if own),
            first=self.first[kept],
            second=self.second[kept],
            outcome=self.outcome[kept],
            judge=self.judge[kept],
            probes=None,
        )

    @cached_property
    def chosen(self) -> bool:
        """Whether pairs were chosen by what was known of them; not where all pairs are judged."""
        if self.probes is None:
            return False
        sizes = np.unique(np.array(self.groups), return_counts=True)[1]
        return len(self.counts.pairs) < int((sizes * (sizes - 1) // 2).sum())

    @cached_property
    def random(self) -> NDArray[np.bool_]:
        """Which votes are on pairs that were drawn at random (v,)."""
        if self.probes is None:
            return np.ones(len(self.votes), dtype=bool)
        return np.array([vote.sheet.pair in self.probes for vote in self.votes], dtype=bool)

    @cached_property
    def errors(self) -> Uncertainty:
        """The errors of the fit; none where pairs were chosen, since they would be too small."""
        if self.chosen:
            return Uncertainty(self.fit, clustered=False, reason=NO_RANDOM_PART)
        return errors_of(self.fit)

    @cached_property
    def drawn(self) -> RefitDraws | None:
        """The bootstrap over pairs; None where no draws are asked for, or there are no errors."""
        number = self.settings.bootstrap
        if not number or self.errors.reason:
            return None
        groups = np.unique(np.array(self.groups), return_inverse=True)[1]
        found = bootstrap(self.fit, number, self.seed, groups)
        return found if len(found.scores) else None

    @cached_property
    def judged(self) -> dict[str, Fit]:
        """The fit of every model of the judges; that of the report is not made again."""
        found = {}
        for judged in MODELS:
            model = replace(self.settings.model, judges=judged)
            found[judged] = self.fit if model == self.settings.model else fit(self.counts, model)
        return found

    @cached_property
    def unit(self) -> float:
        """Log odds that are one unit of the scale; NaN for a scale that has none."""
        if self.settings.scale == "z":
            return spread_of(self.fit.raw) or np.nan
        if self.settings.scale == "unit":
            own = known(self.fit.scores)
            return float(np.ptp(own)) or NAN if own.size else NAN
        return np.nan if self.settings.scale == "win" else 1.0

    def scaled(self) -> tuple[Array, Array]:
        """Scores and their standard errors (n,) on the scale that is asked for; there are no errors
        for the share of comparisons that a text would win.
        """
        scale, errors = self.settings.scale, self.errors.scores / self.unit
        if scale == "z":
            return z_scale(self.fit.raw), errors
        if scale == "unit":
            return unit_scale(self.fit.scores), errors
        return win_scale(self.fit) if scale == "win" else self.fit.scores, errors

    @property
    def pooled(self) -> Model:
        """The model with all judges as one."""
        return replace(self.settings.model, judges="pooled")

    def of_judge(self, place: int) -> Fit:
        """The fit of the votes of one judge alone."""
        return fit(self.counts.only(self.counts.judge == place), self.pooled)


def fitted(compared: Compared, dimension: str, settings: Settings) -> Fitted:
    """The votes of a comparison on one dimension, those that are missing left out."""
    votes = [vote for vote in compared.votes if vote.dimension == dimension]
    found = fitted_votes(compared, votes, dimension, settings)
    if compared.probes is None:
        return found
    return replace(found, probes=compared.probes.get(dimension, frozenset()))


def fitted_votes(
    compared: Compared, votes: Sequence[Vote], dimension: str, settings: Settings
) -> Fitted:
    """Votes on one dimension, of judges or people, those that are missing left out."""
    texts = compared.texts
    own = [vote for vote in votes if vote.outcome]
    ids = sorted({id for vote in own for id in (vote.sheet.a, vote.sheet.b)})
    ids.sort(key=lambda id: natural(texts.get(id, "")))
    number = {id: place for place, id in enumerate(ids)}
    judges = list(dict.fromkeys(vote.judge for vote in own))
    return Fitted(
        dimension=dimension,
        votes=tuple(own),
        ids=tuple(ids),
        groups=tuple(texts.get(id, "") for id in ids),
        judges=tuple(judges),
        first=np.array([number[vote.sheet.a] for vote in own], dtype=np.int64),
        second=np.array([number[vote.sheet.b] for vote in own], dtype=np.int64),
        outcome=np.array([OUTCOME[str(vote.outcome)] for vote in own], dtype=np.int64),
        judge=np.array([judges.index(vote.judge) for vote in own], dtype=np.int64),
        settings=settings,
        seed=compared.seed,
    )


def errors_of(found: Fit) -> Uncertainty:
    """The errors of a fit: by pair where a pair has more than one vote, if they are larger than
    those of the model on the whole.

    Votes on one pair that depend on each other make errors larger. Errors by pair that are smaller
    come from too few pairs, or from texts that win or lose all, which the fit follows so closely
    that nothing is left to vary (Angrist and Pischke 2009, Mostly Harmless Econometrics, 8.1).
    """
    errors = uncertainty(found)
    if not errors.clustered or not errors.is_maximum:
        return errors
    of_model = uncertainty(found, clustered=False)
    middle, of_middle = (_median(one.scores) for one in (errors, of_model))
    return errors if middle > of_middle else of_model


def _median(values: Array) -> float:
    own = known(values)
    return float(np.median(own)) if own.size else NAN


def known(values: Array) -> Array:
    """The values that are not NaN."""
    return values[~np.isnan(values)]


def spread_of(values: Array) -> float:
    """The standard deviation of what is known; NaN where nothing is."""
    own = known(values)
    return float(own.std()) if own.size else NAN


Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Said:
    """What one judge says of pairs: 1 for the text whose id sorts first, -1 for the other, 0 for a
    tie or no majority; and whether it first saw the pair in that order (1) or turned round (-1).
    """

    outcome: Mapping[Pair, int]
    shown: Mapping[Pair, int]


def said(votes: Sequence[Vote], left_out: frozenset[Pair] = frozenset()) -> Said:
    """The majority of votes on each pair, all runs and orders together."""
    tallies: dict[Pair, list[int]] = defaultdict(list)
    shown: dict[Pair, int] = {}
    for vote in votes:
        pair = vote.sheet.pair
        if vote.outcome is None or pair in left_out:
            continue
        turned = 1 if vote.sheet.a == pair.one else -1
        shown.setdefault(pair, turned)
        tallies[pair].append(turned * OUTCOME[vote.outcome])
    outcome = {}
    for pair, given in tallies.items():
        half = len(given) / 2
        outcome[pair] = (given.count(1) > half) - (given.count(-1) > half)
    return Said(outcome, shown)


def aligned(one: Said, other: Said) -> tuple[list[Pair], Labels, Labels]:
    """The pairs that both judged, and what each says, in the order in which `one` saw each pair."""
    pairs = [pair for pair in one.outcome if pair in other.outcome]
    turned = np.array([one.shown[pair] for pair in pairs], dtype=np.int64)
    first = np.array([one.outcome[pair] for pair in pairs], dtype=np.int64)
    second = np.array([other.outcome[pair] for pair in pairs], dtype=np.int64)
    return pairs, first * turned, second * turned


def label_columns(found: LabelAgreement) -> dict[str, Any]:
    """The agreement of labels as columns of a table."""
    return {
        "pairs": found.n,
        "agreement": found.agreement,
        "kappa": found.kappa,
        "kappa_max": found.most,
        "alpha": found.alpha,
        "always_a": found.always_a,
        "always_tie": found.always_tie,
        "chance": found.chance,
    }
