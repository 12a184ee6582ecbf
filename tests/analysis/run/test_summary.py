"""The parts of a run's summary, from runs that are made here."""

from math import nan

import pytest

from delibsim import compose
from delibsim.analysis.run.summary import (
    flags_of,
    is_null,
    missing,
    not_instructed,
    notes,
    speeches,
    stances,
    undefined,
    values_of,
)
from delibsim.domain.score import MEASURES, Score
from delibsim.testing import a_debate, a_run

SHOWN = {name: MEASURES[name] for name in ("dri", "dri_relative", "opinion_change_c")}


def test_values_stand_by_measure_and_phase_and_undefined_ones_have_their_reason():
    scores = [
        Score("dri", "run", "a", 0.5, "pre"),
        Score("dri", "run", "a", nan, "post", note="too_few"),
        Score("dri", "participant", "a/b", 0.1, "pre"),
        Score("dri_relative", "run", "a", 0.2, "change"),
        Score("opinion_change_c", "run", "a", 1.5),
    ]
    values = values_of(scores, SHOWN)
    assert set(values) == {"dri", "opinion_change_c"}, "dri_relative is not in the summary"
    assert (values["dri"]["pre"], values["opinion_change_c"]) == (0.5, {"value": 1.5})
    assert undefined(scores, SHOWN) == {"dri.post": "too_few"}


def test_only_flags_that_were_raised_are_named():
    scores = [Score("flags.refusal", "run", "a", 2.0), Score("flags.link", "run", "a", 0.0)]
    assert flags_of(scores) == {"refusal": 2}


def test_what_is_missing_is_one_entry_an_occasion_and_reason():
    run = a_run(missing=("Participant 2",))
    entry = {"participant": "Participant 2", "occasion": "post", "answers": 10}
    assert missing(run) == [entry | {"reason": "refusal"}]
    silence = missing(a_debate(speeches=3))[-1]
    assert (silence["answers"], silence["reason"]) == (0, "refusal: I would rather not.")
    assert silence["occasion"].startswith("turn ")


def test_a_debate_has_speeches_and_stances():
    run = a_debate()
    assert [speech["task"] for speech in speeches(run)] == [s.turn.task for s in run.transcript]
    assert all(speech["words"] == len(speech["text"].split()) for speech in speeches(run))
    people = [respondent.id for respondent in run.session.respondents]
    assert [name for name, *_ in stances(run)] == people
    for name, before, after in stances(run):
        assert before == run.response(name, "pre").answers["S1"]
        assert after == run.response(name, "post").answers["S1"]


@pytest.mark.parametrize(
    ("words", "null", "deaf"),
    [
        (("treatment=normative",), True, ["citizen"]),
        (("treatment=none",), True, []),
        (("group.models=[citizen,citizen_open]",), True, ["citizen", "citizen_open"]),
        (("model=gpt_5_1",), False, []),
    ],
)
def test_a_group_of_citizens_is_a_null_model_and_reads_no_instructions(tmp_path, words, null, deaf):
    session = compose("topic=ccps", *words, home=tmp_path)
    assert is_null(session) is null
    assert not_instructed(session) == deaf


def test_notes_call_measures_and_phases_as_the_table_does(a_summary):
    told = notes(a_summary, MEASURES)
    assert ("Undefined", "Deliberative Reason Index after: too_few") in told
    assert ("Missing", "Ann, before: 3 answers (refusal)") in told
    assert ("Missing", "Ann, turn 2: statement (timeout: none)") in told
    assert told[-1] == ("Calls", "2: 2 ok; 0 USD spent, 1 call of unknown cost")


@pytest.fixture
def a_summary():
    """A summary as plain values, in which something is missing."""
    gaps = [("pre", 3, "refusal"), ("turn 2", 0, "timeout: none")]
    calls = {"parameters_dropped": {}, "repeated_response_ids": None, "by_status": {"ok": 2}}
    return {
        "format": "deliberation",
        "measures": {"dri": {}},
        "undefined": {"dri.post": "too_few"},
        "missing": [
            {"participant": "Ann", "occasion": occasion, "answers": n, "reason": reason}
            for occasion, n, reason in gaps
        ],
        "flags": {},
        "scale_reversed": [],
        "transcript_window": None,
        "survey": {"id": "tea", "validated": True},
        "human": None,
        "topic": {"id": "tea"},
        "models": {"m": "openai_compatible"},
        "instructions_without_effect_on": [],
        "calls": calls | {"recorded": 2, "cost_usd": None, "money": {"unknown": 1}},
        "already_held": False,
    }
