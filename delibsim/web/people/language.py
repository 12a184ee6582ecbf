"""The texts of pages, in one file a language: `data/people/LANGUAGE.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from delibsim.domain.errors import unknown
from delibsim.store.reading import read_yaml

COUNTED = ("minutes", "hours", "count")
"""The values of texts that are counted."""
FOLDER = Path(__file__).parents[2] / "data" / "people"


@dataclass(frozen=True)
class Language:
    """One language: its code, the direction of its writing, its texts by key ("form.hand_in"), and
    those that are other words where what is counted is one.
    """

    code: str
    direction: str
    texts: Mapping[str, str]
    of_one: Mapping[str, str]

    def __call__(self, key: str, **values: Any) -> str:
        """The text of a key, with its values put in; KeyError for a key that no file has."""
        texts = self.of_one if key in self.of_one and self._is_one(values) else self.texts
        return texts[key].format(**values)

    def _is_one(self, values: Mapping[str, Any]) -> bool:
        number = next((float(values[name]) for name in COUNTED if name in values), None)
        return number is not None and (number == 1 or (self.code == "fr" and number < 2))


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
    return Language(code, read["direction"], texts, read["of_one"])
