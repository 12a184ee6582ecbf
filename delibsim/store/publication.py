"""Under which licence a study is published, and by whom: publication.json in its folder, asked for
once.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import study_named
from delibsim.store.files import json_text, write_atomically
from delibsim.store.reading import read_json
from delibsim.store.runs import Runs

FILE = "publication.json"
LICENCES: Mapping[str, Mapping[str, str]] = read_data("package.yaml")["licences"]
CREATOR = re.compile(r"\s*([^<>]+?)\s*(?:<\s*(?:https://orcid\.org/)?([\dX-]+)\s*>)?\s*")


@dataclass(frozen=True)
class Creator:
    """Who made a study: a name, and an ORCID where one was given."""

    name: str
    orcid: str = ""

    @classmethod
    def of(cls, text: str) -> "Creator":
        """A creator as written at the command line; WrongInput for no name or a wrong ORCID.

        >>> Creator.of("Ada Lovelace <0000-0002-1825-0097>")
        Creator(name='Ada Lovelace', orcid='0000-0002-1825-0097')
        """
        found = CREATOR.fullmatch(text)
        if found is None:
            raise WrongInput(f"--creator is a name and an ORCID, 'Name <ORCID>', not '{text}'")
        name, orcid = found[1], found[2] or ""
        if orcid and not is_orcid(orcid):
            raise WrongInput(f"{orcid} is no ORCID: its last character checks the others")
        return cls(name, orcid)

    @property
    def parts(self) -> tuple[str, str]:
        """The given and the family name, as far as the name tells.

        >>> Creator("Ada King Lovelace").parts, Creator("Lovelace, Ada").parts
        (('Ada King', 'Lovelace'), ('Ada', 'Lovelace'))
        """
        family, comma, given = self.name.partition(", ")
        if comma:
            return given, family
        given, _, family = self.name.rpartition(" ")
        return given, family

    @property
    def inverted(self) -> str:
        """The family name first.

        >>> Creator("Ada Lovelace").inverted
        'Lovelace, Ada'
        """
        return ", ".join(filter(None, reversed(self.parts)))

    def id(self, number: int) -> str:
        """The address of who this is, or a name within a file."""
        return f"https://orcid.org/{self.orcid}" if self.orcid else f"#creator-{number}"


def is_orcid(text: str) -> bool:
    """Whether the last character checks the others (ISO 7064, MOD 11-2).

    >>> is_orcid("0000-0002-1825-0097"), is_orcid("0000-0002-1825-0098"), is_orcid("12")
    (True, False, False)
    """
    if not re.fullmatch(r"(?:\d{4}-){3}\d{3}[\dX]", text):
        return False
    *digits, last = text.replace("-", "")
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11] == last


@dataclass(frozen=True)
class Publication:
    """How a study is published: `license` by its SPDX name, who made it, and under which title."""

    license: str
    creators: Sequence[Creator]
    title: str

    @property
    def url(self) -> str:
        """The address of the text of the licence."""
        return LICENCES[self.license]["url"]

    @property
    def zenodo(self) -> str:
        """What Zenodo calls it."""
        return LICENCES[self.license]["zenodo"]


def publication_of(
    studies: Sequence[Runs], licence: str, creators: Sequence[str], title: str
) -> Publication:
    """What was given now, and what was kept of the studies before; kept in each of them.

    WrongInput for an unknown licence, and where licence or creators were never given.
    """
    kept: dict[str, Any] = {}
    for runs in reversed(studies):
        if (runs.folder / FILE).is_file():
            kept |= read_json(runs.folder / FILE)
    before = tuple(Creator(**one) for one in kept.get("creators", ()))
    found = Publication(
        license=licence or kept.get("license", ""),
        creators=tuple(map(Creator.of, creators)) or before,
        title=title or kept.get("title", ""),
    )
    lacking = [("--license CC-BY-4.0", found.license), ("--creator 'Name <ORCID>'", found.creators)]
    if missing := [option for option, value in lacking if not value]:
        raise WrongInput(
            f"who publishes {study_named(studies[0].study)}, and under which licence, was never"
            f" said; give {' and '.join(missing)}, which the study keeps"
        )
    if found.license not in LICENCES:
        raise unknown("licence", found.license, LICENCES)
    for runs in studies:
        text = json_text({"schema": 1, **asdict(found)}, indent=1)
        write_atomically(runs.folder / FILE, f"{text}\n", runs.durable)
    return found if found.title else replace(found, title=_title(studies))


def _title(studies: Sequence[Runs]) -> str:
    names = ", ".join(runs.study for runs in studies)
    return f"Replication package: {names}"
