"""Phases in the user's order, and surveys between them: what each is asked, what no later prompt
says of them, and what cannot be.
"""

from dataclasses import replace

import pytest

from delibsim import WrongInput, compose, hold
from delibsim.domain.branching import Edit
from delibsim.domain.parentage import Parentage
from delibsim.domain.phases import Briefing, Witness
from delibsim.domain.treatment import Procedure
from delibsim.engine.check import check
from delibsim.models.replay import Recorder, branch_voices
from delibsim.planning.costing import calls_of
from delibsim.planning.dry_run import dry_run
from delibsim.scorers.diversity import Diversity
from delibsim.scorers.dri import DRI
from delibsim.store.codec import Damaged, run_from_json, run_to_json

WRITER = Witness("Dr Meyer", testimony="The tram costs four hundred million.")
WAVES = ("survey", "witnesses", "survey", "small_groups", "survey", "plenary", "survey")
PLAIN = ("survey", "witnesses", "small_groups", "plenary", "survey")


@pytest.fixture
def phased(session_of):
    """A small session with a witness and small groups, whose phases are named."""

    def make(phases, n=4, **changes):
        session = session_of(n, 1, **changes)
        procedure = replace(session.procedure, small_groups=2, phases=phases)
        return replace(session, procedure=procedure, witnesses=(WRITER,))

    return make


def asked(voice, waves=False):
    """What was asked with which seed, with the surveys in between or without."""
    found = zip(voice.asked, voice.seeds, strict=True)
    return [
        (prompt.purpose, prompt.text, seed)
        for prompt, seed in found
        if waves or not prompt.purpose.occasion.startswith("wave")
    ]


async def test_a_wave_shows_what_was_heard_and_stands_in_no_later_prompt(phased, held):
    run, voice = await held(phased(WAVES))
    assert run.session.waves == ("pre", "wave_2", "wave_3", "post")
    assert run.session.wave_places == {"wave_2": 1, "wave_3": 7}
    (second,) = voice.prompts("Participant 1", "wave_2")
    assert WRITER.testimony in second.text
    assert "small group" not in second.text
    (third,) = voice.prompts("Participant 1", "wave_3")
    mine = next(own for own in run.session.small_groups if "Participant 1" in own)
    for said in run.transcript[1:5]:
        assert (said.text in third.text) == (said.turn.speaker in mine)
    assert not voice.prompts("Dr Meyer")
    without, plain = await held(phased(PLAIN))
    usual, _ = await held(phased(None))
    assert asked(voice) == asked(plain)
    assert len(voice.asked) == len(plain.asked) + 8
    first, last = [
        [one.answers for one in own.responses if one.phase in ("pre", "post")]
        for own in (run, without)
    ]
    assert first == last
    assert usual.responses == without.responses
    assert run_from_json(run_to_json(run)) == run


async def test_phases_are_held_in_the_order_that_is_named(phased, held):
    order = ("survey", "small_groups", "plenary", "witnesses", "survey")
    run, voice = await held(phased(order))
    tasks = [said.turn.task for said in run.transcript]
    assert tasks == 4 * ["apart"] + 2 * ["report"] + 4 * ["speak"] + ["testimony"]
    assert WRITER.testimony not in voice.prompts("Participant 1", "turn")[-1].text
    assert WRITER.testimony in voice.prompts("Participant 1", "post")[0].text
    usual, _ = await held(phased(PLAIN))
    rounds = [
        [one.turn.speaker for one in own.transcript if one.turn.round] for own in (run, usual)
    ]
    assert rounds[0] == rounds[1]
    occasions = [
        {call.prompt.purpose for call in await made(run.session)} for made in (calls_of, dry_run)
    ]
    assert occasions[0] == occasions[1] == {prompt.purpose for prompt in voice.asked}


async def test_a_statement_that_is_sought_first_is_shown_in_the_last_survey(
    session_of, held, tmp_path
):
    rule = compose("topic=acp", "consensus=schulze", home=tmp_path).consensus
    session = replace(session_of(2, 1), consensus=replace(rule, critique=False))
    usual, plain = await held(session)
    phases = ("survey", "plenary", "survey", "consensus", "survey")
    first = replace(session, procedure=replace(session.procedure, phases=phases))
    run, voice = await held(first)
    text = run.consensus.statement.text
    (last,) = voice.prompts("Participant 1", "post")
    assert f"<statement>\n> {text}" in last.text
    assert text not in voice.prompts("Participant 1", "wave_2")[0].text
    assert text not in plain.prompts("Participant 1", "post")[0].text
    assert run.consensus == usual.consensus
    assert [one for one in run.responses if one.phase == "post"] == [
        one for one in usual.responses if one.phase == "post"
    ]  # the citizen does not move by the statement
    silent = replace(first, procedure=replace(first.procedure, show_transcript=False))
    _, hidden = await held(silent)
    assert text not in hidden.prompts("Participant 1", "post")[0].text


async def test_only_people_are_told_that_it_is_not_the_second_time(session_of, held):
    session = session_of(2, 1, phases=("survey", "plenary", "survey"))
    phases = (*("survey", "briefing", "survey"), *("plenary", "survey"))
    procedure = replace(session.procedure, phases=phases)
    session = replace(session, procedure=procedure, briefing=Briefing("tram", "A tram."))
    people = {name: {**own, "kind": "human"} for name, own in session.models.items()}
    for models, told in ((session.models, "a second time"), (people, "once more")):
        _, voice = await held(replace(session, models=models))
        assert "a second time" in voice.prompts("Participant 1", "wave_2")[0].text
        assert f"held {told}" in voice.prompts("Participant 1", "post")[0].text


async def test_a_wave_that_is_not_answered_is_missing_with_its_reason(phased, held):
    def script(prompt):
        mine = prompt.purpose.participant == "Participant 2"
        return "No idea." if mine and prompt.purpose.occasion == "wave_2" else None

    run, _ = await held(phased(WAVES), script)
    assert run.status == "partial"
    assert {(gap.participant, gap.occasion) for gap in run.gaps} == {("Participant 2", "wave_2")}
    scores = [one for one in (*DRI().score([run]), *Diversity().score([run])) if one.unit == "run"]
    own = {(one.measure, one.phase): one for one in scores}
    for measure in ("dri", "diversity"):
        assert own[measure, "wave_2"].note == "missing_answer"
        assert not own[measure, "wave_3"].note
        assert (
            own[measure, "change"].value == own[measure, "post"].value - own[measure, "pre"].value
        )
    lacking = [one for one in run.responses if one.phase != "wave_2"]
    with pytest.raises(ValueError, match="one of every participant in every phase"):
        replace(run, responses=tuple(lacking))
    with pytest.raises(Damaged, match="phase"):
        run_from_json(run_to_json(run).replace('"wave_2"', '"wave_9"'))


async def test_a_branch_has_the_waves_before_it_and_asks_those_after_it(phased, scripted):
    session, record = phased(WAVES), []
    run = await hold(session, {"citizen": Recorder(scripted(), record.append)})

    async def branch(at, *edits, people=session.participants):
        parentage = Parentage("s", session.id, "0" * 64, at, edits)
        own = replace(session, id="f", participants=people, parentage=parentage, before=session)
        past = [one for one in record if own.position_of(one.purpose.occasion) < at]
        voice = scripted()
        fork = await hold(own, branch_voices(own, {"citizen": voice}, past))
        return fork, {prompt.purpose.occasion for prompt in voice.asked}

    fork, occasions = await branch(5)
    assert {"wave_3", "post"} <= occasions
    assert "wave_2" not in occasions
    for one in run.responses:
        if one.phase in ("pre", "wave_2"):
            assert fork.response(one.participant, one.phase) == one
    assert run_from_json(run_to_json(fork)) == fork
    probe, occasions = await branch(5, Edit("stop", 5))
    assert (probe.session.waves, occasions) == (("pre", "wave_2", "post"), {"post"})
    new = replace(session.participants[0], id="Participant 5")
    joined, _ = await branch(8, people=(*session.participants, new))
    lacking = [one for one in joined.responses if one.missing]
    assert [(one.participant, one.phase) for one in lacking] == [
        (new.id, "wave_2"),
        (new.id, "wave_3"),
    ]
    assert {reason.code for one in lacking for reason in one.missing.values()} == {"not_there_yet"}


HALVES = ("survey", "plenary", "survey", "plenary", "survey")


async def test_plenaries_share_the_rounds_and_nothing_else_changes(session_of, held):
    whole, plain = await held(session_of(3, 3))
    session = session_of(3, 3)
    procedure = replace(session.procedure, phases=HALVES)
    halves, voice = await held(replace(session, procedure=procedure))
    assert halves.session.wave_places == {"wave_2": 6}  # after the second of three rounds
    assert [said.turn for said in halves.transcript] == [said.turn for said in whole.transcript]
    assert asked(voice) == asked(plain)
    longer = replace(session.treatment, rounds=5)
    fork = replace(
        halves.session,
        treatment=longer,
        parentage=Parentage("s", halves.session.id, "0" * 64, 8),
        before=halves.session,
    )
    assert fork.wave_places == {"wave_2": 6}
    short = replace(session, procedure=procedure, treatment=replace(session.treatment, rounds=1))
    with pytest.raises(WrongInput, match="names 2 plenaries, which share the rounds, and there"):
        check(short)


@pytest.mark.parametrize(
    ("phases", "told"),
    [
        ((), "survey is the first and the last"),
        (("plenary", "survey"), "survey is the first and the last"),
        (("survey", "plenary"), "survey is the first and the last"),
        (("survey", "survey"), "survey cannot follow survey; what may: briefing, witnesses"),
        (("survey", "plenary", "plenary", "survey"), "plenary cannot follow plenary"),
        (("survey", "briefing", "survey", "briefing", "survey"), "briefing cannot stand twice"),
        (("survey", "consensus", "plenary", "survey"), "plenary cannot follow consensus"),
    ],
)
def test_phases_in_an_order_that_cannot_be_are_refused(phases, told):
    with pytest.raises(ValueError, match=told):
        Procedure(phases=phases)


@pytest.mark.parametrize(
    ("phases", "told"),
    [
        (("survey", "briefing", *PLAIN[1:]), r"names briefing, and there is none: briefing=FILE"),
        ((*PLAIN[:-1], "consensus", "survey"), "names consensus, and there is none"),
        (("survey", "witnesses", "plenary", "survey"), "small_groups is set, and procedure.phases"),
        (("survey", "small_groups", "plenary", "survey"), "group.witnesses is set, and"),
        (("survey", "witnesses", "small_groups", "survey"), "no plenary, and 1 round of it"),
    ],
)
def test_a_phase_without_what_it_needs_and_the_other_way_round_are_refused(phased, phases, told):
    with pytest.raises(WrongInput, match=told):
        check(phased(phases))
