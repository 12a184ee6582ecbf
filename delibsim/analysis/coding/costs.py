"""What coding cost by model, what failed, and which texts models refuse."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.calls import cost_usd
from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes
from delibsim.analysis.result import Result, make_table
from delibsim.domain.reason import in_words

NOT_GIVEN = "not_given"
"""The reason of samples that are not in the record: the model was given up, or stopped."""
REFUSED = ("refusal", "content_filter")


def costs(study: CodedStudy, exchanges: Iterable[Mapping[str, Any]]) -> Result:
    """A row a model, from the recorded calls of the coding; `exchanges` are plain values."""
    by_model: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in exchanges:
        by_model[_coder(record)].append(record)
    texts: dict[str, set[str]] = defaultdict(set)
    for sample in study.coded.samples:
        texts[sample.model].add(sample.text)
    rows = [_cost(study, model, own, len(texts[model])) for model, own in by_model.items()]
    return make_table("codes/costs", rows)


def _coder(record: Mapping[str, Any]) -> str:
    """The model that a call was made to, by the name of the coder that was asked."""
    return str(record.get("purpose", {}).get("participant") or record.get("model"))


def _cost(
    study: CodedStudy, model: str, records: list[Mapping[str, Any]], texts: int
) -> dict[str, Any]:
    spent = cost_usd(records)
    total = np.nan if spent is None else spent
    codes = 0
    for own in study.dimensions:
        if model in own.models:
            codes += int((~np.isnan(own.columns[model])).sum())
    return {
        "model": model,
        "calls": len(records),
        "input_tokens": _tokens(records, "input_tokens"),
        "output_tokens": _tokens(records, "output_tokens"),
        "cost_usd": total,
        "texts": texts,
        "cost_per_text": total / texts if texts else np.nan,
        "codes": codes,
        "cost_per_code": total / codes if codes else np.nan,
        "seconds": float(sum(record.get("seconds") or 0 for record in records)),
    }


def _tokens(records: list[Mapping[str, Any]], name: str) -> float:
    """Tokens of all calls; NaN where one that was answered does not say."""
    total = 0
    for record in records:
        done = record["completion"]
        used = done.get("usage", {}).get(name)
        if used is None and done["status"] == "ok":
            return np.nan
        total += used or 0
    return float(total)


def failures(study: CodedStudy) -> Result:
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
    rows: list[dict[str, Any]] = []
    for key, reasons in missing.items():
        named = dict(zip(("dimension", "model", "wording"), key, strict=True))
        for reason, n in reasons.items():
            row: dict[str, Any] = {**named, "samples": asked[key], "reason": reason, "missing": n}
            rows.append(row | {"share": n / asked[key]})
    codes = sorted({row["reason"] for row in rows})
    told = [in_words(code) for code in codes]
    return make_table("codes/failures", rows, notes=told)


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


def refusals(study: CodedStudy) -> Result:
    """What is missing of each model by the level that the others give: whether failure selects."""
    rows: list[dict[str, Any]] = []
    for own in study.dimensions:
        for model in own.models:
            rows += _refusals(own, model)
    refused = [row for row in rows if row["missing"]]
    return make_table(
        "codes/refusals", rows if refused else [], why="" if refused else "none_missing"
    )


def _refusals(own: DimensionCodes, model: str) -> Iterator[dict[str, Any]]:
    assert own.samples is not None
    alone = len(own.models) < 2
    places = pd.Series(own.ensemble_of(without=model), index=own.places.index)
    others = places.reindex(list(own.samples.texts)).to_numpy(dtype=float)
    others = np.full(len(others), np.nan) if alone else others
    column = own.samples.models.index(model)
    readable = own.samples.counts[:, column].sum(axis=1)
    reasons = [own.samples.missing.get((text, model), Counter()) for text in own.samples.texts]
    missing = np.array([counter.total() for counter in reasons], dtype=float)
    refused = np.zeros(len(reasons))
    for code in REFUSED:
        refused += [one[code] for one in reasons]
    for place in (*range(own.q), np.nan):
        here = np.isnan(others) if np.isnan(place) else others == place
        asked = float((readable + missing)[here].sum())
        if not asked:
            continue
        yield {
            "dimension": own.id,
            "model": model,
            "level": own.level(place),
            "texts": int((here & (readable + missing > 0)).sum()),
            "samples": int(asked),
            "missing": int(missing[here].sum()),
            "refused": int(refused[here].sum()),
            "share_refused": float(refused[here].sum()) / asked,
        }
