"""The longest prompt that a preflight expects is one that the session really asks."""

import asyncio

import pytest

from delibsim import Completion, compose, hold
from delibsim.engine.hold import FORUMS
from delibsim.models.retry import estimated_tokens
from delibsim.prompts.forms.words import Speech, Words
from delibsim.prompts.session import longest_prompt

DEBATE = ("format=debate", "motion=voting")
TALK = ("topic=ccps", "treatment=basic", "group.size=3")
CASES = [
    TALK,
    (*TALK, "rounds=1"),
    (*TALK, "persona=values"),
    (*TALK, "procedure.show_transcript=false"),
    (*TALK, "procedure.recall=false", "procedure.show_transcript=false"),
    (*TALK, "procedure.transcript_window=2"),
    ("topic=ccps", "treatment=none"),
    DEBATE,
    (*DEBATE, "audience=1"),
    (*DEBATE, "audience=9"),
    (*DEBATE, "audience=2", "procedure.rules.preparation=true"),
    (*DEBATE, "procedure.rules.preparation=true"),
    (*DEBATE, "audience=2", "procedure.show_transcript=false"),
]


WORDS = 120


class Wordy:
    """A model whose statements all have the same words; it keeps the tokens of its prompts."""

    def __init__(self, name, tokens):
        self.name, self._tokens = name, tokens

    async def complete(self, prompt, seed):
        self._tokens.append(estimated_tokens(prompt.messages))
        reply = prompt.reply.example("")
        if isinstance(prompt.reply, Speech | Words):
            reply = " ".join(["statement"] * WORDS)
        return Completion(reply, model_requested=self.name)


@pytest.mark.parametrize("settings", CASES, ids=" ".join)
def test_the_longest_prompt_is_as_long_as_the_longest_that_is_asked(settings, tmp_path):
    session = compose(*settings, home=tmp_path)
    tokens = []
    models = {name: Wordy(name, tokens) for name in session.models}
    asyncio.run(hold(session, models))
    expected = estimated_tokens(longest_prompt(session, WORDS).messages)
    assert expected == pytest.approx(max(tokens), rel=0.02)


@pytest.mark.parametrize("settings", CASES, ids=" ".join)
def test_the_planned_turns_are_those_of_the_agenda(settings, tmp_path):
    session = compose(*settings, home=tmp_path)
    forum = FORUMS[session.format](session, dict.fromkeys(session.models), lambda event: None)
    try:
        turns = list(forum.agenda())
    finally:
        forum.leave()
    planned = session.planned_turns

    def described(turn):
        return turn.index, turn.round, turn.task

    assert list(map(described, planned)) == list(map(described, turns))
    for number in {turn.round for turn in turns}:
        expected = sorted(turn.speaker for turn in turns if turn.round == number)
        assert sorted(turn.speaker for turn in planned if turn.round == number) == expected
