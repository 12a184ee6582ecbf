"""The contract of a kind of asking, over real HTTP: what is asked is billed once, recorded, gone on
with and replayed; other settings and edited texts are refused; people answer beside.
"""

import pytest
from fake_provider import FakeProvider, Rule
from kinds_asked import KINDS

from delibsim import WrongInput
from delibsim.asking import road
from delibsim.conduct.ask import ask


@pytest.fixture(params=KINDS)
def asked(request):
    return KINDS[request.param]


@pytest.fixture
def runs(asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return asked.study(tmp_path)


async def replayed(asked, runs):
    return await road.replay(asked.kind.kept(runs, ""))


async def test_the_estimate_asks_nobody_and_what_is_asked_is_billed_once_and_replayed(asked, runs):
    async with FakeProvider() as provider:
        found = road.estimate(asked.planned(runs, provider))
        assert (found.waiting, found.held) == (asked.answers - asked.free, 0)
        assert provider.calls == 0
        outcome = await ask(asked.planned(runs, provider))
        assert provider.billed == asked.calls
        assert (outcome.new, outcome.before, outcome.whole) == (asked.answers, 0, True)
        assert outcome.asked == asked.calls + asked.free
        assert found.total.input.low <= provider.prompt_tokens <= found.total.input.high
        assert len({call.body["seed"] for call in provider.requests}) == asked.calls
        again = await ask(asked.planned(runs, provider))
        assert (again.new, again.before, again.asked) == (0, asked.answers, 0)
        assert provider.billed == asked.calls
        assert road.estimate(asked.planned(runs, provider)).waiting == 0
    assert (await replayed(asked, runs)).verdict == "equal"
    assert (await replayed(asked, runs)).answers == asked.answers


async def test_what_a_provider_failed_is_asked_again_later_and_nothing_else(asked, runs):
    async with FakeProvider([Rule(status=401, at=(3,))]) as provider:
        outcome = await ask(asked.planned(runs, provider, "limits.concurrency=1"))
        assert asked.free <= outcome.usable < asked.answers
        assert any("authentication" in fault for fault in outcome.faults)
        assert any("still to be given" in fault for fault in outcome.faults)
        provider.script.clear()
        assert (await ask(asked.planned(runs, provider))).whole
        assert provider.billed == asked.calls
    assert (await replayed(asked, runs)).verdict == "equal"


async def test_a_refusal_is_an_answer_that_is_missing_and_is_not_asked_for_again(asked, runs):
    refusal = {"refusal": "I will not.", "content": None}
    script = [Rule(match="numbered steps", times=0), Rule(message=refusal, at=(2,))]
    async with FakeProvider(script) as provider:
        outcome = await ask(asked.planned(runs, provider, "limits.concurrency=1"))
        assert outcome.missing == {"refusal": 1}
        assert not outcome.whole
        assert (await ask(asked.planned(runs, provider))).asked == 0
    assert (await replayed(asked, runs)).verdict == "equal"


async def test_what_is_recorded_and_not_kept_is_not_paid_again(asked, runs):
    async with FakeProvider() as provider:
        planned = asked.planned(runs, provider)
        await ask(planned)
        file = planned.answers.files.annotations
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join([lines[0][:30] + "\n", *lines[2:]]))
        differing = await replayed(asked, runs)
        assert len(differing.differences) == 2
        assert "on record" in differing.differences[0]
        outcome = await ask(asked.planned(runs, provider))
        assert (outcome.new, outcome.asked, provider.billed) == (2, 0, asked.calls)
    assert (await replayed(asked, runs)).verdict == "equal"


async def test_other_settings_are_refused_with_the_difference_and_nobody_is_asked(asked, runs):
    async with FakeProvider() as provider:
        await ask(asked.planned(runs, provider))
        for other in (asked.other, "seed=5", f"{asked.longest}=77"):
            with pytest.raises(WrongInput, match="these settings are not those of") as refused:
                asked.planned(runs, provider, other)
            assert other.partition("=")[0].rpartition(".")[2] in str(refused.value)
        assert provider.billed == asked.calls


async def test_texts_that_were_edited_are_refused_and_told_by_a_replay(asked, runs, tmp_path):
    async with FakeProvider() as provider:
        await ask(asked.planned(runs, provider))
        asked.edited(tmp_path)
        with pytest.raises(WrongInput, match="edited"):
            asked.planned(runs, provider)
        found = await replayed(asked, runs)
        assert (found.verdict, provider.billed) == ("different", asked.calls)
        assert "edited or removed" in "; ".join(found.differences)


async def test_answers_of_people_stand_beside_and_are_no_part_of_a_replay(asked, runs):
    if asked.person is None:
        pytest.skip("people write no summaries")
    async with FakeProvider() as provider:
        planned = asked.planned(runs, provider)
        await ask(planned)
        planned.answers.add([asked.person], people=True)
        assert planned.answers.people() == [asked.person]
        again = await ask(asked.planned(runs, provider))
        assert (again.new, again.before) == (0, asked.answers)
    assert (await replayed(asked, runs)).answers == asked.answers


async def test_a_command_that_failed_at_once_binds_nobody_to_its_settings(asked, runs):
    async with FakeProvider([Rule(status=401)]) as provider:
        outcome = await ask(asked.planned(runs, provider, "limits.concurrency=1"))
        if asked.free:
            pytest.skip("the extractive summaries stand")
        assert (outcome.new, outcome.usable, provider.calls) == (0, 0, 1)
        provider.script.clear()
        assert (await ask(asked.planned(runs, provider, asked.other))).whole
