"""Reasons as fields, and the text of files."""

import pytest
from hypothesis import given
from strategies import reasons

from delibsim.domain.reason import Reason, reason_from_text


@given(reasons)
def test_a_reason_is_read_back_from_its_text(reason):
    assert reason_from_text(str(reason)) == reason


@pytest.mark.parametrize(
    ("text", "code", "detail"),
    [
        ("refusal", "refusal", ""),
        ("unreadable: C1 is missing; C2: 9", "unreadable", "C1 is missing; C2: 9"),
        ("no reason was recorded", "no reason was recorded", ""),
    ],
)
def test_texts_of_files_are_read_and_written_alike(text, code, detail):
    reason = reason_from_text(text)
    assert reason == Reason(code, detail)
    assert str(reason) == text
