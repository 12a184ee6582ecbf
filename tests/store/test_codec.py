"""Runs, sessions and scores survive JSON; whatever is no such file is Damaged, with the reason."""

import copy
import dataclasses
import json
import math

import pytest
from cases import cases_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values, quick, runs, scores

from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score
from delibsim.store import codec
from delibsim.store.codec import (
    SCHEMA,
    Damaged,
    differences,
    run_from_json,
    run_to_json,
    score_from_plain,
    score_to_plain,
    session_from_json,
    session_to_json,
    session_to_plain,
)
from delibsim.testing import a_run

CASES = cases_of(__file__)

RUN = json.loads(run_to_json(a_run()))


def changed(*path, value=None, drop=False):
    """The JSON text of a good run with one place changed or left out."""
    plain = copy.deepcopy(RUN)
    place = plain
    for step in path[:-1]:
        place = place[step]
    if drop:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(plain)


def damage(text):
    with pytest.raises(Damaged) as caught:
        run_from_json(text)
    return str(caught.value)


# There and back


@quick
@given(runs())
def test_a_run_survives_json(run):
    text = run_to_json(run)
    again = run_from_json(text)
    assert again == run
    assert (again.provenance, again.dropped) == (
        run.provenance,
        run.dropped,
    )  # which equality leaves out
    assert run_from_json(text.encode()) == run
    assert run_to_json(again) == text


@quick
@given(scores)
def test_a_score_survives_json_and_only_nan_is_null(score):
    plain = json.loads(json.dumps(score_to_plain(score), allow_nan=False))
    assert (plain["value"] is None) == math.isnan(score.value)
    again = score_from_plain(plain)
    assert repr(again) == repr(score)  # in which NaN equals NaN


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_json_number_is_never_written(number):
    run = a_run()
    odd = dataclasses.replace(
        run,
        session=dataclasses.replace(
            run.session, models={"citizen": {"kind": "citizen", "noise": number}}
        ),
    )
    for write, thing in ((run_to_json, odd), (session_to_json, odd.session)):
        with pytest.raises(ValueError, match="(?i)nan|inf|json"):
            json.loads(write(thing), parse_constant=refused)


def refused(constant):
    """NaN and Infinity, which Python writes and reads, and which are no JSON."""
    raise ValueError(f"{constant} is no JSON")


# Damage


@pytest.mark.parametrize("schema", [0, 2, SCHEMA + 1, "1", None, 1.5, [1]], ids=repr)
def test_another_schema_is_never_misread(schema):
    assert f"another schema than {SCHEMA}" in damage(changed("schema", value=schema))


def test_a_run_cut_off_anywhere_is_damaged():
    text = run_to_json(a_run(participants=2)).rstrip("\n")
    for cut in range(0, len(text), 7):
        assert damage(text[:cut]).startswith("not JSON: ")


def test_json_of_any_depth_is_damaged_and_no_crash():
    for text in (
        '{"schema": 1, "session": ' + "[" * 100_000,
        '{"a":' * 100_000,
        f'{{"schema": {"9" * 5000}}}',
    ):
        assert damage(text)


@pytest.mark.parametrize(("path", "value", "named"), CASES["a_wrong_type_is_named"])
def test_a_wrong_type_is_named(path, value, named):
    assert damage(changed(*path, value=value)).startswith(f"{named}: ")


@pytest.mark.parametrize(
    "path",
    [("session",), ("responses",), ("transcript",), ("status",), ("session", "survey", "items")],
)
def test_a_missing_part_is_named(path):
    assert damage(changed(*path, drop=True)).startswith(f"{'.'.join(path)}: ")


def test_sessions_are_read_as_strictly_as_runs():
    plain = {"schema": SCHEMA, **session_to_plain(a_run().session)}
    assert session_from_json(json.dumps(plain)) == a_run().session
    for wrong in ({**plain, "schema": 2}, {**plain, "seed": "1"}, {**plain, "survey": None}, RUN):
        with pytest.raises(Damaged):
            session_from_json(json.dumps(wrong))


SCORE = score_to_plain(Score("dri", "run", "demo", 0.25, "pre"))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"value": "high"}, "value"),
        ({"value": "0.5"}, "value"),
        ({"value": True}, "value"),
        ({"value": [0.5]}, "value"),
        ({"unit": "planet"}, "unit"),
        ({"target": 3}, "target"),
        ({"measure": None}, "measure"),
    ],
    ids=str,
)
def test_a_wrong_score_is_named(change, named):
    with pytest.raises(Damaged, match=f"^{named}: "):
        score_from_plain(SCORE | change)


# The quick way, and the one that says what is wrong


def places(plain, at=()):
    """The path of every value within a plain value."""
    inner = plain.items() if isinstance(plain, dict) else enumerate(plain)
    for step, value in inner:
        yield (*at, step)
        if isinstance(value, dict | list):
            yield from places(value, (*at, step))


def as_written(plain):
    """Plain values as the text of a file that was written here."""
    return json.dumps(plain, indent=1).encode() + b"\n"


def outcome(read, text):
    try:
        return repr(read(text))
    except Damaged as error:
        return f"damaged: {error}"


ODD = st.sampled_from(
    [None, True, 1, 1.0, 10**30, math.nan, math.inf, "", "1", "\ud800", [], {}, [[]]]
)


@given(st.sampled_from(list(places(RUN))), ODD | json_values, st.booleans())
def test_a_changed_run_is_read_or_refused_as_it_is_without_what_is_remembered(path, value, drop):
    text = changed(*path, value=value, drop=drop)
    for once in range(2):
        slow = outcome(lambda text: codec.sharing(codec._read(Run, text)), text)
        assert outcome(run_from_json, text) == slow, once
    plain = json.loads(text)
    assert outcome(run_from_json, as_written(plain)) == slow
    if isinstance(plain.get("session"), dict):
        text = json.dumps({"schema": plain.get("schema"), **plain["session"]})
        slow = outcome(lambda text: codec.shared(codec._read(Session, text)), text)
        assert outcome(session_from_json, text) == slow
        assert outcome(session_from_json, as_written(json.loads(text))) == slow


@pytest.mark.parametrize(
    ("line", "more"),
    [
        (b' "replicate": 1,\n', b' "replicate": 2,\n'),
        (b' "format": "deliberation",\n', b' "\\u0069d": "other",\n'),
        (b' "format": "deliberation",\n', b' "format": "debate",\n'),
    ],
)
def test_of_a_field_that_stands_twice_the_last_counts(line, more):
    text = as_written({"schema": 1, **RUN["session"]})
    assert line in text
    text = text.replace(line, line + more)
    slow = outcome(lambda text: codec.shared(codec._read(Session, text)), text)
    assert outcome(session_from_json, text) == slow


@pytest.mark.parametrize("levels", [50, 58, 59, 60, 61, 62, 63, 64, 65, 190, 210])
def test_settings_of_a_model_may_be_nested_as_deep_as_any_json(levels):
    deep = json.loads("[" * levels + "]" * levels)
    text = changed("session", "models", "citizen", "extra", value=deep)
    read = outcome(run_from_json, text)
    assert read == outcome(lambda text: codec.sharing(codec._read(Run, text)), text)
    assert read.startswith("damaged: not JSON: nested more than 64") == (levels > 60)


# Differences


def test_differences_name_the_place_the_old_and_the_new():
    old = {
        "seed": 1,
        "group": {"size": 5, "names": ["Ann", "Bob"]},
        "gone": "x",
        "same": [1, {"a": None}],
    }
    new = {
        "seed": 2,
        "group": {"size": 5, "names": ["Ann", "Cem"]},
        "same": [1, {"a": None}],
        "more": True,
    }
    assert differences(old, new) == [
        "seed: 1 -> 2", 'group.names[2]: "Bob" -> "Cem"', 'gone: "x" -> null', "more: null -> true",
    ]  # fmt: skip


def test_differences_between_kinds_and_lengths():
    assert differences({"a": [1, 2]}, {"a": [1, 2, 3]}) == ["a: 2 entries -> 3 entries"]
    assert differences({"a": {"b": 1}}, {"a": 1}) == ['a: {"b": 1} -> 1']
    assert differences(1, 2, "seed") == ["seed: 1 -> 2"]


def test_a_long_value_is_cut_and_a_short_one_shown_as_it_is():
    (line,) = differences({"text": "a" * 500}, {"text": "b" * 500})
    assert line == f'text: "{"a" * 76}... -> "{"b" * 76}...'
    assert differences({"text": "次" * 78}, {"text": "ü"}) == [f'text: "{"次" * 78}" -> "ü"']


plain = st.dictionaries(st.text(max_size=4), json_values, max_size=4)


@quick
@given(plain, st.text(max_size=4), st.integers())
def test_any_change_is_found(value, key, number):
    other = {**value, key: number}
    assert bool(differences(value, other)) == (other != value)
