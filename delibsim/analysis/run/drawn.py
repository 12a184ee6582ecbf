"""What the drawings of a run show as numbers: who changed which answers, who hears and names whom,
the agreement of every pair before and after, and the scores of statements.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from delibsim.analysis.run.summary import FLAG
from delibsim.analysis.run.tables import answers_to
from delibsim.analysis.table import number
from delibsim.domain.reason import in_words
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Measure, Score
from delibsim.domain.survey import Item, Survey
from delibsim.engine.network import network_of
from delibsim.measures.dri import dri, over_pairs, pair_indices, rank_correlations, why_undefined
from delibsim.scorers.arrays import considerations, preferences, surveyed

Two = tuple[str, str]


@dataclass(frozen=True)
class Shift:
    """One participant's answer to one item before and after, None where it is missing."""

    participant: str
    before: int | None
    after: int | None

    @property
    def change(self) -> int | None:
        """After less before; None where either is missing."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


@dataclass(frozen=True)
class ItemShifts:
    """Everybody's answers to one item, in the order of seats, and the ends of its scale.

    Considerations are rated on the scale of the survey; preferences are ranked from 1, the best, to
    their number.
    """

    item: Item
    lowest: int
    highest: int
    shifts: tuple[Shift, ...]

    @property
    def moved(self) -> int:
        """The sum of all absolute changes; missing answers add nothing."""
        return sum(abs(shift.change or 0) for shift in self.shifts)

    @property
    def changed(self) -> int:
        """How many participants gave another answer afterwards."""
        return sum(bool(shift.change) for shift in self.shifts)

    @property
    def missing(self) -> int:
        """How many participants lack an answer before or after."""
        return sum(shift.change is None for shift in self.shifts)


def item_shifts(run: Run, without: Iterable[str] = ()) -> list[ItemShifts]:
    """The answers to each item of the survey, in its order, but for those of participants
    `without` whom they are shown.
    """
    left_out, survey = set(without), run.session.survey
    people = [person.id for person in run.session.respondents]
    found = []
    for item in survey.items:
        shifts = []
        for person, (before, after) in zip(people, answers_to(run, item.id), strict=True):
            if person not in left_out:
                shifts.append(Shift(person, before, after))
        found.append(ItemShifts(item, *_ends(survey, item), tuple(shifts)))
    return found


def _ends(survey: Survey, item: Item) -> tuple[int, int]:
    if item.kind == "preference":
        return 1, len(survey.preferences)
    return survey.scale_min, survey.scale_max


@dataclass(frozen=True)
class Heard:
    """The participants in the order of seats, the pairs of those who hear each other, and whether
    everybody hears everybody. `naming` counts, for a speaker and another participant, the
    statements of the one that name the other.
    """

    people: tuple[str, ...]
    edges: tuple[Two, ...]
    naming: Mapping[Two, int]

    @property
    def complete(self) -> bool:
        """Whether everybody hears everybody."""
        n = len(self.people)
        return len(self.edges) == n * (n - 1) // 2


def heard_in(run: Run) -> Heard:
    """Who hears whom in the session of a run, and who names whom in it.

    In a debate and in a complete network everybody hears everybody.
    """
    people = tuple(person.id for person in run.session.participants)
    return Heard(people, _edges(run.session), naming(run))


def _edges(session: Session) -> tuple[Two, ...]:
    graph = network_of(session)
    seats = {person.id: seat for seat, person in enumerate(session.participants)}
    edges = [sorted(edge, key=seats.__getitem__) for edge in graph.edges]
    return tuple(sorted(((a, b) for a, b in edges), key=lambda e: (seats[e[0]], seats[e[1]])))


def naming(run: Run) -> dict[Two, int]:
    """How many statements of each speaker name each other participant, by (speaker, named).

    A name counts where it stands as words of its own: "Participant 1" is not in "Participant 10",
    and "Ann" not in "Ann Lee" where that is a participant too.
    """
    names = sorted((person.id for person in run.session.participants), key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    found: Counter[Two] = Counter()
    for statement in run.speech:
        speaker = statement.turn.speaker
        for name in set(pattern.findall(statement.text)) - {speaker}:
            found[speaker, name] += 1
    return dict(found)


@dataclass(frozen=True)
class ParticipantPair:
    """Two participants, and the rank correlations of their ratings and of their ranks, -1 to 1."""

    first: str
    second: str
    considerations: float
    preferences: float


@dataclass(frozen=True)
class PairsInPhase:
    """Every pair of a group in one phase, and the Deliberative Reason Index, which is the mean over
    them; without either the reason code is `why`.
    """

    phase: str
    pairs: tuple[ParticipantPair, ...]
    index: float | None
    why: str = ""


def pairs_of(run: Run) -> list[PairsInPhase]:
    """The pairs of a run in every survey; [] for a debate, whose survey has no preferences.

    Source: Niemeyer et al. 2024, doi:10.1017/S0003055423000023.
    """
    if not list(surveyed([run])):
        return []
    people = [person.id for person in run.session.participants]
    found = []
    for phase in run.session.waves:
        rated, ranked = considerations(run, phase), preferences(run, phase)
        if why := why_undefined(rated, ranked):
            found.append(PairsInPhase(phase, (), None, why))
            continue
        both = over_pairs(rank_correlations(rated)), over_pairs(rank_correlations(ranked))
        pairs = []
        for i, j, c, p in zip(*pair_indices(len(people)), *both, strict=True):
            pairs.append(ParticipantPair(people[i], people[j], float(c), float(p)))
        found.append(PairsInPhase(phase, tuple(pairs), float(dri(rated, ranked))))
    return found


@dataclass(frozen=True)
class Shown:
    """One score for reading: the measure in words, its value, or why there is none, the coder."""

    label: str
    value: str
    coder: str = ""


@dataclass(frozen=True)
class StatementScores:
    """The scores and the flags (in words) of one statement."""

    scores: tuple[Shown, ...] = ()
    flags: tuple[str, ...] = ()


def of_statements(
    scores: Iterable[Score], measures: Mapping[str, Measure]
) -> dict[int, StatementScores]:
    """The scores of statements by the index of their turn; those of other units are left out."""
    found: dict[int, list[Shown]] = {}
    flags: dict[int, list[str]] = {}
    for score in scores:
        turn = score.target.rpartition("/")[2]
        if score.unit != "statement" or not turn.isdecimal():
            continue
        if score.measure.startswith(FLAG):
            kind = score.measure.removeprefix(FLAG).replace("_", " ")
            flags.setdefault(int(turn), []).append(kind)
            continue
        known = measures.get(score.measure)
        label = score.measure if known is None else known.label
        found.setdefault(int(turn), []).append(Shown(label, _value(score), score.coder))
    turns = sorted({*found, *flags})
    return {turn: _both(found.get(turn, ()), flags.get(turn, ())) for turn in turns}


def _both(scores: Iterable[Shown], flags: Iterable[str]) -> StatementScores:
    return StatementScores(tuple(scores), tuple(dict.fromkeys(flags)))


def _value(score: Score) -> str:
    if math.isnan(score.value):
        return f"none ({in_words(score.note)})" if score.note else "none"
    if float(score.value).is_integer():
        return f"{score.value:.0f}"
    return number(score.value)
