"""A study as tables: a row a unit with its condition, nothing missing without a reason, nothing
damaged without a word.
"""

import asyncio
import dataclasses
import json
import math
from dataclasses import replace

import pandas as pd
import pytest

from delibsim import compose, hold, models_for
from delibsim.domain.consensus import ConsensusRule
from delibsim.domain.participant import Participant
from delibsim.domain.score import Score
from delibsim.domain.transcript import Silence
from delibsim.domain.treatment import Network, Procedure, Treatment
from delibsim.store.runs import Runs
from delibsim.store.tables.sheets import COLUMNS, TABLES
from delibsim.store.tables.study import rows_of, tables
from delibsim.testing import a_run
from delibsim.testing.runs import a_run_with_consensus

MODELS = {
    "warm": {"kind": "litellm", "temperature": 0.7, "max_tokens": 500, "key_env": "K"},
    "cold": {"kind": "litellm", "temperature": 0.7},
}

COUNTED = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "cost_usd")
UNKNOWN = dict.fromkeys(COUNTED)


@pytest.fixture
def study(tmp_path):
    return Runs(tmp_path / "runs", "demo")


def held(study, run, *exchanges):
    """Put a run with a record into a study."""
    study.plan(run.session)
    study.add(run)
    for exchange in exchanges:
        study.record(run.session.id, exchange)
    return run


def mixed(name="one", **changes):
    """A run of two participants voiced by two models."""
    run = a_run(name, participants=2)
    people = (
        Participant("Participant 1", "A nurse.", "warm"),
        Participant("Participant 2", "", "cold"),
    )
    return dataclasses.replace(
        run, session=dataclasses.replace(run.session, participants=people, models=MODELS, **changes)
    )


def exchange(participant=1, occasion="pre", attempt=0, status="ok", **completion):
    """An exchange as it lies in the log: what is not told is that of a plain success."""
    usage = UNKNOWN | {"input_tokens": 100, "cached_tokens": 40, "output_tokens": 10}
    usage["cost_usd"] = 0.25
    done = {
        "text": "C1: 4",
        "status": status,
        "usage": usage,
        "parameters_sent": {"temperature": 0.7, "seed": 3},
        "tries": [],
    }
    return {
        "hash": "abc", "model": "warm" if participant == 1 else "cold", "seed": 1,
        "started": "2026-11-21T11:28:40.518+00:00", "seconds": 0.5,
        "purpose": {"participant": f"Participant {participant}", "occasion": occasion, "attempt": attempt}, "completion": done | completion,
    }  # fmt: skip


def failed(status, cost=None, **more):
    """An attempt that failed and was followed by another."""
    usage = UNKNOWN | {"cost_usd": cost}
    return {"status": status, "detail": "", "waited": 1.0, "usage": usage} | more


def of(study):
    """The tables of a study in which nothing is damaged."""
    frames, faults = tables(study)
    assert faults == []
    return frames


def test_every_row_has_columns_of_the_codebook_and_values_of_their_kind(study):
    held(study, mixed(), exchange())
    study.write_scores("dri", 1, [Score("dri", "run", "one", 0.5, "pre")])
    columns = {table: {column.name: column for column in COLUMNS[table]} for table in TABLES}
    seen = set()
    for table, row in rows_of(study, []):
        seen.add(table)
        assert set(row) <= set(columns[table])
        assert all(columns[table][name].holds(value) for name, value in row.items()), row
    assert seen == set(TABLES) == set(COLUMNS)
    assert all(column.meaning for own in COLUMNS.values() for column in own)
    for table, frame in of(study).items():
        assert list(frame.columns) == list(columns[table])


def test_units_are_counted_and_values_are_those_of_the_run(study):
    run = held(study, a_run("one", participants=3))
    frames = of(study)
    assert {table: len(frame) for table, frame in frames.items()} == {
        "runs": 1, "participants": 3, "items": 10, "responses": 60, "statements": 3, "calls": 0, "scores": 0, "measures": 0,
    }  # fmt: skip
    for row in frames["responses"].itertuples():
        response = run.response(row.participant, row.phase)
        assert row.value == response.answers[row.item]
        assert response.order[row.position - 1] == row.item
        assert row.seat == int(row.participant.split()[1])
    assert list(frames["statements"].text) == [statement.text for statement in run.transcript]


def test_a_missing_answer_is_missing_with_its_reason_and_counted(study):
    run = a_run("one", participants=3, missing=["Participant 2"])
    silence = Silence(run.transcript[1].turn, "refusal", "against my policy")
    held(
        study,
        dataclasses.replace(
            run, transcript=(run.transcript[0], run.transcript[2]), silences=(silence,)
        ),
    )
    frames = of(study)
    gone = frames["responses"][frames["responses"].value.isna()]
    assert set(zip(gone.participant, gone.phase, gone.missing, strict=True)) == {
        ("Participant 2", "post", "refusal")
    }
    assert frames["responses"][frames["responses"].value.notna()].missing.isna().all()
    (row,) = frames["runs"].itertuples()
    assert (
        row.status,
        row.answers_expected,
        row.answers_missing,
        row.turns,
        row.statements_missing,
    ) == ("partial", 60, 10, 3, 1)
    said = frames["statements"]
    assert list(said.turn) == [1, 2, 3]
    assert list(said.status) == ["ok", "refusal", "ok"]
    assert (said.text[1], said.reason[1]) == (None, "against my policy")
    assert list(said.cut.isna()) == [False, True, False]


@pytest.mark.parametrize(("listeners", "expected"), [(0, 0), (2, 4)])
def test_only_those_surveyed_in_a_debate_owe_answers(study, tmp_path, listeners, expected):
    told = ["procedure.rules.then=cut", "procedure.rules.most=140"]
    sides = ("proposition=citizen_plain", "opposition=citizen")
    session = compose(
        "format=debate", "motion=voting", *sides, f"audience={listeners}", *told, home=tmp_path
    )
    held(study, asyncio.run(hold(session, models_for(session))))
    (row,) = of(study)["runs"].itertuples()
    assert (row.answers_expected, row.answers_missing) == (expected, 0)
    assert (row.proposition, row.opposition, row.speech_least, row.speech_most) == (
        "citizen_plain",
        "citizen",
        100,
        140,
    )
    assert (row.speech_reasks, row.speech_then, bool(row.preparation)) == (2, "cut", False)


def test_the_condition_stands_in_every_table_of_observations(study):
    audience = Network("edges", edges=((1, 2),))
    treatment = Treatment("quiet", rounds=3, interaction=False)
    held(
        study,
        mixed(treatment=treatment, procedure=Procedure(audience), seed=2**80, replicate=4),
        exchange(),
    )
    study.write_scores("dri", 1, [Score("dri", "run", "one", 0.5, "pre")])
    frames = of(study)
    for table in set(frames) - {"items", "measures"}:
        row = frames[table].iloc[0]
        assert (row.study, row.session, row.treatment, row.rounds, row.replicate) == (
            "demo",
            "one",
            "quiet",
            0,
            4,
        )
        assert (row.models, row.model_kinds, row["group_size"], row.personas, row.network) == (
            "warm+cold",
            "litellm+litellm",
            2,
            1,
            "edges",
        )
        assert row.seed == str(2**80)
    assert frames["runs"].edges[0] == "1-2"
    assert list(frames["participants"].persona) == ["A nurse.", None]


# parameters and attempts


def test_a_temperature_is_that_which_was_sent_to_whom_it_was_sent(study):
    dropped = {"parameters_sent": {}, "parameters_dropped": ["temperature", "seed"]}
    pairs = [
        exchange(n, occasion, **(dropped if n == 2 else {}))
        for occasion in ("pre", "post", f"turn {1}", "turn 2")
        for n in (1, 2)
    ]
    held(study, mixed(), *pairs)
    study.write_scores("dri", 1, [Score("dri", "run", "one", 0.5, "pre")])
    frames = of(study)
    for table in ("responses", "statements", "calls"):
        warm, cold = (frames[table][frames[table].model == name] for name in ("warm", "cold"))
        assert (
            set(warm.temperature)
            == set(warm.temperature_requested)
            == set(cold.temperature_requested)
            == {0.7}
        )
        assert cold.temperature.isna().all(), table
        assert set(cold.parameters_dropped) == {"seed; temperature"}
        assert warm.parameters_dropped.isna().all()
    for table in ("runs", "scores"):
        row = frames[table].iloc[0]
        assert (row.temperature_requested, row.parameters_dropped) == (0.7, "seed; temperature")
        assert math.isnan(row.temperature), "half of the run had none"
    assert json.loads(frames["calls"].parameters_requested[0]) == {
        "temperature": 0.7,
        "max_tokens": 500,
    }


def test_without_a_record_no_temperature_and_no_attempts_are_claimed(study):
    held(study, mixed())
    frames = of(study)
    assert frames["responses"].temperature.isna().all()
    assert frames["responses"].attempts.isna().all()
    assert frames["runs"].reasked.isna().all()
    assert frames["runs"].cost_usd.isna().all()


def test_attempts_are_a_column_with_which_units_are_left_out(study):
    held(
        study, mixed(),
        exchange(1, "pre", 0, "unreadable"), exchange(1, "pre", 1), exchange(2, "pre"), exchange(1, "turn 1"),
        exchange(2, "turn 2", 0, "unreadable"), exchange(2, "turn 2", 1, "unreadable"), exchange(2, "turn 2", 2, "refusal"),
        exchange(1, "post", 0, "timeout"), exchange(1, "post", 0), exchange(2, "post"),
    )  # fmt: skip
    targets = [
        ("run", "one"),
        ("participant", "one/Participant 2"),
        ("statement", "one/2"),
        ("statement", "one/1"),
        ("pair", "one/1-2"),
    ]
    study.write_scores(
        "x",
        2,
        [
            Score("m", unit, target, 1.0, phase)
            for unit, target in targets
            for phase in ("pre", "post", "change", "")
        ],
    )
    frames = of(study)
    answers = (
        frames["responses"].groupby(["participant", "phase"]).attempts.unique().map(list).to_dict()
    )
    assert answers == {
        ("Participant 1", "post"): [1],
        ("Participant 1", "pre"): [2],
        ("Participant 2", "post"): [1],
        ("Participant 2", "pre"): [1],
    }
    assert list(frames["statements"].attempts) == [1, 3]
    assert frames["runs"].reasked[0] == 2
    scores = frames["scores"]
    known = scores[(scores.target != "one/1") & scores.attempts.notna()]
    assert {(row.unit, row.phase or ""): row.attempts for row in known.itertuples()} == {
        ("run", "pre"): 2, ("run", "post"): 1, ("run", "change"): 2, ("run", ""): 3, ("pair", "pre"): 2, ("pair", "post"): 1,
        ("pair", "change"): 2, ("pair", ""): 3, ("participant", "pre"): 1, ("participant", "post"): 1, ("participant", "change"): 1,
        ("participant", ""): 3, ("statement", ""): 3,
    }  # fmt: skip
    assert list(scores[scores.target == "one/1"].turn.unique()) == [1]
    assert set(scores.scorer) == {"x"}
    assert set(scores.scorer_version) == {2}


def test_damaged_lines_make_attempts_unknown_where_nothing_shows_the_last(study):
    run = mixed()
    held(study, run, exchange(1, "pre", 1), exchange(2, "pre", 0, "unreadable"))
    with (study.path("one") / "exchanges.jsonl").open("a") as file:
        file.write('{"torn": \n{"purpose": {}}\n')
    frames, faults = tables(study)
    assert len(faults) == 1
    assert "2 damaged lines" in faults[0]
    answers = (
        frames["responses"][frames["responses"].phase == "pre"]
        .groupby("participant")
        .attempts.first()
    )
    assert answers["Participant 1"] == 2, "what ended ok was the last"
    assert pd.isna(answers["Participant 2"])
    assert frames["runs"].calls_damaged[0] == 2
    assert pd.isna(frames["runs"].cost_usd[0])


# calls


def test_an_unknown_cost_is_empty_and_never_nothing(study):
    held(study, mixed("known"), exchange(), exchange(2, usage={**UNKNOWN, "cost_usd": 0.0}))
    tries = [failed("timeout", possibly_billed=True), failed("unavailable", 0.5)]
    held(study, mixed("unknown"), exchange(tries=tries), exchange(2, usage=UNKNOWN))
    frames = of(study)
    assert list(frames["runs"].cost_usd.isna()) == [False, True]
    assert frames["runs"].cost_usd[0] == 0.25
    costs = list(frames["calls"].cost_usd)
    assert costs[:3] == [0.25, 0.0, 0.25]
    assert math.isnan(costs[3])
    retried = frames["calls"].iloc[2]
    assert (retried.retries, retried.retry_statuses) == (2, "timeout; unavailable")
    assert math.isnan(retried.retry_cost_usd)
    assert list(frames["calls"].possibly_billed) == [False, False, True, False]
    assert list(frames["calls"].input_tokens.isna()) == [False, True, False, True]


@pytest.mark.parametrize(
    ("billed", "calls", "run"), [(False, [0.0, 0.25], 0.75), (True, [None, 0.25], None)]
)
def test_what_failed_for_free_cost_nothing_and_what_may_be_billed_is_unknown(
    study, billed, calls, run
):
    tries = [failed("timeout", 0.5), failed("rate_limited", possibly_billed=False)]
    quota = exchange(status="quota", possibly_billed=billed, usage=UNKNOWN)
    held(study, mixed(), quota, exchange(tries=tries))
    frames = of(study)
    assert [None if math.isnan(cost) else cost for cost in frames["calls"].cost_usd] == calls
    assert list(frames["calls"].retry_cost_usd)[1] == 0.5
    assert (None if pd.isna(frames["runs"].cost_usd[0]) else frames["runs"].cost_usd[0]) == run


@pytest.mark.parametrize(
    "wrong",
    [{"text": 5}, {"text": None}, {"status": None}, {"usage": {"input_tokens": "many"}}, {"usage": {"input_tokens": 2**63}}, {"usage": []},
     {"tries": [{}]}, {"parameters_sent": []}, {"finish_reason": 3}, {"parameters_dropped": [1]}, {"possibly_billed": "no"}],
)  # fmt: skip
def test_a_line_that_is_no_exchange_is_counted_and_told(study, wrong):
    held(study, mixed(), exchange(), exchange(2, **wrong))
    frames, faults = tables(study)
    assert len(frames["calls"]) == 1
    assert frames["runs"].calls_damaged[0] == 1
    assert "exchanges.jsonl: 1 damaged line" in faults[0]


# what is not whole


def test_what_was_cut_off_or_damaged_has_a_row_and_a_word(study):
    held(study, mixed("whole"), exchange())
    study.plan(mixed("cut").session)
    study.record("cut", exchange())
    held(study, mixed("torn"), exchange())
    (study.path("torn") / "run.json").write_text('{"schema": 1')
    held(study, mixed("planless"), exchange())
    (study.path("planless") / "session.json").unlink()
    held(study, mixed("strange"), exchange())
    (study.path("strange") / "session.json").write_text("{}")
    study.write_scores(
        "dri",
        1,
        [
            Score("dri", "run", name, math.nan, "pre", note="missing_answer")
            for name in ("whole", "strange", "lost")
        ],
    )
    with (study.folder / "scores" / "dri.v1.jsonl").open("a") as file:
        file.write('{"measure": "dri"}\nnull\n')
    frames, faults = tables(study)
    runs = frames["runs"].set_index("session")
    assert runs.status.to_dict() == {
        "whole": "complete",
        "cut": "no run",
        "torn": "damaged",
        "planless": "damaged",
        "strange": "damaged",
    }
    assert set(runs[runs.fault.notna()].index) == {"torn", "planless", "strange"}
    assert runs[runs.status != "complete"].answers_missing.isna().all(), "unknown is not none"
    assert runs.treatment["torn"] == "basic"
    assert set(frames["responses"].session) == {"whole"}
    assert len(frames["calls"]) == 5
    assert len(faults) == 4
    assert any("dri.v1.jsonl: 2 damaged lines" in fault for fault in faults)
    assert list(frames["scores"].session) == ["whole", "strange", "lost"]
    assert frames["scores"].value.isna().all()
    assert list(frames["scores"].note) == ["missing_answer"] * 3


def test_frames_have_the_same_types_with_and_without_rows(study, tmp_path):
    held(study, mixed(), exchange())
    study.write_scores("dri", 1, [Score("dri", "run", "one", 0.5, "pre")])
    empty = Runs(tmp_path / "empty", "none")
    for table, frame in of(study).items():
        assert frame.dtypes.to_dict() == of(empty)[table].dtypes.to_dict()


def test_a_collective_statement_has_tables_of_its_own(study):
    run = a_run_with_consensus("one")
    rule = ConsensusRule("schulze", "schulze", texts={})
    held(study, replace(run, session=replace(run.session, consensus=rule)))
    frames = of(study)
    written, votes = frames["consensus_texts"], frames["consensus_votes"]
    assert list(written.kind) == ["position"] * 5 + ["candidate"] * 2
    assert list(written.won[5:]) == ["first", None]
    assert len(votes) == 10
    assert votes["rank"].isna().sum() == 2
    assert set(votes.reason.dropna()) == {"refusal"}
    given = votes.dropna(subset=["rank"])
    for row in given.itertuples():
        (ranking,) = (one for one in run.consensus.first.cast if one.participant == row.participant)
        assert (row.rank, row.agreement) == (
            ranking.ranks[row.text_id],
            ranking.agreement[row.text_id],
        )
