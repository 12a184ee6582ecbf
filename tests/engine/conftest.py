"""Small sessions, and voices that follow a script, for the tests of the engine."""

import asyncio
from dataclasses import replace

import pytest

from delibsim import Citizen, Completion, Participant, Procedure, compose, hold
from delibsim.prompts.blocks import read_transcript
from delibsim.testing import a_run


class Scripted:
    """A language model that answers as the citizen would, except where the script says otherwise;
    it remembers what it was asked.

    The script takes a prompt and gives a text, a completion, or None for the citizen's answer.
    """

    def __init__(self, script=lambda prompt: None, name="citizen"):
        self.name = name
        self.script = script
        self.citizen = Citizen(name=name, population=1)
        self.asked = []
        self.seeds = []

    async def complete(self, prompt, seed):
        self.asked.append(prompt)
        self.seeds.append(seed)
        await asyncio.sleep(0)
        said = self.script(prompt)
        if said is None:
            return await self.citizen.complete(prompt, seed)
        return said if isinstance(said, Completion) else Completion(said, model_requested=self.name)

    def prompts(self, participant=None, occasion=None):
        """The prompts to one participant, on one occasion ("pre", "turn", "post"), in order."""
        return [
            prompt
            for prompt in self.asked
            if participant in (None, prompt.purpose.participant)
            and prompt.purpose.occasion.startswith(occasion or "")
        ]


@pytest.fixture(scope="session")
def planned(tmp_path_factory):
    """A session with the wordings of the package and a small survey."""
    session = compose("topic=ccps", "rounds=2", "seed=7", home=tmp_path_factory.mktemp("home"))
    return replace(session, survey=a_run().session.survey)


@pytest.fixture
def session_of(planned):
    """Make a session of n participants: fields of the session, of its treatment and of its
    procedure can be changed.
    """

    def make(n=3, rounds=2, interaction=True, personas=(), **changes):
        people = tuple(
            Participant(f"Participant {i}", persona=p)
            for i, p in enumerate([*personas, *[""] * n][:n], 1)
        )
        treatment = replace(planned.treatment, rounds=rounds, interaction=interaction)
        procedure = Procedure(
            **{
                name: changes.pop(name)
                for name in list(changes)
                if name in Procedure.__dataclass_fields__
            }
        )
        return replace(
            planned,
            **{"participants": people, "treatment": treatment, "procedure": procedure} | changes,
        )

    return make


@pytest.fixture
def scripted():
    """The class of scripted voices."""
    return Scripted


@pytest.fixture
def held():
    """Hold a session with one voice and return the run and the voice."""

    async def go(session, script=lambda prompt: None, **options):
        voice = Scripted(script)
        return await hold(session, {"citizen": voice}, **options), voice

    return go


@pytest.fixture
def heard_in():
    """The statements a prompt shows, as (speaker, text)."""

    def read(prompt):
        return [
            (s.turn.speaker, s.text)
            for message in prompt.messages
            for s in read_transcript(message.content)
        ]

    return read
