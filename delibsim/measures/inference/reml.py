"""Restricted maximum likelihood of mixed models, on cross-products of the design.

The model is y = X b + sum over terms of Z u + e, every term and the residual normal with a variance
of its own. The likelihood is profiled over b and the variance of the residual, as in lme4 (Bates,
Maechler, Bolker and Walker 2015, doi:10.18637/jss.v067.i01), with an analytic gradient. The term
with the most levels is eliminated first: its cross-product is diagonal. Many responses to one
design are taken together, because a bootstrap has thousands of small ones.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
TOLD_APART = 1e-9
"""Covariances whose normalised Gram matrix has a smaller eigenvalue are linearly dependent."""


@dataclass(frozen=True)
class Term:
    """Random effects of one variance: the rows of a level share its effect, times their value.

    `levels` numbers the level of each row from 0, `values` is 1 for an intercept and the regressor
    for a slope; both are of the length of the data.
    """

    name: str
    levels: NDArray[np.intp]
    values: Array

    @property
    def count(self) -> int:
        """The number of levels."""
        return int(self.levels.max()) + 1 if len(self.levels) else 0

    def matrix(self):
        """The design of the effects, rows by levels, sparse."""
        from scipy.sparse import csr_array

        rows = np.arange(len(self.levels))
        shape = (len(rows), self.count)
        return csr_array((self.values, (rows, self.levels)), shape=shape)


def term(name: str, groups: ArrayLike, values: ArrayLike | None = None) -> Term:
    """The term of effects by group; intercepts where no values are given.

    >>> term("topic", ["b", "a", "b"]).levels
    array([1, 0, 1])
    """
    levels = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    known = np.ones(len(levels)) if values is None else np.asarray(values, dtype=float)
    return Term(name, levels, known)


def independent(columns: Array) -> list[int]:
    """The columns, by number, that are no linear combination of those before them.

    >>> independent(np.array([[1.0, 0, 1], [1, 1, 0], [1, 1, 0]]))
    [0, 1]
    """
    kept: list[int] = []
    for i in range(columns.shape[1]):
        tried = columns[:, [*kept, i]]
        lengths = np.linalg.norm(tried, axis=0)
        if not lengths.all():
            continue
        if np.linalg.matrix_rank(tried / lengths, tol=1e-9) == len(kept) + 1:
            kept.append(i)
    return kept


def estimable(fixed: Array, terms: Sequence[Term]) -> tuple[list[Term], dict[str, str]]:
    """The terms that a design can estimate, and why each of the others is left out.

    The reasons are "one_level" and "not_identified": after the fixed effects are taken out, the
    covariance of the term is a linear combination of those of the terms before it and of the
    residual, so that no data tell its variance (Searle, Casella and McCulloch 1992, chapter 6:
    the matrix is that of MINQUE(0)). Earlier terms are kept before later ones.
    """
    kept: list[Term] = []
    left_out: dict[str, str] = {}
    for one in terms:
        if one.count < 2:
            left_out[one.name] = "one_level"
        elif not _told_apart(fixed, [*kept, one]):
            left_out[one.name] = "not_identified"
        else:
            kept.append(one)
    return kept, left_out


def _told_apart(fixed: Array, terms: Sequence[Term]) -> bool:
    """Whether the covariances of the terms and of the residual are linearly independent."""
    basis = np.linalg.qr(fixed)[0]
    designs = [one.matrix() for one in terms]
    projected = [design.T @ basis for design in designs]
    size = len(terms)
    gram = np.empty((size + 1, size + 1))
    gram[size, size] = len(fixed) - fixed.shape[1]
    for i in range(size):
        for j in range(i + 1):
            product = (designs[i].T @ designs[j]).toarray() - projected[i] @ projected[j].T
            gram[i, j] = gram[j, i] = float((product**2).sum())
            if i == j:
                gram[i, size] = gram[size, i] = float(np.trace(product))
    scale = np.diag(gram)
    if scale.min() <= TOLD_APART * max(scale.max(), 1.0):
        return False
    normalised = gram / np.sqrt(np.outer(scale, scale))
    return bool(np.linalg.eigvalsh(normalised)[0] > TOLD_APART)


Chosen = NDArray[np.intp]
AT_ONCE = 400_000
"""About how many numbers are worked on at a time: as many as a processor has near."""
SMALL = 40
"""The most levels beside those of the largest term for which many systems are solved at once."""


@dataclass(frozen=True)
class Responses:
    """Products of d responses with the design: all that the likelihood needs of them.

    `largest` (d, levels) and `others` (d, q) are the sums by level of the random effects, `fixed`
    (d, p) the products with the columns of the fixed effects, `squares` (d,) the sums of squares.
    """

    largest: Array
    others: Array
    fixed: Array
    squares: Array

    def of(self, rows: Chosen) -> "Responses":
        """Those of some responses, by number."""
        return Responses(*[part[rows] for part in vars(self).values()])


@dataclass(frozen=True)
class Evaluations:
    """The likelihood of d responses, each at its own variance ratios; the first axis is theirs.

    `deviance` is minus twice the restricted log likelihood, `gradient` its derivative by each
    ratio and `information` the average information, which stands for the second derivatives
    (Gilmour, Thompson and Cullis 1995, doi:10.2307/2533274). `effects` are the fixed effects,
    `residual` is the variance of the residual, and `covariance` that of the fixed effects. All are
    NaN where rounding has left no covariance.
    """

    deviance: Array
    gradient: Array
    information: Array
    effects: Array
    residual: Array
    covariance: Array

    def of(self, rows: Chosen) -> "Evaluations":
        """Those of some responses, by number."""
        return Evaluations(*[part[rows] for part in vars(self).values()])

    def replaced(self, rows: Chosen, others: "Evaluations") -> "Evaluations":
        """The same with those of some responses, by number, replaced."""
        parts = []
        for name, part in vars(self).items():
            changed = part.copy()
            changed[rows] = getattr(others, name)
            parts.append(changed)
        return Evaluations(*parts)


def joined(parts: Sequence[Evaluations]) -> Evaluations:
    """Evaluations of some responses and then of others, as one."""
    columns = zip(*[vars(part).values() for part in parts], strict=True)
    return Evaluations(*map(np.concatenate, columns))


class Likelihood:
    """The restricted likelihood of a design; only the responses change from call to call.

    `terms` are in the order in which they were given; a ratio is the variance of a term divided by
    that of the residual.
    """

    def __init__(self, fixed: Array, terms: Sequence[Term]) -> None:
        from scipy.linalg import get_lapack_funcs
        from scipy.sparse import hstack

        self.solve = get_lapack_funcs("trtrs", dtype=np.float64)
        self.n, self.p = fixed.shape
        self.terms = tuple(terms)
        self.first = int(np.argmax([one.count for one in terms]))
        self.order = [k for k in range(len(terms)) if k != self.first]
        self.fixed = fixed
        self.z1 = terms[self.first].matrix()
        blocks = [terms[k].matrix() for k in self.order]
        self.z2 = hstack(blocks, format="csr") if blocks else self.z1[:, :0]
        widths = [block.shape[1] for block in blocks]
        self.q = sum(widths)
        # Which term each level of [Z2] is of, as a number among the others and as an indicator.
        self.belongs = np.repeat(np.arange(len(blocks)), widths)
        self.of_terms = np.zeros((self.q, len(terms)))
        self.of_terms[np.arange(self.q), np.array(self.order, dtype=int)[self.belongs]] = 1.0
        # Cross-products of [Z2 X] with itself and with Z1.
        zx = self.z2.T @ fixed
        zz = (self.z2.T @ self.z2).toarray()
        self.products = np.block([[zz, zx], [zx.T, fixed.T @ fixed]])
        z1_z2 = (self.z1.T @ self.z2).toarray()
        self.by_largest = np.column_stack([z1_z2, self.z1.T @ fixed])
        self.counts = np.asarray((self.z1.multiply(self.z1)).sum(axis=0)).ravel()
        width = self.q + self.p + 1
        self.size = 4 * width * (width + len(self.counts))  # numbers held for one response, about

    def responses(self, ys: Array) -> Responses:
        """The products of responses, the columns of an array, with the design."""
        largest, others = (self.z1.T @ ys).T, (self.z2.T @ ys).T
        return Responses(largest, others, (self.fixed.T @ ys).T, (ys**2).sum(axis=0))

    def __call__(self, ratios: Array, responses: Responses) -> Evaluations:
        """The likelihood of d responses at these ratios (d, terms), none of which is negative."""
        step = max(1, AT_ONCE // self.size)
        if len(ratios) <= step:
            return self._evaluated(ratios, responses)
        parts = []
        for begin in range(0, len(ratios), step):
            rows = np.arange(begin, min(begin + step, len(ratios)))
            parts.append(self._evaluated(ratios[rows], responses.of(rows)))
        return joined(parts)

    def _evaluated(self, ratios: Array, responses: Responses) -> Evaluations:
        q, p = self.q, self.p
        products, by_largest = self._with(responses)
        # V1 is the covariance of residual and largest term alone: its inverse is known.
        ratio = ratios[:, self.first, None]
        shrunk = 1 / (1 + ratio * self.counts)
        shrunk_products = shrunk[:, :, None] * by_largest
        inner = products - ratio[:, :, None] * (_turned(by_largest) @ shrunk_products)
        # Woodbury's identity for the other terms.
        sds = np.sqrt(ratios[:, self.order])[:, self.belongs, None]
        factor = _roots(sds * inner[:, :q, :q] * _turned(sds) + np.eye(q))
        right = np.concatenate([inner[:, :q], _turned(shrunk_products[:, :, :q])], axis=2)
        solved = self._solved(factor, sds * right)
        of_others, of_data = solved[:, :, :q], solved[:, :, q : q + p + 1]
        of_largest = solved[:, :, q + p + 1 :]
        data = inner[:, q:, q:] - _turned(of_data) @ of_data
        # The fixed effects, and what the response has beyond them.
        root = _roots(data[:, :p, :p])
        inverse = np.asarray(np.linalg.inv(root), dtype=np.float64)
        scaled = inverse @ data[:, :p, p:]
        effects = _turned(inverse) @ scaled
        quadratic = np.maximum(data[:, p, p] - (scaled**2).sum(axis=(1, 2)), 1e-300)
        residual = quadratic / (self.n - p)
        logs = np.log1p(ratio * self.counts).sum(axis=1)
        logs += 2 * (_logs_of_diagonal(root) + _logs_of_diagonal(factor))
        deviance = logs + (self.n - p) * (1 + np.log(2 * np.pi * residual))
        # P is the inverse covariance with the fixed effects taken out: Z' P y by term, and the
        # roots of what P takes from Z' V1^-1 Z.
        others = inner[:, :q, q:] - _turned(of_others) @ of_data
        largest = shrunk_products[:, :, q:] - _turned(of_largest) @ of_data
        projected = _Projected(
            inner=inner[:, :q, :q],
            between=shrunk_products[:, :, :q],
            own=self.counts * shrunk,
            of_others=np.concatenate([of_others, inverse @ _turned(others[:, :, :p])], axis=1),
            of_largest=np.concatenate([of_largest, inverse @ _turned(largest[:, :, :p])], axis=1),
            others=others[:, :, p:] - others[:, :, :p] @ effects,
            largest=largest[:, :, p:] - largest[:, :, :p] @ effects,
        )
        gradient, information = self._derivatives(projected, quadratic, residual)
        covariance = residual[:, None, None] * (_turned(inverse) @ inverse)
        return Evaluations(deviance, gradient, information, effects[:, :, 0], residual, covariance)

    def _derivatives(
        self,
        projected: "_Projected",
        quadratic: Array,
        residual: Array,
    ) -> tuple[Array, Array]:
        """The first derivatives of the deviance by the ratios, and the average information.

        The first are traces of Z' P Z less squares of Z' P y; the information has products by P of
        what each term explains, Z Z' P y.
        """
        by_level = projected.inner.diagonal(axis1=1, axis2=2)
        traces = (by_level - (projected.of_others**2).sum(axis=1)) @ self.of_terms
        squares = projected.others[:, :, 0] ** 2 @ self.of_terms
        of_largest = projected.of_largest**2
        traces[:, self.first] = projected.own.sum(axis=1) - of_largest.sum(axis=(1, 2))
        squares[:, self.first] = (projected.largest**2).sum(axis=(1, 2))
        others = projected.others * self.of_terms
        largest = np.zeros((*projected.own.shape, len(self.terms)))
        largest[:, :, self.first] = projected.largest[:, :, 0]
        between = _turned(projected.between) @ largest
        root = projected.of_others @ others + projected.of_largest @ largest
        information = _turned(others) @ (projected.inner @ others + between)
        information += _turned(between) @ others - _turned(root) @ root
        information += _turned(largest) @ (projected.own[:, :, None] * largest)
        information -= squares[:, :, None] * (squares / quadratic[:, None])[:, None, :]
        return traces - squares / residual[:, None], information / residual[:, None, None]

    def _with(self, responses: Responses) -> tuple[Array, Array]:
        """The cross-products of [Z2 X y] with itself and with Z1."""
        own = np.concatenate([responses.others, responses.fixed], axis=1)
        many, size = own.shape
        products = np.empty((many, size + 1, size + 1))
        products[:, :size, :size] = self.products
        products[:, :size, size] = products[:, size, :size] = own
        products[:, size, size] = responses.squares
        by_largest = np.empty((many, len(self.counts), size + 1))
        by_largest[:, :, :size] = self.by_largest
        by_largest[:, :, size] = responses.largest
        return products, by_largest

    def _solved(self, factors: Array, right: Array) -> Array:
        """What lower triangular factors have to be multiplied with to give the right sides."""
        if self.q <= SMALL and len(factors) > 1:
            return np.asarray(np.linalg.solve(factors, right), dtype=np.float64)
        solved = right.copy()
        for i in range(len(factors) if self.q else 0):
            solved[i] = self.solve(factors[i], right[i], lower=1)[0]
        return solved


@dataclass(frozen=True)
class _Projected:
    """What the derivatives need: `inner`, `between` and `own` are Z' V1^-1 Z of the other terms,
    between these and the largest, and of the largest (a diagonal); `of_others` and `of_largest` are
    roots of what is to be taken from them; `others` and `largest` are Z' P y, one column each.
    """

    inner: Array
    between: Array
    own: Array
    of_others: Array
    of_largest: Array
    others: Array
    largest: Array


def _turned(matrices: Array) -> Array:
    """The transposes of matrices."""
    return matrices.transpose(0, 2, 1)


def _roots(matrices: Array) -> Array:
    """Cholesky's lower factors of matrices; NaN for one that rounding has left without."""
    try:
        return np.asarray(np.linalg.cholesky(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        pass
    found = np.full_like(matrices, np.nan)
    for i, one in enumerate(matrices):
        with suppress(np.linalg.LinAlgError):
            found[i] = np.linalg.cholesky(one)
    return found


def _logs_of_diagonal(factors: Array) -> Array:
    """The sum of the logarithms of the diagonal of each."""
    return np.log(factors.diagonal(axis1=1, axis2=2)).sum(axis=1)
