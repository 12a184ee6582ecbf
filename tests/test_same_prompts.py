"""Conditions that are the same for any model ask it the same, word for word; others do not."""

import asyncio
from dataclasses import replace

import pytest

from delibsim import compose
from delibsim.domain.effect import same_cells
from delibsim.planning.dry_run import dry_run

HOSTED = {"kind": "openai_compatible", "model": "m", "max_tokens": 100, "temperature": 0.0}


def declared(kind, where=""):
    return ()


@pytest.fixture(scope="module")
def session_of(tmp_path_factory):
    """A session of a hosted model under these overrides, named after them."""
    home = tmp_path_factory.mktemp("home")

    def make(*overrides):
        made = (
            compose("group.size=4", *overrides, home=home)
            if "format=debate" not in overrides
            else compose(*overrides, home=home)
        )
        name = "_".join(overrides).replace("=", "-").replace(".", "-")
        return replace(made, id=f"{name}.r1", models=dict.fromkeys(made.models, HOSTED))

    return make


def asked(session):
    return [
        (call.prompt.messages, call.prompt.reply.describe())
        for call in asyncio.run(dry_run(session))
    ]


NONE = ("topic=acp", "treatment=none")
TALK = ("topic=acp", "treatment=basic", "rounds=1")
DEBATE = ("format=debate", "motion=voting")
SAME = [
    ((*NONE, "procedure.words=null"), (*NONE, "procedure.words=80")),
    ((*NONE, "procedure.recall=true"), (*NONE, "procedure.recall=false")),
    ((*NONE, "procedure.audience.network=ring"), NONE),
    (
        ("topic=acp", "treatment=normative", "rounds=0"),
        ("topic=acp", "treatment=basic", "rounds=0"),
    ),
    (("topic=acp", "treatment=normative", "rounds=0"), NONE),
    ((*TALK, "procedure.audience.rewiring=0.5"), TALK),
    ((*DEBATE, "wording=oxford_evaluative"), DEBATE),
    ((*DEBATE, "procedure.shuffle_items=false"), DEBATE),
]
OTHER = [
    ((*TALK, "procedure.words=null"), TALK),
    ((*TALK, "procedure.recall=false"), TALK),
    ((*TALK, "procedure.audience.network=ring"), TALK),
    ((*TALK, "procedure.background=false"), TALK),
    ((*NONE, "procedure.background=false"), NONE),
    ((*NONE, "procedure.show_answers=false"), NONE),
    (("topic=acp", "treatment=normative", "rounds=1"), TALK),
    ((*DEBATE, "procedure.rules.fairness=true"), DEBATE),
    ((*DEBATE, "procedure.show_answers=false", "audience=1"), (*DEBATE, "audience=1")),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_conditions_said_to_be_the_same_ask_the_same(session_of, one, other):
    sessions = [session_of(*one), session_of(*other)]
    assert len(same_cells(sessions, declared)) == 1
    assert asked(sessions[0]) == asked(sessions[1])


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_conditions_that_ask_otherwise_are_not_said_to_be_the_same(session_of, one, other):
    sessions = [session_of(*one), session_of(*other)]
    assert same_cells(sessions, declared) == {}
    assert asked(sessions[0]) != asked(sessions[1])


def test_a_temperature_that_is_not_sent_and_one_that_is_dropped_are_asked_alike(session_of):
    cold = session_of(*TALK)
    none = replace(
        cold, id="null.r1", models={name: {**HOSTED, "temperature": None} for name in cold.models}
    )
    warm = replace(
        cold, id="warm.r1", models={name: {**HOSTED, "temperature": 0.7} for name in cold.models}
    )
    (model,) = cold.models
    dropped = {one.id: {model: ["temperature"]} for one in (cold, warm)}
    assert same_cells([cold, none, warm], declared) == {}
    assert len(same_cells([cold, none, warm], declared, dropped)) == 2
