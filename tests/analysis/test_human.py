"""The human reference: published values from the published answers, and small cases worked by
hand.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from delibsim.analysis.human import people as human
from delibsim.analysis.human.groups_of_five import (
    Figure,
    dealt,
    drawn_with_replacement,
    ordinary_error,
    printed,
    published_figures,
)
from delibsim.analysis.human.people import BEFORE_AND_AFTER_IDS, BENCHMARK, CHANGES
from delibsim.analysis.human.reference import reference
from delibsim.store.instruments.answers import Answers
from delibsim.store.instruments.imported import read_people

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT.parent / "shared" / "data" / "dri"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the published files are not at {PUBLISHED}"
)


@pytest.fixture(scope="module")
def people():
    """The published answers and scales."""
    return read_people(PUBLISHED)


@pytest.fixture(scope="module")
def topics(people):
    return human.by_topic(*people)


@pytest.fixture(scope="module")
def cases(people):
    return human.by_case(*people)


@needs_published
def test_the_mean_of_the_twelve_reproduces_the_published_one(topics):
    assert [group.id for group in topics[:12]] == list(BENCHMARK)
    assert len(topics) == 19
    twelve = human.of_benchmark(topics)
    assert sum(group.n for group in twelve) == 407
    mean = human.mean_of(topics)
    assert human.ceiling(twelve).df == 10
    assert not mean.notes
    for name in BEFORE_AND_AFTER_IDS:
        assert mean.change[name] == pytest.approx(mean.post[name] - mean.pre[name], abs=1e-12)


def named(figures, part):
    return {figure.name for figure in figures if part in figure.name}


@needs_published
def test_every_published_figure_is_found_again_or_its_difference_explained(people, topics, cases):
    by_survey = {own.survey: own for own in people[0]}
    twelve = [by_survey[topic] for topic in BENCHMARK]
    disjoint = [dealt(own, 400) for own in twelve]
    redrawn = [drawn_with_replacement(own, 400) for own in twelve]
    figures = published_figures(topics, cases, disjoint, redrawn)
    verdicts = {figure.name: figure.verdict for figure in figures}
    assert len(verdicts) == len(figures) == 47
    drawn = named(figures, "95% interval") | named(figures, "drawn with replacement")
    levels = named(figures, "disjoint: mean diversity")
    drawn |= named(figures, "groups of five, disjoint") - levels
    elsewhere = named(figures, "standardised") | named(figures, "pooled") | levels
    elsewhere |= named(figures, "standard error of the published slope")
    assert {name for name in verdicts if verdicts[name] == "within simulation error"} == drawn
    assert {name for name in verdicts if verdicts[name] == "not reproduced"} == elsewhere
    assert len(levels) == 2
    assert all(figure.note for figure in figures if figure.verdict != "reproduced")
    of_topics = [one for one in printed()["figures"] if one["here"].split()[0] in BENCHMARK]
    assert not any("diversity" in one["here"] for one in of_topics), "none of a topic is published"
    assert verdicts["disjoint groups of five in the twelve topics"] == "reproduced"
    assert len(published_figures(topics, cases)) == 47 - 11


def test_the_ordinary_standard_error_is_that_of_statsmodels():
    import statsmodels.api as sm

    rng = np.random.default_rng(2)
    x = rng.normal(size=77)
    y = -0.6 * x + rng.normal(size=77)
    fit = sm.OLS(y, sm.add_constant(x)).fit()
    found = ordinary_error(fit.params[1], fit.rsquared, 77)
    assert found == pytest.approx(fit.bse[1], rel=1e-12)


def test_the_published_error_of_the_slope_over_groups_is_not_the_ordinary_one():
    """No R squared printed as 0.31 and no slope printed as -0.672 gives an error of 0.118."""
    ends = [(slope, r2) for slope in (-0.6725, -0.6715) for r2 in (0.305, 0.315)]
    errors = [ordinary_error(slope, r2, 77) for slope, r2 in ends]
    assert (min(errors), max(errors)) == pytest.approx((0.114, 0.117), abs=0.0005)
    assert max(errors) < 0.1175
    assert ordinary_error(-0.418, 0.17, 12) == pytest.approx(0.291, abs=0.005), "over topics it is"


def test_a_figure_is_reproduced_to_its_printed_decimals_and_no_further():
    assert Figure("", 0.17, 0.1745, 2).verdict == "reproduced"
    assert Figure("", 0.17, 0.1755, 2).verdict == "not reproduced"
    assert Figure("", 0.026, 0.0278, 3, 0.003).verdict == "within simulation error"
    assert Figure("", 0.026, np.nan, 3, 0.003).verdict == "not reproduced"


@needs_published
def test_pooled_cases_are_the_topic_and_its_population(people, topics, cases):
    whole = {group.id: group for group in topics}
    for case in cases:
        survey = case.id.split("/")[0]
        if sum(other.id.startswith(f"{survey}/") for other in cases) == 1:
            assert (case.n, case.pre, case.notes) == (
                whole[survey].n,
                whole[survey].pre,
                whole[survey].notes,
            )
    own = [case for case in cases if case.id.startswith("forestera/")]
    assert sum(case.n for case in own) == whole["forestera"].n
    answers = next(answers for answers in people[0] if answers.survey == "forestera")
    both = np.hstack([answers.considerations["pre"], answers.preferences["pre"]]).astype(float)
    scored = ((both - both.mean(axis=0)) / both.std(axis=0))[
        [case == "Forest Lay Citizen" for case in answers.cases]
    ]
    distances = [
        np.linalg.norm(scored[i] - scored[j]) for i in range(len(scored)) for j in range(i)
    ]
    assert next(case for case in own if "Lay" in case.id).pre[
        "diversity_standardised"
    ] == pytest.approx(np.mean(distances), rel=1e-12)


@needs_published
def test_an_item_all_rate_alike_leaves_standardised_diversity_undefined(topics):
    notes = {group.id: dict(group.notes) for group in topics if group.notes}
    told = {"diversity_standardised": "after: constant_item"}
    assert notes == {"zh_thalwil": told, "ds_bellinzona": told}
    thalwil = next(group for group in topics if group.id == "zh_thalwil")
    assert np.isnan(thalwil.post["diversity_standardised"])
    assert np.isnan(thalwil.change["diversity_standardised"])
    assert not np.isnan(thalwil.pre["diversity_standardised"])


@needs_published
def test_the_shipped_reference_is_what_the_answers_give(topics):
    for group in human.of_benchmark(topics):
        shipped = reference(group.id)
        assert shipped["n"] == group.n
        for part in ("pre", "post", "change"):
            assert shipped[part] == pytest.approx(dict(getattr(group, part)), rel=1e-9, abs=1e-12)
    shipped = json.loads(
        (ROOT / "delibsim" / "data" / "human_reference.json").read_text(encoding="utf-8")
    )
    mean = human.mean_of(topics)
    for part in ("pre", "post", "change"):
        assert shipped["mean"][part] == pytest.approx(
            dict(getattr(mean, part)), rel=1e-9, abs=1e-12
        )


def test_the_shipped_reference_agrees_with_what_r_computed():
    by_r = json.loads(
        (ROOT / "tests" / "reference" / "dri_human.json").read_text(encoding="utf-8")
    )["surveys"]
    for topic in BENCHMARK:
        for phase in ("pre", "post"):
            expected = {
                name: value
                for name, value in by_r[topic][phase].items()
                if name in BEFORE_AND_AFTER_IDS
            }
            assert len(expected) >= 6
            assert {name: reference(topic)[phase][name] for name in expected} == pytest.approx(
                expected, rel=1e-9, abs=1e-12
            )
            assert reference(topic)["n"] == by_r[topic][phase]["n"]


def test_the_shipped_reference_holds_the_twelve_topics_and_no_other():
    assert reference("ccps")["pre"]["dri"] == pytest.approx(0.532, abs=0.0005)
    assert [set(reference(topic)["change"]) for topic in BENCHMARK] == [set(CHANGES)] * 12
    assert reference("zh_uster") is None
    assert reference("nonsense") is None
    reference("ccps")["pre"]["dri"] = 2
    assert reference("ccps")["pre"]["dri"] < 1


def test_the_shipped_reference_is_read_without_numerical_packages():
    code = (
        "import sys; from delibsim.analysis.human.reference import reference; reference('ccps');"
        " print(*sys.modules)"
    )
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "pandas", "scipy", "mesa", "litellm"} & set(modules)


def small(survey="tea", rated=None, ranked=None, cases=None):
    """Answers of invented people, by phase."""
    rated = rated or {
        "pre": [[1, 2, 3, 4], [4, 3, 2, 1], [1, 3, 2, 4]],
        "post": [[1, 2, 3, 5], [1, 3, 2, 5], [1, 2, 4, 5]],
    }
    ranked = ranked or {
        "pre": [[1, 2, 3], [3, 2, 1], [1, 3, 2]],
        "post": [[1, 2, 3], [2, 1, 3], [1, 2, 3]],
    }
    n = len(rated["pre"])
    return Answers(
        survey=survey,
        participants=tuple(f"person {k}" for k in range(n)),
        cases=tuple(cases or ["only"] * n),
        considerations={phase: np.array(rows) for phase, rows in rated.items()},
        preferences={phase: np.array(rows) for phase, rows in ranked.items()},
        path=Path("answers.csv"),
        lines={"pre": tuple(range(n)), "post": tuple(range(n))},
    )


def test_a_small_group_worked_by_hand():
    found = human.by_topic([small()], {"tea": (1, 5)})[0]
    considerations = (-1.0, 0.8, -0.8)
    preferences = (-1.0, 0.5, -0.5)
    assert found.pre["consideration_agreement"] == pytest.approx(np.mean(considerations))
    assert found.pre["preference_agreement"] == pytest.approx(np.mean(preferences))
    assert found.pre["dri"] == pytest.approx(1 - 2 * (0 + 0.3 + 0.3) / 3)
    assert found.pre["diversity"] == pytest.approx(
        (np.sqrt(20 + 8) + np.sqrt(2 + 2) + np.sqrt(18 + 6)) / 3
    )
    normalised = [
        np.sqrt((sum_c / 16 + sum_p / 4) / 7) for sum_c, sum_p in ((20, 8), (2, 2), (18, 6))
    ]
    assert found.pre["diversity_range_normalised"] == pytest.approx(np.mean(normalised))
    assert found.change["opinion_change_c"] == pytest.approx(
        (1 + (3 + 0 + 0 + 4) + (0 + 1 + 2 + 1)) / 12
    )
    assert found.change["opinion_change_p"] == pytest.approx((0 + 4 + 2) / 9)
    assert found.change["rank_stability"] == pytest.approx((1 - 1 / 3 + 1 / 3) / 3)
    delta = found.post["dri"] - found.pre["dri"]
    assert found.change["dri"] == pytest.approx(delta)
    assert found.change["dri_relative"] == pytest.approx(
        delta / (1 - found.pre["dri"] if delta >= 0 else 1 + found.pre["dri"])
    )


def test_undefined_values_are_named_and_spread_to_the_mean():
    answers = [small(topic) for topic in BENCHMARK[:-1]]
    alike = {
        "pre": [[2, 2, 2, 2], [4, 3, 2, 1], [1, 3, 2, 4]],
        "post": [[1, 2, 3, 5], [1, 3, 2, 5], [1, 2, 4, 5]],
    }
    answers.append(small(BENCHMARK[-1], rated=alike))
    scales = dict.fromkeys(BENCHMARK, (1, 5))
    groups = human.by_topic(answers, scales)
    last = groups[-1]
    assert last.notes["dri"] == "before: constant_considerations"
    assert last.notes["consideration_agreement"] == "before: constant_ratings"
    assert last.notes["dri_relative"] == "constant_considerations"
    assert np.isnan(last.change["dri"])
    assert not np.isnan(last.post["dri"])
    mean = human.mean_of(groups)
    assert np.isnan(mean.pre["dri"])
    assert mean.post["dri"] == pytest.approx(groups[0].post["dri"])
    assert mean.notes["dri"] == f"undefined in {BENCHMARK[-1]}"
    assert not np.isnan(mean.pre["diversity"])


SAME = {"pre": [[1, 2, 3, 4]] * 3, "post": [[1, 2, 3, 4]] * 3}
FLAT = {"pre": [[2, 2, 2, 2], *SAME["pre"][1:]], "post": SAME["post"]}
RANKED = {"pre": [[1, 2, 3]] * 3, "post": [[1, 2, 3]] * 3}


@pytest.mark.parametrize(
    ("rated", "cases", "code"),
    [
        (SAME, None, "zero_denominator"),
        (FLAT, None, "constant_considerations"),
        (SAME, ["a", "b", "b"], "too_few_participants"),
    ],
)
def test_the_reason_of_an_undefined_relative_change_is_the_code_of_the_scorer(rated, cases, code):
    own = small(rated=rated, ranked=RANKED, cases=cases)
    case = human.by_case([own], {"tea": (1, 5)})[0]
    assert np.isnan(case.change["dri_relative"])
    assert case.notes["dri_relative"] == code


def test_a_measure_without_a_formula_here_is_named():
    program = """
import dataclasses
from pathlib import Path
import numpy as np
from delibsim.domain import score
new = dataclasses.replace(score.MEASURES["dri"], id="new_measure", phases=PHASES)
score.MEASURES["new_measure"] = new
from delibsim.analysis.human import people
from delibsim.store.instruments.answers import Answers
rows = {phase: np.array([[1, 2, 3], [3, 2, 1]]) for phase in ("pre", "post")}
answers = Answers("tea", ("a", "b"), ("x", "x"), rows, rows, Path("x"), {})
people.by_topic([answers], {"tea": (1, 5)})
"""
    for phases in ("score.SCORE_PHASES", "score.CHANGE"):
        ended = subprocess.run(
            [sys.executable, "-c", program.replace("PHASES)", f"{phases})", 1)],
            capture_output=True,
            text=True,
            check=False,
        )
        last = ended.stderr.strip().splitlines()[-1]
        assert "NoFormula: the measure 'new_measure' is declared" in last


def test_a_mean_with_a_topic_missing_is_not_computed():
    groups = human.by_topic([small("ccps"), small("other")], {"ccps": (1, 5), "other": (1, 5)})
    assert [group.id for group in groups] == ["ccps", "other"]
    assert human.missing_topics(groups) == [topic for topic in BENCHMARK if topic != "ccps"]
    mean = human.mean_of(groups)
    assert all(
        np.isnan(value)
        for value in [*mean.pre.values(), *mean.post.values(), *mean.change.values()]
    )
    assert "fnqcj" in mean.notes["dri"]
    assert np.isnan(human.ceiling(groups).beta)
