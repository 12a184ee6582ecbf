"""`delibsim estimate`: what is printed, what is written (nothing, or prompts), and what is
refused.
"""

import asyncio
import csv

from fake_provider import FakeProvider

from delibsim import ModelPool, Runs
from delibsim.conduct.hold import hold_all
from delibsim.models.limits import Limits
from delibsim.planning.compose import plan

SWEEP = (
    "-m",
    "study=s",
    "topic=ccps,acp",
    "treatment=none,basic",
    "replicate=1,2",
    "model=citizen,citizen_open",
    "group.size=2",
)


def test_an_estimate_counts_what_is_to_be_held_and_writes_nothing(delibsim, study, files, small):
    before = files()
    answer = delibsim("estimate", "-m", "study=s", *small, "replicate=1,2,3", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["sessions"] == {"planned": 3, "held": 1, "waiting": 2, "cut_off": 0}
    assert answer.json["total"]["calls"] == 2 * 6
    assert answer.json["total"]["usd"] == {"low": 0, "high": 0}
    assert answer.json["rendered"] is None
    assert files() == before
    printed = delibsim("estimate", "-m", "study=s", *small, "replicate=1,2,3")
    assert "study s: 3 sessions, 1 held already, 2 to be held" in printed.out
    assert (
        delibsim("estimate", "study=s", *small).out
        == "study s: 1 session, 1 held already, 0 to be held\n"
        "Nothing is left to be asked: 0 calls, 0 tokens, 0 USD\n"
    )


def test_models_that_may_be_asked_in_two_ways_are_named(delibsim):
    words = ("estimate", "-m", "study=s", "topic=ccps", "model=gpt_5_1,local")
    assert "two ways: gpt_5_1 in labelled lines, local in JSON" in delibsim(*words).out
    assert "two ways" not in delibsim(*words, "model.structured=false").out


def test_prices_thinking_time_and_budget_are_said(delibsim, home):
    (home / "conf" / "model").mkdir(parents=True)
    (home / "conf" / "model" / "own.yaml").write_text(
        "name: own\nkind: openai_compatible\nmodel: own\n", encoding="utf-8"
    )
    hosted = (
        "model=gpt_5_1,kimi_k2_reasoning,own",
        "limits.budget_usd=0.01",
        "limits.requests_per_minute=60",
    )
    answer = delibsim("estimate", "-m", "study=s", "topic=ccps", *hosted)
    assert answer.code == 0
    for words in (
        "Unknown    own: its price",
        "kimi_k2_reasoning: it thinks",
        "Budget     limits.budget_usd=0.01",
        "Prices     litellm",
    ):
        assert words in answer.out
    assert "openai: at least 120 s, bound by the longest session" not in answer.out
    assert "openai: at least 2 min, bound by the longest session" in answer.out
    found = delibsim(
        "estimate", "-m", "study=s", "topic=ccps", *hosted, "--thinking", "100-200", "--json"
    ).json
    assert found["total"]["usd_unknown"] == ["own"]
    assert {line["model"]: line["usd"] is None for line in found["models"]} == {
        "gpt_5_1": False,
        "kimi_k2_reasoning": False,
        "own": True,
    }
    assert found["assumptions"]["thinking"] == [100, 200]
    assert [path.name for path in home.iterdir()] == ["conf"]


def test_what_could_not_be_held_is_refused_as_run_refuses_it(delibsim, study, files, small):
    before = files()
    assert (
        delibsim("estimate", "topic=ccps", "wording.texts.speak=$nobody", "wording.id=own").code
        == 2
    )
    assert files() == before


def test_a_file_for_each_cell_and_word_for_word_repetitions_only_named(delibsim, home):
    answer = delibsim("estimate", *SWEEP, "--render", "prompts", "--json")
    assert answer.json["rendered"] == {"folder": "prompts", "files": 8, "different": 4}
    names = {path.name for path in (home / "prompts").iterdir()}
    assert "ccps.basic.citizen_size2.txt" in names
    assert len(names) == 8 + 1
    text = (home / "prompts" / "ccps.basic.citizen_size2.txt").read_text(encoding="utf-8")
    assert "> [statement of Participant" in text
    assert "\nccps.basic.citizen_size2.r2: turn 1: Participant" in text
    other = (home / "prompts" / "ccps.basic.citizen_open_size2.txt").read_text(encoding="utf-8")
    assert other.startswith(
        "Word for word the prompts of ccps.basic.citizen_size2.txt, asked of citizen_open:\n"
    )
    with (home / "prompts" / "index.csv").open(encoding="utf-8") as index:
        rows = list(csv.DictReader(index))
    assert len(rows) == 16
    assert {row["file"] for row in rows} == names - {"index.csv"}
    assert {path.name for path in home.iterdir()} == {"prompts"}
    again = delibsim("estimate", *SWEEP, "--render", "prompts")
    assert again.code == 2
    assert "is not empty" in again.err


def test_a_file_for_every_session_holds_the_prompts_that_are_sent(delibsim, home):
    every = delibsim("estimate", *SWEEP, "--render", "out/prompts", "--every", "--json").json
    assert every["rendered"] == {"folder": "out/prompts", "files": 16, "different": 8}
    assert len(list((home / "out" / "prompts").glob("*.txt"))) == 16
    (home / "conf" / "model").mkdir(parents=True)
    (home / "conf" / "model" / "a.yaml").write_text(
        "name: a\nkind: openai_compatible\nmodel: a\n", encoding="utf-8"
    )
    overrides = ("study=s", "topic=ccps", "treatment=basic", "model=a", "group.size=3", "rounds=1")
    delibsim("estimate", *overrides, "--render", "a")
    (file,) = (home / "a").glob("*.txt")
    text = file.read_text(encoding="utf-8")

    async def hold():
        planned = plan(overrides, home)
        async with FakeProvider(models="a") as provider:
            voices = ModelPool(Limits(), addresses={"a": provider.base_url})
            await hold_all(planned.sessions, Runs(planned.root, "s"), pool=voices)
            return [call.text for call in provider.requests]

    sent = asyncio.run(hold())
    first = [prompt for prompt in sent if "<answers>" not in prompt]
    assert len(sent) == 9
    assert len(first) == 3
    for prompt in first:
        assert prompt in text
    # Beyond the first survey, all lines are the same but for what was said and answered.
    said = [
        line
        for prompt in sent
        for line in prompt.splitlines()
        if not line.startswith(">") and line[:1] not in "CP"
    ]
    assert set(said) <= set(text.splitlines())


def test_a_sweep_needs_no_name_to_be_estimated(delibsim, files):
    found = delibsim("estimate", "-m", "topic=ccps,acp", "group.size=2", "rounds=1", "--json")
    assert found.code == 0
    assert found.json["sessions"]["waiting"] == 2
    assert found.json["study"].startswith("unnamed_")
    refused = delibsim("run", "-m", "topic=ccps,acp")
    assert "a sweep needs a name" in refused.err
    assert files() == {}
