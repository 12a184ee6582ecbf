"""Clusters of people who answered a survey alike, and value profiles written of them."""

import math
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from delibsim.analysis.pages.page import PagePart
from delibsim.analysis.report import Report
from delibsim.analysis.result import catalogue, make_table
from delibsim.analysis.table import DisplayTable, number, numbers, texts
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.survey import Survey
from delibsim.domain.text import counted
from delibsim.measures.correlations import Array
from delibsim.store.instruments.answers import Answers
from delibsim.store.instruments.own_answers import fingerprint

Items = Literal["considerations", "all"]
STARTS = 30


@dataclass(frozen=True, eq=False)
class Clusters:
    """People in k clusters, the largest first.

    `labels` (n) gives each participant's cluster from 0; `items` the ids that were clustered on,
    `centroids` (k, items) their means in standard deviations from the mean of all; `means` (k, all
    items) the raw mean answers, considerations first. `warnings` say what a reader must know;
    `versions` what computed it.
    """

    survey: str
    participants: tuple[str, ...]
    labels: tuple[int, ...]
    items: tuple[str, ...]
    centroids: Array
    means: Array
    seed: int
    warnings: tuple[str, ...]
    versions: dict[str, str]
    answers: str

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many participants each cluster has."""
        return tuple(self.labels.count(label) for label in range(len(self.centroids)))


def clusters_of(
    answers: Answers, survey: Survey, k: int = 5, items: Items = "considerations", seed: int = 0
) -> Clusters:
    """k-means with 30 random starts on the answers before the deliberation, every item z-scored
    over the participants.

    An item that all answered alike tells nobody apart and is left out, with a warning; so is a
    cluster of one person kept with one. Raises WrongInput where there are fewer people, or fewer
    different answers, than clusters.
    """
    rated = answers.considerations["pre"].astype(float)
    both = np.hstack([rated, answers.preferences["pre"].astype(float)])
    ids = [item.id for item in (*survey.considerations, *survey.preferences)]
    if k < 2:
        raise WrongInput(f"k is the number of clusters, from 2; given: {k}")
    if len(both) < k:
        people = counted(len(both), "person", "people")
        raise refused("fewer_people_than_clusters", people=people, survey=answers.survey, k=k)
    width = both.shape[1] if items == "all" else rated.shape[1]
    varying = [i for i in range(width) if np.ptp(both[:, i])]
    if not varying:
        raise refused("everybody_answered_alike", survey=answers.survey)
    constant = [ids[i] for i in range(width) if i not in varying]
    spread = both[:, :width].std(axis=0)
    z = (both[:, varying] - both[:, varying].mean(axis=0)) / spread[varying]
    different = len(np.unique(z, axis=0))
    if different < k:
        raise refused(
            "fewer_answers_than_clusters", different=different, survey=answers.survey, k=k
        )
    labels = _largest_first(_fit(z, k, seed), k)
    return Clusters(
        survey=survey.id,
        participants=answers.participants,
        labels=tuple(int(label) for label in labels),
        items=tuple(ids[i] for i in varying),
        centroids=np.array([z[labels == label].mean(axis=0) for label in range(k)]),
        means=np.array([both[labels == label].mean(axis=0) for label in range(k)]),
        seed=seed,
        warnings=tuple(_warnings(constant, labels, k)),
        versions={name: version(name) for name in ("delibsim", "scikit-learn", "numpy")},
        answers=fingerprint(answers),
    )


def _warnings(constant: Sequence[str], labels: np.ndarray, k: int) -> Iterator[str]:
    """What a reader of the clusters must know: items left out, clusters of one person."""
    for item in constant:
        yield f"all answered {item} alike, so it is left out of the clustering"
    for label in range(k):
        if int((labels == label).sum()) == 1:
            yield f"cluster {label + 1} is one person: its persona describes a real participant"


def _fit(z: Array, k: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans  # takes a second, and only personas need it

    model = KMeans(n_clusters=k, n_init=STARTS, init="random", random_state=seed % 2**32)
    with warnings.catch_warnings():
        # It warns of platforms on which it leaks memory; too few clusters are an error above.
        warnings.simplefilter("ignore")
        return model.fit(z).labels_


def _largest_first(labels: np.ndarray, k: int) -> np.ndarray:
    """Labels renumbered by size, equal sizes by their first participant.

    So they do not depend on the order of starts.
    """

    def size_and_first(label: int) -> tuple[int, int]:
        members = labels == label
        return -int(members.sum()), int(np.argmax(members))

    order = sorted(range(k), key=size_and_first)
    return np.array([order.index(label) for label in labels])


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
class ProfileCheck:
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
    def missing(cls, reason: str) -> "ProfileCheck":
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


def shortcomings(profiles: Sequence[str], readings: Sequence[ProfileCheck]) -> list[str]:
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


def compared(answers: Array, clusters: Clusters, cluster: int) -> ProfileCheck:
    """The answers (items) given from one profile beside the centroids of all clusters.

    They are the raw answers: a correlation does not depend on their scale. Rank 1 is the most
    preferred in both.
    """
    from scipy.stats import spearmanr  # scipy takes half a second to import

    if len(answers) < 3:
        return ProfileCheck.missing("too_few_items")
    if np.ptp(answers) == 0:
        return ProfileCheck.missing("constant_answers")
    r = [_correlation(answers, centroid) for centroid in clusters.centroids]
    if math.isnan(r[cluster]):
        return ProfileCheck.missing("constant_centroid")
    rho = float(spearmanr(answers, clusters.centroids[cluster]).statistic)
    return ProfileCheck(r[cluster], rho, bool(r[cluster] >= np.nanmax(r)))


def _correlation(answers: Array, centroid: Array) -> float:
    """Pearson's; NaN with a centroid whose items are all alike."""
    return float(np.corrcoef(answers, centroid)[0, 1]) if np.ptp(centroid) else math.nan


Plain = Mapping[str, Any]
MOST = 5
"""The number of considerations that are shown of a cluster."""


def texts_of(plain: Plain) -> list[str]:
    """The personas one by one, numbered."""
    return [f"{n}  {' '.join(text.split())}" for n, text in enumerate(plain["personas"], 1)]


def origin_in_words(built: Plain) -> str:
    """Whose answers were clustered, how, and by whom the profiles were written and read."""
    people = f"{len(built['participants'])} people who answered {built['survey']}"
    made = f"{built['k']} clusters on {built['items']}, seed {built['seed']}"
    library = f"scikit-learn {built['versions']['scikit-learn']}"
    by = f"written by {built['writer']}, read by {built['reader']}"
    return f"{people}, {made}, {library}; {by}"


def table_of_clusters(plain: Plain, built: Plain) -> DisplayTable:
    """A row for each cluster: its size, what it departs on, and how well it was recognised."""
    columns = [
        *numbers(("cluster", "people")),
        *texts("departs most on (SD from the mean)"),
        *numbers(("r", "rho")),
        *texts("recognised"),
    ]
    cells = []
    sizes = plain.get("sizes") or [None] * len(plain["personas"])
    rows = zip(sizes, built["departures"], built["check"], strict=True)
    for n, (size, departures, check) in enumerate(rows, 1):
        signs = ", ".join(f"{entry['item']} {entry['z']:+.1f}" for entry in departures[:MOST])
        reason = check.get("reason", "-")
        recognised = {True: "yes", False: "no", None: reason}[check["recognised"]]
        agreement = (number(check["r"]), number(check["rho"]))
        cells.append([str(n), str(size), signs, *agreement, recognised])
    return DisplayTable(columns, cells)


def check_in_words(checks: Sequence[Plain]) -> str:
    """What the manipulation check says of all profiles together."""
    valid = [check["r"] for check in checks if check["r"] is not None]
    mean = number(sum(valid) / len(valid) if valid else None)
    recognised = sum(check["recognised"] is True for check in checks)
    return (
        f"Manipulation check: mean correlation of reading and centroid {mean} ({len(valid)} of"
        f" {len(checks)} profiles), {recognised} recognised as their own cluster. r is Pearson's,"
        " rho Spearman's."
    )


def warnings_of(built: Plain) -> list[str]:
    """What a reader of the personas must know."""
    found = []
    if built["writer"] == built["reader"]:
        found.append("the same model wrote and read the profiles, so the check says little")
    return found + list(built["warnings"])


def personas_report(plain: Plain) -> Report:
    """The report on a set of personas that was built from answers, from its file as plain values.

    WrongInput for a set that was not built.
    """
    built = plain.get("built")
    if not built:
        raise refused("personas_not_built", plain=plain["name"])
    sizes = plain.get("sizes") or [None] * len(built["check"])
    clusters, departures = [], []
    for n, (size, check) in enumerate(zip(sizes, built["check"], strict=True), 1):
        clusters.append({"cluster": n, "people": size, **check, "note": check.get("reason", "")})
        departures += [{"cluster": n, **departure} for departure in built["departures"][n - 1]]
    tables = [
        make_table("personas/clusters", clusters),
        make_table("personas/departures", departures),
    ]
    told = [f"{origin_in_words(built)}.", check_in_words(built["check"])]
    return Report(
        catalogue=catalogue("personas"),
        title=f"Personas {plain['name']}",
        results={one.name: one for one in tables},
        about={"name": plain["name"]},
        told=told,
        summary=told,
        warnings=warnings_of(built),
        last=[PagePart("texts", "Personas", sentences=texts_of(plain))],
        data=plain,
    )
