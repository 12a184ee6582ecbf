"""The answers of two runs by person and item, before and after."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from delibsim.domain.run import Run
from delibsim.domain.survey import PHASES, Item, Phase


@dataclass(frozen=True)
class Answers:
    """One person's answers to one item; None where one is missing, and the reason then."""

    before: int | None
    after: int | None
    why_not_before: str = ""
    why_not_after: str = ""


@dataclass(frozen=True)
class AnswerPair:
    """One person's answers to one item in two runs; None where the run did not ask for them."""

    participant: str
    item: Item
    a: Answers | None
    b: Answers | None

    @property
    def same(self) -> bool:
        """Whether both runs have the same answers, and miss the same."""
        return self.a == self.b

    def difference(self, phase: Phase) -> int | None:
        """The answer of the second run less that of the first; None where either has none."""
        if self.a is None or self.b is None:
            return None
        a, b = (own.before if phase == "pre" else own.after for own in (self.a, self.b))
        return None if a is None or b is None else b - a


def answer_pairs(a: Run, b: Run) -> tuple[AnswerPair, ...]:
    """Everybody's answers to every item, in the order of seats and of the survey.

    Participants go together by name, items by name and text: what was asked in other words is
    another item.
    """
    first, second = _by_item(a), _by_item(b)
    items = {_key(item): item for run in (a, b) for item in run.session.survey.items}
    people = dict.fromkeys(person.id for run in (a, b) for person in run.session.respondents)
    found = []
    for person in people:
        for key, item in items.items():
            pair = AnswerPair(person, item, first.get((person, key)), second.get((person, key)))
            if pair.a is not None or pair.b is not None:
                found.append(pair)
    return tuple(found)


def _key(item: Item) -> tuple[str, str]:
    return item.id, item.text


def _by_item(run: Run) -> dict[tuple[str, tuple[str, str]], Answers]:
    """The answers of a run by person and item."""
    found = {}
    for person in run.session.respondents:
        own = [run.response(person.id, phase) for phase in PHASES]
        for item in run.session.survey.items:
            before, after = (one.answers.get(item.id) for one in own)
            why_before, why_after = (str(one.missing.get(item.id, "")) for one in own)
            found[person.id, _key(item)] = Answers(before, after, why_before, why_after)
    return found


@dataclass(frozen=True)
class Agreement:
    """How the answers of two runs in one phase go together.

    `compared` counts the answers that both runs have, `different` those of them that differ.
    """

    compared: int
    different: int


def agreement(pairs: Sequence[AnswerPair], phase: Phase) -> Agreement:
    """How many answers both runs have in a phase, and how many of these differ."""
    differences = list(_differences(pairs, phase))
    return Agreement(len(differences), sum(one != 0 for one in differences))


def _differences(pairs: Sequence[AnswerPair], phase: Phase) -> Iterator[int]:
    for pair in pairs:
        difference = pair.difference(phase)
        if difference is not None:
            yield difference
