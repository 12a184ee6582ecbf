"""What calls may have cost that were in flight when their process was killed with SIGKILL: the bill
lies between what was spent and what may have been spent.
"""

import asyncio
import json
import random
import signal
from dataclasses import replace

import pytest
from coding import coding_home, study_of_texts
from fake_provider import FakeProvider, Rule

from delibsim import Runs
from delibsim.conduct.cost import budget_of, spent
from delibsim.models.limits import Limits
from delibsim.store.sent import Sent, SentLog, cut_off, file_beside, sent_log

IN, OUT = 3.0, 15.0
"""US dollars a million tokens."""
TEXTS = [f"We should plant tree {n}, because it cools the street." for n in range(40)]
RUN = ["run", "-m", "-q", "study=pilot", "group.size=4", "rounds=2", "replicate=1,2,3,4"]
CODE = ["code", "ask", "pilot", "scheme=tiny", "samples=2"]
KILLS = 10


def bill(provider):
    """What the provider charges, in US dollars."""
    received = provider.billed_tokens - provider.prompt_tokens
    return (provider.prompt_tokens * IN + received * OUT) / 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("words", [RUN, CODE], ids=["run", "code ask"])
async def test_the_bill_is_never_above_what_may_have_been_spent(command, tmp_path, words):
    if words is CODE:
        study_of_texts(coding_home(tmp_path), TEXTS)
    words = [*words, "model=local", "model.price={input:3,output:15}", "limits.concurrency=6"]
    moments, going = random.Random(20261124), []
    async with FakeProvider(latency=0.005) as provider:
        words.append(f"base_url={provider.base_url}")
        for _ in range(KILLS):
            aim = provider.calls + moments.randint(2, 12)
            provider.script[:] = [Rule(at=(aim,), do=lambda call: going[-1].kill())]
            code, _, err = await command(*words, started=going.append)
            assert code == -signal.SIGKILL, err
            await asyncio.sleep(0.05)  # what was in flight is billed
            assert await covered(command, provider) > 0
        provider.script.clear()
        code, out, err = await command(*words)
        assert code == 0, err
        lost = await covered(command, provider)
        assert KILLS <= lost <= KILLS * 6
        if "run" in words:
            assert f"{lost} calls that were cut off may have cost up to" in out + err
    code, out, err = await command("status", "pilot")
    assert f"{lost} calls that were cut off may have cost up to" in out
    code, out, err = await command("verify", "pilot")
    assert code == 0, out + err
    more = {"replicate=1,2,3,4": "replicate=1,2,3,4,5", "samples=2": "samples=3"}
    words = [more.get(word, word) for word in words]
    code, out, err = await command(*words, "limits.budget_usd=0.001", "--estimate")
    assert "USD are spent or reserved" in out, out + err


async def covered(command, provider):
    """How many calls were cut off, after the bill was compared with what `status` says."""
    _, out, err = await command("status", "pilot", "--json")
    money = json.loads(out)["money"]
    assert money["unknown"] == 0
    assert money["cut_off"] == money["reserved"], err
    assert money["cut_off_usd"] == pytest.approx(money["reserved_usd"])
    most = money["spent_usd"] + money["reserved_usd"]
    assert money["spent_usd"] - 1e-9 <= bill(provider) <= most + 1e-9
    return money["cut_off"]


def _log(folder, name="exchanges.jsonl"):
    log = folder / name
    return log, SentLog(log)


FIRST = Sent("m", 1, "2026-11-24T12:00:00.000", 0.25, 100)
AGAIN = Sent("m", 1, "2026-11-24T12:05:00.000", 0.25, 100)


def test_an_exchange_settles_its_own_call_and_no_other_of_the_same_seed(tmp_path):
    log, sent = _log(tmp_path)
    for one in (FIRST, AGAIN):
        sent.note(one)
    record = {"model": "m", "seed": 1, "started": AGAIN.started, "completion": {"status": "ok"}}
    assert cut_off(log, [record]) == [FIRST]
    assert cut_off(log, [{**record, "started": "earlier"}]) == [FIRST, AGAIN]
    sent.settle("m", 1, AGAIN.started)
    sent.close()
    assert cut_off(log, [record]) == [FIRST]


def test_another_attempt_of_a_call_takes_the_place_of_the_one_before_it(tmp_path):
    log, sent = _log(tmp_path)
    sent.note(FIRST)
    dearer = Sent("m", 1, FIRST.started, 0.5, 200)
    sent.note(dearer)
    assert cut_off(log, []) == [dearer]


def test_a_torn_line_was_never_sent_and_a_whole_one_after_it_counts(tmp_path):
    log, sent = _log(tmp_path)
    sent.note(FIRST)
    sent.close()
    with file_beside(log).open("a", encoding="utf-8") as file:
        file.write('{"model":"m","seed":2,"sta')
    log, sent = _log(tmp_path)
    sent.note(AGAIN)
    sent.settle("m", 1, AGAIN.started)
    sent.close()
    assert cut_off(log, []) == [FIRST, AGAIN]


def test_nothing_is_left_where_every_call_was_settled(tmp_path):
    log, sent = _log(tmp_path / "new")
    sent.note(FIRST)
    assert file_beside(log).is_file()
    sent.settle("m", 1, FIRST.started)
    sent.close()
    assert not file_beside(log).exists()


async def test_calls_that_cost_nothing_leave_no_line(session_of, hold, runs):
    async with FakeProvider([Rule(do=lambda call: seen.append(_sent_files(runs)))]) as provider:
        seen = []
        done = await hold(priced(session_of(), 0, 0), provider)
    assert done.run.status == "complete"
    assert set(map(tuple, seen)) == {()}


async def test_a_line_stands_before_its_call_is_sent(session_of, hold, runs):
    seen = []
    async with FakeProvider([Rule(do=lambda call: seen.append(_sent_files(runs)))]) as provider:
        session = priced(session_of())
        done = await hold(session, provider)
    assert done.run.status == "complete"
    assert all(seen)
    assert _sent_files(runs) == []


async def test_a_call_whose_line_cannot_be_written_is_not_sent(session_of, hold, runs):
    session = priced(session_of())
    runs.plan(session)
    (runs.path("one") / "sent.jsonl").mkdir()
    async with FakeProvider() as provider:
        with pytest.raises(OSError, match=r"sent\.jsonl"):
            await hold(session, provider)
        assert provider.calls == 0
    assert not (runs.path("one") / "exchanges.jsonl").exists()


async def test_a_budget_counts_calls_that_were_cut_off(session_of, runs):
    runs.plan(priced(session_of()))
    with_lost = sent_log(runs, "one")
    with_lost.note(Sent("local", 1, "2026-11-24T12:00:00.000", 0.75, 1000))
    with_lost.close()
    assert spent(runs) == (0.75, 1000)
    budget = budget_of(Limits(budget_usd=1.0), runs)
    assert (budget.spent_usd, budget.assumed_usd) == (0.75, 0.75)


def priced(session, sent=IN, received=OUT):
    """The session with a price on its model."""
    price = {"price": {"input": sent, "output": received}}
    models = {name: own | price for name, own in session.models.items()}
    return replace(session, models=models)


def _sent_files(runs):
    assert isinstance(runs, Runs)
    return sorted(runs.folder.glob("*/sent.jsonl"))
