"""A study as a corpus of ConvoKit (Chang et al. 2020, https://aclanthology.org/2020.sigdial-1.8)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from delibsim.domain.exported import ExportedSession, Files
from delibsim.domain.run import Run, Session
from delibsim.domain.survey import Response, Survey
from delibsim.domain.transcript import PREPARATION

Plain = dict[str, Any]
PARTS = ("utterances", "speakers", "conversations")


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
            meta |= {"cut": said.cut, "given": said.given}
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
    silences = [
        {"turn": s.turn.index, "speaker": s.turn.speaker, "why": s.status} for s in run.silences
    ]
    return {
        "study": study,
        "session": session.id,
        "status": run.status,
        "format": session.format,
        "topic": session.topic.id,
        "question": session.topic.question,
        "survey": session.survey.id,
        "treatment": session.treatment.name,
        "models": "+".join(session.models),
        "replicate": session.replicate,
        "measures": dict(one.measures),
        "undefined": dict(one.undefined),
        "silences": silences,
    }


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
