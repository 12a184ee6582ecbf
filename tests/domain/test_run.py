"""Sessions that nobody could hold are refused; seeds come from names; a run finds its responses."""

import itertools

import pytest

from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.run import Gap, Run, Session
from delibsim.domain.survey import Item, Response, Survey, Topic
from delibsim.domain.transcript import Silence, Statement, Turn
from delibsim.domain.treatment import Procedure, Treatment, Wording

SURVEY = Survey(
    "s",
    (
        *(Item(f"C{k}", "consideration", f"C {k}") for k in (1, 2)),
        *(Item(f"P{k}", "preference", f"P {k}") for k in (1, 2)),
    ),
)
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


@pytest.mark.parametrize(("people", "n"), [((), 0), ((ANN,), 1)])
def test_a_group_of_one_is_refused(people, n):
    with pytest.raises(ValueError, match=f"a group needs at least 2 participants, not {n}"):
        session(participants=people)


def test_names_used_twice_are_refused():
    with pytest.raises(
        ValueError, match="participants need names of their own; given: Ann, Bob, Ann"
    ):
        session(participants=(ANN, BOB, Participant("Ann", persona="another Ann")))


@pytest.mark.parametrize("name", ["", " ", "Ann\nBob", "Ann\u2028", "> Ann", " Ann", "\x85"])
def test_a_name_that_cannot_head_a_speech_is_refused(name):
    # The transcript names speakers on a line of their own; whoever reads it would take such a name
    # for speech, or for nobody's.
    with pytest.raises(ValueError, match="name"):
        session(participants=(ANN, Participant(name)))


def test_a_model_without_settings_is_refused():
    with pytest.raises(
        ValueError, match="no settings for the models large; there are settings for citizen"
    ):
        session(participants=(ANN, Participant("Bob", model="large")))


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


def test_seeds_differ_by_study_seed_topic_replicate_and_every_name():
    planned = [
        session(seed=seed, topic=Topic(topic, "?"), replicate=r)
        for seed in (7, 8)
        for topic in ("ccps", "acp")
        for r in (1, 2)
    ]
    occasions = list(itertools.product(("Ann", "Bob"), ("pre", "turn 1", "post"), (0, 1)))
    seeds = [one.seed_for(*occasion) for one in planned for occasion in occasions]
    assert len(set(seeds)) == len(seeds) == 8 * 12


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


def test_a_run_names_its_gaps_by_reason_and_occasion():
    refusal, faulty = Reason("refusal", "no"), Reason("unreadable", "C1 is missing")
    silence = Silence(Turn(2, 1, "Bob"), "length", "cut")
    lost = Response("Bob", "pre", {}, {"C1": refusal, "C2": refusal, "P1": faulty})
    run = held(responses=(held().responses[0], lost, *held().responses[2:]), silences=(silence,))
    assert run.gaps == (
        Gap("Bob", "pre", refusal, 2),
        Gap("Bob", "pre", faulty, 1),
        Gap("Bob", "turn 2", Reason("length", "cut")),
    )
    assert held().gaps == ()


@pytest.mark.parametrize(
    ("name", "replicate", "cell"),
    [
        ("ccps.basic.citizen.r1", 1, "ccps.basic.citizen"),
        ("ccps.basic.citizen.r12", 12, "ccps.basic.citizen"),
        ("ccps.basic.citizen.r1", 2, "ccps.basic.citizen.r1"),
        ("pilot", 1, "pilot"),
    ],
)
def test_the_cell_is_the_name_without_the_replicate(name, replicate, cell):
    assert session(id=name, replicate=replicate).cell == cell


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ({"C1": 9}, "Ann, pre: C1 has 9, outside 1 to 7"),
        ({"P1": 2, "P2": 2}, "Ann, pre: the ranks"),
        ({"C9": 1}, "C9 is not in the survey"),
    ],
)
def test_answers_nobody_could_give_are_refused(answers, fault):
    responses = (Response("Ann", "pre", answers), *held().responses[1:])
    with pytest.raises(ValueError, match=fault):
        held(responses=responses)


@pytest.mark.parametrize(
    "change",
    [lambda r: r[:-1], lambda r: (*r, r[0]), lambda r: (*r[:-1], Response("Eve", "post", {}))],
)
def test_a_survey_that_is_missing_given_twice_or_by_a_stranger_is_refused(change):
    with pytest.raises(ValueError, match="one of every participant in every phase"):
        held(responses=change(held().responses))


def test_a_statement_of_a_stranger_is_refused():
    with pytest.raises(ValueError, match="'Eve' is no participant"):
        held(transcript=(Statement(Turn(1, 1, "Eve"), "Hello."),))


def test_runs_are_equal_whatever_versions_held_them_and_differ_in_what_was_said():
    assert held() == held(provenance={"delibsim": "9.9"})
    assert held() != held(transcript=(Statement(Turn(1, 1, "Ann"), "Hello!"),))
    assert held() != held(status="complete")
