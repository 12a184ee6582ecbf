"""A pack that people answer on pages: its places, its sheets, and what a sheet asks."""

import random
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from delibsim.asking.pages import sheet_code
from delibsim.domain.errors import WrongInput
from delibsim.domain.seed import seed_of
from delibsim.prompts.prompt import Prompt
from delibsim.store.packs import extend_pack, packs_of
from delibsim.store.runs import Runs

Kind = Literal["debates", "texts", "pairs", "summaries"]
"""What raters are given: the name of its texts in the files of languages."""
FOLLOWS = "follows"
"""What a sheet names its forerunner by, where the rater before left it undone."""
Replies = Mapping[str, str | None]
"""The replies of a sheet by step; None where an answer was declined."""


@dataclass(frozen=True)
class Place:
    """One place of a pack: the name of its rater in the study, and the codes of its sheets in the
    order of showing. `follows` is the number of the place whose sheets were handed on to it.
    """

    number: int
    rater: str
    sheets: tuple[str, ...]
    follows: int | None = None


@dataclass(frozen=True)
class Step:
    """What one page of a sheet asks: a prompt; or, as an attention check, that a number be written
    down.
    """

    name: str
    prompt: Prompt | None = None
    check: int | None = None


@dataclass
class RaterPack(ABC):
    """A pack on pages. `sheets` is its key by code; `hand_on` after how many hours without a sign
    what a rater left undone may go to the next. `answers` is where its answers are kept, `plain`
    what was kept of it.
    """

    kind: ClassVar[Kind]
    person: ClassVar[str] = "rater"
    runs: Runs
    name: str
    sheets: dict[str, dict[str, Any]]
    hand_on: float
    answers: Any = None
    plain: Mapping[str, Any] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    """What was read for pages before, by sheet or debate."""

    def places(self) -> list[Place]:
        """The places of the pack, in order."""
        own: dict[str, list[str]] = {}
        for code, sheet in self.sheets.items():
            own.setdefault(self._rater(code, sheet), []).append(code)
        numbers = {rater: number for number, rater in enumerate(own, 1)}
        found = []
        for rater, codes in own.items():
            before = self.sheets[codes[0]].get(FOLLOWS)
            follows = None
            if before is not None:
                follows = numbers[self._rater(before, self.sheets[before])]
            found.append(Place(numbers[rater], rater, tuple(codes), follows))
        return found

    def hand_over(self, place: Place, undone: Sequence[str]) -> Place:
        """A new place for sheets that were left undone, kept in the key of the pack; the place that
        there is already, if they were handed on before.

        Codes and order follow from the names, and each sheet shows what its forerunner showed.
        """
        places = self.places()
        for one in places:
            if one.follows == place.number:
                return one
        number = len(places) + 1
        rater = f"{self.name} {number}"
        added: dict[str, dict[str, Any]] = {}
        for before in undone:
            draw = random.Random(seed_of(self.name, "sheet", rater, before))
            code = sheet_code(draw)
            while code in self.sheets or code in added:
                code = sheet_code(draw)
            sheet = {**self.sheets[before], FOLLOWS: before}
            added[code] = {**sheet, self.person: rater} if self.person else sheet
        self._extend(added)
        self.sheets |= added
        return Place(number, rater, tuple(added), place.number)

    def _rater(self, code: str, sheet: Mapping[str, Any]) -> str:
        """Whose sheet it is; where sheets are nobody's, each is one person's."""
        return str(sheet[self.person]) if self.person else f"{self.name}/{code}"

    def handed_on(self, undone: Sequence[str]) -> list[str]:
        """Those of the sheets left undone that the next rater gets."""
        return list(undone)

    @abstractmethod
    def unit(self, sheet: str) -> str:
        """The name of what a sheet shows: nobody is to be shown one of a name twice."""

    @abstractmethod
    def step(self, sheet: str, given: Replies) -> Step | None:
        """What a sheet asks next, after these replies; None where all was asked."""

    @abstractmethod
    def given(self, sheet: str, given: Replies) -> list[Any]:
        """The answers that the replies to a sheet are; none where nothing was answered."""

    def handed_out(self) -> Collection[str]:
        """The sheets that stand in the key of the pack now."""
        return packs_of(self.answers.files)[self.name]["sheets"]

    def keep(self, answers: Sequence[Any]) -> None:
        """Keep answers of this pack that there are not yet; who calls holds the study. WrongInput
        for one that contradicts what was handed in before.
        """
        self.answers.add(new_among(self.answers.people(), answers), people=True)

    @abstractmethod
    def rescore(self) -> None:
        """Write the scores anew that are computed from what raters gave."""

    def _extend(self, sheets: Mapping[str, Any]) -> None:
        """Keep more sheets in the key of the pack."""
        extend_pack(self.answers.files, self.name, sheets)


def new_among(known: Iterable[Any], given: Iterable[Any]) -> list[Any]:
    """The answers that are not known; WrongInput for one that contradicts a known one."""
    before, new = {one.key: one for one in known}, []
    for one in given:
        old = before.get(one.key)
        if old is None:
            new.append(one)
        elif old != one:
            place = ", ".join(map(str, one.key))
            raise WrongInput(f"{place}: another answer was kept before, and is never overwritten")
    return new
