"""Effects over runs that were forked alike: every run is one observation."""

from dataclasses import replace
from math import isnan, nan

import pytest
from scipy import stats

from delibsim.analysis.forks import (
    ForkValues,
    effects_of_forks,
    effects_over_runs,
    notes_over_runs,
    tables_over_runs,
    unmeasured,
)

SURVEYS = {"s/a": "one", "s/b": "one", "s/c": "one"}


def forks(parent, effects, at=6, change="said", seed=0):
    """Pairs of forks and controls of a run that differ by these effects."""
    found = []
    for replicate, effect in enumerate(effects, 1):
        common = {"parent": parent, "at": at, "seed": seed, "replicate": replicate}
        control = {"dri": 0.1 * replicate, "item C1": 4.0}
        values = {"dri": 0.1 * replicate + effect, "item C1": 5.0}
        found += [
            ForkValues("x", cell="same", differs="", values=control, **common),
            ForkValues("y", cell=change, differs=change, values=values, change=change, **common),
        ]
    return found


def over(*found, surveys=SURVEYS, comparable=("dri",)):
    effects = effects_of_forks([fork for own in found for fork in own])
    return {one.measure: one for one in effects_over_runs(effects, surveys, comparable)}


def test_the_effect_over_runs_is_the_mean_of_their_effects_with_their_interval():
    """Not of all pairs: a run with more forks weighs no more."""
    found = over(forks("s/a", [0.1, 0.3, 0.2, 0.2]), forks("s/b", [0.5]), forks("s/c", [0.0, 0.2]))
    dri = found["dri"]
    test = stats.ttest_1samp([0.2, 0.5, 0.1], 0)
    assert dri.effect == pytest.approx(0.8 / 3)
    assert (dri.low, dri.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert (dri.runs, dri.n, dri.note) == (3, 3, "")
    assert found["item C1"].note == "equal_differences"


def test_a_run_with_two_seeds_is_one_observation():
    dri = over(
        forks("s/a", [0.1]), forks("s/a", [0.3], seed=1), forks("s/b", [0.4]), forks("s/c", [0.3])
    )["dri"]
    assert dri.n == 3
    assert dri.effect == pytest.approx(0.3)


def test_other_turns_and_other_words_are_other_changes():
    assert over(forks("s/a", [0.1]), forks("s/b", [0.1], at=5)) == {}
    assert over(forks("s/a", [0.1]), forks("s/b", [0.1], change="other")) == {}
    assert over(forks("s/a", [0.1, 0.2])) == {}


def test_without_effects_there_is_a_reason_and_no_interval():
    alone = [replace(one, values={"dri": nan}) for one in forks("s/b", [0.1])]
    found = over(forks("s/a", [0.2]), alone)["dri"]
    assert (found.runs, found.n, found.note, isnan(found.low)) == (2, 1, "too_few_runs", True)
    assert found.plain()["low"] is None
    surveys = {**SURVEYS, "s/b": "two"}
    both = over(forks("s/a", [0.2]), forks("s/b", [0.1]), surveys=surveys)
    assert both["item C1"].note == "other_survey"
    assert isnan(both["item C1"].effect)
    assert both["dri"].n == 2
    assert any("several" in line for line in notes_over_runs(list(both.values())))


def test_tables_hold_items_only_where_they_are_wanted():
    found = list(over(forks("s/a", [0.2]), forks("s/b", [0.1])).values())
    (table,) = tables_over_runs(found, {"dri": "DRI"})
    assert [row[0] for row in table.rows] == ["DRI"]
    assert table.title == "over 2 runs at 6: said"
    assert len(tables_over_runs(found, {}, items=True)[0].rows) == 2
    assert unmeasured(forks("s/a", [0.2]), "s/forks") == []
