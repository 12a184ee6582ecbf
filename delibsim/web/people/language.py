"""The texts of pages, in one file a language: `data/people/LANGUAGE.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from delibsim.domain.errors import unknown
from delibsim.store.reading import read_yaml

FOLDER = Path(__file__).parents[2] / "data" / "people"


@dataclass(frozen=True)
class Language:
    """One language: its code, the direction of its writing, its texts by key ("form.hand_in")."""

    code: str
    direction: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **values: Any) -> str:
        """The text of a key, with its values put in; KeyError for a key that no file has."""
        return self.texts[key].format(**values)


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that pages can be in."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@cache
def language(code: str) -> Language:
    """A language by its code; WrongInput, with those there are, for another."""
    if code not in languages():
        raise unknown("language", code, languages())
    read = read_yaml(FOLDER / f"{code}.yaml")
    texts = {}
    for section, entries in read["texts"].items():
        texts |= {f"{section}.{key}": str(text) for key, text in entries.items()}
    return Language(code, read["direction"], texts)
