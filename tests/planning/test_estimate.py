"""An estimate is what a provider then counts: call for call, and within its ranges token for token
and dollar for dollar. An estimate as rows and sentences: everything that `delibsim estimate`
prints, without printing. What an estimate counts is what a session asks when it is really held.
"""

import asyncio
import importlib.util
import os
from dataclasses import replace
from pathlib import Path

import pytest
from fake_provider import FakeProvider, Rule
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick

from delibsim import ModelPool, Runs, compose, hold, models_for
from delibsim.cli.estimate import HEADS, heading, notes, plain, rows
from delibsim.conduct.hold import hold_all
from delibsim.models.limits import Limits
from delibsim.planning.compose import plan
from delibsim.planning.costing import Assumptions, calls_of
from delibsim.planning.dry_run import DryRunModel, dry_run
from delibsim.planning.estimate import estimate
from delibsim.planning.load import Range, common, tokens_of

MODEL = (
    "name: {0}\nkind: openai_compatible\nmodel: {0}\nmax_tokens: 500\nprice: {{input: 2.0, cached:"
    " 0.5, output: 8.0}}\n"
)
GRID = (
    "study=s",
    "topic=acp,ccps",
    "treatment=none,basic,normative",
    "replicate=1,2",
    "group.size=3",
    "rounds=1",
)
WORDS = Assumptions(words=(5, 200))
"""The citizen, who speaks for the provider, is brief."""


@pytest.fixture
def grid(tmp_path):
    """Plan a small grid of the models a and b, and of both in one group."""
    folder = tmp_path / "conf" / "model"
    folder.mkdir(parents=True)
    for name in "ab":
        (folder / f"{name}.yaml").write_text(MODEL.format(name), encoding="utf-8")

    def make(*overrides):
        given = {one.partition("=")[0] for one in overrides}
        grid = [one for one in GRID if one.partition("=")[0] not in given]
        return plan([*grid, *overrides], tmp_path, sweep=True)

    return make


async def estimated(planned, **limits):
    return await estimate(
        planned.sessions,
        Runs(planned.root, planned.study),
        Limits(**limits),
        planned.addresses,
        WORDS,
    )


async def held(planned, provider):
    """Hold a plan with the provider as every model."""
    voices = ModelPool(Limits(longest_wait=0.01), addresses=dict.fromkeys("ab", provider.base_url))
    return await hold_all(
        planned.sessions, Runs(planned.root, planned.study), pool=voices, at_once=4
    )


@pytest.mark.parametrize("models", ["model=a,b", "group.models=[a,b]"])
async def test_the_estimate_is_what_the_provider_then_counts(grid, models):
    planned = grid(models)
    before = await estimated(planned)
    async with FakeProvider(models="ab") as provider:
        assert {outcome.status for outcome in await held(planned, provider)} == {"complete"}
    assert {line.model: line.load.calls for line in before.lines} == provider.by_model
    assert before.total.calls == provider.calls
    total = before.total
    assert total.input.low < provider.prompt_tokens < total.input.high
    assert total.output.low < provider.billed_tokens - provider.prompt_tokens < total.output.high
    cost = (
        2 * (provider.prompt_tokens - provider.cached_tokens) + 0.5 * provider.cached_tokens
    ) / 1e6
    cost += 8 * (provider.billed_tokens - provider.prompt_tokens) / 1e6
    assert before.usd.low < cost < before.usd.high
    assert provider.cached_tokens < sum((line.cached for line in before.lines), Range()).high
    assert total.prefix.low > 0.3 * total.input.low
    after = await estimated(planned)
    assert (after.planned, after.held, after.waiting, after.total.calls, after.usd) == (
        len(planned.sessions),
        len(planned.sessions),
        0,
        0,
        Range(),
    )


@pytest.mark.parametrize("models", ["model=a", "group.models=[b,a]"])
@pytest.mark.parametrize("call", [2, 5, 8])
async def test_of_a_session_that_was_cut_off_only_the_rest_is_estimated(grid, models, call):
    planned = grid(models, "topic=ccps", "treatment=basic")
    async with FakeProvider([Rule(at=(call,), status=400, times=1)], models="ab") as provider:
        outcomes = await held(planned, provider)
        assert any(outcome.fault for outcome in outcomes)
        rest = await estimated(planned)
        provider.by_model.clear()
        before = provider.calls
        assert {outcome.status for outcome in await held(planned, provider)} == {"complete"}
    assert (rest.cut_off, rest.recorded) == (
        1,
        sum(outcome.asked - 1 for outcome in outcomes if outcome.fault),
    )
    assert rest.total.calls == provider.calls - before
    assert {
        line.model: line.load.calls for line in rest.lines if line.load.calls
    } == provider.by_model


async def test_nothing_is_written_and_replicates_and_models_take_what_the_first_takes(
    grid, tmp_path
):
    one = await estimated(grid("model=a", "replicate=1"))
    many = await estimated(grid("model=a,b", "replicate=range(1,6)"))
    assert many.total.calls == 10 * one.total.calls
    assert many.total.input.high == pytest.approx(10 * one.total.input.high)
    assert {path.name for path in tmp_path.iterdir()} == {"conf"}


async def test_time_is_that_of_the_limit_that_binds(grid):
    planned = grid(
        "model=a", "treatment=basic"
    )  # 4 sessions of 3 + 3 + 3 calls, 5 occasions one after another
    assert (await estimated(planned)).longest == (
        50.0,
        "the longest session, whose turns wait for one another",
    )
    assert (await estimated(planned, concurrency=2)).longest == (180.0, "concurrency")
    assert (await estimated(planned, requests_per_minute=6)).longest == (
        360.0,
        "requests_per_minute",
    )
    at_most = await estimated(planned, tokens_per_minute=1000)
    least = (at_most.total.input.low + at_most.total.output.low) / 1000
    assert at_most.longest == (pytest.approx(60 * least), "tokens_per_minute")


async def test_what_is_unknown_is_said(grid):
    planned = grid("model=a", "+model.reasoning_effort=high")
    (line,) = (await estimated(planned)).lines
    assert line.load.output.high == 500 * line.load.calls
    assert "thinks" in line.unknown[0]
    found = await estimate(
        planned.sessions, Runs(planned.root, "s"), Limits(), {}, Assumptions(thinking=(10, 20))
    )
    assert found.total.output.high < 500 * line.load.calls
    (line,) = (await estimated(grid("model=a", "model.price=null"))).lines
    assert line.usd is None
    assert any("its price" in text for text in line.unknown)
    assert any("whether it thinks" in text for text in line.unknown)


THINKERS = (
    "gpt_5_1_reasoning gemini_3_pro deepseek_v3_2_reasoning kimi_k2_reasoning"
    " claude_opus_4_5_reasoning"
).split()
OTHERS = ["gpt_5_1", "deepseek_v3_2", "kimi_k2", "claude_opus_4_5", "citizen"]


@pytest.mark.parametrize(
    ("preset", "thinks"),
    [*((name, True) for name in THINKERS), *((name, False) for name in OTHERS)],
)
async def test_who_thinks_is_known_from_settings_and_price_list(grid, preset, thinks):
    (line,) = (await estimated(grid(f"model={preset}"))).lines
    assert any("it thinks" in text for text in line.unknown) == thinks
    assert line.usd is not None


async def test_one_name_with_several_settings_has_a_line_for_each(grid):
    lines = (
        await estimated(grid("model=a", "model.max_tokens=400,800", "+model.reasoning_effort=high"))
    ).lines
    assert [line.model for line in lines] == ["a (max_tokens=400)", "a (max_tokens=800)"]
    assert [line.load.output.high / line.load.calls for line in lines] == [400, 800]


# tokens


@pytest.fixture(scope="module")
def tokenizers():
    """Two tokenizers of other people, as they ship with litellm: cl100k_base of OpenAI and that of
    Claude 2.
    """
    spec = importlib.util.find_spec("litellm")  # found without importing it, which takes seconds
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        openai = pytest.importorskip("tiktoken").get_encoding("cl100k_base")
    claude = pytest.importorskip("tokenizers").Tokenizer.from_file(
        str(folder / "anthropic_tokenizer.json")
    )
    return [
        lambda text: len(openai.encode(text, disallowed_special=())),
        lambda text: len(claude.encode(text).ids),
    ]


OTHER_LANGUAGES = [
    (
        "Die Stadt sollte im Zentrum weniger Autos zulassen, weil die Luft für die Anwohnerinnen"
        " und Anwohner dann besser würde."
    ),
    (
        "Город должен ограничить движение автомобилей в центре, потому что воздух станет чище для"
        " всех жителей."
    ),
    "城市应当限制市中心的汽车通行，因为这样所有居民都能呼吸到更清洁的空气。",
    "ينبغي للمدينة أن تحد من حركة السيارات في المركز لأن الهواء سيصبح أنظف للجميع.",
]


@pytest.mark.parametrize("topic", ["ccps", "fnqcj", "zukunft"])
def test_real_tokenizers_count_within_the_range(tokenizers, topic, tmp_path):
    texts = list(OTHER_LANGUAGES)

    class Listener:
        def __init__(self, voice):
            self.name, self.voice = voice.name, voice

        async def complete(self, prompt, seed):
            completion = await self.voice.complete(prompt, seed)
            texts.extend([prompt.text, completion.text])
            return completion

    session = compose(f"topic={topic}", home=tmp_path)
    asyncio.run(
        hold(session, {name: Listener(voice) for name, voice in models_for(session).items()})
    )
    for text in texts:
        for count in tokenizers:
            assert tokens_of(text).low <= count(text) <= tokens_of(text).high, text[:80]


async def test_a_form_that_does_not_take_its_own_example_is_found_out():
    asked, *_ = await dry_run(compose("topic=ccps"))
    again = replace(asked.prompt, purpose=replace(asked.prompt.purpose, attempt=1))
    with pytest.raises(
        TypeError, match=r"SurveyAnswers\.example gives a reply that its own read refuses"
    ):
        await DryRunModel("m", 10, lambda call: None).complete(again, 1)


@quick
@given(st.text("ab\n", max_size=40), st.text("ab\n", max_size=40))
def test_the_common_beginning_is_that_of_the_standard_library(a, b):
    assert common(a, b) == len(os.path.commonprefix([a, b]))  # noqa: RUF071 characters are meant


SWEEP = ["study=s", "topic=ccps", "model=citizen,gpt_5_1", "group.size=2", "rounds=1"]


def test_rows_have_the_width_of_their_heads_and_end_with_the_total(tmp_path):
    planned = plan(SWEEP, tmp_path, sweep=True)
    runs = Runs(planned.root, planned.study)
    found = asyncio.run(estimate(planned.sessions, runs, planned.limits, planned.addresses))
    assert heading(planned.study, found) == "study s: 2 sessions, 0 held already, 2 to be held"
    table = list(rows(found))
    assert {len(row) for row in table} == {2 + len(HEADS)}
    assert [row[0] for row in table] == ["citizen", "gpt_5_1", "total"]
    assert [row[2] for row in table] == ["6", "6", "12"]
    assert table[0][-1] == "0"
    assert plain(found, planned.study)["total"]["calls"] == 12


def test_a_budget_that_may_be_exceeded_is_noted(tmp_path):
    planned = plan([*SWEEP, "limits.budget_tokens=10"], tmp_path, sweep=True)
    runs = Runs(planned.root, planned.study)
    found = asyncio.run(estimate(planned.sessions, runs, Limits(), planned.addresses))
    (line,) = [note for note in notes(found, planned.limits) if note.startswith("Budget")]
    assert "limits.budget_tokens=10 is less than this may use" in line


DEBATE = ("format=debate", "motion=voting")


@pytest.mark.parametrize(
    "overrides",
    [
        ("topic=ccps", "treatment=normative"),
        ("topic=acp", "treatment=none"),
        ("topic=acp", "group.size=9", "rounds=5", "procedure.recall=true"),
        ("topic=acp", "group.size=12", "rounds=2", "procedure.shuffle_items=false"),
        ("topic=acp", "group.models=[citizen,citizen_eloquent,citizen_plain]"),
        ("topic=acp", "procedure.reverse_scale=half", "procedure.recall=true"),
        ("topic=acp", "procedure.transcript_window=2", "procedure.show_answers=true"),
        ("topic=acp", "procedure.audience.network=star", "rounds=3"),
        ("topic=acp", "procedure.audience.network=ring", "group.size=6"),
        (
            "topic=acp",
            "group.size=8",
            "procedure.audience.network=small_world",
            "procedure.audience.neighbours=2",
            "procedure.audience.rewiring=0.5",
        ),
        (
            "topic=acp",
            "group.size=3",
            "procedure.audience.network=edges",
            "procedure.audience.edges=[[1,3]]",
        ),
        DEBATE,
        (*DEBATE, "procedure.rules.preparation=true"),
        (*DEBATE, "audience=3", "model=citizen_plain"),
        (*DEBATE, "audience=2", "treatment.interaction=false"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("words", [0, 80])
async def test_the_calls_are_those_of_the_session_when_it_is_held(overrides, words, tmp_path):
    session = compose(*overrides, "seed=7", home=tmp_path)
    held = await dry_run(session, words)
    assert held
    assert await calls_of(session, words) == held
