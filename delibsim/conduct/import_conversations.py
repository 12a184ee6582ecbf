"""Importing conversations of people: every one becomes a run that was held elsewhere, all of a
source or nothing; what has no place is counted.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from delibsim.conduct.import_texts import NOTHING_KEPT, add_texts, begun_now, fault_of_id
from delibsim.conduct.imported_run import ConversationSource, RunMaker
from delibsim.domain.annotation import Text
from delibsim.domain.conversation import PEOPLE
from delibsim.domain.corpora import AboutConversation, AboutSpeaker, Comment, Utterance
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.run import Run
from delibsim.domain.study import is_file_name
from delibsim.domain.summary import Voter
from delibsim.domain.survey import Motion, Survey, Topic
from delibsim.domain.text import counted, safe, study_named
from delibsim.domain.treatment import Procedure, Wording
from delibsim.planning.cell import Composer, digest
from delibsim.planning.config import built, validated
from delibsim.planning.overrides import Job
from delibsim.store.codec import differences, run_to_plain
from delibsim.store.corpus_files import (
    Answered,
    SortedUtterances,
    answers_in_file,
    answers_in_metadata,
    given_answers,
)
from delibsim.store.files import make_folder, write_atomically
from delibsim.store.instruments.library import Library
from delibsim.store.manifest import CONVERSATIONS, Manifest
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.csv_cells import refuse_faults
from delibsim.store.tables.study_facts import design_of_cells

EXAMPLES = Path(__file__).parents[1] / "data/conversations"
Watch = Callable[[str, int, int], None]
KEY = ("session", "participant", "speaker")
"""The columns of the file that says who stands behind a code."""


@dataclass
class ImportedConversations:
    """What an import came to: how many conversations (or comments) are new, how many were known,
    what was read, what has no place, counted, and the file that says who is who.
    """

    runs: Runs
    what: str = "conversation"
    new: int = 0
    before: int = 0
    utterances: int = 0
    speakers: int = 0
    voters: int = 0
    votes: int = 0
    unplaced: Counter[str] = field(default_factory=Counter)
    key: Path | None = None

    def lines(self) -> list[str]:
        """What must be known of it, in sentences."""
        found = f"{counted(self.new, self.what)} new, {self.before:,} known before"
        what = ("comment", "author") if self.what == "comment" else ("utterance", "speaker")
        said = " of ".join(map(counted, (self.utterances, self.speakers), what))
        if self.votes:
            said += f", {counted(self.votes, 'vote')} of {counted(self.voters, 'person', 'people')}"
        return [f"{study_named(self.runs.study)}: {found}", f"read: {said}"]

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        own = {name: value for name, value in vars(self).items() if name not in ("runs", "key")}
        key = None if self.key is None else str(self.key)
        return {"study": self.runs.study, **own, "unplaced": dict(self.unplaced), "key": key}


def import_conversations(
    source: ConversationSource, runs: Runs, watch: Watch = lambda what, done, of: None
) -> ImportedConversations:
    """Add the conversations of a source to a study, which begins with them if there is none.

    The same source again adds nothing. WrongInput, with the places, and nothing is kept, for what
    cannot be read as conversations, and for a conversation that stands in the study otherwise.
    """
    if not source.path.exists():
        raise WrongInput(f"{source.path} does not exist")
    if source.answers and source.answers_in:
        raise WrongInput("answers are in metadata (answers_in=) or in a file (--answers), not both")
    found = ImportedConversations(runs)
    other = _Other()
    make_folder(runs.folder.parent)
    with (
        TemporaryDirectory(prefix=".import-", dir=runs.folder.parent) as folder,
        SortedUtterances(Path(folder)) as said,
    ):
        said.add(_utterances(source, other, found.unplaced))
        if other.comments:
            return _add_comments(other, source, found)
        conversations = said.conversations()
        if not conversations:
            raise WrongInput(f"{source.path} holds no utterance")
        maker = _maker(source, other.about, found.unplaced)
        surveys = {id: maker.subject_of(id)[1] for id in conversations}
        spoke = {id: said.speakers(id) for id in conversations}
        answered = answers_in_file(source.answers) if source.answers else other.answered
        place = source.answers or source.path
        known = spoke, surveys.__getitem__, found.unplaced, maker.waves
        maker.given |= given_answers(place, answered, *known)
        _add(said, conversations, maker, found, watch)
    return found


@dataclass
class _Other:
    """What a source holds beside utterances."""

    about: dict[str, AboutConversation] = field(default_factory=dict)
    metadata: set[str] = field(default_factory=set)
    answered: list[Answered] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    voters: list[Voter] = field(default_factory=list)


def _utterances(
    source: ConversationSource, other: _Other, unplaced: Counter[str]
) -> Iterator[Utterance]:
    """The utterances of a source; whatever else it holds is put where it belongs."""
    for record in source.importer.read(source.path):
        if isinstance(record, Utterance):
            try:
                f"{record.text}{record.speaker}{record.conversation}".encode()
            except UnicodeEncodeError:
                told = "half a character, which no file can hold"
                raise WrongInput(f"{source.path}, {record.where}: it holds {told}") from None
            yield record
        elif isinstance(record, AboutConversation | AboutSpeaker):
            _take_metadata(record, source, other, unplaced)
        elif isinstance(record, Comment):
            other.comments.append(record)
        elif isinstance(record, Voter):
            other.voters.append(record)
        else:
            unplaced[record.what] += 1
    for name in source.facts:
        if name not in other.metadata:
            raise unknown("metadata of conversations", name, other.metadata)
    if source.answers_in and not other.answered:
        raise refused(
            "no_answers_in_metadata", path=source.path, answers_in=",".join(source.answers_in)
        )


def _take_metadata(
    record: AboutConversation | AboutSpeaker,
    source: ConversationSource,
    other: _Other,
    unplaced: Counter[str],
) -> None:
    """Keep what is known of a conversation or a speaker, and count what has no place."""
    taken = set()
    for name, answered in answers_in_metadata(record, source.metadata_of_answers):
        taken.add(name)
        other.answered.append(answered)
    if isinstance(record, AboutSpeaker):
        told = "metadata of speakers, which may say who they are"
        unplaced.update(f"{told}: {name}" for name in record.facts if name not in taken)
        return
    kept = {}
    other.metadata |= record.facts.keys()
    for name, value in record.facts.items():
        of_comments = not record.conversation
        if (of_comments or name in source.facts) and isinstance(value, (str, int, float)):
            kept[name] = str(value)
        elif name not in taken and value is not None:
            unplaced[f"metadata of conversations, not in facts=: {name}"] += 1
    other.about[record.conversation] = replace(record, facts=kept)


def _maker(
    source: ConversationSource, about: Mapping[str, AboutConversation], unplaced: Counter[str]
) -> RunMaker:
    """What makes runs of the conversations of a source."""
    config = validated(Composer(Path.cwd()).configured(Job({}, {})))
    wording = built(Wording, "wording", config.wording)
    procedure = built(Procedure, "procedure", config.procedure)
    library = Library()
    survey = library.survey(source.survey) if source.survey else None
    subject = cache(lambda *about: _subject(library, *about, survey))
    return RunMaker(source, wording, procedure, subject, about, unplaced)


def _subject(
    library: Library, topic: str, question: str, answered: str, survey: Survey | None
) -> tuple[Topic, Survey]:
    """A topic of the library, or a question of its own; and its survey: the one that is set, or
    that people `answered`, where the library has it.
    """
    entry: Topic | Motion
    if survey is None and answered in library.surveys():
        survey = library.survey(answered)
    if topic in library.topics():
        entry = library.entry(topic)
    elif question and is_file_name(topic):
        entry = Motion(topic, question)
    else:
        words = question or topic
        begin = "_".join(re.findall(r"[a-z0-9]+", words.lower()))[:40].strip("_")
        entry = Motion(f"{begin}_{digest(words)[:6]}", words)
    if isinstance(entry, Motion):
        return entry.topic, survey or entry.survey
    return entry, survey or library.survey(entry.survey or entry.id)


def _add(
    said: SortedUtterances,
    conversations: Sequence[str],
    maker: RunMaker,
    found: ImportedConversations,
    watch: Watch,
) -> None:
    """Check every conversation, then write those that are new."""
    runs, source = found.runs, maker.source
    plans = runs.each_plan()
    kept = {plan.conversation.id: name for name, plan in plans if plan.conversation is not None}
    own = source.plain()
    components: dict[str, dict[str, Any]] = {CONVERSATIONS: {own["sha256"][:12]: own}}
    names, key, cells = [], [], {}
    faults: list[str] = []

    def made() -> Iterator[tuple[str, Run]]:
        numbers: Counter[str] = Counter()
        for name in kept.values():
            cell, _, number = name.rpartition(".r")
            numbers[cell] = max(numbers[cell], int(number))
        for id in conversations:
            try:
                run = maker.run(id, said.said_in(id), kept.get(id), numbers)
            except WrongInput:
                raise
            except ValueError as error:
                raise WrongInput(f"{source.path}, conversation '{id}': {error}") from None
            if run is not None:
                yield id, run

    for id, run in made():
        session = run.session
        before = runs.run(session.id) if id in kept and runs.held(session.id) else run
        if before != run:
            told = "; ".join(differences(run_to_plain(before), run_to_plain(run))[:3])
            again = "name another study: study=NAME"
            faults.append(f"'{id}' was imported with something else ({told}); {again}")
        names.append(session.id)
        cells.setdefault(session.cell, session)
        found.new += id not in kept
        found.utterances += len(run.transcript)
        key += [(session.id, seat, speaker) for seat, speaker in maker.names.items()]
        for kind, name, value in (
            ("topics", session.topic.id, digest(session.topic)),
            ("surveys", session.survey.id, digest(session.survey)),
            ("treatments", session.treatment.name, {"name": session.treatment.name}),
            ("wordings", session.wording.id, digest(session.wording)),
            ("models", PEOPLE, dict(session.models[PEOPLE])),
        ):
            components.setdefault(kind, {})[name] = value
    faults = list(map(safe, [*maker.all_faults(), *faults]))
    if not (names or faults):
        faults = ["in no conversation two people speak"]
    refuse_faults(source.path, faults, NOTHING_KEPT)
    found.before, found.speakers = len(names) - found.new, len(key)
    design, begun = design_of_cells(cells), begun_now()
    manifest = Manifest(runs.study, {"seed": 0}, components, tuple(names), {}, design, begun)
    runs.compare(manifest)
    maker.unplaced = Counter()  # the same is counted again
    with runs.lock():
        runs.settle(manifest)
        for n, (_, run) in enumerate(made(), 1):
            watch("importing", n, len(names))
            if not runs.held(run.session.id):
                runs.plan(run.session)
                runs.add(run)
    if not source.keep_names:
        found.key = _keep_key(runs, key)


def names_of_speakers(runs: Runs) -> set[str]:
    """Who stands behind the codes of imported conversations, as far as that is kept."""
    rows = _known_key(_key_of(runs)).values()
    return {row[2] for row in rows} - {row[1] for row in rows} - {*KEY}


def _key_of(runs: Runs) -> Path:
    """The file that says who stands behind each code, beside the study."""
    return runs.folder.with_name(f"{runs.folder.name}.names.csv")


def _known_key(path: Path) -> dict[tuple[str, ...], tuple[str, ...]]:
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {tuple(row[:2]): tuple(row) for row in csv.reader(file) if len(row) == len(KEY)}


def _keep_key(runs: Runs, key: Sequence[tuple[str, ...]]) -> Path:
    """Write who stands behind each code, for the owner of the study alone; the file."""
    path = _key_of(runs)
    rows = {KEY[:2]: KEY, **_known_key(path)}
    rows |= {row[:2]: row for row in key}
    text = io.StringIO()
    csv.writer(text).writerows(rows.values())
    write_atomically(path, text.getvalue(), mode=0o600)
    return path


def _add_comments(
    other: _Other, source: ConversationSource, found: ImportedConversations
) -> ImportedConversations:
    """Add comments as opinions of a study of texts, with the votes on them; people as codes."""
    about, comments = other.about.get("", AboutConversation("", "")), other.comments
    question = source.topic or about.question or about.topic
    if not question:
        raise WrongInput(f"{source.path}: no question; name it: topic='Should ...?'")
    authors = dict.fromkeys(one.author for one in comments if one.author)
    people = {author: f"Author {n}" for n, author in enumerate(authors, 1)}
    for one in other.voters:
        people.setdefault(one.id, f"Voter {len(people) + 1}")
    named = {id: id for id in people} if source.keep_names else people
    given, faults = [], []
    places: dict[str, str] = {}
    for one in comments:
        first = places.setdefault(one.id, one.where)
        fault = fault_of_id(one.id) or ("" if one.text.strip() else "the comment is empty")
        if fault := fault or (
            f"'{one.id}' stands in {first} already" if first != one.where else ""
        ):
            faults.append(f"{one.where}: {fault}")
        facts = source.path.name, dict(one.facts), named.get(one.author, "")
        given.append(Text(one.id, one.text, "", (), *facts))
    refuse_faults(source.path, faults, NOTHING_KEPT)
    voters = [replace(one, id=named[one.id]) for one in other.voters]

    def check(kept: Mapping[str, Text]) -> None:
        told = [one.id for one in given if kept.get(one.id, one) != one]
        faults = [f"comment {id} was imported with something else" for id in told]
        if kept and (before := StudyTexts(found.runs).voters()) != voters:
            changed = [one.id for one in voters if one not in before]
            who = ", ".join(changed[:3]) or "somebody who is not there any more"
            faults.append(
                f"votes were imported otherwise, of {who}; name another study: study=NAME"
            )
        refuse_faults(source.path, faults, NOTHING_KEPT)

    part = source.plain() | {"question": question, "kind": "open", "about": dict(about.facts)}
    found.new, _ = add_texts(found.runs, given, part, check, voters)
    found.before, found.what = len(given) - found.new, "comment"
    found.utterances, found.speakers = len(given), len(authors)
    found.voters, found.votes = len(voters), sum(len(one.votes) for one in voters)
    if not source.keep_names:
        key = [(found.runs.study, code, id) for id, code in people.items()]
        found.key = _keep_key(found.runs, key)
    return found


def example(name: str) -> tuple[Path, Path]:
    """The conversations that ship under a name, and the answers of those who speak; WrongInput for
    another name.
    """
    known = sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())
    if name not in known:
        raise unknown("example", name, known)
    return EXAMPLES / name / "turns.csv", EXAMPLES / name / "answers.csv"
