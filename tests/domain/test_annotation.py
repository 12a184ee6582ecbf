"""Panels on paper."""

import pytest

from delibsim.domain.annotation import Coder, Panel
from delibsim.domain.treatment import Wording

WORDING = Wording("plain", {})


@pytest.mark.parametrize("name", ["", " panel", "two\nlines", "<you>"])
def test_a_name_that_could_not_stand_in_a_prompt_is_refused(name):
    with pytest.raises(ValueError, match="printable line"):
        Panel(name, (Coder(name, 1),), {}, WORDING)


def test_coders_of_another_panel_are_refused():
    with pytest.raises(ValueError, match="'a' holds coders of another panel"):
        Panel("a", (Coder("a", 1), Coder("b", 2)), {}, WORDING)
