"""Reference values and, where present, the human data that the tests of the measures share."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
HUMAN_DATA = ROOT.parent / "shared" / "data" / "dri" / "human_data.csv"
TWELVE = [
    "fnqcj",
    "uppsala_speaks",
    "fremantle",
    "ccps",
    "zukunft",
    "energy_futures",
    "forestera",
    "auscj",
    "biobanking_wa",
]
TWELVE += ["swiss_health", "bep", "acp"]


def load(name):
    return json.loads((ROOT / "tests" / "reference" / name).read_text())


@pytest.fixture(scope="session")
def reference():
    """Values computed by R: see tests/reference/dri.R."""
    return load("dri.json")


@pytest.fixture(scope="session")
def human_reference():
    """Values computed by R from the human data: survey -> phase -> measure."""
    return load("dri_human.json")["surveys"]


def human_groups(by):
    """Group named by the columns `by` -> phase -> (considerations, preferences), participants in
    one order in both phases.
    """
    if not HUMAN_DATA.exists():
        pytest.skip(f"human data not at {HUMAN_DATA}")
    groups = {}
    for name, rows in pd.read_csv(HUMAN_DATA).sort_values("pnum").groupby(by):
        used = rows.dropna(axis="columns", how="all")
        phases = {"pre": used[used["stage_id"] == 1], "post": used[used["stage_id"] == 2]}
        assert list(phases["pre"]["pnum"]) == list(phases["post"]["pnum"])
        groups[name] = {
            phase: tuple(
                answers.filter(regex=pattern).to_numpy(float) for pattern in (r"^C\d+$", r"^P\d+$")
            )
            for phase, answers in phases.items()
        }
    return groups


@pytest.fixture(scope="session")
def human():
    """Human answers by survey, the cases of one survey pooled."""
    return human_groups("survey")


@pytest.fixture(scope="session")
def human_cases():
    """Human answers by (survey, case)."""
    return human_groups(["survey", "case"])


@pytest.fixture(scope="session")
def twelve():
    """The surveys that are the benchmark's topics."""
    return TWELVE


def as_groups(seed, batch=(3, 2), n=5, considerations=8, preferences=4):
    """Random groups: ratings 1..7 with ties, and ranks."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 8, (*batch, n, considerations)).astype(float)
    ranks = rng.permuted(
        np.broadcast_to(np.arange(1.0, preferences + 1), (*batch, n, preferences)), axis=-1
    )
    return ratings, ranks


@pytest.fixture(scope="session")
def random_groups():
    """A function of a seed (and shape) that draws groups of considerations and preferences."""
    return as_groups
