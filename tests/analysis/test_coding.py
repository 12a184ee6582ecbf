"""The tables of the report on codes: agreement, equivalence and clusters, by golden values."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from coded_study import REASONS, SCHEME, TONE

from delibsim.analysis.coding.agreement import (
    against,
    confusion,
    facts_of,
    groups,
    pairs,
    resampled,
    trends,
)
from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes
from delibsim.analysis.coding.equivalence import (
    anchors_of,
    curve,
    delta_of,
    equivalences,
    verdict_of,
)
from delibsim.analysis.coding.levels import split_texts, votes, weak
from delibsim.analysis.result import make_table
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import Dimension, Level
from delibsim.domain.score import ENSEMBLE
from delibsim.store.coded import SamplesAsked, SchemeCodes

FOUR = Dimension("four", "Four", "ordinal", tuple(Level(i, str(i), f"A{i}.") for i in range(4)))
# The case of the definitions: 20 texts, two people, the ensemble.
A, B = "22123220122312221202", "21122210122222120202"
E = "22112220021212221212"


def digits(text):
    return [math.nan if one == "." else float(one) for one in text]


def codes_of(dimension, people, models=("m",), **columns):
    """The codes of one dimension where these are the places of each coder."""
    table = pd.DataFrame({name: digits(places) for name, places in columns.items()})
    table.index = [f"t{i}" for i in range(1, len(table) + 1)]
    return DimensionCodes(dimension, table, models, people, None)


def study_with(*dimensions, texts=(), draws=None):
    """A study of these codes; nobody was asked for samples."""
    coded = SchemeCodes(SCHEME, SamplesAsked({}, "lower", (), {}), (), {}, (), ())
    by_id = {text.id: text for text in texts}
    return CodedStudy("s", coded, by_id, dimensions, draws or {})


def plain(name, rows, **values):
    """Rows as plain values of the table, None where there is none."""
    return make_table(f"codes/{name}", rows, **values).plain()


@pytest.fixture
def golden():
    return codes_of(FOUR, ("A", "B"), **{ENSEMBLE: E, "A": A, "B": B})


# agreement


def expanded(table):
    """The places of two coders from their confusion table, as digits."""
    first, second = "", ""
    for i, row in enumerate(table):
        for j, n in enumerate(row):
            first += str(i) * n
            second += str(j) * n
    return first, second


@pytest.mark.parametrize(
    ("table", "estimate", "shares", "others"),
    [
        ([[2, 3, 1], [4, 151, 23], [1, 8, 7]], 0.8655802851, (0.80, 0.19, 0.01), (0.23105, 0.887)),
        ([[63, 38, 0], [0, 2, 2], [67, 3, 25]], 0.17075, (0.45, 0.215, 0.335), (0.09717, 0.476)),
    ],
)
def test_a_pair_has_its_coefficients_and_its_distances(table, estimate, shares, others):
    first, second = expanded(table)
    own = codes_of(REASONS, ("Ann",), **{ENSEMBLE: first, "Ann": second})
    (row,) = pairs(own)
    assert row["estimate"] == pytest.approx(estimate, abs=5e-7)
    assert row["kappa"] == pytest.approx(others[0], abs=5e-6)
    assert row["published_form"] == pytest.approx(others[1], abs=5e-4)
    for name, value in (
        ("boot", row["estimate"]),
        ("kappa", row["kappa"]),
        ("alpha", row["alpha"]),
    ):
        assert row[f"{name}_low"] < value < row[f"{name}_high"]
    assert (row["exact"], row["adjacent"], row["gross"]) == pytest.approx(shares)
    assert row["gross_of_disagreement"] == pytest.approx(shares[2] / (shares[1] + shares[2]))
    assert row["coefficient"] == "AC2, linear"
    assert [cell["texts"] for cell in confusion(own)] == [n for line in table for n in line]


def test_names_have_no_neighbours_and_ac1():
    own = codes_of(TONE, ("Ann", "Ben"), (), Ann="0011010011", Ben="0010010011")
    (row,) = plain("pairs", pairs(own))
    assert (row["coefficient"], row["exact"], row["adjacent"]) == ("AC1", 0.9, None)
    names = {row["coefficient"] for row in groups(own)}
    assert names == {"AC1", "alpha, nominal"}


def test_a_coder_who_gave_one_level_only_has_a_reason_and_no_number():
    own = codes_of(REASONS, ("Ann", "Ben"), (), Ann="1111", Ben="....")
    (row,) = plain("pairs", pairs(own))
    assert (row["texts"], row["estimate"]) == (0, None)
    assert row["note"]


# equivalence


def test_delta_is_that_of_the_definitions(golden):
    found = delta_of(golden, "A", ("B",))
    assert (found.ensemble, found.people.value) == pytest.approx((0.82160555, 0.79005249), abs=5e-9)
    assert (found.value, found.error) == pytest.approx((0.03155306, 0.09945662), abs=5e-9)
    assert found.interval() == pytest.approx((-0.176612, 0.239718), abs=5e-7)
    assert found.interval(0.9) == pytest.approx((-0.140421, 0.203527), abs=5e-7)
    first, mirror = equivalences(golden, 0.10, 0.60)
    assert first["p"] == pytest.approx(0.249819, abs=5e-7)
    assert (first["verdict"], mirror["anchor"]) == ("undecided", "B")


def test_the_curve_begins_to_hold_where_the_interval_lies_inside(golden):
    rows = list(curve(next(equivalences(golden, 0.10, 0.60))))
    inside = [row["bound"] for row in rows if row["inside"]]
    assert inside[0] == 0.24  # the interval ends at 0.2397
    assert next(row["p"] for row in rows if row["bound"] == 0.10) == pytest.approx(0.2498, abs=5e-5)


@pytest.mark.parametrize(
    ("interval", "people", "words"),
    [
        ((-0.05, 0.05), 0.7, "equivalent"),
        ((-0.05, 0.05), 0.5, "as poor as people"),
        ((0.01, 0.05), 0.7, "equivalent and different"),
        ((-0.30, -0.20), 0.5, "different and worse"),
        ((-0.05, 0.20), 0.7, "undecided"),
        ((math.nan, math.nan), 0.7, ""),
        ((-0.05, 0.05), math.nan, "as poor as people"),
    ],
)
def test_a_verdict_says_what_the_interval_says(interval, people, words):
    assert verdict_of(*interval, 0.10, people, 0.60) == words


def test_three_people_are_compared_by_pair_and_by_their_mean(golden):
    columns = {ENSEMBLE: E, "A": A, "B": B, "C": "21123220122222220202"}
    own = codes_of(FOUR, ("A", "B", "C"), **columns)
    found = {(anchor, name): others for anchor, name, others in anchors_of(own)}
    assert found["A", "mean of 2"] == ("B", "C")
    assert ("A", "B") in found
    mean = delta_of(own, "A", ("B", "C"))
    single = [delta_of(own, "A", (other,)) for other in "BC"]
    assert mean.value == pytest.approx(np.mean([one.value for one in single]))
    assert 0 < mean.error < max(one.error for one in single) + 1e-12
    assert single[0].value == pytest.approx(delta_of(golden, "A", ("B",)).value)
    # The mean over one person has the closed error of the pair.
    alone = delta_of(own, "A", ("B", "B"))
    assert alone.error == pytest.approx(single[0].error)


def test_one_text_has_a_point_and_a_note_and_no_verdict():
    own = codes_of(REASONS, ("A", "B"), **{ENSEMBLE: "0", "A": "0", "B": "1"})
    row = plain("equivalence", equivalences(own, 0.10, 0.60), least=0.6)[0]
    # A and B: (1/2 - 5/12) / (7/12) = 1/7, for half of the pairs' weight is given and chance is 5/12.
    assert (row["estimate"], row["low"], row["verdict"]) == (pytest.approx(6 / 7), None, "")
    assert row["note"] == "too_few_texts"
    assert list(curve(next(equivalences(own, 0.10, 0.60)))) == []


# people and the scheme


def test_a_dimension_is_flagged_above_a_fifth_and_its_texts_are_listed():
    texts = [Text(f"t{i}", f"Text {i}") for i in range(1, 11)]
    at_limit = codes_of(REASONS, ("Ann", "Ben"), (), Ann="0011220011", Ben="0011220020")
    above = codes_of(REASONS, ("Ann", "Ben"), (), Ann="0011220011", Ben="2011220020")
    flags = []
    for own in (at_limit, above):
        flags += [row["flagged"] for row in weak(own)]
    assert flags == [False, True]
    split = split_texts(study_with(above, texts=texts))
    first = split[0]
    assert (first["text"], first["distance"], first["words"]) == ("t1", 2, "Text 1")
    assert [row["text"] for row in split] == ["t1", "t9", "t10"]


def test_models_that_copy_each_other_are_one_vote():
    places = {"a": "0121201210", "b": "0121201210"}
    own = codes_of(
        REASONS, ("Ann",), ("a", "b"), **{ENSEMBLE: "0121201210"}, **places, Ann="0122201110"
    )
    (row,) = votes(own)
    assert row["votes"] == pytest.approx(1)


# parts of texts


def test_agreement_by_part_and_its_trend():
    texts = [Text(f"t{i}", "T.", facts={"year": str(2000 + i)}) for i in range(1, 21)]
    # Ann and Ben agree in the first ten years and never after.
    own = codes_of(
        REASONS, ("Ann", "Ben"), (), Ann="01201201201111111111", Ben="01201201202222222222"
    )
    facts = facts_of(study_with(own, texts=texts), "year")
    rows = plain("against", against(own, facts), column="year")
    assert [row["exact"] for row in rows] == [1, 1, 0, 0]
    assert [row["texts"] for row in rows] == [5, 5, 5, 5]
    assert rows[0]["difference"] is None
    assert [row["difference"] for row in rows[1:]] == [0, -1, -1]
    (row,) = trends(own, facts)
    # Of the ranks 1 to 20 with ten ones before ten noughts: -(3/4)^(1/2) (400/399)^(1/2).
    assert row["rho"] == pytest.approx(-math.sqrt(3 / 4 * 400 / 399))
    assert row["p"] < 0.001
    named = [Text(text.id, "T.", facts={"year": "early"}) for text in texts]
    assert list(trends(own, facts_of(study_with(own, texts=named), "year"))) == []
    with pytest.raises(WrongInput, match="unknown column 'yaer'"):
        facts_of(study_with(own, texts=texts), "yaer")


# failures and costs


def test_texts_of_one_session_are_one_unit_in_every_interval():
    blocks = ("1111", "0000", "2222", "1111", "0000", "2222")
    ann, ben = "".join(blocks), "".join(("1111", "2222", "2222", "1111", "0000", "0000"))
    own = codes_of(REASONS, ("Ann", "Ben"), **{ENSEMBLE: ann, "Ann": ann, "Ben": ben})
    texts = [Text(f"t{i}", "", f"g{(i - 1) // 4}") for i in range(1, 25)]
    study = study_with(own, texts=texts).clustered("group")
    once = codes_of(
        REASONS, ("Ann", "Ben"), **{ENSEMBLE: ann[::4], "Ann": ann[::4], "Ben": ben[::4]}
    )
    (own,) = study.fair
    # Each session is four copies of one text, and says as much as one; the published one does not.
    row, alone = (next(r for r in pairs(one) if r["b"] == "Ben") for one in (own, once))
    assert (row["unit"], row["df"], alone["unit"], alone["df"]) == ("cluster", 5, "text", 5)
    whole, quarter = row["high"] - row["low"], alone["high"] - alone["low"]
    assert 0.7 < whole / quarter < 1.4  # on Fisher's z, and as it is
    assert row["texts_high"] - row["texts_low"] < 0.6 * whole
    row = next(iter(equivalences(own, 0.1, 0.6)))
    assert row["df"] == 5
    assert row["texts_high"] - row["texts_low"] < 0.6 * (row["high"] - row["low"])
    rows = {(row["of"], row["a"], row["b"]): row for row in resampled(study)}
    delta = rows["delta", "Ann", "Ben"]
    assert (delta["texts"], delta["clusters"], delta["by"]) == (24, 6, "group")
    assert delta["low"] < delta["texts_low"] < delta["texts_high"] < delta["high"]
    parts = pd.Series({text: "ab"[i // 4 % 2] for i, text in enumerate(own.texts)})
    ends = [
        row["difference_high"] - row["difference_low"]
        for one in (own, replace(own, groups={}))
        for row in against(one, parts)
        if row["part"] == "b" and row["b"] == "Ben"
    ]
    assert min(ends[:2]) > 1.5 * max(ends[2:])
    alone = [Text(f"t{i}", "", f"g{i}") for i in range(1, 25)]
    study = study_with(own, texts=alone).clustered("group")
    assert {row["note"] for row in resampled(study)} == {"no_clusters", "no_variance"}
    with pytest.raises(WrongInput, match="unknown column 'yer'"):
        list(resampled(study_with(own, texts=texts), "yer"))
