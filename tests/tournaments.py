"""Synthetic tournaments: ratings with known strengths and effects, for tests of the analysis."""

import numpy as np
import pandas as pd

from delibsim.analysis.debates.fits import together
from delibsim.analysis.debates.ratings import MODELS_AND_PEOPLE, columns
from delibsim.analysis.debates.stance import mixed_models
from delibsim.domain.annotation import DIMENSIONS
from delibsim.domain.format import round_robin
from delibsim.domain.participant import SIDES
from delibsim.store.instruments.own_answers import Covariates

MOTIONS = [f"motion{i}" for i in range(10)]


def tournament(strengths, raters=20, seed=0, side=0.0, motions=None, shared=0.5, meetings=None):
    """A table of ratings in which log odds(proposition wins) are the difference of strengths, plus
    `side` and the motion's effect.

    `shared` is the standard deviation of what a debate's raters have in common, on the scale of the
    ratings of performance (points of ten); the winner that a rater names is drawn from the odds.
    """
    rng = np.random.default_rng(seed)
    motions = motions or dict.fromkeys(MOTIONS, 0.0)
    leniency = rng.normal(0, 6, raters)
    rows = []
    for match in round_robin(list(strengths), list(motions), meetings, seed=seed):
        name = f"{match.motion}.{match.proposition}-v-{match.opposition}.r{match.replicate}"
        common = rng.normal(0, shared)
        odds = (
            strengths[match.proposition]
            - strengths[match.opposition]
            + side
            + motions[match.motion]
            + common
        )
        for k in range(raters):
            won = rng.random() < 1 / (1 + np.exp(-odds))
            before = float(rng.integers(20, 81))
            row = {
                "debate": name, "motion": match.motion, "replicate": match.replicate, "rater": f"Rater {k + 1}", "source": "model",
                "model": "citizen", "proposition": match.proposition, "opposition": match.opposition, "first": SIDES[k % 2],
                "winner": SIDES[0] if won else SIDES[1], "attentive": True, "before": before,
                "after": float(np.clip(np.rint(before + (8 if won else -8) + rng.normal(0, 6)), 0, 100)),
            }  # fmt: skip
            for s, sign in zip(SIDES, (1, -1), strict=True):
                quality = (
                    60
                    + leniency[k]
                    + 5 * strengths[match.proposition if sign == 1 else match.opposition]
                    + sign * (4 if won else -4)
                )
                for dimension in DIMENSIONS:
                    row[f"{s}.{dimension}"] = float(
                        np.clip(np.rint(quality + rng.normal(0, 8)), 0, 100)
                    )
                row[f"{s}.words"] = 390 + int(rng.integers(-40, 41))
                row[f"{s}.kind"] = "model"
            rows.append(row)
    return pd.DataFrame(rows, columns=columns())


def published(seed=0, raters=50, each=10, expertise=0.0, spread=None):
    """A tournament as published: people against models, every rater rating `each` of a hundred
    debates; and the covariates by id.

    Four models meet ten people on ten motions; each person proposes in half of its debates. With 50
    raters who each rate ten, each debate has five ratings. Models perform 4 points better, and
    `expertise` points better still for each point of the rater's expertise. `spread` gives the
    standard deviations of targets, raters and residual on all dimensions.
    """
    rng = np.random.default_rng(seed)
    target_sd, rater_sd, residual_sd = spread or (6.0, 5.0, 8.0)
    people = [f"person_{i}" for i in range(10)]
    covariates = {
        name: _person(rng) for name in (*people, *(f"Rater {k + 1}" for k in range(raters)))
    }
    leniency, easily = rng.normal(0, rater_sd, raters), rng.normal(0, 4, raters)
    models = rng.permutation(np.repeat(np.arange(4), 25))
    sides = np.concatenate([rng.permutation([True, False] * 5) for _ in people])
    rounds = -(-raters * each // 100)  # in each round every debate is rated once
    places = np.concatenate([rng.permutation(100) for _ in range(rounds)])[: raters * each]
    rows = []
    for debate in range(100):
        model, person, motion = (
            f"model_{models[debate]}",
            people[debate // 10],
            MOTIONS[debate % 10],
        )
        proposing = bool(sides[debate])
        kinds = ("model", "human") if proposing else ("human", "model")
        quality = rng.normal(60, target_sd, (2, len(DIMENSIONS)))
        name = f"{motion}.{debate}"
        for place in (i for i, at in enumerate(places) if at == debate):
            k = place // each
            before = float(rng.integers(20, 81))
            row = {
                "debate": name, "motion": motion, "replicate": 1, "rater": f"Rater {k + 1}", "source": "human", "model": "",
                "proposition": model if proposing else person, "opposition": person if proposing else model,
                "first": SIDES[place % 2], "attentive": True, "before": before,
            }  # fmt: skip
            edge = 4 + expertise * covariates[f"Rater {k + 1}"].expertise
            marks = (
                quality
                + leniency[k]
                + rng.normal(0, residual_sd, quality.shape)
                + edge * (np.array(kinds) == "model")[:, None]
            )
            won = rng.random() < 1 / (1 + np.exp(-(marks[0] - marks[1]).mean() / 6))
            row |= {"winner": SIDES[0] if won else SIDES[1]}
            moved = before + (6 if won else -6) + 3 * proposing + easily[k] + rng.normal(0, 8)
            row["after"] = float(np.clip(np.rint(moved), 0, 100))
            for s, kind, own in zip(SIDES, kinds, marks, strict=True):
                row |= {
                    f"{s}.{dimension}": value
                    for dimension, value in zip(DIMENSIONS, own, strict=True)
                }
                row |= {f"{s}.words": 390 + int(rng.integers(-40, 41)), f"{s}.kind": kind}
            rows.append(row)
    return pd.DataFrame(rows, columns=columns()), covariates


def _person(rng):
    gender = ("man", "woman")[int(rng.integers(2))]
    return Covariates(
        float(rng.integers(18, 80)), float(rng.integers(1, 8)), float(rng.integers(1, 6)), gender
    )


def rater_models(table):
    """The terms of all mixed models without covariates."""
    models = mixed_models(table, MODELS_AND_PEOPLE, {})
    return together("rater_models", [model.terms for model in models])
