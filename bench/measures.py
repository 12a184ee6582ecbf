"""Measure how fast the measures are, beside a plain loop over scipy: python bench/measures.py

Run it by hand, never in CI.
"""

import os
import sys
import time
from itertools import combinations

import numpy as np
from record import record
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

from delibsim.measures.agreement import agreement
from delibsim.measures.diversity import diversity
from delibsim.measures.dri import dri, dri_adjusted, permutation_null

GROUPS, PEERS_GROUPS = 2_000, 20
PERMUTATIONS, PEERS_PERMUTATIONS = 10_000, 50
ABOUT = f"""Seconds that the measures take, beside their aim and beside a loop over
`scipy.stats.spearmanr`, which was timed on {PEERS_GROUPS} groups and {PEERS_PERMUTATIONS} \
permutations and scaled up."""


def answers(rng, shape, considerations, preferences):
    """Random ratings 1..7 and preference ranks."""
    ratings = rng.integers(1, 8, (*shape, considerations)).astype(float)
    ranks = rng.permuted(
        np.broadcast_to(np.arange(1.0, preferences + 1), (*shape, preferences)), axis=-1
    )
    return ratings, ranks


def seconds(function, *arguments):
    """Wall time of one call."""
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def all_measures(considerations, preferences):
    """Both indices, both agreements and diversity of all groups at once."""
    dri(considerations, preferences)
    dri_adjusted(considerations, preferences)
    agreement(considerations)
    agreement(preferences)
    diversity(np.concatenate([considerations, preferences], axis=-1))


def plain_correlations(ratings):
    """Correlations of all pairs, one call of spearmanr a pair."""
    pairs = combinations(range(len(ratings)), 2)
    return np.array([spearmanr(ratings[i], ratings[j]).statistic for i, j in pairs])


def plain_measures(considerations, preferences):
    """The same measures group by group, each correlation computed once."""
    for c, p in zip(considerations, preferences, strict=True):
        rc, rp = plain_correlations(c), plain_correlations(p)
        d = np.abs(rc - rp) / np.sqrt(2)
        weight = np.minimum(np.maximum(np.abs(rc), np.abs(rp)) / 0.2, 1)
        _ = (
            1 - 2 * np.abs(rc - rp).mean(),
            1 - 2 * np.sqrt(2) * (1 - ((1 - d) * weight).mean()),
            rc.mean(),
            rp.mean(),
        )
        pdist(np.concatenate([c, p], axis=1)).mean()


def plain_null(considerations, preferences, permutations):
    """One permutation after another, with spearmanr on the whole matrix of shuffled preferences."""
    rng = np.random.default_rng(0)
    rc = spearmanr(considerations, axis=1).statistic
    i, j = np.triu_indices(len(considerations), 1)
    for _ in range(permutations):
        rp = spearmanr(preferences[rng.permutation(len(preferences))], axis=1).statistic
        1 - 2 * np.abs(rc - rp)[i, j].mean()


def main():
    """Print the table."""
    rng = np.random.default_rng(0)
    groups = answers(rng, (GROUPS, 5), 43, 7)
    assembly = answers(rng, (63,), 20, 7)
    few = [part[:PEERS_GROUPS] for part in groups]
    all_measures(*few)
    plain_measures(*few)

    ours = seconds(all_measures, *groups)
    peer = seconds(plain_measures, *few) * GROUPS / PEERS_GROUPS
    rows = [
        (
            f"{GROUPS:,} groups of 5, 43 + 7 items: dri, adjusted, agreement, diversity",
            ours,
            0.5,
            peer,
        )
    ]
    peer = seconds(plain_null, *assembly, PEERS_PERMUTATIONS) * PERMUTATIONS / PEERS_PERMUTATIONS
    for adjusted in (False, True):
        ours = seconds(permutation_null, *assembly, PERMUTATIONS, 0, adjusted)
        rows.append(
            (
                (
                    f"null of {PERMUTATIONS:,} permutations, 63 people, 20 + 7"
                    f" items{', adjusted' * adjusted}"
                ),
                ours,
                0.3,
                peer,
            )
        )

    print(f"python {' '.join(sys.argv)}    {os.cpu_count()} cores, numpy {np.__version__}")
    print(
        f"peer: a loop over scipy.stats.spearmanr on {PEERS_GROUPS} groups, {PEERS_PERMUTATIONS}"
        " permutations, scaled up"
    )
    print(f"{'':76}{'seconds':>9}{'aim':>7}{'peer':>10}{'ratio':>8}")
    for name, ours, aim, peer in rows:
        print(f"{name:76}{ours:9.3f}{aim:7.1f}{peer:10.1f}{peer / ours:8.0f}")
    columns = ("what", "seconds", "aim_seconds", "loop_seconds")
    print(
        record(
            "measures",
            ABOUT,
            [dict(zip(columns, row, strict=True)) for row in rows],
            ["numpy", "scipy"],
        )
    )


if __name__ == "__main__":
    main()
