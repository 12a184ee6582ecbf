"""Treatments compared by the strengths of their texts, and reports on adaptive pairs: what comes
from which votes, and what may be said.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from delibsim.analysis.pairs.fitted import Compared, Settings, errors_of, fitted
from delibsim.analysis.pairs.report import pairs_report
from delibsim.domain.comparison import Sheet, Vote
from delibsim.measures.bradley_terry.fit import Model
from delibsim.measures.bradley_terry.stability import stretch
from delibsim.measures.designs import random_pairs, shown

SETTINGS = Settings(Model(order=True))


def study(topics, effect, each=10, seed=1):
    """Two sessions a treatment and topic, of three texts each, compared within topics."""
    rng = np.random.default_rng(seed)
    votes, texts, facts = [], {}, {}
    for topic in range(topics):
        ids, truth = [], []
        for treatment in ("none", "normative"):
            for session in (f"{treatment}-{topic}-{n}" for n in range(2)):
                for number in range(3):
                    id = f"{session}/{number}"
                    ids.append(id)
                    truth.append(rng.normal() + effect * (treatment == "normative"))
                    texts[id] = f"topic {topic}"
                    facts[id] = {"session": session, "treatment": treatment, "model": "m"}
        for a, b in shown(random_pairs(12, 6 * each, seed), 12, seed).tolist():
            d = truth[a] - truth[b] + rng.logistic()
            outcome = "a" if d > 0.3 else "b" if d < -0.3 else "tie"
            votes.append(Vote(Sheet(ids[a], ids[b], f"topic {topic}"), "j", "logical", outcome))
    return Compared("s", "main", tuple(votes), {}, texts, False, 1, facts=facts)


def rows_of(report):
    return report.results["conditions"].rows.set_index("question")


def test_over_topics_it_is_a_t_test_of_the_differences_of_topics():
    given = study(6, 1.5)
    report = pairs_report(given, SETTINGS)
    rows = rows_of(report)
    assert list(rows["a"] + rows["b"]) == ["normativenone"] * 2
    own = fitted(given, "logical", replace(SETTINGS, model=Model(order=True, judges="pooled")))
    score = dict(zip(own.ids, own.fit.scores, strict=True))
    gaps = []
    for topic in range(6):
        means = {}
        for name in ("normative", "none"):
            means[name] = np.mean([score[id] for id in own.ids if id.startswith(f"{name}-{topic}")])
        gaps.append(means["normative"] - means["none"])
    factor = stretch(own.counts, own.settings.model, 1, 10)
    gaps = np.array(gaps) / factor.factor
    test = ttest_1samp(gaps, 0)
    like = rows.loc["topics like these"]
    assert (like["estimate"], like["p"]) == pytest.approx((gaps.mean(), test.pvalue))
    ends = test.confidence_interval()
    half, se = (ends.high - ends.low) / 2, gaps.std(ddof=1) / 6**0.5
    half *= np.sqrt(1 + (gaps.mean() / se) ** 2 * factor.squared_error)
    assert (like["low"], like["high"]) == pytest.approx((gaps.mean() - half, gaps.mean() + half))
    assert (like["unit"], like["df"], like["note"]) == ("topic", 5, "")
    these = rows.loc["these topics"]
    assert these["estimate"] == pytest.approx(like["estimate"])
    assert (these["unit"], these["sessions"]) == ("session", 24)
    assert 0 < these["se_of_strengths"] < these["se"]
    assert set(rows["verb"]) == {"stronger"}
    assert "over 6 topics: texts under normative are stronger" in " ".join(report.told)


def test_three_topics_say_nothing_of_topics_like_these():
    report = pairs_report(study(3, 1.5), SETTINGS)
    rows = rows_of(report)
    assert rows.loc["topics like these", "note"].startswith("few_topics: 3 topics")
    assert set(rows["verb"]) == {"on_these_topics"}
    told = " ".join(report.told)
    assert "on these 3 topics: texts under normative are stronger" in told
    assert "over topics like these it is not clear" in told


def test_without_a_difference_none_is_claimed_and_few_votes_give_no_size():
    told = " ".join(pairs_report(study(6, 0.0), SETTINGS).told)
    assert "no clear difference of normative and none" in told
    few = rows_of(pairs_report(study(6, 1.5, each=4), SETTINGS))
    assert few["low"].isna().all()
    assert few["p"].notna().all()
    assert all(note.startswith("few_votes: 4.0 votes a text") for note in few["note"])


def test_texts_of_unknown_treatments_or_of_topics_apart_are_not_contrasted():
    given = study(2, 1.0)
    result = pairs_report(replace(given, facts={}), SETTINGS).results["conditions"]
    assert (result.why_not, len(result.rows)) == ("one_condition", 0)
    only = [
        vote for vote in given.votes if vote.sheet.a.split("-")[0] == vote.sheet.b.split("-")[0]
    ]
    result = pairs_report(replace(given, votes=tuple(only)), SETTINGS).results["conditions"]
    assert result.why_not == "one_condition"
    assert "left out are topics whose texts no votes join: topic 0, topic 1" in result.notes[0]


@pytest.fixture(scope="module")
def adaptive():
    given = study(2, 1.0, each=8)
    drawn = frozenset(vote.sheet.pair for vote in given.votes[::2])
    return replace(given, probes={"logical": drawn}), drawn


def test_intervals_of_adaptive_pairs_are_those_of_the_random_part(adaptive):
    given, drawn = adaptive
    a, b = given.votes[0].sheet.a, given.votes[0].sheet.b
    report = pairs_report(given, replace(SETTINGS, differences=((a, b),)))
    part = replace(given, votes=tuple(v for v in given.votes if v.sheet.pair in drawn), probes=None)
    model = replace(SETTINGS, model=Model(order=True, judges="pooled"))
    alone = fitted(part, "logical", model)
    every = fitted(replace(given, probes=None), "logical", model)
    errors = dict(zip(alone.ids, errors_of(alone.fit).scores, strict=True))
    random = dict(zip(alone.ids, alone.fit.scores, strict=True))
    score = dict(zip(every.ids, every.fit.scores, strict=True))
    for row in report.results["scores"].rows.to_dict("records"):
        id = row["id"]
        assert row["score"] == pytest.approx(score[id], abs=1e-7)
        assert row["random_score"] == pytest.approx(random[id], abs=1e-6)
        assert row["se"] == pytest.approx(errors[id], rel=1e-6)
        assert (row["low"] + row["high"]) / 2 == pytest.approx(random[id], abs=1e-6)
    (difference,) = report.results["differences"].rows.to_dict("records")
    assert difference["difference"] == pytest.approx(random[a] - random[b], abs=1e-6)
    told = " ".join(report.told)
    assert f"those of the {len(part.votes)} of {len(given.votes)} votes on pairs" in told
    place = pairs_report(part, SETTINGS).results["order"].rows.iloc[0]
    of_adaptive = report.results["order"].rows.iloc[0]
    assert of_adaptive["delta"] == pytest.approx(place["delta"], abs=1e-5)
    assert (of_adaptive["note"], place["note"]) == ("too_few_votes", "too_few_votes")
    assert of_adaptive[["low", "high"]].isna().all()


def test_without_a_random_part_there_is_no_interval_and_the_reason_stands_there(adaptive):
    given, _ = adaptive
    settings = replace(SETTINGS, top=2, bootstrap=5)
    report = pairs_report(replace(given, probes={"logical": frozenset()}), settings)
    scores = report.results["scores"].rows
    assert scores["score"].notna().all()
    assert scores[["se", "low", "high", "boot_low", "rank_low", "rank_high"]].isna().all().all()
    assert scores["apart"].isna().all()
    assert set(scores["note"]) - {"won_all", "lost_all", "one_way"} == {"no_random_part"}
    for name, columns in {
        "differences": ["se", "low", "high", "p", "p_holm"],
        "order": ["low", "high"],
        "judges": ["delta_low", "delta_high", "theta_low", "theta_high"],
        "conditions": ["low", "high", "p", "p_holm"],
    }.items():
        rows = report.results[name].rows
        assert len(rows)
        assert rows[columns].isna().all().all()
        assert "no_random_part" in set(rows["note"])
    assert "none was drawn at random, so that no interval holds" in " ".join(report.told)


def test_where_all_pairs_are_judged_nothing_was_chosen():
    given = study(1, 1.0, each=11)
    drawn = frozenset(vote.sheet.pair for vote in given.votes[:20])
    whole = pairs_report(given, SETTINGS).results["scores"].rows
    found = pairs_report(replace(given, probes={"logical": drawn}), SETTINGS).results["scores"].rows
    assert found["low"].tolist() == whole["low"].tolist()
