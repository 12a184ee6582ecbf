"""Models of several studies side by side: estimates of the analysis, ranks only where they hold."""

import pandas as pd
import pytest
from scipy.stats import t

from delibsim.analysis.study.model_results import StudyOfModels, model_results
from delibsim.analysis.study.study_table import StudyTable

BOTH = ("none", "normative")
TOPICS = ("a", "b", "c", "d", "e", "f")


def study(
    name, models, topics=TOPICS, rounds=2, null=False, people=0, version="v1", text="x", under=BOTH
):
    """A study of two replicates a cell, in which a model changes the index by its own effect and by
    a hundredth more each topic; nothing under none.
    """
    rows, facts = [], []
    for model, effect in models.items():
        for place, topic in enumerate(topics):
            for treatment in under:
                for replicate in (1, 2):
                    cell = f"{topic}.{treatment}.{model}"
                    spoken = treatment == "normative"
                    settings = (("survey", topic), ("group.size", 3), ("model.name", model))
                    settings += (("rounds", rounds),) if spoken else ()
                    own = {"session": f"{cell}.r{replicate}", "cell": cell, "replicate": replicate}
                    own |= {"topic": topic, "treatment": treatment, "status": "complete"}
                    facts.append({**own, "settings": settings, "models": model, "tokens": 10})
                    change = (effect + place / 100) * spoken
                    row = {**own, "model": model, "setting": "", "null": null, "group_size": 3}
                    row |= {"interaction": spoken, "people_seats": people, "equal_to": None}
                    row |= {"refusals": 1, "answers_missing": 3, "answers_expected": 12}
                    row |= {"cost_usd": 0.5, "dri_change": change, "diversity_change": -change}
                    rows.append(row)
    table = StudyTable(name, pd.DataFrame(rows), ())
    versions = {} if null or people else dict.fromkeys(models, version)
    return StudyOfModels(name, table, facts, versions, {"none": "0", "normative": text})


def rows_of(*studies):
    return model_results(studies).plain()


def test_models_are_ranked_by_the_estimate_of_the_analysis_within_one_procedure():
    rows = rows_of(
        study("one", {"low": 0.1, "high": 0.2}),
        study("two", {"high": 0.4}, rounds=4),
        study("null", {"citizen": 0.3}, null=True),
        study("us", {"person": 0.3}, people=3),
    )
    found = {(row["model"], row["procedure"]): row for row in rows}
    high, low = found["high", "rounds=2"], found["low", "rounds=2"]
    assert (high["rank"], low["rank"]) == (1, 2)
    assert high["estimate"] == pytest.approx(0.2 + 0.025)
    half = t.ppf(0.975, 5) * pd.Series([0, 1, 2, 3, 4, 5]).std() / 100 / 6**0.5
    assert high["low"] == pytest.approx(0.225 - half)
    assert high["diversity"] == pytest.approx(-0.225)
    assert (high["topics"], high["sessions"], high["tokens"]) == (6, 12, 10)
    assert (high["refusals"], high["missing"], high["cost_usd"]) == (1, 0.25, 0.5)
    others = [row for row in rows if row not in (high, low)]
    assert [row["who"] for row in others] == [
        "models",
        "people",
        "null citizen",
        "people, published",
    ]
    assert {row["rank"] for row in others} == {None}
    assert found["high", "rounds=4"]["studies"] == "two"


def test_a_model_of_few_topics_has_no_rank_and_one_of_none_alone_no_estimate():
    few = study("few", {"third": 0.9}, topics=TOPICS[:4])
    silent = study("silent", {"fourth": 0.0}, under=("none",))
    rows = rows_of(study("one", {"low": 0.1, "high": 0.2}), few, silent)
    ranks = {row["model"]: row["rank"] for row in rows if row["who"] == "models"}
    assert ranks == {"high": 1, "low": 2, "third": None, "fourth": None}
    third, fourth = (next(r for r in rows if r["model"] == name) for name in ("third", "fourth"))
    assert third["estimate"] == pytest.approx(0.915)
    assert third["note"].startswith("not_ranked; few_topics")
    assert fourth["estimate"] is None
    assert "only_none" in fourth["note"]


def test_versions_and_wordings_of_one_name_stand_apart_and_treatments_within_a_study():
    first = study("one", {"m": 0.1})
    other = study("two", {"m": 0.2}, version="v2")
    reworded = study("three", {"m": 0.3}, text="y")
    rows = [row for row in rows_of(first, other, reworded) if row["who"] == "models"]
    told = {(row["version"], row["treatment"], row["studies"]) for row in rows}
    assert told == {
        ("v1", "normative (x)", "one"),
        ("v2", "normative (x)", "two"),
        ("v1", "normative (y)", "three"),
    }
    again = study("four", {"m": 0.3})
    again.table.rows["dri_change"] += 1  # of both treatments, which are compared within a study
    (pooled,) = (row for row in rows_of(first, again) if row["who"] == "models")
    assert pooled["estimate"] == pytest.approx(0.225)
    assert pooled["studies"] == "four; one"


def test_what_is_unknown_of_one_session_has_no_mean():
    one = study("one", {"m": 0.1})
    one.table.rows.loc[one.table.rows.index[-1], "cost_usd"] = None
    row = rows_of(one)[0]
    assert row["cost_usd"] is None
    assert "cost_usd unknown: of 1 session" in row["note"]


def test_without_a_session_there_is_a_reason_and_no_table():
    found = model_results([])
    assert not found.given
    assert found.detail
