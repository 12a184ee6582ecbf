"""What a person is asked, as a page can show it: what is told, the fields, and the reply."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.domain.judgment import SCALE as OF_VERDICT
from delibsim.domain.rating import DIMENSIONS, SCALE
from delibsim.domain.scheme import LevelValue
from delibsim.domain.survey import Item
from delibsim.models.person.fields import LONGEST, TEXT, Asking, Field, Option, Questionnaire
from delibsim.models.person.page import heading_of
from delibsim.models.person.told import blocks_of
from delibsim.prompts.blocks import read_block, read_items
from delibsim.prompts.forms.ballot import LABELS, SPEAKERS, Ballot, Choice, Stance
from delibsim.prompts.forms.choice import ANSWER, REASON, ChoiceForm
from delibsim.prompts.forms.code import ANSWERS, APPLIES, RATIONALE, SCORE, CodeForm
from delibsim.prompts.forms.ranking import RankingForm
from delibsim.prompts.forms.speech import Speech
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.verdict import NUMBERED, VerdictForm
from delibsim.prompts.forms.words import Words
from delibsim.prompts.labelled import labelled_values
from delibsim.prompts.prompt import Prompt

DISAGREE, AGREE = "strongly disagree", "strongly agree"
NEVER_ASKED = ("Rendering", "StepsForm", "SummaryForm")
"""The forms in which only language models are asked: translations, steps and summaries."""


def questionnaire(prompt: Prompt, rationale: bool = True) -> Questionnaire:
    """What a prompt asks of a person; TypeError for a form in which no person is asked.

    Without `rationale` a coder is not asked for one.
    """
    kinds = type(prompt.reply).__mro__
    build = next((BUILDERS[kind] for kind in kinds if kind in BUILDERS), None)
    if build is None:
        raise TypeError(f"people are not asked in the form {type(prompt.reply).__name__}")
    made = build(prompt)
    if rationale:
        return made
    fields = tuple(field for field in made.fields if field.name != RATIONALE)
    return replace(made, fields=fields)


def _asked(
    prompt: Prompt, asking: Asking, blocks: Any, fields: tuple[Field, ...], **more: Any
) -> Questionnaire:
    return Questionnaire(asking, prompt.purpose.occasion, blocks, fields, **more)


def _text(prompt: Prompt) -> str:
    return "\n\n".join(message.content for message in prompt.messages)


def _survey(prompt: Prompt) -> Questionnaire:
    """A survey with its items in the order in which this person is shown them."""
    form: Any = prompt.reply
    survey, text = form.shown, _text(prompt)
    before, _ = labelled_values(
        read_block("answers", text) or "", tuple(item.id for item in survey.items)
    )

    def field(item: Item) -> Field:
        known = str(before.get(item.id, ""))
        if item.kind == "preference":
            return Field(item.id, "rank", item.text, 1, len(survey.preferences), known)
        return Field(item.id, "scale", item.text, survey.scale_min, survey.scale_max, known)

    shown = [*read_items("considerations", text), *read_items("preferences", text)]
    place = {label: n for n, label in enumerate(shown)}
    items = [*survey.considerations, *survey.preferences]
    ordered = sorted(items, key=lambda item: place.get(item.id, len(place)))
    counts: tuple[tuple[int, int], ...] = ()
    if survey.forced_distribution is not None:
        counts = tuple(zip(survey.scale, survey.forced_distribution, strict=True))
    ends = (AGREE, DISAGREE) if form.reversed else (DISAGREE, AGREE)
    fields = tuple(map(field, ordered))
    blocks, more = blocks_of(prompt, "answers"), {"ends": ends, "counts": counts}
    headings = (("scale", heading_of("considerations", prompt)),)
    headings = (*headings, ("rank", heading_of("preferences", prompt)))
    return _asked(prompt, "survey", blocks, fields, headings=headings, **more)


def _vote(prompt: Prompt) -> Questionnaire:
    """A vote on statements: agreement with every one, then the ranks, which one alone has not."""
    form: Any = prompt.reply
    statements = read_items("statements", _text(prompt))
    numbers = range(1, form.n + 1)
    agreed = []
    ranks = []
    for number in numbers:
        text = statements.get(f"S{number}", f"S{number}")
        agreed.append(Field(f"A{number}", "scale", text, LOWEST, HIGHEST))
        ranks.append(Field(f"R{number}", "rank", text, 1, form.n))
    fields = (*agreed, *(ranks if form.n > 1 else ()))
    blocks = blocks_of(prompt, "statements")
    return _asked(prompt, "vote", blocks, fields, ends=(DISAGREE, AGREE))


def _speech(prompt: Prompt) -> Questionnaire:
    """A speech; where it is asked for again, with what was handed in before."""
    form: Any = prompt.reply
    rules = form.rules
    before = prompt.messages[-2].content if prompt.purpose.attempt else ""
    field = Field(TEXT, "words", before=before, asked="form.your_speech")
    longest = form.limit or max(rules.most, LONGEST)
    limits = {"least": rules.least, "most": min(rules.most, longest), "longest": longest}
    limits["rules"] = rules
    return _asked(prompt, "speech", blocks_of(prompt), (field,), **limits)


def _words(prompt: Prompt) -> Questionnaire:
    form: Any = prompt.reply
    field = Field(TEXT, "words", asked="form.your_words")
    longest = form.limit or LONGEST
    return _asked(prompt, "words", blocks_of(prompt), (field,), most=longest, longest=longest)


def _number(name: str, asked: str, text: str = "") -> Field:
    return Field(name, "number", text, SCALE[0], SCALE[-1], asked=asked)


def _stance(prompt: Prompt) -> Questionnaire:
    fields = (_number("S1", "form.stance"),)
    return _asked(prompt, "stance", blocks_of(prompt), fields)


def _ballot(prompt: Prompt) -> Questionnaire:
    """A ballot; each point stands beside its fields, in the words of the prompt."""
    listed = read_block("points", _text(prompt)) or ""
    said = dict(re.findall(r"^(\d+)\. (.+)$", listed, re.MULTILINE))
    fields = []
    for place, label in enumerate(LABELS):
        number = place % len(DIMENSIONS) + 1
        fields.append(_number(label, "", said.get(str(number), DIMENSIONS[number - 1])))
    winner = Field("WINNER", "choice", asked="form.winner", options=_options(SPEAKERS))
    rest = (winner, _number("S1", "form.stance"), _number("C1", "form.check"))
    return _asked(prompt, "ballot", blocks_of(prompt, "points"), (*fields, *rest))


def _pair(prompt: Prompt) -> Questionnaire:
    form: Any = prompt.reply
    reason = (Field(REASON, "words", asked="form.reason"),) if form.reasons else ()
    answer = Field(ANSWER, "choice", asked="form.stronger", options=_options(form.labels))
    return _asked(prompt, "pair", blocks_of(prompt), (*reason, answer))


def _code(prompt: Prompt) -> Questionnaire:
    """A coding sheet: the filter question, the rationale, and the levels with their anchors."""
    form: Any = prompt.reply
    entry = prompt.messages[0].content
    anchors = _anchors(read_block("levels", entry) or "", form.levels)
    levels = tuple(Option(level, anchors.get(str(level), "")) for level in form.levels)
    unless = (APPLIES, ANSWERS[1]) if form.filtered else None
    rationale = Field(RATIONALE, "words", asked="form.rationale")
    score = Field(SCORE, "choice", asked="form.level", options=levels, unless=unless)
    if not form.filtered:
        return _asked(prompt, "code", blocks_of(prompt, "levels"), (rationale, score))
    question = read_block("question", entry) or ""
    applies = Field(APPLIES, "choice", question, asked="form.applies", options=_options(ANSWERS))
    blocks = blocks_of(prompt, "levels", "question")
    return _asked(prompt, "code", blocks, (applies, rationale, score))


def _anchors(listed: str, levels: tuple[LevelValue, ...]) -> dict[str, str]:
    """What the prompt says of each level, by its value; nothing where it says nothing."""
    found = {}
    for line, level in zip(listed.splitlines(), levels, strict=False):
        name = str(level)
        if re.match(rf"{re.escape(name)}[ :]", line):
            found[name] = line.removeprefix(name).removeprefix(":").strip()
    return found


def _verdict(prompt: Prompt) -> Questionnaire:
    """Four numbers, each beside its question, in the words of the prompt."""
    low, high = OF_VERDICT
    said: Mapping[str, str] = dict(
        re.findall(r"^(D\d): (.+)$", prompt.messages[0].content, re.MULTILINE)
    )
    fields = tuple(
        Field(label, "scale", said.get(label, name), low, high) for label, name in NUMBERED.items()
    )
    blocks = []
    for block in blocks_of(prompt):
        if block.quoted or not block.text.startswith("D1: "):
            blocks.append(block)
    return _asked(prompt, "verdict", tuple(blocks), fields)


def _label(prompt: Prompt) -> Questionnaire:
    form: Any = prompt.reply
    field = Field(form.label, "choice", asked="form.choose", options=_options(form.names))
    return _asked(prompt, "label", blocks_of(prompt), (field,))


def _options(values: Sequence[str]) -> tuple[Option, ...]:
    return tuple(Option(value) for value in values)


BUILDERS: Mapping[type, Callable[[Prompt], Questionnaire]] = {
    SurveyAnswers: _survey,
    RankingForm: _vote,
    Speech: _speech,
    Words: _words,
    Stance: _stance,
    Ballot: _ballot,
    ChoiceForm: _pair,
    CodeForm: _code,
    VerdictForm: _verdict,
    Choice: _label,
}
"""What makes a questionnaire of a prompt, by the form of the reply."""
