"""The report on summaries: its tables, what they say in sentences, and the page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, drawings_of
from delibsim.analysis.figures.style import number
from delibsim.analysis.pages.cells import decimals, interval, p_value
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, catalogue
from delibsim.analysis.summaries import agreement, benchmark, biases, minorities
from delibsim.analysis.summaries.benchmark import Intervals
from delibsim.analysis.summaries.judged import (
    OVERALL,
    JudgedSet,
    counts,
    pairs_by_opinion,
    scores_of,
)
from delibsim.domain.judgment import LABELS
from delibsim.domain.text import counted
from delibsim.measures.summaries.texts import TFIDF, Embedding

NULL_ONLY = (
    "All judges are citizens, which count shared words by rule: this is a null model, and nothing"
    " here is evidence of quality."
)
NOBODY = pd.DataFrame()
"""The scores of no opinion."""
BESIDE = "People have judged too: what they say stands in the tables of judges, not in the scores."


@dataclass(frozen=True, eq=False)
class Told:
    """What a report says in sentences, from its tables; one on published scores has no sets."""

    sets: Sequence[JudgedSet]
    results: Mapping[str, Result]

    def sentences(self) -> Iterator[str]:
        """What the tables say, sentence by sentence; nothing that they do not hold."""
        for one in self.sets:
            n = counted(len(one.opinions), "opinion")
            yield f"{one.study}: {n} on “{one.question}”."
        kinds = [own["kind"] for one in self.sets for own in one.judges.values()]
        if kinds and set(kinds) == {"citizen"}:
            yield NULL_ONLY
            if any(one.ratings["people"].any() for one in self.sets):
                yield BESIDE
        if "gaps" in self.results:
            yield from self._left_out()
        if "overall" in self.results:
            yield from self._scores()
        if "length" in self.results:
            yield from self._length()
        yield from self._biases()
        for row in self._rows("counts").to_dict("records"):
            if row["made"] < row["planned"] or row["missing"]:
                left = row["planned"] - row["made"]
                why = f": {row['reasons']}" if row["reasons"] else ""
                where = f"{row['study']}, {row['who']}"
                yield f"{where}: {left:,} of {row['planned']:,} {row['what']} are missing{why}."

    def _rows(self, name: str) -> pd.DataFrame:
        """The rows of a table; none where the report has no such table."""
        return self.results[name].rows if name in self.results else pd.DataFrame()

    def _left_out(self) -> Iterator[str]:
        """Which groups are represented less than random groups of their size, with what holds
        against it.
        """
        table = self.results["gaps"].rows
        rows = table[table["model"] == table["model"].iloc[0]] if len(table) else table
        for study, own in rows.groupby("study", sort=False):
            for row in own[own["verb"] == minorities.LESS].to_dict("records"):
                told = (
                    f"{study}: {row['group']} ({row['n']} opinions) is represented less, by"
                    f" {decimals(row['estimate'])} {interval(row['low'], row['high'])}, more than"
                    f" random groups of its size are (p {p_value(row['p_control_holm'])} after"
                    " Holm)"
                )
                if row["within_stance"] == row["within_stance"]:
                    told += f"; within stance by {decimals(row['within_stance'])}"
                if row["placebo"] == row["placebo"]:
                    told += f"; in placebos by {decimals(row['placebo'])}"
                yield f"{told}."
            known = own[own["p_control"].notna()]
            if len(known) and not (known["verb"] == minorities.LESS).any():
                groups = counted(len(known), "group")
                yield (
                    f"{study}: of {groups} none is represented less than random groups of its size."
                )
        worst = self.results["least_represented"].rows
        if len(worst):
            row = worst.iloc[0]
            yield f"The least represented opinion is {row['opinion']} ({decimals(row['score'])})."

    def _scores(self) -> Iterator[str]:
        """Who is first, and whether the second can be told from it."""
        rows = self.results["overall"].rows
        known = rows[(rows["dimension"] == OVERALL) & rows["score"].notna()]
        if not len(known):
            return
        first = known.iloc[0]
        yield f"Highest overall score: {first['model']}, {decimals(first['score'])}."
        pairs = self.results["pairs"].rows
        known_pairs = pairs[pairs["p_holm"].notna()]
        if len(known_pairs):
            row = known_pairs.iloc[0]
            apart = "" if row["p_holm"] < 0.05 else ", not told apart"
            yield (
                f"{row['a']} against {row['b']}: {decimals(row['estimate'])}"
                f" {interval(row['low'], row['high'])}, p {p_value(row['p_holm'])} after"
                f" Holm{apart}."
            )
        elif len(pairs):
            yield benchmark.ONE_TOPIC

    def _length(self) -> Iterator[str]:
        rows = self.results["length"].rows
        row = rows[rows["dimension"] == OVERALL].iloc[0]
        if row["within"] == row["within"] and row["within"] > 0.3:
            yield (
                f"Longer summaries score higher: Spearman {row['within']:.2f} within topic and"
                " size; read the table at equal length."
            )

    def _biases(self) -> Iterator[str]:
        for row in self._rows("order").to_dict("records"):
            if row["p"] < 0.05:
                less = "less" if row["estimate"] < 0 else "more"
                yield (
                    f"{row['study']}, {row['model']}: opinions that stand later in the prompt are"
                    f" represented {less}, by {decimals(abs(row['estimate']))} from first to"
                    f" last (p {p_value(row['p'])})."
                )
        for row in self._rows("place").to_dict("records"):
            if row["p"] < 0.05:
                side, judges = "A" if row["share"] > 0.5 else "B", row["judges"]
                yield (
                    f"{judges[:1].upper()}{judges[1:]} favour summary {side} on {row['dimension']}:"
                    f" A wins {100 * row['share']:.1f}% of those decided (p {p_value(row['p'])})."
                )


def summaries_report(
    sets: Sequence[JudgedSet],
    intervals: Intervals = "topics",
    by: Sequence[str] = (),
    faults: Sequence[str] = (),
    embedding: Embedding = TFIDF,
) -> Report:
    """Every table of the report on one set or several."""
    scores = scores_of(sets)
    tables = [
        *minority_tables(sets, by, embedding),
        benchmark.overall(scores, intervals),
        benchmark.pairs(scores),
        pairs_by_opinion(sets),
        benchmark.sizes(scores),
        benchmark.kinds(scores),
        benchmark.topics(scores),
        benchmark.equal_length(scores),
        benchmark.length(scores),
        agreement.judges(sets),
        agreement.orderings(sets),
        agreement.labels(sets),
        agreement.rankings(sets),
        agreement.reliability(sets),
        biases.scale_use(sets),
        biases.order(sets),
        biases.bins(sets),
        biases.places(sets),
        biases.strengths(sets),
        biases.consistency(sets),
        biases.kinship(sets),
        counts(sets),
    ]
    studies = ", ".join(one.study for one in sets)
    judged = any(one.ratings["rep"].notna().any() or len(one.comparisons) for one in sets)
    found = report_of(f"Summaries of {studies}", tables, sets, opinions=_opinion_scores(sets))
    rows = found.results["counts"].rows
    complete = bool((rows["planned"] <= rows["made"]).all())
    return replace(found, faults=faults, something=judged, complete=complete)


def report_of(
    title: str,
    tables: Sequence[Result],
    sets: Sequence[JudgedSet] = (),
    said: Sequence[str] = (),
    opinions: pd.DataFrame = NOBODY,
) -> Report:
    """A report of these tables; `said` are its first sentences, `opinions` (opinion, score,
    minority) the scores of single opinions.
    """
    results = catalogue("summaries").in_order(tables)
    told = [*said, *Told(sets, results).sentences()]
    return Report(
        catalogue=catalogue("summaries"),
        title=title,
        results=results,
        about={"studies": [one.study for one in sets]},
        told=told,
        summary=told,
        drawn=partial(drawings, results, opinions),
        data=sets,
    )


def minority_tables(
    sets: Sequence[JudgedSet], by: Sequence[str] = (), embedding: Embedding = TFIDF
) -> list[Result]:
    """Gaps, overlap and the least represented opinions of all sets, one below the other."""
    parts: dict[str, list[Result]] = {}
    for one in sets:
        flags = minorities.flags_of(one, by, embedding)
        for made in (
            minorities.gaps(one, flags),
            minorities.overlaps(one, flags),
            minorities.least(one, flags),
        ):
            parts.setdefault(made.name, []).append(_with_study(made, one.study))
    return [_joined(own) for own in parts.values()]


def _with_study(result: Result, study: str) -> Result:
    return replace(result, rows=result.rows.assign(study=study))


def _joined(parts: Sequence[Result]) -> Result:
    """The same table of several sets as one."""
    given = [one for one in parts if one.given] or list(parts[:1])
    rows = pd.concat([one.rows for one in given], ignore_index=True)
    notes = []
    for one in given:
        study = one.rows["study"].iloc[0] if len(one.rows) else ""
        prefix = f"{study}: " if len(parts) > 1 and study else ""
        notes += [f"{prefix}{note}" for note in one.notes]
    return _changed(given[0], rows, notes)


def _changed(result: Result, rows: pd.DataFrame, notes: Sequence[str]) -> Result:
    return replace(result, rows=rows, notes=tuple(notes))


def _opinion_scores(sets: Sequence[JudgedSet]) -> pd.DataFrame:
    """A row an opinion: how far it is represented, and whether it is of a minority by own word."""
    parts = []
    for one in sets:
        score = minorities.represented(one)
        own = pd.DataFrame({"study": one.study, "opinion": score.index, "score": score.to_numpy()})
        own["minority"] = (one.opinions.loc[score.index, "minority"] == "yes").to_numpy()
        parts.append(own)
    return pd.concat(parts, ignore_index=True)


TITLES = {OVERALL: "Overall", **{name: label.capitalize() for name, label in LABELS.items()}}


def drawings(results: Mapping[str, Result], scores: pd.DataFrame) -> list[Drawing]:
    """The figures that the tables give; `scores` (opinion, score, group) are those of opinions."""
    given = {name: result.rows for name, result in results.items() if result.given}
    tables = {**given, "opinions": _opinions(scores)}
    if "overall" in given:
        overall = given["overall"]
        tables["overall"] = overall.assign(dimension=overall["dimension"].map(TITLES))
    if "sizes" in given:
        own = given["sizes"].dropna(subset=[OVERALL])
        tables["sizes"] = _several(own[own["model"] != "all"], "size")
    if "topics" in given:
        tables["topics"] = _several(given["topics"].dropna(subset=["relative"]), "topic")
    return drawings_of("summaries", tables)


def _several(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows of a table that has several values in a column; none of another."""
    return table if table[column].nunique() > 1 else table.iloc[:0]


def _opinions(scores: pd.DataFrame) -> Data:
    """Opinions from the least represented on; those that call themselves minorities named so."""
    known = scores.dropna(subset=["score"]) if len(scores) else scores
    if not len(known):
        return Data(pd.DataFrame())
    ordered = known.sort_values("score", ignore_index=True, kind="stable")
    marked = ordered["minority"].astype(bool)
    who = np.where(marked, "minority by own word", "others")
    told = ""
    if marked.any():
        median = number(float(ordered["score"][marked].median()))
        told = f"; median of the {int(marked.sum())} minority opinions {median}"
    rows = ordered.assign(place=np.arange(1, len(ordered) + 1), who=who)
    return Data(rows, {"of_minorities": told})
