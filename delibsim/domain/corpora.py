"""What an importer reads from files of conversations, records one after another, which the import
puts together; and a study as it is given to others, with the protocol of whatever writes it for
another program. docs/conversations.md says how to write an importer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from delibsim.domain.run import Run
from delibsim.domain.summary import OpinionSet, Voter
from delibsim.domain.survey import Phase


@dataclass(frozen=True)
class Utterance:
    """Something that somebody said, word for word; `where` it stands, such as "line 3".

    `id` and `reply_to` are names within the source, "" where it has none. `time` is as it stands
    there. Utterances are in the order of `number`, such as that of the turn or the time in
    seconds, where all of a conversation have one, else in that of the source.
    """

    where: str
    conversation: str
    speaker: str
    text: str
    id: str = ""
    reply_to: str = ""
    time: str = ""
    number: int | None = None
    round: int = 1
    role: str = "citizen"


@dataclass(frozen=True)
class AboutConversation:
    """What is known of a conversation: its topic (an id), the question in words, its treatment, its
    survey (an id), shares of votes in percent by phase and vote, and other facts by name. Where the
    library has no such topic, or none is named, the question is the topic. Of comments on one
    question, `conversation` is "". `waves` are the surveys in between, each with the number of the
    turn after which it was held.
    """

    where: str
    conversation: str
    topic: str = ""
    question: str = ""
    treatment: str = ""
    survey: str = ""
    votes: Mapping[Phase, Mapping[str, float]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    waves: Mapping[Phase, int] = field(default_factory=dict)


@dataclass(frozen=True)
class AboutSpeaker:
    """What else a source says of a speaker, by name; of it answers alone are kept."""

    where: str
    speaker: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Comment:
    """A written opinion with what is known of it, such as counts of votes."""

    where: str
    id: str
    author: str
    text: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unplaced:
    """Something that was read and has no place: what it is, in words under which it is counted."""

    what: str


Record = Utterance | AboutConversation | AboutSpeaker | Comment | Voter | Unplaced


@runtime_checkable
class Importer(Protocol):
    """Whatever reads files of conversations, or of comments on one question."""

    name: str

    def read(self, path: Path) -> Iterator[Record]:
        """What stands there, read as a stream; WrongInput, naming the place, where the source is
        not what it should be. Of each speaker the id of the source, which the import replaces.
        """
        ...


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
