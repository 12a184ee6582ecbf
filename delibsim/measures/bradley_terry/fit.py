"""Strengths of texts from votes on pairs: plain Bradley-Terry, Rao-Kupper and Davidson.

All judges may count as one, or each has a place bias and a threshold of its own, or a
discrimination too. docs/measures.md has the formulas.

Item i beats item j with probability 1 / (1 + exp(-(s_i - s_j))). Sources: Bradley and Terry (1952),
https://doi.org/10.2307/2334029; Hunter (2004), https://doi.org/10.1214/aos/1079120141, whose
section 2 gives the condition under which the likelihood has a maximum; Chen, Bennett,
Collins-Thompson and Horvitz (2013), https://doi.org/10.1145/2433396.2433420, for judges who are
right with a probability (Crowd-BT). The signature of `bradley_terry` is that of choix
(https://choix.lum.li).
"""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.counts import (
    NOT_CONNECTED,
    Counts,
    Graph,
    Ties,
    added,
    graph_of,
    order_is_merit,
    sorted_order,
    tabled,
)
from delibsim.measures.bradley_terry.likelihood import Dummy, Normal, Penalty, sigmoid
from delibsim.measures.bradley_terry.problem import (
    ALPHA,
    DELTA,
    THRESHOLD,
    TOLERANCE,
    NotPositive,
    Point,
    Problem,
    maximised,
)

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]
Places = NDArray[np.int64]

ONE_ORDER, NOT_CONVERGED = "one_order", "not_converged"


@dataclass(frozen=True)
class Model:
    """How votes come about; docs/measures.md defines every part.

    `kind` names the model; `ties` says what plain Bradley-Terry makes of them; `order` estimates
    the advantage delta of the text shown first; `theta` fixes the threshold of Rao-Kupper (nu of
    Davidson), which is estimated where it is None; `penalty` is None for maximum likelihood.
    `judges` are pooled, have delta and theta of their own (own_bias), or alpha too
    (discriminating), which `signed` may be below 0. ValueError for a theta that is not above 0.
    """

    kind: Literal["bt", "rao_kupper", "davidson"] = "rao_kupper"
    order: bool = False
    penalty: Penalty | None = field(default_factory=Dummy)
    theta: float | None = None
    ties: Ties = "dropped"
    judges: Literal["pooled", "own_bias", "discriminating"] = "pooled"
    signed: bool = False

    def __post_init__(self) -> None:
        """Refuse a threshold with which the likelihood is none."""
        if self.theta is not None and not self.theta > 0:
            raise ValueError(f"a threshold is above 0, not {self.theta:g}")


@dataclass(frozen=True, eq=False)
class Fit:
    """What was estimated from `counts`, the votes that were used.

    `raw` (n,) are strengths where the penalty places them, and `scores` (n,) add up to 0 in each
    component; both are NaN where there is no estimate. `delta`, `theta` (nu for Davidson) and
    `alpha` are of the judges (K,), one where they are pooled; NaN is explained in `judge_notes`
    (K,). `notes` (n,) say why a text has no strength without a penalty, and `flags` what holds for
    the whole. `steps` is how many steps the fit took.
    """

    model: Model
    counts: Counts
    graph: Graph
    raw: Array
    scores: Array
    delta: Array
    theta: Array
    alpha: Array
    log_likelihood: float
    penalty: float
    judge_notes: tuple[str, ...]
    flags: tuple[str, ...]
    steps: int
    problem: Problem
    point: Point
    kept: Places

    @property
    def notes(self) -> tuple[str, ...]:
        """Why each text has no strength without a penalty; "" where it has one."""
        return self.graph.notes

    @property
    def objective(self) -> float:
        """The log likelihood and the penalty."""
        return self.log_likelihood + self.penalty


def fit(
    counts: Counts,
    model: Model | None = None,
    start: Fit | None = None,
    tolerance: float = TOLERANCE,
) -> Fit:
    """The estimate of a model; `start` is an earlier fit of the same texts from which to begin.

    `tolerance` is the change of parameters below which a step is the last one; what is left is
    about its square.

    >>> from delibsim.measures.bradley_terry.counts import tabled
    >>> votes = tabled(2, [0], [1], [3], [0], [1])
    >>> fit(votes, Model("bt", penalty=None)).scores.round(4)  # half of log(3)
    array([ 0.5493, -0.5493])
    """
    asked = model or Model()
    votes = counts.pooled() if asked.judges == "pooled" else counts
    if asked.kind == "bt":
        votes = votes.without_ties(asked.ties)
    threshold = asked.kind != "bt" and asked.theta is None
    notes, silent = mute(votes, asked.order, threshold, asked.kind != "bt")
    if silent.any():
        votes = votes.only(~silent[votes.judge])
    graph = graph_of(votes)
    kept = np.arange(votes.n)
    if asked.penalty is None:
        kept = np.flatnonzero(graph.estimable)
        votes = _among(votes, graph.estimable)
    flags = [NOT_CONNECTED] if len(graph.sizes) > 1 else []
    if asked.order and sorted_order(votes):
        flags.append(ONE_ORDER)
    return _fitted(votes, asked, graph, kept, notes, tuple(flags), start, tolerance)


def _fitted(
    votes: Counts,
    model: Model,
    graph: Graph,
    kept: Places,
    notes: list[str],
    flags: tuple[str, ...],
    start: Fit | None,
    tolerance: float,
) -> Fit:
    """The fit of the votes whose texts have an estimate."""
    order = model.order and not (ONE_ORDER in flags and order_is_merit(votes))
    free = np.zeros((3, votes.judges), dtype=bool)
    present = np.bincount(votes.judge, minlength=votes.judges) > 0
    ties = np.bincount(votes.judge, votes.tie, votes.judges) > 0
    free[DELTA] = order & present
    free[THRESHOLD] = (model.kind != "bt") & (model.theta is None) & ties & present
    problem = Problem(
        model.kind,
        votes,
        model.penalty,
        basis(free),
        np.ones(votes.judges),
        graph.component[kept],
    )
    point = _start(votes, model, free, start, kept)
    point, steps, converged = maximised(problem, point, tolerance)
    if model.judges == "discriminating" and present.sum() > 1:
        free[ALPHA] = present
        problem, point, more, converged = discriminating(problem, point, free, model.signed)
        notes = _with_coins(notes, problem.signs)
        steps += more
    if not converged:
        flags = (*flags, NOT_CONVERGED)
    shown = _with_unknowns(problem, point, free, model, present)
    used = {note for notes_of_one in notes for note in notes_of_one.split()}
    raw = np.full(len(graph.component), np.nan)
    raw[kept] = point.s if converged else np.nan
    return Fit(
        model=model,
        counts=votes,
        graph=graph,
        raw=raw,
        scores=graph.centred(raw),
        delta=shown[DELTA],
        theta=shown[THRESHOLD],
        alpha=shown[ALPHA],
        log_likelihood=problem.log_likelihood(point),
        penalty=problem.penalised(point),
        judge_notes=tuple(notes),
        flags=(*flags, *sorted(used)),
        steps=steps,
        problem=problem,
        point=point,
        kept=kept,
    )


def _among(votes: Counts, texts: Marks) -> Counts:
    """The votes between some of the texts, which are numbered anew."""
    if texts.all():
        return votes
    numbers = np.cumsum(texts) - 1
    kept = votes.only(texts[votes.first] & texts[votes.second])
    return kept.renumbered(numbers, int(texts.sum()))


def _start(votes: Counts, model: Model, free: Marks, start: Fit | None, kept: Places) -> Point:
    """Where the fit begins: at an earlier fit, or at equal strengths."""
    centre = 0.0 if model.penalty is None else model.penalty.centre
    s = centre + _guess(votes) if start is None else np.full(votes.n, centre)
    judges = np.zeros((3, votes.judges))
    judges[THRESHOLD] = -np.inf if model.theta is None else np.log(model.theta)
    tie = added(votes.judge, votes.tie, votes.judges)
    given = added(votes.judge, votes.votes, votes.judges)
    for judge in np.flatnonzero(free[THRESHOLD]):
        share = tie[judge] / given[judge]
        theta = 2 * np.arctanh(share) if model.kind == "rao_kupper" else 2 * share / (1 - share)
        judges[THRESHOLD, judge] = np.log(theta)
    if start is not None and start.point.judges.shape == judges.shape:
        before = start.raw[kept]
        s = np.where(np.isnan(before), centre, before)
        known = free & np.isfinite(start.point.judges)
        judges = np.where(known, start.point.judges, judges)
        judges[ALPHA] = 0.0  # pooled and own_bias fits have none, others begin with such a fit
    return Point(s, judges)


def _guess(votes: Counts) -> Array:
    """Strengths (n,) to begin with: the log odds of each text's share, moved by its opponents'."""
    won, lost = votes.a + votes.tie / 2, votes.b + votes.tie / 2
    n = votes.n
    wins = added(votes.first, won, n) + added(votes.second, lost, n)
    losses = added(votes.first, lost, n) + added(votes.second, won, n)
    odds = np.log((wins + 1) / (losses + 1))
    met = added(votes.first, votes.votes * odds[votes.second], n)
    met += added(votes.second, votes.votes * odds[votes.first], n)
    return odds + met / np.maximum(wins + losses, 1)


def _with_coins(notes: list[str], signs: Array) -> list[str]:
    """The notes with one on each judge whose alpha is 0."""
    found = zip(notes, signs, strict=True)
    return [note if sign else f"{note} {ALPHA_ZERO}".strip() for note, sign in found]


def _with_unknowns(
    problem: Problem, point: Point, free: Marks, model: Model, present: Marks
) -> Array:
    """Delta, theta and alpha of the judges (3, K), NaN where they could not be estimated."""
    delta = np.where(free[DELTA], point.judges[DELTA], np.nan if model.order else 0.0)
    theta = np.exp(point.judges[THRESHOLD])
    if model.kind == "bt":
        theta = np.zeros_like(theta)
    return np.stack(
        [delta, np.where(present, theta, np.nan), np.where(present, problem.alphas(point), np.nan)]
    )


def bradley_terry(n_items: int, data: ArrayLike, alpha: float = 0.0) -> Array:
    """Strengths (n_items,) on the log odds scale, which add up to 0.

    `data` has one row a comparison: the winner and the loser, numbered from 0. They maximise the
    log likelihood less `alpha` times the sum of their squares. Without this penalty they are NaN
    where the likelihood has no maximum: where some items never lost to any of the others.
    ValueError for a number that is no item's, and for an item compared with itself.

    >>> bradley_terry(2, [(0, 1), (0, 1), (0, 1), (1, 0)]).round(4)  # half of log(3)
    array([ 0.5493, -0.5493])
    """
    won, lost = np.asarray(data, dtype=np.int64).reshape(-1, 2).T
    nothing = np.zeros(len(won))
    votes = tabled(n_items, won, lost, nothing + 1, nothing, nothing)
    penalty = Normal(float((2 * alpha) ** -0.5)) if alpha else None
    strengths = fit(votes, Model("bt", penalty=penalty)).raw
    whole = alpha > 0 or len(np.unique(graph_of(votes).component)) == 1
    return strengths - strengths.mean() if whole else np.full(n_items, np.nan)


def comparisons(n_items: int, pairs: ArrayLike) -> Array:
    """The design (m, n_items) of m comparisons: +1 for the first item, -1 for the second.

    Its product with the strengths is the log odds that the first beats the second. An item compared
    with itself is a row of zeros.

    >>> comparisons(3, [(0, 2)])
    array([[ 1.,  0., -1.]])
    """
    first, second = np.asarray(pairs, dtype=int).reshape(-1, 2).T
    items = np.eye(n_items)
    return items[first] - items[second]


def centred(n_items: int) -> Array:
    """The weights (n_items, n_items - 1) that centre strengths.

    They turn the differences of all items but the first from the first into strengths that add up
    to 0.

    >>> centred(2)
    array([[-0.5],
           [ 0.5]])
    """
    return np.eye(n_items)[:, 1:] - 1 / n_items


NO_TIES, ALL_TIES = "no_ties", "all_ties"
ALWAYS_A, ALWAYS_B = "always_a", "always_b"
ALPHA_ZERO = "alpha_zero"
FLAT = np.log(1e-3)
"""The logarithm of the share of the largest alpha below which a fit that does not converge has an
alpha run to 0. It is a share because the geometric mean of all is 1: where most judges toss coins,
the alphas of the others grow without bound while theirs stay in sight."""
GONE = np.log(1e-6)
"""The same of a fit that seems to have converged because nothing changes any more."""
GAIN = 1e-9
"""By how much turning a judge round must raise the objective."""


def mute(votes: Counts, order: bool, threshold: bool, ties: bool) -> tuple[list[str], Marks]:
    """A note on each judge (K,), and which judges say nothing of texts.

    A judge who only gives ties, or always names the text in one place where place bias (`order`)
    is estimated, is explained in full by a parameter that grows without bound. `threshold` says
    whether that of ties is estimated, `ties` whether the model has ties.
    """
    k = votes.judges
    a, tie, b = (np.bincount(votes.judge, part, k) > 0 for part in (votes.a, votes.tie, votes.b))
    decided = a | b
    always = order & decided & ~(a & b)
    ties_alone = ties & tie & ~decided
    found = (
        (NO_TIES, ties & decided & ~tie),
        (ALL_TIES, ties_alone),
        (ALWAYS_A, always & a),
        (ALWAYS_B, always & b),
    )
    notes: list[str] = [" ".join(code for code, of in found if of[judge]) for judge in range(k)]
    return notes, always | (ties_alone & threshold)


def basis(free: Marks) -> Array:
    """The columns (3K, q) in which free parameters of judges (3, K) move.

    Those of ln alpha add up to 0, so that the geometric mean of the alphas is 1.
    """
    unit = np.eye(free.size)
    able = ALPHA * free.shape[1] + np.flatnonzero(free[ALPHA])
    alone = unit[:, np.flatnonzero(free[:ALPHA])]
    return np.hstack([alone, unit[:, able[:-1]] - unit[:, able[-1:]]])


def discriminating(
    problem: Problem, point: Point, free: Marks, signed: bool
) -> tuple[Problem, Point, int, bool]:
    """The fit with alphas from one without; steps, and whether it converged.

    `free` (3, K) are the parameters that are estimated. A judge whose alpha runs to 0 keeps an
    alpha of 0, and no part in the geometric mean. With `signed`, judges are turned round one after
    the other as long as this raises the objective.
    """
    problem = replace(problem, basis=basis(free))
    found, steps, converged = maximised(problem, point)
    if signed:
        problem, found, more, converged = _turned(problem, found, converged)
        steps += more
    least = _of_largest(free, found)
    while least.min() < (GONE if converged else FLAT) and np.isfinite(least).sum() > 1:
        coin = int(least.argmin())
        free, signs = free.copy(), problem.signs.copy()
        free[ALPHA, coin], signs[coin] = False, 0.0
        problem = replace(problem, basis=basis(free), signs=signs)
        found, more, converged = maximised(problem, _level(point))
        steps += more
        least = _of_largest(free, found)
    return problem, found, steps, converged


def _of_largest(free: Marks, found: Point) -> Array:
    """The logarithms of the alphas that are free (K,) less the largest; infinite for others."""
    alphas = np.where(free[ALPHA], found.judges[ALPHA], np.nan)
    return np.nan_to_num(alphas - np.nanmax(alphas), nan=np.inf)


def _turned(problem: Problem, found: Point, converged: bool) -> tuple[Problem, Point, int, bool]:
    """The best of the fits with the sign of one judge after the other turned."""
    steps = 0
    best = problem.objective(problem.at(found)) if converged else -np.inf
    judge, since = 0, 0
    while since < problem.counts.judges:
        signs = problem.signs.copy()
        signs[judge] *= -1
        other = replace(problem, signs=signs)
        tried, more, reached = maximised(other, _level(found))
        steps += more
        since += 1
        if reached and other.objective(other.at(tried)) > best + GAIN:
            problem, found, converged, since = other, tried, True, 0
            best = problem.objective(problem.at(found))
        judge = (judge + 1) % problem.counts.judges
    if problem.signs.sum() < 0:  # the same likelihood: most judges are taken to be the right way
        centre = 0.0 if problem.penalty is None else problem.penalty.centre
        problem = replace(problem, signs=-problem.signs)
        found = Point(2 * centre - found.s, found.judges)
    return problem, found, steps, converged


def _level(point: Point) -> Point:
    """The point with all alphas at 1."""
    judges = point.judges.copy()
    judges[ALPHA] = 0.0
    return Point(point.s, judges)


@dataclass(frozen=True)
class LikelihoodRatio:
    """Twice the difference of two log likelihoods, its degrees of freedom, and p by chi-squared."""

    statistic: float
    df: int
    p: float


def likelihood_ratio(smaller: float, larger: float, df: int) -> LikelihoodRatio:
    """Whether `df` more parameters explain more than chance does (Wilks 1938).

    `smaller` and `larger` are the log likelihoods without and with them, or the objectives where
    both fits have the same penalty; then p is approximate. Against `own_bias`, `discriminating` has
    one parameter a judge more, less one. ValueError where there is no further parameter.

    >>> found = likelihood_ratio(-570.838407929, -551.499459293, 2)
    >>> round(found.statistic, 6), found.p < 1e-8
    (38.677897, True)
    """
    from scipy.special import chdtrc

    if df < 1:
        raise ValueError("the larger model has no further parameter")
    statistic = 2 * (larger - smaller)
    return LikelihoodRatio(statistic, df, float(chdtrc(df, max(statistic, 0.0))))


BETA = (10.0, 2.0)
"""The prior of eta: judges are mostly right."""
STARTS = (0.6, 0.75, 0.9, 0.98)
"""Values of eta, for all judges, from which the maximum is looked for."""
SAME = 1e-6
"""The difference between objectives below which two maxima are one."""
STARTS_DIFFER = "starts_differ"


@dataclass(frozen=True, eq=False)
class CrowdFit:
    """Strengths `raw` (n,) where the penalty places them, `scores` (n,) that add up to 0 in each
    component, and `eta` (K,), the probability that a judge says what the strengths say.

    `eta_low` and `eta_high` are the 95 percent interval, on the log odds of eta. `flags` has
    "starts_differ" where several starts led to several maxima, of which this is the best.
    """

    raw: Array
    scores: Array
    eta: Array
    eta_low: Array
    eta_high: Array
    objective: float
    flags: tuple[str, ...]
    graph: Graph


def crowd_bt(
    counts: Counts,
    penalty: Penalty | None = None,
    beta: tuple[float, float] = BETA,
) -> CrowdFit:
    """The estimate with a penalty on strengths (dummy 0.5 unless told), ties dropped.

    The prior of each eta is Beta with the parameters `beta`, both above 1. ValueError for others:
    without such a prior eta can run to 1 or 0.
    """
    if not min(beta) > 1:
        raise ValueError(f"both parameters of the prior of eta are above 1, not {beta}")
    votes = counts.without_ties("dropped")
    graph = graph_of(votes)
    free = np.zeros((3, votes.judges), dtype=bool)
    free[THRESHOLD] = True
    used = penalty or Dummy(0.5)
    exponents = (beta[0] - 1, beta[1] - 1)
    ones = np.ones(votes.judges)
    problem = Problem("crowd", votes, used, basis(free), ones, graph.component, exponents)
    ends = []
    for eta in STARTS:
        judges = np.zeros((3, votes.judges))
        judges[THRESHOLD] = np.log(eta / (1 - eta))
        point, _, converged = maximised(problem, Point(np.full(votes.n, used.centre), judges))
        ends.append((converged, problem.objective(problem.at(point)), point))
    converged, objective, point = max(ends, key=lambda end: end[:2])
    reached = [end[1] for end in ends if end[0]]
    flags = [] if converged else [NOT_CONVERGED]
    if reached and max(reached) - min(reached) > SAME:
        flags.append(STARTS_DIFFER)
    raw = point.s if converged else np.full(votes.n, np.nan)
    low, high = _eta_interval(problem, point)
    eta = sigmoid(point.judges[THRESHOLD])
    return CrowdFit(raw, graph.centred(raw), eta, low, high, objective, tuple(flags), graph)


def _eta_interval(problem: Problem, point: Point) -> tuple[Array, Array]:
    """The ends of the 95 percent intervals of eta; NaN where the point is no maximum."""
    n, k = problem.counts.n, problem.counts.judges
    try:
        system = problem.slope(problem.at(point))[1]
        covariance = system.solve(np.eye(n + k)[:, n:])[n:]
    except NotPositive:
        return np.full(k, np.nan), np.full(k, np.nan)
    half = 1.959963984540054 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    t = point.judges[THRESHOLD]
    return sigmoid(t - half), sigmoid(t + half)
