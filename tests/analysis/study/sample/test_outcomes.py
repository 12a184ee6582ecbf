"""Which treatments are compared, in which families, over whose sessions."""

from dataclasses import replace

import numpy as np
from synthetic_study import synthetic_study

from delibsim.analysis.study.sample import (
    Outcome,
    contrasts_of,
    families_of,
    kinds_of_participants,
    main_population,
    outcomes_of,
    treatments_of,
)

STUDY = synthetic_study(topics=1, models=1, replicates=1)


def test_the_published_contrasts_are_one_family_and_all_other_pairs_another():
    three = [("normative", "none"), ("basic", "none"), ("normative", "basic")]
    assert families_of(["none", "basic", "normative"]) == {"published contrasts": three}
    found = families_of(["none", "normative", "strict"])
    assert found["published contrasts"] == [("normative", "none")]
    assert found["other pairs"] == [("strict", "none"), ("strict", "normative")]
    assert families_of(["x", "y"]) == {"all pairs": [("y", "x")]}
    assert contrasts_of(["none"]) == []


def test_treatments_come_in_one_order():
    rows = STUDY.rows.replace({"treatment": {"basic": "a_first"}})
    assert treatments_of(rows.iloc[::-1]) == ["none", "normative", "a_first"]


def test_columns_of_outcomes():
    columns = [Outcome("dri").column, Outcome("dri", "relative").column]
    assert columns == ["dri_change", "dri_relative_change"]
    rows = STUDY.rows.drop(columns="diversity_change").assign(dri_change=np.nan)
    given, missing = outcomes_of(rows)
    assert Outcome("dri") not in given
    assert missing == [
        "dri (absolute): no session has a value of dri_change.",
        "diversity (absolute): the study has no column diversity_change.",
    ]


def test_the_null_citizen_is_a_population_of_its_own():
    rows = STUDY.rows.assign(null=[False, None, True])
    mixed = replace(STUDY, rows=rows)
    assert {name: len(part) for name, part in kinds_of_participants(mixed).items()} == {
        "models": 2,
        "null citizen": 1,
    }
    assert main_population(mixed)[1] == [
        "Sessions of citizens of the null model are not in this table: 1."
    ]
    bare = replace(STUDY, rows=STUDY.rows.drop(columns="null"))
    assert list(kinds_of_participants(bare)) == ["models"]
    assert kinds_of_participants(replace(STUDY, rows=STUDY.rows.iloc[:0])) == {}
