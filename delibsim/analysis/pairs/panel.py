"""Several judges in one fit: place bias, discrimination and ability, and which model holds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from delibsim.analysis.pairs.fitted import Fitted, errors_of
from delibsim.analysis.result import Result, make_table
from delibsim.measures.bradley_terry.fit import Fit, fit
from delibsim.measures.bradley_terry.judges import crowd_bt, likelihood_ratio
from delibsim.measures.bradley_terry.uncertainty import Interval, Uncertainty
from delibsim.measures.correlations import agreement_of_scores

NAN = float("nan")
Judged = Literal["pooled", "own_bias", "discriminating"]
MODELS: tuple[Judged, ...] = ("pooled", "own_bias", "discriminating")
"""From the smallest model to the largest; each holds the one before it."""
LEFT_OUT = "judges_left_out"


def judge_models(fits: Sequence[Fitted]) -> list[Result]:
    """Which model of the judges the votes bear out, with its parameters; and Crowd-BT."""
    tests: list[dict[str, Any]] = []
    parameters: list[dict[str, Any]] = []
    crowd: list[dict[str, Any]] = []
    for own in (one.base for one in fits if len(one.judges) > 1):
        found = _fits(own)
        tests += _tests(own, found)
        for model in MODELS[1:]:
            parameters += _parameters(own, model, found[model])
        crowd += _crowd(own, found["pooled"])
    return [
        make_table("pairs/judge_models", tests),
        make_table("pairs/judge_parameters", parameters, why="" if tests else "one_judge"),
        make_table("pairs/crowd_bt", crowd, why="" if tests else "one_judge"),
    ]


def _fits(own: Fitted) -> dict[str, Fit]:
    """The fit of every model of the judges; that of the report is not made again."""
    found = {}
    for judged in MODELS:
        model = replace(own.settings.model, judges=judged)
        found[judged] = own.fit if model == own.settings.model else fit(own.counts, model)
    return found


def _tests(own: Fitted, found: dict[str, Fit]) -> Iterator[dict[str, Any]]:
    before: Fit | None = None
    for model, one in found.items():
        row: dict[str, Any] = {"dimension": own.dimension, "model": model}
        row |= {"parameters": one.problem.basis.shape[1], "log_likelihood": one.log_likelihood}
        row["r"] = agreement_of_scores(one.scores, found["pooled"].scores).r
        row["note"] = ""
        if before is not None:
            row |= _test(before, one)
        if own.errors.reason:
            row |= {"p": NAN, "note": own.errors.reason}
        before = one
        yield row


def _test(smaller: Fit, larger: Fit) -> dict[str, Any]:
    """The likelihood-ratio test of two fits of the same votes."""
    if smaller.counts.votes.sum() != larger.counts.votes.sum():
        return {"note": LEFT_OUT}
    if "not_converged" in (*smaller.flags, *larger.flags):
        return {"note": "not_converged"}
    more = larger.problem.basis.shape[1] - smaller.problem.basis.shape[1]
    if more < 1:
        return {"note": "no_parameters"}
    tested = likelihood_ratio(smaller.objective, larger.objective, more)
    return {"statistic": tested.statistic, "df": tested.df, "p": tested.p}


def _parameters(own: Fitted, model: str, found: Fit) -> Iterator[dict[str, Any]]:
    reason, level = own.errors.reason, own.settings.level
    errors = Uncertainty(found, False, reason) if reason else errors_of(found)
    parts: dict[str, Interval] = {"delta": errors.delta(level), "theta": errors.theta(level)}
    if model == "discriminating":
        parts["alpha"] = errors.alpha(level)
    for parameter, part in parts.items():
        for place, judge in enumerate(own.judges):
            row: dict[str, Any] = {"dimension": own.dimension, "model": model, "judge": judge}
            row |= {"parameter": parameter, "value": part.value[place]}
            row |= {"low": part.low[place], "high": part.high[place]}
            yield row | {"note": found.judge_notes[place] or reason}


def _crowd(own: Fitted, pooled: Fit) -> Iterator[dict[str, Any]]:
    found, reason = crowd_bt(own.counts), own.errors.reason
    for place, judge in enumerate(own.judges):
        yield {
            "dimension": own.dimension,
            "judge": judge,
            "eta": found.eta[place],
            "low": NAN if reason else found.eta_low[place],
            "high": NAN if reason else found.eta_high[place],
            "r": agreement_of_scores(found.scores, pooled.scores).r,
            "note": " ".join(found.flags) or reason,
        }
