"""Rooms for the tests of faults: small sessions voiced by the fake provider over real HTTP, and
real processes.
"""

import asyncio
import json
from dataclasses import replace

import pytest
import warm

from delibsim import Message, ModelPool, Participant, Procedure, Prompt, Runs, Treatment, compose
from delibsim.conduct.hold import hold_session
from delibsim.models.limits import Limits
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Purpose
from delibsim.testing import a_run

QUICK = Limits(longest_wait=0.02)


def settings_of(name, **options):
    """The settings of a model that the fake provider serves."""
    return {
        "name": name,
        "kind": "openai_compatible",
        "model": name,
        "max_tokens": 500,
        "temperature": 0.0,
    } | options


@pytest.fixture(scope="session")
def planned(tmp_path_factory):
    """A session with the wordings of the package and a survey of ten items."""
    session = compose(
        "topic=ccps", "treatment=basic", "seed=7", home=tmp_path_factory.mktemp("home")
    )
    return replace(session, id="one", survey=a_run().session.survey)


@pytest.fixture
def session_of(planned):
    """Plan a session: models by name (seated in turn) or with their settings, n seats, rounds;
    changes of procedure and session.
    """

    def make(models=("local",), n=2, rounds=1, **changes):
        settings = (
            dict(models)
            if isinstance(models, dict)
            else {name: settings_of(name) for name in models}
        )
        names = list(settings)
        people = tuple(
            Participant(f"Participant {i + 1}", model=names[i % len(names)]) for i in range(n)
        )
        treatment = Treatment("basic", "Deliberate.", rounds)
        procedure = Procedure(
            **{
                name: changes.pop(name)
                for name in list(changes)
                if name in Procedure.__dataclass_fields__
            }
        )
        return replace(
            planned,
            participants=people,
            treatment=treatment,
            procedure=procedure,
            models=settings,
            **changes,
        )

    return make


@pytest.fixture
def runs(tmp_path):
    """The folder of a study that is empty at first."""
    return Runs(tmp_path / "runs", "faults")


@pytest.fixture
def voices_at():
    """Voices whose models of these names are all reached at the provider."""

    def make(provider, limits=QUICK, budget=None, names=None):
        return ModelPool(
            limits,
            budget,
            dict.fromkeys(provider.models if names is None else names, provider.base_url),
        )

    return make


@pytest.fixture
def ask(session_of, voices_at):
    """Ask models directly, all at once, as a session would: (name of the model, words) pairs, or a
    number of calls to one model.
    """

    async def go(provider, calls=1, limits=QUICK, voices=None, settings=None, **options):
        voices = voices or voices_at(provider, limits)
        models = settings or {name: settings_of(name, **options) for name in provider.models}
        voice = voices.of(session_of(models, n=max(2, len(models))))
        asked = (
            [(provider.models[0], f"call {i}") for i in range(calls)]
            if isinstance(calls, int)
            else calls
        )
        try:
            found = await asyncio.gather(
                *(
                    voice[name].complete(prompt(words), seed)
                    for seed, (name, words) in enumerate(asked, 1)
                )
            )
        finally:
            await voices.close()
        return found[0] if calls == 1 else found

    return go


@pytest.fixture
def hold(runs, voices_at):
    """Hold a session with the provider's models; what came of it."""

    async def go(session, provider, limits=QUICK, budget=None):
        voices = voices_at(
            provider,
            limits,
            budget,
            [name for name, model in session.models.items() if model["kind"] != "citizen"],
        )
        try:
            return await hold_session(session, runs, pool=voices)
        finally:
            await voices.close()

    return go


@pytest.fixture
def log(runs):
    """The exchanges of a session as they lie on disk."""

    def read(session="one"):
        path = runs.path(session) / "exchanges.jsonl"
        return (
            [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            if path.exists()
            else []
        )

    return read


@pytest.fixture
def command(tmp_path):
    """Run `delibsim ARGUMENTS` as a real process in an empty folder: exit code, stdout, stderr.

    One that is to be killed is given to `started`.
    """

    async def go(*arguments, env=None, started=None):
        variables = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **(env or {})}
        process = await asyncio.to_thread(warm.Heard, arguments, tmp_path, variables)
        if started is not None:
            started(process)
        out, err = await asyncio.to_thread(process.communicate)
        return process.returncode, out, err

    return go


def prompt(words):
    """A prompt for a speech of Participant 1."""
    messages = (
        Message("system", "You take part in an assembly."),
        Message("user", f"<you>\nParticipant 1\n</you>\n\n{words}"),
    )
    return Prompt(messages, Words(), Purpose("Participant 1", "turn 1"))
