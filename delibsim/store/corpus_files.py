"""The importers that ship: a corpus of ConvoKit, a table of turns, an export of Polis."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from delibsim.domain.conversation import VOTES
from delibsim.domain.corpora import AboutConversation, Comment, Record, Unplaced, Utterance
from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import PHASES, Phase
from delibsim.store.reading import file_text, opened
from delibsim.store.tables.csv_cells import read_columns, streamed

LINE = 2**24
"""Bytes of the longest line that is read."""
CHUNK = 2**20
LATEST = 2**53
"""No time is as many seconds, or milliseconds, after 1970; NaN is no time either."""
ROLES = {"for": "proposition", "against": "opposition", "mod": "moderator", "audience": "audience"}
"""The roles of Oxford debates, as the corpus of Intelligence Squared calls them."""
QUESTIONS = ("question", "motion", "title")
"""Metadata of a conversation that say in words what it is about, the first that there is."""
NAMED = ("topic", *QUESTIONS, "treatment", "results", "winner")


class Convokit:
    """A folder of ConvoKit: utterances.jsonl and conversations.json; the speakers' metadata, which
    say who they are, are not read.
    """

    name = "convokit"

    def read(self, path: Path) -> Iterator[Record]:
        """What its conversations and utterances are."""
        if not (path / "utterances.jsonl").is_file():
            raise WrongInput(f"{path} is no corpus of ConvoKit: it has no utterances.jsonl")
        if (path / "conversations.json").is_file():
            for id, own in each_member(path / "conversations.json"):
                yield from _about(path, id, own)
        for name in ("speakers.json", "users.json"):
            if (path / name).is_file():
                yield Unplaced(f"metadata of speakers, which may say who they are ({name})")
        file = path / "utterances.jsonl"
        for n, content in enumerate(_lines(file), 1):
            yield from _utterance(file, n, content)


def _about(path: Path, id: str, own: Any) -> Iterator[Record]:
    where = f"conversations.json, {id}"
    if not isinstance(own, dict):
        raise WrongInput(f"{path}, {where}: expected an object")
    meta = own.get("meta", own)
    meta = meta if isinstance(meta, dict) else {}
    votes = _votes(where, meta.get("results"))
    question = next((str(meta[name]) for name in QUESTIONS if meta.get(name)), "")
    facts = {}
    for name, value in meta.items():
        if name in NAMED or name == "vectors":
            continue
        if isinstance(value, (str, int, float)):
            facts[name] = str(value)
        elif value is not None:
            yield Unplaced(f"metadata of conversations that are no text or number: {name}")
    topic, treatment = (str(meta.get(name) or "") for name in ("topic", "treatment"))
    yield AboutConversation(where, id, topic, question, treatment, votes, facts)


def _votes(where: str, results: Any) -> dict[Phase, dict[str, float]]:
    """The shares of an audience before and after a debate; none where there are no results."""
    found: dict[Phase, dict[str, float]] = {}
    for phase in PHASES if isinstance(results, dict) else ():
        given = results.get(phase)
        if not isinstance(given, dict):
            continue
        shares = {vote: given.get(vote) for vote in VOTES}
        numbers = [one for one in shares.values() if isinstance(one, (int, float))]
        if len(numbers) < len(VOTES) or not 99 <= sum(numbers) <= 101 or min(numbers) < 0:
            told = ", ".join(f"{vote} {share}" for vote, share in shares.items())
            raise WrongInput(f"{where}: votes {phase} are no shares of 100 percent ({told})")
        found[phase] = dict(zip(VOTES, map(float, numbers), strict=True))
    return found


def _utterance(file: Path, n: int, content: bytes) -> Iterator[Record]:
    where = f"line {n}"
    try:
        own = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise WrongInput(f"{file}, {where} is not UTF-8; save the file as UTF-8") from None
    except (ValueError, RecursionError):
        ends = "" if content.endswith(b"\n") else ": the corpus breaks off there"
        raise WrongInput(f"{file}, {where} is no JSON{ends}") from None
    if not isinstance(own, dict):
        raise WrongInput(f"{file}, {where}: expected an object")
    meta = own.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    id = _text(own, "id")
    speaker = _text(own, "speaker", "user")
    conversation = _text(own, "conversation_id", "root") or id
    text, time = own.get("text"), own.get("timestamp")
    segment = meta.get("segment", meta.get("round"))
    yield Utterance(
        where=where,
        conversation=conversation,
        speaker=speaker,
        text=text if isinstance(text, str) else "",
        id=id,
        reply_to=_text(own, "reply-to", "reply_to"),
        time=_text(own, "timestamp"),
        number=int(time) if isinstance(time, (int, float)) and abs(time) < LATEST else None,
        round=segment + ("segment" in meta) if isinstance(segment, int) and segment >= 0 else 1,
        role=ROLES.get(str(meta.get("speakertype")), "citizen"),
    )


def _text(own: Mapping[str, Any], *names: str) -> str:
    """The first of these members that there is, as text; "" without any."""
    found = next((own[name] for name in names if own.get(name) is not None), "")
    return found if isinstance(found, str) else json.dumps(found)


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file that are not empty, each read when it is asked for."""
    with opened(path) as file:
        while line := file.readline(LINE):
            if len(line) == LINE:
                raise WrongInput(f"{path} has a line of more than {LINE:,} bytes")
            if line.strip():
                yield line


def each_member(path: Path) -> Iterator[tuple[str, Any]]:
    """The members of the object that a JSON file holds, each read when it is asked for, so that a
    file of any size can be read; WrongInput where it is none.
    """
    decode, skip = json.JSONDecoder().raw_decode, re.compile(r"[\s,:]*").match
    try:
        with path.open(encoding="utf-8-sig") as file:
            text, at = file.read(CHUNK).lstrip(), 1
            whole = text.startswith("{")
            while whole and not text.startswith("}", at := _end(skip(text, at))):
                try:
                    key, end = decode(text, at)
                    value, end = decode(text, _end(skip(text, end)))
                    whole = end < len(text)  # a number may go on
                except (ValueError, RecursionError):
                    whole = False
                if whole:
                    yield str(key), value
                    at = end
                elif more := file.read(max(CHUNK, len(text) - at)):
                    text, at, whole = text[at:] + more, 0, True
    except UnicodeDecodeError:
        raise WrongInput(f"{path} is not UTF-8; save the file as UTF-8") from None
    if not whole:
        raise WrongInput(f"{path} is no JSON object, or breaks off")


def _end(found: re.Match[str] | None) -> int:
    return 0 if found is None else found.end()


TURN_COLUMNS = ("session", "turn", "speaker", "text")
OPTIONAL = ("round", "topic", "treatment", "time", "role", "reply_to")


class Turns:
    """A CSV file with a row a turn."""

    name = "turns"

    def read(self, path: Path) -> Iterator[Record]:
        """Its rows, and of each session its topic and treatment."""
        told: dict[str, tuple[str, str]] = {}
        header, rows = streamed(path, TURN_COLUMNS)
        for name in header:
            if name not in (*TURN_COLUMNS, *OPTIONAL):
                yield Unplaced(f"columns that are not known: {name}")
        for line, row in rows:
            where = f"line {line}"
            session = row["session"].strip()
            about = row.get("topic", "").strip(), row.get("treatment", "").strip()
            if session not in told:
                told[session] = about
                yield AboutConversation(where, session, about[0], treatment=about[1])
            elif told[session] != about:
                differ = f"the session {session} has another topic or treatment than in its first"
                raise WrongInput(f"{path}, {where}: {differ} row")
            number = _whole(path, where, row, "turn")
            yield Utterance(
                where=where,
                conversation=session,
                speaker=row["speaker"].strip(),
                text=row["text"],
                id=str(number),
                reply_to=row.get("reply_to", "").strip(),
                time=row.get("time", "").strip(),
                number=number,
                round=_whole(path, where, row, "round") if row.get("round", "").strip() else 1,
                role=row.get("role", "").strip() or "citizen",
            )


def _whole(path: Path, where: str, row: Mapping[str, str], name: str) -> int:
    cell = row[name].strip()
    if not (cell.isascii() and cell.isdecimal() and len(cell) < 10):
        raise WrongInput(f"{path}, {where}: {name} is a whole number from 0, not '{cell[:40]}'")
    return int(cell)


COUNTS = ("agrees", "disagrees", "moderated")
VOTED = {"1": "agrees", "-1": "disagrees", "0": "passes"}


class Polis:
    """An export of Polis: comments.csv and, as far as they are there, votes.csv,
    participants-votes.csv and summary.csv.
    """

    name = "polis"

    def read(self, path: Path) -> Iterator[Record]:
        """Its comments, with the votes on each, in all and by opinion group."""
        question, passes = _question(path / "summary.csv"), _passes(path / "votes.csv")
        voters = _voters(path / "participants-votes.csv")
        group_of = {row["participant"]: row.get("group-id", "") for row in voters}
        file = path / "comments.csv"
        for line, row in read_columns(file, ["comment-id", "comment-body"]).records():
            id, author = row["comment-id"], row.get("author-id", "")
            facts = {name: row[name] for name in COUNTS if name in row}
            facts |= {"author_group": group_of.get(author, "")}
            facts |= {} if passes is None else {"passes": str(passes[id])}
            for group in sorted({*group_of.values()} - {""}):
                own = [one.get(id, "") for one in voters if one.get("group-id") == group]
                for vote, word in VOTED.items():
                    facts[f"group_{group}_{word}"] = str(own.count(vote))
            yield Comment(f"{file}, line {line}", id, author, row["comment-body"], question, facts)


def _question(file: Path) -> str:
    """What comments answer, as a summary without a header says; "" where it does not."""
    if not file.is_file():
        return ""
    rows = csv.reader(file_text(file).splitlines())
    known = {row[0].strip(): row[1].strip() for row in rows if len(row) > 1}
    return known.get("conversation-description") or known.get("topic", "")


def _passes(file: Path) -> Counter[str] | None:
    """How many passed over each comment; who votes again has changed her mind. None without a
    file of votes.
    """
    if not file.is_file():
        return None
    last: dict[tuple[str, str], str] = {}
    for line, row in streamed(file, ("comment-id", "voter-id", "vote"))[1]:
        vote = row["vote"].strip()
        if vote not in VOTED:
            raise WrongInput(f"{file}, line {line}: a vote is -1, 0 or 1, not '{vote[:40]}'")
        last[row["comment-id"].strip(), row["voter-id"]] = vote
    return Counter(comment for (comment, _), vote in last.items() if vote == "0")


def _voters(file: Path) -> list[dict[str, str]]:
    """The participants with their opinion group, and their vote on each comment."""
    if not file.is_file():
        return []
    return [row for _, row in read_columns(file, ["participant"]).records()]
