"""Codes and samples: a level, or a reason why there is none."""

import pytest

from delibsim.domain.coding import Code, Sample
from delibsim.domain.reason import Reason

REFUSED = Reason("refusal", "the model declined")


def test_a_sample_has_a_level_or_a_reason():
    assert Sample("t1", "h", "reasons", "m", 1, 0).level == 0
    assert Sample("t1", "h", "reasons", "m", 1, None, missing=REFUSED).missing == REFUSED
    for level, missing in ((None, None), (0, REFUSED)):
        with pytest.raises(ValueError, match="t1, reasons, m 1"):
            Sample("t1", "h", "reasons", "m", 1, level, missing=missing)


def test_a_code_has_a_level_or_a_reason():
    assert Code("t1", "reasons", "Ann", "human", 2).missing is None
    for level, missing in ((None, None), (0, REFUSED)):
        with pytest.raises(ValueError, match="t1, reasons, Ann"):
            Code("t1", "reasons", "Ann", "human", level, missing)
