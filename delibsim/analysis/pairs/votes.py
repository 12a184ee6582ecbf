"""What scores rest on: votes by judge and by group, and how repeated votes agree."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from delibsim.analysis.pairs.fitted import Compared, Fitted, rows_of, spread_of
from delibsim.analysis.study.result import Result
from delibsim.domain.comparison import Vote
from delibsim.measures.bradley_terry.counts import repeats
from delibsim.measures.reliability.ratings import krippendorff_alpha

PAGE = "docs/compare.md#votes"

COUNTS = {
    "dimension": "the dimension",
    "judge": "the judge",
    "planned": "votes that were planned",
    "asked": "votes that were asked for and came back, with or without an outcome",
    "answered": "votes with an outcome",
    "used": "votes that the fit used",
    "missing": "votes without an outcome, by reason",
}


def counts(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """What was planned, asked, answered and used, by dimension and judge."""
    used = {own.dimension: _used(own) for own in fits}
    given: dict[tuple[str, str], list[Vote]] = {key: [] for key in _planned_first(compared)}
    for vote in compared.votes:
        given[vote.judge, vote.dimension].append(vote)
    rows = []
    for (judge, dimension), votes in given.items():
        missing = Counter(vote.missing.code for vote in votes if vote.missing)
        row: dict[str, Any] = {"dimension": dimension, "judge": judge}
        row["planned"] = compared.planned.get((judge, dimension), len(votes))
        row |= {"asked": len(votes), "answered": len(votes) - missing.total()}
        row["used"] = used.get(dimension, {}).get(judge, 0)
        row["missing"] = ", ".join(f"{n} {code}" for code, n in missing.items())
        rows.append(row)
    definition = (
        "A row a judge on a dimension. A vote without an outcome is left out of every fit, and so"
        " are all votes of a judge who always names one place, or always gives a tie."
    )
    return Result("counts", "Votes", definition, PAGE, rows_of(rows, COUNTS), COUNTS)


def _planned_first(compared: Compared) -> list[tuple[str, str]]:
    """Every judge and dimension that was planned or has a vote, by dimension."""
    there = {(vote.judge, vote.dimension): None for vote in compared.votes}
    keys = list(dict.fromkeys([*compared.planned, *there]))
    dimensions = list(dict.fromkeys(dimension for _, dimension in keys))
    return sorted(keys, key=lambda key: dimensions.index(key[1]))


def _used(own: Fitted) -> dict[str, int]:
    """How many votes of each judge the fit used."""
    found, model = own.fit, own.settings.model
    kept = np.isin(own.first, found.kept) & np.isin(own.second, found.kept)
    if model.kind == "bt" and model.ties == "dropped":
        kept &= own.outcome != 0
    if model.judges != "pooled":
        kept &= np.isin(own.judge, found.counts.judge)
    elif not len(found.counts.votes):
        kept[:] = False
    numbers = np.bincount(own.judge[kept], minlength=len(own.judges))
    return {judge: int(n) for judge, n in zip(own.judges, numbers, strict=True)}


GROUPS = {
    "dimension": "the dimension",
    "group": "the group",
    "texts": "texts that were compared",
    "pairs": "pairs that were judged",
    "votes": "votes with an outcome",
    "per_text": "mean number of votes a text",
    "ties": "share of ties",
    "components": "parts that no vote joins; 1 where all texts can be compared",
    "spread": "standard deviation of the scores (log odds)",
}


def groups(fits: Sequence[Fitted]) -> Result:
    """Texts, pairs and votes of every group."""
    rows = []
    for own in fits:
        names = np.array(own.groups)
        of_votes = names[own.first] if len(own.first) else np.array([])
        for group in dict.fromkeys(own.groups):
            texts, votes = names == group, of_votes == group
            n = int(texts.sum())
            low = np.minimum(own.first[votes], own.second[votes])
            high = np.maximum(own.first[votes], own.second[votes])
            rows.append(
                {
                    "dimension": own.dimension,
                    "group": group,
                    "texts": n,
                    "pairs": len(np.unique(low * len(names) + high)),
                    "votes": int(votes.sum()),
                    "per_text": 2 * votes.sum() / n,
                    "ties": float((own.outcome[votes] == 0).mean()),
                    "components": len(np.unique(own.fit.graph.component[texts])),
                    "spread": spread_of(own.fit.scores[texts]),
                }
            )
    definition = "A row a group on a dimension; texts are compared within their group."
    return Result("groups", "Groups", definition, PAGE, rows_of(rows, GROUPS), GROUPS)


RUNS = {
    "dimension": "the dimension",
    "judge": "the judge",
    "sheets": "sheets with a vote in every run",
    "runs": "runs of a sheet",
    "equal": "share of them with the same label in all runs",
    "some": "share with some labels that are equal",
    "different": "share with all labels different",
    "alpha": "Krippendorff's alpha of the labels of the runs, nominal",
    "note": "what must be known of the runs",
}
IDENTICAL = "runs_identical"


def runs(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """How alike the votes of several runs of the same sheet are."""
    several = fits if compared.asked.runs > 1 else ()
    rows = [_runs(compared, own, judge) for own in several for judge in own.judges]
    definition = (
        "A row a judge: how often its runs of a sheet agree. A lone vote agrees with itself, so"
        " that a high share says nothing of quality."
    )
    return Result(
        name="runs",
        title="Runs",
        definition=definition,
        source=PAGE,
        rows=rows_of(rows, RUNS),
        meanings=RUNS,
        why_not="" if rows else "one_run",
        detail="" if rows else "every sheet was judged once; ask with runs=3",
    )


def _runs(compared: Compared, own: Fitted, judge: str) -> dict[str, Any]:
    """How the votes of the runs of one judge agree, over sheets with a vote in each run."""
    labels: dict[tuple[str, str], list[int]] = defaultdict(list)
    place = own.judges.index(judge)
    for vote, outcome, by in zip(own.votes, own.outcome, own.judge, strict=True):
        if by == place:
            labels[vote.sheet.a, vote.sheet.b].append(int(outcome))
    whole = [given for given in labels.values() if len(given) == compared.asked.runs]
    found = repeats(np.array(whole).reshape(len(whole), compared.asked.runs))
    n = len(whole) or float("nan")
    drawn = bool(compared.asked.temperature) and len(whole) > 1
    row: dict[str, Any] = {"dimension": own.dimension, "judge": judge, "sheets": len(whole)}
    row |= {"runs": compared.asked.runs, "equal": found.equal / n, "some": found.some / n}
    row |= {"different": found.different / n, "alpha": krippendorff_alpha(whole) if whole else None}
    return row | {"note": IDENTICAL if drawn and found.identical else ""}
