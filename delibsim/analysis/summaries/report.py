"""The report on summaries: its tables, what they say in sentences, and the page."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, starmap
from math import nan, prod
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, drawings_of
from delibsim.analysis.figures.style import number
from delibsim.analysis.report import Report, sayings
from delibsim.analysis.result import Result, catalogue, make_table, tables_of
from delibsim.analysis.result import said as sentence
from delibsim.analysis.summaries import agreement, benchmark, minorities
from delibsim.analysis.summaries.benchmark import Intervals
from delibsim.analysis.summaries.judged import OVERALL, JudgedSet, scores_of
from delibsim.domain.summary import LABELS, VOTED, OpinionSet, Voter
from delibsim.domain.text import counted
from delibsim.measures.summaries.texts import TFIDF, Embedding

TYPICAL = 3
"""How many opinions are listed for a group."""
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes on opinions: the opinions, who voted, and how often an opinion was given a vote in an
    opinion group ("" without one), as far as these votes hold.
    """

    opinions: OpinionSet
    voters: Sequence[Voter]
    tally: Mapping[tuple[str, str, int], int]

    @property
    def groups(self) -> dict[str, int]:
        """How many voters each opinion group has."""
        return dict(sorted(Counter(one.group for one in self.voters if one.group).items()))

    def counts(self, opinion: str, groups: Sequence[str]) -> list[int]:
        """How many of these groups agree with an opinion, disagree, and pass."""
        return [self._count(opinion, groups, vote) for vote in VOTED.values()]

    def _count(self, opinion: str, groups: Sequence[str], vote: int) -> int:
        return sum(self.tally[opinion, group, vote] for group in groups)


GAP, CONTROL = ("estimate", "low", "high"), ("control", "control_low", "control_high")
NOBODY = pd.DataFrame()
"""The scores of no opinion."""
VALUES: Mapping[str, Any] = {
    "wanted": agreement.WANTED,
    "bin": benchmark.BIN,
}
"""What definitions of tables name."""


def summaries_report(
    sets: Sequence[JudgedSet],
    intervals: Intervals = "topics",
    by: Sequence[str] = (),
    faults: Sequence[str] = (),
    embedding: Embedding = TFIDF,
) -> Report:
    """Every table of the report on one set or several."""
    scores = scores_of(sets)
    tables = [*minority_tables(sets, by, embedding), *tables_of_scores(scores, intervals)]
    tables += [benchmark.strengths(sets), *tables_of("summaries", {"sets": [(sets,)]}, **VALUES)]
    studies = ", ".join(one.study for one in sets)
    judged = any(one.ratings["rep"].notna().any() or len(one.comparisons) for one in sets)
    found = report_of(f"Summaries of {studies}", tables, sets, opinions=_opinion_scores(sets))
    rows = found.results["counts"].rows
    complete = bool((rows["planned"] <= rows["made"]).all())
    return replace(found, faults=faults, something=judged, complete=complete)


def tables_of_scores(
    scores: pd.DataFrame, intervals: Intervals, without: Collection[str] = ()
) -> Iterator[Result]:
    """The tables from the scores of summaries alone, but those that are named."""
    how = sentence(f"summaries/over_{intervals}")
    yield make_table("summaries/overall", benchmark.overall(scores, intervals), how=how)
    yield benchmark.pairs(scores)
    if "equal_length" not in without:
        yield benchmark.equal_length(scores)
    for table in tables_of("summaries", {"scores": [(scores,)]}):
        if table.name not in without:
            yield table


def minority_tables(
    sets: Sequence[JudgedSet], by: Sequence[str] = (), embedding: Embedding = TFIDF
) -> Iterator[Result]:
    """Gaps, overlap and the least represented opinions of all sets, one below the other."""
    flagged = [(one, minorities.flags_of(one, by, embedding)) for one in sets]
    notes = []
    for one, flags in [(one, flags) for one, flags in flagged if flags.marks] or flagged[:1]:
        prefix = f"{one.study}: " if len(sets) > 1 and flags.marks else ""
        notes += [f"{prefix}{note}" for note in minorities.notes_on_gaps(one, flags)]
    rows = chain.from_iterable(starmap(minorities.gaps, flagged))
    yield make_table("summaries/gaps", rows, notes=notes, draws=minorities.DRAWS)
    yield from tables_of("summaries", {"flagged": flagged}, listed=minorities.LISTED)


def report_of(
    title: str,
    tables: Iterable[Result],
    sets: Sequence[JudgedSet] = (),
    said: Sequence[str] = (),
    opinions: pd.DataFrame = NOBODY,
) -> Report:
    """A report of these tables; `said` are its first sentences, `opinions` (opinion, score,
    minority) the scores of single opinions. One on published scores has no sets.
    """
    results = catalogue("summaries").in_order(tables)
    told = [*said, *_sentences(sets, results)]
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


def _sentences(sets: Sequence[JudgedSet], results: Mapping[str, Result]) -> Iterator[str]:
    """What the tables say, sentence by sentence; nothing that they do not hold."""
    for one in sets:
        n = counted(len(one.opinions), "opinion")
        yield f"{one.study}: {n} on “{one.question}”."
    kinds = [own["kind"] for one in sets for own in one.judges.values()]
    if kinds and set(kinds) == {"citizen"}:
        yield sentence("summaries/null_only")
        if any(one.ratings["people"].any() for one in sets):
            yield sentence("summaries/beside")
    if "gaps" in results:
        yield from _left_out(results)
    if "overall" in results:
        scores = results["overall"].rows
        known = scores[(scores["dimension"] == OVERALL) & scores["score"].notna()]
        if len(known):
            yield from _first(results, "overall", known)
            pairs = results["pairs"].rows
            yield from _first(results, "pairs", pairs[pairs["p_holm"].notna()])
            if len(pairs) and pairs["p_holm"].isna().all():
                yield sentence("summaries/one_topic")
    yield from sayings("summaries", results, "length", "order", "place", "counts")


def _left_out(results: Mapping[str, Result]) -> Iterator[str]:
    """Which groups are represented less than random groups of their size, with what holds against
    it.
    """
    rows = results["gaps"].rows
    rows = rows[rows["model"] == rows["model"].iloc[0]] if len(rows) else rows
    for study, own in rows.groupby("study", sort=False):
        less = replace(results["gaps"], rows=own)
        yield from sayings("summaries", {"gaps": less}, "gaps")
        known = own[own["p_control"].notna()]
        if len(known) and not (known["verb"] == minorities.LESS).any():
            groups = counted(len(known), "group")
            yield f"{study}: of {groups} none is represented less than random groups of its size."
    yield from _first(results, "least_represented", results["least_represented"].rows)


def _first(results: Mapping[str, Result], name: str, rows: pd.DataFrame) -> Iterator[str]:
    """What the saying of a table says of the first of these rows, if there is any."""
    first = replace(results[name], rows=rows.head(1), why_not="")
    return sayings("summaries", {name: first}, name)


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
    tables: dict[str, Any] = {**given, "opinions": _opinions(scores)}
    if "overall" in given:
        overall = given["overall"]
        tables["overall"] = overall.assign(dimension=overall["dimension"].map(TITLES))
    if "sizes" in given:
        own = given["sizes"].dropna(subset=[OVERALL])
        tables["sizes"] = _several(own[own["model"] != "all"], "size")
    if "topics" in given:
        tables["topics"] = _several(given["topics"].dropna(subset=["relative"]), "topic")
    if "agreement" in given:
        tables["judges"] = _both_ways(given["agreement"].dropna(subset=["spearman"]))
    if "gaps" in given:
        tables["controls"] = _controls(given["gaps"].dropna(subset=["estimate", "control"]))
    if "order_bins" in given:
        tables["order_bins"] = _several(given["order_bins"], "first")
    return drawings_of("summaries", tables)


def _several(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows of a table that has several values in a column; none of another."""
    return table if table[column].nunique() > 1 else table.iloc[:0]


def _both_ways(agreement: pd.DataFrame) -> pd.DataFrame:
    """Every judge with every other, as rows and as columns."""
    turned = agreement.rename(columns={"a": "b", "b": "a"})
    found = pd.concat([agreement, turned]).sort_values(["a", "b"], kind="stable")
    return found.assign(dimension=found["dimension"].map(TITLES))


def _controls(gaps: pd.DataFrame) -> pd.DataFrame:
    """Gaps of groups over all summarisers, or the only one, and of random groups of their sizes."""
    own = gaps[gaps["model"] == gaps.groupby("study")["model"].transform("first")]
    several = own["study"].nunique() > 1
    label = own["study"] + ": " + own["group"] if several else own["group"]
    again = label.groupby(label).cumcount()  # sets of one study have the same groups
    label = label.where(again == 0, label + " (" + (again + 1).astype(str) + ")")
    parts = []
    for of, names in {"the group": GAP, "random groups": CONTROL}.items():
        part = own[list(names)].set_axis(["mean", "low", "high"], axis=1)
        parts.append(part.assign(group=label, of=of))
    return pd.concat(parts, ignore_index=True)


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


def votes_report(opinions: OpinionSet, voters: Sequence[Voter]) -> Report:
    """The report on the votes of these voters on opinions."""
    tally = Counter((id, one.group, vote) for one in voters for id, vote in one.last.items())
    votes = Votes(opinions, voters, tally)
    known = catalogue("votes")
    results = known.in_order(tables_of("votes", {"votes": [(votes,)]}, typical=TYPICAL))
    people, groups = counted(len(voters), "person", "people"), counted(len(votes.groups), "group")
    n = counted(len(opinions.texts), "opinion")
    told = [f"{opinions.study}: {n} on “{opinions.question}”; {people} voted, in {groups}."]
    first = {name: one for name, one in results.items() if name == "agreement"}
    told += sayings("votes", first, "agreement") if votes.groups else []
    about = {"study": opinions.study, "question": opinions.question}
    return Report(
        catalogue=known,
        title=f"Votes of {opinions.study}",
        results=results,
        about=about,
        told=told,
        summary=told,
        something=bool(tally),
        data=votes,
    )


def agreed(votes: Votes) -> list[Row]:
    """How many agree with each opinion, first the one with most agreement across groups."""
    groups, every = list(votes.groups), list({one.group for one in votes.voters})
    rows = []
    for text in votes.opinions.texts:
        counts = votes.counts(text.id, every)
        n = sum(counts)
        shares = [count / n if n else nan for count in counts]
        row: Row = {"opinion": text.id, "text": text.text, "votes": n}
        row |= {**dict(zip(VOTED, shares, strict=True)), "note": "" if n else "no_votes"}
        own = [votes.counts(text.id, [group]) for group in groups]
        known = [each[0] / sum(each) for each in own if sum(each)]
        row["least"] = min(known) if known and len(known) == len(groups) else nan
        row["informed"] = prod(map(_smoothed, own)) if groups and n else nan
        rows.append(row)
    by = "informed" if groups else "agrees"
    rows.sort(key=lambda row: -row[by] if row[by] == row[by] else 1)
    return [row | {"first": n == 0 and not row["note"]} for n, row in enumerate(rows)]


def typical_of_groups(votes: Votes) -> Iterator[Row]:
    """Of each opinion group those opinions with which it agrees most beside the others."""
    every = {one.group for one in votes.voters}
    for group, members in votes.groups.items():
        rows = []
        for text in votes.opinions.texts:
            own = votes.counts(text.id, [group])
            other = votes.counts(text.id, [one for one in every if one != group])
            if sum(own) and sum(other):
                row: Row = {"group": group, "members": members, "opinion": text.id}
                row |= {"text": text.text, "votes": sum(own), "agrees": own[0] / sum(own)}
                row |= {"others": other[0] / sum(other)}
                rows.append(row | {"ratio": _smoothed(own) / _smoothed(other)})
        yield from sorted(rows, key=lambda row: -row["ratio"])[:TYPICAL]


def _smoothed(counts: Sequence[int]) -> float:
    """The share that agrees, with one vote for and one against added."""
    return (counts[0] + 1) / (sum(counts) + 2)
