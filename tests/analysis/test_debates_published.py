"""A tournament as published (people against models, ten of a hundred debates a rater): every row
of every table is finite, and is what statsmodels and pingouin make of the same ratings.
"""  # fmt: skip

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from debates import debate
from scipy.stats import t
from tournaments import published, rater_models, tournament

from delibsim.analysis.debates.dimensions import correlations, reliability
from delibsim.analysis.debates.fits import ols, ols_fit, predictors_of, with_constant
from delibsim.analysis.debates.ratings import (
    MODELS_AND_PEOPLE,
    by_debater,
    focused,
    kind_of,
    sign_of,
)
from delibsim.analysis.debates.report import analyses, drawings, findings
from delibsim.analysis.debates.stance import (
    OURS,
    PUBLISHED,
    WITH_WINNER,
    mixed_models,
    stance_after,
)
from delibsim.analysis.debates.winner import by_expertise, expertise_contrasts, winner_model
from delibsim.analysis.result import catalogue
from delibsim.domain.annotation import DIMENSIONS
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES
from delibsim.measures.inference.means import holm
from delibsim.store.instruments.own_answers import Covariates

ORACLE = json.loads((Path(__file__).parents[1] / "reference" / "debate.json").read_text())
TEN = DIMENSIONS[:-1]
NOT_DEFINED = {
    ("winner_model", "vif"): "term == 'constant'",
    ("stance_models", "ratings_f"): "model == 'winner'",
    ("stance_models", "ratings_f_p"): "model == 'winner'",
    ("paired_tests", "p_holm_ten"): "dimension == 'performance'",
    ("reliability", "low"): "measure != 'performance_icc_2k'",
    ("reliability", "high"): "measure != 'performance_icc_2k'",
}
"""Cells that no table of this kind has: an inflation of the constant, a test of the first model
against itself, performance among the ten dimensions without it, an interval of another measure
than the ICC."""
PRINTED = catalogue("debates").sections[-1].tables
FEW = ("few_motions", "few_debates", "few_persons")
"""Notes of rows without an interval, in a tournament of ten persons."""


def figures(found):
    return {drawing.name: drawing.svg() for drawing in drawings(found)}


@pytest.fixture(scope="module")
def given():
    return published(seed=0)


@pytest.fixture(scope="module")
def found(given):
    table, people = given
    return analyses(table, people=people, samples=300)


@pytest.fixture(scope="module")
def plain(given):
    """The ratings as an analyst would hold them: model less person, names without dots."""
    table, people = given
    sign = np.where(table["proposition.kind"] == "model", 1.0, -1.0)
    data = pd.DataFrame({"rater": table["rater"], "debate": table["debate"]})
    for name in DIMENSIONS:
        data[name] = sign * (table[f"proposition.{name}"] - table[f"opposition.{name}"])
    proposition_won = table["winner"] == "proposition"
    data["model_won"] = (proposition_won == (sign > 0)).astype(float)
    data["winner"] = np.where(proposition_won, 1.0, -1.0)
    data["model_proposes"] = (sign > 0).astype(float)
    data["before"], data["after"] = table["before"], table["after"]
    data["change"] = data["after"] - data["before"]
    data["expertise"] = [people[rater].expertise for rater in data["rater"]]
    return data


def test_a_person_at_the_terminal_is_a_debater_of_the_kind_human(tmp_path):
    session = debate(tmp_path)
    plain = session.participants[0].model
    both = replace(session, models={**session.models, "anna": {"kind": "human"}})
    assert (kind_of(both, plain), kind_of(both, "anna")) == ("model", "human")


@pytest.mark.parametrize("name", [name for name in PRINTED if name != "counts"])
def test_every_row_of_every_table_is_finite(found, name):
    table = found[name]
    assert len(table)
    if name in ("contrasts", "expertise_contrasts"):
        few = table["note"].isin(FEW)
        assert table.loc[few, ["low", "high"]].isna().all(axis=None)
        table = table[~few]
        assert len(table)
    assert set(table.get("note", {""})) <= {""}
    for column in table.select_dtypes("number"):
        own = table
        if (name, column) in NOT_DEFINED:
            own = table.query(f"not ({NOT_DEFINED[name, column]})")
            assert table.drop(own.index)[column].isna().all()
        assert np.isfinite(own[column].astype(float)).all(), column


def test_the_winner_model_of_model_less_person_is_that_of_statsmodels(found, plain):
    import statsmodels.formula.api as smf

    fit = smf.logit("model_won ~ " + " + ".join(TEN), plain).fit(disp=0)
    x = fit.model.exog
    score = x * (plain["model_won"].to_numpy() - fit.predict())[:, None]
    bread = np.linalg.inv((x.T * (fit.predict() * (1 - fit.predict()))) @ x)
    hc1 = bread @ score.T @ score @ bread * len(x) / (len(x) - 11)
    own = found["winner_model"].query("contrast == 'model - human'")
    assert own["coefficient"].tolist() == pytest.approx(fit.params.tolist(), rel=1e-5, abs=1e-8)
    assert own["ratings_se"].tolist() == pytest.approx(np.sqrt(np.diag(hc1)).tolist(), rel=1e-5)
    expected = (fit.prsquared, fit.llf, fit.llnull)
    measures = own[["pseudo_r2", "log_likelihood", "log_likelihood_null"]]
    assert tuple(measures.iloc[0]) == pytest.approx(expected, rel=1e-8)
    assert len(measures.drop_duplicates()) == 1


def test_the_stance_models_are_those_of_statsmodels(found, plain):
    import statsmodels.formula.api as smf

    own = found["stance_models"]
    small = smf.ols("change ~ winner", plain).fit()
    large = smf.ols("change ~ winner + model_proposes", plain).fit()
    f, p, _ = large.compare_f_test(small)
    rows = own[own["model"] == "winner and proposition_is_model"]
    assert rows["term"].tolist() == ["constant", "winner", "proposition_is_model"]
    assert rows["coefficient"].tolist() == pytest.approx(large.params.tolist())
    assert rows["ratings_se"].tolist() == pytest.approx(large.HC2_se.tolist())
    groups = {"groups": pd.factorize(plain["debate"])[0], "use_correction": False}
    over = large.model.fit(cov_type="cluster", cov_kwds=groups)
    assert rows["se"].tolist() == pytest.approx((over.bse * np.sqrt(100 / 97)).tolist())
    half = t.ppf(0.975, 97) * rows["se"]
    assert rows["low"].tolist() == pytest.approx((rows["coefficient"] - half).tolist())
    expected = (large.rsquared, large.rsquared_adj, f, p)
    assert tuple(rows[["r2", "r2_adjusted", "ratings_f", "ratings_f_p"]].iloc[0]) == pytest.approx(
        expected
    )
    alone = own[own["model"] == "winner"]
    expected = (small.rsquared, small.rsquared_adj)
    assert tuple(alone[["r2", "r2_adjusted"]].iloc[0]) == pytest.approx(expected)


def test_r2_is_that_of_pingouin():
    x = pd.DataFrame(np.array(ORACLE["paired"]["left"])[:, :2])
    fit = ols(pd.Series(ORACLE["regression"]["y"]), with_constant(x))
    expected = {name: ORACLE["regression"][name] for name in ("r2", "r2_adjusted")}
    assert ols_fit(fit) == pytest.approx(expected)


def test_the_stance_after_has_the_highest_beta_likelihood_of_scipy(found, plain):
    from scipy.optimize import minimize
    from scipy.special import expit, logit
    from scipy.stats import beta
    from statsmodels.tools.numdiff import approx_hess

    n = len(plain)
    y = (plain["after"] / 100 * (n - 1) + 0.5) / n
    won = (plain["winner"] + 1) / 2
    x = np.column_stack([np.ones(n), won, plain["before"] / 100, plain["model_proposes"]])

    def surprise(parameters):
        mean, precision = expit(x @ parameters[:-1]), np.exp(parameters[-1])
        return -beta.logpdf(y, mean * precision, (1 - mean) * precision).sum()

    best = minimize(surprise, [0, 0, 0, 0, 1.0], method="BFGS")
    own = found["stance_after"].query(f"model == {WITH_WINNER!r}")
    assert own["term"].tolist()[1:] == ["winner", "before", "proposition_is_model", "log_precision"]
    assert own["coefficient"].tolist() == pytest.approx(best.x.tolist(), rel=1e-3, abs=1e-3)
    errors = np.sqrt(np.diag(np.linalg.inv(approx_hess(best.x, surprise))))
    assert own["ratings_se"].tolist() == pytest.approx(errors.tolist(), rel=1e-2)
    assert own["log_likelihood"].iloc[0] == pytest.approx(-best.fun, abs=1e-4)
    correlation = np.corrcoef(x @ best.x[:-1], logit(y))[0, 1]
    assert own["pseudo_r2"].iloc[0] == pytest.approx(correlation**2, rel=1e-3)
    assert own["coefficient"].iloc[1] > 0


def long_form(table, people):
    """A row for each side that a rater judged, with covariates written out by hand."""
    rows = []
    for row in table.to_dict("records"):
        for side in ("proposition", "opposition"):
            who, rater = row[side], people[row["rater"]]
            own = people.get(who) if row[f"{side}.kind"] == "human" else None
            rows.append(
                {
                    "y": row[f"{side}.performance"], "rater": row["rater"], "who": who,
                    "human": float(own is not None), "expertise": rater.expertise,
                    "age": rater.age, "education": rater.education,
                    "woman": float(rater.gender == "woman"),
                    "d_expertise": own and own.expertise, "d_age": own and own.age,
                    "d_education": own and own.education,
                    "d_woman": own and float(own.gender == "woman"),
                }
            )  # fmt: skip
    data = pd.DataFrame(rows)
    for name in ("d_expertise", "d_age", "d_education", "d_woman"):
        values = data[name].astype(float)
        mean = values.groupby(data["who"]).first().mean()
        data[name] = (values - mean).fillna(0.0)
    return data


FORMULA = (
    "y ~ human + expertise + age + education + woman + d_expertise + d_age + d_education + d_woman"
    " + human:expertise"
)


def test_the_published_model_of_performance_has_the_debaters_expertise(given, found):
    """Rows of models carry the expertise of the person whom they debate."""
    import statsmodels.formula.api as smf

    table, people = given
    rows = []
    for row in table.to_dict("records"):
        for side, other in (SIDES, SIDES[::-1]):
            human = row[f"{side}.kind"] == "human"
            person = row[side] if human else row[other]
            expertise = people[person].expertise
            y, rater = row[f"{side}.performance"], row["rater"]
            rows.append({"y": y, "rater": rater, "human": float(human), "expertise": expertise})
    fit = smf.mixedlm("y ~ human * expertise", pd.DataFrame(rows), groups="rater").fit(
        reml=True, method=["powell"]
    )
    assert fit.converged
    own = found["rater_models"].query(f"model == {PUBLISHED!r}")
    terms = ["constant", "is_human", "debater_expertise", "is_human:debater_expertise"]
    assert own["term"].tolist() == terms
    assert own["coefficient"].tolist() == pytest.approx(fit.fe_params.tolist(), rel=1e-3, abs=1e-3)
    assert own["ratings_se"].tolist() == pytest.approx(fit.bse_fe.tolist(), rel=1e-3)
    assert set(own["n"]) == {1000}


def test_without_expertise_the_published_model_is_not_given_and_says_so(given):
    table, _ = given
    own = rater_models(table).query(f"model == {PUBLISHED!r}")
    assert own["note"].tolist() == ["expertise_not_given"]
    assert own["coefficient"].isna().all()


def test_the_stance_after_by_raters_is_the_mixed_model_of_statsmodels(found, plain):
    import statsmodels.formula.api as smf

    formula = "after ~ before + model_proposes"
    fit = smf.mixedlm(formula, plain, groups="rater").fit(reml=True, method=["powell"])
    own = found["rater_models"].query("model == 'stance after'")
    assert own["term"].tolist() == ["constant", "before", "proposition_is_model"]
    assert own["coefficient"].tolist() == pytest.approx(fit.fe_params.tolist(), rel=1e-3, abs=1e-3)
    assert own["ratings_se"].tolist() == pytest.approx(fit.bse_fe.tolist(), rel=1e-3)
    x, same_rater = fit.model.exog, plain["rater"].to_numpy()[:, None] == plain["rater"].to_numpy()
    weights = np.linalg.inv(fit.scale * np.eye(500) + fit.cov_re.iloc[0, 0] * same_rater)
    scores = (weights @ x) * (plain["after"].to_numpy() - x @ fit.fe_params.to_numpy())[:, None]
    sums = pd.DataFrame(scores).groupby(plain["debate"].to_numpy()).sum().to_numpy()
    bread = np.linalg.inv(x.T @ weights @ x)
    over = np.sqrt(np.diag(bread @ sums.T @ sums @ bread) * 100 / 97)
    assert own["se"].tolist() == pytest.approx(over.tolist(), rel=1e-3)
    beta = found["stance_after"].query("model == 'stance before and side'")
    assert beta["term"].tolist() == [*own["term"], "log_precision"]


def test_groups_of_expertise_and_their_contrasts_are_those_of_statsmodels(given):
    import statsmodels.formula.api as smf

    table, people = given
    for i in range(10):  # five persons of each expertise
        name = f"person_{i}"
        people = people | {name: replace(people[name], expertise=float(1 + i % 2))}
    rows = []
    for row in table.to_dict("records"):
        for side, other in (SIDES, SIDES[::-1]):
            kind = row[f"{side}.kind"]
            person = row[side] if kind == "human" else row[other]
            group = f"{kind}, expertise {people[person].expertise:g}"
            y = row[f"{side}.performance"]
            rows.append({"y": y, "group": group, "debate": row["debate"], "person": person})
    data = pd.DataFrame(rows)
    means = by_expertise(table, people).query("outcome == 'performance'").set_index("group")
    expected = data.groupby("group")["y"].agg(["mean", "std", "size"])
    for name, column in (("mean", "mean"), ("sd", "std"), ("n", "size")):
        assert means[name].to_dict() == pytest.approx(expected[column].to_dict())
    contrasts = expertise_contrasts(table, people).query("outcome == 'performance'")
    assert len(contrasts) == 2 * 4
    for unit in ("debate", "person"):
        codes = {"groups": pd.factorize(data[unit])[0]}
        fit = smf.ols("y ~ 0 + group", data).fit(cov_type="cluster", cov_kwds=codes)
        for row in contrasts[contrasts["unit"] == unit].itertuples():
            one, other = row.contrast.split(" - ")
            names = list(fit.params.index)
            weights = np.zeros(len(names))
            weights[names.index(f"group[{one}]")] = 1
            weights[names.index(f"group[{other}]")] = -1
            test = fit.t_test(weights)
            assert row.difference == pytest.approx(float(test.effect[0]))
            assert row.ols_se == pytest.approx(float(test.sd[0, 0]))
            size = abs(row.difference / row.ols_se)
            assert row.ols_p == pytest.approx(2 * t.sf(size, data[unit].nunique() - 4))
            # Ours: the difference without each debate or person of the two groups.
            own = data[data["group"].isin([one, other])]
            without = []
            for name in own[unit].unique():
                means = own[own[unit] != name].groupby("group")["y"].mean()
                without.append(means[one] - means[other])
            assert row.df == len(without) - 1
            apart = np.array(without) - row.difference
            assert row.se == pytest.approx(np.sqrt(row.df / (row.df + 1) * apart @ apart))
            interval = t.interval(0.95, row.df, row.difference, row.se)
            assert (row.low, row.high) == pytest.approx(interval)


def test_raters_of_one_side_lie_apart_by_what_anybody_would_compute(given, found):
    table, _ = given
    sds, variances = [], []
    for _, own in table.groupby("debate"):
        for side in SIDES:
            values = own[f"{side}.performance"]
            sds.append(values.std(ddof=1))
            variances.append(values.var(ddof=1))
    row = found["dimension_reliability"].query("dimension == 'performance' and debaters == 'all'")
    assert row["within_sd"].item() == pytest.approx(np.mean(sds))
    assert row["within_sd_pooled"].item() == pytest.approx(np.sqrt(np.mean(variances)))
    assert (row["low"] < row["icc_2k"]).all()
    assert (row["icc_2k"] < row["high"]).all()


def test_correlations_of_models_and_people_apart_have_the_p_of_scipy(given, found):
    from scipy.stats import pearsonr

    table, _ = given
    own = []
    for side in SIDES:
        part = table.loc[table[f"{side}.kind"] == "human", [f"{side}.logic", f"{side}.evidence"]]
        own.append(part.to_numpy())
    expected = pearsonr(*np.concatenate(own).T)
    rows = found["dimension_correlation_tests"].query(
        "debaters == 'human' and first == 'logic' and second == 'evidence'"
    )
    assert rows["r"].item() == pytest.approx(expected.statistic)
    assert rows["ratings_p"].item() == pytest.approx(expected.pvalue)
    wide = found["dimension_correlations"].query("debaters == 'human' and dimension == 'logic'")
    assert wide["evidence"].item() == pytest.approx(expected.statistic)
    kinds = found["dimension_correlation_tests"].groupby("debaters").size()
    assert kinds.to_dict() == {"all": 55, "human": 55, "model": 55}
    for _, part in found["dimension_correlation_tests"].groupby("debaters"):
        for p in ("p", "ratings_p"):
            assert part[f"{p}_holm"].tolist() == pytest.approx(holm(part[p].tolist()))


def test_a_correlation_over_debates_has_the_error_of_the_jackknife_of_debates(given, found):
    table, _ = given
    ratings = table[["proposition.logic", "proposition.evidence"]].set_axis(["a", "b"], axis=1)
    other = table[["opposition.logic", "opposition.evidence"]].set_axis(["a", "b"], axis=1)
    both = pd.concat([ratings, other]).assign(debate=[*table["debate"], *table["debate"]])
    left_out = []
    for name in both["debate"].unique():
        own = both[both["debate"] != name]
        left_out.append(np.arctanh(own["a"].corr(own["b"])))
    g = len(left_out)
    error = np.sqrt((g - 1) / g * ((left_out - np.mean(left_out)) ** 2).sum())
    row = found["dimension_correlation_tests"].query(
        "debaters == 'all' and first == 'logic' and second == 'evidence'"
    )
    row = row.iloc[0]
    half = (np.arctanh(row["high"]) - np.arctanh(row["low"])) / 2
    assert row["df"] == g - 1
    assert half == pytest.approx(t.ppf(0.975, g - 1) * error, rel=0.02)


def test_the_model_of_performance_is_the_mixed_model_of_statsmodels(given, found):
    import statsmodels.formula.api as smf

    data = long_form(*given)
    fit = smf.mixedlm(FORMULA, data, groups="rater").fit(reml=True, method=["powell"])
    assert fit.converged
    own = found["rater_models"].query(f"model == {OURS!r}")
    assert own["term"].tolist() == [
        "constant", "is_human", "rater_expertise", "rater_age", "rater_education",
        "rater_gender_woman", "debater_expertise", "debater_age", "debater_education",
        "debater_gender_woman", "is_human:rater_expertise",
    ]  # fmt: skip
    assert own["coefficient"].tolist() == pytest.approx(fit.fe_params.tolist(), rel=1e-3, abs=1e-3)
    assert own["ratings_se"].tolist() == pytest.approx(fit.bse_fe.tolist(), rel=1e-3)
    fixed = np.var(fit.model.exog @ fit.fe_params, ddof=1)
    rater = fit.cov_re.iloc[0, 0]
    total = fixed + rater + fit.scale
    expected = (fixed / total, (fixed + rater) / total, np.sqrt(rater), np.sqrt(fit.scale))
    measures = own[["r2_marginal", "r2_conditional", "rater_sd", "residual_sd"]].iloc[0]
    assert tuple(measures) == pytest.approx(expected, rel=1e-2)


def test_expertise_that_matters_is_found_and_the_residuals_are_those_of_the_model():
    table, people = published(seed=3, expertise=3.0)
    models = {m.terms["model"].iloc[0]: m for m in mixed_models(table, MODELS_AND_PEOPLE, people)}
    terms = models[OURS].terms.set_index("term")
    low, high = terms.loc["is_human:rater_expertise", ["low", "high"]]
    assert low < -3 < high < 0
    residuals = models[OURS].residuals
    given = pd.concat([table["proposition.performance"], table["opposition.performance"]])
    assert sorted(residuals["fitted"] + residuals["residual"]) == pytest.approx(sorted(given))
    residual_sd = terms["residual_sd"].iloc[0]
    assert residuals["residual"].std() == pytest.approx(residual_sd, rel=0.1)


def test_without_covariates_the_model_of_the_kind_stands_and_the_note_says_what_is_not_there(given):
    table, _ = given
    models = {m.terms["model"].iloc[0]: m for m in mixed_models(table, MODELS_AND_PEOPLE, {})}
    own = models[OURS].terms
    assert own["term"].tolist() == ["constant", "is_human"]
    assert own["coefficient"].notna().all()
    assert own["note"].str.startswith("without rater_expertise, rater_age").all()


def test_covariates_that_are_not_given_are_counted_and_leave_ratings_out(given):
    table, people = given
    some = {who: own for who, own in people.items() if who not in ("Rater 1", "person_0")}
    some["Rater 2"] = Covariates(expertise=3, education=2, gender="man")
    models = {m.terms["model"].iloc[0]: m for m in mixed_models(table, MODELS_AND_PEOPLE, some)}
    faced = (table["proposition"] == "person_0") | (table["opposition"] == "person_0")
    without = table["rater"].isin(["Rater 1", "Rater 2"])
    expected = 2 * (~without).sum() - (faced & ~without).sum()
    assert set(models[OURS].terms["n"]) == {expected}
    counts = predictors_of(by_debater(table), some)[1].set_index(["role", "covariate"])
    assert counts.loc[("rater", "age"), ["given", "missing"]].tolist() == [48, 2]
    assert counts.loc[("rater", "expertise"), ["given", "missing"]].tolist() == [49, 1]
    columns = ["there", "given", "missing", "does_not_apply"]
    assert counts.loc[("debater", "age"), columns].tolist() == [14, 9, 1, 4]


def test_correlations_are_those_of_pingouin():
    table = tournament({"a": 0, "b": 0}, raters=3, seed=0).iloc[:15].copy()
    left = np.array(ORACLE["paired"]["left"])
    for i, name in enumerate(DIMENSIONS[:4]):
        table[f"proposition.{name}"], table[f"opposition.{name}"] = left[:15, i], left[15:, i]
    own = correlations(table)
    matrix = own[list(DIMENSIONS[:4])].to_numpy()[:4]
    assert matrix == pytest.approx(np.array(ORACLE["correlations"]))
    assert set(own["n"]) == {30}


def test_holm_over_ten_leaves_performance_out(found):
    from statsmodels.stats.multitest import multipletests

    own = found["paired_tests"].query("contrast == 'model - human'").set_index("dimension")
    expected = multipletests(own.loc[list(TEN), "p"], method="holm")[1]
    assert own.loc[list(TEN), "p_holm_ten"].tolist() == pytest.approx(expected.tolist())
    assert np.isnan(own.loc["performance", "p_holm_ten"])
    assert (own.loc[list(TEN), "p_holm_ten"] <= own.loc[list(TEN), "p_holm"]).all()


def test_one_debater_is_compared_with_the_rest(given):
    table, people = given
    relabelled, focus = focused(table, "model_1")
    met = (table["proposition"] == "model_1") | (table["opposition"] == "model_1")
    sign = sign_of(relabelled, focus)
    assert (sign.notna() == met).all()
    assert (sign[met] == np.where(table.loc[met, "proposition"] == "model_1", 1, -1)).all()
    contrasts = set(winner_model(relabelled, focus)["contrast"])
    assert contrasts == {"proposition - opposition", "model_1 - rest"}
    assert "proposition_is_model_1" in set(stance_after(relabelled, focus)["term"])
    terms = pd.concat(model.terms for model in mixed_models(relabelled, focus, people))
    assert "is_model_1:rater_expertise" in set(terms["term"])
    assert "model_1 v rest" in set(reliability(relabelled)["debaters"])
    with pytest.raises(WrongInput, match="did you mean model_1"):
        focused(table, "modl_1")


def test_the_summary_names_models_and_people(found):
    first, second = findings(found["contrasts"].query("family == 'kinds'"))
    assert first.startswith("The models won more often than the people: .")
    assert second.startswith("The models performed better than the people: 3.1 [")
    assert "t over 10 motions, 9 df, p = " in second


def test_where_one_kind_debates_there_is_nothing_to_compare_and_no_row_claims_it():
    own = analyses(tournament({"a": 0.5, "b": -0.5}, raters=4, seed=2), samples=10)
    assert set(own["winner_model"]["contrast"]) == {"proposition - opposition"}
    assert set(own["reliability"]["debaters"]) == {"all"}
    assert set(own["stance_after"]["note"]) == {"kind_left_out"}
    assert set(own["rater_models"]["model"]) == {"performance", "change of stance", "stance after"}


def test_a_stance_that_never_varies_has_no_beta_regression():
    table = tournament({"a": 0.5, "b": -0.5}, raters=4, seed=2).assign(after=50.0)
    own = stance_after(table)
    assert set(own["note"]) == {"no_variance kind_left_out"}
    assert own["coefficient"].isna().all()


@pytest.mark.parametrize("rows", [0, 1, 5, 40])
def test_whatever_is_missing_has_a_reason(given, rows):
    table, people = given
    own = analyses(table.head(rows), people=people, samples=10)
    for name in (name for name in PRINTED if "note" in own.get(name, ())):
        unexplained = own[name][own[name]["note"] == ""]
        for column in unexplained.select_dtypes("number"):
            if (name, column) not in NOT_DEFINED:
                assert unexplained[column].notna().all(), (name, column)
    assert all(drawing.startswith("<svg") for drawing in figures(own).values())


def test_the_residuals_of_every_mixed_model_are_drawn(found):
    drawn = figures(found)
    names = {"performance": 1000, "performance_by_kind": 1000, "change_of_stance": 500}
    names |= {"performance_by_kind_and_rater_ours": 1000, "stance_after": 500}
    for name, points in names.items():
        assert f" {points:,} points; fitted values from " in drawn[f"residuals_{name}"]
        assert (
            f" {points:,} residuals; the largest distance from the line is " in drawn[f"qq_{name}"]
        )
