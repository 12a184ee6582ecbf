"""Every exchange is kept as it comes back, and a recording answers in the place of the model, or
says what changed.
"""

import asyncio
import dataclasses
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from strategies import json_values, lines, quick, texts

from delibsim.domain.survey import Item, Survey
from delibsim.models.base import OUTCOMES, STATUSES, Completion, FailedAttempt, Usage
from delibsim.models.citizen.citizen import Citizen
from delibsim.models.replay import Diverged, Exchange, Recorder, Replay, exchange_of
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose
from delibsim.store.files import append_line, read_lines

SURVEY = Survey(
    "s",
    tuple(
        Item(f"{k}{i}", kind, "text")
        for k, kind in (("C", "consideration"), ("P", "preference"))
        for i in (1, 2)
    ),
)
FAILED = [status for status in STATUSES if status not in OUTCOMES]


class Scripted:
    """A language model that answers from a list, in order, and counts its calls."""

    def __init__(self, *completions, name="m"):
        self.name = name
        self.calls = []
        self._left = list(completions)

    async def complete(self, prompt, seed):
        self.calls.append((prompt, seed))
        return self._left.pop(0)


def prompt(text="Speak.", form=None, purpose=None):
    return Prompt(
        (Message("system", "You deliberate."), Message("user", text)),
        form or Words(),
        purpose or Purpose("Ann", "turn 1"),
    )


def ask(model, *calls):
    async def all_of_them():
        return [await model.complete(*call) for call in calls]

    return asyncio.run(all_of_them())


def recorded(*completions, calls):
    """The exchanges that a recorder keeps of these calls to a model that answers so."""
    kept = []
    ask(Recorder(Scripted(*completions), kept.append), *calls)
    return kept


# Recording


def test_every_exchange_is_kept_as_it_was_asked_and_answered():
    asked = prompt(purpose=Purpose("Ann", "turn 3", 1))
    answered = Completion(
        "Hello.", usage=Usage(10, None, 2, None, 0.001), model_requested="m", finish_reason="stop"
    )
    before = datetime.now(UTC)
    (exchange,) = recorded(answered, calls=[(asked, 11)])
    assert exchange.completion == answered
    assert (exchange.model, exchange.seed, exchange.purpose) == (
        "m",
        11,
        Purpose("Ann", "turn 3", 1),
    )
    assert (exchange.messages, exchange.form) == (asked.messages, Words().describe())
    assert exchange.hash == asked.hash("m", 11)
    assert exchange.id == "Ann/turn 3/1"
    assert abs(datetime.fromisoformat(exchange.started) - before) < timedelta(seconds=10)
    assert datetime.fromisoformat(exchange.started).utcoffset() == timedelta(0)
    assert 0 <= exchange.seconds < 60


def test_half_an_emoji_is_kept_in_the_log(tmp_path):
    # A provider's JSON may hold "\ud83d" without its other half. The reply is paid for, so it must
    # not be lost.
    log = tmp_path / "exchanges.jsonl"
    recorder = Recorder(
        Scripted(Completion(json.loads('"tea \\ud83d"'))),
        lambda exchange: append_line(log, exchange.record()),
    )
    ask(recorder, (prompt(), 1))
    records, damaged = read_lines(log)
    assert damaged == 0
    assert exchange_of(records[0]).completion.text.startswith("tea ")


# Exchanges on disk

completions = st.builds(
    Completion,
    text=texts,
    status=st.sampled_from(STATUSES),
    detail=texts,
    usage=st.builds(
        Usage,
        st.none() | st.integers(0),
        st.none() | st.integers(0),
        cost_usd=st.none() | st.floats(0, 1e6),
    ),
    model_requested=lines,
    model_returned=texts,
    parameters_sent=st.dictionaries(texts, json_values, max_size=3),
    parameters_dropped=st.lists(texts, max_size=2).map(tuple),
    reasoning=texts,
    finish_reason=texts,
    tries=st.lists(
        st.builds(
            FailedAttempt, st.sampled_from(STATUSES), texts, st.floats(0, 100), st.booleans()
        ),
        max_size=2,
    ).map(tuple),
)
exchanges = st.builds(
    Exchange,
    hash=st.text("0123456789abcdef", min_size=64, max_size=64),
    model=lines,
    seed=st.integers(0, 2**63 - 1),
    purpose=st.builds(Purpose, lines, lines, st.integers(0, 4)),
    messages=st.lists(
        st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts), max_size=3
    ).map(tuple),
    form=texts,
    started=st.datetimes().map(
        lambda when: when.replace(tzinfo=UTC).isoformat(timespec="milliseconds")
    ),
    seconds=st.floats(0, 1e5),
    completion=completions,
)


@quick
@given(exchanges)
def test_an_exchange_survives_json(exchange):
    text = json.dumps(exchange.record(), ensure_ascii=False, allow_nan=False)
    assert exchange_of(json.loads(text)) == exchange


@pytest.mark.parametrize(
    "change",
    [{"seed": "x"}, {"completion": {"status": "ok"}}, {"messages": "hello"}, {"purpose": None}],
)
def test_a_record_that_is_no_exchange_is_refused(change):
    (exchange,) = recorded(Completion("Hi."), calls=[(prompt(), 1)])
    with pytest.raises(ValidationError):
        exchange_of(exchange.record() | change)


# Replaying

CALLS = [(prompt(f"Speak {i}."), i) for i in range(3)]
SAID = [
    Completion("A.", model_requested="m"),
    Completion("", "refusal", "I would rather not"),
    Completion(" ", "length", "cut off"),
]


@pytest.mark.parametrize(
    ("changed", "old", "new"),
    [
        (prompt("Speak now!"), "-Speak 0.", "+Speak now!"),
        (
            dataclasses.replace(
                prompt(), messages=(Message("user", "You deliberate."), Message("user", "Speak 0."))
            ),
            "-[system]",
            "+[user]",
        ),
        (
            prompt("Speak 0.", SurveyAnswers(SURVEY)),
            "-Reply with the words you say and nothing else.",
            "+Rate every consideration",
        ),
    ],
    ids=["message", "role", "form"],
)
@pytest.mark.parametrize("then", [None, Citizen(name="m")], ids=["replay", "resume"])
def test_a_changed_prompt_diverges_and_the_change_is_shown(changed, old, new, then):
    replay = Replay("m", recorded(*SAID, calls=CALLS), then)
    with pytest.raises(Diverged) as caught:
        ask(replay, (changed, 0))
    shown = str(caught.value).splitlines()
    assert shown[0] == "Ann, turn 1, attempt 0: the prompt changed"
    assert any(line.startswith(old) for line in shown)
    assert any(line.startswith(new) for line in shown)


def test_a_long_change_is_cut():
    kept = recorded(Completion("A."), calls=[(prompt("\n".join(map(str, range(500)))), 1)])
    with pytest.raises(Diverged) as caught:
        ask(Replay("m", kept), (prompt("\n".join(map(str, range(500, 1000)))), 1))
    assert len(str(caught.value).splitlines()) <= 41


# Going on from a record


@pytest.mark.parametrize("status", sorted(OUTCOMES))
def test_an_outcome_is_never_asked_again(status):
    kept = recorded(Completion("what was said", status, "why"), calls=CALLS[:1])
    live = Scripted()
    assert ask(Replay("m", kept, live), CALLS[0]) == [kept[0].completion]
    assert live.calls == []


@pytest.mark.parametrize("status", FAILED)
def test_a_call_that_failed_on_the_way_is_replayed_as_it_was_where_nobody_can_be_asked(status):
    kept = recorded(Completion("", status, "why"), calls=CALLS[:1])
    assert ask(Replay("m", kept), CALLS[0]) == [Completion("", status, "why")]


def test_the_answer_to_the_second_asking_is_the_one_that_counts():
    kept = recorded(
        Completion("", "timeout", "no answer"), Completion("At last."), calls=[CALLS[0], CALLS[0]]
    )
    assert (
        ask(Replay("m", kept), CALLS[0])
        == ask(Replay("m", kept, Scripted()), CALLS[0])
        == [Completion("At last.")]
    )


def test_only_what_is_not_recorded_is_asked_and_paid():
    kept = recorded(*SAID[:2], calls=CALLS[:2])
    live = Scripted(Completion("Three."))
    assert ask(Replay("m", kept, live), *CALLS) == [*SAID[:2], Completion("Three.")]
    assert [seed for _, seed in live.calls] == [2]


async def test_a_record_whose_prompt_was_edited_is_told_and_not_replayed():
    kept = []
    prompt = Prompt((Message("user", "Speak."),), Words(), Purpose("A", "turn 1"))
    await Recorder(Scripted(Completion("Yes.")), kept.append).complete(prompt, 7)
    edited = dataclasses.replace(kept[0], messages=(Message("user", "Shout."),))
    assert (await Replay("m", kept).complete(prompt, 7)).text == "Yes."
    with pytest.raises(Diverged, match="the record was edited"):
        await Replay("m", [edited]).complete(prompt, 7)
