"""What an importer reads from files of conversations: records, one after another, which the import
puts together. docs/conversations.md says how to write one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from delibsim.domain.summary import Voter
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
