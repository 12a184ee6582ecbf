"""From domain objects and wordings to prompts.

Every prompt is a system message and one user message. All surveys of a group share one system
message, and all its turns share another, in which alone the treatment's instructions stand (unless
`procedure.instructions` is "everywhere"). The user message begins with the transcript and ends with
what is particular to one participant, so that prompts grow at the end and providers' prefix caches
hit.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import Template

from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES, Participant
from delibsim.domain.run import Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import PREPARATION, Statement, Turn
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import answers_block, block, items_block, quoted, transcript_block
from delibsim.prompts.forms.speech import Speech
from delibsim.prompts.prompt import Form, Message, Prompt, Purpose, SurveyAnswers, Words

FIELDS = {
    "setting": ("group",),
    "speak": ("round", "rounds"),
    "words": ("words",),
    "reask": ("fault",),
    "left_out": ("omitted", "heard"),
}
"""What is filled into the texts of a wording; the others are said as they are."""
LEFT_OUT = "Earlier statements are left out here: $omitted of the $heard that you have heard."
"""Said where the procedure has a transcript_window, unless the wording has a text `left_out` of its
own.
"""
TEXTS = (
    "setting", "persona", "you", "transcript", "survey_pre", "survey_post", "answers", "recall", "considerations", "preferences",
    "speak", "reask",
)  # fmt: skip
DEBATE_FIELDS = dict.fromkeys(("setting", "opening", "rebuttal", "closing"), ("least", "most")) | {
    "reask": ("fault",)
}
DEBATE_TEXTS = (
    "setting", "persona", "you", "proposition", "opposition", "audience", "transcript", "preparation", "notes", "opening", "rebuttal",
    "closing", "survey_pre", "survey_post", "answers", "considerations", "reask",
)  # fmt: skip
"""The texts that the wording of a debate needs instead, and what is filled into them."""


def survey_prompt(
    session: Session,
    participant: Participant,
    phase: Phase,
    order: Sequence[str],
    heard: Sequence[Statement] = (),
    earlier: Response | None = None,
) -> Prompt:
    """Ask one participant the whole survey, with the items in `order`.

    `heard` and `earlier` are shown in the post survey as far as the procedure says so.
    """
    procedure, form = (
        session.procedure,
        SurveyAnswers(session.survey, reversed_for(session, participant)),
    )
    # What is asked of everybody stands before what is particular to one.
    parts = [
        _transcript(session, heard if procedure.show_transcript else ()),
        _say(session, f"survey_{phase}"),
        form.rules(),
    ]
    parts += [_particulars(session, participant), _items(session, order)]
    if phase == "post" and procedure.show_answers:
        parts.append(_answers(session, earlier))
    told = session.procedure.instructions == "everywhere"
    messages = _messages(session, [*parts, form.ending()], instructed=told)
    return Prompt(messages, form, Purpose(participant.id, phase))


def speech_prompt(
    session: Session,
    participant: Participant,
    turn: Turn,
    heard: Sequence[Statement],
    earlier: Response | None = None,
) -> Prompt:
    """Ask one participant to take a turn."""
    form: Form = Words(session.procedure.longest_statement)
    if session.procedure.rules is not None and turn.task != PREPARATION:
        form = Speech(session.procedure.rules, session.procedure.longest_statement)
    notes = [said.text for said in heard if said.turn.task == PREPARATION]
    heard = [said for said in heard if said.turn.task != PREPARATION]
    recall = session.procedure.recall and earlier is not None and bool(earlier.answers)
    # The survey stands before the transcript, in the order of the instrument: so all speakers'
    # prompts begin alike.
    items = (
        f"{_say(session, 'recall')}\n\n{_items(session, [item.id for item in session.survey.items])}"
        if recall
        else ""
    )
    parts = [items, _transcript(session, heard), _particulars(session, participant)]
    if recall:
        if session.procedure.reverse_scale:  # or the numbers would not say which way they point
            parts.append(
                "On that survey you rated from"
                f" {SurveyAnswers(session.survey, reversed_for(session, participant)).scale}."
            )
        parts.append(_answers(session, earlier))
    if notes:
        parts.append(f"{_say(session, 'notes')}\n{block('notes', quoted(' '.join(notes)))}")
    messages = _messages(session, [*parts, _task(session, turn), form.describe()], instructed=True)
    return Prompt(messages, form, Purpose(participant.id, f"turn {turn.index}"))


def _task(session: Session, turn: Turn) -> str:
    """What the speaker of a turn is to do, with the demands of the rules that belong to it."""
    rounds = session.treatment.rounds
    task = _say(session, turn.task, round=turn.round, rounds=rounds, **_limits(session))
    rules = session.procedure.rules
    demands = () if rules is None else rules.demands(turn.task)
    said = [task, *(_say(session, name) for name in demands)]
    if session.procedure.words is not None:
        said.append(_say(session, "words", words=session.procedure.words))
    return " ".join(said)


def reversed_for(session: Session, participant: Participant) -> bool:
    """Whether this participant sees the scale the other way round: one, drawn by name, of every two
    neighbouring seats.
    """
    if session.procedure.reverse_scale is None:
        return False
    seats = [person.id for person in session.participants]
    pair, place = divmod(seats.index(participant.id), 2)
    return (session.seed_for("reversed", pair) + place) % 2 == 0


def reask(session: Session, prompt: Prompt, reply: str, fault: str) -> Prompt:
    """The same prompt once more, after an unreadable reply, with the concrete fault."""
    messages = (
        *prompt.messages,
        Message("assistant", reply),
        Message("user", _say(session, "reask", fault=fault)),
    )
    form = prompt.reply.again() if isinstance(prompt.reply, Speech) else prompt.reply
    return Prompt(messages, form, replace(prompt.purpose, attempt=prompt.purpose.attempt + 1))


def statement_words(session: Session) -> tuple[int, int]:
    """How many words a statement may be expected to have, at least and at most, by what speakers
    are asked for.

    Where a number of words is asked for, from half of it to a third more. Where none is, from half
    to one and a half times the mean of the published runs, which was 483 words (docs/studies.md).
    The rules of a debate name both ends. A wording without the text `words` names a number itself,
    as that of version 0.1 did: 150.
    """
    rules = session.procedure.rules
    if rules is not None:
        return rules.least, rules.most
    asked = session.procedure.words or (None if "words" in session.wording.texts else 150)
    return (240, 725) if asked is None else (asked // 2, asked * 4 // 3)


def longest_prompt(session: Session, words: int | None = None) -> Prompt:
    """The longest prompt of a session if every statement has so many words: the last survey, with
    the whole transcript.
    """
    if words is None:
        words = statement_words(session)[1]
    people = session.participants
    turns = range(len(people) * session.treatment.rounds if session.treatment.interaction else 0)
    said = [
        Statement(
            Turn(i + 1, i // len(people) + 1, people[i % len(people)].id), "statement " * words
        )
        for i in turns
    ]
    order = tuple(item.id for item in session.survey.items)
    answers = Response(
        people[0].id, "pre", dict.fromkeys(order, session.survey.scale_max), order=order
    )
    return survey_prompt(
        session, max(people, key=lambda person: len(person.persona)), "post", order, said, answers
    )


def fixed_prompts(session: Session) -> tuple[Prompt, ...]:
    """What every replicate of a session is asked alike: first survey, first turn and last survey,
    of somebody without a persona.
    """
    person = replace(session.participants[0], persona="")
    order = [item.id for item in session.survey.items]
    nobody = replace(
        session,
        participants=(person, *(replace(other, persona="") for other in session.participants[1:])),
    )
    tasks = ("opening", "rebuttal", "closing") if session.format == "debate" else ("speak",)
    turns = [
        speech_prompt(session, person, Turn(1, 1, person.id, task), ())
        for task in tasks
        if session.treatment.interaction
    ]
    return (survey_prompt(session, person, "pre", order), *turns, longest_prompt(nobody, words=1))


def rehearse(session: Session) -> None:
    """Fill in every text of the wording once, so that one that is missing or cannot be filled in is
    found before a session.
    """
    wording = session.wording
    if session.format == "debate":
        rules = session.procedure.rules
        demands = () if rules is None else rules.demands()
        for name in demands:
            if name not in wording.texts:
                raise WrongInput(
                    f"procedure.rules.{name} is on, and wording '{wording.id}' has no text '{name}'"
                    f" to say it with; write that text into conf/wording/{wording.id}.yaml, or"
                    " leave the rule off"
                )
        refuse_unfilled(wording, (*DEBATE_TEXTS, *demands), DEBATE_FIELDS)
        return
    if session.procedure.words is not None and "words" not in wording.texts:
        raise WrongInput(
            f"wording '{wording.id}' lacks the text 'words', in which $words is filled in, and"
            f" procedure.words is {session.procedure.words}: add the text, or set"
            " procedure.words=null, and the wording alone says how long a speech is to be"
        )
    refuse_unfilled(wording, (*TEXTS, *({"left_out", "words"} & set(wording.texts))), FIELDS)


def refuse_unfilled(
    wording: Wording, texts: Sequence[str], fields: Mapping[str, Sequence[str]]
) -> None:
    """Refuse a wording that lacks a text, or has one that cannot be filled in with these fields;
    WrongInput.
    """
    for name in texts:
        if name not in wording.texts:
            raise WrongInput(
                f"wording '{wording.id}' lacks the text '{name}'; it needs: {', '.join(texts)}"
            )
        try:
            Template(wording.texts[name]).substitute(dict.fromkeys(fields.get(name, ()), ""))
        except KeyError as error:
            there = ", ".join(f"${field}" for field in fields.get(name, ())) or "none"
            raise WrongInput(
                f"wording '{wording.id}', text '{name}': ${error.args[0]} is not filled in there;"
                f" fields are: {there}"
            ) from None
        except ValueError as error:
            raise WrongInput(
                f"wording '{wording.id}', text '{name}': {error}; a dollar sign is written $$"
            ) from None


def _messages(
    session: Session, parts: Sequence[str], *, instructed: bool
) -> tuple[Message, Message]:
    """What the group shares, with the treatment's instructions where these are told, and what
    follows.
    """
    setting = _say(session, "setting", group=len(session.participants), **_limits(session))
    instructions = session.treatment.instructions.strip() if instructed else ""
    system = _joined([setting, instructions, _subject(session)])
    return Message("system", system), Message("user", _joined(parts))


def _subject(session: Session) -> str:
    """The motion of a debate; the question of a deliberation, with its background where the
    procedure has it told.
    """
    topic = session.topic
    background = topic.background.strip() if session.procedure.background else ""
    tag = "motion" if session.format == "debate" else "topic"
    return block(tag, _joined([topic.question.strip(), background]))


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _particulars(session: Session, participant: Participant) -> str:
    persona = participant.persona.strip()
    parts = [_say(session, "persona"), block("persona", persona)] if persona else []
    # The name first: a persona may hold anything, and must not pass for the name.
    side = [_say(session, participant.role)] if participant.role in (*SIDES, "audience") else []
    return "\n\n".join([_say(session, "you"), block("you", participant.id), *side, *parts])


def _limits(session: Session) -> dict[str, object]:
    """The words a speech is to have, where there are rules."""
    rules = session.procedure.rules
    return {} if rules is None else {"least": rules.least, "most": rules.most}


def _transcript(session: Session, heard: Sequence[Statement]) -> str:
    if not heard:
        return ""
    shown = heard[-window:] if (window := session.procedure.transcript_window) else heard
    omitted = len(heard) - len(shown)
    told = [_say(session, "left_out", omitted=omitted, heard=len(heard))] if omitted else []
    return "\n\n".join([_say(session, "transcript"), *told, transcript_block(shown)])


def _items(session: Session, order: Sequence[str]) -> str:
    place = {label: i for i, label in enumerate(order)}
    survey = session.survey
    return "\n\n".join(
        f"{_say(session, tag)}\n{items_block(tag, sorted(items, key=lambda item: place.get(item.id, len(place))))}"
        for tag, items in (
            ("considerations", survey.considerations),
            ("preferences", survey.preferences),
        )
        if items
    )


def _answers(session: Session, earlier: Response | None) -> str:
    """A participant's own first answers, in the numbers it gave."""
    if earlier is None or not earlier.answers:
        return ""
    given = session.survey.mirrored(earlier.answers) if earlier.reversed else earlier.answers
    return f"{_say(session, 'answers')}\n{answers_block(given, earlier.order)}"


def _say(session: Session, name: str, **fields: object) -> str:
    """One sentence of the wording, filled in once: what is filled in is never read as a template
    again.
    """
    texts = session.wording.texts
    text = LEFT_OUT if name == "left_out" and name not in texts else texts[name]
    return _filled(text, *((field, str(value)) for field, value in fields.items()))


@functools.lru_cache(maxsize=1024)  # the same few sentences stand in every prompt
def _filled(text: str, *fields: tuple[str, str]) -> str:
    return Template(text).substitute(dict(fields)).strip()
