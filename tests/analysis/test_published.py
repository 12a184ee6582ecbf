"""The published variant of AC1 beside Gwet's, from the margins that were published with it."""

import numpy as np
import pytest

from delibsim.analysis.published import chance_shrunk, gwet_from_margins, observed_behind
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient

MARGINS = {
    "HU1": {"LJ": (3, 37, 141, 19), "RG": (6, 178, 16), "CA": (101, 4, 95)},
    "HU2": {"LJ": (21, 67, 111, 1), "RG": (0, 188, 12), "CA": (186, 12, 2)},
    "ENS": {"LJ": (41, 38, 114, 7), "RG": (7, 162, 31), "CA": (130, 43, 27)},
}
"""Counts of levels, 200 texts each: two people and the ensemble, three dimensions."""
EXACT_AND_ADJACENT = {
    ("HU1", "RG"): (0.800, 0.190),
    ("HU1", "CA"): (0.450, 0.215),
    ("HU2", "RG"): (0.860, 0.140),
    ("HU2", "CA"): (0.670, 0.235),
}
"""Shares of texts on which person and ensemble agree, or are one level apart; three levels."""
BOTH = {("HU1", "RG"): (0.887, 0.866), ("HU1", "CA"): (0.476, 0.171),
        ("HU2", "RG"): (0.925, 0.914), ("HU2", "CA"): (0.765, 0.699)}  # fmt: skip
NINE = {
    ("HU1", "HU2", "LJ"): (0.78, 0.660, 0.663), ("HU1", "HU2", "RG"): (0.94, 0.931, 0.931),
    ("HU1", "HU2", "CA"): (0.48, 0.284, 0.288), ("HU1", "ENS", "LJ"): (0.74, 0.597, 0.599),
    ("HU1", "ENS", "RG"): (0.89, 0.866, 0.866), ("HU1", "ENS", "CA"): (0.48, 0.171, 0.171),
    ("HU2", "ENS", "LJ"): (0.87, 0.787, 0.787), ("HU2", "ENS", "RG"): (0.93, 0.914, 0.914),
    ("HU2", "ENS", "CA"): (0.76, 0.699, 0.699),
}  # fmt: skip
"""The published value, and between which values Gwet's lies with the same data."""
TABLES = {"RG": ([[2, 3, 1], [4, 151, 23], [1, 8, 7]]), "CA": ([[63, 38, 0], [0, 2, 2], [67, 3, 25]])}  # fmt: skip


def shares(one, other, dimension):
    both = np.add(MARGINS[one][dimension], MARGINS[other][dimension])
    return both / both.sum()


@pytest.mark.parametrize("pair", BOTH, ids=str)
def test_both_are_recomputed_from_margins_and_distances(pair):
    person, dimension = pair
    exact, adjacent = EXACT_AND_ADJACENT[pair]
    own = shares(person, "ENS", dimension)
    variant, gwet = BOTH[pair]
    assert chance_shrunk(exact + adjacent / 2, own) == pytest.approx(variant, abs=6e-4)
    assert gwet_from_margins(exact + adjacent / 2, own) == pytest.approx(gwet, abs=6e-4)


@pytest.mark.parametrize("pair", NINE, ids=str)
def test_gwets_lies_where_the_rounding_of_the_published_value_lets_it(pair):
    published, low, high = NINE[pair]
    own = shares(*pair)
    ends = [gwet_from_margins(observed_behind(published + r, own), own) for r in (-0.0056, 0.0056)]
    assert ends[0] <= low <= high <= ends[1]
    assert high < published


@pytest.mark.parametrize("dimension", TABLES)
def test_gwets_from_margins_is_that_of_the_codes(dimension):
    cells = np.array(TABLES[dimension])
    rows = np.repeat(np.argwhere(cells >= 0), cells.ravel(), axis=0)
    codes = codes_of(rows, [0, 1, 2])
    observed = coefficient(codes, "percent", "linear").value
    found = gwet_from_margins(observed, shares("HU1", "ENS", dimension))
    assert found == pytest.approx(coefficient(codes, "ac", "linear").value)


def test_the_observed_agreement_behind_a_value_gives_the_value():
    own = shares("HU1", "HU2", "LJ")
    assert chance_shrunk(observed_behind(0.78, own), own) == pytest.approx(0.78)
