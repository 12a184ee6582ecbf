"""The sentences of the summary, case by case: each says only what its table holds."""

import pandas as pd
import pytest

from delibsim.analysis.result import Result
from delibsim.analysis.study.outcomes import short, with_interval
from delibsim.analysis.study.summary import clear_alone, effect, summary

NAN = float("nan")
KEYS = {"outcome": "dri", "scale": "absolute", "a": "normative", "b": "none"}
ROW = {
    **KEYS,
    "population": "models",
    "estimate": 0.029,
    "low": 0.004,
    "high": 0.076,
    "p_topics": 0.005,
    "p_holm": 0.015,
    "low_draws": 0.011,
    "high_draws": 0.047,
    "p_draws": 0.001,
    "p_free": 0.3,
    "p_holm_draws": 0.003,
    "verb": "raised",
    "topics": 12,
    "models": 11,
    "blocks": 132,
    "note": "",
}
HERE = ROW | {"verb": "on_these_topics", "low": -0.004, "p_holm": 0.06}
NONE = ROW | {"verb": "none", "low": -0.004, "p_topics": 0.2, "p_holm": 0.6}
INDEX = "Deliberative Reason Index"


def result(name, rows, **more):
    return Result(name, name, "", "", pd.DataFrame(rows), **more)


def results(*tables):
    return {table.name: table for table in tables}


def contrasts(**more):
    return result("contrasts", [ROW | more])


def test_raised_speaks_of_topics_like_these():
    assert effect(ROW, {}) == (
        f"Normative instructions raised the {INDEX} compared with no deliberation, over topics like"
        " these: .029 [.004, .076] (12 topics, 11 models; p = .005, Holm .015)."
    )


def test_lowered_has_one_sign():
    row = ROW | {"verb": "lowered", "estimate": -0.03, "low": -0.05, "high": -0.01}
    assert effect(row, {}).startswith(f"Normative instructions lowered the {INDEX} compared with")
    assert ": −.030 [−.050, −.010] (12 topics" in effect(row, {})


def test_an_effect_on_these_topics_is_no_effect_on_topics():
    """The numbers and p are those of the second question, and what it does not say is said."""
    assert effect(HERE, {}) == (
        f"On these 12 topics, normative instructions went with a higher {INDEX} than no"
        " deliberation: .029 [.011, .047] (12 topics, 11 models; p = .001, Holm .003); over topics"
        " like these it is not clear: [−.004, .076]."
    )
    lower = effect(HERE | {"estimate": -0.02, "low_draws": -0.03, "high_draws": -0.01}, {})
    assert f"went with a lower {INDEX} than no deliberation: −.020 [−.030, −.010]" in lower
    constant = effect(HERE | {"low": NAN, "high": NAN}, {})
    assert constant.endswith("; over topics like these it is not clear.")


@pytest.mark.parametrize(
    ("topics", "where", "told"),
    [
        (4, "On these 4 topics,", "; 4 topics are too few to say this of topics like these."),
        (1, "On this topic,", "; of other topics this study says nothing."),
    ],
)
def test_few_topics_say_nothing_of_others(topics, where, told):
    text = effect(HERE | {"topics": topics}, {})
    assert text.startswith(where)
    assert text.endswith(told)


def test_where_seeds_are_not_shared_p_is_that_of_labels():
    assert "(12 topics, 11 models; p = .300, Holm .003)" in effect(HERE | {"p_draws": NAN}, {})


def test_no_clear_change_has_the_interval_and_p_over_topics():
    assert effect(NONE, {}) == (
        f"Normative instructions against no deliberation: no clear change in the {INDEX}, .029"
        " [−.004, .076] (12 topics, 11 models; p = .200, Holm .600)."
    )
    one = NONE | {"topics": 1, "models": 1, "p_topics": NAN, "p_holm": NAN}
    assert effect(one, {}) == (
        f"On this topic, normative instructions against no deliberation: no clear change in the"
        f" {INDEX}, .029 [−.004, .076] (1 topic, 1 model; p = .001, Holm .003)."
    )


def test_a_test_without_variance_is_undecided():
    none = dict.fromkeys(("low", "high", "p_topics", "p_holm", "p_draws", "p_free"), NAN)
    text = effect(NONE | none, {})
    assert ", .029 (no interval) (12 topics, 11 models; undecided: no variance)." in text


@pytest.mark.parametrize(
    ("change", "clear"),
    [({}, True), ({"p": 0.05}, False), ({"p": NAN}, False), ({"unit": "topic", "n": 4}, False)],
)
def test_one_model_is_clear_after_holm_over_all_models_topics_and_contrasts(change, clear):
    first = KEYS | {"model": "x", "p": 0.01} | change
    others = [KEYS | {"topic": "t", "p": 0.5}, KEYS | {"topic": "u", "p": 0.6}]
    tables = results(result("by_model", [first]), result("by_topic", others))
    found = clear_alone(tables, "dri", "absolute")
    assert (("by_model", "normative", "none", "x") in found) is clear
    more = [KEYS | {"topic": f"t{i}", "p": 0.5} for i in range(5)]
    tables = results(result("by_model", [first]), result("by_topic", more))
    assert clear_alone(tables, "dri", "absolute") == set(), ".01 among six is .06"


def test_models_that_stand_together_are_set_ups():
    """A group of several models is one set-up, whose name joins theirs."""
    for name, said in (("gpt+claude", "11 set-ups"), ("gpt", "11 models")):
        own = result("by_model", [KEYS | {"model": name, "estimate": 0.1}])
        assert f"(12 topics, {said}; p" in effect(ROW, results(own))
    one = results(result("by_model", [KEYS | {"model": "gpt+claude", "estimate": 0.1}]))
    assert "(12 topics, 1 set-up; p" in effect(ROW | {"models": 1}, one)


def test_the_topic_that_matters_most_is_named():
    rows = []
    for topic, estimate in (("acp", 0.031), ("fremantle", 0.0096), ("ccps", 0.03)):
        rows.append(KEYS | {"left_out": topic, "estimate": estimate})
    for row in (ROW, HERE, NONE):
        text = effect(row, results(result("leave_one_out", rows)))
        assert text.endswith("; without fremantle it is .010.")


def test_an_effect_has_a_size_and_no_effect_has_what_would_have_been_found():
    sizes = results(result("sizes", [KEYS | {"in_noise_sd": 0.25, "smallest_effect": 0.04}]))
    for row in (ROW, HERE):
        assert effect(row, sizes).endswith("; the effect is .250 SD of the noise.")
    found = "; one test would have found an effect of .040 with a power of .8."
    assert effect(NONE, sizes).endswith(found)
    unknown = results(result("sizes", [KEYS | {"in_noise_sd": NAN, "smallest_effect": NAN}]))
    assert [effect(row, unknown) for row in (ROW, NONE)] == [effect(ROW, {}), effect(NONE, {})]


def test_equal_conditions_are_called_equal():
    row = ROW | {"estimate": 0.0, "note": "equal_conditions: equal by construction or in fact"}
    row |= dict.fromkeys(("low", "high", "p_topics", "p_holm", "p_draws", "p_holm_draws"), NAN)
    same = f"Normative instructions and no deliberation gave the same {INDEX} in every pair"
    assert effect(row, {}) == f"{same} (12 topics, 11 models)."
    by = [KEYS | {"model": name, "estimate": 0.0} for name in "xy"]
    assert summary(results(result("contrasts", [row]), result("by_model", by))) == [
        f"{same} (12 topics, 11 models)."
    ]


def test_no_value_is_said_with_its_reason():
    row = ROW | {"estimate": NAN, "note": "no_block: no topic and model has both"}
    assert effect(row, {}) == (
        f"Normative instructions against no deliberation: no estimate of the change in the {INDEX}"
        " (no topic and model has both)."
    )


def test_a_study_of_citizens_speaks_of_citizens():
    sentences = summary(results(contrasts(population="null citizen")))
    assert f"raised the {INDEX} of the citizens compared with" in sentences[0]
    assert "(12 topics, 11 kinds of citizen; p" in sentences[0]


def test_the_null_citizen_stands_beside_the_first_effect():
    """Once, for all contrasts of the main outcome."""
    null = ROW | {"population": "null citizen", "estimate": 0.001, "low": -0.01, "high": 0.01}
    rows = [ROW, NONE | {"a": "basic"}, null, null | {"a": "basic", "low": NAN}]
    sentences = summary(results(result("contrasts", [*rows, null | {"outcome": "diversity"}])))
    assert len(sentences) == 3
    assert sentences[1] == (
        "The null citizen, which understands no language, gives in the same design a difference in"
        f" the {INDEX} of .001 [−.010, .010] for normative instructions against no deliberation and"
        " .001 (no interval) for basic instructions against no deliberation."
    )


def test_for_whom():
    rows = []
    for model, estimate, low, p in (
        ("x", 0.1, 0.05, 0.01),
        ("y", 0.02, -0.1, 0.5),
        ("z", -0.1, -0.2, 0.4),
    ):
        own = {"model": model, "estimate": estimate, "low": low, "high": 0.2, "p": p}
        rows.append(KEYS | own)
    sentences = summary(results(contrasts(), result("by_model", rows)))
    assert sentences[0].endswith(
        "(12 topics, 11 models; p = .005, Holm .015). The estimate is above zero in 2 of 3 models;"
        " clear by itself, after Holm over all of them, in x."
    )


def test_people_beside_and_where_there_are_none_why():
    row = {"population": "models", "outcome": "dri", "phase": "change", "treatment": "normative"}
    row |= {"here": 0.05, "people": 0.1, "difference": -0.05, "low": -0.1, "high": -0.01}
    beside = result("people", [row | {"topics": 12}])
    assert summary(results(contrasts(), beside))[-1] == (
        "In real citizen deliberations on 12 topics the Deliberative Reason Index changed by .100;"
        " here it changed by .050 with normative instructions (difference −.050 [−.100, −.010])."
    )
    none = result("people", [], why_not="no_people", detail="No people on these topics.")
    last = summary(results(contrasts(), none))[-1]
    assert last == "Compared with people: not possible here. No people on these topics."


def test_people_stand_beside_one_treatment_of_citizens_too():
    row = {"population": "null citizen", "outcome": "dri", "phase": "change", "topics": 1}
    row |= {"treatment": "none", "here": 0.05, "people": 0.1, "difference": -0.05}
    beside = result("people", [row | {"low": NAN, "high": NAN}])
    alone = result("contrasts", [], why_not="one_treatment", detail="There is one treatment.")
    nothing, people = summary(results(alone, beside), of_citizens=True)
    assert nothing.startswith("No treatments can be compared.")
    assert people.startswith("In real citizen deliberations on 1 topic the Deliberative")
    assert summary(results(alone, beside)) == [nothing]  # the null twin of models is not "here"


def test_equivalence_is_said_only_where_it_is_shown():
    row = {**KEYS, "b": "basic", "margin": 0.02}
    row |= {"estimate": 0.001, "low_90": -0.01, "high_90": 0.012}
    shown = result("equivalence", [row | {"equivalent": True}])
    assert "equivalent within ±.020" in summary(results(contrasts(), shown))[-1]
    not_shown = result("equivalence", [row | {"equivalent": False}])
    assert "equivalent" not in " ".join(summary(results(contrasts(), not_shown)))


def test_the_noise_floor_is_said_with_its_sessions():
    row = {"outcome": "dri", "n": 24, "mean": 0.049, "low": -0.02, "high": 0.118, "sd": 0.185}
    assert summary(results(contrasts(), result("noise_floor", [row])))[-1] == (
        f"Noise floor: where nobody speaks between the two surveys, the {INDEX} changes by .049"
        " [−.020, .118] on average over topics (24 sessions, SD .185)."
    )


def test_the_primary_outcome_comes_before_the_index():
    rows = [ROW | {"role": "secondary"}, ROW | {"role": "primary", "outcome": "dri_adjusted"}]
    assert len(summary(results(result("contrasts", rows)))) == 1
    assert "adjusted" in summary(results(result("contrasts", rows)))[0]


def test_numbers_in_sentences():
    assert [short(x) for x in (0.0, -0.0004, -1.5, 0.9996)] == [".000", ".000", "−1.500", "1.000"]
    assert with_interval(0.1, NAN, 1.0) == ".100 (no interval)"
