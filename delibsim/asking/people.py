"""Asking people about finished text: a pack, its places and sheets, and what a sheet asks.

A pack is answered on pages in a browser or on paper (`paper.py`); both ask what language models
are asked, step by step, and both give the same answers. Its key says what each sheet shows, and
stays with the study. The packs of each kind are in `kinds/*_people.py`.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput
from delibsim.domain.secret import refuse_key
from delibsim.domain.seed import seed_of
from delibsim.models.person.fields import Field
from delibsim.prompts.prompt import Prompt
from delibsim.store.annotations import add_pack, extend_pack, packs_of
from delibsim.store.runs import Runs

Given = Literal["debates", "texts", "pairs", "summaries", "rationales"]
"""What raters are given: the name of its texts in the files of languages."""
FOLLOWS = "follows"
"""What a sheet names its forerunner by, where the rater before left it undone."""
Replies = Mapping[str, Any]
"""What was given for a sheet by step: the text of a reply as a page keeps it; from paper what was
written, by field, where that need not be whole; None where nothing was given.
"""
LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that look alike in handwriting
MOST = 1000
"""How many people a pack is for at most."""


@dataclass(frozen=True)
class Online:
    """How a pack is handed out on pages: what a rater leaves undone who was away for `hand_on`
    hours goes to the next.
    """

    hand_on: float = 48.0

    def plain(self) -> dict[str, float]:
        """As it is kept."""
        return {"hand_on": self.hand_on}


@dataclass(frozen=True)
class HandedOut:
    """A pack that was handed out: its name, its folder (None: on pages), what is known of it, what
    is said of it in sentences, and what must be known beside (`notes`).
    """

    name: str
    folder: Path | None
    facts: Mapping[str, Any]
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        folder = None if self.folder is None else str(self.folder)
        return {"name": self.name, "folder": folder, **self.facts}


def where(person: str, folder: Path | None) -> str:
    """Where what was handed out to people is."""
    if folder is None:
        return "on pages"
    return f"{person}-1.html and so on to print, form.csv to fill in"


@dataclass(frozen=True)
class PackPlace:
    """One place of a pack: the name of its rater in the study, and the codes of its sheets in the
    order of showing. `follows` is the number of the place whose sheets were handed on to it.
    """

    number: int
    rater: str
    sheets: tuple[str, ...]
    follows: int | None = None


@dataclass(frozen=True)
class SheetStep:
    """What one page of a sheet asks: a prompt; or, as an attention check, that a number be written
    down.
    """

    name: str
    prompt: Prompt | None = None
    check: int | None = None


@dataclass
class Pack(ABC):
    """A pack for people. `sheets` is its key by code; `hand_on` after how many hours without a sign
    what a rater left undone on pages may go to the next. `answers` is where its answers are kept,
    `plain` what is kept of it.
    """

    kind: ClassVar[Given]
    scorer: ClassVar[str] = ""
    """The scorer of its answers; "" where there is none."""
    noun: ClassVar[str]
    anyone: ClassVar[bool] = False
    """Whether any person may fill a sheet in, and several the same one."""
    person: ClassVar[str] = "rater"
    """What a sheet calls whose it is; "" where each is one person's."""
    on_paper: ClassVar[Mapping[str, str]] = {}
    """The replies that stand for those of a step on paper, where later steps show them."""
    runs: Runs
    name: str
    sheets: dict[str, dict[str, Any]]
    hand_on: float = 48.0
    answers: Any = None
    plain: Mapping[str, Any] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    """What was read for pages before, by sheet or debate."""

    @abstractmethod
    def unit(self, sheet: str) -> str:
        """The name of what a sheet shows: nobody is to be shown one of a name twice."""

    @abstractmethod
    def step(self, sheet: str, given: Replies) -> SheetStep | None:
        """What a sheet asks next, after these replies; None where all was asked."""

    @abstractmethod
    def given(self, sheet: str, given: Replies) -> list[Any]:
        """The answers that the replies to a sheet are; none where nothing was answered."""

    def written(self, sheet: str, given: Replies, rater: str) -> list[Any]:
        """The answers on a sheet of paper that this rater filled in."""
        return self.given(sheet, given)

    def level(self, step: SheetStep, asked: Field, cell: str) -> Any:
        """What a cell says where one of several is to be chosen; ValueError where it is none."""
        for option in asked.options:
            label = str(option.value).casefold()
            if cell.casefold() in (label, f"speaker {label}"):
                return option.value
        *first, last = [str(option.value) for option in asked.options]
        raise ValueError(f"'{cell}' must be {', '.join(first)} or {last}")

    def refuse_other(self, id: str, text: Text | None, sha256: str) -> Text:
        """A text that a sheet shows; WrongInput where it is not the one that was handed out."""
        if text is None or text.sha256 != sha256:
            what = "is no longer in the study" if text is None else "was edited"
            raise WrongInput(
                f"text {id} {what} after pack {self.name} was handed out; hand another out"
            )
        return text

    def said(self, answer: Any) -> str:
        """What an answer says, in brief."""
        return str(answer.missing or answer)

    def told(self, answers: Sequence[Any]) -> list[str]:
        """What must be known of answers that were brought back, in sentences."""
        return []

    def titles(self, words: Mapping[str, str]) -> tuple[str, str]:
        """Title and introduction of its pages, by the words that pages of raters have."""
        return words[f"{self.kind}_title"], words[f"{self.kind}_intro"]

    def places(self) -> list[PackPlace]:
        """The places of the pack, in order."""
        own: dict[str, list[str]] = {}
        for code, sheet in self.sheets.items():
            own.setdefault(self.rater(code, sheet), []).append(code)
        numbers = {rater: number for number, rater in enumerate(own, 1)}
        found = []
        for rater, codes in own.items():
            before = self.sheets[codes[0]].get(FOLLOWS)
            follows = None
            if before is not None:
                follows = numbers[self.rater(before, self.sheets[before])]
            found.append(PackPlace(numbers[rater], rater, tuple(codes), follows))
        return found

    def rater(self, code: str, sheet: Mapping[str, Any]) -> str:
        """Whose sheet it is; where sheets are nobody's, each is one person's."""
        return str(sheet[self.person]) if self.person else f"{self.name}/{code}"

    def hand_over(self, place: PackPlace, undone: Sequence[str]) -> PackPlace:
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
            code = sheet_code((self.name, "sheet", rater, before), {*self.sheets, *added})
            sheet = {**self.sheets[before], FOLLOWS: before}
            added[code] = {**sheet, self.person: rater} if self.person else sheet
        extend_pack(self.answers.files, self.name, added)
        self.sheets |= added
        return PackPlace(number, rater, tuple(added), place.number)

    def handed_on(self, undone: Sequence[str]) -> list[str]:
        """Those of the sheets left undone that the next rater gets."""
        return list(undone)

    def handed_out(self) -> Mapping[str, Any]:
        """The sheets that stand in the key of the pack now."""
        return packs_of(self.answers.files)[self.name]["sheets"]

    def kept(self) -> Iterable[Any]:
        """The answers of people that there are."""
        return self.answers.people()

    def keep(self, answers: Sequence[Any]) -> None:
        """Keep answers of this pack that there are not yet; who calls holds the study. WrongInput
        for one that contradicts what was handed in before.
        """
        new, clashes = self.compared(answers)
        for _, n in clashes:
            place = ", ".join(map(str, answers[n].key))
            raise WrongInput(f"{place}: another answer was kept before, and is never overwritten")
        self.add(new)

    def compared(self, answers: Sequence[Any]) -> tuple[list[Any], list[tuple[Any, int]]]:
        """Those of some answers that there are not yet; and what is kept that others of them, whose
        place stands behind it, contradict.
        """
        known, new, clashes = {one.key: one for one in self.kept()}, [], []
        for n, one in enumerate(answers):
            old = known.setdefault(one.key, one)
            if old is one:
                new.append(one)
            elif not self.same(old, one):
                clashes.append((old, n))
        return new, clashes

    def same(self, old: Any, new: Any) -> bool:
        """Whether two answers to one question say the same."""
        return old == new

    def add(self, answers: Sequence[Any]) -> None:
        """Keep answers that there are not yet."""
        self.answers.add(answers, people=True)

    def register(self, online: Online | None = None) -> None:
        """Keep the key with the study, and how the pack is answered."""
        plain = {"kind": self.kind, **self.plain, "sheets": self.sheets}
        if online is not None:
            plain["online"] = online.plain()
        add_pack(self.answers.files, self.name, plain)


def sheet_code(names: Sequence[str | int], taken: Iterable[str]) -> str:
    """The code of a sheet, six letters and digits that say nothing of the text, drawn by names;
    none of those that are `taken`.
    """
    draw = random.Random(seed_of(*names))
    code = ""
    while not code or code in taken:
        code = "".join(draw.choice(LETTERS) for _ in range(6))
    return code


def in_own_order(
    ids: Iterable[str], pack: str, person: str, taken: set[str]
) -> list[tuple[str, str]]:
    """What one person of a pack is given, by id, in an order of the person's own, each under a code
    that no other sheet has; `taken` are the codes of others, and these are added.

    All follows from the names.
    """
    found = []
    for id in sorted(ids, key=lambda one: seed_of(pack, "order", person, one)):
        code = sheet_code((pack, "sheet", person, id), taken)
        taken.add(code)
        found.append((code, id))
    return found


def pack_name(runs: Runs, *names: str | int) -> str:
    """The name of a new pack of a study, drawn from these names: the name of the study may say what
    people are not to know.
    """
    return f"{seed_of(str(runs.folder.resolve()), *names) % 16**8:08x}"


def new_folder(folder: Path | None, usual: str | Path, online: Online | None) -> Path | None:
    """The folder of a new pack, `usual` if none is named, None for one on pages; WrongInput if it
    exists and is not empty.
    """
    if online is not None:
        return None
    found = folder or Path(usual)
    refuse_key("folder", str(found))
    empty = found.is_dir() and not any(found.iterdir())
    if found.exists() and not empty:
        raise WrongInput(f"{found} exists; name another folder with -o")
    return found


def people_named(given: str, option: str, noun: str, online: bool = False) -> list[str]:
    """The names of people: as they are given, parted by commas, or numbered after the noun. Who
    answers on pages has no name.

    >>> people_named("2", "--raters", "coder"), people_named("Ann, Ben", "--raters", "coder")
    (['coder 1', 'coder 2'], ['Ann', 'Ben'])
    """
    number = given.strip()
    if number.isascii() and number.isdigit():
        if not 1 <= int(number) <= MOST:
            raise WrongInput(f"{option} {given}: a pack is for 1 to {MOST} {noun}s")
        return [f"{noun} {k}" for k in range(1, int(number) + 1)]
    names = [name.strip() for name in given.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise WrongInput(f"{option} {given}: give a number, or names parted by commas, each once")
    if online:
        raise WrongInput(
            f"{option} {given}: on pages people come by links; give how many, such as {option} 5"
        )
    return names


def refuse_names(people: Iterable[str], taken: Iterable[str], noun: str) -> None:
    """WrongInput for a person who would have the name of a model or of the ensemble."""
    for name in people:
        refuse_key(noun, name)
        if name in taken:
            raise WrongInput(
                f"'{name}' cannot be the name of a person: a model or the ensemble has it; give"
                f" the {noun} another name"
            )
