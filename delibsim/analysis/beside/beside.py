"""Two runs beside each other: what was set, said, answered, measured and paid."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from delibsim.analysis.beside.answers import AnswerPair, agreement, answer_pairs
from delibsim.analysis.beside.cost import Cost, cost_of_run
from delibsim.analysis.beside.measures import MeasurePair, measure_pairs
from delibsim.analysis.beside.settings import SettingPair, settings_that_differ
from delibsim.analysis.beside.turns import TurnPair, same_until, turn_pairs
from delibsim.analysis.collective_statement import statement_of
from delibsim.analysis.debate_ratings import mean_ratings
from delibsim.analysis.run_transcript import lineage
from delibsim.domain.measure import HEADINGS, Measure
from delibsim.domain.run import Run, Session
from delibsim.domain.score import IndividualChange, Score
from delibsim.domain.survey import PHASES
from delibsim.domain.text import counted
from delibsim.domain.word_differences import Piece


@dataclass(frozen=True)
class Side:
    """One of two runs: its name (study/session), the run, its scores, and its log of calls as plain
    values, of which some lines may be damaged.
    """

    name: str
    run: Run
    scores: Sequence[Score] = ()
    records: Sequence[Mapping[str, Any]] = ()
    damaged_lines: int = 0


@dataclass(frozen=True)
class PersonPair:
    """How one person's answers changed in two runs; None where the run has no such value."""

    participant: str
    a: IndividualChange | None
    b: IndividualChange | None


@dataclass(frozen=True)
class RatingPair:
    """A mean over the raters of two debates; None where a debate has none."""

    what: str
    a: float | None
    b: float | None


Sought = tuple[str, str] | None
"""A collective statement, "" where there is none, and how it was chosen, or why there is none."""


@dataclass(frozen=True)
class Beside:
    """Two runs beside each other: `names` and `statuses` of the first and the second, and in pairs
    their settings that differ, turns, answers, changes of persons, measures, costs, collective
    statements (with how each was chosen; None where none was sought) and mean ratings of debates.
    """

    names: tuple[str, str]
    statuses: tuple[str, str]
    settings: tuple[SettingPair, ...]
    turns: tuple[TurnPair, ...]
    answers: tuple[AnswerPair, ...]
    people: tuple[PersonPair, ...]
    measures: tuple[MeasurePair, ...]
    costs: tuple[Cost, Cost]
    statements: tuple[Sought, Sought] = (None, None)
    ratings: tuple[RatingPair, ...] = ()
    relation: tuple[str, ...] = field(default=())

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        a, b = self.names
        return {
            "a": {"run": a, "status": self.statuses[0], **asdict(self.costs[0])},
            "b": {"run": b, "status": self.statuses[1], **asdict(self.costs[1])},
            "relation": list(self.relation),
            "settings": [_plain_setting(pair) for pair in self.settings],
            "turns": [_plain_turn(pair) for pair in self.turns],
            "answers": [_plain_answer(pair) for pair in self.answers],
            "people": [_plain_person(pair) for pair in self.people],
            "measures": [_plain_measure(pair) for pair in self.measures],
            "statements": [_plain_statement(sought) for sought in self.statements],
            "ratings": [asdict(pair) for pair in self.ratings],
        }


def beside(a: Side, b: Side, measures: Mapping[str, Measure]) -> Beside:
    """Two runs beside each other; `measures` are those of the scorers, by id."""
    turns, answers = turn_pairs(a.run, b.run), answer_pairs(a.run, b.run)
    one_survey = a.run.session.survey == b.run.session.survey
    return Beside(
        names=(a.name, b.name),
        statuses=(a.run.status, b.run.status),
        settings=settings_that_differ(a.run.session, b.run.session),
        turns=turns,
        answers=answers,
        people=_people(a.run, b.run),
        measures=measure_pairs(a.scores, b.scores, measures, one_survey),
        costs=(
            cost_of_run(a.records, a.damaged_lines),
            cost_of_run(b.records, b.damaged_lines),
        ),
        statements=(_sought(a.run), _sought(b.run)),
        ratings=_ratings(a.run, b.run),
        relation=tuple(_relation(a, b, turns, answers)),
    )


def _sought(run: Run) -> Sought:
    return None if run.consensus is None else statement_of(run.consensus)


def _ratings(a: Run, b: Run) -> tuple[RatingPair, ...]:
    """Means over the attentive raters of both, where both are debates."""
    if a.session.kind != b.session.kind:
        return ()
    first, second = mean_ratings(a), mean_ratings(b)
    names = dict.fromkeys([*first, *second])
    return tuple(RatingPair(name, first.get(name), second.get(name)) for name in names)


def _people(a: Run, b: Run) -> tuple[PersonPair, ...]:
    """How everybody changed in both runs; nobody of a debate, which has no such survey."""
    from delibsim.analysis.individual_change import rows_of

    first = {row.participant: row for row in rows_of(a)}
    second = {row.participant: row for row in rows_of(b)}
    names = {**first, **second}
    return tuple(PersonPair(name, first.get(name), second.get(name)) for name in names)


def _relation(
    a: Side,
    b: Side,
    turns: Sequence[TurnPair],
    answers: Sequence[AnswerPair],
) -> Iterator[str]:
    """What two runs have in common, in sentences."""
    one, other = a.run.session, b.run.session
    drawn = [(own.seed, own.topic.id, own.replicate) for own in (one, other)]
    if one.parentage or other.parentage:
        for name, session in (("A", one), ("B", other)):
            yield from (f"{name} is {told}" for told in lineage(session))
    elif drawn[0] == drawn[1]:
        seed = f"seed {one.seed}, topic {one.topic.id}, replicate {one.replicate}"
        yield f"one replicate ({seed}): what is drawn at random is drawn alike"
    else:
        kinds = {"topic": (one.topic.id, other.topic.id), "seed": (one.seed, other.seed)}
        kinds["replicate"] = (one.replicate, other.replicate)
        unlike = [f"{kind} ({x}, {y})" for kind, (x, y) in kinds.items() if x != y]
        yield f"another {' and '.join(unlike)}: what is drawn at random is drawn anew"
    if any(pair.a or pair.b for pair in turns):
        alike = sum(pair.same for pair in turns)
        words = f"{alike} of {counted(len(turns), 'turn')} the same, word for word"
        until = same_until(turns)
        yield words + (f", the first {until} of them" if until > 1 and until != alike else "")
    yield from _on_answers(one, other, answers)


def _on_answers(one: Session, other: Session, answers: Sequence[AnswerPair]) -> Iterator[str]:
    """How many answers differ, or why none can be compared."""
    if not answers:
        yield "nobody was surveyed in either"
    elif not (one.respondents and other.respondents):
        yield f"nobody was surveyed in {'B' if one.respondents else 'A'}: no answer can be compared"
    elif not any(pair.a and pair.b for pair in answers):
        yield "no participant and item in common: no answer can be compared"
    else:
        for phase in PHASES:
            found = agreement(answers, phase)
            told = f"{found.different} of {counted(found.compared, 'answer')} different"
            yield f"{told} {HEADINGS[phase]}"


def _plain_statement(sought: Sought) -> dict[str, str] | None:
    return None if sought is None else {"statement": sought[0], "chosen": sought[1]}


def _plain_pieces(pieces: Sequence[Piece]) -> list[list[str]]:
    return [[piece.kind, piece.text] for piece in pieces]


def _plain_setting(pair: SettingPair) -> dict[str, Any]:
    plain = {"name": pair.name, "a": pair.a, "b": pair.b}
    return plain | {"words": _plain_pieces(pair.pieces)}


def _plain_turn(pair: TurnPair) -> dict[str, Any]:
    sides: dict[str, Any] = {}
    for name, said in (("a", pair.a), ("b", pair.b)):
        sides[name] = None
        if said is not None:
            words = {"text": said.text, "missing": said.missing, "given": said.given}
            sides[name] = vars(said.turn) | words
    return sides | {"same": pair.same, "words": _plain_pieces(pair.pieces)}


def _plain_answer(pair: AnswerPair) -> dict[str, Any]:
    return {
        "participant": pair.participant,
        "item": pair.item.id,
        "kind": pair.item.kind,
        "text": pair.item.text,
        "a": asdict(pair.a) if pair.a else None,
        "b": asdict(pair.b) if pair.b else None,
    }


def _plain_person(pair: PersonPair) -> dict[str, Any]:
    return {
        "participant": pair.participant,
        "a": pair.a.plain() if pair.a else None,
        "b": pair.b.plain() if pair.b else None,
    }


def _plain_measure(pair: MeasurePair) -> dict[str, Any]:
    return {
        "measure": pair.measure.id,
        "phase": pair.phase,
        "coder": pair.coder,
        "a": asdict(pair.a) if pair.a else None,
        "b": asdict(pair.b) if pair.b else None,
        "difference": pair.difference,
        "why_not": pair.why_not,
    }
