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
from delibsim.store.instruments.own_answers import Covariates


def tables(
    runs: Sequence[Rated],
    seed: int = 0,
    samples: int = SAMPLES,
    focus: str | None = None,
    people: Mapping[str, Covariates] | None = None,
) -> dict[str, pd.DataFrame]:
    """Every table of the report, in the order of its catalogue.

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
