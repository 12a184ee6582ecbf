"""`delibsim code schemes`: lists, prints, and checks schemes."""

import pytest

from delibsim import Library

SMALL = """\
id: tone
name: "Tone \\u001b[31mred"
dimensions:
  - id: warmth
    name: Warmth
    scale: nominal
    steps: [Read it twice.]
    levels:
      - {value: cold, anchor: "Cold words\\u202e."}
      - {value: warm, anchor: Warm words.}
"""


@pytest.fixture
def own(home):
    """A scheme of the user's own, whose texts would command a terminal."""
    (home / "schemes").mkdir()
    place = home / "schemes" / "tone.yaml"
    place.write_text(SMALL, encoding="utf-8")
    return place


def test_schemes_are_listed(delibsim, own):
    answer = delibsim("list", "schemes")
    assert answer.code == 0
    named = [line.split()[0] for line in answer.out.splitlines() if not line.startswith(" ")]
    assert named == ["id", "complaint", "dqi3", "dqi3_strict", "tone"]
    listed = delibsim("list", "schemes", "--json").json
    assert [scheme["id"] for scheme in listed] == named[1:]


def test_a_scheme_is_printed_whole(delibsim, home):
    answer = delibsim("list", "schemes", "dqi3")
    scheme = Library(home).scheme("dqi3")
    assert answer.code == 0
    assert f"SHA-256 {scheme.sha256}" in answer.out
    for dimension in scheme.dimensions:
        for text in (dimension.full, dimension.use, dimension.not_use):
            assert text in answer.out
        for level in dimension.levels:
            assert f"{level.value} {level.name}: {level.anchor}" in answer.out
        for example in dimension.examples:
            assert f"example of {example.level}: {example.text}" in answer.out
    assert "texts: of 20 words or more" in answer.out
    assert "only texts of 30 words or more" in answer.out
    assert "in doubt between two neighbouring levels: the lower" in answer.out
    assert delibsim("list", "schemes", "dqi3", "--json").json["sha256"] == scheme.sha256


@pytest.mark.parametrize("name", ["tone", "schemes/tone.yaml"])
def test_what_a_file_says_commands_no_terminal(delibsim, own, name):
    answer = delibsim("list", "schemes", name)
    assert answer.code == 0
    assert "\x1b" not in answer.out
    assert "\u202e" not in answer.out
    assert "cold: Cold words." in answer.out
    assert "step 1: Read it twice." in answer.out


@pytest.mark.parametrize("name", ["tone", "schemes/tone.yaml"])
def test_a_wrong_scheme_is_refused_with_all_its_faults(delibsim, own, name):
    wrong = SMALL.replace("value: warm", "value: cold").replace("id: warmth", "id: Warm th")
    own.write_text(wrong, encoding="utf-8")
    answer = delibsim("list", "schemes", name)
    assert (answer.code, answer.out) == (2, "")
    assert "tone.yaml, line 4, field dimensions[1].id: cannot be an id" in answer.err
    assert "tone.yaml, line 10, field dimensions[1].levels[2].value" in answer.err
    listed = delibsim("list", "schemes")
    assert (listed.code, "complaint" in listed.out) == (3, True)
    assert "left out:" in listed.err


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("dqi", "unknown scheme 'dqi'; did you mean dqi3?"),
        ("nowhere/dqi3.yaml", "cannot be read: No such file"),
    ],
)
def test_a_scheme_that_is_not_there_is_named(delibsim, home, name, fault):
    answer = delibsim("list", "schemes", name)
    assert answer.code == 2
    assert fault in answer.err
