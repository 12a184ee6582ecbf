"""Settings without effect: which are told, and which conditions are the same for it."""

from dataclasses import replace

import pytest

from delibsim import Participant, compose
from delibsim.domain.effect import Drop, NoEffect, drops, no_effects, same_cells

IGNORED = {"citizen": {"temperature", "treatment.instructions", "procedure.shuffle_items"}}


def declared(kind, where=""):
    return () if where else IGNORED.get(kind, ())


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    return compose("topic=ccps", "treatment=normative", home=home)


def cell(session, name, replicate=1, **changes):
    return replace(session, id=f"{name}.r{replicate}", replicate=replicate, **changes)


def at(temperature, kind="citizen"):
    return {"m": {"kind": kind, "temperature": temperature}}


def seated(session):
    return tuple(replace(person, model="m") for person in session.participants)


def warm(session, kind="citizen", replicates=(1,)):
    """Cells t.0, t.0_7 and t.1, named after their temperature."""
    people = seated(session)
    return [
        cell(session, f"t.{name}", n, models=at(value, kind), participants=people)
        for name, value in (("0", 0.0), ("0_7", 0.7), ("1", 1.0))
        for n in replicates
    ]


def test_cells_that_differ_in_what_has_no_effect_are_the_first_of_them_by_name(session):
    sessions = warm(session, replicates=(1, 2))
    assert same_cells(sessions[::-1], declared) == {"t.0_7": "t.0", "t.1": "t.0"}
    assert no_effects(sessions, declared) == (NoEffect("temperature", ("0", "0.7", "1"), ("m",)),)


def test_treatments_of_equal_rounds_and_interaction_are_the_same_and_others_are_not(session):
    t = session.treatment
    treatments = {
        "basic": replace(t, name="basic", instructions="Deliberate."),
        "normative": t,
        "longer": replace(t, name="longer", rounds=t.rounds + 1),
        "none": replace(t, name="none", instructions="", interaction=False),
    }
    sessions = [cell(session, f"ccps.{name}", treatment=t) for name, t in treatments.items()]
    assert same_cells(sessions, declared) == {"ccps.normative": "ccps.basic"}
    (told,) = no_effects(sessions, declared)
    assert (told.setting, told.values) == ("treatment.instructions", ("basic", "normative"))


@pytest.mark.parametrize("what", "topic survey size names persona seed procedure".split())
def test_whatever_else_differs_makes_another_condition(session, what):
    people = session.participants
    changes = {
        "topic": {"topic": replace(session.topic, id="other")},
        "survey": {"survey": replace(session.survey, id="other")},
        "size": {"participants": people[:3]},
        "names": {"participants": tuple(replace(p, id=f"P{i}") for i, p in enumerate(people))},
        "persona": {"participants": (replace(people[0], persona="You love trees."), *people[1:])},
        "seed": {"seed": session.seed + 1},
        "procedure": {"procedure": replace(session.procedure, recall=False)},
    }
    unnoticed = replace(session.procedure, shuffle_items=False)
    first, same = cell(session, "a"), cell(session, "b", procedure=unnoticed)
    assert same_cells([first, same], declared) == {"b": "a"}
    assert same_cells([first, cell(session, "b", **changes[what])], declared) == {}


def test_cells_are_the_same_only_if_every_replicate_that_both_have_is(session):
    other = (replace(session.participants[0], persona="You love trees."), *session.participants[1:])
    drawn = [cell(session, "a", 1), cell(session, "a", 2), cell(session, "b", 1)]
    drawn.append(cell(session, "b", 2, participants=other))
    assert same_cells(drawn, declared) == {}
    enlarged = [*drawn[:2], cell(session, "b", 1), cell(session, "b", 2), cell(session, "b", 3)]
    assert same_cells(enlarged, declared) == {"b": "a"}
    assert same_cells([cell(session, "a", 1), cell(session, "b", 2)], declared) == {}


def test_in_a_mixed_group_a_setting_of_all_counts_only_if_no_model_heeds_it(session):
    people = tuple(Participant(f"P{i}", model="ab"[i % 2]) for i in range(4))
    mixed = {"a": {"kind": "citizen", "temperature": 0.0}, "b": {"kind": "litellm"}}
    shuffled = cell(session, "s", participants=people, models=mixed)
    unshuffled = replace(session.procedure, shuffle_items=False)
    ordered = replace(shuffled, id="o.r1", procedure=unshuffled)
    assert same_cells([shuffled, ordered], declared) == {}
    (told,) = no_effects([shuffled, ordered], declared)
    assert told == NoEffect("procedure.shuffle_items", ("True", "False"), ("a",))
    hot = mixed | {"a": {"kind": "citizen", "temperature": 1.0}}
    warmer = replace(shuffled, id="w.r1", models=hot)
    assert same_cells([shuffled, warmer], declared) == {"w": "s"}


def test_what_was_dropped_makes_cells_alike_only_where_it_was_dropped_in_all_of_their_runs(session):
    sessions = warm(session, "litellm", replicates=(1, 2))
    two = {one.id: {"m": ("temperature",)} for one in sessions if not one.id.startswith("t.1")}
    assert same_cells(sessions, declared, two) == {"t.0_7": "t.0"}
    assert drops(sessions, declared, two) == (Drop("temperature", ("0", "0.7", "1"), "m", 4, 6),)
    assert same_cells(sessions, declared, dict(list(two.items())[:3])) == {}
    assert drops(sessions, declared, {}) == ()


def test_what_is_dropped_and_not_varied_and_what_is_declared_are_not_told_of(session):
    both = warm(session, "litellm")
    same = [both[0], replace(both[0], id="t.0.r2", replicate=2)]
    assert drops(same, declared, {one.id: {"m": ("temperature",)} for one in same}) == ()
    citizens = warm(session)
    assert drops(citizens, declared, {one.id: {"m": ("temperature",)} for one in citizens}) == ()
