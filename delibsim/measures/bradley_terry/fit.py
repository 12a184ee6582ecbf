"""Strengths of texts from votes on pairs: plain Bradley-Terry, Rao-Kupper and Davidson.

All judges may count as one, or each has a place bias and a threshold of its own, or a
discrimination too. docs/measures.md has the formulas.

Item i beats item j with probability 1 / (1 + exp(-(s_i - s_j))). Sources: Bradley and Terry (1952),
https://doi.org/10.2307/2334029; Hunter (2004), https://doi.org/10.1214/aos/1079120141, whose
section 2 gives the condition under which the likelihood has a maximum. The signature is that of
choix (https://choix.lum.li).
"""

from dataclasses import dataclass, field
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
from delibsim.measures.bradley_terry.judges import (
    ALPHA_ZERO,
    NOT_CONVERGED,
    basis,
    discriminating,
    mute,
)
from delibsim.measures.bradley_terry.likelihood import Dummy, Normal, Penalty
from delibsim.measures.bradley_terry.problem import (
    ALPHA,
    DELTA,
    THRESHOLD,
    TOLERANCE,
    Point,
    Problem,
    maximised,
)

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]
Places = NDArray[np.int64]

ONE_ORDER = "one_order"


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
    the whole.
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
    point, converged = maximised(problem, point, tolerance)
    if model.judges == "discriminating" and present.sum() > 1:
        free[ALPHA] = present
        problem, point, converged = discriminating(problem, point, free, model.signed)
        notes = _with_coins(notes, problem.signs)
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
