"""Votes on pairs that several tests share: reference values, Webis, and simulated votes."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from delibsim.measures.bradley_terry.counts import counted, tabled

ROOT = Path(__file__).resolve().parents[1]
WEBIS = ROOT.parent / "shared" / "data" / "webis"
REFERENCE = json.loads((ROOT / "tests" / "reference" / "pairs.json").read_text())
"""See tests/reference/pairs.R and "made_by" in the file."""
TEXTS = "abcd"


def votes_of(*judges):
    """The table of PAIRS 11 as counts, of some of its judges numbered from 1."""
    rows = []
    for line in REFERENCE["sheets"]:
        sheet, *cells = line.split("|")
        first, second = (TEXTS.index(text) for text in sheet.split())
        for place, judge in enumerate(judges):
            rows.append((first, second, *map(int, cells[judge - 1].split()), place))
    first, second, a, tie, b, by = np.array(rows).T
    return tabled(4, first, second, a, tie, b, judge=by)


def webis():
    """Counts of the Webis pairs, ids "topic:id", and the published scores by id."""
    if not WEBIS.exists():
        pytest.skip(f"the Webis pairs are not at {WEBIS}")
    numbers, rows = {}, []
    with (WEBIS / "pairs_logical.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            texts = [f"{row['topic']}:{row[side]}" for side in ("a", "b")]
            places = [numbers.setdefault(text, len(numbers)) for text in texts]
            rows.append((*places, {"a": 1, "tie": 0, "b": -1}[row["outcome"]]))
    with (WEBIS / "scores_logical.csv").open(encoding="utf-8") as file:
        published = {
            f"{row['topic']}:{row['id']}": float(row["score"]) for row in csv.DictReader(file)
        }
    return counted(len(numbers), *np.array(rows).T), list(numbers), published


def simulated(n, pairs, seed, spread=1.0, theta=0.3, delta=0.4):
    """Rao-Kupper votes on sheets (p, 2), and the true strengths."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, spread, n)
    first, second = np.asarray(pairs).T
    d = truth[first] - truth[second] + delta
    won, lost = 1 / (1 + np.exp(theta - d)), 1 / (1 + np.exp(theta + d))
    chance = rng.random(len(first))
    outcome = np.where(chance < won, 1, np.where(chance < won + lost, -1, 0))
    return counted(n, first, second, outcome), truth - truth.mean()
