"""From the utterances of one conversation to a run of people: seats, turns, answers; every fault is
noted with its place.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from delibsim.domain.conversation import IMPORTED, PEOPLE, Conversation, HeldTurn
from delibsim.domain.corpora import AboutConversation, Importer, Utterance
from delibsim.domain.errors import refused
from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run, Session
from delibsim.domain.study import slug
from delibsim.domain.survey import PHASES, Motion, Phase, Response, Survey, Topic
from delibsim.domain.transcript import Statement, Turn
from delibsim.domain.treatment import Procedure, Treatment, Wording
from delibsim.store.corpus_files import WAVES, GivenAnswers
from delibsim.store.tables.sheets import sha256_of

NOT_GIVEN = Reason("not_given", "the person's answer is not among those imported")
LARGEST = 10**11
"""A number of seconds is smaller; a time that is larger is in milliseconds."""
SMALLEST = 10**8
"""A smaller number of seconds is counted from the beginning of a recording, and no date."""


@dataclass(frozen=True)
class ConversationSource:
    """What is imported: a file or folder, what reads it, and what the source itself does not say:
    topic (an id, or a question), treatment, survey, the file of answers, the facts of conversations
    that are kept, the metadata that hold answers, and whether names stay.
    """

    path: Path
    importer: Importer
    topic: str = ""
    treatment: str = "conversation"
    survey: str = ""
    answers: Path | None = None
    facts: tuple[str, ...] = ()
    answers_in: tuple[str, ...] = ()
    keep_names: bool = False

    @property
    def metadata_of_answers(self) -> tuple[str, ...]:
        """The names of metadata that are read as answers: none beside a file of answers."""
        return () if self.answers else self.answers_in or ("answers",)

    def plain(self) -> dict[str, Any]:
        """What study.json says of it."""
        path = self.path
        files = [path] if path.is_file() else sorted(filter(Path.is_file, path.iterdir()))
        sums = "".join(f"{sha256_of(one)}  {one.name}\n" for one in files)
        digest = hashlib.sha256(sums.encode()).hexdigest()
        return {"file": path.name, "importer": self.importer.name, "sha256": digest}


@dataclass
class RunMaker:
    """Makes runs of the conversations of a `source`; counts what has no place, and notes what is
    wrong.

    `wording` and `procedure` are what models would be told in a fork. `subject` gives topic and
    survey by the words for topic, question and survey. `names` are those of the last conversation:
    the id of a speaker by the name of the seat.
    """

    source: ConversationSource
    wording: Wording
    procedure: Procedure
    subject: Callable[[str, str, str], tuple[Topic, Survey]]
    about: Mapping[str, AboutConversation]
    unplaced: Counter[str]
    given: GivenAnswers = field(default_factory=dict)
    waves: dict[tuple[str, Phase], int] = field(default_factory=dict)
    """After which turn a survey in between was held, by conversation and phase."""
    names: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _times: dict[str, str] = field(default_factory=dict)
    """How times are written, each with the place where it stands first."""

    def subject_of(self, id: str) -> tuple[Topic, Survey]:
        """Topic and survey of a conversation; WrongInput where nothing says what it is about."""
        known = self.about.get(id) or AboutConversation("", id)
        if self.source.topic:
            return self.subject(self.source.topic, "", known.survey)
        if not (known.topic or known.question):
            raise refused("conversation_without_topic", id=id)
        return self.subject(known.topic, known.question, known.survey)

    def all_faults(self) -> list[str]:
        """What is wrong, also that times are written in several ways."""
        if len(self._times) < 2:
            return self.faults
        told = ", ".join(f"{how} ({where})" for how, where in self._times.items())
        return [*self.faults, f"times are written in {len(self._times)} ways: {told}"]

    def run(
        self, id: str, said: Sequence[Utterance], name: str | None, numbers: Counter[str]
    ) -> Run | None:
        """The run of a conversation, under its name where it has one; None of one in which fewer
        than two spoke. `numbers` counts the replicates of each cell.
        """
        said = [one for one in said if self._has_words(one)]
        seats = self._seats(said)
        if len(seats) < 2:
            self.unplaced["conversations in which fewer than two people spoke"] += bool(said)
            return None
        self.names = {seat.id: speaker for speaker, seat in seats.items()}
        about = self.about.get(id) or AboutConversation("", id)
        topic, survey = self.subject_of(id)
        treatment = about.treatment or self.source.treatment
        rounds = max(one.round for one in said)
        cell = f"{slug(topic.id)}.{slug(treatment)}"
        if name is None:
            numbers[cell] += 1
            name = f"{cell}.r{numbers[cell]}"
        turns = tuple(self._turns(said, seats))
        surveyed = any((id, speaker) in self.given for speaker in seats)
        waves = self._waves(id, seats, about, len(turns))
        told = Conversation(self.source.path.name, id, turns, surveyed, about.votes, about.facts)
        conversation = replace(told, waves=waves)
        session = Session(
            id=name,
            topic=topic,
            survey=survey if surveyed else Motion(topic.id, topic.question).survey,
            participants=tuple(seats.values()),
            treatment=Treatment(treatment, rounds=rounds),
            format="deliberation",
            wording=self.wording,
            seed=0,
            replicate=int(name.rpartition(".r")[2]),
            procedure=self.procedure,
            models={PEOPLE: {"name": PEOPLE, "kind": IMPORTED}},
            conversation=conversation,
        )
        pairs = zip(turns, said, strict=True)
        responses = tuple(self._responses(id, seats, survey, waves)) if surveyed else ()
        return Run(
            session=session,
            responses=responses,
            transcript=tuple(Statement(held.turn, one.text) for held, one in pairs),
            status="partial" if any(one.missing for one in responses) else "complete",
        )

    def _has_words(self, one: Utterance) -> bool:
        """Whether an utterance can be a turn; notes what is wrong with it."""
        if not one.conversation:
            self.faults.append(f"{one.where}: it belongs to no conversation")
        elif not one.speaker.strip():
            self.faults.append(f"{one.where}: the speaker has no name")
        elif not one.text.strip():
            self.unplaced["utterances without words"] += 1
        else:
            return True
        return False

    def _seats(self, said: Sequence[Utterance]) -> dict[str, Participant]:
        """The seats by the ids of speakers, in the order in which they spoke first."""
        roles: dict[str, str] = {}
        for one in said:
            if roles.get(one.speaker, "citizen") == "citizen":
                roles[one.speaker] = one.role
        found = {}
        for n, (speaker, role) in enumerate(roles.items(), 1):
            name = speaker if self.source.keep_names else f"Speaker {n}"
            found[speaker] = Participant(name, model=PEOPLE, role=role)
        return found

    def _turns(
        self, said: Sequence[Utterance], seats: Mapping[str, Participant]
    ) -> Iterator[HeldTurn]:
        """The turns in order, each with the number of the turn that it answers."""
        places: dict[str, int] = {}
        for n, one in enumerate(said, 1):
            if one.id and one.id in places:
                first = said[places[one.id] - 1].where
                self.faults.append(f"{one.where}: '{one.id}' stands in {first} already")
            elif one.id:
                places[one.id] = n
        self._refuse_cycles(said, places)
        for n, one in enumerate(said, 1):
            answers = places.get(one.reply_to) if one.reply_to else None
            if one.reply_to and answers is None:
                self.unplaced["replies to what is not in the conversation"] += 1
            elif answers is not None and answers > n:
                self.unplaced["replies that stand before what they answer"] += 1
            turn = Turn(n, one.round, seats[one.speaker].id)
            yield HeldTurn(turn, answers, self._time(one))

    def _refuse_cycles(self, said: Sequence[Utterance], places: Mapping[str, int]) -> None:
        """Note replies that answer each other in a circle."""
        replies = {one.id: [one.reply_to] for one in said if one.id and one.reply_to in places}
        try:
            TopologicalSorter(replies).prepare()
        except CycleError as circle:
            first = min(places[id] for id in circle.args[1])
            where, id = said[first - 1].where, said[first - 1].id
            self.faults.append(f"{where}: '{id}' is a reply to itself, over others")

    def _time(self, one: Utterance) -> str:
        """When something was said, in ISO 8601; "" where that is not known."""
        if not one.time:
            return ""
        try:
            how, time = _time_of(one.time)
        except (ValueError, OverflowError, OSError):
            told = f"'{one.time[:40]}' is no time; write 2021-04-03T10:00 or seconds since 1970"
            self.faults.append(f"{one.where}: {told}")
            return ""
        self._times.setdefault(how, one.where)
        return time

    def _waves(
        self, id: str, seats: Iterable[str], about: AboutConversation, turns: int
    ) -> dict[Phase, int]:
        """The surveys in between that somebody answered, each with the turn after which it was."""
        found = {}
        for wave in WAVES:
            if any(wave in self.given.get((id, speaker), {}) for speaker in seats):
                found[wave] = self.waves.get((id, wave), about.waves.get(wave, -1))
                if not 0 <= found[wave] <= turns:
                    told = f"after which of its {turns} turns {wave} was held: column after"
                    self.faults.append(f"conversation '{id}': the answers do not say {told}")
        return found

    def _responses(
        self, id: str, seats: Mapping[str, Participant], survey: Survey, waves: Iterable[Phase]
    ) -> Iterator[Response]:
        """The answers of everybody in every phase, in the order of seats."""
        items = tuple(item.id for item in survey.items)
        for phase in (PHASES[0], *waves, PHASES[1]):
            for speaker, seat in seats.items():
                answers = self.given.get((id, speaker), {}).get(phase, {})
                missing = {item: NOT_GIVEN for item in items if item not in answers}
                yield Response(seat.id, phase, answers, missing, items)


def _time_of(text: str) -> tuple[str, str]:
    """How a time is written, and the time in ISO 8601.

    >>> _time_of("1600000000.0")
    ('a number', '2020-09-13T12:26:40+00:00')
    >>> _time_of("2020-09-13T12:26:40"), _time_of("2020-09-13")
    (('date and time', '2020-09-13T12:26:40'), ('a date', '2020-09-13'))
    """
    try:
        number = float(text)
    except ValueError:
        found = datetime.fromisoformat(text)
        short = len(text) <= len("2020-09-13")
        return ("a date", text) if short else ("date and time", found.isoformat())
    number = number / 1000 if number > LARGEST else number
    if not number > SMALLEST:
        return "a number", ""
    return "a number", datetime.fromtimestamp(number, UTC).isoformat()
