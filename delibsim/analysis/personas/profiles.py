"""Value profiles of clusters: what they rest on, and how well a blind reader recognised them.

The manipulation check: a second language model, blind to the cluster, answers the survey from the
profile alone; its answers are correlated with the cluster's centroid. Profiles are written and read
by delibsim/conduct/personas.py.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from delibsim.analysis.personas.clusters import Clusters
from delibsim.domain.survey import Survey
from delibsim.measures.dri import Array

DESCRIBED = 8
"""How many considerations describe a cluster."""
PASSED = 0.5
"""The mean correlation of readings with their centroids from which the manipulation check counts as
passed: a convention.
"""
SINGLE = str.maketrans("“”", "‘’")
"""Quotation marks inside a quotation."""
DEGREES = ((1.0, "much more"), (0.4, "more"), (0.0, "somewhat more"))
"""Words for a departure of at least so many standard deviations."""


@dataclass(frozen=True)
class Departure:
    """By how many standard deviations a cluster's mean on one consideration departs from the mean
    of all.
    """

    item: str
    text: str
    z: float

    @property
    def line(self) -> str:
        """The departure as the writer of a profile reads it."""
        return f"{self.z:+.2f}  {' '.join(self.text.split())}"


@dataclass(frozen=True)
class Reading:
    """How the reader's answers from one profile agree with the clusters.

    `r` and `rho` (Pearson, Spearman) are with the profile's own centroid over the clustered items;
    `recognised` says whether no other cluster's centroid correlates more. NaN and None, with a
    reason, where the answers cannot be compared.
    """

    r: float
    rho: float
    recognised: bool | None
    reason: str = ""

    @classmethod
    def missing(cls, reason: str) -> "Reading":
        """A reading that cannot be compared, and why."""
        return cls(math.nan, math.nan, None, reason)


def departures(
    clusters: Clusters, survey: Survey, cluster: int, most: int = DESCRIBED
) -> list[Departure]:
    """The considerations on which a cluster departs most from the whole, signed, the largest
    first.
    """
    texts = {item.id: item.text for item in survey.considerations}
    found = []
    for item, z in zip(clusters.items, clusters.centroids[cluster], strict=True):
        if item in texts:
            found.append(Departure(item, texts[item], float(z)))
    return sorted(found, key=lambda own: (-abs(own.z), own.item))[:most]


def template_profile(found: Sequence[Departure]) -> str:
    """A profile without a language model: what one agrees with more, or less, than others do.

    The considerations are quoted, the largest departure first.
    """
    sentences = []
    for own in found:
        degree = next(words for least, words in DEGREES if abs(own.z) >= least)
        if own.z < 0:
            degree = degree.replace("more", "less")
        text = " ".join(own.text.split()).translate(SINGLE)
        stop = "" if text.endswith((".", "?", "!")) else "."
        sentences.append(f"You agree {degree} than others that “{text}{stop}”")
    return " ".join(sentences)


def shortcomings(profiles: Sequence[str], readings: Sequence[Reading]) -> list[str]:
    """What a reader of the personas must know: profiles that are alike, a manipulation check that
    failed or says nothing.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for cluster, profile in enumerate(profiles, 1):
        alike[" ".join(profile.split())].append(str(cluster))
    lines = []
    for own in alike.values():
        if len(own) > 1:
            which = f"the profiles of clusters {', '.join(own)}"
            lines.append(f"{which} are identical, so their personas do not differ")
    valid = [reading.r for reading in readings if not math.isnan(reading.r)]
    if not valid:
        nothing = "no reading can be compared with its centroid"
        return [*lines, f"the manipulation check says nothing: {nothing}"]
    mean = sum(valid) / len(valid)
    if mean < PASSED:
        lines.append(
            f"the manipulation check failed: mean r is {mean:.3f}, below {PASSED}; the profiles do"
            " not say what the clusters think"
        )
    return lines


def compared(answers: Array, clusters: Clusters, cluster: int) -> Reading:
    """The answers (items) given from one profile beside the centroids of all clusters.

    They are the raw answers: a correlation does not depend on their scale. Rank 1 is the most
    preferred in both.
    """
    from scipy.stats import spearmanr  # scipy takes half a second to import

    if len(answers) < 3:
        return Reading.missing("too_few_items")
    if np.ptp(answers) == 0:
        return Reading.missing("constant_answers")
    r = [_correlation(answers, centroid) for centroid in clusters.centroids]
    if math.isnan(r[cluster]):
        return Reading.missing("constant_centroid")
    rho = float(spearmanr(answers, clusters.centroids[cluster]).statistic)
    return Reading(r[cluster], rho, bool(r[cluster] >= np.nanmax(r)))


def _correlation(answers: Array, centroid: Array) -> float:
    """Pearson's; NaN with a centroid whose items are all alike."""
    return float(np.corrcoef(answers, centroid)[0, 1]) if np.ptp(centroid) else math.nan
