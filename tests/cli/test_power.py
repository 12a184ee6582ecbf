"""`delibsim power`: from a pilot or from assumptions, with a price, and into a preregistration."""

import pytest
from small_study import held_study
from synthetic_study import synthetic_study

SETTINGS = ("topic=ccps,acp", "treatment=none,normative", "replicate=range(1,4)")


def test_without_a_pilot_the_published_spread_is_named_and_the_price_is_asked_for(delibsim):
    answer = delibsim("power")
    assert (answer.code, answer.err) == (0, "")
    assert "published: SD of change .1746, within-block SD .1117" in answer.out
    assert "12 topics x 11 models x 5 replicates" in answer.out
    assert "Price     unknown: give the settings" in answer.out


def test_settings_give_the_design_and_its_price_and_leave_no_file(delibsim, files):
    answer = delibsim("power", "-m", *SETTINGS, "model=gpt_5_1", "--effect", ".1", "--json")
    assert answer.code == 0
    found = answer.json
    assert found["design"] == {"topics": 2, "models": 1, "replicates": 3}
    assert found["price"]["sessions"] == 12
    estimated = delibsim("estimate", "-m", "study=power", *SETTINGS, "model=gpt_5_1", "--json").json
    assert found["price"]["usd_high"] == pytest.approx(estimated["total"]["usd"]["high"])
    assert files() == {}
    shown = delibsim("power", *SETTINGS, "model=gpt_5_1").out
    assert "Price     this design: 12 sessions, USD" in shown


def test_what_is_assumed_takes_the_place_of_what_is_published(delibsim):
    sds = ("--sd", "topic=.03", "--sd", "residual=.1", "--correlation", ".2")
    found = delibsim("power", *sds, "--size", "topics=10,models=1", "--json").json
    assert found["components"]["source"] == "assumed: topic 0.03, residual 0.1, correlation 0.2"
    assert found["design"]["topics"] == 10
    tests = {one["test"]: one for one in found["tests"]}
    assert tests["topics"]["power"] < tests["draws"]["power"]
    half = delibsim("power", "--sd", "topic=.01", "--json").json["components"]["source"]
    assert half.startswith("assumed: topic 0.01; else published")


def test_a_pilot_gives_the_spread_and_the_design(delibsim, home):
    held_study(home, "topic=ccps,acp,bep", "treatment=none,normative", "replicate=range(1,4)",
               "group.size=3", "rounds=1", "model=citizen,citizen_open", study="pilot")  # fmt: skip
    answer = delibsim("power", "pilot", "--effect", ".1", "--json")
    assert answer.code == 0
    found = answer.json
    assert found["design"]["topics"] == 3
    assert found["components"]["source"] == "pilot: 36 sessions of normative and none, dri"
    assert set(found["components"]["intervals"]) == {"topic", "residual", "correlation"}
    assert any("null model" in note for note in found["components"]["notes"])
    other = delibsim("power", "pilot", "--contrast", "dri_adjusted:none,normative", "--json").json
    assert (other["outcome"], other["between"]) == ("dri_adjusted", ["none", "normative"])
    assert delibsim("power", "pilot", "--dir", home / "runs", "--json").code == 0
    wrong = delibsim("power", "pilot", "--contrast", "dri:basic,none")
    assert (wrong.code, "'basic'" in wrong.err) == (2, True)


def test_a_pilot_that_does_not_tell_a_spread_asks_for_it(delibsim, home):
    held_study(home, "topic=ccps,acp", "treatment=none,normative", "replicate=1,2",
               "group.size=3", "rounds=1", study="pilot")  # fmt: skip
    assert delibsim("power", "pilot").code == 0  # of one model, as the pilot has
    answer = delibsim("power", "pilot", "--size", "models=2")
    assert answer.code == 2
    assert "--correlation .3" in answer.err
    assert delibsim("power", "pilot", "--size", "models=2", "--correlation", ".3").code == 0


def test_a_table_of_a_study_held_elsewhere_is_a_pilot_too(delibsim, home):
    rows = synthetic_study({"none": 0.0, "normative": 0.1}, topics=4, models=3).rows
    table = rows[["topic", "model", "treatment", "replicate"]]
    table = table.assign(pre=rows["dri_pre"].round(6), post=rows["dri_post"].round(6))
    table.to_csv(home / "pilot.csv", index=False)
    found = delibsim("power", "pilot.csv", "--json").json
    assert found["components"]["source"] == "pilot: 120 sessions of normative and none, dri"
    assert found["design"]["models"] == 3
    assert delibsim("power", "nothing.csv").code == 2


def test_a_preregistration_takes_the_answer(delibsim, home):
    answer = delibsim("power", "--effect", ".05", "--json")
    (home / "power.json").write_text(answer.out, encoding="utf-8")
    assert delibsim("preregister", "study=p", *SETTINGS, "-m", "--power", "power.json").code == 0
    text = (home / "runs" / "p" / "preregistration.md").read_text(encoding="utf-8")
    section = text.partition("## 4. Sample size")[2].partition("## 5.")[0]
    for words in (
        "for an effect of 0.05 in the change of dri, normative less none, with power 0.8",
        "12 topics, 11 models and 5 replicates",
        "published: SD of change .1746, within-block SD .1117",
        "| SD of a session within its block | 0.1117 |",
        "| over topics like these, t test over topics |",
        "[FILL IN: why this many",
    ):
        assert words in section, words
