"""What the fake provider says: the citizen's reply to the messages of a request."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.domain.survey import Item, Survey
from delibsim.domain.treatment import Rules
from delibsim.models.citizen.citizen import Citizen
from delibsim.prompts.blocks import read_items
from delibsim.prompts.forms.ballot import Ballot, Stance
from delibsim.prompts.forms.choice import ChoiceForm, VerdictForm
from delibsim.prompts.forms.code import CodeForm
from delibsim.prompts.forms.survey import RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import Speech, StepsForm, SummaryForm, Words
from delibsim.prompts.prompt import Form, Message, Prompt, Purpose

SCALE = re.compile(
    r"whole number from (-?\d+) \(strongly (disagree|agree)\)"
    r" to (-?\d+) \(strongly (?:dis)?agree\)"
)
SPEECH = re.compile(
    r"^Reply with the words of your speech and nothing else: (\d+) to (\d+) words\.$",
    re.MULTILINE,
)
LEVELS = re.compile(
    r"^Write the rationale before the score\. The score is one of (\[.+\])\.$", re.MULTILINE
)
RANKED = re.compile(r"^Rank the (\d+) statements|^Rank the statement 1", re.MULTILINE)
FORCED = re.compile(r"exact distribution over the considerations: (.+)\.$", re.MULTILINE)


async def answer(messages: Sequence[Mapping[str, Any]], seed: int) -> str:
    """What the citizen says to the messages of a chat: a survey filled in, or a speech."""
    shown = tuple(Message(message["role"], plain(message["content"])) for message in messages)
    lines = [line for message in shown for line in message.content.splitlines()]
    asked = "\n".join(line for line in lines if not line.startswith(">"))
    prompt = Prompt(shown, form_in(asked), Purpose("", ""))
    completion = await Citizen(population=1).complete(prompt, seed)
    return completion.text or "I have nothing to add."


def form_in(asked: str) -> Form:
    """The form of reply that a prompt asks for: a speech, a code, a ballot, a choice, steps, a
    survey, a summary, or free words.
    """
    if limits := SPEECH.search(asked):
        return Speech(Rules(int(limits[1]), int(limits[2])))
    if levels := LEVELS.search(asked):
        return CodeForm(tuple(json.loads(levels[1])), '{"applies"' in asked)
    choices = [ChoiceForm(ties, reasons) for ties in (True, False) for reasons in (True, False)]
    verdicts = VerdictForm(), VerdictForm(two=True)
    for form in (Ballot(), Stance(), StepsForm(), SummaryForm(), *verdicts, *choices):
        if form.describe() in asked:
            return form
    if ranked := RANKED.search(asked):
        return RankingForm(int(ranked[1] or 1))
    if "strongly agree" in asked and "NUMBER" in asked:
        return survey_form_in(asked)
    return Words()


def survey_form_in(asked: str) -> SurveyAnswers:
    """The form of the survey that a prompt shows, and whether its scale runs the other way."""
    shown = survey_in(asked)
    backwards = _scale_in(asked)[2] == "agree"
    forced = shown.forced_distribution
    if backwards and forced:
        shown = replace(shown, forced_distribution=forced[::-1])
    return SurveyAnswers(shown, backwards)


def survey_in(asked: str) -> Survey:
    """The survey that a prompt shows: labels, texts, scale and distribution.

    Raises ValueError where the prompt names no scale.
    """
    low, high = (int(end) for end in _scale_in(asked).group(1, 3))
    items = []
    for tag, kind in (("considerations", "consideration"), ("preferences", "preference")):
        items += [Item(label, kind, text) for label, text in read_items(tag, asked).items()]
    forced = FORCED.search(asked)
    counts = None
    if forced:
        counts = tuple(int(count) for count in re.findall(r"(\d+) at -?\d+", forced[1]))
    return Survey("shown", tuple(items), low, high, counts)


def plain(content: Any) -> str:
    """The text of a message, whether it is one string or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content)


def tokens(text: str) -> int:
    """How many tokens a text counts as: one for every four characters."""
    return len(text) // 4


def _scale_in(asked: str) -> re.Match[str]:
    found = SCALE.search(asked)
    if found is None:
        raise ValueError("the prompt names no scale of agreement")
    return found
