"""What coding cost by model, which texts models refuse, and what audits of rationales found."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.calls import cost_usd
from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes
from delibsim.domain.coding import KINDS, Failure, Outcome, Reading, Verdict
from delibsim.measures.designs import effective_size
from delibsim.measures.inference.means import wilson

Row = dict[str, Any]
NOT_GIVEN = "not_given"
"""The reason of samples that are not in the record: the model was given up, or stopped."""
REFUSED = ("refusal", "content_filter")


def costs(study: CodedStudy, exchanges: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """A row a model, from the recorded calls of the coding; `exchanges` are plain values."""
    by_model: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in exchanges:
        coder = record.get("purpose", {}).get("participant") or record.get("model")
        by_model[str(coder)].append(record)
    texts: dict[str, set[str]] = defaultdict(set)
    for sample in study.coded.samples:
        texts[sample.model].add(sample.text)
    for model, records in by_model.items():
        spent = cost_usd(records)
        total = nan if spent is None else spent
        n = len(texts[model])
        given = [own.columns[model] for own in study.dimensions if model in own.models]
        codes = sum(int((~np.isnan(places)).sum()) for places in given)
        row: Row = {"model": model, "calls": len(records)}
        row["input_tokens"] = _tokens(records, "input_tokens")
        row["output_tokens"] = _tokens(records, "output_tokens")
        row |= {"cost_usd": total, "texts": n, "cost_per_text": total / n if n else nan}
        row |= {"codes": codes, "cost_per_code": total / codes if codes else nan}
        yield row | {"seconds": float(sum(record.get("seconds") or 0 for record in records))}


def _tokens(records: list[Mapping[str, Any]], name: str) -> float:
    """Tokens of all calls; NaN where one that was answered does not say."""
    total = 0
    for record in records:
        done = record["completion"]
        used = done.get("usage", {}).get(name)
        if used is None and done["status"] == "ok":
            return nan
        total += used or 0
    return float(total)


def failures(study: CodedStudy) -> list[Row]:
    """A row a dimension, model, wording and reason for which samples are missing."""
    asked: Counter[tuple[str, str, str]] = Counter()
    missing: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for sample in study.coded.samples:
        key = sample.dimension, sample.model, sample.wording
        asked[key] += 1
        if sample.missing is not None:
            missing[key][sample.missing.code] += 1
    for key, n in _planned(study, asked).items():
        if n > asked[key]:
            missing[key][NOT_GIVEN] = n - asked[key]
            asked[key] = n
    rows = []
    for key, reasons in missing.items():
        for reason, n in reasons.items():
            row: Row = dict(zip(("dimension", "model", "wording"), key, strict=True))
            row |= {"samples": asked[key], "reason": reason, "missing": n}
            rows.append(row | {"share": n / asked[key]})
    return rows


def _planned(
    study: CodedStudy, given: Mapping[tuple[str, str, str], int]
) -> dict[tuple[str, str, str], int]:
    """How many samples a model owes, by dimension, model and wording.

    In the scored wording these are of every text that is coded on the dimension. Other wordings may
    be asked of a part of the texts, and owe what the model with the most samples has given.
    """
    asked = study.coded.asked
    left_out = Counter(code.dimension for code in study.coded.not_coded)
    most: dict[tuple[str, str], int] = {}
    for (dimension, _, wording), n in given.items():
        most[dimension, wording] = max(n, most.get((dimension, wording), 0))
    found = {}
    for (dimension, wording), n in most.items():
        texts = len(asked.texts) - left_out[dimension]
        for model, samples in asked.by_model.items():
            scored = wording == asked.wording
            found[dimension, model, wording] = samples * texts if scored else n
    return found


def refusals(study: CodedStudy) -> list[Row]:
    """What is missing of each model by the level that the others give: whether failure selects."""
    rows = [row for own in study.dimensions for model in own.models for row in _refused(own, model)]
    return rows if any(row["missing"] for row in rows) else []


def _refused(own: DimensionCodes, model: str) -> Iterator[Row]:
    assert own.samples is not None
    texts = own.samples.texts
    others = np.full(len(texts), nan)
    if len(own.models) > 1:
        places = pd.Series(own.ensemble_of(without=model), index=own.places.index)
        others = places.reindex(list(texts)).to_numpy(dtype=float)
    readable = own.samples.counts[:, own.samples.models.index(model)].sum(axis=1)
    reasons = [own.samples.missing.get((text, model), Counter()) for text in texts]
    missing = np.array([counter.total() for counter in reasons], dtype=float)
    refused = np.zeros(len(texts))
    for code in REFUSED:
        refused += [counter[code] for counter in reasons]
    for place in (*range(own.q), nan):
        here = np.isnan(others) if np.isnan(place) else others == place
        asked = (readable + missing)[here]
        if not asked.sum():
            continue
        row: Row = {"dimension": own.id, "model": model, "level": own.level(place)}
        row |= {"texts": int((asked > 0).sum()), "samples": int(asked.sum())}
        row |= {"missing": int(missing[here].sum()), "refused": int(refused[here].sum())}
        yield row | {"share_refused": float(refused[here].sum()) / float(asked.sum())}


ALL = "all"
Stratum = tuple[str, str, Outcome]


def share_of(n: float, of: float) -> Row:
    """So many of so many, with the Wilson interval; NaN of nothing. The counts may be the effective
    ones of a weighted sample.
    """
    low, high = wilson(n, of) if of else (nan, nan)
    return {"n": n, "of": of, "value": n / of if of else nan, "low": low, "high": high}


def audit_rows(readings: Sequence[Reading]) -> list[Row]:
    """What was read by rule of the calls: a row for each model and dimension, for each dimension,
    and for all.

    `coverage` is the share of calls that could be read, `faithful` the share of those in which the
    rationale concludes the level that was given. `misquoted` is the share of rationales with a
    quotation that quote words which are not in the text.
    """
    groups: defaultdict[tuple[str, str], list[Reading]] = defaultdict(list)
    for reading in readings:
        sample = reading.sample
        for model, dimension in ((sample.model, sample.dimension), (ALL, sample.dimension)):
            groups[model, dimension].append(reading)
        groups[ALL, ALL].append(reading)
    order = sorted(groups, key=lambda key: (key[1] == ALL, key[1], key[0] == ALL, key[0]))
    return [{"model": key[0], "dimension": key[1]} | _read(groups[key]) for key in order]


def _read(readings: Sequence[Reading]) -> Row:
    outcomes = Counter(reading.outcome for reading in readings)
    read = outcomes["agrees"] + outcomes["differs"]
    quoting = [one for one in readings if one.quotations and one.misquoted is not None]
    made_up = sum(bool(one.misquoted) for one in quoting)
    row: Row = {"calls": len(readings)}
    row |= {name: outcomes[name] for name in ("agrees", "differs", "not_read")}
    row |= {"coverage": share_of(read, len(readings))}
    row["faithful"] = share_of(outcomes["agrees"], read)
    return row | {"misquoted": share_of(made_up, len(quoting))}


def stratum_of(reading: Reading) -> Stratum:
    """Model, dimension and what the rule read: within these, samples are drawn alike."""
    return reading.sample.model, reading.sample.dimension, reading.outcome


def corrected_rows(readings: Sequence[Reading], verdicts: Iterable[Verdict]) -> list[Row]:
    """What readers of rationales found, persons or models that see neither text nor level, a row
    each.

    `faithful` is the share of calls whose rationale concludes the level given, over all calls of
    the strata that were sampled (model, dimension, what the rule read), each by its weight; its
    interval is that of Wilson on the effective number of calls. `stands_for` is the share of all
    calls in these strata. `none` are calls whose rationale concludes no level, which are left out.
    `rule_missed` are those in which the rule read a difference and the reader none.
    """
    by_sample = {reading.sample.key: reading for reading in readings}
    by_reader: defaultdict[tuple[str, str], list[tuple[Verdict, Reading]]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.sample in by_sample:
            read = verdict, by_sample[verdict.sample]
            by_reader[verdict.kind, verdict.reader].append(read)
    sizes = Counter(map(stratum_of, readings))
    rows = []
    for kind, reader in sorted(by_reader):
        own = by_reader[kind, reader]
        given = [(one, read) for one, read in own if one.missing is None]
        row: Row = {"reader": reader, "kind": kind, "read": len(given)}
        rows.append(row | _corrected(given, len(own) - len(given), sizes))
    return rows


def _corrected(
    given: Sequence[tuple[Verdict, Reading]], missing: int, sizes: Mapping[Stratum, int]
) -> Row:
    outcomes: Counter[Outcome] = Counter()
    agreed: Counter[Stratum] = Counter()
    read: Counter[Stratum] = Counter()
    missed = 0
    for verdict, reading in given:
        outcome = verdict.outcome(reading.sample.level)
        outcomes[outcome] += 1
        if outcome != "not_read":
            read[stratum_of(reading)] += 1
            agreed[stratum_of(reading)] += outcome == "agrees"
            missed += outcome == "agrees" and reading.outcome == "differs"
    total = sum(sizes[stratum] for stratum in read)
    weights = [sizes[stratum] / total for stratum in read]
    shares = [agreed[stratum] / n for stratum, n in read.items()]
    rate = sum(weight * share for weight, share in zip(weights, shares, strict=True))
    worth = effective_size(weights, list(read.values())) if read else 0
    row: Row = {"agrees": outcomes["agrees"], "differs": outcomes["differs"]}
    row |= {"none": outcomes["not_read"], "missing": missing}
    row["faithful"] = share_of(min(rate, 1.0) * worth, worth)
    return row | {"stands_for": total / sum(sizes.values()), "rule_missed": missed}


def failure_counts(failures: Iterable[Failure]) -> dict[str, dict[str, int]]:
    """How many disagreements there are of each kind, by dimension; of each kind 0 or more."""
    found: dict[str, dict[str, int]] = {}
    for failure in failures:
        counts = found.setdefault(failure.dimension, dict.fromkeys(KINDS, 0))
        counts[failure.kind] += 1
    return found
