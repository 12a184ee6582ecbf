"""A facilitator and a briefing: who says what when, who hears it, and that nothing else changes."""

from dataclasses import replace

import pytest

from delibsim import WrongInput, compose
from delibsim.domain.phases import Briefing, Facilitator
from delibsim.engine.check import check
from delibsim.planning.costing import calls_of
from delibsim.planning.dry_run import dry_run
from delibsim.prompts.session import longest_prompt
from delibsim.store.codec import run_from_json, run_to_json

PEOPLE = ("Participant 1", "Participant 2", "Participant 3")
TRAM = Briefing("tram", "A tram is planned.", "It carries many people.", "It costs a fortune.")


@pytest.fixture(scope="module")
def facilitator(tmp_path_factory):
    """The facilitator of the preset."""
    home = tmp_path_factory.mktemp("home")
    found = compose("procedure.facilitation=rounds", home=home).facilitator
    assert found is not None
    return found


@pytest.fixture
def led(session_of, facilitator):
    """A small session with a facilitator, or (None) without one."""

    def make(when="rounds", names=False, n=3, rounds=2, **changes):
        session = session_of(n, rounds)
        own = {"facilitation": when, "facilitator_names": names}
        procedure = replace(session.procedure, **own)
        leader = facilitator if when else None
        return replace(session, procedure=procedure, facilitator=leader, **changes)

    return make


def tasks(run):
    return "".join((said.turn.role or "-")[0] + said.turn.task[0] for said in run.transcript)


def says(words):
    """A script in which the facilitator says these words, by its turns in order."""
    left = iter(words)
    return lambda prompt: next(left) if prompt.purpose.participant == "Facilitator" else None


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (None, "-s-s-s-s-s-s"),
        ("opening", "fo-s-s-s-s-s-sfc"),
        ("rounds", "fo-s-s-sfr-s-s-sfc"),
        ("turns", "fo-sft-sft-sft-sft-sft-sfc"),
    ],
)
async def test_a_facilitator_speaks_when_the_procedure_says_so(led, held, when, expected):
    session = led(when)
    run, _ = await held(session)
    assert tasks(run) == expected
    assert [said.turn.index for said in run.transcript] == list(range(1, len(run.transcript) + 1))
    assert [turn.task for turn in session.planned_turns] == [
        one.turn.task for one in run.transcript
    ]
    assert run_from_json(run_to_json(run)) == run


@pytest.mark.parametrize("when", ["opening", "rounds", "turns"])
async def test_nothing_else_varies(led, held, when):
    """Citizens, their order, their seeds, their surveys and what they say are those of the group
    without a facilitator: the null citizen hears it as a voice without an opinion.
    """
    without, voice = await held(led(None))
    run, other = await held(led(when))
    own = [at for at, one in enumerate(other.asked) if one.purpose.participant in PEOPLE]
    assert [other.seeds[at] for at in own] == voice.seeds
    assert [one.text for one in other.prompts(occasion="pre")] == [
        one.text for one in voice.prompts(occasion="pre")
    ]
    assert [(one.turn.speaker, one.turn.round, one.text) for one in run.speech] == [
        (one.turn.speaker, one.turn.round, one.text) for one in without.speech
    ]
    assert run.responses == without.responses


async def test_everybody_hears_the_facilitator_and_it_hears_everybody(led, held):
    session = led("rounds")
    star = replace(session.procedure.audience, network="star")
    session = replace(session, procedure=replace(session.procedure, audience=star))
    _, voice = await held(session)
    last = voice.prompts("Participant 3", "post")[0].text
    assert last.count("Facilitator (facilitator, round") == 3
    assert "Participant 2 (round" not in last
    closing = voice.prompts("Facilitator")[-1].text
    assert all(closing.count(f"{name} (round") == 2 for name in PEOPLE)
    assert "considerations" not in closing.casefold()
    assert session.treatment.instructions not in closing


async def test_who_is_named_speaks_next_and_nobody_twice_before_all_did(led, held):
    drawn, _ = await held(led("rounds"))
    first = [one.turn.speaker for one in drawn.speech][:3]
    words = ["Welcome.", "Go on.\nNext: {}", "Goodbye."]
    last = [one.turn.speaker for one in drawn.speech][-1]
    script = says([words[0], words[1].format(last), words[2]])
    run, _ = await held(led("rounds", names=True), script)
    order = [one.turn.speaker for one in run.speech]
    second = [one.turn.speaker for one in drawn.speech][3:]
    assert order == [*first, last, *(name for name in second if name != last)]
    assert [one.names for one in run.transcript if one.turn.role] == ["", last, ""]


@pytest.mark.parametrize("named", ["Ann", "nobody", "Participant 17", "Facilitator"])
async def test_who_is_not_there_changes_no_order(led, held, named):
    drawn, _ = await held(led("rounds"))
    script = says(["Welcome.", f"Go on.\n**Next:** {named}.", "Goodbye."])
    run, _ = await held(led("rounds", names=True), script)
    assert [one.turn.speaker for one in run.speech] == [one.turn.speaker for one in drawn.speech]
    assert run.transcript[4].names == ("" if named == "nobody" else named)
    assert run.transcript[4].text == "Go on."


async def test_a_facilitator_who_answers_for_a_citizen_is_asked_again(led, held):
    script = says(["Participant 2: I hold that it is true.", "Welcome.", "Goodbye."])
    run, voice = await held(led("opening"), script)
    asked = voice.prompts("Facilitator")
    assert [one.purpose.attempt for one in asked] == [0, 1, 0]
    assert "a line speaks for Participant 2" in asked[1].text
    assert run.transcript[0].text == "Welcome."


async def test_an_estimate_asks_what_is_asked(led):
    for when in ("opening", "rounds", "turns"):
        session = led(when, names=True, briefing=TRAM)
        assert await calls_of(session, 5) == await dry_run(session, 5)


@pytest.mark.parametrize(("replicate", "order"), [(1, "pro-con"), (2, "con-pro")])
async def test_a_briefing_is_the_same_for_all_and_its_order_is_counterbalanced(
    led, held, replicate, order
):
    session = led(None, briefing=TRAM, replicate=replicate)
    run, voice = await held(session)
    told = run.transcript[0]
    assert (told.turn.speaker, told.turn.role, told.turn.round) == ("Briefing", "briefing", 0)
    assert (told.text, told.given) == (TRAM.told(order), True)
    assert all(TRAM.con in prompt.text for prompt in voice.prompts(occasion="turn"))
    assert all(TRAM.con in prompt.text for prompt in voice.prompts(occasion="post"))
    assert not any(TRAM.con in prompt.text for prompt in voice.prompts(occasion="pre"))
    assert session.briefing_order == order
    assert session.model_of(told.turn) == ""


async def test_a_briefing_is_given_to_those_who_do_not_discuss_too(session_of, held):
    run, _ = await held(replace(session_of(interaction=False), briefing=TRAM))
    assert [said.turn.role for said in run.transcript] == ["briefing"]


def test_the_whole_briefing_counts_against_the_window_of_a_model(led):
    long = Briefing("long", "word " * 40_000)
    assert len(longest_prompt(led(None, briefing=long)).text) > 200_000


def test_a_facilitator_without_a_text_and_a_debate_with_one_are_refused(led, tmp_path):
    bare = replace(led("opening"), facilitator=Facilitator("bare", texts={"setting": "Lead."}))
    with pytest.raises(WrongInput, match="facilitator bare.*lacks the text"):
        check(bare)
    debate = compose("format=debate", "motion=voting", home=tmp_path)
    with pytest.raises(WrongInput, match="neither a facilitator nor a briefing"):
        check(replace(debate, briefing=TRAM))
