"""Clusters of people who answered a survey alike: k-means on standardised answers before the
deliberation.
"""

import warnings
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np

from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import Survey
from delibsim.measures.pairs import Array
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
    rated, ranked = (
        answers.considerations["pre"].astype(float),
        answers.preferences["pre"].astype(float),
    )
    both = np.hstack([rated, ranked])
    ids = [item.id for item in (*survey.considerations, *survey.preferences)]
    n, width = len(both), both.shape[1] if items == "all" else rated.shape[1]
    if k < 2:
        raise WrongInput(f"k is the number of clusters, from 2; given: {k}")
    if n < k:
        raise WrongInput(
            f"{n} people answered survey '{answers.survey}', fewer than the {k} clusters wanted;"
            " take a smaller --k"
        )
    spread = both[:, :width].std(axis=0)
    varying = [i for i in range(width) if np.ptp(both[:, i])]
    told = [
        f"all answered {ids[i]} alike, so it is left out of the clustering"
        for i in range(width)
        if i not in varying
    ]
    if not varying:
        raise WrongInput(
            f"everybody answered survey '{answers.survey}' alike, so there is nothing to tell"
            " clusters apart by"
        )
    z = (both[:, varying] - both[:, varying].mean(axis=0)) / spread[varying]
    if (different := len(np.unique(z, axis=0))) < k:
        raise WrongInput(
            f"there are {different} different answers to survey '{answers.survey}', fewer than the"
            f" {k} clusters wanted"
        )
    labels = _largest_first(_fit(z, k, seed), k)
    told += [f"cluster {label + 1} is one person: its persona describes a real participant"
             for label in range(k) if int((labels == label).sum()) == 1]  # fmt: skip
    return Clusters(
        survey=survey.id,
        participants=answers.participants,
        labels=tuple(int(label) for label in labels),
        items=tuple(ids[i] for i in varying),
        centroids=np.array([z[labels == label].mean(axis=0) for label in range(k)]),
        means=np.array([both[labels == label].mean(axis=0) for label in range(k)]),
        seed=seed,
        warnings=tuple(told),
        versions={name: version(name) for name in ("delibsim", "scikit-learn", "numpy")},
        answers=fingerprint(answers),
    )


def _fit(z: Array, k: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans  # takes a second, and only personas need it

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of platforms on which it leaks memory; a fit that is wanting is an error above
        return (
            KMeans(n_clusters=k, n_init=STARTS, init="random", random_state=seed % 2**32)
            .fit(z)
            .labels_
        )


def _largest_first(labels: np.ndarray, k: int) -> np.ndarray:
    """Labels renumbered by size, equal sizes by their first participant: numbers that do not depend
    on the order of starts.
    """
    order = sorted(
        range(k), key=lambda label: (-int((labels == label).sum()), int(np.argmax(labels == label)))
    )
    return np.array([order.index(label) for label in labels])
