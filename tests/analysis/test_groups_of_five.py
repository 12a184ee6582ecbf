"""People in disjoint groups of five: partitions, their spread, the ceiling over groups, and the
reference joined by topic.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from delibsim.analysis.human import groups_of_five as five
from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import (
    COLUMNS,
    add_human_reference,
    groups_of_five,
    partition_of_five,
    reference,
)
from delibsim.domain.score import SCORE_PHASES
from delibsim.measures import agreement, dri
from delibsim.store.instruments.answers import Answers
from delibsim.store.instruments.imported import read_people

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT.parent / "shared" / "data" / "dri"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the published files are not at {PUBLISHED}"
)


def people(n, seed=1, survey="tea", constant=()):
    """Answers of n invented people to six considerations and four options."""
    rng = np.random.default_rng(seed)
    rated = {phase: rng.integers(1, 8, size=(n, 6)) for phase in ("pre", "post")}
    rated["pre"][list(constant)] = 4
    ranked = {
        phase: np.array([rng.permutation(4) + 1 for _ in range(n)]) for phase in ("pre", "post")
    }
    names = tuple(f"person {k}" for k in range(n))
    return Answers(
        survey,
        names,
        ("only",) * n,
        rated,
        ranked,
        Path("answers.csv"),
        dict.fromkeys(("pre", "post"), tuple(range(n))),
    )


@needs_published
def test_the_twelve_topics_give_77_groups_whose_means_are_those_of_all_pairs():
    answers = {own.survey: own for own in read_people(PUBLISHED)[0]}
    topics = [five.dealt(answers[topic], 400) for topic in BENCHMARK]
    assert sum(topic.groups for topic in topics) == 77
    # Every pair is equally likely to share a group, so the expected group value is the pooled one.
    for measure in ("dri", "diversity", "consideration_agreement"):
        for part in ("pre", "post", "change"):
            found = five.over_topics(topics, measure, part)
            pooled = np.mean([reference(topic)[part][measure] for topic in BENCHMARK])
            assert abs(found.mean - pooled) < 4 * found.between_partitions / np.sqrt(400)
            assert found.undefined == 0
    fit = five.group_ceiling(topics)
    assert fit.n == 77
    assert -0.9 < fit.beta < -0.418, (
        "smaller groups start with more noise, so the slope is steeper than over topics"
    )
    shipped = json.loads(
        (ROOT / "delibsim" / "data" / "human_reference.json").read_text(encoding="utf-8")
    )["groups_of_five"]
    assert fit.beta == pytest.approx(shipped["ceiling"]["beta"], abs=0.03)
    whole = [five.dealt(answers[topic]) for topic in BENCHMARK]
    assert five.over_topics(whole, "dri", "change").mean == pytest.approx(
        shipped["mean_of_topics"]["dri"]["change"]["mean"], rel=1e-9
    )
    slope = five.group_ceiling(whole, "diversity").beta
    assert slope == pytest.approx(shipped["convergence"]["beta"], rel=1e-9)
    for topic in whole:
        for measure, own in five.one_partition(topic).items():
            drawn = partition_of_five(topic.id, measure)
            assert drawn["pre"] == pytest.approx(own["pre"], rel=1e-9)
            assert drawn["change"] == pytest.approx(own["change"], rel=1e-9, abs=1e-12)


@needs_published
def test_the_published_diversities_of_groups_of_five_fit_drawing_with_replacement_alone():
    """Published: 18.047 before and 16.887 after, over topics.

    With replacement two seats hold one person with probability 1/n, at distance 0, so that a group
    has (1 - 1/n) of the topic's diversity; disjoint groups have all of it.
    """
    answers = {own.survey: own for own in read_people(PUBLISHED)[0]}
    disjoint = [five.dealt(answers[topic], 400) for topic in BENCHMARK]
    redrawn = [five.drawn_with_replacement(answers[topic], 400) for topic in BENCHMARK]
    for part, published in (("pre", 18.047), ("post", 16.887)):
        whole = [reference(topic)[part]["diversity"] for topic in BENCHMARK]
        sizes = np.array([reference(topic)["n"] for topic in BENCHMARK])
        expected = np.mean(whole * (1 - 1 / sizes))
        again = five.over_topics(redrawn, "diversity", part)
        assert abs(again.mean - expected) < 4 * again.between_partitions / np.sqrt(400)
        assert abs(published - expected) < 0.02, "a fortieth of what tells the two apart"
        apart = five.over_topics(disjoint, "diversity", part)
        assert abs(apart.mean - np.mean(whole)) < 4 * apart.between_partitions / np.sqrt(400)
        assert published < apart.mean - 5 * apart.between_partitions


def test_who_is_drawn_twice_sits_beside_themselves_and_more_draws_begin_alike():
    one = five.drawn_with_replacement(people(9), 30)
    many = five.drawn_with_replacement(people(9), 60)
    for measure in five.OF_FIVE:
        values = one.values[measure]["pre"]
        assert values.shape == (30, 1)
        assert values == pytest.approx(many.values[measure]["pre"][:30])
    crowd = people(200, 3)
    kept = five.drawn_with_replacement(crowd, 3000).values["diversity"]["pre"]
    own = crowd.considerations["pre"], crowd.preferences["pre"]
    whole = agreement.diversity(np.hstack(own))
    spread = five.spread(kept)
    expected = whole * (1 - 1 / 200)
    assert abs(spread.mean - expected) < 4 * spread.between_partitions / np.sqrt(3000)


def test_groups_are_disjoint_and_keep_their_members_and_more_partitions_begin_alike():
    few, many = five.dealt(people(23), 3), five.dealt(people(23), 50)
    assert (few.n, few.groups) == (23, 4)
    for measure in five.OF_FIVE:
        for part in SCORE_PHASES:
            assert few.values[measure][part].shape == (3, 4)
            assert few.values[measure][part] == pytest.approx(many.values[measure][part][:3])


def test_a_group_has_the_values_the_measures_give_it():
    own = people(5)
    found = five.dealt(own, 1)
    rated, ranked = own.considerations["post"], own.preferences["post"]
    expected = {
        "dri": dri.dri(rated, ranked),
        "dri_adjusted": dri.dri_adjusted(rated, ranked),
        "diversity": agreement.diversity(np.hstack([rated, ranked])),
        "consideration_agreement": agreement.agreement(rated),
        "preference_agreement": agreement.agreement(ranked),
    }
    assert {
        name: float(found.values[name]["post"][0, 0]) for name in five.OF_FIVE
    } == pytest.approx(expected)


def test_a_person_who_rates_all_alike_leaves_groups_undefined_and_they_are_counted():
    found = five.spread(five.dealt(people(20, constant=[7]), 40).values["dri"]["pre"])
    assert found.undefined == pytest.approx(1 / 4)
    assert not np.isnan(found.mean)
    assert np.isnan(five.spread(five.dealt(people(5, constant=[0]), 4).values["dri"]["pre"]).mean)
    assert five.spread(five.dealt(people(5, constant=[0]), 4).values["dri"]["pre"]).undefined == 1


def test_every_topic_counts_once_or_every_group_counts_once():
    topics = [five.dealt(people(10, 2, "a"), 30), five.dealt(people(40, 3, "b"), 30)]
    own = [five.spread(topic.values["diversity"]["pre"]).mean for topic in topics]
    assert five.over_topics(topics, "diversity", "pre").mean == pytest.approx(np.mean(own))
    assert five.over_groups(topics, "diversity", "pre").mean == pytest.approx(
        (2 * own[0] + 8 * own[1]) / 10
    )


def test_the_ceiling_over_groups_agrees_with_statsmodels():
    topics = [five.dealt(people(25, 2, "a"), 1), five.dealt(people(40, 3, "b"), 1)]
    topics.append(five.dealt(people(15, 4, "c"), 1))
    before = np.hstack([topic.values["dri"]["pre"][0] for topic in topics])
    change = np.hstack([topic.values["dri"]["change"][0] for topic in topics])
    groups = np.repeat([0, 1, 2], [5, 8, 3])
    model = sm.OLS(change, sm.add_constant(before))
    plain = model.fit()
    clustered = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    fit = five.group_ceiling(topics)
    assert (fit.n, fit.beta, fit.r2) == pytest.approx((16, plain.params[1], plain.rsquared))
    assert (fit.se, fit.p) == pytest.approx((plain.bse[1], plain.pvalues[1]))
    assert (fit.se_clustered, fit.p_clustered) == pytest.approx(
        (clustered.bse[1], clustered.pvalues[1])
    )


def test_people_are_joined_to_a_table_by_topic():
    table = pd.DataFrame(
        [("ccps", "dri", "change", "ccps"), ("ccps", "diversity", "pre", "ccps"), ("ccps", "diversity", "pre", "deliberr.ccps"),
         ("trams", "dri", "pre", "trams"), ("ccps", "aqua", "", "ccps")],
        columns=["topic", "measure", "phase", "survey"], index=[3, 1, 4, 1, 5],
    )  # fmt: skip
    joined = add_human_reference(table)
    assert list(joined.columns) == [*table.columns, *COLUMNS]
    assert joined["people"].tolist() == pytest.approx(
        [0.104, np.nan, 20.585, np.nan, np.nan], abs=0.0005, nan_ok=True
    )
    assert joined["people_note"].tolist() == [
        "",
        "another_instrument",
        "",
        "no_people_on_this_topic",
        "not_measured_in_people",
    ]
    assert joined["people_n"].tolist() == pytest.approx([31, 31, 31, np.nan, 31], nan_ok=True)
    five_of = groups_of_five("ccps")["dri"]["change"]
    assert joined["people_of_five"].iloc[0] == five_of["mean"]
    assert joined["people_of_five_sd"].iloc[0] == five_of["between_groups"]
    assert (
        add_human_reference(table.drop(columns="survey"))["people_note"].iloc[1]
        == "instrument_unknown"
    )
    with pytest.raises(ValueError, match="lacks the columns topic"):
        add_human_reference(table.drop(columns="topic"))
