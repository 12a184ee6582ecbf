"""Clusters of people who answered a survey alike: k-means on standardised first answers."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np

from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import Survey
from delibsim.domain.text import counted
from delibsim.measures.dri import Array
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
        raise WrongInput(
            f"{people} answered survey '{answers.survey}', fewer than the {k} clusters wanted;"
            " take a smaller --k"
        )
    width = both.shape[1] if items == "all" else rated.shape[1]
    varying = [i for i in range(width) if np.ptp(both[:, i])]
    if not varying:
        raise WrongInput(
            f"everybody answered survey '{answers.survey}' alike, so there is nothing to tell"
            " clusters apart by"
        )
    constant = [ids[i] for i in range(width) if i not in varying]
    spread = both[:, :width].std(axis=0)
    z = (both[:, varying] - both[:, varying].mean(axis=0)) / spread[varying]
    different = len(np.unique(z, axis=0))
    if different < k:
        raise WrongInput(
            f"there are {different} different answers to survey '{answers.survey}', fewer than the"
            f" {k} clusters wanted"
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
