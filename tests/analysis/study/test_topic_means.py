"""Means over topics: gains, changes of opinion, stability of ranks, the noise floor."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap
from statsmodels.stats.weightstats import DescrStatsW
from synthetic_study import synthetic_study

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import of_topics
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.analysis.study.topic_means import (
    decomposition,
    means,
    noise_floor,
    opinion_change,
    over_topics,
    rank_stability,
)
from delibsim.measures.aqua import HIGHEST, LOWEST


def test_the_interval_agrees_with_scipy_within_simulation_error():
    rng = np.random.default_rng(1)
    topics = pd.Series(np.repeat(np.arange(10), 3))
    values = pd.Series(rng.normal(0.03, 0.1, 10)[topics] + rng.normal(0, 0.05, 30))
    found = over_topics(values, topics, DrawCounts(resamples=20_000))
    means = values.groupby(topics).mean().to_numpy()
    theirs = bootstrap(
        (means,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert found["mean"] == pytest.approx(means.mean())
    published = found["published_low"], found["published_high"]
    assert published == pytest.approx((theirs.low, theirs.high), abs=0.002)
    assert (found["low"], found["high"]) == pytest.approx(DescrStatsW(means).tconfint_mean())
    assert found["df"] == 9
    assert (found["n"], found["topics"], found["note"]) == (30, 10, "")


def test_people_s_published_interval_is_found_again():
    """Published: mean change .099 [.026, .196]; its ends move by .003 from seed to seed.

    By t over the twelve topics it is [-.0015, .199].
    """
    changes = pd.Series(of_topics(BENCHMARK, "dri", "change"))
    found = over_topics(changes, pd.Series(BENCHMARK), DrawCounts())
    assert found["mean"] == pytest.approx(0.099, abs=0.0005)
    published = found["published_low"], found["published_high"]
    assert published == pytest.approx((0.026, 0.196), abs=0.003)
    assert (found["low"], found["high"]) == pytest.approx((-0.0015, 0.199), abs=0.0005)


DRAWS = DrawCounts(resamples=500)
STUDY = synthetic_study(topics=12, models=2, replicates=2)


def on_the_benchmark(study, survey=""):
    names = dict(zip([f"topic{k}" for k in range(12)], BENCHMARK, strict=True))
    topics = study.rows["topic"].map(names)
    return replace(study, rows=study.rows.assign(topic=topics, survey=survey + topics))


def gains(result):
    return result.rows.set_index(["population", "measure"])


def test_a_gain_is_the_mean_of_topics_each_counting_once():
    rows = STUDY.rows.drop(STUDY.rows.index[:5])
    found = gains(decomposition(replace(STUDY, rows=rows), DRAWS))
    own = rows[rows["treatment"] == "none"]
    row = found.loc["none", "consideration_agreement"]
    by_topic = own.groupby("topic")["consideration_agreement_change"].mean()
    assert row["gain"] == pytest.approx(by_topic.mean())
    assert (row["n"], row["topics"]) == (len(own), 12)
    assert row["low"] < row["gain"] < row["high"]


def test_people_s_gains_are_those_on_the_topics_of_the_study():
    """Over the twelve topics with their cases pooled: +.078 and +.112 (docs/human-reference.md)."""
    found = gains(decomposition(on_the_benchmark(STUDY), DRAWS))
    assert found.loc["people", "consideration_agreement"]["gain"] == pytest.approx(0.078, abs=5e-4)
    assert found.loc["people", "preference_agreement"]["gain"] == pytest.approx(0.112, abs=5e-4)
    assert tuple(found.loc["people", "preference_agreement"][["n", "topics"]]) == (407, 12)


NAMES = dict(zip([f"topic{k}" for k in range(12)], BENCHMARK, strict=True))


def on(survey):
    topics = STUDY.rows["topic"].map(NAMES)
    return replace(STUDY, rows=STUDY.rows.assign(topic=topics, survey=survey + topics))


def found(study):
    return opinion_change(study, DRAWS).rows.set_index(["population", "measure"])


def test_people_s_opinion_change_is_shown_on_their_own_instrument_only():
    own = found(on("deliberr."))
    for measure in ("opinion_change_c", "opinion_change_p", "rank_stability"):
        expected = np.mean(of_topics(BENCHMARK, measure, "change"))
        assert own.loc["people", measure]["mean"] == pytest.approx(expected)
    short = found(on(""))
    assert short.loc["people", "opinion_change_c"]["note"] == "another_instrument"
    assert np.isnan(short.loc["people", "opinion_change_c"]["mean"])
    assert short.loc["people", "rank_stability"]["n"] == 407


BASE = synthetic_study(topics=6, models=2, replicates=2)


def longer(rounds, tau, **settings):
    rows = BASE.rows[BASE.rows["treatment"] == "normative"]
    return rows.assign(rounds=rounds, rank_stability_change=tau, **settings)


def test_rounds_are_compared_on_the_same_topics_models_and_treatments():
    rows = pd.concat([BASE.rows, longer(4, 0.6), longer(6, 0.5)], ignore_index=True)
    result = rank_stability(replace(BASE, rows=rows), DRAWS)
    found = result.rows.set_index("rounds")
    assert list(found.index) == [0, 2, 4, 6]
    assert (found.loc[4, "mean"], found.loc[6, "mean"]) == pytest.approx((0.6, 0.5))
    own = BASE.rows[BASE.rows["treatment"] == "normative"]
    assert found.loc[2, "mean"] == pytest.approx(own["rank_stability_change"].mean())
    assert tuple(found.loc[2, ["n", "topics"]]) == (24, 6)
    assert found.loc[2, "low"] < found.loc[2, "mean"] < found.loc[2, "high"]
    assert found.loc[0, "n"] == 24
    assert any("24 sessions" in note for note in result.notes), "those of basic"


NOISE = synthetic_study(topics=4, models=3, replicates=3)


def test_it_describes_the_sessions_in_which_nobody_speaks():
    result = noise_floor(NOISE, DRAWS)
    assert list(result.rows.columns) == list(result.meanings)
    assert result.rows["outcome"].tolist() == ["dri", "dri_adjusted", "diversity"]
    own = NOISE.rows[NOISE.rows["treatment"] == "none"]
    row = result.rows.iloc[0]
    values = own["dri_change"]
    assert (row["n"], row["treatment"], row["note"]) == (36, "none", "few_topics")
    assert np.isnan([row["published_low"], row["published_high"]]).all()
    topics = DescrStatsW(own.groupby("topic")["dri_change"].mean())
    assert (row["low"], row["high"]) == pytest.approx(topics.tconfint_mean())
    assert row["mean"] == pytest.approx(values.mean())
    assert row["sd"] == pytest.approx(values.std())
    assert row["mean_absolute"] == pytest.approx(values.abs().mean())
    within = own.groupby(["topic", "model"])["dri_change"].std().mean()
    assert row["within_block_sd"] == pytest.approx(within)


def test_what_is_missing_is_counted():
    rows = NOISE.rows.copy()
    none = rows.index[rows["treatment"] == "none"]
    rows.loc[none[:2], "dri_change"] = np.nan
    row = noise_floor(replace(NOISE, rows=rows), DRAWS).rows.iloc[0]
    assert row["n"] == 34
    assert "missing: 2 of 36 sessions have no value (2 no reason given)" in row["note"]
    assert "no_replication: 1 of 12 blocks have one session only" in row["note"]


def test_means_by_treatment_have_their_interval_and_people_s_published_aqua_beside():
    spoken = NOISE.rows["treatment"] != "none"
    scores = 2.9 + NOISE.rows["dri_pre"].where(spoken) / 10
    study = replace(NOISE, rows=NOISE.rows.assign(**{"aqua.score": scores}))
    found = means(study, DRAWS).rows.set_index(["population", "outcome", "phase", "treatment"])
    row = found.loc["models", "dri", "post", "normative"]
    own = NOISE.rows[NOISE.rows["treatment"] == "normative"]
    topics = DescrStatsW(own.groupby("topic")["dri_post"].mean())
    assert (row["low"], row["high"]) == pytest.approx(topics.tconfint_mean())
    assert (row["mean"], row["sd"]) == pytest.approx((topics.mean, own["dri_post"].std()))
    assert (row["n"], row["topics"], row["note"]) == (36, 4, "few_topics")
    aqua = found.xs("aqua.score", level="outcome")
    assert aqua.index.get_level_values("treatment").tolist()[:2] == ["basic", "normative"]
    assert aqua.loc["people"][["mean", "sd", "n"]].to_numpy().tolist() == [[2.98, 0.431, 910]]
    rows = study.rows.assign(**{"aqua.score": scores * 0.8, "aqua.sum": scores.map(sum_of)})
    rescaled = means(replace(study, rows=rows), DRAWS).rows
    rescaled = rescaled[
        (rescaled["outcome"] == "aqua.score") & (rescaled["population"] == "models")
    ]
    assert rescaled["mean"].tolist() == pytest.approx(aqua.loc["models"]["mean"].tolist(), abs=1e-6)


def sum_of(score):
    return score / 5 * (HIGHEST - LOWEST) + LOWEST


def test_sessions_with_personas_are_a_population_of_their_own():
    kind = np.where(NOISE.rows["replicate"] == 1, "none", "human")
    study = replace(NOISE, rows=NOISE.rows.assign(persona=kind))
    found = gains(decomposition(study, DRAWS))
    own = study.rows[study.rows["persona"] == "human"]
    expected = own.groupby("topic")["consideration_agreement_change"].mean().mean()
    row = found.loc["personas: human", "consideration_agreement"]
    assert (row["gain"], row["n"]) == (pytest.approx(expected), len(own))
    assert "personas: none" in found.index
    assert not any("personas" in name for name, _ in gains(decomposition(NOISE, DRAWS)).index)
