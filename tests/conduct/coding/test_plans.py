"""Before a study is coded: estimates, settings that cannot be, kin, and progress."""

import pytest
from cases import cases_of
from coding import FAST, calls_of, coding_home, models
from fake_provider import FakeProvider

from delibsim import ModelPool, Runs, WrongInput
from delibsim.asking import road
from delibsim.asking.kinds.code_plan import measured, plan_coding, tried
from delibsim.asking.record import AskingProgress
from delibsim.conduct import ask as asking
from delibsim.models.limits import Limits
from delibsim.store.manifest import Manifest
from delibsim.testing import a_run

CASES = cases_of(__file__)


def test_an_estimate_counts_what_is_asked_and_what_can_be_cached(home, runs):
    planned = plan_coding(runs, ["scheme=tiny", "samples=2", models(home, "a", "b")])
    found = road.estimate(planned)
    assert (found.planned, found.held, found.total.calls) == (32, 0, 2 * calls_of())
    assert 0 < found.cached.high < found.total.input.high
    assert found.usd.high > found.usd.low > 0
    once = road.estimate(
        plan_coding(runs, ["scheme=tiny", "samples=2", "same=once", models(home, "a")])
    )
    assert (once.planned, once.total.calls) == (16, calls_of(texts=3))


async def test_an_estimate_brackets_what_is_used_and_a_trial_measures_it(home, runs):
    names = models(home, "a")
    async with FakeProvider(models=("a",)) as provider:
        settings = ["scheme=tiny", "samples=2", f"base_url={provider.base_url}", names, *FAST]
        planned = plan_coding(runs, settings)
        found = road.estimate(planned)
        part = tried(planned, 2)
        assert part.about.chosen == tried(planned, 2).about.chosen
        assert len(part.about.chosen & {"t1", "t2", "t3", "t4"}) == 2
        outcome = await asking.ask(part)
        (used,) = measured(planned)
        assert (used.calls, used.to_come) == (outcome.new, 16 - outcome.new) == (8, 8)
        assert used.usd is not None
        assert used.usd_to_come == pytest.approx(8 * used.usd)
        await asking.ask(plan_coding(runs, settings))
        assert provider.billed == calls_of()
        total = found.total
        assert total.input.low <= provider.prompt_tokens <= total.input.high
        assert provider.cached_tokens / provider.prompt_tokens > 0.6


@pytest.mark.parametrize(("settings", "said"), CASES["settings_that_cannot_be_are_refused"])
def test_settings_that_cannot_be_are_refused(runs, settings, said):
    with pytest.raises(WrongInput) as refused:
        plan_coding(runs, settings)
    assert said in str(refused.value)


def test_kin_is_told_where_coder_and_speaker_share_a_family(tmp_path, monkeypatch):
    monkeypatch.chdir(coding_home(tmp_path))
    runs = Runs(tmp_path / "runs", "held")
    runs.settle(Manifest("held", {}, {}))
    run = a_run()
    runs.plan(run.session)
    runs.add(run)
    (told,) = plan_coding(runs, ["scheme=tiny", "group.size=2"]).warnings
    assert told.startswith("coders citizen_1, citizen_2 and speaker")


def test_progress_says_what_is_left_and_the_money_that_is_spent():
    pool = ModelPool(Limits(budget_usd=2.0))
    progress = AskingProgress(40, pool, print)
    for _ in range(10):
        progress.note("")
    progress.note("refusal")
    line = progress.line()
    assert line.startswith("11 of 40 samples, ")
    assert "1 refusal" in line
    assert "0.00 of 2 USD spent or reserved" in line
    assert line.endswith(" left")
