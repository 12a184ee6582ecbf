"""The direction of the scale is undone once, exactly; what is left out of a long
transcript was declared and is told.
"""

import json
import re
from dataclasses import replace

import pytest
from fake_provider import SCALE, FakeProvider, Rule, form_in

from delibsim import Survey
from delibsim.conduct.replay import replay
from delibsim.models.replay import Diverged
from delibsim.prompts.blocks import read_block, read_transcript
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.prompt import UnreadableReply
from delibsim.testing import a_run

SURVEY = a_run().session.survey
FORCED = replace(SURVEY, forced_distribution=(0, 0, 0, 3, 2, 1, 0))


def who(call):
    """Whom a call asks."""
    return read_block("you", call.body["messages"][-1]["content"])


def backwards(call):
    """Whether a call to fill in the survey states the scale the other way round."""
    return SCALE.search(call.text)[2] == "agree"


# 29: direction


async def test_a_reversed_scale_is_undone_once_and_lies_in_the_record(hold, session_of, runs, log):
    """Everybody agrees strongly with everything, in the numbers it is shown; so everybody's answers
    are 7.
    """

    def agrees(call):
        form = form_in(call.text)
        ratings = [f"{item.id}: {1 if form.reversed else 7}" for item in form.survey.considerations]
        return "\n".join(
            [*ratings, *(f"{item.id}: {rank}" for rank, item in enumerate(SURVEY.preferences, 1))]
        )

    async with FakeProvider([Rule(match="LABEL: NUMBER", text=agrees)]) as provider:
        held = await hold(session_of(n=6, reverse_scale="half"), provider)
    surveys = [call for call in provider.requests if "LABEL: NUMBER" in call.text]
    shown = {
        (who(call), "post" if "a second time" in call.text else "pre"): backwards(call)
        for call in surveys
    }
    assert sum(shown.values()) == 6, "one of every two seats, in both phases"
    assert held.run.status == "complete"
    for response in held.run.responses:
        assert {response.answers[item.id] for item in SURVEY.considerations} == {7}
        assert [response.answers[item.id] for item in SURVEY.preferences] == [1, 2, 3, 4], (
            "ranks have one direction"
        )
        assert response.reversed == shown[response.participant, response.phase]
        assert response.reversed == held.run.response(response.participant, "pre").reversed
    plain = json.loads((runs.path("one") / "run.json").read_text(encoding="utf-8"))
    assert [r.get("reversed", False) for r in plain["responses"]] == [
        r.reversed for r in held.run.responses
    ]
    assert runs.run("one") == held.run == await replay(runs, "one")


async def test_first_answers_are_shown_again_in_the_numbers_that_were_given(hold, session_of):
    async with FakeProvider() as provider:
        held = await hold(session_of(n=4, reverse_scale="half"), provider)
    later = [call for call in provider.requests if read_block("answers", call.text)]
    assert len(later) == 4 + 4
    for call in later:
        response = held.run.response(who(call), "pre")
        given = dict(line.split(": ") for line in read_block("answers", call.text).splitlines())
        assert {label: int(value) for label, value in given.items()} == (
            SURVEY.mirrored(response.answers) if response.reversed else response.answers
        )
        if "LABEL: NUMBER" not in call.text:
            ends = (
                "1 (strongly agree) to 7 (strongly disagree)"
                if response.reversed
                else "1 (strongly disagree) to 7 (strongly agree)"
            )
            assert f"you rated from {ends}." in call.text


@pytest.mark.parametrize("survey", [SURVEY, FORCED], ids=["free", "forced distribution"])
async def test_the_citizen_answers_alike_whichever_way_the_scale_runs(hold, session_of, survey):
    """Common random numbers: who does not speak answers a reversed survey as it would have answered
    the other.
    """
    async with FakeProvider() as provider:
        plain, reversed_ = [
            (
                await hold(
                    session_of(n=4, rounds=0, reverse_scale=direction, id=name, survey=survey),
                    provider,
                )
            ).run
            for direction, name in ((None, "plain"), ("half", "reversed"))
        ]
    assert [r.answers for r in plain.responses] == [r.answers for r in reversed_.responses]
    assert {r.reversed for r in plain.responses} == {False}
    assert sum(r.reversed for r in reversed_.responses) == 4


async def test_who_is_reversed_comes_from_names(hold, session_of):
    async with FakeProvider() as provider:
        first, larger, other = [
            (
                await hold(
                    session_of(
                        n=n, rounds=rounds, reverse_scale="half", id=f"s{n}{seed}", seed=seed
                    ),
                    provider,
                )
            ).run
            for n, rounds, seed in ((4, 1, 7), (20, 0, 7), (20, 0, 3))
        ]
    drawn = [
        [run.response(p.id, "pre").reversed for p in run.session.participants]
        for run in (first, larger, other)
    ]
    assert drawn[1][:4] == drawn[0]
    assert drawn[1] != drawn[2]
    assert [sum(ones[i : i + 2]) for ones in drawn for i in range(0, len(ones), 2)] == [1] * 22


async def test_a_reversed_session_that_broke_off_goes_on(hold, session_of):
    session = session_of(n=4, reverse_scale="half")
    async with FakeProvider(
        [Rule(at=(10,), status=400, body={"error": {"message": "broken"}})]
    ) as provider:
        assert (await hold(session, provider)).run is None
        held = await hold(session, provider)
    assert held.run.status == "complete"
    assert provider.billed == 12, "nothing recorded was paid for twice"
    async with FakeProvider() as provider:
        assert (
            await hold(replace(session, id="whole"), provider)
        ).run.responses == held.run.responses


def test_an_answer_is_mapped_back_exactly_and_its_faults_are_told_in_the_numbers_shown():
    form = SurveyAnswers(Survey("s", SURVEY.items, -3, 3, (0, 0, 0, 3, 2, 1, 0)), reversed=True)
    assert "from -3 (strongly agree) to 3 (strongly disagree)" in form.describe()
    assert "0 at -3, 1 at -2, 2 at -1, 3 at 0, 0 at 1" in form.describe()
    ranks = "P1: 1\nP2: 2\nP3: 3\nP4: 4"
    read = form.read(f"C1: -2\nC2: -1\nC3: -1\nC4: 0\nC5: 0\nC6: 0\n{ranks}")
    assert [read[f"C{k}"] for k in range(1, 7)] == [2, 1, 1, 0, 0, 0]
    with pytest.raises(UnreadableReply, match="the value -2 is used 0 times instead of 1"):
        form.read(f"C1: 2\nC2: -1\nC3: -1\nC4: 0\nC5: 0\nC6: 0\n{ranks}")
    with pytest.raises(UnreadableReply, match="C1 has 4, outside -3 to 3"):
        form.read(f"C1: 4\nC2: -1\nC3: -1\nC4: 0\nC5: 0\nC6: 0\n{ranks}")


# 21: a declared window


async def test_with_a_window_only_the_last_statements_are_shown_and_the_speaker_is_told(
    hold, session_of, runs
):
    async with FakeProvider() as provider:
        held = await hold(session_of(n=3, rounds=3, transcript_window=4), provider)
    assert held.run.status == "complete"
    assert len(held.run.transcript) == 9, "the record is whole"
    later = [
        call
        for call in provider.requests
        if "a second time" in call.text or "your turn to speak" in call.text
    ]
    heard = [*range(9), 9, 9, 9]
    for call, said in zip(later, heard, strict=True):
        shown = read_transcript(call.body["messages"][-1]["content"])
        assert shown == list(held.run.transcript[max(0, said - 4) : said])
        told = re.search(
            r"Earlier statements are left out here: (\d+) of the (\d+) that you have heard\.",
            call.text,
        )
        assert (told and (int(told[1]), int(told[2]))) == ((said - 4, said) if said > 4 else None)
    assert await replay(runs, "one") == held.run


async def test_a_window_lets_a_session_fit_that_would_not(hold, session_of):
    async with FakeProvider([Rule(context=1000)]) as provider:
        whole = await hold(session_of(n=3, rounds=4), provider)
        windowed = await hold(session_of(n=3, rounds=4, transcript_window=2, id="two"), provider)
    assert whole.run is None
    assert "context_overflow" in whole.fault
    assert "procedure.transcript_window" in whole.fault
    assert windowed.run.status == "complete"


async def test_a_wording_may_say_in_its_own_words_what_was_left_out(
    hold, session_of, planned, runs
):
    wording = replace(
        planned.wording,
        texts={**planned.wording.texts, "left_out": "($omitted von $heard fehlen.)"},
    )
    async with FakeProvider() as provider:
        await hold(session_of(rounds=2, transcript_window=1, wording=wording), provider)
    assert "(1 von 2 fehlen.)" in provider.requests[4].text
    other = replace(
        runs.planned("one"), procedure=replace(runs.planned("one").procedure, transcript_window=2)
    )
    (runs.path("one") / "run.json").unlink()
    (runs.path("one") / "session.json").unlink()
    runs.plan(other)
    with pytest.raises(Diverged, match="fehlen"):
        await replay(runs, "one")
