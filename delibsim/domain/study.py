"""Studies: factorial designs crossed from topics, treatments, groups and replicates."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.domain.participant import Participant
from delibsim.domain.run import Session
from delibsim.domain.survey import Survey
from delibsim.domain.topic import Topic
from delibsim.domain.treatment import Procedure, Treatment, Wording

RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"com{i}" for i in range(10)),
    *(f"lpt{i}" for i in range(10)),
}

FILE_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.ASCII)
HASHED = re.compile(r"-[0-9a-f]{8}$")


@dataclass(frozen=True)
class Study:
    """A named set of planned sessions."""

    id: str
    sessions: tuple[Session, ...]

    def __post_init__(self) -> None:
        """Refuse two sessions of one name."""
        ids = [session.id for session in self.sessions]
        if len(set(ids)) < len(ids):
            raise ValueError(
                f"study {self.id}: two sessions have one name; give them different replicates or"
                " labels"
            )


@dataclass(frozen=True)
class Group:
    """The people of a session and the settings of the models that voice them, under a label used in
    names of sessions.
    """

    label: str
    participants: tuple[Participant, ...]
    models: Mapping[str, Mapping[str, Any]]


def slug(name: str) -> str:
    """A file name that stays inside its folder, and that no other name shares on any common file
    system.

    Names of lower-case letters, digits, '-', '_' and single inner dots are kept; others are
    shortened to those and given a hash of the whole name.

    >>> slug("normative_a"), slug("../../x")
    ('normative_a', 'x-9cdf6a50')
    """
    if is_file_name(name) and len(name) <= 60 and not HASHED.search(name):
        return name
    kept = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:60]
    return f"{kept or 'name'}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"


def cell_of(session: Session) -> str:
    """The cell of the design that a session lies in: its name without the replicate. Sessions named
    otherwise are cells of their own.
    """
    return session.id.removesuffix(f".r{session.replicate}")


def is_file_name(name: str) -> bool:
    """Whether a name can stand as it is: lower-case letters, digits, '-', '_', single inner dots;
    no name a system reserves.
    """
    return (
        bool(FILE_NAME.fullmatch(name)) and len(name) <= 240 and name.split(".")[0] not in RESERVED
    )


def cross(
    topics: Sequence[tuple[Topic, Survey]],
    treatments: Iterable[Treatment],
    groups: Iterable[Group],
    wording: Wording,
    replicates: Iterable[int] = (1,),
    seed: int = 0,
    procedure: Procedure | None = None,
    format: str = "deliberation",
) -> tuple[Session, ...]:
    """Every combination of topic, treatment, group and replicate, as sessions named after their
    cell.

    `seed` is the seed of all; enlarging a design changes no session it already had (see
    Session.seed_for).
    """
    treatments, groups, replicates = tuple(treatments), tuple(groups), tuple(replicates)
    return tuple(
        Session(
            id=".".join([*map(_part, (topic.id, treatment.name, group.label)), f"r{replicate}"]),
            topic=topic,
            survey=survey,
            participants=group.participants,
            treatment=treatment,
            format=format,
            wording=wording,
            seed=seed,
            replicate=replicate,
            procedure=procedure or Procedure(),
            models=group.models,
        )
        for topic, survey in topics
        for treatment in treatments
        for group in groups
        for replicate in replicates
    )


def _part(name: str) -> str:
    """A slug without dots, which separate the parts of a session's name."""
    return slug(name) if "." not in name else slug(f"{name}/")
