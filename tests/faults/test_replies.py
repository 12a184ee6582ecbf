"""What becomes of replies in a session: read, asked again, refused, or
missing with the reason.
"""

import asyncio
import json

import pytest
from cases import cases_of
from fake_provider import FakeProvider, Rule, survey_in
from typer.testing import CliRunner

from delibsim.cli.status import app as status
from delibsim.prompts.blocks import read_items
from delibsim.scorers.flags import Flags
from delibsim.store.manifest import Manifest

CASES = cases_of(__file__)
GOOD = {"C1": 1, "C2": 2, "C3": 3, "C4": 4, "C5": 5, "C6": 6, "P1": 1, "P2": 2, "P3": 3, "P4": 4}
LINES = "\n".join(f"{label}: {value}" for label, value in GOOD.items())


def survey_of(participant):
    """A pattern that finds the first survey of one participant."""
    return rf"Please fill in[\s\S]*<you>\n{participant}\n</you>"


def pre(log, participant="Participant 1"):
    """The exchanges of a participant's first survey."""
    return [
        e
        for e in log()
        if (e["purpose"]["participant"], e["purpose"]["occasion"]) == (participant, "pre")
    ]


# 24: forms that are read


async def test_an_unambiguous_reply_is_read_and_kept_as_it_came(hold, session_of, log):
    reply = "\ufeffHere are my answers:\n" + "\n".join(f"- **{k}**: {v}" for k, v in GOOD.items())
    async with FakeProvider([Rule(match=survey_of("Participant 1"), text=reply)]) as provider:
        held = await hold(session_of(), provider)
    assert held.run.response("Participant 1", "pre").answers == GOOD
    assert provider.calls == 6
    (entry,) = pre(log)
    assert (entry["completion"]["status"], entry["completion"]["text"]) == ("ok", reply)


# 25 and 26: forms that are asked again, with the concrete fault

FAULTS = {
    LINES + "\nC1: 7": "C1 is given twice with different values (1, 7)",
    "I would rather talk about it.": "C1 is missing",
}


@pytest.mark.parametrize(("reply", "fault"), FAULTS.items())
async def test_an_unreadable_reply_is_asked_again_with_its_fault(
    hold, session_of, log, reply, fault
):
    async with FakeProvider(
        [Rule(match=survey_of("Participant 1"), text=reply, times=1)]
    ) as provider:
        held = await hold(session_of(), provider)
    assert held.run.status == "complete"
    assert provider.calls == provider.billed == 7
    first, second = pre(log)
    assert [(e["purpose"]["attempt"], e["completion"]["status"]) for e in (first, second)] == [
        (0, "unreadable"),
        (1, "ok"),
    ]
    assert fault in first["completion"]["detail"]
    assert first["completion"]["text"] == reply
    assert first["seed"] != second["seed"]
    roles = [message["role"] for message in second["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert second["messages"][2]["content"] == reply
    assert fault in second["messages"][3]["content"]


@pytest.mark.parametrize("reasks", [0, 1, 3])
async def test_after_the_last_attempt_the_answer_is_missing_with_its_reason(
    hold, session_of, log, reasks
):
    async with FakeProvider([Rule(match=survey_of("Participant 1"), text="C1: many")]) as provider:
        held = await hold(session_of(reasks=reasks), provider)
    response = held.run.response("Participant 1", "pre")
    assert held.run.status == "partial"
    assert response.answers == {}
    assert set(response.missing) == set(GOOD)
    for reason in response.missing.values():
        assert str(reason).startswith("unreadable: C1 has 'many'")
    assert provider.calls == 6 + reasks
    assert [e["purpose"]["attempt"] for e in pre(log)] == list(range(reasks + 1))
    assert {e["completion"]["status"] for e in pre(log)} == {"unreadable"}


async def test_an_empty_speech_is_asked_again_and_then_a_silence(hold, session_of, log):
    async with FakeProvider(
        [Rule(match=r"<you>\nParticipant 2\n</you>[\s\S]*your turn to speak", text="  ")]
    ) as provider:
        held = await hold(session_of(reasks=2), provider)
    (silence,) = held.run.silences
    assert (silence.turn.speaker, silence.status, silence.reason) == (
        "Participant 2",
        "unreadable",
        "the reply is empty",
    )
    assert len(held.run.transcript) == 1
    assert provider.calls == 6 + 2


# 27: refusals and truncation

FINAL = {
    "refusal": Rule(message={"content": None, "refusal": "I cannot take a position."}),
    "content_filter": Rule(choice={"finish_reason": "content_filter"}),
    "length": Rule(choice={"finish_reason": "length"}),
}


@pytest.mark.parametrize("status", FINAL)
async def test_a_refusal_is_asked_once_and_is_missing_data(hold, session_of, log, status):
    rule = FINAL[status]
    script = [Rule(match=survey_of("Participant 1"), message=rule.message, choice=rule.choice)]
    async with FakeProvider(script) as provider:
        held = await hold(session_of(), provider)
        assert held.run.status == "partial"
        missing = held.run.response("Participant 1", "pre").missing
        assert {reason.code for reason in missing.values()} == {status}
        assert held.run.response("Participant 1", "pre").answers == {}
        assert provider.calls == provider.billed == 6
        assert [e["completion"]["status"] for e in pre(log)] == [status]


async def test_a_refusal_by_403_is_an_outcome_of_the_session(hold, session_of, log):
    script = [
        Rule(
            match=survey_of("Participant 1"),
            status=403,
            body={"error": {"message": "flagged by moderation"}},
        )
    ]
    async with FakeProvider(script) as provider:
        held = await hold(session_of(), provider)
    assert held.run.status == "partial"
    assert [e["completion"]["status"] for e in pre(log)] == ["refusal"]
    assert (provider.calls, provider.billed) == (6, 5)


# 28: everything alike


# 29: order


async def test_the_order_of_items_is_undone_once_and_lies_in_the_record(hold, session_of):
    """Every participant answers by what the items say; whatever order they were shown in, equal
    texts get equal answers.
    """
    shown = {}

    def by_text(call):
        survey = survey_in(call.text)
        considerations, preferences = (
            sorted(items, key=lambda item: item.text)
            for items in (survey.considerations, survey.preferences)
        )
        shown[call.text.split("<you>\n")[-1].split("\n")[0]] = tuple(
            item.id for item in survey.items
        )
        ranked = [
            f"{item.id}: {rank}"
            for items in (considerations, preferences)
            for rank, item in enumerate(items, 1)
        ]
        return "\n".join(ranked)

    async with FakeProvider([Rule(match="LABEL: NUMBER", text=by_text)]) as provider:
        held = await hold(session_of(n=4), provider)
    session = held.run.session
    texts = {item.id: item.text for item in session.survey.items}
    expected = {
        label: 1 + sorted(texts[i] for i in texts if i[0] == label[0]).index(texts[label])
        for label in texts
    }
    assert len(set(shown.values())) > 1
    for response in held.run.responses:
        assert response.answers == expected
        assert response.order == shown[response.participant]
    assert read_items("considerations", provider.requests[0].text)


# 22 and 33: repeated text, thinking


async def test_thinking_is_moved_apart_and_heard_by_nobody(hold, session_of, log):
    script = [
        Rule(
            match=r"<you>\nParticipant 1\n</you>[\s\S]*your turn to speak",
            text="<think>SECRET: I pretend.</think>\nI agree with all.",
        ),
        Rule(
            match=r"<you>\nParticipant 2\n</you>[\s\S]*your turn to speak",
            text="SECRET plan, no opening tag.</think>So do I.",
        ),
        Rule(match=survey_of("Participant 1"), message={"reasoning_content": "SECRET sums"}),
    ]
    async with FakeProvider(script) as provider:
        held = await hold(session_of(rounds=2), provider)
    assert held.run.status == "complete"
    assert {s.text for s in held.run.transcript} == {"I agree with all.", "So do I."}
    assert not [call for call in provider.requests if "SECRET" in call.text]
    thoughts = {e["completion"]["reasoning"] for e in log()} - {""}
    assert thoughts == {"SECRET: I pretend.", "SECRET plan, no opening tag.", "SECRET sums"}


@pytest.mark.parametrize(("reply", "said", "thought"), CASES["thinking_in_tags"])
async def test_thinking_in_tags(ask, reply, said, thought):
    async with FakeProvider([Rule(text=reply)]) as provider:
        completion = await ask(provider)
    assert (completion.status, completion.text, completion.reasoning) == ("ok", said, thought)


async def test_thinking_alone_is_no_reply(ask):
    async with FakeProvider([Rule(text="<think>It is hard.</think>")]) as provider:
        completion = await ask(provider)
    assert (completion.status, completion.reasoning) == ("unreadable", "It is hard.")


@pytest.mark.parametrize(
    "reply",
    [" " * 200_000 + "Yes.", "<think>" * 30_000, "</think>" * 30_000, "<think>a</think> " * 20_000],
)
async def test_replies_that_would_keep_a_slow_reader_busy(ask, reply):
    async with FakeProvider([Rule(text=reply)]) as provider:
        completion = await asyncio.wait_for(ask(provider), 5)
    assert completion.status in ("ok", "unreadable")


async def test_a_reply_of_250_kb_is_unreadable_and_its_head_is_quoted_when_it_is_asked_again(
    hold, session_of, log
):
    endless = "".join(f"C1: {n}\n" for n in range(25_000))
    script = [Rule(text=endless, at=(2,)), Rule(text="word " * 50_000, at=(4,))]
    async with FakeProvider(script) as provider:
        held = await asyncio.wait_for(hold(session_of(), provider), 30)
    assert held.run.status == "complete"
    unreadable = []
    for line in log():
        if line["completion"]["status"] == "unreadable":
            unreadable.append(line["completion"])
    assert [line["text"] for line in unreadable] == [endless, ("word " * 50_000)]
    assert "characters; at most 200,000 are read" in unreadable[0]["detail"]
    again = [call for call in provider.requests if len(call.body["messages"]) > 2]
    assert len(again) == 2
    assert max(len(call.text) for call in again) < 40_000


async def test_equal_text_in_independent_replicates_above_temperature_zero_is_flagged(
    hold, session_of
):
    warm = {
        "local": {
            "name": "local",
            "kind": "openai_compatible",
            "model": "local",
            "max_tokens": 500,
            "temperature": 0.7,
        }
    }
    async with FakeProvider(
        [Rule(match="your turn to speak", text="We all agree on this, as everybody knows.")]
    ) as provider:
        held = [
            (await hold(session_of(warm, id=f"r{k}", replicate=k), provider)).run for k in (1, 2)
        ]
    scores = {(s.measure, s.target): s.value for s in Flags().score(held) if s.unit == "run"}
    assert scores["flags.across_runs", "r1"] == scores["flags.across_runs", "r2"] == 2
    assert provider.calls == 12


async def test_a_response_id_that_comes_twice_is_flagged_with_whether_the_text_came_twice_too(
    hold, session_of, runs
):
    runs.settle(Manifest(runs.study, {}, {}))

    def said():
        plain = CliRunner().invoke(status, [str(runs.folder)]).output
        return (
            " ".join(plain.split()),
            json.loads(CliRunner().invoke(status, [str(runs.folder), "--json"]).output)[
                "repeated_response_ids"
            ],
        )

    async with FakeProvider() as provider:
        await hold(session_of(), provider)
        assert said() == (said()[0], None)
        assert "response id" not in said()[0]
        # Another session: its last survey under an id of the first session, and two speeches under
        # one id and in the same words.
        provider.script[:] = [
            Rule(at=(10, 11), payload={"id": "again"}, text="Yes."),
            Rule(at=(13,), payload={"id": "chatcmpl-1"}),
        ]
        await hold(session_of(id="two", replicate=2, rounds=2), provider)
    assert said()[1] == {"calls": 4, "same_text": 2, "ids": ["chatcmpl-1", "again"]}
    assert (
        "4 calls came with the response id of another (chatcmpl-1, again), 2 of them with its"
        " text too" in said()[0]
    )


async def test_a_response_id_that_comes_twice_in_one_run_stands_in_its_summary(command):
    async with FakeProvider([Rule(at=(3, 4), payload={"id": "same"}, text="Yes.")]) as provider:
        settings = (
            "model=local",
            "study=s",
            "group.size=2",
            "rounds=1",
            f"base_url={provider.base_url}",
        )
        _, out, _ = await command("run", "-q", *settings)
        _, plain, _ = await command("run", "-q", "--json", *settings)
    assert (
        "Flagged    2 calls came with the response id of another (same), 2 of them with its"
        " text too" in out
    )
    assert json.loads(plain)["calls"]["repeated_response_ids"] == {
        "calls": 2,
        "same_text": 2,
        "ids": ["same"],
    }
