"""Two studies beside each other: shared topics only, what differs said, nothing claimed."""

import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.comparison import comparison, in_words, page_of_both
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.findings import findings
from delibsim.analysis.study.study_table import Draws

FEW = Draws(40, 40, 8)


def found(**more):
    return findings(synthetic_study(topics=4, models=2, replicates=2, **more), FEW, [contrasts])


def test_the_difference_is_the_mean_over_shared_topics():
    first, second = found(seed=1), found(seed=2, effects={"none": 0.2, "own": 0.0})
    second.study.rows["topic"] = second.study.rows["topic"].replace({"topic3": "elsewhere"})
    both = comparison(first, second)
    (row,) = [one for one in both.results[1].plain() if one["outcome"] == "dri"]
    assert (row["treatment"], row["topics"]) == ("none", 3)

    def means(own):
        rows = own.study.rows[own.study.rows["treatment"] == "none"]
        return rows.groupby(["topic", "model"])["dri_change"].mean().groupby("topic").mean()

    expected = (means(second) - means(first)).dropna()
    assert len(expected) == 3
    assert row["difference"] == pytest.approx(expected.mean())
    assert row["difference"] == pytest.approx(row["second"] - row["first"])
    told = " ".join(both.not_compared)
    for said in ("topics topic3", "topics elsewhere", "treatments own", "not recorded"):
        assert said in told


def test_a_study_beside_itself_does_not_differ():
    both = comparison(found(), found())
    assert all(row["difference"] == 0 for row in both.results[1].plain())
    assert "synthetic (1)" in both.results[0].rows["study"].to_list()
    assert all("no clear difference" in one or "no difference" in one for one in in_words(both))


def test_one_shared_topic_gives_no_interval_and_no_claim():
    first, second = found(seed=1), found(seed=2)
    names = {f"topic{i}": f"other{i}" for i in range(1, 4)}
    second.study.rows["topic"] = second.study.rows["topic"].replace(names)
    assert all("no difference is claimed" in one for one in in_words(comparison(first, second)))


def test_nothing_shared_is_said():
    first, second = found(), found()
    second.study.rows["topic"] = "other " + second.study.rows["topic"]
    page = page_of_both(comparison(first, second))
    assert page.summary == ["The studies share nothing that could be compared."]
    assert "not-shown" in [part.id for part in page.parts]
