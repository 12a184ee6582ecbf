"""Studies drawn from a known truth, and how often what the analyses say of them holds.

What bench/validity.py counts in a thousand studies a row, the tests count in some dozens.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from zlib import crc32

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.contrasts import contrasts, corrected
from delibsim.analysis.study.effects import published_interval
from delibsim.analysis.study.sample import PLANNED
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.analysis.study.table_of_study import shares_seeds
from delibsim.domain.seed import seed_of
from delibsim.measures.inference.contrasts import flipped_p, free_p
from delibsim.measures.inference.means import mean_of_units, mean_within

TREATMENTS = ("none", "basic", "normative")
WITHIN = 0.11
"""The standard deviation of the change of sessions of one block and treatment, as published."""
TOPIC, MODEL, BLOCK = 0.055, 0.03, 0.11
"""Those of what topics, models and blocks change under any treatment: with `WITHIN` a session's
change has .17, and topics an intraclass correlation of .11, as published."""
Claims = Iterator[tuple[str, bool]]
"""Names of claims, and whether each is so."""
START, TOPIC_START, BLOCK_START = 0.1, 0.1, 0.08
"""The mean of the true index before, and its standard deviation between topics and blocks."""


@dataclass(frozen=True)
class Known:
    """How a study is drawn.

    `sd_topic`, `sd_model` and `sd_block` are the standard deviations of the difference between any
    two treatments over topics, models and blocks. `correlation` is that of the differences of two
    models in one draw, a topic and replicate, that all models share; `shared` says whether all
    sessions of a draw have one seed, and `told` whether the table has a column of seeds. `missing` is the share of sessions without a value. `skewed`
    draws the effects of topics, against none, from an exponential distribution. `ceiling` is the slope of the
    change on the true index before, wherever somebody speaks.
    """

    topics: int = 6
    models: int = 3
    replicates: int = 3
    basic: float = 0.0
    normative: float = 0.0
    sd_topic: float = 0.0
    sd_model: float = 0.0
    sd_block: float = 0.0
    correlation: float = 0.21
    shared: bool = True
    told: bool = field(default=True, repr=False)  # repr seeds the draws: the same studies
    missing: float = 0.0
    skewed: bool = False
    ceiling: float = 0.0


@dataclass(frozen=True, eq=False)
class Drawn:
    """A study, and what is true of it: the mean change by treatment over topics and models like
    these, and what each topic, each model and each block adds to it.

    `values` are the index before and after, of shape (2, topics, models, replicates, treatments),
    NaN for a session without one.
    """

    known: Known
    values: np.ndarray = field(repr=False)
    mean: dict[str, float]
    of_topics: np.ndarray = field(repr=False)
    of_models: np.ndarray = field(repr=False)
    of_blocks: np.ndarray = field(repr=False)

    @cached_property
    def study(self) -> StudyTable:
        """As the analyses of a study take it."""
        rows = _table(self.known, *self.values)
        return StudyTable("known", rows, (), shares_seeds(rows))

    @property
    def paired(self) -> bool:
        """Whether the analyses take treatments of one replicate as pairs."""
        return _paired(self.known)

    @property
    def change(self) -> np.ndarray:
        """The change of each session, in the order of the rows of the table."""
        return (self.values[1] - self.values[0]).ravel()

    @property
    def same(self) -> bool:
        """Whether no effect varies, and none is there."""
        known = self.known
        varied = known.sd_topic + known.sd_model + known.sd_block + known.ceiling
        return varied == 0 and not known.basic and not known.normative

    def effect(self, a: str, b: str) -> float:
        """Over topics and models like these."""
        return self.mean[a] - self.mean[b]

    def with_models(self, a: str, b: str, model: int | None = None) -> float:
        """Over topics like these, with the models of the study or with one of them."""
        chosen = self.of_models if model is None else self.of_models[model : model + 1]
        return self.effect(a, b) + _difference(chosen, a, b)

    def here(self, a: str, b: str, topic: int | None = None) -> float:
        """On the topics of the study or on one of them, with the models of the study."""
        chosen = slice(None) if topic is None else slice(topic, topic + 1)
        added = _difference(self.of_topics[chosen], a, b) + _difference(
            self.of_blocks[chosen], a, b
        )
        return self.with_models(a, b) + added


def _difference(effects: np.ndarray, a: str, b: str) -> float:
    """The mean difference of two treatments, which are the last axis."""
    means = effects.reshape(-1, len(TREATMENTS)).mean(axis=0)
    return float(means[TREATMENTS.index(a)] - means[TREATMENTS.index(b)])


def drawn(known: Known, seed: int) -> Drawn:
    """A study of this kind."""
    rng = np.random.default_rng([29, seed, crc32(repr(known).encode())])
    t, m, r, k = known.topics, known.models, known.replicates, len(TREATMENTS)
    mean = {"none": 0.0, "basic": known.basic, "normative": known.normative}
    raw = rng.standard_normal((t, k))
    if known.skewed:  # of none it has none, so that differences from it are skewed
        raw = np.sqrt(2) * (rng.exponential(1, (t, k)) - 1) * [0, 1, 1]
    of_topics = known.sd_topic * np.sqrt(0.5) * raw
    of_models = known.sd_model * np.sqrt(0.5) * rng.standard_normal((m, k))
    of_blocks = known.sd_block * np.sqrt(0.5) * rng.standard_normal((t, m, k))
    of_models += MODEL * rng.standard_normal((m, 1))
    base = TOPIC * rng.standard_normal((t, 1)) + BLOCK * rng.standard_normal((t, m))
    start = TOPIC_START * rng.standard_normal((t, 1)) + BLOCK_START * rng.standard_normal((t, m))
    draws = np.sqrt(known.correlation) * WITHIN * rng.standard_normal((t, 1, r, k))
    error = np.sqrt((1 - known.correlation) / 2) * WITHIN
    before, after = error * rng.standard_normal((2, t, m, r, k))
    effects = of_topics[:, None, None] + of_models[None, :, None] + of_blocks[:, :, None]
    spoken = np.array([0.0, 1.0, 1.0])
    change = (
        base[:, :, None, None] + effects + draws + np.array([mean[name] for name in TREATMENTS])
    )
    change = change + known.ceiling * start[:, :, None, None] * spoken
    pre = START + start[:, :, None, None] + before
    post = START + start[:, :, None, None] + change + after
    values = np.stack([pre, post])
    values[:, rng.random(pre.shape) < known.missing] = np.nan
    return Drawn(known, values, mean, of_topics, of_models, of_blocks)


def _table(known: Known, pre: np.ndarray, post: np.ndarray) -> pd.DataFrame:
    """The table of the study; arrays are of topics, models, replicates and treatments."""
    topic, model, replicate, treatment = np.indices(pre.shape).reshape(4, -1)
    seeds = np.arange(pre.size)
    if known.shared:
        seeds = topic * known.replicates + replicate
    before, after = pre.ravel(), post.ravel()
    rows = pd.DataFrame(
        {
            "study": "known",
            "session": [f"s{i}" for i in range(pre.size)],
            "topic": _named("topic", topic),
            "model": _named("model", model),
            "setting": "",
            "treatment": np.array(TREATMENTS, dtype=object)[treatment],
            "replicate": replicate + 1,
            "seed": seeds,
            "family": _named("family", model // 2),
            "reasoning": model % 2 == 1,
            "null": False,
            "status": np.where(np.isnan(before), "no run", "complete"),
            "dri_pre": before,
            "dri_post": after,
            "dri_change": after - before,
        }
    )
    return rows if known.told else rows.drop(columns="seed")


@lru_cache
def _paired(known: Known) -> bool:
    return drawn(known, 0).study.paired


def _named(kind: str, numbers: np.ndarray) -> np.ndarray:
    names = np.array([f"{kind}{number:02}" for number in range(numbers.max() + 1)], dtype=object)
    return names[numbers]


def contrasts_of(one: Drawn, draws: DrawCounts) -> list[dict]:
    """The rows of `contrasts` on the index, as far as claims are read from them.

    Tables take most of the time of that analysis. Where no value is missing, the same is computed
    from arrays; that it is the same is tested.
    """
    if one.known.missing:
        return rows_of_index(contrasts(one.study, draws))
    paired = one.paired
    rows = [_contrast(one, a, b, draws) for a, b in PLANNED]
    return corrected(rows, paired)


def _contrast(one: Drawn, a: str, b: str, draws: DrawCounts) -> dict:
    change = one.change.reshape(one.values.shape[1:])
    topics, models, replicates, _ = change.shape
    sides = [change[..., TREATMENTS.index(name)] for name in (a, b)]
    apart = sides[0] - sides[1]
    blocks = np.arange(topics * models).repeat(replicates)
    topic, draw, _ = np.indices((topics, replicates, models))
    headline = mean_of_units(apart.mean(axis=(1, 2)))
    row = {"a": a, "b": b, "topics": topics, "unit": "topic", "p_free": np.nan}
    if one.paired:
        of_draws = apart.mean(axis=1).ravel()
        equal = np.full(len(of_draws), 1 / len(of_draws))
        here = mean_within(of_draws, np.arange(topics).repeat(replicates), equal)
        of_draw = (topic * replicates + draw).swapaxes(1, 2).ravel()
        seed = seed_of(draws.seed, "flips")
        row["p_draws"] = flipped_p(apart.ravel(), blocks, of_draw, draws.permutations, seed)
    else:
        named = dict(zip((a, b), sides, strict=True))
        values = np.stack([named[name] for name in sorted(named)], axis=2).ravel()
        first = np.tile(
            np.repeat([name == a for name in sorted(named)], replicates), topics * models
        )
        strata = np.arange(2 * topics * models).repeat(replicates)
        here = mean_within(values, strata, np.where(first, 1, -1) / (apart.size))
        seed = seed_of(draws.seed, "labels")
        row["p_free"] = free_p(values, first, strata // 2, draws.permutations, seed)
    shown = headline
    if topics == 1:
        shown, row["unit"] = here, "draw" if one.paired else "session"
        if one.paired:
            row["p_draws"] = here.p
    names = np.arange(topics).repeat(models)
    published = published_interval(apart.mean(axis=2).ravel(), names, "topic", draws)
    return row | {
        "estimate": float(apart.mean()),
        "low": shown.low,
        "high": shown.high,
        "p_topics": headline.p,
        "low_draws": here.low,
        "high_draws": here.high,
        "published_low": published[0],
        "published_high": published[1],
    }


def claims_of_contrasts(one: Drawn, draws: DrawCounts) -> Claims:
    """What the contrasts of the index claim, and whether it is so: intervals that hold the truth,
    tests that reject a true null, and once a study whether any verb of the family is wrong.
    """
    wrong, wrong_here = False, False
    second = "p_draws" if one.paired else "p_free"
    for row in contrasts_of(one, draws):
        truth, here = one.with_models(row["a"], row["b"]), one.here(row["a"], row["b"])
        yield from held(
            "interval", row["low"], row["high"], truth if row["unit"] == "topic" else here
        )
        yield from held("interval here", row["low_draws"], row["high_draws"], here)
        yield from held("published interval", row["published_low"], row["published_high"], truth)
        yield from rejected("p", row["p_topics"], truth)
        yield from rejected("p here", row[second], here)
        said = np.sign(row["estimate"])
        if row["verb"] in ("raised", "lowered"):
            wrong |= said != np.sign(truth) or (row["verb"] == "raised") != (said > 0)
        wrong_here |= row["verb"] == "on_these_topics" and said != np.sign(here)
        if one.effect(row["a"], row["b"]):
            yield "verb for an effect", row["verb"] == ("raised" if truth > 0 else "lowered")
    yield "wrong verb", wrong
    yield "wrong here", wrong_here


def rows_of_index(table: Result) -> list[dict]:
    """The rows of a table that are of the absolute change of the index, or of no measure."""
    rows = table.rows
    for name, wanted in (("outcome", "dri"), ("scale", "absolute")):
        if name in rows:
            rows = rows[rows[name] == wanted]
    return rows.to_dict("records")


def held(name: str, low: float, high: float, truth: float) -> Claims:
    """Whether an interval that is given holds the truth."""
    if not np.isnan([low, high]).any():
        yield name, bool(low <= truth <= high)


def rejected(name: str, p: float, truth: float) -> Claims:
    """Whether a test that is given rejects what is true."""
    if truth == 0 and not np.isnan(p):
        yield name, bool(p < 0.05)
