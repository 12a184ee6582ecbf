"""The published figures of the human reference beside what the answers give here: reproduced, within simulation error, or not, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from delibsim.analysis.human import RESAMPLES, Reference, ceiling, interval_of_mean_change, mean_of, of_benchmark

RESAMPLING_ERROR = 0.003
"""By how much an end of the bootstrap interval moves from seed to seed: twice the standard deviation of its upper end over 200 seeds."""

TOPICS = {
    "fnqcj": (11, -0.044, 0.498, 19.437, 16.854),
    "fremantle": (41, 0.211, 0.338, 19.043, 17.378),
    "ccps": (31, 0.532, 0.636, 20.585, 17.719),
    "energy_futures": (29, 0.356, 0.431, 25.204, 23.310),
    "acp": (45, 0.118, 0.019, 23.867, 24.498),
}
"""Published by topic: participants, DRI before and after, diversity before and after."""

Verdict = Literal["reproduced", "within simulation error", "not reproduced"]


@dataclass(frozen=True)
class Figure:
    """A published figure, printed to so many `decimals`, and the value found here; `note` says how it comes about, or why it differs.

    `simulation` is by how much a figure that rests on random draws may move from seed to seed.
    """

    name: str
    published: float
    here: float
    decimals: int = 3
    simulation: float = 0.0
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether the published figure is found again: to its printed decimals, or as far as its random draws allow."""
        difference = abs(self.here - self.published)
        if difference <= 0.5 * 10**-self.decimals + 1e-9:
            return "reproduced"
        return "within simulation error" if difference <= self.simulation + 1e-9 else "not reproduced"


def published_figures(topics: Sequence[Reference], cases: Sequence[Reference]) -> list[Figure]:
    """Every published figure of the twelve topics beside what the references by topic and by case give here."""
    twelve, sixteen = of_benchmark(topics), of_benchmark(cases)
    return [
        Figure("participants of the twelve topics", 407, sum(topic.n for topic in twelve), 0),
        Figure("cases (deliberations) of the twelve topics", 16, len(sixteen), 0),
        Figure("disjoint groups of five in the twelve topics", 77, sum(topic.n // 5 for topic in twelve), 0),
        *_of_topics(twelve),
        *_means(mean_of(topics)),
        *_gains(mean_of(topics), mean_of(cases)),
        *_inference(twelve),
    ]


def _of_topics(twelve: Sequence[Reference]) -> list[Figure]:
    found = {topic.id: topic for topic in twelve}
    figures = []
    for name, (n, *published) in TOPICS.items():
        topic = found[name]
        here = [getattr(topic, phase)[measure] for measure in ("dri", "diversity") for phase in ("pre", "post")]
        heads = ("DRI before", "DRI after", "diversity before", "diversity after")
        figures.append(Figure(f"{name}: participants", n, topic.n, 0))
        figures += [Figure(f"{name}: {head}", value, own) for head, value, own in zip(heads, published, here, strict=True)]
    return figures


def _means(mean: Reference) -> list[Figure]:
    standardised = "the published text says standardised; its figures are those of raw answers, two lines above"
    return [
        Figure("mean DRI before, over topics", 0.301, mean.pre["dri"]),
        Figure("mean DRI after, over topics", 0.400, mean.post["dri"]),
        Figure("mean diversity before, raw answers", 18.780, mean.pre["diversity"]),
        Figure("mean diversity after, raw answers", 17.567, mean.post["diversity"]),
        Figure("mean diversity before, standardised", 18.780, mean.pre["diversity_standardised"], note=standardised),
        Figure("mean diversity after, standardised", 17.567, mean.post["diversity_standardised"], note=standardised),
    ]


def _gains(topics: Reference, cases: Reference) -> list[Figure]:
    pooled = "the published gains are means over the 16 cases, not over the 12 topics with their cases pooled"
    return [
        Figure(f"gain of {kind} agreement, over {unit}", published, mean.change[f"{kind}_agreement"], note=note)
        for unit, mean, note in (("16 cases", cases, ""), ("12 pooled topics", topics, pooled))
        for kind, published in (("consideration", 0.077), ("preference", 0.104))
    ]


def _inference(twelve: Sequence[Reference]) -> list[Figure]:
    low, high = interval_of_mean_change(twelve)
    fit = ceiling(twelve)
    drawn = f"percentile bootstrap over the topics, {RESAMPLES:,} resamples of a seed of our own"
    return [
        Figure("mean change of DRI, lower end of 95% interval", 0.026, low, 3, RESAMPLING_ERROR, drawn),
        Figure("mean change of DRI, upper end of 95% interval", 0.196, high, 3, RESAMPLING_ERROR, drawn),
        Figure("ceiling over topics: slope of the change on DRI before", -0.418, fit.beta),
        Figure("ceiling over topics: standard error", 0.291, fit.se),
        Figure("ceiling over topics: R squared", 0.17, fit.r2, 2),
        Figure("ceiling over topics: p", 0.182, fit.p),
    ]
