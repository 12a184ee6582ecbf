"""Usage that is missing, another model than was asked for, parameters that are
refused, prompts that are too long.
"""

import json

import pytest
from cases import cases_of
from fake_provider import FakeProvider, Rule
from faults.conftest import settings_of
from typer.testing import CliRunner

from delibsim import ModelPool, Runs
from delibsim.cli.status import app as status
from delibsim.conduct.hold import hold_all
from delibsim.models.limits import Limits
from delibsim.store.manifest import Manifest

PRICE = {"input": 2.0, "cached": 0.5, "output": 10.0}


# 19: usage, names, fingerprints


async def test_known_usage_and_price_give_the_cost_in_dollars(ask):
    async with FakeProvider(
        [
            Rule(
                text="I agree.",
                usage={"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 400}},
            )
        ]
    ) as provider:
        completion = await ask(provider, price=PRICE)
    assert completion.usage.cached_tokens == 400
    assert completion.usage.cost_usd == pytest.approx((600 * 2.0 + 400 * 0.5 + 2 * 10.0) / 1e6)


@pytest.mark.parametrize(
    "usage",
    [None, {}, "many", {"prompt_tokens": None}, {"prompt_tokens": "12", "completion_tokens": -3}],
)
async def test_missing_usage_makes_the_cost_unknown_and_never_nothing(ask, voices_at, usage):
    async with FakeProvider([Rule(payload={"usage": usage})]) as provider:
        voices = voices_at(provider)
        completion = await ask(provider, voices=voices, price=PRICE)
    assert completion.status == "ok"
    assert completion.usage.cost_usd is None
    assert completion.usage.output_tokens is None
    assert voices.budget.spent_usd > 0, "the worst case stays counted"
    assert voices.budget.spent_tokens >= provider.billed_tokens


@pytest.mark.parametrize(
    "rule",
    [
        Rule(choice={"finish_reason": "length"}),
        Rule(message={"content": None}),
        Rule(message={"refusal": "No."}),
    ],
)
async def test_outcomes_without_usage_keep_their_worst_case_too(ask, voices_at, rule):
    async with FakeProvider(
        [Rule(choice=rule.choice, message=rule.message, payload={"usage": None})]
    ) as provider:
        voices = voices_at(provider)
        completion = await ask(provider, voices=voices, price=PRICE)
    assert completion.status != "ok"
    assert voices.budget.spent_tokens >= provider.billed_tokens > 0


async def test_no_usage_is_null_in_the_log(hold, session_of, log):
    async with FakeProvider([Rule(payload={"usage": None})]) as provider:
        held = await hold(session_of(), provider)
    assert held.run.status == "complete"
    assert provider.calls == len(log()) == 6
    assert {entry["completion"]["usage"]["cost_usd"] for entry in log()} == {None}


async def test_another_model_than_asked_for_is_recorded(ask):
    async with FakeProvider([Rule(payload={"model": "local-mini"})]) as provider:
        completion = await ask(provider)
    assert (completion.status, completion.model_requested, completion.model_returned) == (
        "ok",
        "local",
        "local-mini",
    )


async def test_another_model_is_a_failure_in_strict_mode(hold, session_of, runs, log):
    strict = {
        "local": {
            "name": "local",
            "kind": "openai_compatible",
            "model": "local",
            "max_tokens": 500,
            "strict": True,
        }
    }
    async with FakeProvider([Rule(payload={"model": "local-mini"})]) as provider:
        held = await hold(session_of(strict), provider)
        assert held.run is None
        assert not runs.held("one")
        assert "asked local, answered by local-mini (strict)" in held.fault
        assert {entry["completion"]["status"] for entry in log()} == {"bad_request"}
        # Every participant's first call was paid, and found to be another model's.
        assert (provider.calls, provider.billed) == (2, 2)
        provider.script.clear()
        assert (await hold(session_of(strict), provider)).run.status == "complete"
    assert provider.calls == 2 + 6


async def test_a_fingerprint_that_changes_is_a_warning_of_the_study(hold, session_of, runs):
    runs.settle(Manifest(runs.study, {}, {}))
    async with FakeProvider(
        [Rule(payload={"system_fingerprint": "fp_new"}, at=(4, 5))]
    ) as provider:
        await hold(session_of(), provider)
    said = CliRunner().invoke(status, [str(runs.folder)])
    assert said.exit_code == 0
    assert (
        "warning: local: the provider's fingerprint changed in mid-study: fp_fake, fp_new"
        in said.output
    )


async def test_who_answered_lies_beside_the_manifest_with_a_warning_once_it_changed(
    hold, session_of, runs
):
    async with FakeProvider(
        [Rule(payload={"system_fingerprint": "fp_new"}, at=(4, 5))]
    ) as provider:
        await hold(session_of(), provider)
        manifest = answering(runs)
        assert [
            (line["model"], line["model_returned"], line["fingerprint"]) for line in manifest
        ] == [("local", "local", "fp_fake"), ("local", "local", "fp_new")]
        assert [bool(line["warning"]) for line in manifest] == [False, True]
        assert manifest[1]["call"].startswith("one/Participant ")
        again = Runs(runs.folder.parent, runs.study)
        await hold_all(
            [session_of(id="two")], again, pool=ModelPool(addresses={"local": provider.base_url})
        )
        assert answering(runs) == manifest, (
            "a later process knows who answered before, and adds nothing"
        )
        provider.script[:] = [Rule(payload={"model": "local-2"})]
        await hold(session_of(id="three"), provider)
    assert [line["model_returned"] for line in answering(runs)] == ["local", "local", "local-2"]


async def test_two_models_with_fingerprints_of_their_own_are_no_warning(hold, session_of, runs):
    runs.settle(Manifest(runs.study, {}, {}))
    script = [Rule(model="a", payload={"system_fingerprint": "fp_a"})]
    async with FakeProvider(script, models=("a", "b")) as provider:
        await hold(session_of(("a", "b")), provider)
    assert [line["warning"] for line in answering(runs)] == ["", ""]
    assert "warning" not in CliRunner().invoke(status, [str(runs.folder)]).output


def answering(runs):
    """Who answered in a study, as it lies beside its manifest."""
    return [
        json.loads(line)
        for line in (runs.folder / "fingerprints.jsonl").read_text(encoding="utf-8").splitlines()
    ]


# 20: parameters that are refused

REFUSED = cases_of(__file__)["REFUSED"]


@pytest.mark.parametrize("case", REFUSED)
async def test_a_refused_parameter_is_left_out_remembered_and_recorded(ask, voices_at, case):
    rule, dropped = REFUSED[case][0], {*REFUSED[case][1]}
    options = {"temperature": 0.0, "top_p": 0.9, "reasoning_effort": "low", "extra": {"top_k": 40}}
    async with FakeProvider([Rule(**rule)]) as provider:
        first, second = await ask(provider, 2, voices=voices_at(provider), **options)
    assert (provider.calls, provider.billed) == (3, 2)
    requested = {"temperature", "top_p", "max_tokens", "reasoning_effort", "seed", "top_k"}
    for completion in (first, second):
        assert completion.status == "ok"
        assert set(completion.parameters_dropped) == dropped
        assert set(completion.parameters_sent) == requested - dropped
    for call in provider.requests[1:]:
        assert not dropped & set(call.body)
    assert set(provider.requests[0].body) >= dropped


async def test_max_tokens_is_sent_under_its_other_name(ask):
    async with FakeProvider([Rule(rejects="max_tokens")]) as provider:
        first, second = await ask(provider, 2)
    assert provider.calls == 3
    for completion in (first, second):
        assert completion.parameters_sent["max_completion_tokens"] == 500
        assert completion.parameters_dropped == ()
    assert [
        ("max_tokens" in call.body, "max_completion_tokens" in call.body)
        for call in provider.requests
    ] == [(True, False), (False, True), (False, True)]


async def test_max_tokens_is_never_left_out_because_the_budget_counts_on_it(ask):
    async with FakeProvider(
        [Rule(rejects="max_tokens"), Rule(rejects="max_completion_tokens")]
    ) as provider:
        completion = await ask(provider)
    assert completion.status == "bad_request"
    assert provider.calls == 2


async def test_several_refusals_one_after_another(ask):
    async with FakeProvider(
        [Rule(rejects="temperature"), Rule(rejects="max_tokens"), Rule(rejects="seed")]
    ) as provider:
        completion = await ask(provider)
    assert completion.status == "ok"
    assert provider.calls == 4
    assert set(completion.parameters_sent) == {"max_completion_tokens"}
    assert set(completion.parameters_dropped) == {"temperature", "seed"}


@pytest.mark.parametrize(
    "message",
    [
        "The model 'seed-oss' is unknown",
        "Invalid value: max_tokens must be at most 100",
        "messages: temperature is spoken of here",
    ],
)
async def test_a_refusal_of_something_else_is_not_taken_for_one_of_a_parameter(ask, message):
    code = 404 if "model" in message else 400
    async with FakeProvider([Rule(status=code, body={"error": {"message": message}})]) as provider:
        completion = await ask(provider)
    assert completion.status == "bad_request"
    assert provider.calls == 1


async def test_a_run_records_what_was_requested_sent_and_dropped(hold, session_of, log):
    async with FakeProvider([Rule(rejects="temperature")]) as provider:
        held = await hold(session_of(), provider)
    assert held.run.status == "complete"
    assert provider.billed == 6
    for entry in log():
        assert entry["completion"]["parameters_dropped"] == ["temperature"]
        assert set(entry["completion"]["parameters_sent"]) == {"max_tokens", "seed"}
        assert entry["completion"]["parameters_sent"]["seed"] == entry["seed"] % 2**31


async def test_a_run_is_never_labelled_with_a_parameter_it_did_not_have(command, tmp_path):
    async with FakeProvider(
        [Rule(rejects="temperature"), Rule(model="b", rejects="seed")], models=("a", "b")
    ) as provider:
        (tmp_path / "conf" / "model").mkdir(parents=True)
        for name in provider.models:
            text = f"name: {name}\nkind: openai_compatible\nmodel: {name}\nmax_tokens: 500\n"
            (tmp_path / "conf" / "model" / f"{name}.yaml").write_text(text, encoding="utf-8")
        settings = (
            "study=s",
            "group.size=2",
            "group.models=[a,b]",
            "rounds=0",
            "temperature=0.7",
            f"base_url={provider.base_url}",
        )
        code, out, err = await command("run", "-q", *settings)
        assert code == 0, err
    assert "temperature without effect" in out
    assert "temperature 0.7" not in out
    (run,) = (
        Runs.open(tmp_path / "runs", "s").run(name)
        for name in Runs.open(tmp_path / "runs", "s").sessions()
    )
    assert run.dropped == {"a": ("temperature",), "b": ("seed", "temperature")}
    _, out, _ = await command("run", "-q", "--json", *settings)
    assert json.loads(out)["temperature"] == {"a": None, "b": None}
    assert json.loads(out)["calls"]["parameters_dropped"] == {
        "a": ["temperature"],
        "b": ["seed", "temperature"],
    }
    assert json.loads((await command("show", "s", "--json"))[1])["dropped"] == {
        "a": ["temperature"],
        "b": ["seed", "temperature"],
    }
    (session,) = json.loads((await command("status", "s", "--json"))[1])["sessions"]
    assert session["parameters_dropped"] == {"a": ["temperature"], "b": ["seed", "temperature"]}
    for arguments in (("show", "s"), ("status", "s")):
        _, out, _ = await command(*arguments)
        assert "dropped: seed, temperature: requested, and without effect on b" in out


async def test_a_run_in_which_everything_took_effect_says_that_nothing_was_dropped(
    hold, session_of, runs
):
    async with FakeProvider() as provider:
        await hold(session_of(), provider)
    assert runs.run("one").dropped == {}


# 21: prompts that are too long


async def test_context_overflow_is_typed_and_not_tried_again(ask):
    async with FakeProvider([Rule(context=5)]) as provider:
        completion = await ask(provider)
    assert completion.status == "context_overflow"
    assert "maximum context length is 5 tokens" in completion.detail
    assert (provider.calls, provider.billed) == (1, 0)


async def test_a_session_too_long_for_its_model_stops_and_keeps_what_was_paid(
    hold, session_of, runs, log
):
    session = session_of(rounds=2)
    async with FakeProvider([Rule(context=700)]) as provider:
        held = await hold(session, provider, limits=Limits(longest_wait=0.01))
        assert held.run is None
        assert not runs.held("one")
        assert "context_overflow" in held.fault
        paid = provider.billed
        assert 0 < paid == [entry["completion"]["status"] for entry in log()].count("ok")
        again = await hold(session, provider)
        assert again.run is None
        assert provider.billed == paid, "nothing recorded is paid for twice"
        provider.script.clear()
        assert (await hold(session, provider)).run.status == "complete"
        assert provider.billed == 8


async def test_calls_in_flight_together_each_go_once_more_without_what_the_first_was_refused(
    ask, session_of, voices_at
):
    settings = {"local": settings_of("local", temperature=0.7)}
    async with FakeProvider(
        [Rule(rejects="temperature"), Rule(rejects="seed")], latency=0.05
    ) as provider:
        voices = voices_at(provider, Limits(concurrency=12))
        await voices.preflight([session_of(settings)])  # so that none goes alone
        completions = await ask(provider, 12, voices=voices, settings=settings)
    assert provider.calls > 12 + 2
    assert {completion.status for completion in completions} == {"ok"}
    assert {frozenset(completion.parameters_dropped) for completion in completions} == {
        frozenset({"temperature", "seed"})
    }


SWEEP = "run -m -q study=s topic=ccps model=a treatment=basic group.size=2 rounds=1".split()


def preset(folder, name):
    """A model of the user's own that the fake provider serves."""
    (folder / "conf" / "model").mkdir(parents=True)
    text = f"name: {name}\nkind: openai_compatible\nmodel: {name}\nmax_tokens: 500\n"
    (folder / "conf" / "model" / f"{name}.yaml").write_text(text, encoding="utf-8")


async def test_conditions_whose_temperature_was_dropped_were_asked_alike(command, tmp_path):
    preset(tmp_path, "a")
    async with FakeProvider([Rule(rejects="temperature")], models=("a",)) as provider:
        sweep = (*SWEEP, "temperature=0,0.7", "replicate=1,2", f"base_url={provider.base_url}")
        code, _, err = await command(*sweep)
        assert (code, "the same as another" in err) == (0, False), "only the record tells"
    said = "note: temperature (0, 0.7) was dropped by a in 4 of 4 runs\n"
    cold, warm = "ccps.basic.a_rounds1_size2", "ccps.basic.a_rounds1_size2_temperature0_7"
    counted = f"note: 1 of 2 conditions were asked like another, such as {warm} = {cold}\n"
    facts = json.loads((await command("status", "s", "--json"))[1])
    assert facts["asked_alike"] == {warm: cold}
    assert facts["same_conditions"] == {}
    (drop,) = facts["dropped"]
    assert (drop["setting"], drop["values"]) == ("temperature", ["0", "0.7"])
    assert (drop["model"], drop["n"], drop["runs"]) == ("a", 4, 4)
    _, out, _ = await command("status", "s")
    assert said in out
    assert counted in out
    assert f"calls, {warm} (asked like {cold}): 12 ok\n" in out
    _, out, _ = await command("score", "s")
    assert said in out
    assert "note: 1 of 2 conditions of basic were asked like others of it\n" in out
    _, out, _ = await command("score", "s", "--all")
    assert said in out
    assert counted in out
    named = "ccps, basic, a, model.temperature="
    assert f"{named}0.7 (asked like {named}0.0)\n" in out
    rows = json.loads((await command("score", "s", "--json"))[1])["conditions"]
    like = {row["settings"]["model.temperature"]: row["asked_like"] for row in rows}
    assert like == {0.0: None, 0.7: f"{named}0.0"}
    assert {row["equal_to"] for row in rows} == {None}


async def test_a_temperature_that_took_effect_in_some_runs_makes_nothing_alike(command, tmp_path):
    preset(tmp_path, "a")
    async with FakeProvider([Rule(rejects="temperature")], models=("a",)) as provider:
        address = f"base_url={provider.base_url}"
        assert (await command(*SWEEP, "temperature=0", address))[0] == 0
    async with FakeProvider(models=("a",)) as provider:
        address = f"base_url={provider.base_url}"
        assert (await command(*SWEEP, "temperature=0,0.7", address))[0] == 0
    for name in ("status", "score"):
        _, out, _ = await command(name, "s")
        assert "note: temperature (0, 0.7) was dropped by a in 1 of 2 runs\n" in out
        assert "asked like" not in out
