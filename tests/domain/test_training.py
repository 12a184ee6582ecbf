"""Parts of records: no rater in two of them."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delibsim.domain.errors import WrongInput
from delibsim.domain.summary import PARTS, Record, Triple, parts_by_rater, parts_without

QUESTIONS = ("q1", "q2", "q3")
RECORD = st.builds(
    Record,
    st.builds(Triple, st.sampled_from(QUESTIONS), st.just("o"), st.just("s")),
    st.integers(0, 20).map(lambda n: f"r{n}"),
    st.text("ab", max_size=2),
    st.just({"rep": 0.5}),
)


@given(st.lists(RECORD, min_size=1, max_size=60), st.integers(0, 9))
def test_no_rater_is_in_two_parts_and_no_record_is_lost(records, seed):
    if len({one.rater for one in records}) < 3:
        with pytest.raises(WrongInput, match="at least 3"):
            parts_by_rater(records, seed)
        return
    parts = parts_by_rater(records, seed)
    raters = [{one.rater for one in parts[name]} for name in PARTS]
    assert all(raters)
    assert sum(map(len, raters)) == len(set().union(*raters))
    assert sorted(map(repr, chain.from_iterable(parts.values()))) == sorted(map(repr, records))
    assert parts_by_rater(records, seed) == parts


@given(st.lists(RECORD, min_size=1, max_size=60), st.sampled_from(QUESTIONS))
def test_a_question_left_out_is_the_test_and_nothing_else(records, question):
    try:
        parts = parts_without(records, question, 1)
    except WrongInput:
        test = [one for one in records if one.triple.question == question]
        theirs = {one.rater for one in test}
        assert not test or len({one.rater for one in records} - theirs) < 2
        return
    assert {one.triple.question for one in parts["test"]} == {question}
    rest = [*parts["train"], *parts["validation"]]
    assert question not in {one.triple.question for one in rest}
    raters = [{one.rater for one in parts[name]} for name in PARTS]
    assert all(raters)
    assert sum(map(len, raters)) == len(set().union(*raters))


def test_shares_are_70_10_and_20_percent_of_the_raters():
    records = [Record(Triple("q", "o", "s"), f"r{n}", "i", {}) for n in range(100)]
    assert [len(part) for part in parts_by_rater(records, 3).values()] == [70, 10, 20]
