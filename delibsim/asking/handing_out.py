"""Handing out packs to people: the name of a pack, its folder, and who it is for."""

from dataclasses import dataclass
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.domain.secret import refuse_key
from delibsim.domain.seed import seed_of
from delibsim.store.runs import Runs

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


def pack_name(runs: Runs, *names: str | int) -> str:
    """The name of a new pack of a study, drawn from these names: the name of the study may say what
    people are not to know.
    """
    return f"{seed_of(str(runs.folder.resolve()), *names) % 16**8:08x}"


def new_folder(folder: Path | None, usual: str | Path) -> Path:
    """The folder of a new pack, `usual` if none is named; WrongInput if it exists and is not
    empty.
    """
    found = folder or Path(usual)
    refuse_key("folder", str(found))
    empty = found.is_dir() and not any(found.iterdir())
    if found.exists() and not empty:
        raise WrongInput(f"{found} exists; name another folder with -o")
    return found


def number_of_people(given: str, option: str, noun: str) -> list[str]:
    """As many names as people are asked for on pages; WrongInput for names, which they have
    not.
    """
    names = people_named(given, option, noun)
    if not given.strip().isdigit():
        raise WrongInput(
            f"{option} {given}: on pages people come by links; give how many, such as {option} 5"
        )
    return names


def people_named(given: str, option: str, noun: str) -> list[str]:
    """The names of people: as they are given, parted by commas, or numbered after the noun.

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
    return names
