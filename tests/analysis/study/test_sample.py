"""Which sessions an analysis takes: outcomes, copies, populations, silent sessions, parts."""

import shutil
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from cases import cases_of
from small_study import held_study
from synthetic_study import synthetic_study

from delibsim.analysis.study.aqua import icc
from delibsim.analysis.study.blocks import compared, counterparts, is_silent, stated
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.mixed import mixed
from delibsim.analysis.study.power import of_pilot
from delibsim.analysis.study.sample import (
    ALL_MODELS,
    OutcomeMeasure,
    families_of,
    kinds_of_participants,
    notes_of,
    outcomes_of,
    pooled_wordings,
    populations,
    without_copies,
    without_value,
)
from delibsim.analysis.study.sample import CITIZENS as NULL
from delibsim.analysis.study.study_table import DrawCounts, selected
from delibsim.analysis.study.topic_means import noise_floor
from delibsim.conduct.analysed import study_table
from delibsim.domain.errors import WrongInput

STUDY = synthetic_study(topics=1, models=1, replicates=1)


CASES = cases_of(__file__)


def test_the_published_contrasts_are_one_family_and_all_other_pairs_another():
    three = [("normative", "none"), ("basic", "none"), ("normative", "basic")]
    assert families_of(["none", "basic", "normative"]) == {"published contrasts": three}
    found = families_of(["none", "normative", "strict"])
    assert found["published contrasts"] == [("normative", "none")]
    assert found["other pairs"] == [("strict", "none"), ("strict", "normative")]
    assert families_of(["x", "y"]) == {"all pairs": [("y", "x")]}
    assert families_of(["none"]) == {}


def test_columns_of_outcomes():
    columns = [OutcomeMeasure("dri").column, OutcomeMeasure("dri", "relative").column]
    assert columns == ["dri_change", "dri_relative_change"]
    rows = STUDY.rows.drop(columns="diversity_change").assign(dri_change=np.nan)
    given, missing = outcomes_of(rows)
    assert OutcomeMeasure("dri") not in given
    assert missing == [
        "dri (absolute): no session has a value of dri_change.",
        "diversity (absolute): the study has no column diversity_change.",
    ]


ONE = synthetic_study(topics=3, models=2, replicates=2)
DRAWS = DrawCounts(permutations=500, resamples=200, parametric=2)


def doubled(**other):
    """The study at two numbers of words, of which the second has no effect on its models."""
    first = ONE.rows.assign(setting="procedure.words=100", equal_to=None)
    second = ONE.rows.assign(setting="procedure.words=200", equal_to=first["cell"], size=7)
    second["cell"] = second["cell"] + "_words200"
    return replace(ONE, rows=pd.concat([second.assign(**other), first], ignore_index=True))


def test_a_setting_without_effect_makes_no_error_smaller():
    twice = doubled()
    for analysis, columns in (
        (contrasts, ["estimate", "low", "high_draws", "p_draws", "p_free", "p_holm", "blocks"]),
        (noise_floor, ["n", "mean", "sd", "low", "high"]),
        (icc, ["icc", "low", "high", "n"]),
    ):
        found, expected = analysis(twice, DRAWS), analysis(ONE, DRAWS)
        pd.testing.assert_frame_equal(found.rows[columns], expected.rows[columns])
        (note,) = set(found.notes) - set(expected.notes)
        assert note.startswith("36 sessions are the same as another by construction")
    terms = [mixed(study, DRAWS)[1].rows.set_index("term")["se"] for study in (twice, ONE)]
    assert terms[0].to_numpy() == pytest.approx(terms[1].to_numpy())


def test_what_gave_other_values_is_a_draw_of_its_own():
    other = doubled(dri_change=lambda rows: rows["dri_change"] + 0.01)
    assert without_copies(other.rows) == (other.rows, [])
    nothing = doubled().rows.assign(equal_to=None)
    assert without_copies(nothing)[0] is nothing
    assert without_copies(ONE.rows)[0] is ONE.rows


def test_the_order_and_the_index_of_the_rows_do_not_matter():
    rows = doubled().rows
    kept = without_copies(rows)[0]
    assert kept["equal_to"].isna().all()
    shuffled = rows.sample(frac=1, random_state=1).set_index(rows.index // 2)
    assert set(without_copies(shuffled)[0]["session"]) == set(kept["session"])
    assert len(without_copies(shuffled)[0]) == len(kept)


def test_sessions_of_another_treatment_or_without_values_are_no_copies():
    rows = ONE.rows.assign(equal_to=None, dri_change=0.1)
    basic = rows["treatment"] == "basic"
    names = rows["cell"].str.replace("basic", "normative")
    rows["equal_to"] = names.where(basic)
    assert len(without_copies(rows)[0]) == len(rows)
    measures = [name for name in rows if name.endswith(("_pre", "_post", "_change"))]
    empty = doubled().rows.assign(**dict.fromkeys(measures, float("nan")))
    assert len(without_copies(empty)[0]) == len(empty)


def test_citizens_who_are_asked_for_other_words_are_the_same(tmp_path):
    runs = held_study(
        tmp_path, "topic=ccps", "treatment=none,normative", "procedure.words=100,200",
        "group.size=3", "rounds=1",
    )  # fmt: skip
    rows = study_table(runs).rows
    kept, (note,) = without_copies(rows)
    assert (len(rows), len(kept)) == (4, 2)
    assert sorted(kept["treatment"]) == ["none", "normative"]
    assert note.startswith("2 sessions are the same")


MODELS = synthetic_study(topics=2, models=2, replicates=2)
CITIZENS = synthetic_study(topics=2, models=1, replicates=2, null=True)
BOTH = replace(MODELS, rows=pd.concat([MODELS.rows, CITIZENS.rows], ignore_index=True))


def sizes(study):
    return {population.name: len(population.rows) for population in populations(study)}


def test_the_null_citizen_is_a_population_of_its_own_of_populations():
    conditions = {"none": 8, "basic": 8, "normative": 8}
    assert sizes(MODELS) == {ALL_MODELS: 24, **conditions}
    assert sizes(BOTH) == {ALL_MODELS: 24, **conditions, NULL: 12}
    assert notes_of(BOTH) == notes_of(MODELS) == []


def test_the_twin_gives_the_citizens_of_a_study_that_has_none():
    twinned = replace(MODELS, twin=CITIZENS.rows)
    assert kinds_of_participants(twinned)[NULL] is CITIZENS.rows
    assert sizes(twinned)[NULL] == 12
    own = replace(BOTH, twin=MODELS.rows)
    assert kinds_of_participants(own)[NULL]["null"].all(), "its own citizens come first"


def test_paraphrases_count_under_their_treatment():
    told = MODELS.rows["treatment"].map({"basic": "normative"})
    held = MODELS.rows.assign(paraphrase_of=told)
    expected = {ALL_MODELS: 24, "none": 8, "normative": 16}
    assert sizes(replace(MODELS, rows=held)) == expected
    assert pooled_wordings(held)["paraphrase"].tolist() == MODELS.rows["treatment"].tolist()
    nothing = MODELS.rows.assign(paraphrase_of=None)
    assert pooled_wordings(nothing) is nothing


def test_a_held_study_knows_its_paraphrases_and_so_do_sessions_that_were_never_begun(tmp_path):
    settings = "topic=ccps", "treatment=none,normative,normative_a", "group.size=3", "rounds=1"
    runs = held_study(tmp_path, *settings, "replicate=1,2")
    gone = next(name for name in runs.sessions() if "normative_a" in name)
    shutil.rmtree(runs.path(gone))
    study = study_table(runs)
    told = study.rows.groupby("treatment")["paraphrase_of"].agg(lambda own: own.tolist())
    assert told["normative_a"] == ["normative"] * 2
    assert all(value is None or value is pd.NA for value in [*told["none"], *told["normative"]])
    assert sizes(study) == {"none": 2, "normative": 4, NULL: 6}


def test_a_study_of_citizens_only_is_its_own_population_and_is_said_to_be_one():
    assert sizes(CITIZENS) == {"none": 4, "basic": 4, "normative": 4, NULL: 12}
    (said,) = notes_of(CITIZENS)
    assert "no finding about language models" in said


def test_sessions_without_a_value_are_counted_with_their_reasons():
    rows = MODELS.rows.copy()
    rows["dri_note"] = ""
    rows.loc[[0, 1], "dri_change"] = np.nan
    rows.loc[0, "dri_note"] = "missing_answer"
    rows.loc[1, "status"] = "not begun"
    (said,) = without_value(rows, ("dri_pre", "dri_change"))
    assert said.startswith("2 of 24 sessions have no dri_pre and dri_change")
    assert "missing_answer: 1" in said
    assert "not begun: 1" in said
    assert without_value(MODELS.rows, ("dri_change",)) == []


SPOKEN = synthetic_study(topics=3, models=2, replicates=2)
FEW = DrawCounts(permutations=500, resamples=50, parametric=2)


def sweep(study=SPOKEN, step=0.2):
    """The study with two and four rounds; sessions without interaction are held once for both."""
    speaking = study.rows[study.rows["treatment"] != "none"]
    two = speaking.assign(setting="rounds=2")
    changed = speaking["dri_change"] + step + np.random.default_rng(1).normal(0, 0.1, len(speaking))
    four = speaking.assign(setting="rounds=4", rounds=4, dri_change=changed)
    silent = study.rows[study.rows["treatment"] == "none"]
    return replace(study, rows=pd.concat([four, silent, two], ignore_index=True))


def by_hand(rows, column="dri_change"):
    """The mean over topic, model and rounds of normative less the one mean of none."""
    cells = rows.groupby(["treatment", "topic", "model", "setting"])[column].mean()
    silent = cells["none"].droplevel("setting")
    return (cells["normative"].unstack("setting").sub(silent, axis=0)).stack()


def test_each_level_of_rounds_is_compared_with_the_sessions_without_interaction():
    rows = sweep().rows
    found = compared(rows, "dri_change", "normative", "none")
    assert found.blocks["difference"].tolist() == pytest.approx(by_hand(rows).tolist())
    assert found.blocks["setting"].tolist() == ["rounds=2", "rounds=4"] * 6
    assert (len(found.pairs), found.left_out, found.unpaired) == (24, (), ())
    assert found.shared.startswith("shared: 12 sessions compared at several levels")
    assert compared(rows, "dri_change", "normative", "basic").shared == ""


def test_the_tests_know_that_a_session_stands_in_two_blocks():
    rows = sweep(synthetic_study(topics=2, models=1, replicates=2, seed=8), 0.02).rows
    study = replace(SPOKEN, rows=rows)
    row = contrasts(study, FEW).rows.iloc[0]
    assert row["estimate"] == pytest.approx(by_hand(rows).mean())
    assert "shared: 4 sessions" in row["note"]
    one = rows[rows["treatment"] != "basic"].pivot_table(
        "dri_change", ["topic", "replicate"], ["treatment", "setting"]
    )
    means = (one["normative"].mean(axis=1) - one["none", ""]).to_numpy()
    signs = np.array(list(product([-1, 1], repeat=4)))
    expected = np.mean(np.abs(signs @ means) >= abs(means.sum()) - 1e-12)
    assert row["p_draws"] == pytest.approx(expected, abs=1e-12)


def test_a_pilot_and_the_mixed_model_hold_none_against_the_mean_of_the_levels():
    study = sweep(synthetic_study(topics=4, models=2, replicates=3))
    truth = by_hand(study.rows).mean()
    for order in (study.rows, study.rows.iloc[::-1]):
        terms = mixed(replace(study, rows=order), FEW)[1].rows.set_index("term")["estimate"]
        assert terms["normative"].iloc[0] == pytest.approx(truth)
        none = study.rows.loc[study.rows["treatment"] == "none", "dri_change"].mean()
        assert terms["intercept"].iloc[0] == pytest.approx(none)
    found = of_pilot(study, "dri", ("normative", "none"))
    assert found.spread.residual == pytest.approx(0.1, rel=0.3)


@pytest.mark.parametrize(
    ("spoken", "silent", "chosen"), CASES["settings_agree_in_what_does_not_concern_speech"]
)
def test_settings_agree_in_what_does_not_concern_speech(spoken, silent, chosen):
    expected = {spoken[0]: chosen} if isinstance(chosen, str) else chosen
    assert counterparts(spoken, silent) == expected


def test_a_value_may_hold_commas():
    found = stated("procedure.audience.edges=[[1, 2], [2, 3]], rounds=2")
    assert dict(found) == {"procedure.audience.edges": "[[1, 2], [2, 3]]", "rounds": "2"}


def test_sessions_are_silent_by_their_column_and_else_by_their_treatment():
    rows = pd.DataFrame({"treatment": ["none", "silence", "normative", "none"]})
    assert is_silent(rows).tolist() == [True, False, False, True]
    known = rows.assign(interaction=pd.array([False, False, True, None], dtype="boolean"))
    assert is_silent(known).tolist() == [True, True, False, True]


def test_a_level_that_one_topic_lacks_makes_no_block_there():
    rows = sweep().rows
    lacking = rows[~((rows["topic"] == "topic1") & (rows["setting"] == "rounds=4"))]
    found = compared(lacking, "dri_change", "normative", "none")
    assert found.blocks["topic"].value_counts().to_dict() == {"topic0": 4, "topic2": 4, "topic1": 2}
    assert found.left_out == ()


@pytest.fixture(scope="module")
def study():
    return synthetic_study(topics=3, models=2, replicates=2)


def test_conditions_of_one_column_add_up_and_those_of_several_are_all_held(study):
    rows = selected(study, ["none", "basic", "topic=topic1", "rounds=2"]).rows
    assert set(rows["treatment"]) == {"basic"}
    assert set(rows["topic"]) == {"topic1"}
    assert len(rows) == 4


@pytest.mark.parametrize(
    ("conditions", "sessions", "told"),
    [
        (["normativ"], [], "did you mean normative"),
        (["topic=topic9"], [], "unknown topic 'topic9'"),
        (["none", "rounds=2"], [], "no session is in all of"),
        ([], ["nothing"], "unknown session"),
    ],
)
def test_what_the_study_has_not_is_refused(study, conditions, sessions, told):
    with pytest.raises(WrongInput, match=told):
        selected(study, conditions, sessions)
