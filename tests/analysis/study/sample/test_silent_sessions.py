"""Sessions in which nobody speaks, compared with those of every level of speech."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.blocks import compared
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.mixed import mixed
from delibsim.analysis.study.power import of_pilot
from delibsim.analysis.study.silent_sessions import counterparts, is_silent, placed, stated
from delibsim.analysis.study.study_table import Draws

STUDY = synthetic_study(topics=3, models=2, replicates=2)
DRAWS = Draws(permutations=500, resamples=50, parametric=2)


def sweep(study=STUDY, step=0.2):
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
    study = replace(STUDY, rows=rows)
    row = contrasts(study, DRAWS).rows.iloc[0]
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
        terms = mixed(replace(study, rows=order), DRAWS)[1].rows.set_index("term")["estimate"]
        assert terms["normative"].iloc[0] == pytest.approx(truth)
        none = study.rows.loc[study.rows["treatment"] == "none", "dri_change"].mean()
        assert terms["intercept"].iloc[0] == pytest.approx(none)
    found = of_pilot(study, "dri", ("normative", "none"))
    assert found.spread.residual == pytest.approx(0.1, rel=0.3)


@pytest.mark.parametrize(
    ("spoken", "silent", "chosen"),
    [
        (["rounds=2"], ["rounds=0"], {"rounds=2": "rounds=0"}),
        (["group.size=3, rounds=2"], [""], {}),
        (["group.size=3, rounds=2"], ["group.size=3", "group.size=4"], "group.size=3"),
        (
            ["procedure.recall=False, rounds=2"],
            ["procedure.recall=True", "procedure.recall=False"],
            "procedure.recall=False",
        ),
        (["procedure.recall=False"], ["procedure.recall=True"], "procedure.recall=True"),
        (["long"], [""], {}),
    ],
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


def test_nothing_is_moved_where_nothing_differs():
    assert placed(STUDY.rows)["setting"].unique().tolist() == [""]
    speaking = STUDY.rows[STUDY.rows["treatment"] != "none"].assign(setting="rounds=2")
    alone = placed(pd.concat([speaking, STUDY.rows[STUDY.rows["treatment"] == "none"]]))
    assert alone["setting"].unique().tolist() == ["rounds=2"]
