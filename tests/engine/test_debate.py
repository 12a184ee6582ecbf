"""Debates: six turns in order, each side seeing what it may and no more, under rules; what breaks
off is incomplete. Deliberation: everybody speaks once a round, in an order that is drawn anew
from the session's seed.
"""

import random
from dataclasses import replace

import numpy as np
import pytest
from debates import debate, scripted

from delibsim import Completion, Participant, Usage, WrongInput
from delibsim.engine.agenda import TurnSlot
from delibsim.engine.forum import Forum, check, hold
from delibsim.models.replay import Recorder, Replay
from delibsim.scorers.speeches import Speeches
from delibsim.store import codec

ORDER = [
    ("Proposition", "opening"), ("Opposition", "opening"), ("Proposition", "rebuttal"),
    ("Opposition", "rebuttal"), ("Proposition", "closing"), ("Opposition", "closing"),
]  # fmt: skip
LONG = " ".join(["word"] * 160) + "."


@pytest.fixture
def session(tmp_path):
    return debate(tmp_path, "proposition=citizen_eloquent", "opposition=citizen_plain")


async def test_each_debater_sees_the_motion_its_side_the_turns_so_far_and_nothing_of_the_other(
    session,
):
    asked = []
    session = replace(
        session,
        participants=tuple(
            replace(p, persona=f"You are {p.role.upper()}PERSONA.") for p in session.participants
        ),
    )
    run = await hold(session, scripted(session, asked=asked))
    assert len(asked) == 6
    for i, prompt in enumerate(asked):
        side, task = ORDER[i]
        assert session.topic.question in prompt.text
        assert f"<you>\n{side}\n</you>" in prompt.text
        assert session.wording.texts[side.lower()] in prompt.text
        assert session.wording.texts[task] in prompt.text
        assert [said.text in prompt.text for said in run.transcript] == [True] * i + [False] * (
            6 - i
        )
        other = "OPPOSITION" if side == "Proposition" else "PROPOSITION"
        assert f"{side.upper()}PERSONA" in prompt.text
        assert f"{other}PERSONA" not in prompt.text
        assert not [name for name in session.models if name in prompt.text]


async def test_a_re_ask_that_keeps_the_rules_is_taken_and_the_count_is_that_of_the_rules(tmp_path):
    session = debate(tmp_path, "procedure.rules.reasks=1")
    asked = []
    run = await hold(
        session, scripted(session, {("Proposition", "turn 1", 0): "Too short."}, asked)
    )
    assert 100 <= len(run.transcript[0].text.split()) <= 150
    assert len([p for p in asked if p.purpose.occasion == "turn 1"]) == 2
    asked = []
    run = await hold(session, scripted(session, {("Proposition", "turn 1"): "Too short."}, asked))
    assert run.transcript[0].text == "Too short."
    assert len([p for p in asked if p.purpose.occasion == "turn 1"]) == 2


async def test_what_is_too_long_is_cut_where_the_rules_say_so(tmp_path):
    session = debate(tmp_path, "procedure.rules.then=cut")
    speech = f"{' '.join(['word'] * 120)}. {LONG}"
    run = await hold(session, scripted(session, {("Opposition", "turn 2"): speech}))
    assert run.transcript[1].text == f"{' '.join(['word'] * 120)}."
    assert [said.cut for said in run.transcript] == [False, True, False, False, False, False]
    assert codec.run_from_json(codec.run_to_json(run)) == run
    assert {s.value for s in Speeches().score([run]) if s.measure == "speech.cut"} == {1.0}


@pytest.mark.parametrize("status", ["refusal", "length", "content_filter"])
async def test_a_turn_that_is_refused_or_cut_off_ends_the_debate(session, status):
    asked = []
    refused = Completion("", status, "no", Usage(cost_usd=0.0), "x")
    run = await hold(session, scripted(session, {("Opposition", "turn 4"): refused}, asked))
    assert (run.status, len(run.transcript)) == ("partial", 3)
    assert [(said.turn.index, said.status) for said in run.silences] == [(4, status)]
    assert len(asked) == 4


async def test_an_empty_turn_is_asked_again_and_then_ends_the_debate(session):
    run = await hold(session, scripted(session, {("Proposition", "turn 1"): " "}))
    assert run.transcript == ()
    assert run.silences[0].status == "unreadable"


async def test_notes_are_seen_by_their_debater_only(tmp_path):
    session = debate(tmp_path, "procedure.rules.preparation=true", "audience=1")
    asked = []
    script = {
        ("Proposition", "turn 1"): "SECRETPLAN of the proposition",
        ("Opposition", "turn 2"): "HIDDENPLAN of the opposition",
    }
    run = await hold(session, scripted(session, script, asked))
    assert [said.turn.task for said in run.transcript][:3] == [
        "preparation",
        "preparation",
        "opening",
    ]
    for prompt in asked:
        turn = (
            prompt.purpose.occasion.startswith("turn")
            and int(prompt.purpose.occasion.split()[1]) > 2
        )
        assert ("SECRETPLAN" in prompt.text) == (
            prompt.purpose.participant == "Proposition" and turn
        )
        assert ("HIDDENPLAN" in prompt.text) == (
            prompt.purpose.participant == "Opposition" and turn
        )
    assert run.status == "complete"


async def test_after_a_debate_that_broke_off_the_audience_is_not_asked_and_the_reason_stands_there(
    tmp_path,
):
    session = debate(tmp_path, "audience=1")
    asked = []
    refused = Completion("", "refusal", "no", Usage(cost_usd=0.0), "x")
    run = await hold(session, scripted(session, {("Proposition", "turn 3"): refused}, asked))
    assert run.response("Listener 1", "post").missing["S1"].code == "debate_incomplete"
    assert len(asked) == 4


async def test_a_debate_cut_off_goes_on_in_the_turn_where_it_was_and_replays_equal(session):
    kept = []
    voices = scripted(
        session, {("Opposition", "turn 4"): Completion("", "timeout", "away", Usage(), "x")}
    )
    with pytest.raises(Exception, match="turn 4"):
        await hold(session, {name: Recorder(voice, kept.append) for name, voice in voices.items()})
    assert len(kept) == 4
    asked = []
    live = scripted(session, asked=asked)
    whole = await hold(
        session, {n: Replay(n, kept, then=Recorder(v, kept.append)) for n, v in live.items()}
    )
    assert [p.purpose.occasion for p in asked] == ["turn 4", "turn 5", "turn 6"]
    assert await hold(session, {n: Replay(n, kept) for n in session.models}) == whole


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"participants": (Participant("A"), Participant("B"))}, "one proposition, one opposition and an audience"),
        ({"participants": (Participant("A", role="proposition"), Participant("B", role="proponent"))}, "given are proposition, proponent"),
    ],
)  # fmt: skip
def test_a_debate_without_its_sides_is_refused(session, change, message):
    session = replace(
        session, **{**change, "models": {**session.models, "citizen": {"kind": "citizen"}}}
    )
    with pytest.raises(WrongInput, match=message):
        check(session)


def test_a_debate_without_rules_or_with_deaf_listeners_is_refused(session):
    with pytest.raises(WrongInput, match=r"procedure\.rules"):
        check(replace(session, procedure=replace(session.procedure, rules=None)))
    ring = replace(session.procedure, audience=replace(session.procedure.audience, network="ring"))
    with pytest.raises(WrongInput, match="everybody hears both sides"):
        check(replace(session, procedure=ring))
    texts = {name: text for name, text in session.wording.texts.items() if name != "closing"}
    with pytest.raises(WrongInput, match="lacks the text 'closing'"):
        check(replace(session, wording=replace(session.wording, texts=texts)))
    with pytest.raises(ValueError, match="cannot be more than reasks"):
        replace(session.procedure, reasks=1)


async def tasks_asked(session):
    """What was asked with every speech, after all that is shown, by side and task."""
    asked = []
    run = await hold(session, scripted(session, asked=asked))
    turns = [said.turn for said in run.transcript]
    return {
        (turn.speaker, turn.task): prompt.text for turn, prompt in zip(turns, asked, strict=True)
    }


DEMANDS = {
    "fairness": ("as fair to the other side", {"opening", "rebuttal", "closing"}),
    "both_kinds": ("one argument of principle and at least one practical", {"opening"}),
    "no_new_argument": ("Bring in no new argument", {"closing"}),
}


async def test_no_demand_of_ours_is_made_unless_it_is_turned_on(session):
    for text in (await tasks_asked(session)).values():
        for words, _ in DEMANDS.values():
            assert words not in text
        assert "strongest point" not in text


@pytest.mark.parametrize("name", DEMANDS)
async def test_a_demand_is_made_of_both_sides_with_its_tasks(tmp_path, name):
    words, tasks = DEMANDS[name]
    found = await tasks_asked(debate(tmp_path, f"procedure.rules.{name}=true"))
    assert {key for key, text in found.items() if words in text} == {
        (side, task) for side in ("Proposition", "Opposition") for task in tasks
    }


def test_a_demand_that_the_wording_cannot_make_is_refused_and_an_older_wording_still_works(session):
    texts = {name: text for name, text in session.wording.texts.items() if name not in DEMANDS}
    older = replace(session, wording=replace(session.wording, id="older", texts=texts))
    check(older)
    rules = replace(session.procedure.rules, both_kinds=True)
    asking = replace(older, procedure=replace(session.procedure, rules=rules))
    with pytest.raises(
        WrongInput, match=r"both_kinds is on, and wording 'older' has no text .*leave the rule off"
    ):
        check(asking)


def test_demands_that_are_off_are_not_written(session):
    plain = codec.session_to_plain(session)["procedure"]["rules"]
    assert set(plain) == {"least", "most", "reasks", "then", "preparation"}
    rules = replace(session.procedure.rules, fairness=True)
    asking = replace(session, procedure=replace(session.procedure, rules=rules))
    assert codec.session_to_plain(asking)["procedure"]["rules"]["fairness"] is True
    assert codec.session_from_json(codec.session_to_json(asking)) == asking


def agenda(session, voice=None):
    """All turns of a session, as its forum names them."""
    forum = Forum(session, {"citizen": voice}, lambda moment: None)
    try:
        return [step.turn for step in forum.agenda() if isinstance(step, TurnSlot)]
    finally:
        forum.leave()


def orders(session):
    """Who speaks in each round."""
    turns = agenda(session)
    return [
        [turn.speaker for turn in turns if turn.round == k]
        for k in range(1, session.treatment.rounds + 1)
    ]


@pytest.mark.parametrize("n", range(2, 10))
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_every_participant_speaks_once_a_round(session_of, n, rounds):
    session = session_of(n, rounds)
    everybody = sorted(p.id for p in session.participants)
    turns = agenda(session)
    assert [turn.index for turn in turns] == list(range(1, n * rounds + 1))
    assert [turn.round for turn in turns] == [k for k in range(1, rounds + 1) for _ in range(n)]
    for order in orders(session):
        assert sorted(order) == everybody


def test_fewer_rounds_are_the_beginning_of_more(session_of):
    assert orders(session_of(5, rounds=2)) == orders(session_of(5, rounds=6))[:2]


@pytest.mark.parametrize("seat", [0, 4])
def test_no_seat_is_favoured(session_of, seat):
    session = session_of(5, rounds=1)
    first = [orders(replace(session, replicate=k))[0][0] for k in range(1, 201)]
    share = first.count(session.participants[seat].id) / len(first)
    assert 0.1 < share < 0.3  # 1/5, three and a half standard errors to either side


@pytest.mark.parametrize(("rounds", "interaction"), [(0, True), (2, False), (0, False)])
async def test_without_rounds_or_interaction_nobody_speaks(session_of, held, rounds, interaction):
    session = session_of(3, rounds, interaction)
    assert agenda(session) == []
    run, voice = await held(session)
    assert run.transcript == ()
    assert len(run.responses) == 6
    assert run.status == "complete"
    assert voice.prompts(occasion="turn") == []


def test_no_global_random_state_is_read_or_moved(session_of):
    session = session_of(5, rounds=3)
    expected = orders(session)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the global state is what must not matter
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    assert orders(session) == expected
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002
