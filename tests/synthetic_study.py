"""Studies with known effects and variance components, as the analyses of a study take them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from delibsim.analysis.study.study_table import StudyTable

TREATMENTS = {"none": 0.0, "basic": 0.02, "normative": 0.03}


def synthetic_study(
    effects: Mapping[str, float] = TREATMENTS,
    topics: int = 12,
    models: int = 4,
    replicates: int = 5,
    seed: int = 0,
    sd_topic: float = 0.05,
    sd_model: float = 0.03,
    sd_slope: float = 0.02,
    sd_pair: float = 0.05,
    sd_residual: float = 0.1,
    null: bool = False,
) -> StudyTable:
    """A balanced study whose `dri_change` is the effect of its treatment plus random effects.

    `sd_pair` is the standard deviation of what treatments of one topic and replicate share.
    """
    rng = np.random.default_rng(seed)
    of_topic = rng.normal(0, sd_topic, topics)
    of_model = rng.normal(0, sd_model, models)
    of_slope = rng.normal(0, sd_slope, (models, len(effects)))
    of_pair = rng.normal(0, sd_pair, (topics, replicates))
    rows = []
    for t in range(topics):
        for m in range(models):
            for r in range(replicates):
                for k, (treatment, effect) in enumerate(effects.items()):
                    pre = float(np.clip(rng.normal(0.3, 0.15), -0.9, 0.9))
                    change = effect + of_topic[t] + of_model[m] + of_pair[t, r]
                    change += of_slope[m, k] * (treatment != "none") + rng.normal(0, sd_residual)
                    change = float(np.clip(change, -1.9 - pre, 1 - pre))
                    rows.append(_row(t, m, r, treatment, pre, change, null, rng))
    return StudyTable("synthetic", pd.DataFrame(rows), columns=())


def _row(
    topic: int,
    model: int,
    replicate: int,
    treatment: str,
    pre: float,
    change: float,
    null: bool,
    rng: np.random.Generator,
) -> dict[str, object]:
    row: dict[str, object] = {
        "study": "synthetic",
        "session": f"topic{topic}-model{model}-{treatment}-r{replicate + 1}",
        "cell": f"topic{topic}-model{model}-{treatment}",
        "topic": f"topic{topic}",
        "survey": f"topic{topic}",
        "model": f"model{model}",
        "family": f"family{model // 2}",
        "reasoning": bool(model % 2),
        "null": null,
        "setting": "",
        "treatment": treatment,
        "replicate": replicate + 1,
        "rounds": 0 if treatment == "none" else 2,
        "group_size": 5,
        "temperature": 0.0,
        "wording": "default",
        "persona": "none",
        "status": "complete",
        "words_spoken": 0 if treatment == "none" else int(rng.integers(3000, 6000)),
        "reasked": 0,
        "refusals": 0,
        "answers_missing": 0,
        "cost_usd": 0.01,
    }
    for measure in ("dri", "dri_adjusted"):
        noise = 0.0 if measure == "dri" else rng.normal(0, 0.01)
        row |= {f"{measure}_pre": pre, f"{measure}_post": pre + change + noise}
        moved = change + noise
        room = 1 - pre if moved >= 0 else 1 + pre
        row |= {f"{measure}_change": moved, f"{measure}_relative_change": moved / room}
    for measure, level, width in (
        ("diversity", 8.0, 2.0),
        ("consideration_agreement", 0.5, 0.1),
        ("preference_agreement", 0.5, 0.1),
    ):
        before = rng.normal(level, width)
        moved = rng.normal(0.01 * level, 0.2 * width)
        row |= {f"{measure}_pre": before, f"{measure}_post": before + moved}
        row[f"{measure}_change"] = moved
    row["opinion_change_c_change"] = abs(rng.normal(0.7, 0.2))
    row["opinion_change_p_change"] = abs(rng.normal(0.6, 0.2))
    row["rank_stability_change"] = float(np.clip(rng.normal(0.7, 0.1), -1, 1))
    return row
