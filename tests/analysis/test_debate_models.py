"""Models of debates against R, statsmodels by another road, and choix; known strengths are
recovered; what has no estimate says why.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tournaments import MOTIONS, rater_models, tournament

from delibsim.analysis.debates.ratings import columns
from delibsim.analysis.debates.stance import stance_after, stance_models
from delibsim.analysis.debates.winner import (
    PREDICTORS,
    bradley_terry,
    place_and_length,
    winner_model,
)
from delibsim.domain.participant import SIDES
from delibsim.measures.bradley_terry.counts import counted
from delibsim.measures.bradley_terry.fit import Model, fit

ORACLE = json.loads((Path(__file__).parents[1] / "reference" / "debate.json").read_text())
KNOWN = {"a": 0.9, "b": 0.3, "c": -0.3, "d": -0.9}
MODELS = (winner_model, stance_models, stance_after, rater_models, bradley_terry, place_and_length)
needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")


@pytest.fixture(scope="module")
def table():
    return tournament(KNOWN, raters=6, seed=1, side=0.4)


def in_r(table, code, tmp_path):
    """What an R script makes of the table: it reads `d` and prints numbers, one a line."""
    plain = table.rename(columns=lambda name: name.replace(".", "_"))
    plain.to_csv(tmp_path / "d.csv", index=False)
    script = f"d <- read.csv('{tmp_path / 'd.csv'}')\n{code}"
    done = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True)
    return [float(line.split()[-1]) for line in done.stdout.splitlines()]


@needs_r
def test_the_winner_model_has_the_coefficients_of_glm_and_the_errors_of_the_sandwich(
    table, tmp_path
):
    terms = " + ".join(f"I(proposition_{name} - opposition_{name})" for name in PREDICTORS)
    code = (
        f"m <- glm(I(winner == 'proposition') ~ {terms}, binomial, d, control = list(epsilon ="
        " 1e-14, maxit = 100))\nX <- model.matrix(m); u <- X * (m$y - fitted(m)); B <- vcov(m)\nn"
        " <- nrow(X); k <- ncol(X); V <- B %*% crossprod(u) %*% B * n / (n -"
        " k)\ncat(format(c(coef(m), sqrt(diag(V))), digits = 15), sep = '\\n')"
    )
    expected = in_r(table, code, tmp_path)
    found = winner_model(table)
    assert found["term"].tolist() == ["constant", *PREDICTORS]
    assert found["coefficient"].tolist() == pytest.approx(expected[:11], rel=1e-5)
    assert found["ratings_se"].tolist() == pytest.approx(expected[11:], rel=1e-4)
    assert found["odds_ratio"].tolist() == pytest.approx(np.exp(expected[:11]), rel=1e-5)
    half = 1.959963984540054 * np.array(expected[11:])
    assert found["ratings_low"].tolist() == pytest.approx(np.array(expected[:11]) - half, rel=1e-3)
    assert found["ratings_high"].tolist() == pytest.approx(np.array(expected[:11]) + half, rel=1e-3)
    assert found["odds_ratio_low"].tolist() == pytest.approx(np.exp(found["low"]), rel=1e-12)
    assert found["odds_ratio_high"].tolist() == pytest.approx(np.exp(found["high"]), rel=1e-12)
    assert found["vif"].iloc[1:].between(1, 10).all()


@needs_r
def test_the_stance_models_are_those_of_lm_with_hc2_and_anova(table, tmp_path):
    code = (
        "d$w <- ifelse(d$winner == 'proposition', 1, -1); d$y <- d$after - d$before\nfor (x in"
        " c('b', 'c', 'd')) d[[x]] <- (d$proposition == x) - (d$opposition == x)\nhc2 <-"
        " function(m) { X <- model.matrix(m); B <- solve(crossprod(X)); u <- X * residuals(m) /"
        " sqrt(1 - hatvalues(m))\n  sqrt(diag(B %*% crossprod(u) %*% B)) }\ns <- lm(y ~ w, d); l <-"
        " lm(y ~ w + b + c + d, d); a <- anova(s, l)\ncat(format(c(coef(s), hc2(s), coef(l),"
        " hc2(l), a$F[2], a$`Pr(>F)`[2]), digits = 15), sep = '\\n')"
    )
    expected = in_r(table, code, tmp_path)
    found = stance_models(table)
    small, large = found[found["model"] == "winner"], found[found["model"] == "winner and debaters"]
    assert [
        *small["coefficient"],
        *small["ratings_se"],
        *large["coefficient"],
        *large["ratings_se"],
    ] == pytest.approx(expected[:-2], rel=1e-8)
    assert large[["ratings_f", "ratings_f_p"]].iloc[0].tolist() == pytest.approx(
        expected[-2:], rel=1e-8
    )
    assert small["coefficient"].iloc[1] == pytest.approx(8, abs=0.7)


@needs_r
def test_the_rater_model_is_that_of_the_balanced_analysis_of_variance(table, tmp_path):
    """In a design where every rater gives the same mix of ratings, the REML variance of raters is
    that of the mean squares.
    """
    found = rater_models(table)
    performance = found[found["model"] == "performance"]
    long = pd.concat(
        [pd.DataFrame({"y": table[f"{s}.performance"], "rater": table["rater"], "debater": table[s], "side": s})
         for s in ("proposition", "opposition")]
    )  # fmt: skip
    code = (
        "m <- lm(y ~ rater + I(side == 'proposition') + debater, d); a <-"
        " anova(m)\ncat(format(c(coef(m)[-(1:6)], sqrt((a['rater', 3] - a['Residuals', 3]) /"
        " (nrow(d) / 6))), digits = 15), sep = '\\n')"
    )
    expected = in_r(long, code, tmp_path)
    assert performance["term"].tolist() == ["constant", "proposition", "b", "c", "d"]
    assert performance["coefficient"].iloc[1:].tolist() == pytest.approx(expected[:-1], rel=1e-6)
    assert performance["rater_sd"].iloc[0] == pytest.approx(expected[-1], rel=1e-3)
    notes = {note for told in found["note"] for note in told.split()}
    assert notes <= {"not_converged_ols_clustered_by_rater", "kind_left_out"}


def test_bradley_terry_strengths_are_those_of_choix():
    games = ORACLE["bradley_terry"]["games"]
    base = tournament({"0": 0, "1": 0, "2": 0, "3": 0}, raters=1, seed=0).iloc[0]
    # Each game twice, with the sides exchanged, so that there is no advantage of a side.
    rows = [
        {**base, "debate": f"g{i}{side}", "motion": "m", "proposition": str((w, x)[side]), "opposition": str((x, w)[side]),
         "winner": ("proposition", "opposition")[side]}
        for i, (w, x) in enumerate(games) for side in (0, 1)
    ]  # fmt: skip
    found = bradley_terry(pd.DataFrame(rows, columns=columns()))
    strengths = found[found["kind"] == "debater"]["coefficient"].tolist()
    assert strengths == pytest.approx(ORACLE["bradley_terry"]["strengths"], abs=1e-6)
    assert found[found["kind"] == "side"]["coefficient"].iloc[0] == pytest.approx(0, abs=1e-8)


def test_strengths_are_those_of_comparisons_in_pairs_with_motions_as_judges(table):
    """The side is a place, and its advantage on each motion a place bias of its own."""
    found = bradley_terry(table).set_index("term")["coefficient"]
    debaters, motions = sorted(set(table["proposition"])), sorted(set(table["motion"]))
    votes = counted(
        len(debaters),
        [debaters.index(name) for name in table["proposition"]],
        [debaters.index(name) for name in table["opposition"]],
        [1 if winner == "proposition" else -1 for winner in table["winner"]],
        [motions.index(motion) for motion in table["motion"]],
    )
    same = fit(votes, Model("bt", order=True, penalty=None, judges="own_bias"))
    assert found[debaters].tolist() == pytest.approx(same.scores.tolist(), abs=1e-6)
    side = same.delta.mean()
    assert found["proposition"] == pytest.approx(side, abs=1e-6)
    assert found[motions].tolist() == pytest.approx((same.delta - side).tolist(), abs=1e-6)


def test_a_motion_that_one_side_always_wins_leaves_motion_effects_out_and_says_so(table):
    lost = table.copy()
    lost.loc[lost["motion"] == MOTIONS[0], "winner"] = "opposition"
    found = bradley_terry(lost)
    assert set(found["note"]) == {"motions_left_out"}
    assert set(found["kind"]) == {"debater", "side"}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_a_model_of_too_few_ratings_is_nan_with_a_reason_and_never_an_error(table, model, rows):
    found = model(table.head(rows))
    assert found["coefficient"].isna().any()
    assert (found.loc[found["coefficient"].isna(), "note"] != "").all()


def test_separated_ratings_have_no_estimate_and_say_so(table):
    perfect = table.copy()
    gap = np.where(perfect["winner"] == "proposition", 30.0, -30.0)
    perfect["proposition.logic"] = perfect["opposition.logic"] + gap
    found = winner_model(perfect)
    assert found["note"].tolist() == ["separated"]
    assert found["coefficient"].isna().all()
    one = table.assign(
        winner=np.where(table["proposition"] < table["opposition"], "proposition", "opposition")
    )
    assert bradley_terry(one)["note"].tolist()[0] in ("separated", "not_converged")
    assert bradley_terry(table.assign(winner="proposition"))["note"].tolist() == [
        "one_side_won_all"
    ]


def test_equal_dimensions_are_collinear_and_no_estimate(table):
    same = table.copy()
    for side in ("proposition", "opposition"):
        same[f"{side}.logic"] = same[f"{side}.clarity"]
    assert winner_model(same)["note"].tolist() == ["collinear"]


def test_debates_that_are_all_split_alike_have_no_error_and_so_no_estimate():
    table = tournament(dict.fromkeys("ab", 0.0), raters=2, seed=1)
    # In every debate the rater who saw the proposition first, and the other, both vote for it once
    # in two.
    table["winner"] = [SIDES[0] if i % 4 in (0, 3) else SIDES[1] for i in range(len(table))]
    table["first"] = [SIDES[0] if i % 2 == 0 else SIDES[1] for i in range(len(table))]
    found = place_and_length(table).set_index("check").loc["proposition"]
    assert found["note"] == "no_variance_between_debates"
    assert np.isnan(found["coefficient"])


def constant(table, *columns):
    return table.assign(**dict.fromkeys(columns, 50.0))


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (stance_models, ("before", "after")),
        (stance_after, ("before", "after")),
        (winner_model, [f"{side}.{name}" for side in SIDES for name in PREDICTORS]),
        (rater_models, [name for name in columns() if name.endswith(".performance")]),
    ],
)
def test_ratings_that_do_not_vary_have_a_reason_and_no_estimate_of_rounding(table, model, columns):
    found = model(constant(table, *columns))
    rows = found if isinstance(found, pd.DataFrame) else found[0].terms
    lacking = rows[rows["coefficient"].isna()]
    assert (lacking["note"] != "").all()
    assert len(lacking)
    assert not (rows["se"] == 0).any()
