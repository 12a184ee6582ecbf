"""Agreement of coders in a table of codes: every coefficient with its interval, by dimension."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.analysis.agreement.code_table import (
    WIDE,
    Layout,
    TableDimension,
    code_table,
    said,
    source_of,
)
from delibsim.analysis.agreement.levels import (
    NOMINAL,
    Levels,
    Scale,
    array_of,
    check_scale,
    coefficients_for,
    declared_levels,
    label_of_coefficient,
    levels_of,
    number_in,
    scale_of,
    unknown_dimensions,
    words,
)
from delibsim.analysis.table import DisplayColumn, DisplayTable, number, texts
from delibsim.domain.errors import WrongInput, shortened
from delibsim.domain.reason import in_words
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.measures.reliability.bootstrap import Draws, Named, bootstrap
from delibsim.measures.reliability.clusters import ClusteredEstimate, over_clusters
from delibsim.measures.reliability.codes import CodeMatrix, codes_of, name_of, weights_of
from delibsim.measures.reliability.coefficients import COEFFICIENTS, Estimate
from delibsim.measures.reliability.ratings import probabilities, word_of

NAN = float("nan")
RESAMPLES, MOST_RESAMPLES = 10_000, 1_000_000
BY_T, BY_BOOTSTRAP, BY_CLUSTERS = "t", "bootstrap", "cluster bootstrap"
OVER_CLUSTERS = "clusters"
ONE_CLUSTER = "one_cluster"


@dataclass(frozen=True)
class Row:
    """A coefficient with its interval of 95%.

    `method` says how interval and `error` were made: "t" (closed standard error), "clusters" (by t
    over them, jackknife), "bootstrap" (of texts), "cluster bootstrap", "" where there is none.
    `undefined` counts resamples without a value by reason. `word` is the highest of Landis and
    Koch's that is at least 95% probable. `reason` is the code of why the value
    is NaN, `no_interval` of why the interval is.
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
    where there is a standard error), `by` a column whose values are clusters of texts,
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
    """A row for each coefficient; by bootstrap where it is asked for, or where a coefficient has no
    standard error: in closed form or, where there are clusters, over them.
    """
    estimates = [over_clusters(codes, name, kind, clusters) for name, kind in named]
    closed = not resamples
    needed = []
    for i, found in enumerate(estimates):
        has_error = not np.isnan(found.error) or clusters is not None
        if not found.reason and not (closed and has_error):
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
        without = one_cluster or (i in needed and i not in drawn)
        yield _row(found, drawn.get(i), lacking if without and not found.reason else "")


def _row(found: Estimate, drawn: Draws | None, no_interval: str) -> Row:
    """A coefficient with its interval from draws, or by t unless there is none."""
    low, high = (NAN, NAN) if no_interval else (drawn or found).interval()
    own = OVER_CLUSTERS if isinstance(found, ClusteredEstimate) else BY_T
    method = "" if np.isnan(low) else own
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


FEW_CLUSTERS = 20
"""With fewer, an interval over clusters is too short."""
HIGH, LOW = 0.8, 0.4
"""Percent agreement above the one beside a coefficient below the other has to be explained."""
FEW_TEXTS, FEW_SKEWED = 50, 200
"""With fewer texts coded twice intervals are too short; with the second, if one level is frequent
(bench/coverage_agreement.py).
"""
MANY_SINGLE = 0.1
"""With a larger share of texts with one code, intervals by t of two coefficients are too wide."""
FEWEST_RESAMPLES = 1_000
"""With fewer, percentiles of resamples change from seed to seed."""
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
NAMED = 12
"""More coders are not listed by name."""
LONGEST_LEVELS = 500
"""Levels of more characters are not written as an option to copy."""


def layout_in_words(report: AgreementReport) -> str:
    """What of the table was taken for texts, coders and codes."""
    layout = report.layout
    unused = f" Not used: {words(layout.unused)}." if layout.unused else ""
    text = f", named by '{layout.text}'" if layout.form == WIDE and layout.text else layout.text
    return said(layout.form, text=text, coder=layout.coders[0], level=layout.level, unused=unused)


def counts_in_words(found: DimensionAgreement) -> Iterator[str]:
    """What the coefficients of a dimension rest on."""
    coders = list(map(shortened, found.coders))
    yield said(
        "counts",
        coders=counted(len(coders), "coder"),
        names=f" ({words(coders)})" if 0 < len(coders) <= NAMED else "",
        texts=counted(found.texts, "text"),
        codes=counted(found.codes, "code"),
        missing=f", {found.missing} missing" if found.missing else "",
        declared="declared" if found.levels.declared else "those that occur",
        levels=", ".join(map(shortened, found.levels.labels)) or "none",
    )
    if found.left_out:
        yield said("without_code", texts=counted(found.left_out, "text"))
    if found.without_codes:
        yield said("without_codes", coders=words(list(map(shortened, found.without_codes))))
    if single := found.texts - found.paired:
        yield said("single", texts=counted(single, "text"))


def table_of(found: DimensionAgreement) -> DisplayTable:
    """The coefficients of a dimension, each with its interval and how that was made."""
    columns = [
        DisplayColumn("", text=True),
        DisplayColumn("value"),
        DisplayColumn("SE"),
        DisplayColumn("95% interval"),
        *texts("interval by", "at least"),
    ]
    rows = []
    for row in found.rows:
        label = label_of_coefficient(row.coefficient, row.weighting, len(found.coders))
        method = f"t({row.df})" if row.method == "t" else row.method
        word = row.word or "-"
        rows.append([label, number(row.value), number(row.error), _interval(row), method, word])
    return DisplayTable(columns, rows, found.name)


def _interval(row: Row) -> str:
    if row.low != row.low:
        return "-"
    return f"{number(row.low)}, {number(row.high)}"


def notes_on(found: DimensionAgreement, by: str = "") -> list[str]:
    """What must be known of the coefficients of a dimension."""
    return [*_undefined(found), *_on_levels(found), *_on_values(found), *_on_intervals(found, by)]


def _undefined(found: DimensionAgreement) -> Iterator[str]:
    """Which coefficients and intervals are undefined, by reason."""
    by_reason: dict[str, list[str]] = {}
    for row in found.rows:
        label = label_of_coefficient(row.coefficient, row.weighting, len(found.coders))
        if row.reason:
            by_reason.setdefault(f"undefined: {in_words(row.reason)}", []).append(label)
        if row.no_interval:
            by_reason.setdefault(f"no interval: {in_words(row.no_interval)}", []).append(label)
        if row.undefined:
            parts = [f"{n:,} {in_words(why)}" for why, n in row.undefined.items()]
            said = f"resamples without a value, of {row.resamples:,}: {', '.join(parts)}"
            by_reason.setdefault(said, []).append(label)
    for said, labels in by_reason.items():
        yield f"{said}: {'all' if len(labels) == len(found.rows) else words(labels)}"


def _on_levels(found: DimensionAgreement) -> Iterator[str]:
    """Levels that are likely no names, or one name in two spellings, or lack one."""
    levels = found.levels
    if found.unsaid and levels.numeric and len(levels.labels) > 2:
        yield said("numbers_as_names")
    if levels.declared:
        return
    labels = list(map(shortened, levels.labels))
    others = [label for label in labels if number_in(label) is None]
    commas = [label for label in others if DECIMAL_COMMA.fullmatch(label)]
    if commas:
        yield said("commas", levels=words(commas[:NAMED]))
    elif others and len(labels) > 2 * len(others):
        yield said("names", levels=words(others[:NAMED]))
    for folded in dict.fromkeys(label.casefold() for label in others):
        alike = [label for label in others if label.casefold() == folded]
        if len(alike) > 1:
            yield said("spelled", levels=words(alike))
    if len(labels) > 1:
        named = ",".join(levels.labels)
        plain = len(named) <= LONGEST_LEVELS and not re.search("[,;=]", "".join(levels.labels))
        yield said("undeclared", such_as=f", such as --levels {named}" if plain else "")


def _on_values(found: DimensionAgreement) -> Iterator[str]:
    """Where a coefficient is likely to be misread: at perfect agreement, or with one frequent
    level.
    """
    used = [level for level, share in found.shares.items() if share]
    defined = [row for row in found.rows if not row.reason]
    if found.paired and len(used) == 1 and len(defined) > 1:
        yield said("one_level", level=used[0])
    if any(row.error == 0 for row in found.rows):
        yield said("no_width")
    skewed = [row for row in found.rows if COEFFICIENTS[row.coefficient].skewed]
    level, share = max(found.shares.items(), key=lambda of: of[1], default=("", 0.0))
    exact = found.rows[0].value
    if exact >= HIGH and share >= HIGH and any(row.value < LOW for row in skewed):
        yield said("skewed", exact=exact, share=share, level=shortened(level))


def _on_intervals(found: DimensionAgreement, by: str) -> Iterator[str]:
    """How intervals were made, and where they are too short."""
    defined = [row for row in found.rows if row.method]
    drawn = [row for row in defined if row.resamples]
    resamples = drawn[0].resamples if drawn else 0
    if any(row.method == BY_T for row in defined):
        yield said("by_t")
    if any(row.method == OVER_CLUSTERS for row in defined):
        yield said("over_clusters", clusters=found.clusters, by=by or "the column")
    if drawn and drawn[0].method == BY_CLUSTERS:
        clusters = found.clusters
        yield said("by_clusters", resamples=resamples, clusters=clusters, by=by or "the column")
        if clusters < FEW_CLUSTERS:
            yield said("few_clusters", clusters=clusters)
    elif drawn:
        yield said("by_bootstrap", resamples=resamples)
    if 0 < resamples < FEWEST_RESAMPLES:
        yield said("few_resamples", resamples=counted(resamples, "resample"))
    skewed = max(found.shares.values(), default=0.0) >= HIGH
    if defined and found.paired < (FEW_SKEWED if skewed else FEW_TEXTS):
        why = " of which most have one level," if skewed else ""
        yield said("few_texts", texts=counted(found.paired, "text"), why=why)
    if len(drawn) < len(defined) and found.texts - found.paired > MANY_SINGLE * found.texts:
        yield said("many_single")
    if any(row.word for row in defined):
        yield said("at_least")
    if found.scale == NOMINAL and found.weighting == "own":
        yield said("own_weights")
