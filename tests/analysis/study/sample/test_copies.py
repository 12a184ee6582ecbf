"""Sessions that are the same as another by construction count once."""

from dataclasses import replace

import pandas as pd
import pytest
from small_study import held_study
from synthetic_study import synthetic_study

from delibsim.analysis.study.ablations import ablations
from delibsim.analysis.study.aqua import icc
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.mixed import mixed
from delibsim.analysis.study.sample import without_copies
from delibsim.analysis.study.study_table import Draws
from delibsim.analysis.study.topic_means import noise_floor
from delibsim.conduct.analysed import study_table

ONE = synthetic_study(topics=3, models=2, replicates=2)
DRAWS = Draws(permutations=500, resamples=200, parametric=2)


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


def test_ablations_show_that_a_setting_has_no_effect():
    rows = ablations(doubled(), DRAWS).rows
    assert rows["note"].str.startswith("equal_conditions: equal by construction or in fact").all()


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
