"""Coefficients of agreement against irrCAC, krippendorff and statsmodels
(tests/reference/agreement.json says which), by hand, and their properties.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from delibsim.measures.reliability.codes import WEIGHTINGS, codes_of, weights_of
from delibsim.measures.reliability.coefficients import COEFFICIENTS, coefficient
from delibsim.measures.reliability.ratings import probabilities, word_of

KEPT = json.loads((Path(__file__).parents[2] / "reference" / "agreement.json").read_text())
NA = math.nan
DEFAULT = {"alpha": "nominal"}


def codes_from(data, levels=None):
    """The codes of one of the kept data, under its own levels or others."""
    if data in KEPT["tables"]:
        cells = np.array(KEPT["tables"][data]["cells"])
        rows = np.repeat(np.argwhere(cells >= 0), cells.ravel(), axis=0)
        return codes_of(rows, levels or range(len(cells)))
    kept = KEPT["codes"][data]
    rows = [[NA if code == "." else float(code) for code in row] for row in kept["rows"].split()]
    return codes_of(rows, levels or kept["levels"])


def named(row):
    return " ".join([row["data"], row["coefficient"], row["weighting"]])


@pytest.mark.parametrize("row", KEPT["rows"], ids=named)
def test_a_coefficient_and_its_error_are_those_of_the_reference(row):
    codes = codes_from(row["data"], row.get("levels"))
    found = coefficient(codes, row["coefficient"], row["weighting"])
    assert found.value == pytest.approx(row["value"], abs=1e-9)
    error, n = found.error, found.texts
    if row["data"] in KEPT["tables"] and row["coefficient"] != "kappa":
        error *= math.sqrt((n - 1) / n)  # see "divisor" in the file
    if row["error"] is not None:
        assert error == pytest.approx(row["error"], abs=1e-8)
    if row["low"] is not None:
        assert found.interval() == pytest.approx((row["low"], row["high"]), abs=1e-6)


def test_the_kappa_of_two_coders_is_that_of_statsmodels():
    from statsmodels.stats.inter_rater import cohens_kappa

    rng = np.random.default_rng(3)
    rows = rng.integers(0, 4, (80, 2))
    rows[::2, 1] = rows[::2, 0]
    cells = np.zeros((4, 4))
    np.add.at(cells, (rows[:, 0], rows[:, 1]), 1)
    for weighting, theirs in (("identity", None), ("linear", "linear"), ("quadratic", "quadratic")):
        found = coefficient(codes_of(rows, range(4)), "kappa", weighting)
        expected = cohens_kappa(cells, wt=theirs)
        assert found.value == pytest.approx(expected.kappa, abs=1e-12)
        assert found.error == pytest.approx(expected.std_kappa, abs=1e-12)


def test_fleiss_kappa_is_that_of_statsmodels():
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    rows = np.random.default_rng(4).integers(0, 3, (40, 5))
    found = coefficient(codes_of(rows, range(3)), "fleiss")
    assert found.value == pytest.approx(fleiss_kappa(aggregate_raters(rows)[0]), abs=1e-12)


def test_words_are_those_of_the_probabilities_of_irrcac():
    kept = KEPT["words"]
    found = probabilities(kept["value"], kept["error"])
    for word, p in kept["probabilities"].items():
        assert found[word] == pytest.approx(p, abs=5e-6)
    assert word_of(kept["value"], kept["error"]) == kept["word"]
    assert word_of(kept["value"], NA) == ""
    assert word_of(kept["value"], 0.0) == ""


def test_ac1_of_two_coders_and_two_levels_by_hand():
    """Of 10 texts 6 agree on 1, 1 on 0, 3 differ: pa 0.7, share of 1 0.75, chance 2 x 0.75 x 0.25."""
    rows = [[1, 1]] * 6 + [[0, 0]] + [[1, 0]] * 2 + [[0, 1]]
    found = coefficient(codes_of(rows, [0, 1]), "ac")
    assert found.value == pytest.approx((0.7 - 0.375) / (1 - 0.375))


def test_a_weighting_of_ones_own_is_the_same_as_that_of_its_name():
    codes = codes_from("A")
    for name in ("ac", "kappa", "fleiss", "brennan_prediger", "percent"):
        by_name = coefficient(codes, name, "linear")
        own = coefficient(codes, name, weights_of("linear", 5))
        assert (own.value, own.error) == (by_name.value, by_name.error)
        assert own.weighting == "own"


@pytest.mark.parametrize(
    ("weights", "fault"),
    [
        (np.eye(3), "for each of the 2 levels, and not 3 x 3"),
        ([[1, 2], [2, 1]], "lie between 0 and 1"),
        ([[1, NA], [NA, 1]], "lie between 0 and 1"),
        ([[1, 0.5], [0, 1]], "the same in both directions"),
        ([[0.5, 0], [0, 1]], "1 on the diagonal"),
        ([[1, 1], [1, 1]], "below 1 for some pair"),
        ("linaer", "unknown weighting 'linaer'; there are identity"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights, fault):
    with pytest.raises(ValueError, match=fault):
        coefficient(codes_of([[0, 1], [1, 1]]), "ac", weights)


def test_what_cannot_be_asked_is_refused():
    codes = codes_of([[0, 1], [1, 1]])
    for name, weighting in (("gamma", "identity"), ("alpha", "linear")):
        with pytest.raises(ValueError, match="unknown"):
            coefficient(codes, name, weighting)
    with pytest.raises(ValueError, match="no level below 0"):
        coefficient(codes_of([[-1, 1], [1, 1]]), "alpha", "ratio")
    with pytest.raises(ValueError, match="not among the levels 0, 1: 2, 7"):
        codes_of([[0, 2], [7, 1]], [0, 1])
    with pytest.raises(ValueError, match="declared twice"):
        codes_of([[0, 1]], [0, 1, 1])


@pytest.mark.parametrize(
    ("rows", "reason", "defined"),
    [
        ([[1], [0]], "one_coder", ()),
        ([[1, NA], [NA, 0]], "no_text_coded_twice", ()),
        ([], "no_text_coded_twice", ()),
        ([[1, 1], [1, 1], [1, NA]], "one_category", ("percent", "ac", "brennan_prediger")),
    ],
)
def test_what_is_undefined_is_nan_with_its_reason(rows, reason, defined):
    table = np.array(rows, dtype=float).reshape(len(rows), -1 if rows else 2)
    codes = codes_of(table, [0, 1])
    for name in COEFFICIENTS:
        found = coefficient(codes, name, DEFAULT.get(name, "identity"))
        assert found.reason == ("" if name in defined else reason)
        assert math.isnan(found.value) == (name not in defined)
        if name in defined:
            assert found.value == 1


def test_a_coder_and_a_text_without_codes_are_left_out():
    rows = np.array([[0, NA, 1], [NA, NA, NA], [1, NA, 1]])
    codes = codes_of(rows, [0, 1])
    assert (codes.coders, codes.kept.tolist()) == (2, [0, 2])
    assert coefficient(codes, "kappa").value == coefficient(codes_of(rows[::2, ::2]), "kappa").value


tables = arrays(
    float, st.tuples(st.integers(2, 8), st.integers(2, 4)), elements=st.sampled_from([0, 1, 2, NA])
)
kinds = st.sampled_from(
    [(name, weighting) for name in COEFFICIENTS if name != "alpha" for weighting in WEIGHTINGS]
    + [("alpha", metric) for metric in ("nominal", "ordinal", "interval", "ratio")]
)


@settings(max_examples=60, deadline=None)
@given(tables, kinds, st.randoms(use_true_random=False))
def test_neither_the_order_of_texts_nor_of_coders_matters(table, kind, random):
    texts, coders = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(texts)
    random.shuffle(coders)
    found = coefficient(codes_of(table, [0, 1, 2]), *kind)
    other = coefficient(codes_of(table[texts][:, coders], [0, 1, 2]), *kind)
    assert found.reason == other.reason
    assert other.value == pytest.approx(found.value, abs=1e-9, nan_ok=True)
    assert other.error == pytest.approx(found.error, abs=1e-6, nan_ok=True)


def test_many_levels_that_do_not_fit_one_number_are_patterns_all_the_same():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 1000, (30, 12)).astype(float)
    codes = codes_of(rows, range(1000))
    assert len(codes.by_coders.times) == 30
    assert np.array_equal(codes.by_coders.places[codes.by_coders.which], codes.places)
    assert coefficient(codes, "percent").value == coefficient(codes_of(rows), "percent").value


@pytest.mark.parametrize("name", ["percent", "kappa", "ac", "alpha"])
def test_the_interval_of_few_texts_stays_within_what_a_coefficient_can_be(name):
    codes = codes_of([[1, 2], [2, 2], [2, 1]], [1, 2])
    found = coefficient(codes, name, DEFAULT.get(name, "identity"))
    low, high = found.interval()
    assert (0 if name == "percent" else -1) <= low <= found.value <= high <= 1
