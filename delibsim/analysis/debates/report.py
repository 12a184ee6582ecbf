"""The report on the ratings of a study: its tables, figures, and what may be said of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.fits import predictors_of, together
from delibsim.analysis.debates.rated import SOURCES, chosen, debates_of, edited, ids_of
from delibsim.analysis.debates.ratings import (
    HEADLINE,
    ON_THESE,
    SAMPLES,
    analysed,
    by_debater,
    counts,
    debater_contrasts,
    focused,
    rating_table,
    standings,
)
from delibsim.analysis.debates.stance import mixed_models, residuals_of
from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import drawings_of
from delibsim.analysis.pages.page import PagePart
from delibsim.analysis.report import Report, sayings
from delibsim.analysis.result import Result, catalogue, make_table, said, tables_of
from delibsim.domain.annotation import AnnotatedRun, debated
from delibsim.domain.effect import differing, same_cells
from delibsim.domain.participant import SIDES
from delibsim.domain.reason import MEANINGS, for_readers
from delibsim.domain.run import Session
from delibsim.domain.study import cell_of
from delibsim.plugins import without_effect
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


KINDS: Mapping[str, str] = {"model": "The models", "human": "the people", "rest": "the rest"}
"""How sentences name kinds of debaters, of which models come first."""


def findings(contrasts: pd.DataFrame) -> Iterator[str]:
    """A sentence for each contrast of the first family and outcome, the headline first: over
    motions like these, on these motions alone, or nothing clear.
    """
    own = contrasts[contrasts["family"] == contrasts["family"].head(1).sum()]
    headline, on_these = (own[own["question"] == one] for one in (HEADLINE, ON_THESE))
    both = headline.merge(on_these, on=["contrast", "outcome"], suffixes=("", "_here"))
    names = [str(contrast).partition(" - ") for contrast in both["contrast"]]
    words = KINDS if (own["family"] == "kinds").all() else {"opponents": "its opponents"}
    both["one"] = [words.get(one, one) for one, _, _ in names]
    both["other"] = [words.get(other, other) for _, _, other in names]
    both["why"] = list(map(in_sentences, both["note"].astype(str)))
    return sayings("debates", {"contrasts": make_table("debates/contrasts", both)}, "contrasts")


GRID = 201
"""Points at which a density is drawn."""


def drawings(found: Mapping[str, pd.DataFrame], focus: str | None = None) -> list[Drawing]:
    """Win rates, performance, strengths, densities, correlations; residuals of every mixed model,
    against fitted values and against the normal distribution.
    """
    tables: dict[str, Any] = {**found, **_densities(analysed(focused(found["ratings"], focus)[0]))}
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
        "rater_models": together("rater_models", [model.terms for model in mixed]),
        "residuals": residuals_of(mixed),
        "ratings": ratings,
    }
    data = {"ratings": [(kept,)], "kinds": [(kept, compared)]}
    if people is not None:
        data["people"] = [(kept, people)]
        found["covariates"] = predictors_of(by_debater(kept), people)[1]
    return found | {one.name: one.rows for one in tables_of("debates", data)}


@dataclass(frozen=True)
class SharedRatings:
    """Source and number of the ratings of a panel or pack, and what its raters read ("": not
    kept).
    """

    source: str
    ratings: int
    wording: str

    @property
    def described(self) -> str:
        """The share in words."""
        wording = f"wording {self.wording}" if self.wording else "wording not kept"
        return f"{self.source}, {self.ratings}, {wording}"


@dataclass(frozen=True)
class Pooled:
    """What is pooled: the share of each panel and pack, settings that differ, conditions alike.

    `unlike` holds, with their values, the settings in which rated debates differ beyond motion and
    debaters; `same` for each condition that is another by construction the first of these.
    """

    shares: Mapping[str, SharedRatings]
    unlike: Mapping[str, Sequence[str]]
    same: Mapping[str, str]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, rated: Iterable[AnnotatedRun]) -> "Pooled":
        """What is pooled in these debates with their ratings."""
        kept = [run for run in rated if run.ratings and debated(run)]
        sessions = [run.session for run in kept]
        shares, unlike = _shares(kept), differing(sessions)
        same = same_cells(sessions, without_effect) if sessions else {}
        warnings = (*_of_wordings(shares), *_of_conditions(sessions, unlike, same))
        return cls(shares, unlike, same, warnings)

    def whose(self) -> str:
        """Whose ratings are pooled, in words."""
        parts = [f"{name} ({share.described})" for name, share in self.shares.items()]
        end = ", pooled" if len(parts) > 1 else ""
        return f"Ratings of {', '.join(parts) or 'nobody'}{end}"

    def warned(self) -> list[str]:
        """What speaks against pooling, as warnings."""
        return [f"warning: {line}" for line in self.warnings]

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "pooled": {name: asdict(share) for name, share in self.shares.items()},
            "differing": {name: list(values) for name, values in self.unlike.items()},
            "same_conditions": dict(self.same),
            "warnings": list(self.warnings),
        }


def _shares(rated: Iterable[AnnotatedRun]) -> dict[str, SharedRatings]:
    """The share of every panel and pack, in order of name."""
    counts: Counter[tuple[str, str]] = Counter()
    wordings: dict[str, str] = {}
    for run in rated:
        wordings |= run.wordings
        counts.update((rating.panel, SOURCES[rating.source]) for rating in run.ratings)
    found = {}
    for (name, source), n in sorted(counts.items()):
        found[name] = SharedRatings(source, n, wordings.get(name, ""))
    return found


TO_MEND = (
    "models are asked again by delibsim rate ask, people's forms are collected again; then delete"
    " what is damaged"
)
"""What to do about ratings that are lost to damaged lines."""


def _of_wordings(shares: Mapping[str, SharedRatings]) -> Iterator[str]:
    """A warning where those pooled read different wordings, or may have."""
    if len(shares) < 2:
        return
    readers: dict[str, list[str]] = defaultdict(list)
    for name, share in shares.items():
        readers[share.wording].append(name)
    unknown = readers.pop("", [])
    if len(readers) > 1:
        listed = "; ".join(f"{wording}: {', '.join(names)}" for wording, names in readers.items())
        yield said("debates/wordings", listed=listed)
    if unknown:
        yield said("debates/unknown_wording", names=", ".join(unknown))


def _of_conditions(
    sessions: Sequence[Session], unlike: Mapping[str, Sequence[str]], same: Mapping[str, str]
) -> Iterator[str]:
    """Warnings where debates were held under different conditions, and where these are the same."""
    if unlike:
        listed = "; ".join(f"{name} ({', '.join(values)})" for name, values in unlike.items())
        yield said("debates/conditions", listed=listed)
    if same:
        cells = [cell_of(session) for session in sessions]
        cell, first = next(iter(same.items()))
        numbers = {"same": len(same), "cells": len(set(cells))}
        debates = sum(own in same for own in cells)
        yield said("debates/same_conditions", debates=debates, cell=cell, first=first, **numbers)


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
    lacking = [f"lost: {loss}; {TO_MEND}" for loss in losses]
    lacking += [f"warning: {line}" for line in changed]
    lacking += [f"planned and not held yet: {waiting}"] if waiting else []
    frames = tables(rated, focus=focus, people=covariates)
    found = report_of(runs.study, frames, Pooled.of(rated), lacking, focus)
    held = f"Debates planned: {planned}; held: {planned - waiting}."
    return replace(
        found,
        about={**found.about, "planned": planned, "lost": losses, "edited": changed},
        summary=[held, *found.summary],
        faults=faults,
        complete=all(map(debated, debates)) and not lacking,
        data=len(debates),
    )


def report_of(
    study: str,
    frames: Mapping[str, pd.DataFrame],
    pooled: Pooled,
    lacking: Sequence[str] = (),
    focus: str | None = None,
) -> Report:
    """A report of these tables; `lacking` are sentences on what is missing, `focus` is as in
    `tables`.
    """
    found = [make_table(f"debates/{name}", frame) for name, frame in frames.items()]
    results = catalogue("debates").in_order(found)
    return Report(
        catalogue=catalogue("debates"),
        title=study,
        results=results,
        about={"study": study, **pooled.plain()},
        told=[pooled.whose(), *pooled.warned(), *lacking],
        summary=list(_summary(results)),
        warnings=pooled.warned(),
        something=not frames["ratings"].empty,
        first=[PagePart("whose", "Whose ratings", [pooled.whose()], lacking)],
        drawn=partial(drawings, frames, focus),
    )


def _summary(results: Mapping[str, Result]) -> Iterator[str]:
    """Who stands first, and what may be said of differences."""
    placed = results["standings"]
    if not placed.given:
        yield "No debate has been rated."
        return
    first = replace(placed, rows=placed.rows.head(3))
    yield from sayings("debates", {"standings": first}, "standings")
    yield from findings(results["contrasts"].rows)
