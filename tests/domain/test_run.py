"""Sessions that nobody could hold are refused; seeds come from names; a run finds its responses.
Branches of a run: whose turn it is, what is said there, which plan is in force, and seeds.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delibsim.domain.branching import in_short, what_differs
from delibsim.domain.condition import conditions
from delibsim.domain.parentage import Edit, Parentage, position_of
from delibsim.domain.participant import Participant
from delibsim.domain.run import Run, Session
from delibsim.domain.survey import Item, Response, Survey, Topic
from delibsim.domain.transcript import Statement, Turn
from delibsim.domain.treatment import Procedure, Treatment, Wording
from delibsim.testing import a_run

ITEMS = [
    Item(f"{kind[0].upper()}{k}", kind, "?")
    for kind in ("consideration", "preference")
    for k in (1, 2)
]
SURVEY = Survey("s", tuple(ITEMS))
ANN, BOB = Participant("Ann"), Participant("Bob")


def session(**changes):
    parts = {
        "id": "ccps.basic.citizen.r1",
        "topic": Topic("ccps", "What now?"),
        "survey": SURVEY,
        "participants": (ANN, BOB),
        "treatment": Treatment("basic"),
        "format": "deliberation",
        "wording": Wording("w", {}),
        "seed": 7,
    }
    return Session(**{**parts, **changes})


UNNAMED = ["", " ", "Ann\nBob", "Ann\u2028", "> Ann", " Ann", "\x85"]
"""Names that cannot head a speech: whoever reads the transcript would take them for speech, or for
nobody's.
"""


@pytest.mark.parametrize(
    ("people", "fault"),
    [
        ([], "a group needs at least 2 participants, not 0"),
        ([{"id": "Ann"}], "a group needs at least 2 participants, not 1"),
        (
            [{"id": "Ann"}, {"id": "Bob"}, {"id": "Ann", "persona": "another Ann"}],
            "participants need names of their own; given: Ann, Bob, Ann",
        ),
        (
            [{"id": "Ann"}, {"id": "Bob", "model": "large"}],
            "no settings for the models large; there are settings for citizen",
        ),
        *(([{"id": "Ann"}, {"id": name}], "name") for name in UNNAMED),
    ],
)
def test_a_group_that_cannot_deliberate_is_refused(people, fault):
    with pytest.raises(ValueError, match=fault):
        session(participants=tuple(Participant(**person) for person in people))


def test_seeds_do_not_depend_on_treatment_model_or_people():
    plain = session().seed_for("Ann", "pre", 0)
    others = [
        {"treatment": Treatment("normative", "Be kind.", rounds=4)},
        {
            "participants": (Participant("Ann", model="x"), BOB),
            "models": {"x": {"kind": "x"}, "citizen": {"kind": "citizen"}},
        },
        {"participants": (ANN, BOB, Participant("Cem"))},
        {
            "id": "another name",
            "procedure": Procedure(reasks=0),
            "wording": Wording("other", {"a": "b"}),
        },
    ]
    assert [session(**other).seed_for("Ann", "pre", 0) for other in others] == [plain] * len(others)


def held(**changes):
    responses = tuple(
        Response(name, phase, answers)
        for name, phase, answers in (
            ("Ann", "pre", {"C1": 1}),
            ("Bob", "pre", {}),
            ("Ann", "post", {"C1": 2}),
            ("Bob", "post", {}),
        )
    )
    parts = {
        "session": session(),
        "responses": responses,
        "transcript": (Statement(Turn(1, 1, "Ann"), "Hello."),),
        "status": "partial",
    }
    return Run(**{**parts, **changes})


def test_a_run_finds_the_response_of_one_participant_in_one_phase():
    assert held().response("Ann", "post").answers == {"C1": 2}
    assert held().response("Ann", "pre").answers == {"C1": 1}
    with pytest.raises(KeyError, match=r"ccps\.basic\.citizen\.r1: no post survey of Eve"):
        held().response("Eve", "post")


FIRST, *OTHERS = held().responses
EVE = Response("Eve", "post", {})
INCOMPLETE = "one of every participant in every phase"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"responses": (replace(FIRST, answers={"C1": 9}), *OTHERS)}, "Ann, pre: C1 has 9, outside"),
        ({"responses": (replace(FIRST, answers={"P1": 2, "P2": 2}), *OTHERS)}, "Ann, pre: the ranks"),
        ({"responses": (replace(FIRST, answers={"C9": 1}), *OTHERS)}, "C9 is not in the survey"),
        ({"responses": tuple(OTHERS)}, INCOMPLETE),
        ({"responses": (FIRST, *OTHERS, FIRST)}, INCOMPLETE),
        ({"responses": (FIRST, *OTHERS[:-1], EVE)}, INCOMPLETE),
        ({"transcript": (Statement(Turn(1, 1, "Eve"), "Hello."),)}, "'Eve' is no participant"),
    ],
)  # fmt: skip
def test_a_run_that_nobody_could_have_held_is_refused(changes, fault):
    with pytest.raises(ValueError, match=fault):
        held(**changes)


NAMES = ("Ann", "Bob", "Cem")
ORDERS = (("Bob", "Ann", "Cem"), ("Cem", "Bob", "Ann"), ("Ann", "Bob", "Cem"))


def planned(**changes):
    own = {
        "participants": tuple(map(Participant, NAMES)),
        "treatment": Treatment("basic", rounds=2),
    }
    topic = Topic("t", "What now?")
    survey = a_run().session.survey
    return session(
        **{"id": "t.basic.citizen.r1", "topic": topic, "survey": survey, **own, **changes}
    )


def branch(at, *edits, parent=None, **changes):
    parent = parent or planned()
    parentage = Parentage("s", parent.id, "0" * 64, at, edits)
    return replace(parent, **{"id": "b.r1", **changes}, parentage=parentage, before=parent)


def said(session):
    """Number, round and speaker of every turn, and what is given in it."""
    rounds = session.most_rounds
    slots = session.slots(ORDERS[:rounds])
    assert [slot.turn.index for slot in slots] == list(range(1, len(slots) + 1))
    turns = [f"{slot.turn.round}{slot.turn.speaker[0]}" for slot in slots]
    return " ".join(turns), {slot.turn.index: slot.given for slot in slots if slot.given}


@pytest.mark.parametrize(
    ("edits", "turns", "given"),
    [
        ((), "1B 1A 1C 2C 2B 2A", {}),
        ((Edit("say", 5, "No."),), "1B 1A 1C 2C 2B 2A", {5: "No."}),
        ((Edit("remove", 4),), "1B 1A 1C 2B 2A", {}),
        ((Edit("insert", 5, "Wait.", "Ann"),), "1B 1A 1C 2C 2A 2B 2A", {5: "Wait."}),
        ((Edit("insert", 7, "Last.", "Bob"),), "1B 1A 1C 2C 2B 2A 2B", {7: "Last."}),
        ((Edit("remove", 3), Edit("say", 6, "So.")), "1B 1A 2C 2B 2A", {5: "So."}),
        ((Edit("stop", 3),), "1B 1A", {}),
    ],
)
def test_a_branch_has_the_turns_of_its_parent_but_for_its_edits(edits, turns, given):
    assert said(branch(3, *edits)) == (turns, given)


def test_who_leaves_has_no_turn_from_the_branch_on_and_what_was_said_stays():
    people = (Participant("Ann"), Participant("Cem"))
    assert said(branch(4, participants=people))[0] == "1B 1A 1C 2C 2A"


def test_who_joins_speaks_once_in_every_round_that_is_not_over():
    people = (*planned().participants, Participant("Dora"))
    turns, _ = said(branch(4, participants=people))
    assert turns.startswith("1B 1A 1C")
    assert sorted(turns.split()[3:]) == ["2A", "2B", "2C", "2D"]
    turns, _ = said(branch(2, participants=people))
    assert turns.startswith("1B")
    assert sorted(turns.split()[1:4]) == ["1A", "1C", "1D"]


def test_other_rounds_are_those_of_the_treatment_from_there_on():
    longer, silent = Treatment("basic", rounds=3), Treatment("none", interaction=False)
    assert said(branch(4, treatment=longer))[0] == "1B 1A 1C 2C 2B 2A 3A 3B 3C"
    assert said(branch(4, treatment=silent))[0] == "1B 1A 1C"
    assert len(branch(4, treatment=longer).planned_turns) == 9


def test_a_fork_of_a_fork_keeps_what_lies_before_it_from_both():
    first = branch(3, Edit("say", 3, "One."))
    second = branch(5, Edit("say", 6, "Two."), parent=first, id="c.r1")
    assert said(second) == ("1B 1A 1C 2C 2B 2A", {3: "One.", 6: "Two."})
    plans = [second.in_force("Ann", occasion) for occasion in ("pre", "turn 3", "turn 5", "post")]
    assert [plan.id for plan in plans] == [planned().id, first.id, second.id, second.id]


@given(st.integers(0, 7), st.integers(1, 3))
def test_only_calls_after_the_branch_have_seeds_of_their_own(at, replicate):
    parent, fork = planned(), branch(at, replicate=replicate)
    other = branch(at, Edit("say", max(at, 1), "No."), replicate=replicate)
    for occasion in ("pre", *(f"turn {turn}" for turn in range(1, 7)), "post"):
        seeds = [one.seed_of_call("Ann", occasion, 0) for one in (parent, fork, other)]
        before = position_of(occasion) < at
        assert (seeds[0] == seeds[1]) is before
        assert seeds[1] == seeds[2]  # common random numbers, whatever else differs
    assert parent.seed_for("Ann", "order") == fork.seed_for("Ann", "order")


def test_forks_of_one_number_share_seeds_and_others_do_not():
    found = set()
    for fork in (branch(3), branch(3, replicate=2), branch(3, seed=8)):
        found.add(fork.seed_of_call("Ann", "post", 0))
    nested = branch(3, parent=branch(3))
    assert len(found | {nested.seed_of_call("Ann", "post", 0)}) == 4


def test_the_first_probe_asks_with_the_seeds_of_the_run():
    parent, stop = planned(), Edit("stop", 4)
    seed = parent.seed_of_call("Ann", "post", 0)
    assert branch(4, stop).seed_of_call("Ann", "post", 0) == seed
    assert branch(4, stop, replicate=2).seed_of_call("Ann", "post", 0) != seed


@pytest.mark.parametrize(
    ("edits", "fault"),
    [
        ((("say", 2, "No."),), "turn 2 lies before the branch at turn 3"),
        ((("say", 4, "No."), ("remove", 4)), "turn 4 is edited twice"),
        ((("remove", 0),), "there is no turn 0"),
        ((("say", 4),), "an edit 'say' of turn 4"),
        ((("insert", 4, "No."),), "an edit 'insert' of turn 4"),
    ],
)
def test_edits_that_cannot_be_made_are_refused(edits, fault):
    with pytest.raises(ValueError, match=fault):
        branch(3, *(Edit(*edit) for edit in edits))


def test_a_branch_without_the_plan_of_its_parent_is_refused():
    with pytest.raises(ValueError, match="a branch has both"):
        replace(branch(3), before=None)


def test_what_differs_is_told_word_for_word():
    fork = branch(3, Edit("say", 3, "No."), treatment=Treatment("normative", "Be kind.", 2))
    told = [difference.plain() for difference in what_differs(fork)]
    assert told == [
        {"what": "turn 3 said as given", "before": "", "now": "No."},
        {"what": "treatment", "before": "basic", "now": "normative"},
        {"what": "instructions", "before": "", "now": "Be kind."},
    ]
    assert in_short(fork) == "turn 3 said as given; treatment: basic -> normative"
    assert (in_short(branch(3)), in_short(planned())) == ("nothing but the seed", "")


def test_seats_models_and_personas_are_told_by_who_has_them():
    people = (Participant("Ann", "A farmer."), Participant("Bob", model="b"), Participant("Dora"))
    models = {"citizen": {"kind": "citizen"}, "b": {"kind": "citizen"}}
    found = what_differs(branch(3, participants=people, models=models))
    assert [(one.what, one.before, one.now) for one in found] == [
        ("persona of Ann", "", "A farmer."),
        ("model of Bob", "citizen", "b"),
        ("seat of Cem", "taken", ""),
        ("seat of Dora", "", "taken"),
    ]


def test_branches_are_never_of_a_condition_of_planned_sessions():
    fork = branch(3, id="t.basic.citizen.r1.at3.same.r1")
    found = conditions([planned(), fork])
    assert found[planned().id] != found[fork.id]
