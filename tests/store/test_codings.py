"""Codes on disk come back as they were, the level 0 among them; what is no code is named."""

from dataclasses import replace

import pytest

from delibsim.domain.coding import Code, Sample
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, Level, Scheme
from delibsim.store.answers import Codings, scheme_to_plain, schemes_of
from delibsim.store.files import append_line
from delibsim.store.runs import Runs

ORDERED = Dimension("reasons", "Reasons", "ordinal", (Level(0, "no", "No."), Level(1, "yes", "A.")))
NAMED = Dimension("kind", "Kind", "nominal", (Level("a", "a", "A."), Level("b", "b", "B.")))
SCHEME = Scheme("plain", "Plain", "own", "1", (ORDERED, NAMED))


@pytest.fixture
def codings(tmp_path):
    found = Codings.of(Runs(tmp_path, "s"), SCHEME.id)
    found.files.settle({"scheme": scheme_to_plain(SCHEME)})
    return found


def test_what_was_kept_is_read(codings, tmp_path):
    samples = [
        Sample("t1", "hash", "reasons", "m", 1, 0, "No reason is given."),
        Sample("t1", "hash", "kind", "m", 1, "a"),
        Sample("t1", "hash", "kind", "m", 2, None, missing=Reason("refusal", "no: never")),
    ]
    people = [
        Code("t1", "reasons", "Ann", "human", 0, training=True),
        Code("t1", "reasons", "Ben", "human", None, Reason("not_given")),
    ]
    codings.add(samples)
    codings.add(people, people=True)
    assert codings.all() == samples
    assert codings.people() == people
    assert codings.scheme() == SCHEME
    assert schemes_of(Runs(tmp_path, "s")) == ["plain"]


def test_lines_that_are_no_samples_are_counted_and_the_others_read(codings):
    good = Sample("t1", "hash", "reasons", "m", 1, 0, "No reason is given.")
    append_line(codings.files.annotations, {"text": "t1", "level": 1})
    codings.add([good, replace(good, index=2, rationale="half \ud83d of one")])
    faults = []
    assert codings.all(faults) == [good]
    assert faults == [f"{codings.files.annotations}: 2 damaged lines"]
