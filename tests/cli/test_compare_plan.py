"""`delibsim compare plan`: designs simulated from numbers or from a pilot, and their price."""

import pytest
from comparing import study_of_pairs

SMALL = ("--texts", "8", "--repeats", "3", "--reach", "r=0.7", "--designs", "random,adaptive")
PLAN = ("compare", "plan", *SMALL)


def test_designs_are_compared_and_priced(delibsim, home):
    found = delibsim(*PLAN, "model=claude_haiku_4_5", "--words", "200", "--json").json
    assert (found["texts"], found["spread"], found["repeats"]) == (8, 2.0, 3)
    assert found["ties"] == pytest.approx(0.15)
    random, adaptive = found["designs"]
    assert (random["design"], adaptive["design"]) == ("random", "adaptive")
    assert random["calls"] == pytest.approx(random["comparisons"] * 8 / 2)
    assert 0 < random["usd_low"] < random["usd_high"]
    longer = delibsim(*PLAN, "model=claude_haiku_4_5", "--words", "400", "--json").json
    assert longer["designs"][0]["usd_low"] > random["usd_low"]
    groups = delibsim(*PLAN, "--groups", "5", "--json").json["designs"]
    assert groups[0]["calls"] == pytest.approx(5 * random["calls"])
    printed = delibsim(*PLAN, "model=local", "model.price=null")
    assert printed.code == 0
    assert "1 group of 8 texts" in printed.out
    assert "unknown" in printed.out


def test_a_pilot_says_what_is_not_given(delibsim, home):
    texts = {f"t{n}": ("", f"Trees cool, {'because they do, ' * n}as we see.") for n in range(12)}
    study_of_pairs(home, texts, "pilot")
    ask = ("compare", "ask", "pilot", "dimension=logical", "design.per_text=6", "model=citizen")
    assert delibsim(*ask, "+model.place=0.4", "+model.threshold=0.3").code == 0
    small = ("compare", "plan", "pilot", *SMALL[2:], "--json")
    found = delibsim(*small).json
    assert found["pilot"] == (
        "study pilot, comparison main, logical: 36 votes on 12 texts in 1 group"
    )
    assert (found["texts"], found["groups"]) == (12, 1)
    assert found["spread"] > 0.5
    assert any("may come out too small" in note for note in found["notes"])
    own = delibsim(*small, "--spread", "3", "--texts", "9", "--place", "0").json
    assert (own["spread"], own["texts"], own["delta"]) == (3, 9, 0)
    assert own["theta"] == found["theta"]


def test_what_is_not_reached_is_said_and_ends_with_4(delibsim, home):
    words = ("compare", "plan", "--texts", "5", "--spread", "0.1", "--repeats", "3")
    answer = delibsim(*words, "--designs", "random")
    assert answer.code == 4
    assert "note: random reaches r" in answer.out


WRONG = {
    "--texts 2": "--texts is 2; it is a whole number from 3 to 1,000",
    "--texts many": "--texts is many; it is a whole number",
    "--spread 0": "--spread is 0; it is a number from 0.05 to 20",
    "--spread nan": "--spread is nan; it is a number",
    "--ties 1": "--ties is 1; it is a number from 0 to 0.9",
    "--place x": "--place is x; it is a number from -5 to 5",
    "--reach r=1": "a correlation above 0, at most 0.999",
    "--reach tau=0.5": "unknown value of --reach",
    "--designs random,random": "name different designs",
    "--designs stars": "stars",
    "--penalty none": "unknown value of --penalty",
    "--penalty dummy:0": "a number above 0 stands after dummy:",
    "--repeats 1": "--repeats is 1; it is a whole number from 3",
    "colour=red": "unknown setting of a plan",
    "criteria=criteria": "has no effect without a judge",
    "group.models=[citizen,local]": "a plan is for one judge",
    "name=main": "name the study",
    "nowhere": "nowhere",
    "one two": "one study is the pilot, not 2",
}


@pytest.mark.parametrize("words", WRONG)
def test_words_that_cannot_be_are_refused(delibsim, home, words):
    answer = delibsim("compare", "plan", *words.split())
    assert answer.code == 2
    assert WRONG[words] in answer.err


def test_a_pilot_without_votes_is_refused(delibsim, home):
    study_of_pairs(home)
    answer = delibsim("compare", "plan", "demo")
    assert answer.code == 2
    assert "has no comparison" in answer.err
