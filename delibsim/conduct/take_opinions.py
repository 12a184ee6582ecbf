"""Taking opinions from the runs of a study into a study of texts."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from delibsim.asking.texts import BETWEEN
from delibsim.conduct.import_texts import add_texts, study_of_texts
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.summary import stance_at
from delibsim.domain.survey import PHASES
from delibsim.domain.text import study_named
from delibsim.domain.transcript import PREPARATION
from delibsim.store.runs import Runs
from delibsim.store.study_texts import refuse_texts

TAKES = ("last", "all", "position")
"""What of a participant's words is the opinion: the last statement, all of them joined, or the
position that it wrote where the group sought a statement of its own.
"""
NOT_ASKED = Reason("not_asked")
"""Why there is no position where a run asked nobody for one."""


@dataclass(frozen=True)
class Taking:
    """What is taken: which words, the survey item that gives the stance ("" none) and its phase,
    and the topic ("" takes each).
    """

    take: str = "last"
    item: str = ""
    phase: str = "post"
    topic: str = ""


@dataclass(frozen=True)
class TakenOpinions:
    """The opinions on one topic: the study that holds them now, how many are new, and all; and of
    the participants without an opinion, how many for each reason code.
    """

    runs: Runs
    question: str
    new: int
    texts: tuple[Text, ...]
    missing: Mapping[str, int]


@dataclass(frozen=True)
class _Topic:
    """What is found on a topic: its question, the opinions, and by reason code those missing."""

    question: str
    texts: list[Text] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)


def take_opinions(
    source: Runs, study: str, root: Path, taking: Taking, faults: list[str]
) -> list[TakenOpinions]:
    """Add the opinions of the participants of a study to a study of texts, one a topic: that of
    the name given or, of several topics, NAME_TOPIC. What could not be read is added to `faults`,
    and so is a topic on which nobody has an opinion where others have.

    The question is that of the topic. WrongInput where there is no opinion at all, and for an item
    that cannot give a stance.
    """
    if taking.take not in TAKES:
        raise unknown("value of take", taking.take, TAKES)
    if taking.phase not in PHASES:
        raise unknown("value of phase", taking.phase, PHASES)
    refuse_texts(source, "opinions are taken from sessions here")
    topics: dict[str, _Topic] = {}
    for run in source.readable(faults):
        topic = run.session.topic
        own = topics.setdefault(topic.id, _Topic(topic.question))
        if taking.topic in ("", topic.id):
            texts, missing = _opinions(run, taking)
            own.texts.extend(texts)
            own.missing.update(missing)
    if taking.topic and taking.topic not in topics:
        raise unknown("topic", taking.topic, topics)
    spoken = {topic: own for topic, own in topics.items() if own.texts}
    if not spoken:
        _refuse_none(source, taking, topics.values())
    found = []
    for topic, own in topics.items():
        name = study if len(spoken) == 1 else f"{study}_{topic}"
        if own.texts:
            found.append(_taken(study_of_texts(name, root), source.study, own, taking))
        elif own.missing:
            faults.append(f"topic {topic}: no opinion ({missing_told(own.missing)})")
    return found


def missing_told(missing: Mapping[str, int]) -> str:
    """How many participants have no opinion, by reason code.

    >>> missing_told({"refusal": 2, "not_asked": 1})
    'not_asked 1, refusal 2'
    """
    return ", ".join(f"{code} {n:,}" for code, n in sorted(missing.items()))


def _refuse_none(source: Runs, taking: Taking, topics: Iterable[_Topic]) -> None:
    """WrongInput for a study that has no opinion of this kind."""
    named = study_named(source.study)
    missing = sum((own.missing for own in topics), Counter[str]())
    if taking.take != "position":
        raise WrongInput(f"nobody has spoken in {named}; hold its sessions")
    why = f" ({missing_told(missing)})" if missing else ""
    raise refused("no_written_positions", named=named, why=why)


def _taken(target: Runs, source: str, own: _Topic, taking: Taking) -> TakenOpinions:
    """Add the opinions on one topic to a study of texts."""
    part = {
        "file": source,
        "sha256": _digest(own.texts),
        "rows": len(own.texts),
        "question": own.question,
        "kind": "stance" if taking.item else "open",
        "taken": {"take": taking.take, "item": taking.item, "phase": taking.phase},
    }
    fresh, held = add_texts(target, own.texts, part, lambda kept: _refuse(own.texts, kept))
    return TakenOpinions(target, own.question, fresh, held, dict(own.missing))


def _opinions(run: Run, taking: Taking) -> tuple[list[Text], Counter[str]]:
    """The opinion of every participant of a run who has one, and why others have none."""
    if taking.take == "position":
        said, silent = _positions(run)
    else:
        said, silent = _statements(run, taking.take)
    models = {one.id: one.model for one in run.session.participants}
    found = []
    for person, text in sorted(said.items()):
        stance = _stance(run, person, taking) if taking.item else ""
        id, group = f"{run.session.id}/{person}", run.session.id
        own = Text(id, text, group, source=taking.take, stance=stance)
        facts = {
            "speaker": person,
            "model": models[person],
            "treatment": run.session.treatment.name,
        }
        found.append(replace(own, author=id, facts=facts))
    return found, Counter(reason.code for reason in silent.values())


def _statements(run: Run, take: str) -> tuple[dict[str, str], dict[str, Reason]]:
    """What everybody said who spoke, and why others whose turn it was said nothing."""
    spoken: dict[str, list[str]] = {}
    for said in run.speech:
        if said.turn.task != PREPARATION:
            spoken.setdefault(said.turn.speaker, []).append(said.text)
    silent = {}
    for silence in run.silences:
        turn = silence.turn
        aside = turn.role or turn.task == PREPARATION
        if not aside and turn.speaker not in spoken:
            silent[silence.turn.speaker] = silence.why
    joined = {}
    for person, words in spoken.items():
        joined[person] = words[-1] if take == "last" else BETWEEN.join(words)
    return joined, silent


def _positions(run: Run) -> tuple[dict[str, str], dict[str, Reason]]:
    """The position of everybody who wrote one, and why others have none."""
    rule = run.session.consensus
    if rule is None or rule.position != "written" or run.consensus is None:
        return {}, {person.id: NOT_ASKED for person in run.session.respondents}
    written, missing = {}, {}
    for one in run.consensus.positions:
        if one.missing is None:
            written[one.participant] = one.text
        else:
            missing[one.participant] = one.missing
    return written, missing


def _stance(run: Run, person: str, taking: Taking) -> str:
    """The stance of a participant by a survey item, "" where the answer is missing."""
    survey = run.session.survey
    items = {item.id: item for item in survey.items}
    if taking.item not in items:
        raise unknown("item", taking.item, items, f"Items are those of survey {survey.id}")
    if items[taking.item].kind != "consideration":
        raise refused("item_is_ranked", item=taking.item)
    phase = "pre" if taking.phase == "pre" else "post"
    try:
        answer = run.response(person, phase).answers.get(taking.item)
    except KeyError:
        return ""
    return "" if answer is None else stance_at(answer, survey.scale_min, survey.scale_max)


def _digest(texts: list[Text]) -> str:
    """SHA-256 of what is taken, word for word, with its stances."""
    joined = "\0".join(f"{text.id}\0{text.stance}\0{text.sha256}" for text in texts)
    return hashlib.sha256(joined.encode(errors="surrogatepass")).hexdigest()


def _refuse(texts: list[Text], kept: Mapping[str, Text]) -> None:
    """WrongInput where an opinion of that id stands with other words or another stance."""
    for text in texts:
        before = kept.get(text.id)
        if before is not None and (before.text, before.stance) != (text.text, text.stance):
            raise refused("text_would_change", id=text.id)
