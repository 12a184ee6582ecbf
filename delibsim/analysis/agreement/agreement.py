"""Agreement of coders in a table of codes: every coefficient with its interval, by dimension."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.analysis.agreement.code_table import (
    Layout,
    TableDimension,
    code_table,
    said,
    source_of,
)
from delibsim.analysis.agreement.levels import (
    Levels,
    Scale,
    array_of,
    check_scale,
    coefficients_for,
    declared_levels,
    levels_of,
    scale_of,
    unknown_dimensions,
)
from delibsim.domain.errors import WrongInput
from delibsim.domain.seed import seed_of
from delibsim.measures.reliability.bootstrap import Draws, Named, bootstrap
from delibsim.measures.reliability.codes import CodeMatrix, codes_of, name_of, weights_of
from delibsim.measures.reliability.coefficients import Estimate, coefficient
from delibsim.measures.reliability.ratings import probabilities, word_of

NAN = float("nan")
RESAMPLES, MOST_RESAMPLES = 10_000, 1_000_000
BY_T, BY_BOOTSTRAP, BY_CLUSTERS = "t", "bootstrap", "cluster bootstrap"
ONE_CLUSTER = "one_cluster"


@dataclass(frozen=True)
class Row:
    """A coefficient with its interval of 95%.

    `method` says how interval and `error` were made: "t" (closed standard error), "bootstrap" (of
    texts), "cluster bootstrap", "" where there is none. `undefined` counts resamples without a
    value by reason. `word` is the highest of Landis and Koch's that is at least 95% probable.
    `reason` is the code of why the value is NaN, `no_interval` of why the interval is.
    """

    coefficient: str
    weighting: str
    value: float
    error: float
    low: float
    high: float
    method: str
    df: int
    resamples: int
    undefined: Mapping[str, int]
    word: str
    probabilities: Mapping[str, float]
    reason: str
    no_interval: str


@dataclass(frozen=True)
class DimensionAgreement:
    """The agreement on one dimension: what it rests on, and a row for each coefficient.

    `texts` have a code, `paired` of them two or more, `left_out` none. `clusters` is how many `by`
    gives, 0 without it.
    """

    name: str
    coders: tuple[str, ...]
    without_codes: tuple[str, ...]
    texts: int
    paired: int
    left_out: int
    codes: int
    missing: int
    levels: Levels
    shares: Mapping[str, float]
    scale: str
    weighting: str
    unsaid: bool
    clusters: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class AgreementReport:
    """The agreement of the coders of a table, dimension by dimension."""

    layout: Layout
    dimensions: tuple[DimensionAgreement, ...]

    @property
    def something(self) -> bool:
        """Whether any coefficient is defined."""
        return any(row.reason == "" for found in self.dimensions for row in found.rows)

    @property
    def whole(self) -> bool:
        """Whether all coefficients are defined."""
        return all(row.reason == "" for found in self.dimensions for row in found.rows)

    def plain(self) -> dict[str, Any]:
        """All as plain values; NaN is that of JSON's null."""
        return asdict(self)


def agreement(
    table: Any,
    weights: Any = None,
    levels: Any = None,
    bootstrap: int = 0,
    by: str = "",
    scale: str | None = None,
    coders_in_rows: bool = False,
    columns: Mapping[str, str | Sequence[str]] | None = None,
) -> AgreementReport:
    """How far coders agree in any table of codes.

    `table` is the path of a CSV file, a pandas DataFrame, a list of mappings or an array: with a
    row a code (columns text, coder, level, perhaps dimension) or a row a text and a column a coder.
    `weights` is the name of a weighting or a matrix, `levels` the declared levels in order (also
    by dimension: {"groups": [0, 1, 2]}), `bootstrap` how many resamples the intervals have (0: by t
    where there is a standard error in closed form), `by` a column whose values are drawn whole,
    `scale` "nominal", "ordinal", "interval" or "ratio". `columns` names columns by what they hold:
    {"text": "id", "coder": ["anna", "ben"]}. WrongInput for a table that cannot be read so.

    >>> found = agreement([[0, 0], [1, 1], [1, 0], [0, 0]], levels=[0, 1])
    >>> row = found.dimensions[0].rows[1]
    >>> row.coefficient, round(row.value, 4)
    ('ac', 0.5294)
    """
    if bootstrap != 0 and not 2 <= bootstrap <= MOST_RESAMPLES:
        raise WrongInput(said("few_draws", most=MOST_RESAMPLES, given=bootstrap))
    chosen, declared = scale_of(scale, weights), declared_levels(levels)
    source = source_of(table)
    named = {role: _listed(names) for role, names in (columns or {}).items()}
    read = code_table(source, named, by, coders_in_rows)
    unknown_dimensions(declared, [found.name for found in read.dimensions])
    reports = []
    for codes in read.dimensions:
        own = levels_of(codes, declared, source.name)
        check_scale(chosen, own, codes.name)
        reports.append(_dimension(codes, own, chosen, bootstrap, by))
    return AgreementReport(read.layout, tuple(reports))


def _listed(names: Any) -> Sequence[str]:
    several = isinstance(names, Iterable) and not isinstance(names, str)
    return [str(name) for name in names] if several else [str(names)]


def _dimension(
    given: TableDimension,
    levels: Levels,
    scale: Scale,
    resamples: int,
    by: str,
) -> DimensionAgreement:
    """The agreement on one dimension."""
    table = array_of(given, levels)
    codes = codes_of(table, levels.numbers)
    coded = ~np.isnan(table)
    clusters = None
    if by:
        names = np.array([given.clusters[text] for text in given.texts])
        clusters = names[codes.kept]
    rows = _rows(codes, coefficients_for(scale), resamples, clusters, given.name)
    used = np.bincount(codes.places[codes.places >= 0], minlength=len(levels.labels))
    shares = dict(zip(levels.labels, (used / max(used.sum(), 1)).tolist(), strict=True))
    has_code = np.logical_or.reduce(coded, axis=0).tolist()
    who = list(zip(given.coders, has_code, strict=True))
    return DimensionAgreement(
        name=given.name,
        coders=tuple(coder for coder, has in who if has),
        without_codes=tuple(coder for coder, has in who if not has),
        texts=len(codes.places),
        paired=codes.paired,
        left_out=len(table) - len(codes.places),
        codes=int(coded.sum()),
        missing=int((codes.places < 0).sum()),
        levels=levels,
        shares=shares,
        scale=scale.name,
        weighting=name_of(scale.weighting),
        unsaid=scale.unsaid,
        clusters=0 if clusters is None else len(np.unique(clusters)),
        rows=tuple(rows),
    )


def _rows(
    codes: CodeMatrix,
    named: Sequence[Named],
    resamples: int,
    clusters: NDArray[np.str_] | None,
    dimension: str,
) -> Iterator[Row]:
    """A row for each coefficient; by bootstrap where it is asked for, where clusters are drawn, or
    where a coefficient has no standard error in closed form.
    """
    estimates = [coefficient(codes, name, weighting) for name, weighting in named]
    closed = not resamples and clusters is None
    needed = []
    for i, found in enumerate(estimates):
        if not found.reason and not (closed and not np.isnan(found.error)):
            needed.append(i)
    one_cluster = clusters is not None and len(np.unique(clusters)) < 2
    drawn: dict[int, Draws] = {}
    if needed and not one_cluster and len(codes.places) > 1:
        asked = [named[i] for i in needed]
        seed = seed_of("agreement", dimension)
        draws = bootstrap(codes, asked, resamples or RESAMPLES, seed, clusters)
        drawn = dict(zip(needed, draws, strict=True))
    lacking = ONE_CLUSTER if one_cluster else "one_text"
    for i, found in enumerate(estimates):
        yield _row(found, drawn.get(i), lacking if i in needed and i not in drawn else "")


def _row(found: Estimate, drawn: Draws | None, no_interval: str) -> Row:
    """A coefficient with its interval from draws, or by t unless there is none."""
    low, high = (NAN, NAN) if no_interval else (drawn or found).interval()
    method = "" if np.isnan(low) else BY_T
    error = found.error if method else NAN
    if drawn is not None:
        method, error = BY_CLUSTERS if drawn.clusters else BY_BOOTSTRAP, drawn.error
    percent = found.coefficient == "percent"
    return Row(
        coefficient=found.coefficient,
        weighting=found.weighting,
        value=found.value,
        error=error,
        low=low,
        high=high,
        method=method,
        df=found.df,
        resamples=0 if drawn is None else len(drawn.values),
        undefined={} if drawn is None else drawn.undefined,
        word="" if percent else word_of(found.value, error),
        probabilities={} if percent else probabilities(found.value, error),
        reason=found.reason,
        no_interval=no_interval,
    )


def chance_shrunk(observed: float, shares: ArrayLike) -> float:
    """A "linear-weighted AC1" as it was published (Liu 2026, TU Delft), for comparison with its
    figures alone: its chance is Gwet's divided once more by the number of levels, so that it is
    higher throughout.

    `observed` is the linearly weighted share of agreement, `shares` (levels,) the share of each
    level over both coders. Its chance is mean(w) sum p (1 - p) / (q - 1).

    >>> round(chance_shrunk(0.895, [0.0325, 0.85, 0.1175]), 3)
    0.887
    """
    own = np.asarray(shares, dtype=float)
    weights = weights_of("linear", len(own))
    chance = float(weights.mean() * (own * (1 - own)).sum()) / (len(own) - 1)
    return (observed - chance) / (1 - chance)
