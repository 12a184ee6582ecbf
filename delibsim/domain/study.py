"""Studies: factorial designs crossed from topics, treatments, groups and replicates."""

import functools
import hashlib
import itertools
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from delibsim.domain.participant import Participant
from delibsim.domain.run import Session
from delibsim.domain.survey import Survey, Topic
from delibsim.domain.text import in_short
from delibsim.domain.treatment import Procedure, Treatment, Wording

PORTS = {f"{name}{i}" for name in ("com", "lpt") for i in range(10)}
RESERVED = {"con", "prn", "aux", "nul"} | PORTS
"""What no file can be called on some system."""
FILE_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.ASCII)
HASHED = re.compile(r"-[0-9a-f]{8}$")


T = TypeVar("T")


@dataclass(frozen=True)
class Group:
    """The participants of a session and the settings of their models, by name.

    The label is a part of the names of sessions.
    """

    label: str
    participants: tuple[Participant, ...]
    models: Mapping[str, Mapping[str, Any]]

    __repr__ = in_short


def slug(name: str) -> str:
    """A file name that stays inside its folder, and that no other name shares.

    That holds on all common file systems. Names of lower-case letters, digits, '-', '_' and single
    inner dots are kept; others are shortened to those and given a hash of the whole name.

    >>> slug("normative_a"), slug("../../x")
    ('normative_a', 'x-9cdf6a50')
    """
    if is_file_name(name) and len(name) <= 60 and not HASHED.search(name):
        return name
    kept = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:60]
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{kept or 'name'}-{digest[:8]}"


def natural(name: str) -> tuple[Any, ...]:
    """What names are sorted by where people read them: the numbers in them count as numbers.

    >>> sorted(["s.r10", "s.r2", "s.r1"], key=natural)
    ['s.r1', 's.r2', 's.r10']
    """
    found: list[Any] = []
    for n, part in enumerate(re.split(r"([0-9]+)", name)):
        digits = part.lstrip("0")
        found.append((len(digits), digits) if n % 2 else part)
    return tuple(found), name


def cell_of(session: Session) -> str:
    """The cell of the design that a session lies in: its name without the replicate.

    Sessions that are named otherwise are cells of their own.
    """
    return session.cell


def is_file_name(name: str) -> bool:
    """Whether a name can be used as a file name unchanged.

    It has lower-case letters, digits, '-', '_' and single inner dots, and no system reserves it.
    """
    reserved = name.split(".")[0] in RESERVED
    return bool(FILE_NAME.fullmatch(name)) and len(name) <= 240 and not reserved


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
    """Every combination of topic, treatment, group and replicate, as sessions.

    A session is named after its cell. `seed` is the seed of all; enlarging a design changes no
    session it already had (see Session.seed_for).
    """
    sessions = []
    for (topic, survey), treatment, group, replicate in itertools.product(
        topics, treatments, groups, replicates
    ):
        names = [_part(name) for name in (topic.id, treatment.name, group.label)]
        session = Session(
            id=".".join([*names, f"r{replicate}"]),
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
        sessions.append(session)
    return tuple(sessions)


def _part(name: str) -> str:
    """A slug without dots, which separate the parts of a session's name."""
    return slug(name) if "." not in name else slug(f"{name}/")


KEPT = 8 * 1024
"""So many different parts are remembered."""


def shared(session: Session) -> Session:
    """An equal session whose parts are those of the first session that had equal ones."""
    wording = session.wording
    # Models as text, because 0 and 0.0 are written differently.
    models = _first(_Part(json.dumps(session.models, default=repr), session.models)).part
    return replace(
        session,
        topic=_one(session.topic),
        survey=_one(session.survey),
        participants=_one(tuple(map(_one, session.participants))),
        treatment=_one(session.treatment),
        format=sys.intern(session.format),
        wording=_first(_Part((wording.id, *wording.texts.items()), wording)).part,
        procedure=_one(session.procedure),
        models=models,
        before=None if session.before is None else shared(session.before),
    )


@dataclass(frozen=True)
class _Part:
    """A part of a session, known by its content."""

    content: Any
    part: Any = field(compare=False)


@functools.lru_cache(maxsize=KEPT)
def _first(part: _Part) -> _Part:
    """The first part that had this content."""
    return part


def _one(part: T) -> T:
    """The first part that was equal to this one."""
    return _first(_Part(part, part)).part
