"""The summaries of a study and their judgments as tables of its export."""

from collections.abc import Iterator
from typing import Any

from delibsim.domain.judgment import DIMENSIONS, LABELS, Judgment
from delibsim.store.judgments import Judgments
from delibsim.store.runs import Runs
from delibsim.store.summaries import Summaries
from delibsim.store.tables.codebook import Column
from delibsim.store.tables.sheets import Table
from delibsim.store.trained_scores import TrainedScores, trained_judges_of

STUDY = Column("study", "text", "name of the study")
MISSING = Column("missing", "text", "why there is none: reason code, and detail behind a colon")
SUMMARY = (
    STUDY,
    Column("task", "text", "name of the set of summaries"),
    Column("summary", "text", "name of the summary"),
    Column("model", "text", "who summarised"),
    Column(
        "size", "integer", "opinions drawn for it, those of other groups among them", "opinions"
    ),
    Column("draw", "integer", "which drawn subset of that size, from 1"),
    Column("run", "integer", "which order of the opinions, from 1"),
    Column("group", "text", "the stance or theme that it is of; empty: the whole"),
    Column("words", "integer", "words of the summary, between blanks", "words"),
    Column("sha256", "text", "SHA-256 of the summary"),
    Column("text", "text", "the summary, word for word"),
    MISSING,
)
JUDGE = (
    STUDY,
    Column("task", "text", "name of the set of judgments"),
    Column("summaries", "text", "name of the set of summaries"),
    Column("judge", "text", "who judged"),
    Column("judge_kind", "text", "what the judge is", "", "model; human"),
)
OPINION = Column("opinion", "text", "id of the opinion beside which it was judged, as in texts")
RATED = tuple(
    Column(name, "integer", f"rating of {label}", "", "1 to 5") for name, label in LABELS.items()
)
COMPARED = tuple(
    Column(name, "integer", f"comparison of {label}", "", "1 A much better ... 5 B much better")
    for name, label in LABELS.items()
)
RATING = (
    *JUDGE,
    Column("summary", "text", "the summary that was rated"),
    OPINION,
    Column("control", "logical", "whether the summary was written from other opinions: a placebo"),
    *RATED,
    MISSING,
)
COMPARISON = (
    *JUDGE,
    Column("a", "text", "the summary shown as A"),
    Column("b", "text", "the summary shown as B"),
    OPINION,
    Column("first", "text", "of people: the summary that was rated before; empty otherwise"),
    *COMPARED,
    MISSING,
)


TRAINED = (
    STUDY,
    Column("summaries", "text", "name of the set of summaries"),
    Column("judge", "text", "the trained judge"),
    Column("checkpoint", "text", "twelve characters of the hash of its files"),
    Column("summary", "text", "the summary that was scored"),
    OPINION,
    *(
        Column(name, "number", f"score of {label}, as the network gave it", "", "about 0 to 1")
        for name, label in LABELS.items()
    ),
)


def summary_tables(runs: Runs, faults: list[str] | None = None) -> list[Table]:
    """The tables `summaries`, `judgments` and `summary_comparisons` of a study, with
    `trained_scores` where a trained judge scored; none where nothing was summarised. Damaged lines
    are left out and told in `faults`.
    """
    if not Summaries.names(runs):
        return []
    ratings, compared = _judgments(runs, False, None), _judgments(runs, True, faults)
    tables = [
        Table("summaries", "one row a summary", SUMMARY, _summaries(runs, faults)),
        Table("judgments", "one row a summary, opinion and judge", RATING, ratings),
        Table("summary_comparisons", "one row a pair and judge", COMPARISON, compared),
    ]
    if trained_judges_of(runs):
        about = "one row a summary, opinion and trained judge"
        tables.append(Table("trained_scores", about, TRAINED, _trained(runs, faults)))
    return tables


def _summaries(runs: Runs, faults: list[str] | None) -> Iterator[list[Any]]:
    for name in Summaries.names(runs):
        for one in Summaries.of(runs, name).all(faults):
            slot = one.slot
            row: list[Any] = [runs.study, name, one.id, slot.model, slot.size, slot.draw, slot.run]
            made = [one.words, one.sha256, one.text] if one.text else [None, None, None]
            reason = None if one.reason is None else str(one.reason)
            yield [*row, slot.group or None, *made, reason]


def _judgments(runs: Runs, two: bool, faults: list[str] | None) -> Iterator[list[Any]]:
    for name in Judgments.names(runs):
        own = Judgments.of(runs, name)
        task = str(own.files.task().get("summaries", ""))
        for kind, given in (("model", own.all(faults)), ("human", own.people(faults))):
            for one in given:
                if bool(one.sitting.other) == two:
                    yield [runs.study, name, task, one.judge, kind, *_cells(one, two)]


def _trained(runs: Runs, faults: list[str] | None) -> Iterator[list[Any]]:
    for judge in trained_judges_of(runs):
        own = TrainedScores.of(runs, judge)
        task = own.files.task()
        begin = [runs.study, task.get("summaries"), judge, task.get("checkpoint")]
        for one in own.all(faults):
            values = [float(one.values[name]) for name in DIMENSIONS]
            yield [*begin, one.summary, one.opinion, *values]


def _cells(one: Judgment, two: bool) -> list[Any]:
    sitting = one.sitting
    if two:
        named: list[Any] = [sitting.summary, sitting.other, sitting.opinion, one.first or None]
    else:
        named = [sitting.summary, sitting.opinion, sitting.control]
    values = [one.values.get(name) for name in DIMENSIONS]
    return [*named, *values, None if one.reason is None else str(one.reason)]
