"""Clusters of people against base R, and the plain words for people who cannot be clustered."""

import json
from pathlib import Path

import numpy as np
import pytest
from cases import cases_of
from invented import people

from delibsim.analysis.personas import clusters_of
from delibsim.domain.errors import WrongInput

CASES = cases_of(__file__)
BY_R = json.loads(
    (Path(__file__).resolve().parents[1] / "reference" / "clusters.json").read_text(
        encoding="utf-8"
    )
)


def test_the_clusters_are_those_of_base_r():
    found = clusters_of(*people(BY_R["people"]), k=4, seed=3)
    pairs = set(zip(found.labels, BY_R["labels"], strict=True))
    assert len(pairs) == 4, "the same people are together"
    for ours, theirs in pairs:
        assert found.centroids[ours] == pytest.approx(BY_R["centroids"][theirs - 1], rel=1e-9)
    assert list(found.sizes) == sorted(found.sizes, reverse=True)
    assert sum(found.sizes) == 40
    mine = np.array(BY_R["people"])[[label == 0 for label in found.labels]]
    assert found.means[0] == pytest.approx([*mine.mean(axis=0), 1, 2, 3])


def test_the_seed_decides_and_everything_needed_to_build_again_is_kept():
    one, same = (
        clusters_of(*people(BY_R["people"]), k=4, seed=3),
        clusters_of(*people(BY_R["people"]), k=4, seed=3),
    )
    assert one.labels == same.labels
    assert (one.centroids == same.centroids).all()
    assert (one.seed, one.items, len(one.answers)) == (3, tuple(f"C{k}" for k in range(1, 9)), 64)
    assert set(one.versions) == {"delibsim", "scikit-learn", "numpy"}


def test_ranks_count_only_where_all_items_are_asked_for():
    ranked = [[1, 2, 3], [1, 3, 2]] * 20
    considerations, everything = (
        clusters_of(*people(BY_R["people"], ranked), k=2, items=items)
        for items in ("considerations", "all")
    )
    assert "P2" not in considerations.items
    assert everything.items[-2:] == ("P2", "P3"), "all gave P1 the same rank"
    assert any("all answered P1 alike" in warning for warning in everything.warnings)


def test_a_constant_item_is_left_out_and_a_cluster_of_one_is_kept_both_with_a_warning():
    found = clusters_of(*people([[1, 4, 1], [1, 4, 2], [2, 4, 1], [2, 4, 2], [7, 4, 7]]), k=2)
    assert found.items == ("C1", "C3")
    assert found.sizes == (4, 1)
    assert found.warnings == (
        "all answered C2 alike, so it is left out of the clustering",
        "cluster 2 is one person: its persona describes a real participant",
    )


@pytest.mark.parametrize(
    ("rated", "k", "fault"), CASES["people_who_cannot_be_clustered_are_refused_in_plain_words"]
)
def test_people_who_cannot_be_clustered_are_refused_in_plain_words(rated, k, fault):
    with pytest.raises(WrongInput, match=fault):
        clusters_of(*people(rated), k=k)
