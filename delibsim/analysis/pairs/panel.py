"""Several judges in one fit: place bias, discrimination and ability, and which model holds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from delibsim.analysis.pairs.fitted import Fitted, errors_of, rows_of
from delibsim.analysis.study.result import Result
from delibsim.measures.bradley_terry.fit import Fit, fit
from delibsim.measures.bradley_terry.judges import crowd_bt, likelihood_ratio
from delibsim.measures.bradley_terry.uncertainty import Interval, Uncertainty
from delibsim.measures.correlations import agreement_of_scores

PAGE = "docs/compare.md#several-judges"
NAN = float("nan")
Judged = Literal["pooled", "own_bias", "discriminating"]
MODELS: tuple[Judged, ...] = ("pooled", "own_bias", "discriminating")
"""From the smallest model to the largest; each holds the one before it."""
ONE_JUDGE = "there is one judge only"
LEFT_OUT = "judges_left_out"

JUDGE_MODELS = {
    "dimension": "the dimension",
    "model": "pooled: all judges are alike; own_bias: each has a place bias and a threshold of its"
    " own; discriminating: each tells texts apart in its own measure too",
    "parameters": "free parameters of judges",
    "log_likelihood": "log likelihood of the votes",
    "statistic": "twice what the model gains over the one above it, penalties included",
    "df": "parameters that it has more",
    "p": "p of the likelihood-ratio test that these explain nothing; approximate with a penalty",
    "r": "correlation of its scores with those of the pooled model",
    "note": "why there is no test",
}
JUDGE_PARAMETERS = {
    "dimension": "the dimension",
    "model": "the model of the judges, as in judge_models",
    "judge": "the judge",
    "parameter": "delta: place bias in log odds; theta: threshold; alpha: discrimination",
    "value": "the estimate",
    "low": "lower end of its interval",
    "high": "upper end of its interval",
    "note": "what could not be estimated, and why",
}
CROWD = {
    "dimension": "the dimension",
    "judge": "the judge",
    "eta": "probability that the judge says what the scores say; 0.5 is a coin, less is reversed",
    "low": "lower end of its 95% interval",
    "high": "upper end of its 95% interval",
    "r": "correlation of the scores of Crowd-BT with those of the pooled model",
    "note": "what must be known of the fit",
}


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
    models = rows_of(tests, JUDGE_MODELS)
    why = {} if tests else {"why_not": "one_judge", "detail": ONE_JUDGE}
    definitions = (
        "A row a model of the judges, each tested against the one above it. Where discriminating"
        " explains more than own_bias, judges differ in how well they tell texts apart.",
        "A row a judge and parameter. The geometric mean of the alphas is 1. Of adaptive designs"
        " all of this comes from the random part of the votes.",
        "A row a judge, after Chen et al. (2013): ties dropped, no place bias, penalty dummy:0.5,"
        " prior Beta(10, 2) on eta.",
    )
    titles = ("Models of the judges", "Parameters of the judges", "Crowd-BT")
    return [
        Result(
            "judge_models",
            titles[0],
            definitions[0],
            PAGE,
            models,
            JUDGE_MODELS,
            **why,
        ),
        Result(
            "judge_parameters",
            titles[1],
            definitions[1],
            PAGE,
            rows_of(parameters, JUDGE_PARAMETERS),
            JUDGE_PARAMETERS,
            **why,
        ),
        Result("crowd_bt", titles[2], definitions[2], PAGE, rows_of(crowd, CROWD), CROWD, **why),
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
