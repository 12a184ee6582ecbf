"""Corpora of ConvoKit (Chang et al. 2020, https://aclanthology.org/2020.sigdial-1.8), read and
written.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from delibsim.domain.conversation import VOTES
from delibsim.domain.corpora import (
    AboutConversation,
    AboutSpeaker,
    ExportedSession,
    Files,
    Record,
    Utterance,
)
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Run, Session
from delibsim.domain.survey import PHASES, Phase, Response, Survey
from delibsim.domain.transcript import PREPARATION
from delibsim.store.reading import opened

Plain = dict[str, Any]
PARTS = ("utterances", "speakers", "conversations")
LINE = 2**24
"""Bytes of the longest line that is read."""
CHUNK = 2**20
LATEST = 2**53
"""No time is as many seconds, or milliseconds, after 1970; NaN is no time either."""
ROLES = {"for": "proposition", "against": "opposition", "mod": "moderator", "audience": "audience"}
"""The roles of Oxford debates, as the corpus of Intelligence Squared calls them."""
QUESTIONS = ("question", "motion", "title")
"""Metadata of a conversation that say in words what it is about, the first that there is."""
NAMED = ("topic", *QUESTIONS, "treatment", "results", "winner", "waves")


class Convokit:
    """A folder of ConvoKit: utterances.jsonl, and as far as they are there conversations.json and
    speakers.json.
    """

    name = "convokit"

    def read(self, path: Path) -> Iterator[Record]:
        """What its conversations, speakers and utterances are."""
        file = path / "utterances.jsonl"
        if not file.is_file():
            raise WrongInput(f"{path} is no corpus of ConvoKit: it has no utterances.jsonl")
        for where, id, meta in _metadata(path / "conversations.json"):
            yield _about(where, id, meta)
        for name in ("speakers.json", "users.json"):
            for where, id, meta in _metadata(path / name):
                yield AboutSpeaker(where, id, meta)
        for n, content in enumerate(_lines(file), 1):
            yield _utterance(file, n, content)


def _metadata(file: Path) -> Iterator[tuple[str, str, Plain]]:
    """The members of a file with their metadata and where each stands; none without a file."""
    for id, own in each_member(file) if file.is_file() else ():
        where = f"{file.name}, {id}"
        if not isinstance(own, dict):
            raise WrongInput(f"{file.parent}, {where}: expected an object")
        meta = own.get("meta", own)
        meta = meta if isinstance(meta, dict) else {}
        yield where, id, {name: value for name, value in meta.items() if name != "vectors"}


def _about(where: str, id: str, meta: Plain) -> AboutConversation:
    question = next((str(meta[name]) for name in QUESTIONS if meta.get(name)), "")
    own = [str(meta.get(name) or "") for name in ("treatment", "survey")]
    facts = {name: value for name, value in meta.items() if name not in NAMED}
    votes = _votes(where, meta.get("results"))
    known = meta.get("waves")
    waves = (
        {wave: after for wave, after in known.items() if isinstance(after, int)} if known else {}
    )
    topic = str(meta.get("topic") or "")
    return AboutConversation(where, id, topic, question, *own, votes, facts, waves)


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


def _utterance(file: Path, n: int, content: bytes) -> Utterance:
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
    text, time = own.get("text"), meta["turn"] if ASSUMED in meta else own.get("timestamp")
    segment = meta.get("segment", meta.get("round"))
    role = ROLES.get(str(meta.get("speakertype")), meta.get("role"))
    return Utterance(
        where=where,
        conversation=conversation,
        speaker=speaker,
        text=text if isinstance(text, str) else "",
        id=id,
        reply_to="" if meta.get(ASSUMED) is True else _text(own, "reply-to", "reply_to"),
        time=_text(meta, SAID_AT) or _text(own, "timestamp"),
        number=int(time) if isinstance(time, (int, float)) and abs(time) < LATEST else None,
        round=segment + ("segment" in meta) if isinstance(segment, int) and segment >= 0 else 1,
        role=role if role in ROLES.values() else "citizen",
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


ASSUMED, SAID_AT = "reply_assumed", "said_at"
"""Metadata of our utterances: that nobody said what one replies to, and when it was said."""


class ConvoKitCorpus:
    """A corpus: a statement is an utterance, a participant of a session a speaker, a session a
    conversation, named after its first statement.

    A statement replies to the one before it, unless people said otherwise elsewhere. Answers are
    metadata of speakers, the design and the measures those of conversations. Silences and notes
    before debates are metadata, no utterances; ConvoKit leaves out sessions without any statement.
    """

    name = "convokit"
    form = "a corpus of ConvoKit: utterances, speakers, conversations"

    def files(self, study: str, sessions: Iterable[ExportedSession]) -> Files:
        """The five files of a corpus."""
        known: dict[str, dict[str, Plain]] = {part: {} for part in PARTS}
        surveys: dict[str, Plain] = {}
        yield "utterances.jsonl", _utterances(study, sessions, known, surveys)
        for part in PARTS[1:]:
            plain = {id: {"meta": meta, "vectors": []} for id, meta in known[part].items()}
            yield f"{part}.json", [_json(plain)]
        yield "corpus.json", [_json({"study": study, "surveys": surveys})]
        kinds = {f"{part}-index": _kinds(known[part].values()) for part in PARTS}
        overall = _kinds([{"study": study, "surveys": surveys}])
        yield (
            "index.json",
            [_json({**kinds, "overall-index": overall, "version": 1, "vectors": []})],
        )


def _utterances(
    study: str,
    sessions: Iterable[ExportedSession],
    known: Mapping[str, dict[str, Plain]],
    surveys: dict[str, Plain],
) -> Iterator[str]:
    """A line a statement; what is read of speakers, conversations and surveys is added to these."""
    for one in sessions:
        run, session = one.run, one.run.session
        spoken = [said for said in run.transcript if said.turn.task != PREPARATION]
        ids = {said.turn.index: f"{session.id}/{said.turn.index}" for said in spoken}
        root = next(iter(ids.values()), session.id)
        known["conversations"][root] = _conversation(study, one)
        for name in dict.fromkeys([*session.seats, *(said.turn.speaker for said in spoken)]):
            known["speakers"][f"{session.id}/{name}"] = _speaker(run, name)
        surveys[session.survey.id] = _survey(session.survey)
        answered = _answered(session)
        before = None
        for said in spoken:
            turn, id = said.turn, ids[said.turn.index]
            meta = {"turn": turn.index, "round": turn.round, "task": turn.task}
            meta |= {"cut": said.cut, "given": said.given, ASSUMED: turn.index not in answered}
            meta |= {SAID_AT: one.times.get((turn.speaker, f"turn {turn.index}"), "")}
            meta |= {"role": session.seated(turn.speaker).role}
            known["utterances"].setdefault("", meta)  # one tells the types of all
            yield _json(
                {
                    "id": id,
                    "conversation_id": root,
                    "text": said.text,
                    "speaker": f"{session.id}/{turn.speaker}",
                    "meta": meta,
                    "reply-to": ids.get(answered.get(turn.index, 0), before),
                    "timestamp": one.seconds(turn.speaker, f"turn {turn.index}"),
                    "vectors": [],
                }
            )
            before = id


def _answered(session: Session) -> dict[int, int]:
    """By turn the turn that it answers, where people said so elsewhere."""
    held = session.people.turns if session.people else ()
    return {one.turn.index: one.reply_to for one in held if one.reply_to}


def _conversation(study: str, one: ExportedSession) -> Plain:
    run, session = one.run, one.run.session
    found: Plain = dict(session.people.facts) if session.people else {}
    if session.people and session.people.votes:
        found["results"] = {phase: dict(own) for phase, own in session.people.votes.items()}
    silences = [
        {"turn": s.turn.index, "speaker": s.turn.speaker, "why": s.status} for s in run.silences
    ]
    if session.wave_places:
        found["waves"] = dict(session.wave_places)
    found |= {"study": study, "session": session.id, **one.design}
    found |= {"question": session.topic.question, "models": "+".join(session.models)}
    return found | {"measures": dict(one.measures), "silences": silences}


def _speaker(run: Run, name: str) -> Plain:
    person = run.session.seated(name)
    notes = [
        s.text for s in run.transcript if s.turn.speaker == name and s.turn.task == PREPARATION
    ]
    found: Plain = {"name": name, "session": run.session.id, "model": person.model}
    found |= {"role": person.role, "persona": person.persona, "notes": notes}
    own = [one for one in run.responses if one.participant == name]
    found["answers"] = {one.phase: dict(one.answers) for one in own}
    return found | {"missing": {one.phase: _reasons(one) for one in own}}


def _reasons(response: Response) -> dict[str, str]:
    return {id: why.code for id, why in response.missing.items()}


def _survey(survey: Survey) -> Plain:
    items = {item.id: {"kind": item.kind, "text": item.text} for item in survey.items}
    return {"scale": [survey.scale_min, survey.scale_max], "items": items}


def _kinds(found: Iterable[Plain]) -> dict[str, list[str]]:
    """The types of the members of metadata, as ConvoKit names them."""
    kinds: dict[str, list[str]] = {}
    for meta in found:
        for name, value in meta.items():
            own = kinds.setdefault(name, [])
            if str(type(value)) not in own:
                own.append(str(type(value)))
    return kinds


def _json(plain: Any) -> str:
    """One line in ASCII, which ConvoKit reads whatever the encoding of the system is."""
    return json.dumps(plain, allow_nan=False) + "\n"
