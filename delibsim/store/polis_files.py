"""Collective statements and ballots of groups as the files that Polis exports of a conversation.

Columns and signs are those of https://compdemocracy.org/export: 1 agrees, -1 disagrees, 0 passes.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from typing import Any

from delibsim.domain.consensus import AGREES, LEFT_OUT, MEDIATOR, ConsensusVote
from delibsim.domain.errors import WrongInput
from delibsim.domain.exported import ExportedSession, Files
from delibsim.domain.study import slug

DATETIME = "%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)"
Cells = Iterable[Any]


@dataclass(frozen=True, eq=False)
class _Ballots:
    """A group's statements by id, its seats, and its votes: when, on which statement, by which
    seat, what; statements and seats by their numbers, a later vote behind an earlier one.
    """

    session: ExportedSession
    texts: Mapping[str, str]
    seats: Sequence[str]
    votes: Sequence[tuple[int | None, int, int, int]]

    @property
    def last(self) -> Mapping[tuple[int, int], int]:
        """The last vote by seat and statement."""
        return {(seat, text): vote for _, text, seat, vote in self.votes}


class PolisExport:
    """Five files a session whose group sought a statement of its own: the candidates are comments,
    the ballots votes.

    Who agrees by 5 to 7 of 7 agrees, by 1 to 3 disagrees, by 4 passes. The author of all comments
    is the mediator, whose number is behind those of the seats. Groups of opinion are not computed.
    """

    name = "polis"
    form = "the five files of an export of Polis, of groups that sought a statement of their own"

    def files(self, study: str, sessions: Iterable[ExportedSession]) -> Files:
        """The files, in a folder a session; WrongInput where no group voted."""
        found = 0
        for one in sessions:
            ballots = _ballots(one)
            if ballots is None:
                continue
            found += 1
            for name, rows in _tables(ballots):
                yield f"{slug(one.run.session.id)}/{name}.csv", _csv(rows)
        if not found:
            raise WrongInput(
                f"study '{study}' has no statements with ballots, which Polis needs: its groups"
                " sought no statement of their own (consensus=schulze)"
            )


def _ballots(one: ExportedSession) -> _Ballots | None:
    consensus = one.run.consensus
    if consensus is None or not consensus.first.cast:
        return None
    rounds = [consensus.first, *([consensus.second] if consensus.second else [])]
    texts = {own.id: own.text for vote in rounds for own in vote.standing}
    seats, ids = list(one.run.session.seats), list(texts)
    votes = [row for n, vote in enumerate(rounds, 1) for row in _cast(one, n, vote, seats, ids)]
    return _Ballots(one, texts, seats, votes)


def _cast(
    one: ExportedSession, number: int, vote: ConsensusVote, seats: list[str], ids: list[str]
) -> Iterator[tuple[int | None, int, int, int]]:
    for ranking in vote.cast:
        time = one.seconds(ranking.participant, f"vote {number}")
        for id, agreement in ranking.agreement.items():
            given = (agreement >= AGREES) - (agreement <= LEFT_OUT)
            yield time, ids.index(id), seats.index(ranking.participant), given


def _tables(found: _Ballots) -> Iterator[tuple[str, Iterator[Cells]]]:
    yield "summary", _summary(found)
    yield "comments", _comments(found)
    yield "votes", _votes(found)
    yield "participants-votes", _participants(found)
    yield "comment-groups", _groups(found)


def _summary(found: _Ballots) -> Iterator[Cells]:
    topic, voters = found.session.run.session.topic, len({seat for seat, _ in found.last})
    yield "topic", topic.question
    yield "url", ""
    yield "voters", voters
    yield "voters-in-conv", voters
    yield "commenters", 1
    yield "comments", len(found.texts)
    yield "groups", 0
    yield "conversation-description", topic.background


def _comments(found: _Ballots) -> Iterator[Cells]:
    head = "timestamp,datetime,comment-id,author-id,agrees,disagrees,moderated,comment-body"
    yield head.split(",")
    for number, (id, text) in enumerate(found.texts.items()):
        given = _given(found, number)
        written = found.session.seconds(MEDIATOR, id)
        counts = given.count(1), given.count(-1)
        yield *_times(written), number, len(found.seats), *counts, 1, text


def _votes(found: _Ballots) -> Iterator[Cells]:
    yield "timestamp,datetime,comment-id,voter-id,vote".split(",")
    for time, text, seat, vote in found.votes:
        yield *_times(time), text, seat, vote


def _participants(found: _Ballots) -> Iterator[Cells]:
    head = "participant,group-id,n-comments,n-votes,n-agree,n-disagree".split(",")
    texts = range(len(found.texts))
    yield [*head, *texts]
    for seat in sorted({seat for seat, _ in found.last}):
        own = [found.last.get((seat, text)) for text in texts]
        given = [vote for vote in own if vote is not None]
        yield seat, "", 0, len(given), given.count(1), given.count(-1), *own


def _groups(found: _Ballots) -> Iterator[Cells]:
    yield "comment-id,comment,total-votes,total-agrees,total-disagrees,total-passes".split(",")
    for number, text in enumerate(found.texts.values()):
        given = _given(found, number)
        yield number, text, len(given), given.count(1), given.count(-1), given.count(0)


def _given(found: _Ballots, text: int) -> list[int]:
    return [vote for (_, own), vote in found.last.items() if own == text]


def _times(seconds: int | None) -> tuple[Any, str]:
    if seconds is None:
        return None, ""
    return seconds, datetime.fromtimestamp(seconds, UTC).strftime(DATETIME)


def _csv(rows: Iterable[Cells]) -> Iterator[str]:
    line = StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        yield line.getvalue()
        line.seek(0)
        line.truncate()
