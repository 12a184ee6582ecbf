"""One thing varies: on every page a person sees what a model in her seat is told, and nothing else that
bears on the question. The pages are the server's own, of every treatment, format and role.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from told_alike import BEGIN, CASES, END, HOSTING, beside, check, instructions_of, shots_of


@pytest.mark.parametrize("case", CASES)
def test_a_person_sees_what_a_model_is_told_and_nothing_else(case, tmp_path):
    settings = CASES[case]
    asked = check(shots_of(settings, tmp_path), instructions_of(settings, tmp_path))
    occasions = {shot.occasion.split()[0] for shot in asked}
    expected = {
        "none": {"pre", "post"},
        "consensus": {"pre", "turn", "post", "position", "vote", "critique"},
        "proposition": {"turn"},
        "listeners": {"pre", "post"},
    }
    assert occasions == expected.get(case, {"pre", "turn", "post"})


def test_the_guide_shows_a_prompt_and_a_page_beside_each_other_as_they_are(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "people.md").read_text(encoding="utf-8")
    shown = page.partition(BEGIN)[2].partition(END)[0]
    assert shown.strip() == beside(tmp_path).strip(), "make it anew: python tests/told_alike.py"


def test_instructions_that_are_declared_to_stand_open_are_never_folded(tmp_path):
    settings = CASES["normative"]
    shots = shots_of(settings, tmp_path, replace(HOSTING, instructions="open"))
    assert check(shots, instructions_of(settings, tmp_path), folds=False)
