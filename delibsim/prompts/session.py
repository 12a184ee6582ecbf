"""From domain objects and wordings to prompts.

Every prompt is a system message and one user message. All surveys of a group share one system
message, and all its turns share another, in which alone the treatment's instructions stand (unless
`procedure.instructions` is "everywhere"). The user message begins with the transcript and ends with
what is particular to one participant, so that prompts grow at the end and providers' prefix caches
hit.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from string import Template
from typing import Any

from delibsim.domain.format import DELIBERATION
from delibsim.domain.hosting import PERSON
from delibsim.domain.participant import Participant
from delibsim.domain.phases import CLOSING, MOMENTS, NAMED, REPORT, TESTIMONY, Facilitator
from delibsim.domain.run import Session
from delibsim.domain.survey import Phase, Response, Survey
from delibsim.domain.transcript import (
    BRIEFING,
    FACILITATOR,
    PREPARATION,
    QUESTION,
    WITNESS,
    Statement,
    Turn,
)
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import (
    TEXTS,
    answers_block,
    block,
    items_block,
    quoted,
    refuse_unfilled,
    say,
    transcript_block,
)
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Facilitated, Facilitation, Speech, WitnessQuestion, Words
from delibsim.prompts.prompt import Form, Message, Prompt, Purpose


def survey_prompt(
    session: Session,
    participant: Participant,
    phase: Phase,
    order: Sequence[str],
    heard: Sequence[Statement] = (),
    earlier: Response | None = None,
    agreed: str = "",
) -> Prompt:
    """Ask one participant the whole survey, with the items in `order`.

    `heard`, the collective statement that the group `agreed` on before, and `earlier` are shown
    after the first survey as far as the procedure says so.
    """
    procedure = session.procedure
    form = SurveyAnswers(session.survey, reversed_for(session, participant))
    shown = heard if procedure.show_transcript else ()
    # What is asked of everybody stands before what is particular to one.
    parts = [transcript_shown(session, shown)]
    if agreed and procedure.show_transcript:
        parts.append(f"{say(session, 'agreed')}\n{block('statement', quoted(agreed))}")
    parts += [_asked_again(session, participant, phase), form.rules()]
    parts += [particulars(session, participant), _items(session, order)]
    if phase != "pre" and procedure.show_answers:
        parts.append(_answers(session, earlier))
    parts.append(form.ending())
    messages = messages_of(session, parts, instructed=procedure.instructions == "everywhere")
    return Prompt(messages, form, Purpose(participant.id, phase))


def _asked_again(session: Session, participant: Participant, phase: Phase) -> str:
    """What introduces a survey. A model knows of no survey in between, so that each after the first
    is the second to it; a person remembers them all.
    """
    remembers = session.models.get(participant.model, {}).get("kind") in ("human", PERSON)
    if remembers and phase in session.waves[2:]:
        return say(session, "survey_again")
    return say(session, "survey_pre" if phase == "pre" else "survey_post")


def speech_prompt(
    session: Session,
    participant: Participant,
    turn: Turn,
    heard: Sequence[Statement],
    earlier: Response | None = None,
) -> Prompt:
    """Ask one participant, or the facilitator, to take a turn."""
    if turn.role == FACILITATOR:
        return facilitator_prompt(session, turn, heard)
    if turn.role == WITNESS:
        return _witness_prompt(session, participant, turn, heard)
    form = form_of_turn(session, turn)
    notes = [said.text for said in heard if said.turn.task == PREPARATION]
    speeches = [said for said in heard if said.turn.task != PREPARATION]
    parts = [transcript_shown(session, speeches), particulars(session, participant)]
    if session.procedure.recall and earlier is not None and earlier.answers:
        # The survey stands before the transcript, in the order of the instrument: so all speakers'
        # prompts begin alike.
        items = _items(session, [item.id for item in session.survey.items])
        parts = [say(session, "recall"), items, *parts]
        parts += [_scale(session, participant), _answers(session, earlier)]
    if notes:
        quotation = block("notes", quoted(" ".join(notes)))
        parts.append(f"{say(session, 'notes')}\n{quotation}")
    parts += [_task(session, turn), form.describe()]
    messages = messages_of(session, parts, instructed=True)
    return Prompt(messages, form, Purpose(participant.id, f"turn {turn.index}"))


def _witness_prompt(
    session: Session, witness: Participant, turn: Turn, heard: Sequence[Statement]
) -> Prompt:
    """Ask a witness for testimony or an answer; its brief stands where the instructions do."""
    form, topic = form_of_turn(session, turn), session.topic
    background = topic.background if session.procedure.background else ""
    setting = say(session, "witness", group=len(session.participants))
    system = _system(setting, witness.persona, session.kind.subject, topic.question, background)
    named = f"{say(session, 'you')}\n{block('you', witness.id)}"
    parts = [transcript_shown(session, heard), named, _task(session, turn), form.describe()]
    messages = (system, Message("user", _joined(parts)))
    return Prompt(messages, form, Purpose(witness.id, f"turn {turn.index}"))


def form_of_turn(session: Session, turn: Turn) -> Form:
    """The form of what is said in a turn: under rules a speech, otherwise free speech, whoever
    speaks.
    """
    if turn.role == FACILITATOR:
        return facilitator_form(session, turn)
    rules, limit = session.procedure.rules, session.procedure.longest_statement
    if turn.task == QUESTION:
        return WitnessQuestion(limit)
    if rules is None or turn.task == PREPARATION:
        return Words(limit)
    return Speech(rules, limit)


def _scale(session: Session, participant: Participant) -> str:
    """The direction of the scale that a participant saw, where not everybody saw the same."""
    if not session.procedure.reverse_scale:
        return ""
    form = SurveyAnswers(session.survey, reversed_for(session, participant))
    return f"On that survey you rated from {form.scale}."


def _task(session: Session, turn: Turn) -> str:
    """What the speaker of a turn is to do, with the demands of the rules that belong to it."""
    rounds = session.treatment.rounds
    fields: dict[str, object] = {"round": turn.round, "rounds": rounds, **_limits(session)}
    if turn.group:
        others = [name for name in session.small_groups[turn.group - 1] if name != turn.speaker]
        fields["members"] = ", ".join(others)
    task = say(session, turn.task, **fields)
    rules = session.procedure.rules
    demands = () if rules is None else rules.demands(turn.task)
    said = [task, *(say(session, name) for name in demands)]
    if session.procedure.words is not None:
        said.append(say(session, "words", words=session.procedure.words))
    return " ".join(said)


def reversed_for(session: Session, participant: Participant) -> bool:
    """Whether this participant sees the scale the other way round.

    One of every two neighbouring seats does, drawn by name.
    """
    if session.procedure.reverse_scale is None:
        return False
    pair, place = divmod(session.seats.index(participant.id), 2)
    return (session.seed_for("reversed", pair) + place) % 2 == 0


def reask(session: Session, fault: str) -> str:
    """What is said after an unreadable reply, with the concrete fault."""
    return say(session, "reask", fault=fault)


def statement_words(session: Session) -> tuple[int, int]:
    """The least and the most words that a statement is expected to have.

    Where a number of words is asked for, from half of it to a third more. Where none is, from half
    to one and a half times the mean of the published runs, which was 483 words (docs/studies.md).
    The rules of a debate name both ends.
    """
    rules = session.procedure.rules
    if rules is not None:
        return rules.least, rules.most
    asked = session.procedure.words
    return (240, 725) if asked is None else (asked // 2, asked * 4 // 3)


def longest_prompt(session: Session, words: int | None = None) -> Prompt:
    """The longest prompt of a session if every statement has `words` words.

    It is the last survey with the whole transcript. Where nobody is surveyed, or the survey does
    not show the transcript, it is the last turn, with all statements before it.
    """
    if words is None:
        words = statement_words(session)[1]
    said = []
    for slot in session.slots([session.founders] * session.most_rounds):
        told = slot.given if slot.turn.role in (BRIEFING, WITNESS) else None
        said.append(Statement(slot.turn, told or "statement " * words))
    prompts = _last_turns(session, said)
    if session.respondents or not prompts:
        speeches = [own for own in said if own.turn.task != PREPARATION]
        people = session.respondents or session.participants
        prompts.append(_last_survey(session, people, speeches))
    return max(prompts, key=lambda prompt: len(prompt.text))


def _last_turns(session: Session, said: Sequence[Statement]) -> list[Prompt]:
    """The prompts of the last turn of every side, or of the participant with the longest persona,
    and of a facilitator; `said` is what is said in every turn of the session.
    """
    people = {person.id: person for person in (*session.participants, *session.invited)}
    sides = len(session.kind.sides)
    last = [own for own in said if not own.turn.role][-(sides or 1) :]
    if last and not sides:
        speaker = _longest_persona(session.participants)
        last = [replace(last[0], turn=replace(last[0].turn, speaker=speaker.id))]
    last += [own for own in said[-1:] if own.turn.role == FACILITATOR]
    prompts = []
    for own in last:
        speaker = people[own.turn.speaker]
        heard = [
            other
            for other in said[: own.turn.index - 1]
            if other.turn.task != PREPARATION or other.turn.speaker == speaker.id
        ]
        surveyed = not own.turn.role and session.kind.surveyed(speaker.role)
        earlier = _whole_response(session, speaker) if surveyed else None
        prompts.append(speech_prompt(session, speaker, own.turn, heard, earlier))
    return prompts


def _last_survey(
    session: Session, people: Sequence[Participant], said: Sequence[Statement]
) -> Prompt:
    """The last survey of that one of these people who has the longest persona."""
    order = tuple(item.id for item in session.survey.items)
    earlier = _whole_response(session, people[0])
    agreed = "statement" if session.agrees_first else ""
    person = _longest_persona(people)
    return survey_prompt(session, person, "post", order, said, earlier, agreed)


def _longest_persona(people: Sequence[Participant]) -> Participant:
    return max(people, key=lambda person: len(person.persona))


def _whole_response(session: Session, participant: Participant) -> Response:
    """Answers to the first survey, all the highest rating."""
    order = tuple(item.id for item in session.survey.items)
    answers = dict.fromkeys(order, session.survey.scale_max)
    return Response(participant.id, "pre", answers, order=order)


def fixed_prompts(session: Session) -> tuple[Prompt, ...]:
    """What every replicate of a session is asked alike.

    These are the first survey, the first turn of each task and the last survey, of a participant
    without a persona. Frozen hashes are made of them: the last survey holds a statement of one word
    for every participant and round, in every format.
    """
    nobodies = tuple(replace(person, persona="") for person in session.participants)
    order = [item.id for item in session.survey.items]
    tasks = session.kind.tasks if session.treatment.interaction else ()
    turns = [Turn(1, 1, nobodies[0].id, task) for task in tasks]
    rounds = session.treatment.rounds if session.treatment.interaction else 0
    said = []
    for turn in DELIBERATION.turns(nobodies, rounds):
        said.append(Statement(turn, "statement "))
    if session.briefing is not None:
        told = Turn(0, 0, NAMED[BRIEFING], BRIEFING, BRIEFING)
        said.insert(0, Statement(told, session.briefing.told("pro-con")))
    if session.facilitator is not None and rounds:
        turns += [Turn(1, 1, NAMED[FACILITATOR], task, FACILITATOR) for task in MOMENTS]
    speakers = {one.id: one for one in session.invited}
    turns += _fixed_before_rounds(session) if session.treatment.interaction else []
    return (
        survey_prompt(session, nobodies[0], "pre", order),
        *(speech_prompt(session, speakers.get(one.speaker, nobodies[0]), one, ()) for one in turns),
        _last_survey(replace(session, participants=nobodies), nobodies, said),
    )


def _fixed_before_rounds(session: Session) -> list[Turn]:
    """One turn of each task before the rounds, and every testimony that is asked for."""
    first = session.participants[0].id
    tasks = [QUESTION] if session.witnesses and session.procedure.questions else []
    turns = [Turn(1, 0, first, task) for task in tasks]
    turns += [Turn(1, 0, first, REPORT)] if session.small_groups else []
    for witness in session.witnesses:
        if not witness.testimony.strip():
            turns.append(Turn(1, 0, witness.name, TESTIMONY, WITNESS))
    return turns


def messages_of(
    session: Session, parts: Sequence[str], *, instructed: bool
) -> tuple[Message, Message]:
    """The system message, with the instructions if `instructed`, and the user message."""
    topic = session.topic
    setting = say(session, "setting", group=len(session.participants), **_limits(session))
    instructions = session.treatment.instructions if instructed else ""
    background = topic.background if session.procedure.background else ""
    system = _system(setting, instructions, session.kind.subject, topic.question, background)
    return system, Message("user", _joined(parts))


@functools.lru_cache(maxsize=256)  # a session has two
def _system(
    setting: str, instructions: str, subject: str, question: str, background: str
) -> Message:
    """The system message; it ends with the motion, or the question and its background."""
    asked = block(subject, _joined([question.strip(), background.strip()]))
    return Message("system", _joined([setting, instructions.strip(), asked]))


def _joined(parts: Sequence[str]) -> str:
    """The parts that are not empty, an empty line between them."""
    return "\n\n".join(part for part in parts if part)


def particulars(session: Session, participant: Participant) -> str:
    """What is particular to one participant: its name, its role in a debate, its persona."""
    # The name first: a persona may hold anything, and must not pass for the name.
    parts = [say(session, "you"), block("you", participant.id)]
    if participant.role in session.kind.roles:
        parts.append(say(session, participant.role))
    persona = participant.persona.strip()
    if persona:
        parts += [say(session, "persona"), block("persona", persona)]
    return "\n\n".join(parts)


def _limits(session: Session) -> dict[str, object]:
    """The words a speech is to have, where there are rules."""
    rules = session.procedure.rules
    return {} if rules is None else {"least": rules.least, "most": rules.most}


def transcript_shown(session: Session, heard: Sequence[Statement]) -> str:
    """The transcript as far as the procedure shows it; "" if nothing was heard."""
    if not heard:
        return ""
    window = session.procedure.transcript_window
    shown = heard[-window:] if window else heard
    omitted = len(heard) - len(shown)
    parts = [say(session, "transcript")]
    if omitted:
        parts.append(say(session, "left_out", omitted=omitted, heard=len(heard)))
    return "\n\n".join([*parts, transcript_block(shown)])


def _items(session: Session, order: Sequence[str]) -> str:
    """The considerations and the preferences, each under its heading, in `order`."""
    survey = session.survey
    rated = say(session, "considerations") if survey.considerations else ""
    ranked = say(session, "preferences") if survey.preferences else ""
    return _listed(survey, tuple(order), rated, ranked)


@functools.lru_cache(maxsize=1024)  # a participant has one order, and all have that of the survey
def _listed(survey: Survey, order: tuple[str, ...], rated: str, ranked: str) -> str:
    """The considerations and the preferences of a survey, each under its heading."""
    place = {label: i for i, label in enumerate(order)}
    kinds = (
        ("considerations", rated, survey.considerations),
        ("preferences", ranked, survey.preferences),
    )
    parts = []
    for kind, heading, items in kinds:
        if items:
            ordered = sorted(items, key=lambda item: place.get(item.id, len(place)))
            parts.append(f"{heading}\n{items_block(kind, ordered)}")
    return "\n\n".join(parts)


def _answers(session: Session, earlier: Response | None) -> str:
    """A participant's own first answers, in the numbers it gave."""
    if earlier is None or not earlier.answers:
        return ""
    given = session.survey.mirrored(earlier.answers) if earlier.reversed else earlier.answers
    return f"{say(session, 'answers')}\n{answers_block(given, earlier.order)}"


FIELDS = {
    "setting": ("group",),
    **dict.fromkeys(MOMENTS, ("group", "round", "rounds")),
    "words": ("words",),
    "next": ("waiting",),
}
"""The fields that are filled in, by text."""


def facilitator_prompt(session: Session, turn: Turn, heard: Sequence[Statement]) -> Prompt:
    """Ask the facilitator to take a turn, after everything that it has heard."""
    assert session.facilitator is not None
    facilitator, procedure = session.facilitator, session.procedure
    form = facilitator_form(session, turn, heard)
    people, rounds = len(session.participants), session.treatment.rounds

    def say(name: str, **fields: object) -> str:
        given = tuple((field, str(value)) for field, value in fields.items())
        return _filled(facilitator.texts[name], *given)

    background = session.topic.background.strip() if procedure.background else ""
    asked = block("topic", _joined([session.topic.question.strip(), background]))
    system = [say("setting", group=people), facilitator.instructions.strip(), asked]
    parts = [f"{say('transcript')}\n\n{transcript_block(heard)}"] if heard else []
    parts.append(f"{say('participants')}\n{block('participants', chr(10).join(form.people))}")
    parts.append(f"{say('you')}\n{block('you', turn.speaker)}")
    said = [say(turn.task, group=people, round=turn.round, rounds=rounds)]
    if procedure.words is not None:
        said.append(say("words", words=procedure.words))
    if form.waiting:
        said.append(say("next", waiting=", ".join(form.waiting)))
    parts += [" ".join(said), form.describe()]
    messages = (Message("system", _joined(system)), Message("user", _joined(parts)))
    return Prompt(messages, form, Purpose(turn.speaker, f"turn {turn.index}"))


def facilitator_form(session: Session, turn: Turn, heard: Sequence[Statement] = ()) -> Facilitation:
    """The form of what a facilitator says in a turn. Where the procedure lets it name the next
    speaker, those wait who have not spoken in the round, or all once the round is over.
    """
    people = tuple(person.id for person in session.participants)
    waiting: tuple[str, ...] = ()
    if session.procedure.facilitator_names and turn.task != CLOSING:
        spoken = {said.turn.speaker for said in heard if said.turn.round == turn.round}
        waiting = tuple(name for name in people if name not in spoken) or people
    return Facilitation(turn.task, people, waiting, session.procedure.longest_statement)


def stated(turn: Turn, said: Any) -> Statement:
    """What was said in a turn, as a statement, from the value of the reply."""
    if isinstance(said, Facilitated):
        return Statement(turn, said.text, names=said.names)
    return Statement(turn, said)


def check_facilitator(facilitator: Facilitator) -> None:
    """Refuse a preset that lacks a text, or fills in another field in one; WrongInput."""
    wording = Wording(f"facilitator {facilitator.name}", facilitator.texts)
    refuse_unfilled(wording, TEXTS["facilitator"], FIELDS)


@functools.lru_cache(maxsize=256)
def _filled(text: str, *fields: tuple[str, str]) -> str:
    return Template(text).substitute(dict(fields)).strip()
