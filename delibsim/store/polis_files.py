"""The files that Polis exports of a conversation, read and written: comments and who agrees with
them.

Columns and signs are those of https://compdemocracy.org/export: 1 agrees, -1 disagrees, 0 passes.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from delibsim.domain.annotation import Text
from delibsim.domain.consensus import AGREES, LEFT_OUT, MEDIATOR, ConsensusVote
from delibsim.domain.corpora import (
    AboutConversation,
    Comment,
    ExportedSession,
    Files,
    Record,
    Unplaced,
)
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.study import slug
from delibsim.domain.summary import VOTED, OpinionSet, Voter
from delibsim.store.reading import file_text
from delibsim.store.tables.csv_cells import read_columns, streamed

DATETIME = "%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)"
COUNTS = ("agrees", "disagrees", "moderated")
SINGLE = ("comment-id", "voter-id", "vote")
SIGNS = {str(vote): vote for vote in VOTED.values()}
Cells = Iterable[Any]


class Polis:
    """An export of Polis: comments.csv and, as far as they are there, votes.csv,
    participants-votes.csv, comment-groups.csv and summary.csv.
    """

    name = "polis"

    def read(self, path: Path) -> Iterator[Record]:
        """Its comments with counts of votes, in all and by opinion group, and who voted."""
        file = path / "comments.csv"
        if not file.is_file():
            raise WrongInput(f"{path} is no folder of an export of Polis: it has no comments.csv")
        comments = list(read_columns(file, ["comment-id", "comment-body"]).records())
        yield _summary_in(path / "summary.csv")
        voters: list[Voter] = []
        for one in _voters(path, {row["comment-id"] for _, row in comments}):
            if isinstance(one, Voter):
                voters.append(one)
            else:
                yield one
        group_of = {one.id: one.group for one in voters}
        told = _counts(voters) if voters else _told_of_groups(path / "comment-groups.csv")
        for line, row in comments:
            id, author = row["comment-id"], row.get("author-id", "")
            facts = {name: row[name] for name in ("timestamp", *COUNTS) if name in row}
            facts |= {"author_group": group_of.get(author, "")}
            facts |= told.get(id, {})
            yield Comment(f"{file}, line {line}", id, author, row["comment-body"], facts)
        yield from voters


def _summary_in(file: Path) -> AboutConversation:
    """What comments answer, as a summary without a header says."""
    rows = csv.reader(file_text(file).splitlines()) if file.is_file() else ()
    known = {row[0].strip(): row[1].strip() for row in rows if len(row) > 1}
    topic, told = (known.get(name, "") for name in ("topic", "conversation-description"))
    question = topic if topic.endswith("?") else told
    return AboutConversation(file.name, "", topic, question, facts=known)


def _voters(path: Path, comments: set[str]) -> Iterator[Voter | Unplaced]:
    """Who voted: single votes, or without a file of these the last of each participant; and the
    opinion groups.
    """
    file = path / "participants-votes.csv"
    rows = list(read_columns(file, ["participant"]).records()) if file.is_file() else []
    group_of: dict[str, str] = {}
    for line, row in rows:
        id = row["participant"]
        if not id or id in group_of:
            told = (
                f"participant '{id[:40]}' stands there already"
                if id
                else "the participant has no id"
            )
            raise WrongInput(f"{file}, line {line}: {told}")
        group_of[id] = row.get("group-id", "")
    last = {
        (row["participant"], id): _vote(file, line, row[id])
        for line, row in rows
        for id in row
        if id in comments and row[id]
    }
    votes: dict[str, list[tuple[str, int, str]]] = {id: [] for id in group_of}
    single = path / "votes.csv"
    if single.is_file():
        for line, row in streamed(single, SINGLE)[1]:
            id, voter, cell = (row[name].strip() for name in SINGLE)
            vote, time = _vote(single, line, cell), row.get("timestamp", "").strip()
            if not voter or (time and not time.isdecimal()):
                told = f"'{time[:40]}' is no number of seconds" if voter else "the voter has no id"
                raise WrongInput(f"{single}, line {line}: {told}")
            if id not in comments:
                yield Unplaced("votes on what is no comment of comments.csv")
                continue
            votes.setdefault(voter, []).append((id, vote, time))
        held = {(voter, id): vote for voter, own in votes.items() for id, vote, _ in own}
        for key in last:
            if held.get(key) != last[key]:
                yield Unplaced("votes of participants-votes.csv that votes.csv has otherwise")
    else:
        for (voter, id), vote in last.items():
            votes[voter].append((id, vote, ""))
    for voter, own in votes.items():
        yield Voter(voter, group_of.get(voter, ""), tuple(own))


def _vote(file: Path, line: int, cell: str) -> int:
    if cell not in SIGNS:
        raise WrongInput(f"{file}, line {line}: a vote is -1, 0 or 1, not '{cell[:40]}'")
    return SIGNS[cell]


def _told_of_groups(file: Path) -> dict[str, dict[str, str]]:
    """The counts by comment that group data give; none without a file."""
    found: dict[str, dict[str, str]] = {}
    for _, row in read_columns(file, ["comment-id"]).records() if file.is_file() else ():
        counts = {"passes": row.get("total-passes", "")}
        for name, cell in row.items():
            _, group, what = f"{name}--".split("-")[:3]
            if name.startswith("group-") and what in VOTED:
                counts[f"group_{_number_of(group)}_{what}"] = cell
        found[row["comment-id"]] = counts
    return found


def _counts(voters: Sequence[Voter]) -> Mapping[str, dict[str, str]]:
    """By opinion how many passed over it, and what each opinion group voted."""
    given = Counter((id, one.group, vote) for one in voters for id, vote in one.last.items())
    groups = sorted({one.group for one in voters})
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for id in {id for id, _, _ in given}:
        found[id]["passes"] = str(sum(given[id, group, VOTED["passes"]] for group in groups))
        for group in filter(None, groups):
            for word, vote in VOTED.items():
                found[id][f"group_{group}_{word}"] = str(given[id, group, vote])
    return found


def _number_of(letter: str) -> str:
    """The number of an opinion group, which group data call a, b, c and so on."""
    place = ascii_lowercase.find(letter)
    return letter if place < 0 else str(place)


def _letter_of(group: str) -> str:
    known = group.isascii() and group.isdecimal() and int(group) < len(ascii_lowercase)
    return ascii_lowercase[int(group)] if known else group


@dataclass(frozen=True)
class _Comment:
    """A comment: `author` by number, when it was `written` (seconds, as text), other cells."""

    id: str
    text: str
    author: int | None
    written: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Held:
    """What is exported: topic and description, the comments, the opinion groups of those who voted
    by number, and the votes (time, comment, participant, vote), a later vote behind an earlier one.
    """

    topic: str
    told: str
    comments: Sequence[_Comment]
    groups: Mapping[int, str]
    votes: Sequence[tuple[str, str, int, int]]
    url: str = ""

    @property
    def last(self) -> Mapping[tuple[int, str], int]:
        """The last vote by participant and comment."""
        return {(person, id): vote for _, id, person, vote in self.votes}


class PolisExport:
    """Five files of a study of opinions with votes, or of each session whose group sought a
    statement of its own: then the candidates are comments, the ballots votes.

    Who agrees by 5 to 7 of 7 agrees, by 1 to 3 disagrees, by 4 passes. The author of all candidates
    is the mediator, whose number is behind those of the seats. Opinion groups are those that were
    imported; none are computed.
    """

    name = "polis"
    form = "the five files of an export of Polis, of opinions or statements with votes on them"

    def files(self, study: str, sessions: Iterable[ExportedSession]) -> Files:
        """The files, in a folder a session; WrongInput where no group voted."""
        found = 0
        for one in sessions:
            held = _of_session(one)
            if held is None:
                continue
            found += 1
            for name, rows in _tables(held):
                yield f"{slug(one.run.session.id)}/{name}.csv", _csv(rows)
        if not found:
            raise refused("no_ballots_for_polis", study=study)

    def of_opinions(
        self, opinions: OpinionSet, voters: Sequence[Voter], about: Mapping[str, str]
    ) -> Files:
        """The files of opinions with votes on them; `about` is the summary of their source."""
        authors = [text.author for text in opinions.texts]
        names = dict.fromkeys([*filter(None, authors), *(one.id for one in voters)])
        own = all(name.isascii() and name.isdecimal() for name in names)
        numbers = {name: int(name) if own else n for n, name in enumerate(names)}
        comments = [_comment(text, numbers.get(text.author)) for text in opinions.texts]
        votes = [
            (time, id, numbers[one.id], vote) for one in voters for id, vote, time in one.votes
        ]
        votes.sort(key=lambda vote: int(vote[0]) if vote[0].isdecimal() else 0)
        groups = {numbers[one.id]: one.group for one in voters}
        named = about.get("topic") or opinions.question, about.get("conversation-description", "")
        held = _Held(*named, comments, groups, votes, about.get("url", ""))
        for name, rows in _tables(held):
            yield f"{name}.csv", _csv(rows)


def _comment(text: Text, author: int | None) -> _Comment:
    return _Comment(text.id, text.text, author, text.facts.get("timestamp", ""), text.facts)


def _of_session(one: ExportedSession) -> _Held | None:
    consensus = one.run.consensus
    if consensus is None or not consensus.first.cast:
        return None
    rounds = [consensus.first, *([consensus.second] if consensus.second else [])]
    texts = {own.id: own.text for vote in rounds for own in vote.standing}
    seats, ids = list(one.run.session.seats), {id: str(n) for n, id in enumerate(texts)}
    votes = [row for n, vote in enumerate(rounds, 1) for row in _cast(one, n, vote, seats, ids)]
    comments = []
    for id, text in texts.items():
        written = _text(one.seconds(MEDIATOR, id))
        comments.append(_Comment(ids[id], text, len(seats), written))
    groups = dict.fromkeys(sorted({seat for _, _, seat, _ in votes}), "")
    topic = one.run.session.topic
    return _Held(topic.question, topic.background, comments, groups, votes)


def _cast(
    one: ExportedSession,
    number: int,
    vote: ConsensusVote,
    seats: list[str],
    ids: Mapping[str, str],
) -> Iterator[tuple[str, str, int, int]]:
    for ranking in vote.cast:
        time = _text(one.seconds(ranking.participant, f"vote {number}"))
        for id, agreement in ranking.agreement.items():
            given = (agreement >= AGREES) - (agreement <= LEFT_OUT)
            yield time, ids[id], seats.index(ranking.participant), given


def _text(seconds: int | None) -> str:
    return "" if seconds is None else str(seconds)


def _tables(held: _Held) -> Iterator[tuple[str, Iterator[Cells]]]:
    yield "summary", _summary(held)
    yield "comments", _comments(held)
    yield "votes", _votes(held)
    yield "participants-votes", _participants(held)
    yield "comment-groups", _groups(held)


def _summary(held: _Held) -> Iterator[Cells]:
    voters = len({person for person, _ in held.last})
    yield "topic", held.topic
    yield "url", held.url
    yield "voters", voters
    yield "voters-in-conv", voters
    yield "commenters", len({one.author for one in held.comments} - {None})
    yield "comments", len(held.comments)
    yield "groups", len({*held.groups.values()} - {""})
    yield "conversation-description", held.told


def _comments(held: _Held) -> Iterator[Cells]:
    head = "timestamp,datetime,comment-id,author-id,agrees,disagrees,moderated,comment-body"
    yield head.split(",")
    counts = Counter((id, vote) for (_, id), vote in held.last.items())
    for one in held.comments:
        own = [one.facts.get(name, counts[one.id, VOTED[name]]) for name in COUNTS[:2]]
        state = one.facts.get("moderated", 1)
        yield *_times(one.written), one.id, one.author, *own, state, one.text


def _votes(held: _Held) -> Iterator[Cells]:
    yield "timestamp,datetime,comment-id,voter-id,vote".split(",")
    for time, id, person, vote in held.votes:
        yield *_times(time), id, person, vote


def _participants(held: _Held) -> Iterator[Cells]:
    head = "participant,group-id,n-comments,n-votes,n-agree,n-disagree".split(",")
    ids = [one.id for one in held.comments]
    yield [*head, *ids]
    written = Counter(one.author for one in held.comments)
    for person, group in held.groups.items():
        own = [held.last.get((person, id)) for id in ids]
        given = Counter(vote for vote in own if vote is not None)
        yield person, group, written[person], given.total(), given[1], given[-1], *own


def _groups(held: _Held) -> Iterator[Cells]:
    """Counts in all, then of each opinion group."""
    groups = sorted({*held.groups.values()} - {""})
    heads = ["total", *(f"group-{_letter_of(group)}" for group in groups)]
    words = "votes", *VOTED
    yield ["comment-id", "comment", *(f"{head}-{word}" for head in heads for word in words)]
    tally: Counter[tuple[str, str, int]] = Counter()
    for (person, id), vote in held.last.items():
        tally.update((id, of, vote) for of in {"", held.groups[person]})
    for one in held.comments:
        row: list[Any] = [one.id, one.text]
        for group in ("", *groups):
            given = [tally[one.id, group, vote] for vote in VOTED.values()]
            row += [sum(given), *given]
        yield row


def _times(written: str) -> tuple[str, str]:
    """A time as it is written, in seconds or milliseconds since 1970, and in words."""
    if not written.isdecimal():
        return written, ""
    seconds = int(written) / (1000 if len(written) > len("9999999999") else 1)
    return written, datetime.fromtimestamp(seconds, UTC).strftime(DATETIME)


def _csv(rows: Iterable[Cells]) -> Iterator[str]:
    line = StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        yield line.getvalue()
        line.seek(0)
        line.truncate()
