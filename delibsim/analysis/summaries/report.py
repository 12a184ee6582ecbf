"""The report on summaries: its tables, what they say in sentences, and the page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from delibsim.analysis.pages.cells import decimals, interval, p_value
from delibsim.analysis.pages.folder import write_report
from delibsim.analysis.pages.page import Page, Part
from delibsim.analysis.study.result import Result
from delibsim.analysis.summaries import agreement, benchmark, biases, minorities, orderings
from delibsim.analysis.summaries.benchmark import Intervals
from delibsim.analysis.summaries.counts import counts
from delibsim.analysis.summaries.figures import drawings
from delibsim.analysis.summaries.judged import OVERALL, JudgedSet, scores_of
from delibsim.analysis.summaries.within_sets import pairs_by_opinion
from delibsim.domain.text import counted
from delibsim.measures.summaries.texts import TFIDF, Embedding

PARTS = {
    "left_out": ("Who is left out", ("gaps", "overlap", "least_represented")),
    "scores": (
        "Scores",
        ("overall", "pairs", "pairs_by_opinion", "strengths", "sizes", "kinds", "topics"),
    ),
    "length": ("At equal length", ("equal_length", "length")),
    "judges": (
        "Judges",
        ("agreement", "orderings", "labels", "rankings", "reliability", "scale_use"),
    ),
    "biases": ("Order, place, kinship", ("order", "order_bins", "place", "consistency", "kinship")),
    "counts": ("Counts", ("counts",)),
}
"""The parts of the page: title, and tables."""
FIGURES = {"left_out": ("gaps", "opinions"), "scores": ("dimensions", "sizes", "topics")}
NULL_ONLY = (
    "All judges are citizens, which count shared words by rule: this is a null model, and nothing"
    " here is evidence of quality."
)
BESIDE = "People have judged too: what they say stands in the tables of judges, not in the scores."


@dataclass(frozen=True, eq=False)
class SummariesReport:
    """The tables of a report by name, in their order; `faults` say what could not be read.

    `opinions` (opinion, score, minority) are the scores of single opinions. A report on published
    scores has no sets and some of the tables; `told` says what they are of.
    """

    sets: Sequence[JudgedSet]
    results: Mapping[str, Result]
    opinions: pd.DataFrame
    faults: Sequence[str] = ()
    told: Sequence[str] = ()

    @property
    def judged(self) -> bool:
        """Whether there is a rating or a comparison with a value."""
        return bool(self.told) or any(
            one.ratings["rep"].notna().any() or len(one.comparisons) for one in self.sets
        )

    @property
    def whole(self) -> bool:
        """Whether everything could be read, and every planned summary and judgment is there."""
        if "counts" not in self.results:
            return not self.faults
        rows = self.results["counts"].rows
        return not self.faults and bool((rows["planned"] <= rows["made"]).all())

    def plain(self) -> dict[str, Any]:
        """As plain values: an object of tables, each a list of rows at full precision."""
        tables = {name: result.plain() for name, result in self.results.items()}
        studies = [one.study for one in self.sets]
        sentences = list(self.sentences())
        told = {"studies": studies, "sentences": sentences, "faults": list(self.faults)}
        return told | tables

    def sentences(self) -> Iterator[str]:
        """What the tables say, sentence by sentence; nothing that they do not hold."""
        yield from self.told
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
) -> SummariesReport:
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
        orderings.orderings(sets),
        orderings.labels(sets),
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
    named = {one.name: one for one in tables}
    return SummariesReport(sets, named, _opinion_scores(sets), faults)


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
    rows = result.rows.copy()
    rows.insert(0, "study", study)
    return _changed(result, rows, result.notes)


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


def write_page(report: SummariesReport, folder: Path) -> Path:
    """Write page, tables and figures into a folder, which takes their place as a whole; the page.

    WrongInput for a folder that holds anything but a report.
    """
    drawn = {one.name: one for one in drawings(report.results, report.opinions)}
    documents = {name: one.svg() for name, one in drawn.items()}
    files = {f"figures/{name}.svg": one.encode() for name, one in documents.items()}
    parts = []
    for id, (title, names) in PARTS.items():
        shown = [name for name in FIGURES.get(id, ()) if name in drawn]
        pictures = [drawn[name].picture(documents[name]) for name in shown]
        own = [report.results[name] for name in names if name in report.results]
        if not own:
            continue
        tables = [table for table in own if table.given]
        reasons = [table.detail for table in own if not table.given]
        parts.append(Part(id, title, sentences=reasons, tables=tables, pictures=pictures))
    studies = ", ".join(one.study for one in report.sets)
    page = Page(
        title=f"Summaries of {studies}" if studies else "Published scores of summaries",
        kind="Report on summaries of opinions, by delibsim",
        summary=list(report.sentences()),
        parts=parts,
        warnings=[f"left out, damaged: {fault}" for fault in report.faults],
    )
    return write_report(page, report.results.values(), folder, files)
