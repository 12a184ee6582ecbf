"""A study as a log of Inspect (https://inspect.aisi.org.uk): one JSON file that its tools read."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from statistics import fmean
from tempfile import SpooledTemporaryFile
from typing import Any

from delibsim.domain.corpora import ExportedSession, Files
from delibsim.domain.participant import Participant
from delibsim.domain.run import Run
from delibsim.domain.study import slug
from delibsim.domain.survey import PHASES, Phase

Plain = dict[str, Any]
IN_MEMORY = 16_000_000
"""Characters of samples that are kept in memory; more go into a file."""
UNKNOWN = "1970-01-01T00:00:00+00:00"
"""The time of a study that has none on record."""


class InspectLog:
    """A log of an evaluation: a session is a sample, turns and surveys are messages, measures are
    scores.

    Before every message of a participant stands one that says who is asked for what; the prompts
    themselves are in the record of the study. Measures that are undefined are no scores, their
    reasons are metadata.
    """

    name = "inspect"
    form = "an eval log of Inspect: a session is a sample, its turns and surveys are messages"

    def files(self, study: str, sessions: Iterable[ExportedSession]) -> Files:
        """One log, named after the study."""
        yield f"{slug(study)}.json", _pieces(study, sessions)


def _pieces(study: str, sessions: Iterable[ExportedSession]) -> Iterator[str]:
    """The log in pieces: samples last, as readers of its head want it, though the head is known
    only when all samples were made.
    """
    ids, models, times, whole = [], dict[str, None](), list[str](), 0
    values: dict[str, list[float]] = defaultdict(list)
    with SpooledTemporaryFile(IN_MEMORY, "w+", encoding="ascii") as samples:
        for one in sessions:
            session = one.run.session
            samples.write(f"{',' if ids else ''}\n{json.dumps(_sample(one))}")
            ids.append(session.id)
            models |= dict.fromkeys(session.models)
            times += one.times.values()
            whole += one.run.status == "complete"
            for name, value in one.measures.items():
                values[name].append(value)
        head = _head(study, ids, "+".join(models), times)
        scores = [_result(name, own) for name, own in values.items()]
        head["results"] = {"total_samples": len(ids), "completed_samples": whole, "scores": scores}
        yield f'{json.dumps(head)[:-1]}, "samples": ['
        samples.seek(0)
        yield from samples
        yield "\n]}\n"


def _head(study: str, ids: list[str], models: str, times: list[str]) -> Plain:
    software = version("delibsim")
    started, ended = (min(times), max(times)) if times else (UNKNOWN, UNKNOWN)
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": started,
            "task": f"delibsim/{study}",
            "dataset": {"name": study, "samples": len(ids), "sample_ids": ids},
            "model": models or "none",
            "config": {},
            "packages": {"delibsim": software},
        },
        "plan": {"name": "delibsim", "steps": []},
        "stats": {"started_at": started, "completed_at": ended},
    }


def _result(name: str, values: list[float]) -> Plain:
    mean = {"name": "mean", "value": fmean(values)}
    return {"name": name, "scorer": name, "scored_samples": len(values), "metrics": {"mean": mean}}


def _sample(one: ExportedSession) -> Plain:
    session = one.run.session
    asked = [session.topic.question, session.topic.background, session.treatment.instructions]
    return {
        "id": session.id,
        "epoch": 1,
        "input": "\n\n".join(filter(None, asked)),
        "target": "",
        "messages": list(_messages(one.run)),
        "scores": {name: {"value": value} for name, value in one.measures.items()},
        "metadata": {**one.design, "participants": list(map(_person, session.participants))},
    }


def _person(person: Participant) -> Plain:
    own = {"name": person.id, "model": person.model, "role": person.role}
    return {**own, "persona": person.persona}


def _messages(run: Run) -> Iterator[Plain]:
    """What was asked in short, and what came, in the order of the session."""
    waves = dict(run.session.wave_places)
    yield from _surveyed(run, PHASES[0])
    turns = {one.turn.index: one.turn for one in (*run.transcript, *run.silences)}
    said = {one.turn.index: one.text for one in run.transcript}
    for index, turn in sorted(turns.items()):
        for wave in [one for one, place in waves.items() if place < index]:
            del waves[wave]
            yield from _surveyed(run, wave)
        asked = f"Turn {index} (round {turn.round}, {turn.task}): {turn.speaker}"
        facts = {"speaker": turn.speaker, "turn": index, "round": turn.round, "task": turn.task}
        yield from _exchange(run, turn.speaker, f"turn {index}", asked, said.get(index), facts)
    for wave in (*waves, PHASES[1]):
        yield from _surveyed(run, wave)


def _surveyed(run: Run, phase: Phase) -> Iterator[Plain]:
    for one in run.responses:
        if one.phase == phase:
            asked = f"Survey {run.session.survey.id} ({phase}): {one.participant}"
            text = "\n".join(f"{id}: {value}" for id, value in one.answers.items())
            missing = {id: why.code for id, why in one.missing.items()}
            facts: Plain = {
                "speaker": one.participant,
                "phase": phase,
                "answers": dict(one.answers),
            }
            facts |= {"missing": missing}
            yield from _exchange(run, one.participant, phase, asked, text or None, facts)


def _exchange(
    run: Run, speaker: str, occasion: str, asked: str, text: str | None, facts: Plain
) -> Iterator[Plain]:
    """Two messages; the second says so where there was no reply."""
    yield {"role": "user", "content": asked, "source": "input"}
    model = run.session.seated(speaker, occasion).model
    content = "" if text is None else text
    facts = {**facts, "replied": text is not None}
    yield {"role": "assistant", "content": content, "model": model, "metadata": facts}
