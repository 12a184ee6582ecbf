"""What coding cost by model, what failed, and which texts models refuse."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.calls import cost_usd
from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes
from delibsim.analysis.study.result import Result
from delibsim.domain.reason import in_words

COSTS = {
    "model": "the model",
    "calls": "recorded calls, those that were asked again among them",
    "input_tokens": "tokens of input; empty where a call does not say",
    "output_tokens": "tokens of output; empty where a call does not say",
    "cost_usd": "US dollars of all calls; empty where that of one is unknown",
    "texts": "texts of which the model was asked for a sample",
    "cost_per_text": "US dollars of a text, all dimensions and samples together",
    "codes": "codes of the model with a level, over all dimensions",
    "cost_per_code": "US dollars of a code with a level",
    "seconds": "seconds that its calls took, one after another",
}
FAILURES = {
    "dimension": "the dimension",
    "model": "the model",
    "wording": "the wording",
    "samples": "samples that the coding asks of the model",
    "reason": "why samples are missing; not_given where a model has not answered yet",
    "missing": "samples that are missing for this reason",
    "share": "their share of all these samples",
}
NOT_GIVEN = "not_given"
"""The reason of samples that are not in the record: the model was given up, or stopped."""
REFUSALS = {
    "dimension": "the dimension",
    "model": "the model",
    "level": "the level that the other models' ensemble gives the text; empty if it has none",
    "texts": "texts of this level",
    "samples": "samples of the model that were asked on them",
    "missing": "samples without a level, for whatever reason",
    "refused": "samples that the model or its provider refused",
    "share_refused": "their share of the samples asked",
}
REFUSED = ("refusal", "content_filter")
SOURCE = "docs/coding.md#cost-and-failures"


def costs(study: CodedStudy, exchanges: Iterable[Mapping[str, Any]]) -> Result:
    """A row a model, from the recorded calls of the coding; `exchanges` are plain values."""
    by_model: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in exchanges:
        by_model[_coder(record)].append(record)
    texts: dict[str, set[str]] = defaultdict(set)
    for sample in study.coded.samples:
        texts[sample.model].add(sample.text)
    rows = [_cost(study, model, own, len(texts[model])) for model, own in by_model.items()]
    return Result(
        name="costs",
        title="What coding cost",
        definition="From the record of calls, those that failed and were asked again among them."
        " A code is usable where the model has a level on a text and dimension.",
        source=SOURCE,
        rows=pd.DataFrame(rows, columns=list(COSTS)),
        meanings=COSTS,
        why_not="" if rows else "no_models",
        detail="" if rows else "no call to a language model is recorded",
    )


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
    return Result(
        name="failures",
        title="Samples that are missing",
        definition="How many samples have no level, and why; nothing was put in their place. Of"
        " every text that is coded each model has as many samples as were asked for.",
        source=SOURCE,
        rows=pd.DataFrame(rows, columns=list(FAILURES)),
        meanings=FAILURES,
        notes=told,
        why_not="" if rows else "none_missing",
        detail="" if rows else "no sample is missing",
    )


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
    return Result(
        name="refusals",
        title="Which texts a model refuses, by the level that others give",
        definition="Samples of a model on the texts to which the ensemble of the other models gives"
        " a level. Where refusals crowd at one level, the texts that matter most are missing.",
        source=SOURCE,
        rows=pd.DataFrame(rows if refused else [], columns=list(REFUSALS)),
        meanings=REFUSALS,
        why_not="" if refused else "none_missing",
        detail="" if refused else "every sample that was given has a level",
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
