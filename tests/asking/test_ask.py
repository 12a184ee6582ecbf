"""Asking about finished text: recorded, replayed, asked again with the fault, and failures that
are no answers.
"""

import asyncio

import pytest

from delibsim import Completion
from delibsim.asking.nouns import Question
from delibsim.asking.record import ExchangeRecord, could_not_be_asked, reply_to
from delibsim.domain.annotation import Text
from delibsim.domain.seed import seed_of
from delibsim.models.replay import Diverged
from delibsim.prompts.forms.ballot import Stance
from delibsim.prompts.prompt import Message, Prompt, Purpose
from delibsim.store.files import read_lines

ONE, TWO = Text("one", "Trams are loud."), Text("two", "Trams are fast.")


def agreement(unit, wording="How far do you agree?"):
    """How far a coder agrees with a text."""
    message = Message("user", f"{wording}\n{unit.text}")
    prompt = Prompt((message,), Stance(), Purpose("coder", unit.id))

    def seed(asked):
        return seed_of(unit.id, asked.purpose.attempt)

    return Question(unit.id, lambda: prompt, seed, "Again, please: {}.".format, 2)


async def ask(unit, model, *wording):
    return await reply_to(agreement(unit, *wording), model)


async def ask_all(units, model):
    return await asyncio.gather(*(reply_to(agreement(unit), model) for unit in units))


class Answering:
    """A model that gives these replies by unit, in order, and keeps what it was asked."""

    def __init__(self, **replies):
        self.name, self.asked = "m", []
        self._replies = {unit: list(own) for unit, own in replies.items()}

    async def complete(self, prompt, seed):
        self.asked.append((prompt, seed))
        reply = self._replies[prompt.purpose.occasion].pop(0)
        return reply if isinstance(reply, Completion) else Completion(reply)


async def test_what_was_asked_is_recorded_and_not_asked_again(tmp_path):
    file = tmp_path / "new" / "exchanges.jsonl"
    record, model = ExchangeRecord(file), Answering(one=["S1: 20"], two=["S1: 80"])
    first = await ask_all([ONE, TWO], record.before(model))
    assert [(own.unit, own.model, own.value) for own in first] == [
        ("one", "m", 20),
        ("two", "m", 80),
    ]
    assert (record.asked, len(read_lines(file)[0])) == (2, 2)
    again = ExchangeRecord(file)
    assert await ask_all([ONE, TWO], again.before(Answering())) == first
    assert (again.asked, len(read_lines(file)[0])) == (0, 2)
    more = Text("three", "Trams are safe.")
    enlarged = await ask_all([ONE, more], again.before(Answering(three=["S1: 50"])))
    assert ([own.value for own in enlarged], again.asked) == ([20, 50], 1)


async def test_another_prompt_than_the_recorded_one_is_refused(tmp_path):
    file = tmp_path / "exchanges.jsonl"
    await ask(ONE, ExchangeRecord(file).before(Answering(one=["S1: 20"])))
    with pytest.raises(Diverged, match="the prompt changed"):
        await ask(ONE, ExchangeRecord(file).before(Answering(one=["S1: 1"])), "Do you agree?")


async def test_a_call_that_failed_is_no_answer_and_is_asked_again_later(tmp_path):
    file = tmp_path / "exchanges.jsonl"
    failing = Answering(one=[Completion("", "timeout", "slow")], two=["S1: 80"])
    one, two = await ask_all([ONE, TWO], ExchangeRecord(file).before(failing))
    assert (could_not_be_asked(one), str(one.reason), two.value) == (True, "timeout: slow", 80)
    later = ExchangeRecord(file)
    one, two = await ask_all([ONE, TWO], later.before(Answering(one=["S1: 20"])))
    assert (one.value, two.value, later.asked) == (20, 80, 1)
