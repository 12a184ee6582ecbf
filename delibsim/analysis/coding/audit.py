"""Tables of an audit: what rationales conclude, rates with intervals, kinds of failure.

A rate stands on the calls that could be read, and the share of those calls stands beside it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan
from typing import Any

from delibsim.domain.audit import KINDS, Failure, Outcome, Reading, Verdict
from delibsim.measures.designs import effective_size
from delibsim.measures.inference.means import wilson

ALL = "all"
Stratum = tuple[str, str, Outcome]


@dataclass(frozen=True)
class Share:
    """So many of so many, with the Wilson interval; NaN of nothing."""

    n: float
    of: float
    value: float
    low: float
    high: float

    @classmethod
    def of_counts(cls, n: float, of: float) -> "Share":
        """The share of counts, or of the effective counts of a weighted sample."""
        if not of:
            return cls(n, of, nan, nan, nan)
        return cls(n, of, n / of, *wilson(n, of))


@dataclass(frozen=True)
class AuditRow:
    """What was read by rule of the calls of a model on a dimension ("all": of all).

    `coverage` is the share of calls that could be read, `faithful` the share of those in which the
    rationale concludes the level that was given. `misquoted` is the share of rationales with a
    quotation that quote words which are not in the text.
    """

    model: str
    dimension: str
    calls: int
    agrees: int
    differs: int
    not_read: int
    coverage: Share
    faithful: Share
    misquoted: Share


@dataclass(frozen=True)
class CorrectedRow:
    """What a reader of rationales found: a person, or a model that sees neither text nor level.

    `faithful` is the share of calls whose rationale concludes the level given, over all calls of
    the strata that were sampled (model, dimension, what the rule read), each by its weight; its
    interval is that of Wilson on the effective number of calls. `stands_for` is the share of all
    calls in these strata. `none` are calls whose rationale concludes no level, which are left out.
    `rule_missed` are those in which the rule read a difference and the reader none.
    """

    reader: str
    kind: str
    read: int
    agrees: int
    differs: int
    none: int
    missing: int
    faithful: Share
    stands_for: float
    rule_missed: int


def audit_rows(readings: Sequence[Reading]) -> list[AuditRow]:
    """A row for each model and dimension, for each dimension, and for all."""
    groups: defaultdict[tuple[str, str], list[Reading]] = defaultdict(list)
    for reading in readings:
        sample = reading.sample
        groups[sample.model, sample.dimension].append(reading)
        groups[ALL, sample.dimension].append(reading)
        groups[ALL, ALL].append(reading)
    order = sorted(groups, key=lambda key: (key[1] == ALL, key[1], key[0] == ALL, key[0]))
    return [_row(*key, groups[key]) for key in order]


def _row(model: str, dimension: str, readings: Sequence[Reading]) -> AuditRow:
    outcomes = Counter(reading.outcome for reading in readings)
    read = outcomes["agrees"] + outcomes["differs"]
    quoting = [one for one in readings if one.quotations and one.misquoted is not None]
    made_up = sum(bool(one.misquoted) for one in quoting)
    return AuditRow(
        model=model,
        dimension=dimension,
        calls=len(readings),
        agrees=outcomes["agrees"],
        differs=outcomes["differs"],
        not_read=outcomes["not_read"],
        coverage=Share.of_counts(read, len(readings)),
        faithful=Share.of_counts(outcomes["agrees"], read),
        misquoted=Share.of_counts(made_up, len(quoting)),
    )


def stratum_of(reading: Reading) -> Stratum:
    """Model, dimension and what the rule read: within these, samples are drawn alike."""
    return reading.sample.model, reading.sample.dimension, reading.outcome


def corrected_rows(readings: Sequence[Reading], verdicts: Iterable[Verdict]) -> list[CorrectedRow]:
    """A row for each reader of rationales, the rate corrected by the strata of the sample."""
    by_sample = {reading.sample.key: reading for reading in readings}
    by_reader: defaultdict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.sample in by_sample:
            by_reader[verdict.kind, verdict.reader].append(verdict)
    sizes = Counter(map(stratum_of, readings))
    return [_corrected(*key, by_reader[key], by_sample, sizes) for key in sorted(by_reader)]


def _corrected(
    kind: str,
    reader: str,
    verdicts: Sequence[Verdict],
    by_sample: Mapping[tuple[str, str, str, str, int], Reading],
    sizes: Mapping[Stratum, int],
) -> CorrectedRow:
    given = [verdict for verdict in verdicts if verdict.missing is None]
    outcomes: Counter[Outcome] = Counter()
    agreed: Counter[Stratum] = Counter()
    read: Counter[Stratum] = Counter()
    missed = 0
    for verdict in given:
        reading = by_sample[verdict.sample]
        outcome = verdict.outcome(reading.sample.level)
        outcomes[outcome] += 1
        if outcome == "not_read":
            continue
        stratum = stratum_of(reading)
        read[stratum] += 1
        agreed[stratum] += outcome == "agrees"
        missed += outcome == "agrees" and reading.outcome == "differs"
    strata = list(read)
    total = sum(sizes[stratum] for stratum in strata)
    weights = [sizes[stratum] / total for stratum in strata]
    shares = [agreed[stratum] / read[stratum] for stratum in strata]
    rate = sum(weight * share for weight, share in zip(weights, shares, strict=True))
    worth = effective_size(weights, [read[stratum] for stratum in strata]) if strata else 0
    return CorrectedRow(
        reader=reader,
        kind=kind,
        read=len(given),
        agrees=outcomes["agrees"],
        differs=outcomes["differs"],
        none=outcomes["not_read"],
        missing=len(verdicts) - len(given),
        faithful=Share.of_counts(min(rate, 1.0) * worth, worth),
        stands_for=total / sum(sizes.values()),
        rule_missed=missed,
    )


def failure_counts(failures: Iterable[Failure]) -> dict[str, dict[str, int]]:
    """How many disagreements there are of each kind, by dimension; of each kind 0 or more."""
    found: dict[str, dict[str, int]] = {}
    for failure in failures:
        counts = found.setdefault(failure.dimension, dict.fromkeys(KINDS, 0))
        counts[failure.kind] += 1
    return found


def plain_rows(rows: Iterable[AuditRow | CorrectedRow]) -> list[dict[str, Any]]:
    """Rows as plain values."""
    return [asdict(row) for row in rows]
