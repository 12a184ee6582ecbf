"""Asking once more, giving up, refusing, and being cut off: what becomes of every kind of reply."""

import asyncio
import itertools
from dataclasses import replace

import pytest

from delibsim import Completion, Reason, hold
from delibsim.models.ask import Interrupted
from delibsim.models.base import OUTCOMES, STATUSES

BROKEN = "C1: 9\nC2: 1\nC3: 1\nC4: 1\nC5: 1\nP1: 1\nP2: 1\nP3: 3\nP4: 4"
FAULTS = ("C6 is missing", "C1 has 9, outside 1 to 7", "do not use each of 1 to 4 exactly once")


def only(participant, occasion, reply, times=99):
    """A script that gives this reply to one participant on one occasion, in its first so many
    attempts.
    """

    def script(prompt):
        purpose = prompt.purpose
        mine = purpose.participant == participant and purpose.occasion.startswith(occasion)
        return reply if mine and purpose.attempt < times else None

    return script


@pytest.mark.parametrize("k", [1, 2, 3])
async def test_an_unreadable_answer_is_asked_again_with_its_fault_and_a_new_seed(
    session_of, held, k
):
    run, voice = await held(session_of(3, rounds=0), only("Participant 2", "pre", BROKEN, k))
    asked = voice.prompts("Participant 2", "pre")
    assert [prompt.purpose.attempt for prompt in asked] == list(range(k + 1))
    seeds = [seed for prompt, seed in zip(voice.asked, voice.seeds, strict=True) if prompt in asked]
    assert len(set(seeds)) == k + 1
    for before, again in itertools.pairwise(asked):
        assert again.messages[: len(before.messages)] == before.messages
        repeated, request = again.messages[len(before.messages) :]
        assert (repeated.role, repeated.content) == ("assistant", BROKEN)
        assert request.role == "user"
        assert all(fault in request.content for fault in FAULTS)
    response = run.response("Participant 2", "pre")
    assert set(response.answers) == {item.id for item in run.session.survey.items}
    assert response.missing == {}
    assert run.status == "complete"
    assert len(voice.asked) == 6 + k


@pytest.mark.parametrize("status", sorted(OUTCOMES - {"ok", "unreadable"}))
async def test_a_refusal_is_an_outcome_and_is_not_asked_again(session_of, held, status):
    refusal = Completion(
        "I would rather not say C1: 7.", status, "against my policy", model_requested="citizen"
    )
    run, voice = await held(
        session_of(3, rounds=1),
        lambda prompt: refusal if prompt.purpose.participant == "Participant 1" else None,
    )
    assert len(voice.prompts("Participant 1")) == 3
    for phase in ("pre", "post"):
        response = run.response("Participant 1", phase)
        assert response.answers == {}
        assert set(response.missing.values()) == {Reason(status, "against my policy")}
    (silence,) = run.silences
    assert (silence.turn.speaker, silence.status, silence.reason) == (
        "Participant 1",
        status,
        "against my policy",
    )
    assert run.status == "partial"


async def test_who_left_the_first_survey_empty_is_shown_no_earlier_answers(session_of, held):
    _, voice = await held(
        session_of(2, rounds=1), only("Participant 1", "pre", Completion("", "refusal", "no"))
    )
    for prompt in [
        *voice.prompts("Participant 1", "turn"),
        *voice.prompts("Participant 1", "post"),
    ]:
        assert "<answers>" not in prompt.text
    assert "<answers>" in voice.prompts("Participant 2", "post")[0].text


@pytest.mark.parametrize("status", sorted(set(STATUSES) - OUTCOMES))
@pytest.mark.parametrize("occasion", ["pre", "turn", "post"])
async def test_a_model_that_cannot_be_asked_interrupts_the_session(
    session_of, scripted, status, occasion
):
    voice = scripted(only("Participant 2", occasion, Completion("", status, "the line is dead")))
    named = {"pre": "before", "post": "after"}.get(occasion, occasion)
    with pytest.raises(
        Interrupted, match=rf"citizen \(Participant 2, {named}.*\): {status}: the line is dead"
    ) as stopped:
        await hold(session_of(3, rounds=1), {"citizen": voice})
    assert stopped.value.status == status
    assert len(voice.prompts("Participant 2", occasion)) == 1
    if occasion == "pre":
        assert voice.prompts(occasion="turn") == []


@pytest.mark.parametrize("phase", ["pre", "post"])
async def test_the_surveys_in_flight_are_settled_before_the_session_stops(session_of, phase):
    class Slow:
        name = "citizen"
        began, ended = 0, 0

        async def complete(self, prompt, seed):
            if prompt.purpose.occasion == phase:
                self.began += 1
                if prompt.purpose.participant == "Participant 1":
                    return Completion("", "unavailable", "gone")
                await asyncio.sleep(0.02)
                self.ended += 1
            return Completion("refused", "refusal", "no")

    voice = Slow()
    with pytest.raises(Interrupted):
        await hold(session_of(5, rounds=1), {"citizen": voice})
    assert (voice.began, voice.ended) == (5, 4)


async def test_every_participant_is_asked_by_the_model_that_voices_it(session_of, scripted):
    session = session_of(4, rounds=1)
    people = tuple(
        replace(p, model=("north", "south")[i % 2]) for i, p in enumerate(session.participants)
    )
    session = replace(
        session,
        participants=people,
        models={name: {"kind": "citizen"} for name in ("north", "south")},
    )
    north, south = scripted(name="north"), scripted(name="south")
    run = await hold(session, {"north": north, "south": south})
    assert run.status == "complete"
    assert {prompt.purpose.participant for prompt in north.asked} == {
        "Participant 1",
        "Participant 3",
    }
    assert {prompt.purpose.participant for prompt in south.asked} == {
        "Participant 2",
        "Participant 4",
    }
    assert len(north.asked) == len(south.asked) == 6


async def test_no_two_calls_of_a_session_share_a_seed(session_of, held):
    _, voice = await held(
        session_of(5, rounds=3), lambda prompt: BROKEN if prompt.purpose.occasion == "pre" else None
    )
    assert len(voice.seeds) == 5 * 4 + 5 * 3 + 5
    assert len(set(voice.seeds)) == len(voice.seeds)
