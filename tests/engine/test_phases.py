"""Witnesses and small groups: who asks, who answers, who hears what, and what cannot be."""

from dataclasses import replace

import pytest

from delibsim import WrongInput
from delibsim.domain.phases import Witness
from delibsim.engine.check import check
from delibsim.planning.costing import calls_of
from delibsim.planning.dry_run import dry_run

ADVOCATE = Witness("Advocate", brief="You speak for change.")
WRITER = Witness("Dr Meyer", testimony="The tram costs four hundred million.")


@pytest.fixture
def staged(session_of):
    """A small session with witnesses, questions to them, and small groups."""

    def make(*witnesses, questions=0, groups=None, n=4, rounds=1, **changes):
        session = session_of(n, rounds, **changes)
        own = {"questions": questions, "small_groups": groups}
        procedure = replace(session.procedure, **own)
        return replace(session, procedure=procedure, witnesses=witnesses)

    return make


def said(run):
    return [(one.turn.speaker, one.turn.task) for one in run.transcript if not one.turn.round]


async def test_a_question_that_asks_nothing_is_asked_again_and_then_not_answered(staged, held):
    def script(prompt):
        asked = "question" in prompt.text.split("Reply with")[-1]
        return "I think so too." if asked and "witness who spoke last" in prompt.text else None

    run, voice = await held(staged(WRITER, questions=1), script)
    (silence,) = run.silences
    asked = voice.prompts(silence.turn.speaker, "turn 2")
    assert len(asked) == 1 + run.session.procedure.reasks
    assert "it has no question mark" in asked[1].text
    assert [task for _, task in said(run)] == ["testimony"]
    assert run.status == "partial"


@pytest.mark.parametrize("settings", [{"questions": 1}, {"groups": 2}, {"rounds": 2}])
async def test_rounds_are_those_of_a_session_without_what_precedes_them(staged, held, settings):
    """The order of the rounds, the seeds of their turns and the first surveys are the same."""
    rounds = settings.get("rounds", 1)
    _, plain = await held(staged(rounds=rounds))
    run, voice = await held(staged(WRITER, **settings))

    def drawn(own, first):
        found = []
        for prompt, seed in zip(own.asked, own.seeds, strict=True):
            occasion = prompt.purpose.occasion
            number = int(occasion.removeprefix("turn ")) if "turn" in occasion else 0
            if "turn" not in occasion or number >= first:
                found.append((prompt.purpose.participant, seed))
        return found

    first = next(one.turn.index for one in run.transcript if one.turn.round)
    assert drawn(voice, first) == drawn(plain, 1)


async def test_small_groups_hear_themselves_and_then_the_reports(staged, held):
    session = staged(ADVOCATE, groups=2, n=5)
    run, voice = await held(session)
    groups = session.small_groups
    assert sorted(name for members in groups for name in members) == list(session.founders)
    assert sorted(map(len, groups)) == [2, 3]
    apart = [one for one in run.transcript if one.turn.group]
    assert [len([one for one in apart if one.turn.group == k]) for k in (1, 2)] == [3, 2]
    reports = [speaker for speaker, task in said(run) if task == "report"]
    assert [name in members for name, members in zip(reports, groups, strict=True)] == [True, True]
    for name in session.founders:
        own = next(k for k, members in enumerate(groups, 1) if name in members)
        text = voice.prompts(name, "post")[0].text
        assert f"(small group {own}, round 0" in text
        assert f"(small group {3 - own}, round 0" not in text
    assert len(run.speech) == 5 + 2 + 5


async def test_an_estimate_asks_what_is_asked_before_the_rounds(staged):
    session = staged(WRITER, ADVOCATE, questions=3, groups=2)
    assert await calls_of(session, 5) == await dry_run(session, 5)


def test_what_cannot_be_is_refused(staged, session_of):
    with pytest.raises(WrongInput, match="small_groups=3 of 5 participants leave a small group of"):
        check(staged(groups=3, n=5))
    with pytest.raises(ValueError, match="neither a testimony nor a brief"):
        Witness("Ann")
    with pytest.raises(ValueError, match="two who speak have the name 'Participant 1'"):
        staged(Witness("Participant 1", "You know."))
    with pytest.raises(ValueError, match="small_groups must be 2 or more"):
        replace(session_of().procedure, small_groups=1)
