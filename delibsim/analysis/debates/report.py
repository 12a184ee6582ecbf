"""Everything that is published of a tournament, as tables by name."""

from collections.abc import Mapping, Sequence

import pandas as pd

from delibsim.analysis.debates.contrasts import debater_contrasts
from delibsim.analysis.debates.covariates import predictors_of
from delibsim.analysis.debates.dimensions import correlation_tests, correlations, paired_tests
from delibsim.analysis.debates.expertise import by_expertise, expertise_contrasts
from delibsim.analysis.debates.fits import together
from delibsim.analysis.debates.kinds import focused
from delibsim.analysis.debates.raters import mixed_models
from delibsim.analysis.debates.ratings import (
    SAMPLES,
    analysed,
    by_debater,
    counts,
    rating_table,
    standings,
)
from delibsim.analysis.debates.reliability import dimension_reliability, reliability
from delibsim.analysis.debates.stance import stance_after, stance_models
from delibsim.analysis.debates.winner import bradley_terry, place_and_length, winner_model
from delibsim.domain.rating import Rated
from delibsim.store.instruments.covariates import Covariates

TITLES = {
    "counts": "What was held, rated and analysed",
    "standings": "Win rate and performance (95% intervals by t over motions, or debates)",
    "contrasts": "Debaters compared: three questions, each with its own error",
    "strengths": "Bradley-Terry strengths, side and motions (log odds; clustered by debate)",
    "reliability": "Agreement of raters",
    "dimension_reliability": "Agreement of raters on each dimension (variance components)",
    "dimension_correlations": "Correlations of the dimensions",
    "dimension_correlation_tests": "Correlations of each two dimensions, tested",
    "paired_tests": "Paired differences by dimension (over motions; ratings one by one)",
    "winner_model": "What makes the winner: logistic regression on ten score differences (HC1)",
    "stance_models": "What moves a stance: OLS of the change on winner and debaters (HC2)",
    "stance_after": "Stance after: beta regression (stances as shares of the scale)",
    "rater_models": "Mixed models with an intercept for each rater (REML)",
    "expertise": "Performance and winning by the expertise of debaters",
    "expertise_contrasts": "Groups of expertise compared (OLS, errors clustered)",
    "covariates": "Covariates: of how many raters and debaters they are given",
    "place_and_length": "Did place or length decide? (log odds of winning)",
}
"""The tables in the order of the report."""
EMPTY = {
    "contrasts": "Not given: it needs two kinds of debaters, three debaters, or two who met in five"
    " debates.",
    "dimension_correlations": "Not given: it needs three ratings of a kind of debater.",
}
"""By table, why it may have no row; of all others `NO_ROW` is said."""
NO_ROW = "Not given: no rating gives a row of it."
LONG = ("ratings", "residuals")
"""Tables with a row a rating, which are written and not printed."""
ASIDE = ("dimension_correlation_tests",)
"""Tables with many rows, which stand on the page and in the JSON and not on the screen."""


def tables(
    runs: Sequence[Rated],
    seed: int = 0,
    samples: int = SAMPLES,
    focus: str | None = None,
    people: Mapping[str, Covariates] | None = None,
) -> dict[str, pd.DataFrame]:
    """Every table of the report, those of `TITLES` first.

    `ratings` holds the ratings themselves, also those that are not analysed, `residuals` fitted
    values and residuals of the mixed models. `focus` names the debater that is compared with the
    rest; without it models are compared with people. `people` are covariates by id, or None; then
    there are no tables `expertise`, `expertise_contrasts` and `covariates`. WrongInput where
    `focus` is no debater.
    """
    ratings = rating_table(runs)
    return {"counts": counts(runs, ratings)} | analyses(ratings, seed, samples, focus, people)


def analyses(
    ratings: pd.DataFrame,
    seed: int = 0,
    samples: int = SAMPLES,
    focus: str | None = None,
    people: Mapping[str, Covariates] | None = None,
) -> dict[str, pd.DataFrame]:
    """Every table that follows from the table of ratings alone, as in `tables`."""
    whole, compared = focused(ratings, focus)
    kept = analysed(whole)
    mixed = mixed_models(kept, compared, people or {})
    found = {
        "standings": standings(kept, seed, samples),
        "contrasts": debater_contrasts(kept, compared, seed, samples),
        "strengths": bradley_terry(kept),
        "reliability": reliability(kept),
        "dimension_reliability": dimension_reliability(kept),
        "dimension_correlations": correlations(kept),
        "dimension_correlation_tests": correlation_tests(kept),
        "paired_tests": paired_tests(kept, compared),
        "winner_model": winner_model(kept, compared),
        "stance_models": stance_models(kept, compared),
        "stance_after": stance_after(kept, compared),
        "rater_models": together(model.terms for model in mixed),
    }
    if people is not None:
        found["expertise"] = by_expertise(kept, people)
        found["expertise_contrasts"] = expertise_contrasts(kept, people)
        found["covariates"] = predictors_of(by_debater(kept), people)[1]
    found["place_and_length"] = place_and_length(kept)
    residuals = [model.residuals for model in mixed if not model.residuals.empty]
    none = pd.DataFrame(columns=["model", "fitted", "residual"])
    found["residuals"] = pd.concat(residuals, ignore_index=True) if residuals else none
    return found | {"ratings": ratings}
