"""Two runs beside each other: what was set, said, answered, measured and paid, in pairs."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import zip_longest
from math import isnan
from typing import Any

from delibsim.analysis.calls import cost_usd, readable
from delibsim.analysis.run.tables import mean_ratings
from delibsim.analysis.run.view import RunView, TranscriptLine, lineage
from delibsim.domain.run import Run, Session
from delibsim.domain.score import HEADINGS, IndividualChange, Measure, Score, of_whole_runs
from delibsim.domain.survey import PHASES, Phase
from delibsim.domain.text import counted
from delibsim.domain.word_differences import Piece, word_differences


def in_pieces(pieces: Sequence[Piece]) -> list[list[str]]:
    """The pieces of two texts as plain values."""
    return [[piece.kind, piece.text] for piece in pieces]


@dataclass(frozen=True)
class TurnPair:
    """A turn of two runs with one speaker and task; None where one run has no such turn."""

    a: TranscriptLine | None
    b: TranscriptLine | None

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The differences in words; none where only one run has a statement."""
        if self.a is None or self.b is None or self.a.missing or self.b.missing:
            return ()
        return word_differences(self.a.said, self.b.said)

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        sides: dict[str, Any] = {}
        for name, said in (("a", self.a), ("b", self.b)):
            sides[name] = None if said is None else said.plain()
        return sides | {"same": self.same, "words": in_pieces(self.pieces)}

    @property
    def same(self) -> bool:
        """Whether the same was said, word for word, or nothing for the same reason."""
        if self.a is None or self.b is None:
            return False
        return (self.a.said, self.a.missing) == (self.b.said, self.b.missing)


def turn_pairs(
    first: Sequence[TranscriptLine], second: Sequence[TranscriptLine]
) -> tuple[TurnPair, ...]:
    """The turns of two runs beside each other, none left out.

    Where the same speakers had the same tasks, as far as both runs go, turns go together by number.
    Otherwise those with the same words go together first; then, between these, those of one
    speaker in the same order; then what one speaker said in one round. A turn that was inserted
    or left out stands alone. Turns stand in the order of the first run.
    """
    if all(one.words[:2] == other.words[:2] for one, other in zip(first, second, strict=False)):
        return tuple(TurnPair(*pair) for pair in zip_longest(first, second))
    together = _together(first, second)
    partner = {j: i for i, j in together.items()}
    placed = []
    for i, one in enumerate(first):
        j = together.get(i)
        placed.append(((i, 0, 0), TurnPair(one, None if j is None else second[j])))
    last = -1
    for j, one in enumerate(second):
        last = partner.get(j, last)
        if j not in partner:
            placed.append(((last, 1, j), TurnPair(None, one)))
    return tuple(pair for _, pair in sorted(placed, key=lambda place: place[0]))


def _together(first: Sequence[TranscriptLine], second: Sequence[TranscriptLine]) -> dict[int, int]:
    """Which turns of the second run go with which of the first, by their places."""
    found: dict[int, int] = {}
    whole = [(0, len(first), 0, len(second))]
    for key in ("words", "place"):
        gaps = []
        keys = [getattr(one, key) for one in first]
        others = [getattr(one, key) for one in second]
        for i, i_end, j, j_end in whole:
            parts = keys[i:i_end], others[j:j_end]
            for tag, k, k_end, m, m_end in SequenceMatcher(None, *parts, False).get_opcodes():
                if tag == "equal":
                    found.update(zip(range(i + k, i + k_end), range(j + m, j + m_end), strict=True))
                else:
                    gaps.append((i + k, i + k_end, j + m, j + m_end))
        whole = gaps
    left: dict[tuple[int, str, str], list[int]] = {}
    taken = set(found.values())
    for j, one in enumerate(second):
        if j not in taken:
            left.setdefault(one.place, []).append(j)
    for i, one in enumerate(first):
        if i not in found and left.get(one.place):
            found[i] = left[one.place].pop(0)
    return found


def same_until(pairs: Sequence[TurnPair]) -> int:
    """How many turns at the beginning are the same in both runs."""
    n = 0
    while n < len(pairs) and pairs[n].same:
        n += 1
    return n


OTHER_SURVEY = "other_survey"
"""Why there is no difference: the measure depends on the survey, and the runs have another."""
NOUNS = ("treatment", "wording", "procedure")
PLAIN = ("format", "seed", "replicate", "personas")
"""The fields of a session that are compared, beside its topic, survey, participants and models."""


@dataclass(frozen=True)
class ValuePair:
    """What two runs have of one thing, which `of` names; None where a run has nothing of it.

    The things are settings (texts, by name), a participant's answers to an item (`Answers`),
    changes of participants (`IndividualChange`), measures by phase and coder (`Value`), and means
    over raters by what was asked (numbers). `difference` is the second value less the first, None
    where there is none; `why_not` says why where both have a value.
    """

    of: Mapping[str, str]
    a: Any
    b: Any
    difference: float | None = None
    why_not: str = ""

    @property
    def same(self) -> bool:
        """Whether both runs have the same, and miss the same."""
        return self.a == self.b

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        found = {**self.of, "a": _plain(self.a), "b": _plain(self.b)}
        if isinstance(self.a or self.b, Value):
            found |= {"difference": self.difference, "why_not": self.why_not}
        return found


@dataclass(frozen=True)
class ItemAnswers:
    """One person's answers to one item; None where one is missing, and the reason then."""

    before: int | None
    after: int | None
    why_not_before: str = ""
    why_not_after: str = ""


@dataclass(frozen=True)
class Value:
    """A value of a measure; None where it is undefined, and the reason code then."""

    value: float | None
    why_not: str = ""


@dataclass(frozen=True)
class Cost:
    """The recorded calls of a run, with their failed attempts; None where a number is unknown."""

    calls: int
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None


@dataclass(frozen=True)
class Beside:
    """Two runs, and in pairs their settings that differ, turns, answers, changes of persons,
    measures (`known` by id), and mean ratings of debates.
    """

    runs: tuple[RunView, RunView]
    known: Mapping[str, Measure]
    settings: tuple[ValuePair, ...]
    turns: tuple[TurnPair, ...]
    answers: tuple[ValuePair, ...]
    people: tuple[ValuePair, ...]
    measures: tuple[ValuePair, ...]
    ratings: tuple[ValuePair, ...]

    @property
    def costs(self) -> tuple[Cost, Cost]:
        """What the calls of either came to."""
        a, b = self.runs
        return cost_of_run(a.records, a.damaged_lines), cost_of_run(b.records, b.damaged_lines)

    @property
    def statements(self) -> tuple[Any, Any]:
        """The collective statements, each with how it was chosen; None where none was sought."""
        return self.runs[0].statement, self.runs[1].statement

    @property
    def relation(self) -> list[str]:
        """What the two runs have in common, in sentences."""
        return list(_relation(self))

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        sides = {}
        for letter, run, cost in zip("ab", self.runs, self.costs, strict=True):
            sides[letter] = {"run": run.name, "status": run.run.status, **asdict(cost)}
        statements: list[dict[str, str] | None] = []
        for sought in self.statements:
            both = None if sought is None else {"statement": sought[0], "chosen": sought[1]}
            statements.append(both)
        return sides | {
            "relation": self.relation,
            "settings": [_plain_setting(pair) for pair in self.settings],
            "turns": [pair.plain() for pair in self.turns],
            "answers": [pair.plain() for pair in self.answers],
            "people": [pair.plain() for pair in self.people],
            "measures": [pair.plain() for pair in self.measures],
            "statements": statements,
            "ratings": [pair.plain() for pair in self.ratings],
        }


def beside(a: RunView, b: RunView, measures: Mapping[str, Measure]) -> Beside:
    """Two runs beside each other; `measures` are those of the scorers, by id."""
    one, other = a.run.session, b.run.session
    changes = {row.participant: row for row in a.changes}
    changes_of_other = {row.participant: row for row in b.changes}
    ratings: list[Mapping[str, float]] = [{}, {}]
    if one.kind == other.kind:
        ratings = [mean_ratings(a.run), mean_ratings(b.run)]
    return Beside(
        runs=(a, b),
        known=measures,
        settings=settings_that_differ(one, other),
        turns=turn_pairs(a.lines, b.lines),
        answers=answer_pairs(a.run, b.run),
        people=paired(changes, changes_of_other, "participant"),
        measures=measure_pairs(a.scores, b.scores, measures, one.survey == other.survey),
        ratings=paired(ratings[0], ratings[1], "what"),
    )


def paired(
    first: Mapping[Any, Any], second: Mapping[Any, Any], *named: str
) -> tuple[ValuePair, ...]:
    """The values of two runs by their keys, those of the first in their order, then those of the
    second alone; `named` says what the parts of a key are.
    """
    found = []
    for key in dict.fromkeys([*first, *second]):
        parts = key if isinstance(key, tuple) else (key,)
        of = dict(zip(named, parts, strict=True))
        found.append(ValuePair(of, first.get(key), second.get(key)))
    return tuple(found)


def settings_that_differ(a: Session, b: Session) -> tuple[ValuePair, ...]:
    """The settings in which two sessions differ, in the order of a session.

    Items of surveys are compared where both have the survey; where not, its name says it. Models of
    two names that have the same seats are compared as one, called by both names.
    """
    called = _in_the_same_seats(a, b)
    found = []
    settings = dict(_settings(a, called[0])), dict(_settings(b, called[1]))
    for pair in paired(*settings, "name"):
        of_survey = pair.of["name"].startswith("survey.") and pair.of["name"] != "survey.id"
        if not pair.same and not (of_survey and a.survey.id != b.survey.id):
            found.append(pair)
    return tuple(found)


def _in_the_same_seats(a: Session, b: Session) -> tuple[dict[str, str], dict[str, str]]:
    """What models of two names are called together where they have the same seats, by the name that
    each has in its session.
    """
    seats = []
    for session in (a, b):
        own: dict[str, list[str]] = {}
        for person in session.participants:
            own.setdefault(person.model, []).append(person.id)
        seats.append({name: tuple(ids) for name, ids in own.items()})
    by_seats = {ids: name for name, ids in seats[1].items()}
    in_a, in_b = {}, {}
    for name, ids in seats[0].items():
        other = by_seats.get(ids)
        if other is not None and other != name and name not in b.models and other not in a.models:
            in_a[name] = in_b[other] = f"{name}|{other}"
    return in_a, in_b


def _settings(session: Session, called: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every setting of a session as text; of participants and items by their names, of models by
    what they are `called`.
    """
    items = {item.id: item.text for item in session.survey.items}
    topic = {name: value for name, value in vars(session.topic).items() if name != "survey"}
    plain: dict[str, Any] = {"topic": topic, "survey": asdict(session.survey) | {"items": items}}
    for name in PLAIN:
        plain[name] = getattr(session, name)
    for name in NOUNS:
        plain[name] = asdict(getattr(session, name))
    yield from _leaves(plain, "")
    for name, settings in session.models.items():
        own = dict(settings)
        if name in called:
            own.pop("name", None)
            yield f"models.{called[name]}", name
        yield from _leaves(own, f"models.{called.get(name, name)}.")
    yield "participants", ", ".join(person.id for person in session.participants)
    for person in session.participants:
        own = {name: value for name, value in vars(person).items() if name != "id"}
        own["model"] = called.get(person.model, person.model)
        yield from _leaves(own, f"{person.id}.")


def _leaves(settings: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    """Nested settings by dotted name, as text."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{at}{name}.")
        elif isinstance(value, str):
            yield f"{at}{name}", value
        else:
            as_list = list if isinstance(value, Sequence) else None
            yield f"{at}{name}", json.dumps(value, ensure_ascii=False, default=as_list)


def answer_pairs(a: Run, b: Run) -> tuple[ValuePair, ...]:
    """Everybody's answers to every item, in the order of seats and of the survey.

    Participants go together by name, items by name and text: what was asked in other words is
    another item.
    """
    items = dict.fromkeys(item for run in (a, b) for item in run.session.survey.items)
    people = dict.fromkeys(person.id for run in (a, b) for person in run.session.respondents)
    own = _by_item(a), _by_item(b)
    places = {(item.id, item.text): place for place, item in enumerate(items)}
    seats = {person: seat for seat, person in enumerate(people)}

    def place(pair: ValuePair) -> tuple[int, int]:
        return seats[pair.of["participant"]], places[pair.of["item"], pair.of["text"]]

    return tuple(sorted(paired(*own, "participant", "item", "kind", "text"), key=place))


def _by_item(run: Run) -> dict[tuple[str, ...], ItemAnswers]:
    """The answers of a run by person and item."""
    found = {}
    for person in run.session.respondents:
        own = [run.response(person.id, phase) for phase in PHASES]
        for item in run.session.survey.items:
            before, after = (one.answers.get(item.id) for one in own)
            why_before, why_after = (str(one.missing.get(item.id, "")) for one in own)
            key = person.id, item.id, item.kind, item.text
            found[key] = ItemAnswers(before, after, why_before, why_after)
    return found


def agreement(pairs: Sequence[ValuePair], phase: Phase) -> tuple[int, int]:
    """How many answers both runs have in a phase, and how many of these differ."""
    compared = different = 0
    for pair in pairs:
        if pair.a is None or pair.b is None:
            continue
        a, b = (own.before if phase == "pre" else own.after for own in (pair.a, pair.b))
        if a is not None and b is not None:
            compared += 1
            different += a != b
    return compared, different


def measure_pairs(
    a: Iterable[Score],
    b: Iterable[Score],
    measures: Mapping[str, Measure],
    one_survey: bool,
) -> tuple[ValuePair, ...]:
    """The scores of whole runs beside each other, in the order of `measures`, which are by id.

    Without `one_survey` measures that depend on the survey have no difference.
    """
    found = []
    places = {name: place for place, name in enumerate(measures)}
    pairs = paired(_values(a), _values(b), "measure", "phase", "coder")
    known = [pair for pair in pairs if pair.of["measure"] in places]
    for pair in sorted(known, key=lambda pair: places[pair.of["measure"]]):
        measure, own, other = measures[pair.of["measure"]], pair.a, pair.b
        difference, why = None, ""
        if own and other and own.value is not None and other.value is not None:
            if one_survey or measure.comparable:
                difference = other.value - own.value
            else:
                why = OTHER_SURVEY
        found.append(replace(pair, difference=difference, why_not=why))
    return tuple(found)


def _values(scores: Iterable[Score]) -> dict[tuple[str, str, str], Value]:
    """The values of a run by measure, phase and coder."""
    found = {}
    for score in of_whole_runs(scores):
        value = Value(None, score.note) if isnan(score.value) else Value(score.value)
        found[score.measure, score.phase, score.coder] = value
    return found


def cost_of_run(records: Sequence[Mapping[str, Any]], damaged_lines: int = 0) -> Cost:
    """What the records of a run's log come to; where lines of it are damaged, only their number is
    known.
    """
    whole = readable(records)
    if damaged_lines or len(whole) < len(records):
        return Cost(len(whole), None, None, None)
    tokens: list[int | None] = []
    for kind in ("input_tokens", "output_tokens"):
        used = [record["completion"].get("usage", {}).get(kind) for record in records]
        tokens.append(None if None in used else sum(used))
    return Cost(len(records), tokens[0], tokens[1], cost_usd(records))


def _relation(found: Beside) -> Iterator[str]:
    one, other = (run.session for run in found.runs)
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
    if found.turns:
        alike = sum(pair.same for pair in found.turns)
        words = f"{alike} of {counted(len(found.turns), 'turn')} the same, word for word"
        until = same_until(found.turns)
        yield words + (f", the first {until} of them" if until > 1 and until != alike else "")
    if not found.answers:
        yield "nobody was surveyed in either"
    elif not (one.respondents and other.respondents):
        yield f"nobody was surveyed in {'B' if one.respondents else 'A'}: no answer can be compared"
    elif not any(pair.a and pair.b for pair in found.answers):
        yield "no participant and item in common: no answer can be compared"
    else:
        for phase in PHASES:
            compared, different = agreement(found.answers, phase)
            yield f"{different} of {counted(compared, 'answer')} different {HEADINGS[phase]}"


def _plain(value: Any) -> Any:
    """A value of a pair as plain values, None for NaN."""
    if isinstance(value, IndividualChange):
        return value.plain()
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _plain_setting(pair: ValuePair) -> dict[str, Any]:
    both = pair.a is not None and pair.b is not None
    return pair.plain() | {"words": in_pieces(word_differences(pair.a, pair.b) if both else ())}
