"""The tables of one run for reading: answers, measures beside people's, votes on a collective
statement, ratings of a debate; and what must be known of them, in sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from delibsim.analysis.run.leave_out import NOT_SHOWN
from delibsim.analysis.run.summary import UNPHASED, Summary
from delibsim.analysis.table import (
    DisplayColumn,
    DisplayTable,
    number,
    numbers,
    of_participants,
    texts,
)
from delibsim.domain.annotation import DIMENSIONS, AnnotatedRun, Rating
from delibsim.domain.consensus import LEFT_OUT, MEDIATOR, Consensus, ConsensusVote
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Run
from delibsim.domain.score import HEADINGS, SCORE_PHASES, Measure, heading_of
from delibsim.domain.survey import PHASES, WAVE, Phase
from delibsim.domain.text import counted
from delibsim.store.tables.session_rows import consensus_rows

BESIDE = 6
"""The number of participants in one table of answers."""
DECIDED = {
    "schulze": "by Schulze's method",
    "ballot": "by Schulze's method and, among those tied, a ballot that was drawn",
    "lot": "by Schulze's method and, among those tied, lot",
    "only": "as the only candidate",
}
NAMES = {"first": "Vote before the critique", "second": "Vote after the critique"}
SHOWN = "performance"
"""The dimension of ratings that stands in a table: the overall judgment."""
RATERS = "attentive raters (n)"
"""What stands for the number of raters whose answers are averaged."""


def answers_to(
    run: Run, item: str, waves: Sequence[Phase] = PHASES
) -> Iterator[tuple[int | None, ...]]:
    """Everybody's answers to an item in these surveys, in the order of those who were asked; None
    where one is missing.
    """
    for person in run.session.respondents:
        yield tuple(run.response(person.id, phase).answers.get(item) for phase in waves)


def tables_of_answers(run: Run) -> Iterator[DisplayTable]:
    """The answers of all, before > after, with surveys in between, one column a participant."""
    waves = run.session.waves
    people, survey = [person.id for person in run.session.respondents], run.session.survey
    scale = f"{survey.scale_min} to {survey.scale_max}"
    told = " > ".join(map(heading_of, waves))
    title = f"Answers {told} ({scale}; P1, P2, ...: ranks, 1 is best)"
    for first in range(0, len(people), BESIDE):
        beside = slice(first, first + BESIDE)
        rows = []
        for item in survey.items:
            given = list(answers_to(run, item.id, waves))[beside]
            cells = [" > ".join(map(_or_not, own)) for own in given]
            rows.append([f"{item.id} {item.text}", *cells])
        yield DisplayTable([*texts("item"), *of_participants(people[beside])], rows, title)


def _or_not(value: Any) -> str:
    return "?" if value is None else str(value)


def table_of_measures(summary: Summary, measures: Mapping[str, Measure]) -> DisplayTable:
    """The measures by phase, beside those of people where they are known; `measures` are those of
    the scorers, by id.
    """
    people, values = summary["human"], summary["measures"]
    unphased = any(UNPHASED in own for own in values.values())
    null = set(summary["models"].values()) == {"citizen"}
    own_group = "null citizen" if null else "this group"
    waves = sorted({name for own in values.values() for name in own if name.startswith(WAVE)})
    phases = (PHASES[0], *waves, *SCORE_PHASES[1:])
    columns = texts("measure")
    columns += numbers(map(heading_of, phases), own_group if people else "")
    if unphased:
        columns.append(DisplayColumn(UNPHASED))
    if people:
        columns += numbers(HEADINGS.values(), f"people (n {people['n']})")
    rows = []
    for name, own in values.items():
        measure = measures[name]
        row = [measure.label, *_phases(own, measure, phases)]
        if unphased:
            row.append(number(own.get(UNPHASED)))
        if people:
            of_people = {phase: people[phase].get(name) for phase in SCORE_PHASES}
            row += _phases(of_people, measure, SCORE_PHASES)
        rows.append(row)
    return DisplayTable(columns, rows, "Measures")


def _phases(
    values: Mapping[str, float | None], measure: Measure, phases: Sequence[str]
) -> list[str]:
    """Values in these phases, that of the change with its sign where it is a difference."""
    *surveys, change = (values.get(phase) for phase in phases)
    return [*map(number, surveys), number(change, measure.signed)]


def speeches_in_words(summary: Summary) -> Iterator[tuple[str, str]]:
    """The speeches of a debate: what stands above each, and its text."""
    for speech in summary["speeches"]:
        remarks = [counted(speech["words"], "word")]
        if speech["cut"]:
            remarks.append("cut because it was too long")
        if speech["broken"]:
            remarks.append(f"breaks the rules: {', '.join(speech['broken']).replace('_', ' ')}")
        yield f"{speech['speaker']}, {speech['task']} ({', '.join(remarks)})", speech["text"]


def stances_in_words(summary: Summary) -> Iterator[str]:
    """The stance of each respondent before and after."""
    for name, *values in summary["stances"]:
        before, after = ("-" if value is None else value for value in values)
        yield f"{name}: stance {before} before, {after} after"


def statement_of(consensus: Consensus) -> tuple[str, str]:
    """The collective statement and what it was chosen by; the first is "" where there is none, and
    the second says why.
    """
    found, vote = consensus.statement, consensus.last
    if found is not None:
        chosen = f"{found.id}, chosen {DECIDED[vote.decided]}"
        return found.text, f"{chosen}, {counted(len(vote.cast) + _hidden(vote), 'ballot')}"
    if not vote.standing:
        return "", "no statement: the mediator wrote none"
    return "", "no statement: nobody voted"


def tables_of_votes(consensus: Consensus) -> Iterator[DisplayTable]:
    """Ranks and agreement of everybody, a table a vote, a row a statement."""
    for name in NAMES:
        vote = getattr(consensus, name)
        if vote is None or not vote.rankings:
            continue
        rows = []
        for candidate in vote.standing:
            cells = []
            for ranking in vote.rankings:
                given = ranking.missing is None
                rank, agreed = ranking.ranks.get(candidate.id), ranking.agreement.get(candidate.id)
                cells.append(f"{rank} ({agreed})" if given else "?")
            won = " (won)" if candidate.id == vote.winner else ""
            rows.append([f"{candidate.id}{won}", *cells])
        people = of_participants([ranking.participant for ranking in vote.rankings])
        title = f"{NAMES[name]}: rank (agreement, 1 to 7)"
        yield DisplayTable([*texts("statement"), *people], rows, title)


def table_of_texts(sought: Consensus) -> DisplayTable:
    """Every position, statement and critique of a collective statement, in its order."""
    rows = []
    for table, row in consensus_rows(sought):
        if table == "consensus_texts":
            said = row["text"] or f"(missing: {row['reason']})"
            rows.append([row.get("text_id", ""), row["kind"], row["author"], said])
    heads = texts("statement", "what", "by", "text")
    return DisplayTable(heads, rows, "What was written for the collective statement")


def on_consensus(consensus: Consensus) -> Iterator[str]:
    """Whom the statement leaves out, and what is missing, in sentences."""
    last = consensus.last
    if last.winner:
        agreement = last.agreement(last.winner)
        out = [f"{name} ({value})" for name, value in agreement.items() if value <= LEFT_OUT]
        whose = "nobody whose vote is shown" if _hidden(last) else "nobody who voted"
        listed = ", ".join(out) or whose
        yield f"left out (agreement of {LEFT_OUT} or less): {listed}"
    for name, occasion, reason in consensus.gaps:
        who = "the mediator" if name == MEDIATOR else name
        yield f"missing: {who}, {occasion}: {reason}"


def _hidden(vote: ConsensusVote) -> int:
    """How many ballots were cast and are not shown, because people's are left out."""
    reasons = (ranking.missing for ranking in vote.rankings)
    return sum(reason is not None and reason.code == NOT_SHOWN for reason in reasons)


def ratings_of(run: Run) -> tuple[Rating, ...]:
    """The ratings of a debate; none of another run."""
    return run.ratings if isinstance(run, AnnotatedRun) else ()


def values_of_rating(rating: Rating) -> dict[str, int | str | None]:
    """Everything that a rater said by name ("before", "winner", "proposition.logic"), None where it
    is missing.
    """
    found: dict[str, int | str | None] = {"before": rating.before, "after": rating.after}
    found["winner"] = rating.winner
    for side in SIDES:
        for dimension in DIMENSIONS:
            found[f"{side}.{dimension}"] = rating.of(side).get(dimension)
    return found


def table_of_ratings(run: Run) -> DisplayTable:
    """A row a rater: stances, the winner it named, and its overall judgment of both sides."""
    names = ("before", "after", *(f"{side}.{SHOWN}" for side in SIDES))
    rows = []
    for rating in ratings_of(run):
        values = values_of_rating(rating)
        cells = [_or_not(values[name]) for name in names]
        rows.append([rating.rater, rating.winner or "?", *cells])
    heads = ["stance before", "after", *(f"{SHOWN} of the {side}" for side in SIDES)]
    return DisplayTable([*texts("rater", "winner"), *numbers(heads)], rows, "Ratings (0 to 100)")


def tables_of_raters(ratings: Sequence[Rating]) -> list[DisplayTable]:
    """The mean of each dimension by side over the ratings that have it, and what each rater said;
    nothing where nobody rated.
    """
    if not ratings:
        return []
    rows = []
    for dimension in DIMENSIONS:
        cells = [dimension]
        for side in SIDES:
            rated = [one.of(side) for one in ratings]
            given = [values[dimension] for values in rated if dimension in values]
            cells += [number(fmean(given)) if given else number(None), str(len(given))]
        rows.append(cells)
    columns = texts("dimension")
    for side in SIDES:
        columns += numbers(["mean", "n"], side)
    means = DisplayTable(columns, rows, "Ratings by dimension (0 to 100)")
    columns = [*texts("rater"), *numbers(["stance before", "stance after"])]
    columns += texts("winner", "attention check", "missing")
    rows = []
    for rating in ratings:
        gaps = ", ".join(f"{name}: {why}" for name, why in rating.missing.items())
        check = {True: "passed", False: "failed", None: None}[rating.attentive]
        said = (rating.before, rating.after, rating.winner, check, gaps or None)
        shown = [number(None) if one is None else str(one) for one in said]
        rows.append([rating.rater, *shown])
    return [means, DisplayTable(columns, rows, "What each rater said")]


def on_ratings(run: Run) -> Iterator[str]:
    """What must be known of the ratings of a debate, in sentences."""
    failed = [rating.rater for rating in ratings_of(run) if rating.attentive is False]
    if failed:
        yield f"attention check failed: {', '.join(failed)}"
    for rating in ratings_of(run):
        reasons: dict[str, list[str]] = {}
        for name, reason in rating.missing.items():
            reasons.setdefault(str(reason), []).append(name)
        for reason, names in reasons.items():
            yield f"missing: {rating.rater}, {counted(len(names), 'answer')}: {reason}"


def mean_ratings(run: Run) -> Mapping[str, float]:
    """Means over the attentive raters of a debate who said so much, by what was asked; empty where
    there are none.
    """
    given: dict[str, list[float]] = {}
    attentive = [rating for rating in ratings_of(run) if rating.attentive is not False]
    for rating in attentive:
        before, after = rating.before, rating.after
        if before is not None and after is not None:
            given.setdefault("change of stance", []).append(after - before)
        for side in SIDES:
            for dimension in DIMENSIONS:
                value = rating.of(side).get(dimension)
                if value is not None:
                    given.setdefault(f"{dimension} of the {side}", []).append(value)
    means = {name: fmean(values) for name, values in given.items()}
    return {RATERS: len(attentive), **means} if attentive else {}
