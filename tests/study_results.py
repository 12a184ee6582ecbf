"""Tables of results made by hand, with the fixed columns that figures and reports are made from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.study_table import StudyTable

PAIRS = (("normative", "none"), ("basic", "none"), ("normative", "basic"))


def result(name: str, rows: Sequence[Mapping[str, Any]] | pd.DataFrame) -> Result:
    """A result with these rows."""
    return Result(name, name, "Made by hand.", "tests", pd.DataFrame(rows))


def absent(name: str, detail: str) -> Result:
    """A result that a study cannot give."""
    nothing = pd.DataFrame()
    return Result(name, name, "", "tests", nothing, why_not="no_value", detail=detail)


def made_results(study: StudyTable, seed: int = 0) -> dict[str, Result]:
    """All results from which figures are drawn; their numbers are invented."""
    rng = np.random.default_rng(seed)
    rows = study.rows
    topics = list(dict.fromkeys(rows["topic"]))
    models = list(dict.fromkeys(rows["model"]))
    base = {"outcome": "dri", "scale": "absolute", "unit": "topic", "p_holm": 0.1, "note": ""}
    found = [
        result("contrasts", _contrasts(rng, base, topics, models)),
        result("by_model", _by("model", models, len(topics), rng, base)),
        result("by_topic", _by("topic", topics, len(models), rng, base)),
        result("leave_one_out", _without(topics, rng, base)),
        result("equivalence", _equivalence(rng)),
        result("reasoning", _reasoning(rng)),
        result("ceiling", _slopes(rng, rows)),
        result("convergence", _slopes(rng, rows)),
        result("decomposition", _gains(rng, rows)),
        result("ablations", _ablations(rng)),
        result("specifications", _specifications(rng)),
        result("individual_change", _individual(rng, rows)),
        result("effects_on_texts", list(_on_texts(rng))),
    ]
    return {own.name: own for own in found}


def _on_texts(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Two contrasts of one outcome, by people, by models and corrected."""
    for a, b in PAIRS[:2]:
        for row in ("people", "models", "corrected"):
            named = {"outcome": "dqi3.justification", "a": a, "b": b, "row": row}
            yield named | _interval(rng, 0.2, 0.1)


def _interval(rng: np.random.Generator, middle: float, half: float) -> dict[str, float]:
    estimate = float(rng.normal(middle, half / 2))
    return {"estimate": estimate, "low": estimate - half, "high": estimate + half}


def _contrasts(rng: Any, base: Any, topics: Any, models: Any) -> list[dict[str, Any]]:
    found = []
    for population in ("models", "null citizen"):
        for a, b in PAIRS:
            size = {"blocks": len(topics) * len(models), "topics": len(topics)}
            own = _interval(rng, 0.03 * (population == "models"), 0.03)
            found.append({**base, "population": population, "a": a, "b": b, **own, **size})
    return found


def _by(unit: str, names: Any, n: int, rng: Any, base: Any) -> list[dict[str, Any]]:
    found = []
    for a, b in PAIRS:
        for name in names:
            own = _interval(rng, 0.02, 0.05)
            row = {**base, "a": a, "b": b, unit: name, **own, "n": n, "p": 0.04}
            found.append(row | {"unit": "topic" if unit == "model" else "draw"})
    return found


def _without(topics: Any, rng: Any, base: Any) -> list[dict[str, Any]]:
    found = []
    for a, b in PAIRS:
        for name in topics:
            own = _interval(rng, 0.02, 0.03)
            found.append({**base, "a": a, "b": b, "left_out": name, **own})
    return found


def _equivalence(rng: Any) -> list[dict[str, Any]]:
    found = []
    for scale, margin in (("absolute", 0.05), ("relative", 0.1)):
        for a, b in PAIRS:
            own = _interval(rng, 0.02, margin / 2)
            ends = {"low_90": own["low"], "high_90": own["high"], "estimate": own["estimate"]}
            inside = own["low"] > -margin and own["high"] < margin
            names = {"outcome": "dri", "scale": scale, "a": a, "b": b, "margin": margin}
            found.append({**names, **ends, "p": 0.03, "equivalent": inside, "note": ""})
    return found


def _reasoning(rng: Any) -> list[dict[str, Any]]:
    names = ("claude", "gpt", "deepseek", "all")
    return [
        {"outcome": "dri", "family": name, **_interval(rng, 0.01, 0.04), "n": 12, "note": ""}
        for name in names
    ]


def _populations(rows: pd.DataFrame) -> list[str]:
    return ["all models", *dict.fromkeys(rows["treatment"]), "null citizen", "people"]


def _slopes(rng: Any, rows: pd.DataFrame) -> list[dict[str, Any]]:
    found = []
    for name in _populations(rows):
        own = _interval(rng, -0.5, 0.15)
        fit = {"slope": own["estimate"], "low": own["low"], "high": own["high"], "r2": 0.31}
        fit |= {"corrected": -0.1, "corrected_low": -0.4, "corrected_high": 0.2}
        found.append({"population": name, **fit, "se": 0.07, "p": 0.01, "n": 60, "note": ""})
    return found


def _gains(rng: Any, rows: pd.DataFrame) -> list[dict[str, Any]]:
    found = []
    for measure in ("consideration_agreement", "preference_agreement"):
        for name in _populations(rows):
            own = _interval(rng, 0.05, 0.04)
            gain = {"gain": own["estimate"], "low": own["low"], "high": own["high"]}
            found.append({"population": name, "measure": measure, **gain, "n": 60, "topics": 12})
    return found


def _ablations(rng: Any) -> list[dict[str, Any]]:
    found = []
    levels = {"rounds": (2, 4, 6), "group_size": (3, 5, 7), "temperature": (0.0, 0.7, 1.0)}
    for outcome in ("dri_change", "diversity_pre", "diversity_change"):
        for factor, (one, two, three) in levels.items():
            for a, b in ((two, one), (three, one), (three, two)):
                own = _interval(rng, 0.0, 0.08)
                row = {"factor": factor, "outcome": outcome, "a": a, "b": b, "n_a": 60, "n_b": 60}
                difference = own.pop("estimate")
                tests = {"unit": "topic", "p": 0.3, "p_tukey": 0.4, "note": ""}
                found.append({**row, "difference": difference, **own, **tests})
    return found


def _specifications(rng: Any) -> list[dict[str, Any]]:
    found = []
    for a, b in PAIRS:
        for index in ("plain", "adjusted"):
            for scale in ("absolute", "relative"):
                for wording in ("all", "default", "second"):
                    for runs in ("all", "without re-asked"):
                        choices = {"index": index, "scale": scale, "wording": wording}
                        own = _interval(rng, 0.02 if b == "none" else 0.0, 0.03)
                        row = {"a": a, "b": b, **choices, "runs": runs, "left_out": "nothing"}
                        row["pairing"] = "all sessions"
                        found.append({**row, **own, "p": 0.1, "blocks": 48, "note": ""})
    return found


def _individual(rng: Any, rows: pd.DataFrame) -> pd.DataFrame:
    own = rows[["session", "topic", "model", "treatment"]]
    own = own.loc[own.index.repeat(5)].reset_index(drop=True)
    size = len(own)
    return own.assign(
        participant=[f"P{i % 5 + 1}" for i in range(size)],
        items_changed=rng.integers(0, 30, size),
        mean_change_c=np.abs(rng.normal(0.7, 0.4, size)),
        mean_change_p=np.abs(rng.normal(0.6, 0.4, size)),
        tau=np.clip(rng.normal(0.7, 0.3, size), -1, 1),
    )
