"""The report on a comparison: its tables, and what they say in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
from numpy import isnan

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, drawings_of, entries_of
from delibsim.analysis.pages.cells import decimals, interval
from delibsim.analysis.pairs.against import WITHIN, against
from delibsim.analysis.pairs.conditions import conditions, told
from delibsim.analysis.pairs.fitted import Compared, Fitted, Settings, fitted
from delibsim.analysis.pairs.judges import (
    counts,
    groups,
    judges,
    order,
    order_scores,
    runs,
    transitivity,
)
from delibsim.analysis.pairs.panel import agreement, judge_models
from delibsim.analysis.pairs.scores import (
    curve_of_shares,
    differences,
    drawn_pairs,
    scores,
    stability,
)
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, catalogue
from delibsim.domain.reason import MEANINGS
from delibsim.domain.text import counted
from delibsim.measures.bradley_terry.likelihood import Dummy, Penalty
from delibsim.measures.bradley_terry.uncertainty import FEW_PAIRS, NO_MAXIMUM, uncertainty

LARGE = 0.5
"""A place bias, in log odds, from which on a warning is given."""
FLAGS = {
    "one_order": "every pair came in the order of a sorted list: place cannot be told from merit",
    "not_converged": "the fit did not converge, and gives no scores; take fewer"
    " parameters (judges=pooled), or another penalty",
    "no_ties": "a judge gave no tie, so its threshold is 0",
    "all_ties": "a judge gave ties only, which say nothing of scores",
    "alpha_zero": "a judge's votes have nothing to do with the scores",
    "always_a": "a judge always names the text shown first, and says nothing of texts",
    "always_b": "a judge always names the text shown second, and says nothing of texts",
}


@dataclass(frozen=True, eq=False)
class PairsReport:
    """What the sentences and figures of a report rest on: its fits and its tables by name."""

    compared: Compared
    settings: Settings
    fits: Sequence[Fitted]
    results: Mapping[str, Result]

    def sentences(self) -> Iterator[str]:
        """What the tables say, sentence by sentence; nothing that they do not hold."""
        model = self.settings.model
        threshold = "estimated" if model.theta is None else f"{model.theta:g}"
        places = "estimated" if model.order else "not estimated"
        yield (
            f"Model {model.kind}, penalty {penalty_told(model.penalty)}, threshold {threshold},"
            f" place bias {places}; scores on the scale {self.settings.scale}."
        )
        for own in self.fits:
            n, pairs = counted(len(own.ids), "text"), counted(len(own.counts.pairs), "pair")
            votes = counted(len(own.votes), "vote")
            likelihood = decimals(own.fit.log_likelihood)
            yield f"{own.dimension}: {votes} on {pairs} of {n}; log likelihood {likelihood}."
            used = bool(len(own.fit.counts.votes))
            for flag in own.fit.flags:
                placed = used and own.settings.model.order
                if flag in FLAGS and (flag != "one_order" or placed):
                    yield f"{own.dimension}: {FLAGS[flag]}."
            if not used:
                yield f"{own.dimension}: no vote says anything of the texts, so none has a score."
            yield from _of_choice(own)
            yield from _of_errors(own.base)
        yield from self._of_components()
        yield from self._of_neighbours()
        yield from told(self.results["conditions"])
        yield from self._of_places()
        yield from self._of_runs()
        yield from self._of_people()
        for row in self.results["counts"].rows.to_dict("records"):
            if row["missing"]:
                yield f"{row['dimension']}, {row['judge']}: votes are missing: {row['missing']}."

    def _of_components(self) -> Iterator[str]:
        rows = self.results["groups"].rows
        scored = self.results["scores"].rows.groupby("dimension")["score"].count()
        rows = rows[(rows["components"] > 1) & (rows["dimension"].map(scored) > 0)]
        for row in rows.to_dict("records"):
            group = (
                f"{row['dimension']}, group {row['group']}" if row["group"] else row["dimension"]
            )
            yield (
                f"{group}: no votes join {row['components']} parts of its texts;"
                " scores and ranks hold within a part only."
            )

    def _of_neighbours(self) -> Iterator[str]:
        """How many neighbours in rank can be told apart: ranks alone would say all."""
        table = self.results["scores"].rows
        for own in self.fits:
            known = table[table["dimension"] == own.dimension]["apart"].dropna()
            if len(known):
                yield (
                    f"{own.dimension}: {int(known.sum())} of {counted(len(known), 'text')} can be"
                    " told apart from the next weaker one."
                )

    def _of_runs(self) -> Iterator[str]:
        result = self.results["runs"]
        rows = result.rows[result.rows["note"] != ""] if result.given else result.rows
        for row in rows.to_dict("records"):
            yield (
                f"{row['dimension']}, {row['judge']}: the same label in all {row['runs']} runs of"
                " every sheet, so runs are no draws of their own."
            )

    def _of_people(self) -> Iterator[str]:
        result = self.results["against"]
        if not result.given or self.compared.people is None:
            return
        whose = f"{self.compared.people.name}'s"
        for row in result.rows[result.rows["over"] != WITHIN].to_dict("records"):
            if row["r"] != row["r"]:
                continue
            ends = f" {interval(row['low'], row['high'])}" if row["low"] == row["low"] else ""
            told = f"r {decimals(row['r'])}{ends}"
            reliable = row["r_of_ceiling"] == row["r_of_ceiling"]
            ceiling = (
                f"{decimals(row['r_of_ceiling'])} of what the reliability"
                f" {decimals(row['reliability'])} of {whose} scores allows"
            )
            unknown = f"how reliable {whose} scores are cannot be said"
            who = f"{row['dimension']}, {row['judge']} beside {self.compared.people.name}"
            over = f"over {counted(row['texts'], 'text')}"
            yield f"{who}: {told} {over}; {ceiling if reliable else unknown}."

    def _of_places(self) -> Iterator[str]:
        for row in self.results["order"].rows.to_dict("records"):
            low, high = row["low"], row["high"]
            if (low > 0 or high < 0) and abs(row["delta"]) >= LARGE:
                place = "first" if low > 0 else "second"
                yield (
                    f"{row['dimension']}: judges favour the text shown {place} by"
                    f" {abs(row['delta']):.2f} log odds, whatever it says."
                )


def _of_choice(own: Fitted) -> Iterator[str]:
    """What intervals rest on, where pairs were chosen by what was known of them."""
    if not own.chosen:
        return
    if own.base.errors.reason:
        yield (
            f"{own.dimension}: {MEANINGS[own.base.errors.reason]}; ranks stand, and for intervals"
            " more pairs at random are needed (design.probe=0.3 from the start)."
        )
    else:
        drawn, votes = len(own.base.votes), len(own.votes)
        yield (
            f"{own.dimension}: pairs were chosen by what was known of them, so scores and their"
            f" order are those of all votes, and errors, intervals and tests those of the"
            f" {drawn:,} of {votes:,} votes on pairs that were drawn at random."
        )


def _of_errors(own: Fitted) -> Iterator[str]:
    """Which errors are given, where they are not those that were to be expected."""
    if own.errors.reason:
        return
    errors = uncertainty(own.fit)
    if errors.note == NO_MAXIMUM:
        yield f"{own.dimension}: {MEANINGS[NO_MAXIMUM]}; take fewer parameters, or more votes."
    elif errors.clustered and not own.errors.clustered and not isnan(own.errors.scores).all():
        yield (
            f"{own.dimension}: errors by pair are smaller than those of the model, which are given"
            " instead and take votes on one pair as independent."
        )
    if errors.note == FEW_PAIRS:
        yield (
            f"{own.dimension}: there are fewer than two pairs a parameter, too few to say how far"
            " votes on one pair depend on each other."
        )


def pairs_report(compared: Compared, settings: Settings, faults: Sequence[str] = ()) -> Report:
    """Every table of the report. With one judge all votes count as one judge's."""
    fits = []
    for dimension in compared.dimensions:
        found = fitted(compared, dimension, settings)
        if not found.votes:
            continue
        if len(found.judges) < 2:
            model = replace(settings.model, judges="pooled")
            found = replace(found, settings=replace(settings, model=model))
        fits.append(found)
    drawn = drawn_pairs(compared, fits)
    tables = [
        scores(fits, drawn),
        differences(fits),
        conditions(compared, fits),
        *against(compared, fits),
        judges(compared, fits),
        agreement(compared, fits),
        *judge_models(fits),
        order(compared, fits),
        order_scores(fits),
        transitivity(fits),
        stability(compared, fits, drawn),
        curve_of_shares(compared, fits),
        runs(compared, fits),
        groups(fits),
        counts(compared, fits),
    ]
    results = catalogue("pairs").in_order(tables)
    own = PairsReport(compared, settings, fits, results)
    told = list(own.sentences())
    rows = results["counts"].rows
    return Report(
        catalogue=catalogue("pairs"),
        title=f"{compared.study}, compared in pairs ({compared.name})",
        results=results,
        about={
            "study": compared.study,
            "name": compared.name,
            "model": settings.model.kind,
            "place_bias": settings.model.order,
            "judged_as": settings.model.judges,
            "penalty": penalty_told(settings.model.penalty),
            "threshold": settings.model.theta,
            "scale": settings.scale,
        },
        told=told,
        summary=told,
        faults=faults,
        something=bool(fits),
        complete=bool((rows["planned"] == rows["answered"]).all()),
        drawn=partial(drawings, own),
        data=own,
    )


def penalty_told(penalty: Penalty | None) -> str:
    """A penalty as it is set.

    >>> penalty_told(Dummy(0.1)), penalty_told(None)
    ('dummy:0.1', 'none')
    """
    if penalty is None:
        return "none"
    if isinstance(penalty, Dummy):
        return f"dummy:{penalty.weight:g}"
    return f"normal:{penalty.tau:g}"


SCALES = {
    "log_odds": "log odds",
    "z": "z",
    "unit": "from 0 to 1",
    "win": "share of comparisons that it would win",
}
"""The scales of scores in words."""
PANELS = 6
"""The groups that are drawn, those with the most texts first chosen."""
LINES = {"r": "with all pairs", "half_half_r": "two parts"}


def drawings(report: PairsReport) -> list[Drawing]:
    """Every figure that the tables give."""
    tables = {name: result.rows for name, result in report.results.items() if result.given}
    known = [own.dimension for own in report.fits]
    scores, curve = tables["scores"], tables["curve"]
    scores = scores[scores["dimension"].isin(known)]
    curve = curve[curve["dimension"].isin(known)]
    given = {"scores": _scores(report, scores), "curve": _long(curve)}
    return drawings_of("pairs", given)


def _scores(report: PairsReport, table: pd.DataFrame) -> Data:
    """The scores of the groups that can be read in one figure, and what is said of the others."""
    table = table.assign(panel=table["group"].where(table["group"] != "", table["dimension"]))
    sizes = table["panel"].value_counts(sort=False).sort_values(ascending=False, kind="stable")
    drawn = table[table["panel"].isin(sizes.index[:PANELS])]
    ends = entries_of("pairs")["scores"].how["ends"]
    more = ""
    if len(sizes) > PANELS:
        more += f" Drawn are the {PANELS} of {len(sizes)} groups that have the most texts."
    if len(sizes) and sizes.iloc[0] > 2 * ends:
        more += f" Of a group of more than {2 * ends} texts the {ends} strongest and the {ends}"
        more += " weakest are drawn."
    if more:
        more += " The table has every text."
    facts = {"scale": report.settings.scale, "level": 100 * report.settings.level}
    return Data(drawn, {**facts, "words": SCALES[report.settings.scale]}, more)


def _long(curve: pd.DataFrame) -> pd.DataFrame:
    """Both correlations below each other, `of` naming which."""
    parts = [curve.assign(of=words, r=curve[column]) for column, words in LINES.items()]
    return pd.concat(parts)
