"""Which answers of a run changed, and how far: item by item, before and after, of everybody."""

from collections.abc import Iterable
from dataclasses import dataclass

from delibsim.analysis.run_transcript import answers_to
from delibsim.domain.run import Run
from delibsim.domain.survey import Item, Survey


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
