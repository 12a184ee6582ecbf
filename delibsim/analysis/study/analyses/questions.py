"""The three questions about each effect, a row each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.effects import EQUAL, OVER_DRAWS, OVER_MODELS, OVER_TOPICS
from delibsim.analysis.study.sample.populations import CITIZENS

KEYS = ("outcome", "scale", "a", "b")
NAMED = ("population", "role", *KEYS)
BOTH = "topic and model"
SHOWN = ("estimate", "low", "high", "df", "note")


def questions(results: Mapping[str, Result]) -> Result:
    """Three rows for each contrast, from the tables `contrasts` and `mixed`."""
    contrasts = results["contrasts"]
    rows: list[dict[str, Any]] = []
    if contrasts.given:
        rows = list(_rows(contrasts.plain(), _mixed(results)))
    return make_table(
        "study/questions", rows, notes=[], why=contrasts.why_not, detail=contrasts.detail
    )


def _mixed(results: Mapping[str, Result]) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    """The rows of the mixed model on contrasts, by what they are of."""
    result = results.get("mixed")
    rows = result.plain() if result is not None and result.given else []
    return {key_of(row): row for row in rows if row["population"] != CITIZENS}


def _rows(
    contrasts: Sequence[Mapping[str, Any]], mixed: Mapping[tuple[Any, ...], Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The three rows of each contrast; the third where a mixed model could be fitted."""
    null = null_estimates(contrasts)
    for row in contrasts:
        of_citizens = row["population"] == CITIZENS
        named = {name: row[name] for name in NAMED}
        named["null_citizen"] = None if of_citizens else null.get(key_of(row))
        shown = {name: row[name] for name in SHOWN}
        if row["topics"] != 1 or str(row["note"]).startswith(EQUAL):
            tests = {"p": row["p_topics"], "p_holm": row["p_holm"]}
            yield {**named, "question": OVER_TOPICS, "unit": "topic", **shown, **tests}
        if str(row["note"]).startswith(EQUAL):
            continue  # the first row says so
        paired = row["p_draws"] is not None
        yield {
            **named,
            "question": OVER_DRAWS,
            "unit": "draw" if paired else "session",
            "estimate": row["estimate_draws"],
            "low": row["low_draws"],
            "high": row["high_draws"],
            "df": row["df_draws"],
            "p": row["p_draws"] if paired else row["p_free"],
            "p_holm": row["p_holm_draws"],
            "note": row["note"] if row["topics"] == 1 else "",
        }
        fitted = mixed.get(key_of(row))
        if fitted is not None and not of_citizens:
            yield {**named, "question": OVER_MODELS, "unit": BOTH, **_of_both(fitted)}


def _of_both(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """What the mixed model says of both; no interval where one of them is held as it is."""
    if fitted["unit"] == BOTH or str(fitted["note"]).startswith("no_"):
        return {name: fitted.get(name) for name in (*SHOWN, "p")}
    few = [f"few_{kind}s" for kind in ("topic", "model") if kind not in str(fitted["unit"])]
    return {"estimate": fitted["estimate"], "note": "; ".join(few)}


def null_estimates(contrasts: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], Any]:
    """The estimates of the null citizen, by what contrast they are of."""
    return {key_of(row): row["estimate"] for row in contrasts if row["population"] == CITIZENS}


def key_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a contrast is of, whatever the population."""
    return tuple(row[key] for key in KEYS)
