"""A study as it is given to others, and the protocol of whatever writes it for another program."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, runtime_checkable

from delibsim.domain.run import Run
from delibsim.domain.summary import OpinionSet, Voter


@dataclass(frozen=True)
class ExportedSession:
    """A session that was held.

    `measures` are its values by column of the study table, such as `dri_change`, `undefined` the
    reason codes by measure of those that have none. `times` say when a participant was asked on an
    occasion, such as ("Participant 1", "turn 3"), in ISO format, as far as the record tells.
    """

    run: Run
    measures: Mapping[str, float] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def design(self) -> dict[str, Any]:
        """What was held, as plain values, and what came of it."""
        session = self.run.session
        return {
            "topic": session.topic.id,
            "treatment": session.treatment.name,
            "survey": session.survey.id,
            "replicate": session.replicate,
            "format": session.format,
            "status": self.run.status,
            "undefined": dict(self.undefined),
        }

    def seconds(self, participant: str, occasion: str) -> int | None:
        """When that was, in seconds since 1970; None where it is not known. A time without a zone
        is one of UTC.
        """
        time = self.times.get((participant, occasion))
        if time is None:
            return None
        found = datetime.fromisoformat(time)
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


Files = Iterator[tuple[str, Iterable[str]]]


@runtime_checkable
class Exporter(Protocol):
    """Whatever writes studies in the format of another program.

    `form` says in some words what it writes.
    """

    name: str
    form: str

    def files(self, study: str, sessions: Iterable[ExportedSession]) -> Files:
        """The files of a study: of each its path in the folder, with "/", and its text in pieces,
        which are taken before the next file is asked for. `sessions` can be gone through once.
        WrongInput where the format has no place for such a study.
        """
        ...


@runtime_checkable
class OpinionExporter(Protocol):
    """An exporter that also writes opinions with votes on them."""

    def of_opinions(
        self, opinions: OpinionSet, voters: Sequence[Voter], about: Mapping[str, str]
    ) -> Files:
        """The files of opinions and votes; `about` is what their source says of itself."""
        ...
