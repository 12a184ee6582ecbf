"""The retry loop, where no provider is needed to see what it does."""

import asyncio

import pytest

from delibsim import Completion
from delibsim.models.base import Cancelled
from delibsim.models.limits import Budget, Gate, Limits
from delibsim.models.prices import FREE
from delibsim.models.prompt import Message, Prompt, Purpose, Words
from delibsim.models.retry import Persistent

PROMPT = Prompt((Message("user", "What do you say?"),), Words(), Purpose("Participant 1", "turn 1"))


class Answering:
    name = "voice"

    def __init__(self):
        self.asked = []

    async def complete(self, prompt, seed):
        self.asked.append(seed)
        return Completion(f"answer {seed}", model_requested=self.name)


def persistent(model, **limits):
    limits = Limits(**limits)
    return Persistent(model, Gate(limits), limits, Budget(), FREE)


async def test_the_next_call_is_sent_before_an_answer_is_worked_on():
    model, order = Answering(), []
    model.answering = True
    voice = persistent(model, concurrency=1)

    async def one(seed):
        await voice.complete(PROMPT, seed)
        order.append((seed, len(model.asked)))

    await asyncio.gather(one(1), one(2), one(3))
    assert [seed for seed, _ in order] == [1, 2, 3]
    assert all(asked >= min(seed + 1, 3) for seed, asked in order)


async def test_an_answer_that_has_come_is_kept_when_the_call_is_cancelled_a_moment_later():
    voice = persistent(Answering())
    call = asyncio.create_task(voice.complete(PROMPT, 1))
    await asyncio.sleep(0)  # it was asked and has answered, and gives way
    call.cancel()
    with pytest.raises(Cancelled) as given_up:
        await call
    assert (given_up.value.completion.status, given_up.value.completion.text) == ("ok", "answer 1")
