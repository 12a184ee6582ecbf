"""All figures: what they say, what they need, how large they are."""

import re

import numpy as np
import pandas as pd
import pytest
from study_results import absent, made_results, result
from synthetic_study import synthetic_study

from delibsim.analysis.figures.of_study import FIGURES, drawings
from delibsim.analysis.study.people import OF_PEOPLE, PAIRS
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.score import CATALOGUE

NAMES = [kind.name for kind in FIGURES]
LARGEST, ALL_TOGETHER = 250_000, 3_000_000
BENCHMARK = ("fnqcj", "ccps", "acp", "bep", "auscj", "zukunft")


def pairs(rows, seed=0):
    """Correlations of ten pairs a session and phase."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(rows["session"].to_numpy(), 20)
    phases = np.tile(np.repeat(["pre", "post"], 10), len(rows))
    size = len(groups)
    own = {"considerations": rng.uniform(-1, 1, size), "preferences": rng.uniform(-1, 1, size)}
    return result(PAIRS, pd.DataFrame({"group": groups, "phase": phases, **own, "note": ""}))


def full_study(replicates=2, models=2):
    """A study of models and of the null citizen, with scores of AQuA, on topics people know."""
    own = synthetic_study(topics=6, models=models, replicates=replicates).rows
    null = synthetic_study(topics=6, models=1, replicates=1, seed=3, null=True).rows
    null = null.assign(session="null-" + null["session"], model="citizen")
    rows = pd.concat([own, null], ignore_index=True)
    topics = dict(zip(sorted(set(rows["topic"])), BENCHMARK, strict=True))
    rows["topic"] = rows["topic"].map(topics)
    rows["survey"] = rows["topic"]
    rng = np.random.default_rng(1)
    for measure in CATALOGUE["aqua"]:
        rows[measure.id] = rng.uniform(0, 2, len(rows))
    return StudyTable("full", rows, columns=())


@pytest.fixture(scope="module")
def full():
    study = full_study()
    return study, made_results(study) | {PAIRS: pairs(study.rows)}


@pytest.fixture(scope="module")
def drawn(full):
    found, missing = drawings(*full)
    assert missing == {}
    return {drawing.name: drawing for drawing in found}


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_a_caption_an_alternative_text_with_numbers_and_is_small(drawn, name):
    drawing = drawn[name]
    assert drawing.name == name
    assert drawing.caption.endswith(".")
    assert len(re.findall(r"\.\d\d", drawing.alt)) >= 3
    assert "nan" not in f"{drawing.alt}{drawing.caption}".lower().split()
    assert len(drawing.svg()) < LARGEST


def test_the_alternative_text_states_estimates_and_intervals(full, drawn):
    rows = full[1]["contrasts"].rows
    first = rows[(rows["population"] == "models") & (rows["a"] == "normative")].iloc[0]
    told = f"normative − none: {first['estimate']:.3f}".replace("0.", ".").replace("-", "−")
    assert told in drawn["effects"].alt
    assert "normative − none, null citizen:" in drawn["effects"].alt
    without = full[1]["leave_one_out"].rows
    lowest = without.loc[without["estimate"].idxmin(), "left_out"]
    assert f"lowest without a topic, without {lowest}" in drawn["effects_by_topic"].alt


def test_a_caption_says_what_its_intervals_rest_on(full, drawn):
    for name, units in {
        "effects": "topics",
        "effects_by_model": "topics",
        "effects_by_topic": "draws (replicates, averaged over models)",
        "ablations": "topics",
        "reasoning": "topics",
    }.items():
        assert f"intervals by t over {units}" in drawn[name].caption
    study, results = full
    one = results["contrasts"].rows.assign(topics=1, unit="session")
    told, _ = drawings(study, results | {"contrasts": result("contrasts", one)})
    caption = next(own.caption for own in told if own.name == "effects")
    assert "Lines are 95% intervals by t over sessions of this topic." in caption


def test_what_is_drawn_as_pooled_over_models_is_never_the_null_citizen(full):
    study, results = full
    rows = results["contrasts"].rows
    models = rows["population"] == "models"
    assert 0 < models.sum() < len(rows)
    own = rows.assign(estimate=rows["estimate"].mask(models), blocks=np.where(models, 5, 7))
    drawn = {one.name: one for one in drawings(study, results | {"contrasts": result("c", own)})[0]}
    for name in ("effects_by_model", "effects_by_topic"):
        assert "pooled:" not in drawn[name].alt
    assert ", null citizen:" in drawn["effects"].alt
    both = results | {"contrasts": result("c", own.assign(estimate=rows["estimate"]))}
    drawn = {one.name: one for one in drawings(study, both)[0]}
    assert "pooled:" in drawn["effects_by_model"].alt
    assert "5 blocks of topic and model" in drawn["effects"].caption


def test_a_study_without_data_has_no_figure_and_every_reason_is_said():
    nothing = StudyTable("empty", synthetic_study().rows.iloc[:0], columns=())
    found, missing = drawings(nothing, {})
    assert found == []
    assert set(missing) == set(NAMES)
    assert all(reason.endswith(".") for reason in missing.values())


def test_a_table_that_is_not_given_says_why_there_is_no_figure(full):
    study, results = full
    why = "Only one treatment was held."
    _, missing = drawings(study, results | {"contrasts": absent("contrasts", why)})
    assert missing == {"effects": why}


def test_a_study_of_citizens_only_is_said_to_be_no_finding_about_models():
    study = synthetic_study(topics=3, models=1, replicates=1, null=True)
    for drawing in drawings(study, made_results(study))[0]:
        assert "nothing here is about language models" in drawing.caption


def test_people_whose_answers_are_not_there_are_named_in_the_caption(full):
    study, results = full
    why = absent(OF_PEOPLE, "surveys/imported is not there.")
    found, _ = drawings(study, results | {OF_PEOPLE: why})
    caption = next(own.caption for own in found if own.name == "consistency")
    assert "No people: surveys/imported is not there." in caption
