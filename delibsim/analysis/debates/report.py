"""The report on the ratings of a study: its tables, figures, and what may be said of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.contrasts import HEADLINE, ON_THESE, debater_contrasts, focused
from delibsim.analysis.debates.dimensions import (
    correlation_tests,
    correlations,
    dimension_reliability,
    paired_tests,
    reliability,
)
from delibsim.analysis.debates.fits import predictors_of, together
from delibsim.analysis.debates.rated import Pooled, chosen, debates_of, edited, ids_of
from delibsim.analysis.debates.ratings import (
    SAMPLES,
    analysed,
    by_debater,
    counts,
    rating_table,
    standings,
)
from delibsim.analysis.debates.stance import mixed_models, stance_after, stance_models
from delibsim.analysis.debates.winner import (
    bradley_terry,
    by_expertise,
    expertise_contrasts,
    place_and_length,
    winner_model,
)
from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import drawings_of
from delibsim.analysis.figures.style import number
from delibsim.analysis.pages.page import Part
from delibsim.analysis.report import Report
from delibsim.analysis.result import catalogue, make_table
from delibsim.analysis.study.words import missing, p_in_words, with_interval
from delibsim.domain.annotation import AnnotatedRun
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import debated
from delibsim.domain.reason import MEANINGS, for_readers
from delibsim.domain.text import counted
from delibsim.store.instruments.own_answers import Covariates, read_covariates
from delibsim.store.runs import Runs


def in_sentences(note: str) -> str:
    """What a note says, in words without its codes, which are joined by semicolons or spaces.

    >>> in_sentences("few_motions no_variance")
    'fewer than five motions say nothing of other motions; the values do not vary'
    >>> in_sentences("collinear; without rater_age")
    'a predictor follows from the others; without rater age'
    """
    told = []
    for part in note.split("; "):
        codes = part.split()
        if codes and MEANINGS.keys() >= set(codes):
            told += [MEANINGS[code] for code in codes]
        elif part.startswith("without "):  # names of covariates
            told.append(part.replace("_", " "))
        else:
            told.append(for_readers(part))
    return "; ".join(told)


VERBS: Mapping[str, str] = {
    "better": "better",
    "worse": "worse",
    "on_these_motions": "on these motions alone",
    "none": "not clear",
    "": "",
}
"""The verbs of contrasts in words."""
KINDS: Mapping[str, str] = {"model": "The models", "human": "the people", "rest": "the rest"}
"""How sentences name kinds of debaters, of which models come first."""
AIMS: Mapping[str, tuple[str, str, int]] = {
    "winning": ("won more often than", "won less often than", 3),
    "performance": ("performed better than", "performed worse than", 1),
}
"""How a difference in an outcome is told: upwards, downwards, and with how many decimals."""


def findings(contrasts: pd.DataFrame) -> Iterator[str]:
    """A sentence for each contrast of the first family and outcome, the headline first."""
    if contrasts.empty:
        return
    own = contrasts[contrasts["family"] == contrasts["family"].iloc[0]]
    for (_, outcome), rows in own.groupby(["contrast", "outcome"], sort=False):
        by_question = {row["question"]: row for row in rows.to_dict("records")}
        yield finding(str(outcome), by_question[HEADLINE], by_question[ON_THESE])


def finding(outcome: str, headline: Mapping[str, Any], on_these: Mapping[str, Any]) -> str:
    """What one contrast says: over motions like these, on these motions alone, or nothing clear."""
    one, _, other = str(headline["contrast"]).partition(" - ")
    other = "its opponents" if other == "opponents" else other
    if headline["family"] == "kinds":
        one, other = KINDS.get(one, one), KINDS.get(other, other)
    up, down, places = AIMS[outcome]
    if missing(headline["estimate"]):
        return f"{one} against {other}: no estimate of the difference in {outcome}."
    motions = counted(int(headline["units"]), "motion")
    said = f"{one} {up if headline['estimate'] > 0 else down} {other}"
    size = number(headline["estimate"], places)
    here = f"{size}; {_by(on_these)}, {_p(on_these)}"
    over = _over(headline, motions, places)
    if headline["verb"] in ("better", "worse"):
        return f"{said}: {over}."
    if headline["verb"] == "on_these_motions":
        others = f"over motions like these it is not clear ({over})"
        return f"On these {motions} {said} ({here}); {others}."
    none = f"{one} against {other}: no clear difference in {outcome}"
    return f"{none} on these {motions} ({here}) or on others like them ({over})."


def _over(row: Mapping[str, Any], motions: str, places: int) -> str:
    """An estimate over motions with its interval and tests, or why there is none."""
    if missing(row["low"]):
        return in_sentences(str(row["note"]))
    low, high, size = (number(row[name], places) for name in ("low", "high", "estimate"))
    return f"{size} [{low}, {high}], t over {motions}, {row['df']:g} df, {_p(row)}"


def _by(row: Mapping[str, Any]) -> str:
    """How a difference on these motions was tested."""
    debates = counted(int(row["debates"]), "debate")
    if row["unit"] == "debate":
        return f"signs of {debates} flipped"
    return f"t over {debates} within their motions, {row['df']:g} df"


def _p(row: Mapping[str, Any]) -> str:
    """A p value, and after Holm's correction."""
    return f"{p_in_words(row['p'])}, after Holm's correction {p_in_words(row['p_holm'])}"


GRID = 201
"""Points at which a density is drawn."""


def figures(found: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """The figures by name, each an SVG document, as far as there is something to draw."""
    return {drawing.name: drawing.svg() for drawing in drawings(found)}


def drawings(found: Mapping[str, pd.DataFrame]) -> list[Drawing]:
    """Win rates, performance, strengths, densities, correlations; residuals of every mixed model,
    against fitted values and against the normal distribution.
    """
    tables: dict[str, Any] = {**found, **_densities(analysed(found["ratings"]))}
    tables["correlations"] = _long(found["dimension_correlations"].dropna())
    residuals = found["residuals"]
    if len(residuals):
        tables["residuals"] = residuals.assign(distance=residuals["residual"].abs())
        models = residuals.groupby("model", sort=False)
        tables["quantiles"] = pd.concat([_quantiles(own) for _, own in models])
    return drawings_of("debates", tables)


def _densities(ratings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Densities of performance by kind of debater, of the change of stance, and of stances."""
    view = by_debater(ratings)
    change = ratings["after"].astype(float) - ratings["before"].astype(float)
    groups = {
        "density_performance": {
            str(kind): own["own.performance"] for kind, own in view.groupby("kind")
        },
        "density_stance_change": {
            f"{side} won": change[ratings["winner"] == side] for side in SIDES
        },
        "density_stance": {name: ratings[name].astype(float) for name in ("before", "after")},
    }
    return {name: density(own) for name, own in groups.items()}


def density(groups: Mapping[str, pd.Series]) -> pd.DataFrame:
    """A density for each group, by normal kernels with Scott's bandwidth: series, at, density, and
    mean, sd and n of its values. A group that does not vary has none.
    """
    from scipy.stats import gaussian_kde

    given = {group: values.dropna().to_numpy(dtype=float) for group, values in groups.items()}
    given = {group: own for group, own in given.items() if len(own) > 1 and np.ptp(own) > 0}
    if not given:
        return pd.DataFrame()
    together = np.concatenate(list(given.values()))
    at = np.linspace(together.min(), together.max(), GRID)
    found = []
    for group, own in given.items():
        told = {"series": group, "mean": own.mean(), "sd": own.std(ddof=1), "n": len(own)}
        found.append(pd.DataFrame({"at": at, "density": gaussian_kde(own)(at), **told}))
    return pd.concat(found, ignore_index=True)


def _long(correlated: pd.DataFrame) -> pd.DataFrame:
    """The correlations of the dimensions, one a row."""
    if correlated.empty:
        return correlated
    keys = ["debaters", "n", "dimension"]
    names = list(dict.fromkeys(correlated["dimension"]))
    return correlated.melt(keys, names, var_name="other", value_name="r")


def _quantiles(own: pd.DataFrame) -> pd.DataFrame:
    """Standardised residuals of a model and quantiles of the normal distribution (Blom 1958)."""
    from scipy.special import ndtri

    residuals = own["residual"].to_numpy(dtype=float)
    n = len(residuals)
    found = np.sort((residuals - residuals.mean()) / (residuals.std() or 1.0))
    expected = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    apart = np.abs(found - expected)
    columns = {"expected": expected, "found": found, "distance": apart}
    return pd.DataFrame({"model": own["model"].iloc[0], **columns})


def tables(
    runs: Sequence[AnnotatedRun],
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


TO_MEND = (
    "models are asked again by delibsim rate ask, people's forms are collected again; then delete"
    " what is damaged"
)
"""What to do about ratings that are lost to damaged lines."""


def study_report(
    runs: Runs,
    panels: Sequence[str] = (),
    source: str | None = None,
    focus: str | None = None,
    people: Path | None = None,
) -> Report:
    """The report on the ratings of a study, or only of these panels and of this source.

    `people` is a file of covariates; the rest is as in `tables` and `chosen`.
    """
    losses: list[str] = []
    debates, faults = debates_of(runs, losses)
    planned = len(runs.sessions())
    covariates = None if people is None else read_covariates(people, ids_of(debates))
    rated = chosen(debates, panels, source)
    waiting = planned - len(debates) - len(faults)
    changed = edited(debates)
    said = [f"lost: {loss}; {TO_MEND}" for loss in losses]
    said += [f"warning: {line}" for line in changed]
    said += [f"planned and not held yet: {waiting}"] if waiting else []
    frames = tables(rated, focus=focus, people=covariates)
    found = report_of(runs.study, frames, Pooled.of(rated), said)
    held = f"Debates planned: {planned}; held: {planned - waiting}."
    return replace(
        found,
        about={**found.about, "planned": planned, "lost": losses, "edited": changed},
        summary=[held, *found.summary],
        faults=faults,
        complete=all(map(debated, debates)) and not said,
        data=len(debates),
    )


def report_of(
    study: str, frames: Mapping[str, pd.DataFrame], pooled: Pooled, said: Sequence[str] = ()
) -> Report:
    """A report of these tables; `said` are sentences on what is missing."""
    found = [make_table(f"debates/{name}", frame) for name, frame in frames.items()]
    return Report(
        catalogue=catalogue("debates"),
        title=study,
        results=catalogue("debates").in_order(found),
        about={"study": study, **pooled.plain()},
        told=[pooled.whose(), *pooled.warned(), *said],
        summary=list(_summary(frames)),
        warnings=pooled.warned(),
        something=not frames["ratings"].empty,
        first=[Part("whose", "Whose ratings", [pooled.whose()], said)],
        drawn=partial(drawings, frames),
    )


def _summary(frames: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Who stands first, and what may be said of differences."""
    placed = frames["standings"]
    if placed.empty:
        yield "No debate has been rated."
        return
    for row in placed.head(3).to_dict("records"):
        rate = with_interval(row["win_rate"], row["win_low"], row["win_high"])
        of = f"{row['df'] + 1:g} {row['unit']}s" if row["win_low"] == row["win_low"] else ""
        over = f", 95% interval by t over {of}" if of else ""
        told = f"{row['debater']} was named the winner in a share of {rate} of its ratings"
        yield f"{told}{over} (rank {row['rank']:g})."
    yield from findings(frames["contrasts"])
