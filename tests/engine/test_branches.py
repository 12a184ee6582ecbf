"""A branch of a run: its past comes from the record, and what is told from there on is what the
same run would have told, but for what differs.
"""

from dataclasses import replace

import pytest

from delibsim import Participant, hold
from delibsim.domain.branching import Edit
from delibsim.domain.parentage import Parentage, position_of
from delibsim.models.replay import Diverged, Recorder, branch_voices
from delibsim.store.codec import run_from_json, run_to_json


@pytest.fixture
def fork(scripted):
    """Hold a session, then a branch of it; both runs, the record of the first, and the second's
    voice.
    """

    async def go(session, at, *edits, script=lambda prompt: None, **changes):
        record = []
        parent = await hold(session, {"citizen": Recorder(scripted(script), record.append)})
        parentage = Parentage("s", session.id, "0" * 64, at, edits)
        plan = replace(session, **{"id": "fork.r1", **changes}, parentage=parentage, before=session)
        past = [one for one in record if position_of(one.purpose.occasion) < at]
        voice = scripted(script)
        voices = branch_voices(plan, dict.fromkeys(plan.models, voice), past)
        return parent, await hold(plan, voices), record, voice

    return go


def asked(voice):
    return [(prompt.purpose.participant, prompt.purpose.occasion) for prompt in voice.asked]


async def test_nothing_before_the_branch_is_asked_again(session_of, fork):
    parent, run, _, voice = await fork(session_of(), 5)
    assert run.transcript[:4] == parent.transcript[:4]
    before = [one for one in parent.responses if one.phase == "pre"]
    assert [one for one in run.responses if one.phase == "pre"] == before
    occasions = [occasion for _, occasion in asked(voice)]
    assert occasions == ["turn 5", "turn 6", "post", "post", "post"]


@pytest.mark.parametrize(
    "settings", [{}, {"reverse_scale": "half"}, {"transcript_window": 2}, {"show_answers": False}]
)
async def test_an_unchanged_branch_is_told_word_for_word_what_the_run_was_told(
    session_of, fork, settings
):
    """Up to where the replies first differ: the first turn, and every survey before it."""
    _, _, record, voice = await fork(session_of(**settings), 4)
    recorded = {(one.purpose.participant, one.purpose.occasion): one for one in record}
    first = voice.asked[0]
    assert first.messages == recorded[asked(voice)[0]].messages
    _, run, record, voice = await fork(session_of(**settings), 7)
    recorded = {(one.purpose.participant, one.purpose.occasion): one for one in record}
    assert len(voice.asked) == 3
    for prompt, call in zip(voice.asked, asked(voice), strict=True):
        assert prompt.messages == recorded[call].messages
    assert run.status == "complete"


async def test_words_that_are_given_are_heard_by_all_and_asked_of_nobody(
    session_of, fork, heard_in
):
    _, run, _, voice = await fork(session_of(), 4, Edit("say", 4, "I give in."))
    said = run.transcript[3]
    assert (said.text, said.given) == ("I give in.", True)
    assert "turn 4" not in [occasion for _, occasion in asked(voice)]
    for prompt in voice.prompts(occasion="post"):
        assert heard_in(prompt)[3] == (said.turn.speaker, "I give in.")


async def test_who_leaves_is_heard_and_answers_no_more(session_of, fork, heard_in):
    session = session_of(reverse_scale="half")
    staying = session.participants[1:]
    parent, run, _, voice = await fork(session, 4, participants=staying)
    assert {response.participant for response in run.responses} == {
        "Participant 2",
        "Participant 3",
    }
    assert "Participant 1" in {said.turn.speaker for said in run.transcript[:3]}
    assert "Participant 1" not in {said.turn.speaker for said in run.transcript[3:]}
    for prompt in voice.prompts(occasion="post"):
        assert len(heard_in(prompt)) == len(run.transcript)
    for response in run.responses:  # nobody sees the scale turned in mid-run
        same = parent.response(response.participant, response.phase)
        assert response.reversed == same.reversed
    assert run_from_json(run_to_json(run)) == run


async def test_who_joins_answers_the_survey_before_and_reads_what_was_said(
    session_of, fork, heard_in
):
    session = session_of()
    people = (*session.participants, Participant("Participant 4"))
    _, run, _, voice = await fork(session, 4, participants=people)
    assert asked(voice)[0] == ("Participant 4", "pre")
    (turn,) = [said.turn for said in run.transcript if said.turn.speaker == "Participant 4"]
    (prompt,) = voice.prompts("Participant 4", "turn")
    assert len(heard_in(prompt)) == turn.index - 1
    assert len(run.responses) == 8


async def test_another_treatment_holds_from_the_branch_on(session_of, fork):
    session = session_of()
    other = replace(session.treatment, name="other", instructions="Shout at each other.")
    _, _, _, voice = await fork(session, 4, treatment=other)
    assert voice.prompts(occasion="turn")
    for prompt in voice.prompts(occasion="turn"):
        assert "Shout at each other." in prompt.messages[0].content
        assert session.treatment.instructions not in prompt.messages[0].content


async def test_a_record_that_lacks_a_call_of_the_past_is_not_filled_from_a_model(
    session_of, scripted
):
    session = session_of()
    parentage = Parentage("s", session.id, "0" * 64, 4)
    plan = replace(session, id="fork.r1", parentage=parentage, before=session)
    voice = scripted()
    with pytest.raises(Diverged, match="the record holds no such call"):
        await hold(plan, branch_voices(plan, {"citizen": voice}, ()))
    assert voice.asked == []
