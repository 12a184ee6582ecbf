"""What a person is asked, as a page can show it: what is told, the fields, and the reply."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.domain.annotation import DIMENSIONS, SCALE
from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.domain.scheme import LevelValue
from delibsim.domain.summary import SCALE as OF_VERDICT
from delibsim.domain.survey import Item
from delibsim.models.person.fields import (
    ENDS,
    LONGEST,
    NEXT,
    NOBODY,
    TEXT,
    Asking,
    Field,
    Kind,
    Option,
    Questionnaire,
    blocks_in,
    blocks_of,
    heading_of,
    marked,
    without_labels,
)
from delibsim.prompts.blocks import block, read_block, read_items
from delibsim.prompts.forms.ballot import LABELS, SPEAKERS, Ballot, Choice, Stance
from delibsim.prompts.forms.choice import ANSWER, NUMBERED, REASON, ChoiceForm, VerdictForm
from delibsim.prompts.forms.code import ANSWERS, APPLIES, RATIONALE, SCORE, CodeForm
from delibsim.prompts.forms.survey import RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import Facilitation, Speech, WitnessQuestion, Words
from delibsim.prompts.labelled import labelled_values
from delibsim.prompts.prompt import Prompt

DISAGREE, AGREE = "strongly disagree", "strongly agree"
NEVER_ASKED = ("OrderForm", "StepsForm", "SummaryForm")
"""The forms in which only language models are asked: the ranks alone, steps and summaries."""


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


def _question(prompt: Prompt) -> Questionnaire:
    return replace(_words(prompt), asking="question")


def _facilitation(prompt: Prompt) -> Questionnaire:
    """Words, and whom the facilitator would like to hear next, where it may name somebody."""
    form: Any = prompt.reply
    asked = _words(prompt)
    if not form.waiting:
        return asked
    named = Field(NEXT, "choice", asked="form.next", options=_options((*form.waiting, NOBODY)))
    return replace(asked, fields=(*asked.fields, named))


def _slider(name: str, text: str, said: str, label: str = "", asked: str = "") -> Field:
    """A rating from 0 to 100, whose ends have the words that the prompt gives them in `said`."""
    found = ENDS.search(said)
    ends = (found[1], found[2]) if found else ("", "")
    made = Field(name, "slider", text, SCALE[0], SCALE[-1], asked=asked, ends=ends)
    return replace(made, label=label, speaker=name[0]) if label else made


def _stance(prompt: Prompt) -> Questionnaire:
    """The stance on the motion; its question stands last in the prompt, and here at the field."""
    told, _, question = marked(prompt).strip().rpartition("\n\n")
    field = _slider("S1", without_labels(question), question, asked="form.stance")
    return _asked(prompt, "stance", blocks_in(told), (field,))


def _ballot(prompt: Prompt) -> Questionnaire:
    """A ballot; what the prompt says of points, winner, stance and check stands at the fields."""
    text = marked(prompt).strip()
    listed = read_block("points", text) or ""
    told, _, rest = text.partition(block("points", listed))
    told, _, lead = told.strip().rpartition("\n\n")
    *winner, after, check = [part for part in rest.split("\n\n") if part.strip()]
    number = read_block("check", check) or ""
    check = f"{check.partition(block('check', number))[0].strip()} {number.strip()}."
    said = dict(re.findall(r"^(\d+)\. (.+)$", listed, re.MULTILINE))
    fields = []
    for place, name in enumerate(LABELS):
        point = place % len(DIMENSIONS)
        label, _, meant = said.get(str(point + 1), DIMENSIONS[point]).partition(": ")
        fields.append(_slider(name, meant, lead, label))
    asked = without_labels("\n".join(winner))
    fields.append(Field("WINNER", "choice", asked, asked="form.winner", options=_options(SPEAKERS)))
    fields.append(_slider("S1", without_labels(after), after, asked="form.stance"))
    last = Field("C1", "number", without_labels(check), SCALE[0], SCALE[-1], asked="form.check")
    blocks, lead = blocks_in(told), without_labels(lead)
    return _asked(prompt, "ballot", blocks, (*fields, last), lead=lead)


def _pair(prompt: Prompt) -> Questionnaire:
    form: Any = prompt.reply
    reason = (Field(REASON, "words", asked="form.reason"),) if form.reasons else ()
    before, _, _ = prompt.messages[0].content.partition("\n<dimension>\n")
    question = re.match(r"[^?]+\?", before.rpartition("\n")[2])
    text, options = question[0] if question else "", _options(form.labels)
    answer = Field(ANSWER, "choice", text, asked="form.stronger", options=options)
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
    """Four numbers, each beside its question, in the words of the prompt; of two summaries the
    words of the numbers are the same for all four, and stand once in the prompt.
    """
    setting = prompt.messages[0].content
    said = dict(re.findall(r"^(D\d): (.+)$", setting, re.MULTILINE))
    shared: tuple[Option, ...] = ()
    blocks = []
    for told in blocks_of(prompt):
        options = () if told.quoted else _worded(told.text)[1]
        if not told.quoted and told.text.startswith("D1: "):
            continue
        shared = options or shared
        if not options:
            blocks.append(told)
    low, high = OF_VERDICT
    fields = []
    for label, name in NUMBERED.items():
        text, options = _worded(said.get(label, name))
        options = options or shared
        kind: Kind = "choice" if options else "scale"
        fields.append(Field(label, kind, text, low, high, options=options))
    return _asked(prompt, "verdict", tuple(blocks), tuple(fields))


def _worded(text: str) -> tuple[str, tuple[Option, ...]]:
    """A question, and the words for each number of a verdict that stand behind it ("1 absent, 2 a
    trace, ..."); the whole text and no options where they do not.
    """
    low, high = OF_VERDICT
    numbers = range(low, high + 1)
    found = re.search(", ".join([rf"\b{number} (.+?)" for number in numbers]) + r"\.?$", text)
    if found is None:
        return text, ()
    options = [Option(number, words) for number, words in zip(numbers, found.groups(), strict=True)]
    return text[: found.start()].strip(), tuple(options)


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
    WitnessQuestion: _question,
    Facilitation: _facilitation,
    Stance: _stance,
    Ballot: _ballot,
    ChoiceForm: _pair,
    CodeForm: _code,
    VerdictForm: _verdict,
    Choice: _label,
}
"""What makes a questionnaire of a prompt, by the form of the reply."""
