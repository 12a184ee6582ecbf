"""Agreement, opinion change and stability of ranks of runs, worked by hand."""

import pytest

from delibsim.scorers.agreement import Agreement

PRE = (((1, 2, 3), (1, 2, 3)), ((1, 3, 2), (1, 2, 3)), ((3, 2, 1), (3, 2, 1)))
POST = (((1, 2, 3), (1, 2, 3)), ((2, 4, 6), (1, 2, 3)), ((2, 3, 4), (1, 3, 2)))


def test_every_measure(by_hand, as_table):
    # Considerations: pre AB 0.5, AC -1, BC -0.5, mean -1/3; post all rise alike, mean 1; change
    # 4/3. Preferences: pre AB 1, AC -1, BC -1, mean -1/3; post AB 1, AC 0.5, BC 0.5, mean 2/3;
    # change 1. Opinion change: considerations Ann 0, Bob 1 + 1 + 4, Cem 1 + 1 + 3, in all 11 of 9
    # answers; preferences Ann 0, Bob 0, Cem 2 + 1 + 1, in all 4 of 9. Kendall's tau-b of own ranks:
    # Ann 1, Bob 1, Cem 3 2 1 against 1 3 2: of three pairs one agrees, two do not: -1/3; mean 5/9.
    found = as_table(Agreement().score([by_hand(PRE, POST)]))
    expected = {
        ("consideration_agreement", "pre"): -1 / 3, ("consideration_agreement", "post"): 1.0, ("consideration_agreement", "change"): 4 / 3,
        ("preference_agreement", "pre"): -1 / 3, ("preference_agreement", "post"): 2 / 3, ("preference_agreement", "change"): 1.0,
        ("opinion_change_c", "change"): 11 / 9, ("opinion_change_p", "change"): 4 / 9, ("rank_stability", "change"): 5 / 9,
    }  # fmt: skip
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_missing_rating_leaves_what_needs_it_undefined_and_nothing_else(by_hand, as_table):
    holey = (POST[0], ((2, None, 6), POST[1][1]), POST[2])
    found = as_table(Agreement().score([by_hand(PRE, holey)]))
    undefined = {key for key, value in found.items() if value == "missing_answer"}
    assert undefined == {
        ("consideration_agreement", "post"),
        ("consideration_agreement", "change"),
        ("opinion_change_c", "change"),
    }
    assert found["preference_agreement", "change"] == pytest.approx(1.0)
    assert found["rank_stability", "change"] == pytest.approx(5 / 9)


def test_ratings_all_alike_have_no_correlation_and_still_a_change(by_hand, as_table):
    constant = (POST[0], ((4, 4, 4), POST[1][1]), POST[2])
    found = as_table(Agreement().score([by_hand(PRE, constant)]))
    undefined = {key: value for key, value in found.items() if isinstance(value, str)}
    assert undefined == dict.fromkeys(
        [("consideration_agreement", "post"), ("consideration_agreement", "change")],
        "constant_ratings",
    )
    assert found["opinion_change_c", "change"] == pytest.approx(
        (0 + 3 + 1 + 2 + 1 + 1 + 3) / 9
    )  # Ann 0, Bob 3 1 2, Cem 1 1 3
