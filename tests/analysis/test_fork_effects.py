"""Effects of forks: pairs by number, re-runs as noise, and what is missing."""

from math import isnan, nan

import pytest
from scipy import stats

from delibsim.analysis.forks import (
    ForkValues,
    effects_of_forks,
    notes_on_effects,
    tables_of_effects,
)


def forks(values, differs="turn 6 said as given", at=6, seed=0, parent="s/a"):
    cell = f"{at}.{differs}"
    found = []
    for replicate, value in enumerate(values, 1):
        session = f"{cell}.r{replicate}"
        found.append(
            ForkValues(session, parent, at, cell, differs, seed, replicate, {"dri": value})
        )
    return found


def test_the_effect_is_the_mean_difference_of_pairs_with_their_interval():
    changed, same = [0.5, 0.7, 0.4, 0.9], [0.4, 0.3, 0.35, 0.5]
    (effect,) = effects_of_forks([*forks(changed), *forks(same, "")])
    low, high = stats.ttest_rel(changed, same).confidence_interval(0.95)
    assert effect.effect == pytest.approx(0.2375)
    assert (effect.low, effect.high) == pytest.approx((low, high))
    assert (effect.forks, effect.controls, effect.n, effect.note) == (4, 4, 4, "")
    assert effect.noise_sd == pytest.approx(stats.tstd(same))
    assert effect.beyond_noise is bool(low > 0)


def test_undefined_values_leave_their_pair_out_and_nothing_else():
    (effect,) = effects_of_forks([*forks([0.5, nan, 0.4]), *forks([0.4, 0.3, 0.2], "")])
    assert (effect.forks, effect.controls, effect.n) == (2, 3, 2)
    assert effect.mean == pytest.approx(0.45)
    assert effect.noise_mean == pytest.approx(0.3)
    assert effect.effect == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("changed", "same", "note"),
    [
        ([0.5, 0.6], [], "no_control"),
        ([0.5, 0.6], [0.4], "too_few_replicates"),
        ([0.5, 0.6], [0.4, 0.5], "equal_differences"),
        ([nan, nan], [0.4, 0.5], "too_few_replicates"),
    ],
)
def test_without_pairs_that_differ_there_is_a_reason_and_no_interval(changed, same, note):
    (effect,) = effects_of_forks([*forks(changed), *forks(same, "")])
    assert (effect.note, isnan(effect.low), effect.beyond_noise) == (note, True, None)
    assert effect.plain()["low"] is None
    assert any(note in line for line in notes_on_effects([effect]))


@pytest.mark.parametrize("other", [{"at": 7}, {"seed": 1}, {"parent": "s/b"}])
def test_re_runs_of_another_turn_seed_or_run_are_no_control(other):
    found = effects_of_forks([*forks([0.5, 0.7]), *forks([0.4, 0.3], "", **other)])
    assert [effect.note for effect in found] == ["no_control", ""]
    assert found[1].controls == 2  # re-runs alone are shown too
    assert tables_of_effects(found, {})[0].title.startswith("s/a at 6: turn 6")


def test_each_change_stands_against_the_same_re_runs():
    found = effects_of_forks(
        [*forks([0.5, 0.7], "a"), *forks([0.1, 0.2], "b"), *forks([0.4, 0.3], "")]
    )
    assert [(one.differs, round(one.effect, 2)) for one in found] == [("a", 0.25), ("b", -0.2)]
