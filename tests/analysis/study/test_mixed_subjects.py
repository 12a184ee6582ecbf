"""Effects in people, made more precise by their twins of models."""

import numpy as np
import pandas as pd
import pytest

from delibsim.analysis.study.mixed_subjects import mixed_subjects
from delibsim.analysis.study.read_table import read_table
from delibsim.domain.errors import WrongInput
from delibsim.measures.corrected import best_split, corrected, mixed_error, units

EFFECT, BIAS, SD = 0.1, 0.15, 0.2


def rows_of(rng, r=0.8, replicates=30, share=0.3):
    """Two topics; models overrate the treatment, and follow people with correlation r."""
    for topic in ("a", "b"):
        for replicate in range(1, replicates + 1):
            for treatment, treated in (("none", 0), ("normative", 1)):
                own = rng.normal()
                named = {"topic": topic, "treatment": treatment, "replicate": replicate}
                named |= {"dri_pre": 0.0, "chance": share}
                of_model = r * own + np.sqrt(1 - r * r) * rng.normal()
                change = SD * of_model + (EFFECT + BIAS) * treated
                yield named | {"model": "m", "dri_post": change}
                if rng.random() < share:
                    yield named | {"model": "person", "dri_post": SD * own + EFFECT * treated}


def study_of(tmp_path, rows):
    frame = pd.DataFrame(rows).assign(dri_change=lambda own: own["dri_post"] - own["dri_pre"])
    frame["dri_post"] = frame["dri_post"].clip(-0.9, 0.9)
    frame.assign(dri_change=frame["dri_post"]).to_csv(tmp_path / "s.csv", index=False)
    return read_table(tmp_path / "s.csv", ["chance"])


def test_the_rows_are_those_of_the_estimator_with_twins_as_proxies(tmp_path):
    study = study_of(tmp_path, rows_of(np.random.default_rng(1)))
    table, told = mixed_subjects(study, None)
    rows = table.rows[table.rows["outcome"] == "dri"].set_index("row")
    wide = study.rows.assign(people=study.rows["model"] == "person")
    keys = ["topic", "replicate", "treatment"]
    both = wide.pivot(index=keys, columns="people", values="dri_change").reset_index()
    treated = (both["treatment"] == "normative").to_numpy(float)
    design = np.column_stack([treated, np.ones(len(both)), both["topic"] == "b"])
    cluster = both["topic"] + both["replicate"].astype(str)
    own = units(design, both[False], both[True], np.full(len(both), 0.3), cluster)
    expected = corrected(own, [1, 0, 0])
    assert rows.loc["corrected", "estimate"] == pytest.approx(expected.estimate, abs=1e-12)
    assert rows.loc["corrected", "se"] == pytest.approx(expected.se, abs=1e-12)
    assert rows.loc["models", "note"] == "not valid by itself"
    assert abs(rows.loc["models", "estimate"] - EFFECT) > abs(
        rows.loc["corrected", "estimate"] - EFFECT
    )
    assert told[0].endswith("in people")


@pytest.mark.parametrize("r", [0.0, 0.8])
def test_the_error_that_is_foretold_is_the_one_that_comes(tmp_path, r):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(60):
        study = study_of(tmp_path, rows_of(rng, r, replicates=25))
        rows = mixed_subjects(study, None)[0].rows
        row = rows[(rows["outcome"] == "dri") & (rows["row"] == "corrected")].iloc[0]
        found.append((row["estimate"], row["n"]))
    estimates, sizes = map(np.array, zip(*found, strict=True))
    foretold = mixed_error(SD, sizes.mean(), 100, r)
    assert estimates.mean() == pytest.approx(EFFECT, abs=4 * foretold / 60**0.5)
    assert estimates.std() == pytest.approx(foretold, rel=0.3)


def test_a_split_is_the_best_of_all_that_a_budget_pays():
    budget, person, model, r = 2_500, 50, 0.5, 0.6
    people, models = best_split(budget, person, model, r)
    assert people * person + models * model <= budget
    least = mixed_error(1, people, models, r)
    for other in range(1, 50):
        rest = int((budget - other * person) // model)
        if rest >= other:
            assert mixed_error(1, other, rest, r) >= 0.995 * least
    assert best_split(budget, person, model, 0) == (50, 0)
    assert best_split(budget, person, 60, 0.1) == (50, 0)


def test_people_without_a_known_chance_are_refused(tmp_path):
    study = study_of(tmp_path, rows_of(np.random.default_rng(2), replicates=4))
    with pytest.raises(WrongInput, match="not known with what chance"):
        mixed_subjects(
            type(study)(study.study, study.rows.drop(columns="chance"), study.columns), None
        )
    models = study.rows[study.rows["model"] == "m"].reset_index(drop=True)
    with pytest.raises(WrongInput, match="no session is of people"):
        mixed_subjects(type(study)(study.study, models, study.columns), 0.3)
