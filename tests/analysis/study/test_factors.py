"""Which factors vary, where the others are held, and which sessions can be compared."""

import pandas as pd
import pytest

from delibsim.analysis.study.factors import ANEW, factors, levels_of, varied
from delibsim.analysis.study.sample import pooled_wordings


def grid(topics=("acp", "ccps"), treatments=("none", "normative"), **settings):
    """Sessions of two replicates with the settings that are given."""
    known = {
        "group_size": 5,
        "rounds": 2,
        "temperature": 0.0,
        "wording": "default",
        "persona": "none",
    }
    rows = []
    for topic in topics:
        for treatment in treatments:
            for replicate in (1, 2):
                row = {"topic": topic, "model": "m", "treatment": treatment, "replicate": replicate}
                rows.append(row | known | settings)
                if treatment == "none":
                    rows[-1]["rounds"] = 0
    return pd.DataFrame(rows)


def stacked(*parts):
    return pd.concat(parts, ignore_index=True)


def test_a_grid_of_treatments_has_no_factor_although_nobody_speaks_under_none():
    assert factors(grid()) == []


def test_one_factor_varies_while_the_others_are_held_where_it_has_most_levels():
    rows = stacked(
        grid(),
        grid(group_size=3),
        grid(treatments=("normative",), rounds=4),
        grid(treatments=("normative",), rounds=6),
        grid(temperature=0.7),
    )
    found = {factor.name: factor for factor in factors(rows)}
    assert list(found) == ["group_size", "rounds", "temperature"]
    size = found["group_size"]
    assert size.levels == ("3", "5")
    assert len(size.rows) == 16
    assert set(size.rows["temperature"]) == {0}
    assert set(size.rows["rounds"]) == {0, 2}, "rounds are not held where nobody speaks"
    assert "sessions that differ: 16" in size.notes[0]
    assert "rounds 2, temperature 0" in size.notes[0]
    rounds = found["rounds"]
    assert rounds.levels == ("2", "4", "6")
    assert set(rounds.rows["treatment"]) == {"normative"}
    assert len(rounds.rows) == 12


def test_topics_that_lack_a_level_are_left_out_and_counted():
    rows = stacked(grid(("acp", "ccps", "bep")), grid(("acp",), group_size=7))
    (size,) = factors(rows)
    assert set(size.rows["topic"]) == {"acp"}
    assert "8 sessions" in size.notes[-1]
    assert size.why_not == ""
    (apart,) = factors(stacked(grid(("acp",)), grid(("bep",), group_size=7)))
    assert (apart.why_not, len(apart.rows)) == ("no_common_block", 0)


def test_levels_are_in_their_order():
    rows = stacked(*(grid(group_size=size) for size in (10, 3, 7)))
    assert factors(rows)[0].levels == ("3", "7", "10")
    rows = stacked(grid(persona="values"), grid(), grid(persona="alike"))
    assert factors(rows)[0].levels == ("none", "alike", "values")


def test_personas_of_each_topic_are_one_level_and_seats_drawn_anew_another():
    told = grid().assign(persona=lambda rows: "human:" + rows["topic"])
    assert set(levels_of(told)["persona"]) == {"human"}
    drawn = grid().assign(persona=[f"5 ({k})" for k in range(8)], cell="one")
    plain = grid().assign(cell="one")
    assert set(levels_of(stacked(drawn, plain))["persona"]) == {ANEW, "none"}


def test_paraphrases_are_a_factor_of_their_treatment():
    names = ("none", "normative", "normative_a", "normative_b", "normative_extra")
    rows = grid(treatments=names)
    assert factors(rows) == [], "a name alone makes no paraphrase"
    told = {"normative_a": "normative", "normative_b": "normative"}
    (wording,) = factors(pooled_wordings(rows.assign(paraphrase_of=rows["treatment"].map(told))))
    assert wording.name == "wording of normative"
    assert wording.levels == ("normative", "normative_a", "normative_b")
    assert len(wording.rows) == 12


def test_temperatures_that_are_not_sent_are_a_level():
    rows = stacked(grid(temperature=None), grid(temperature=0.7))
    assert factors(rows)[0].levels == ("0.7", "not set")


@pytest.mark.parametrize("factor", ["group_size", "rounds"])
def test_a_full_factorial_is_compared_where_the_others_come_first(factor):
    rows = stacked(*(grid(size=s, rounds=r) for s in (3, 5) for r in (2, 4)))
    found = varied(rows, factor)
    held = {"group_size": "rounds", "rounds": "group_size"}[factor]
    spoken = found.rows[found.rows["rounds"] > 0]
    assert spoken[held].nunique() == 1
