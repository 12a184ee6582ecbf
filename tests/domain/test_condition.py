"""Conditions: sessions that differ in anything but their replicate stand apart, and are told apart
by what differs.
"""

from dataclasses import replace

import pytest

from delibsim import Network, Participant, Procedure, compose
from delibsim.domain.condition import Condition, conditions

FAMILY = ("ccps", "normative", "citizen")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return compose("topic=ccps", "treatment=normative", home=tmp_path_factory.mktemp("home"))


def varied(session, **changes):
    return replace(session, id="varied", **changes)


def test_replicates_share_a_condition_that_names_no_setting(session):
    of = conditions([session, replace(session, id="again", replicate=2)])
    assert of == {session.id: Condition(*FAMILY), "again": Condition(*FAMILY)}


def of_citizen(session, **settings):
    """The session, its citizen with other settings."""
    return {"models": {"citizen": {**session.models["citizen"], **settings}}}


def in_audience(*network, **more):
    return {"procedure": Procedure(audience=Network(*network, **more))}


@pytest.mark.parametrize(
    ("key", "values", "change"),
    [
        ("group.size", (5, 3), lambda s: {"participants": s.participants[:3]}),
        ("rounds", (2, 4), lambda s: {"treatment": replace(s.treatment, rounds=4)}),
        ("procedure.audience.network", ("complete", "ring"), lambda s: in_audience("ring")),
        ("procedure.audience.edges", ("[]", "[[1, 2]]"), lambda s: in_audience(edges=((1, 2),))),
        ("procedure.recall", (True, False), lambda s: {"procedure": Procedure(recall=False)}),
        ("model.susceptibility", (0.1, 0.3), lambda s: of_citizen(s, susceptibility=0.3)),
        ("model.temperature", (0.0, 1.0), lambda s: of_citizen(s, temperature=1.0)),
        ("survey", ("ccps", "other"), lambda s: {"survey": replace(s.survey, id="other")}),
        ("wording", ("default", "plain"), lambda s: {"wording": replace(s.wording, id="plain")}),
    ],
)
def test_one_setting_that_differs_is_the_one_that_is_told(session, key, values, change):
    of = conditions([session, varied(session, **change(session))])
    assert of == {
        session.id: Condition(*FAMILY, ((key, values[0]),)),
        "varied": Condition(*FAMILY, ((key, values[1]),)),
    }


def test_who_is_drawn_for_a_replicate_makes_no_condition(session):
    """Personas are dealt and models are moved on with every replicate; the name of the cell says
    what was drawn from.
    """
    models = {"a": {"kind": "citizen"}, "b": {"kind": "citizen", "openness": 1.0}}
    seats = {1: "abab", 2: "baba"}
    people = {
        n: tuple(Participant(f"P{i}", f"Persona {n}", m) for i, m in enumerate(seats[n]))
        for n in seats
    }
    moved = {n: {m: models[m] for m in dict.fromkeys(seats[n])} for n in seats}
    cells = ("ccps.normative.x_diversity-low", "ccps.normative.x_diversity-high")
    held = [
        replace(session, id=f"{cell}.r{n}", replicate=n, participants=people[n], models=moved[n])
        for cell in cells
        for n in (2, 1)
    ]
    of = conditions(held)
    assert {name: condition.settings for name, condition in of.items()} == {
        f"{cell}.r{n}": (("sessions", cell),) for cell in cells for n in (1, 2)
    }


def test_who_sits_where_tells_groups_of_the_same_models_apart(session):
    models = {"a": {"kind": "citizen"}, "b": {"kind": "citizen", "openness": 1.0}}
    abb, aab = (
        tuple(Participant(f"P{i}", model=m) for i, m in enumerate(seats))
        for seats in ("abb", "aab")
    )
    of = conditions(
        [
            varied(session, participants=abb, models=models),
            replace(session, id="aab", participants=aab, models=models),
        ]
    )
    assert of["varied"].settings == (("seats", "a+b+b"),)
    assert of["aab"].settings == (("seats", "a+a+b"),)


def test_a_setting_that_some_have_not_is_told_of_those_that_have_it(session):
    more = {"citizen": {**session.models["citizen"], "seed": 3}}
    of = conditions([session, varied(session, models=more)])
    assert of[session.id].settings == ()
    assert of["varied"].settings == (("model.seed", 3),)
