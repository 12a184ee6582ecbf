"""Replies that would keep a slow reader busy: the time to read one grows as its length does."""

import contextlib
import math
import time
from dataclasses import replace

import pytest
from cases import cases_of

from delibsim.asking.blinding import scrubbed
from delibsim.cli.terminal import brief, safe
from delibsim.domain.text import joined, language, parts, sentences, wordless
from delibsim.domain.treatment import Rules, cut
from delibsim.models.base import Completion, read
from delibsim.models.clients.chat import Dialect, completion_of
from delibsim.models.clients.faults import retry_after, scrub, status_of
from delibsim.prompts.blocks import read_transcript, transcript_block
from delibsim.prompts.forms.ballot import Ballot, Choice, Stance
from delibsim.prompts.forms.code import CodeForm
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Speech, StepsForm, Words
from delibsim.prompts.prompt import LONGEST_REPLY, Message, Prompt, Purpose, UnreadableReply, head
from delibsim.prompts.translation import Rendering
from delibsim.scorers.flags import Flags
from delibsim.testing import a_run

SURVEY = a_run().session.survey
LABEL = SURVEY.items[0].id
SPEAKER = a_run().session.participants[1].id
LONG = 250_000
UNITS = [
    unit.replace("LABEL", LABEL).replace("SPEAKER", SPEAKER)
    for unit in cases_of(__file__)["UNITS"].values()
]


def drawn(unit, length):
    """The unit again and again; every hundredth time with its number, so that values differ."""
    if unit != "different values":
        return (unit * (length // len(unit) + 1))[:length]
    lines, n = [], length // 12
    for k in range(n):
        lines.append(f"{LABEL}: {k % 10**7}")
    return "\n".join(lines)


def speech(text):
    run = a_run()
    first = replace(run.transcript[0], text=text)
    return replace(run, transcript=(first, *run.transcript[1:]))


def fits(part):
    return len(part.split()) <= 600


READERS = {
    "survey": SurveyAnswers(SURVEY).read,
    "ballot": Ballot().read,
    "stance": Stance().read,
    "choice": Choice("WINNER", ("A", "B")).read,
    "code": CodeForm((0, 1), filtered=True).read,
    "steps": StepsForm().read,
    "words": Words(600).read,
    "speech": Speech(Rules()).read,
    "speech that is cut": Speech(Rules(then="cut", reasks=0)).read,
    "end of a sentence": lambda text: cut(text, 10**9),
    "translation": Rendering("We should pay more for heat and light.").read,
    "translation of it": lambda text: Rendering(text).read("Wir sollten mehr zahlen."),
    "language": language,
    "wordless": wordless,
    "sentences": sentences,
    "parts": lambda text: joined(found := parts(text, fits), found),
    "blinded": lambda text: scrubbed(
        text, {"proposition": "Speaker A", "opposition": "Speaker B"}, ["gpt-4", "local"]
    ),
    "flags": lambda text: Flags().score([speech(text)]),
    "quoted": lambda text: read_transcript(transcript_block(speech(text).transcript)),
    "completion": lambda text: completion_of({"choices": [{"message": {"content": text}}]}, "m"),
    "error": lambda text: (status_of(400, text), scrub(text, ["a secret word"])),
    "complaint": lambda text: Dialect().learn(f"unsupported {text}", {"temperature": 0.0}, {}),
    "header": lambda text: retry_after({"Retry-After": text, "x-ratelimit-reset": text}),
    "shown": lambda text: (safe(text), brief(text)),
}


def seconds(reader, text):
    """Processor time of one reading."""
    begun = time.process_time()
    with contextlib.suppress(UnreadableReply, RecursionError):
        reader(text)
    return time.process_time() - begun


@pytest.mark.parametrize("reader", READERS)
def test_the_time_to_read_a_reply_grows_as_its_length_does(reader):
    units = [*UNITS, "\ud83d", "different values"]  # one is half of a character
    slow = [unit for unit in units if is_square(READERS[reader], unit)]
    # What a busy machine slowed down once is fast another time; a square never is.
    assert not [unit for unit in slow if is_square(READERS[reader], unit)]


def is_square(reader, unit):
    """Whether a reply that is four times as long takes far more than four times the time."""
    short = seconds(reader, drawn(unit, LONG // 16))
    if short < 0.02:
        return False  # were it a square, the whole would take less than a third of a second
    long = seconds(reader, drawn(unit, LONG // 4)) if short < 2 else math.inf
    return long > 9 * short + 0.1  # a square would be sixteen times the time


@pytest.mark.parametrize("form", [Words(), SurveyAnswers(SURVEY), Ballot()])
def test_a_reply_longer_than_any_answer_is_unreadable_and_says_so(form):
    prompt = Prompt((Message("user", "Speak."),), form, Purpose("Participant 1", "turn 1"))
    value, completion = read(prompt, Completion("a" * (LONGEST_REPLY + 1)))
    assert value is None
    assert completion.status == "unreadable"
    assert completion.detail == "the reply has 200,001 characters; at most 200,000 are read"
    assert len(completion.text) == LONGEST_REPLY + 1, "what was paid for is kept"


def test_a_reply_that_is_read_is_quoted_whole_and_a_longer_one_by_its_head():
    assert head("a" * LONGEST_REPLY) == "a" * LONGEST_REPLY
    assert head("a" * (LONGEST_REPLY + 1)) == "a" * 2_000 + " [...]"


def test_a_fault_of_a_reply_stays_short():
    replies = {
        "values": (SurveyAnswers(SURVEY), drawn("different values", LONG)),
        "a link": (Speech(Rules()), f"www.{'a' * LONG}"),
        "citations": (Speech(Rules()), "(" + "Aa 1999; " * 20_000 + ")"),
    }
    for form, text in replies.values():
        with pytest.raises(UnreadableReply) as fault:
            form.read(text)
        assert 0 < len(str(fault.value)) < 10_000
