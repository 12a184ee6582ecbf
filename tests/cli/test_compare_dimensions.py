"""`delibsim compare dimensions`: lists, prints, and checks dimensions; they are no schemes."""

import pytest

from delibsim import Library

OWN = """\
kind: dimension
id: polite
name: "Polite \\u001b[31mred"
adverb: politely
definition: How polite a text is.
criteria: [Which of the two texts is more polite?]
"""
SHIPPED = {"dialectical", "logical", "rhetorical"}


def put(home, text, name="polite"):
    (home / "schemes").mkdir(exist_ok=True)
    (home / "schemes" / f"{name}.yaml").write_text(text, encoding="utf-8")


def test_three_dimensions_are_shipped_and_none_is_a_scheme(home):
    library = Library(home)
    assert set(library.dimensions()) == SHIPPED
    assert not SHIPPED & set(library.schemes())
    counts = {id: len(library.dimension(id).criteria) for id in SHIPPED}
    assert counts == {"logical": 3, "rhetorical": 5, "dialectical": 3}


def test_dimensions_are_listed_and_printed(delibsim, home):
    put(home, OWN)
    answer = delibsim("list", "dimensions")
    assert answer.code == 0
    assert "\x1b" not in answer.out
    listed = [one["id"] for one in delibsim("list", "dimensions", "--json").json]
    assert listed == ["dialectical", "logical", "polite", "rhetorical"]
    logical = Library(home).dimension("logical")
    printed = delibsim("list", "dimensions", "logical").out
    assert all(text in printed for text in (*logical.criteria, logical.definition, logical.sha256))
    assert delibsim("list", "dimensions", "logical", "--json").json["sha256"] == logical.sha256


def test_a_dimension_beside_the_user_comes_first(home):
    put(home, OWN.replace("polite\n", "logical\n", 1), "logical")
    assert Library(home).dimension("logical").adverb == "politely"


EXAMPLES = """\
examples:
  - {answer: Tie, a: One., b: Two., why: Both say little.}
  - {answer: b, a: Three., b: Four., why: The second says more.}
  - {answer: A, a: Five., b: Six., why: The first says more.}
"""


def test_examples_are_one_each_for_a_b_and_a_tie(delibsim, home):
    for id in SHIPPED:
        found = Library(home).dimension(id).examples
        assert sorted(one.answer for one in found) == ["a", "b", "tie"]
    put(home, OWN + EXAMPLES)
    dimension = Library(home).dimension("polite")
    assert [one.answer for one in dimension.examples] == ["tie", "b", "a"]
    assert "Example, Tie: Both say little." in delibsim("list", "dimensions", "polite").out
    put(home, OWN)
    assert "examples" not in Library(home).dimension("polite").plain()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("answer: b", "answer: a"), "one each with the answer A, B and Tie"),
        (("answer: b", "answer: both"), "expected A, B or Tie"),
        ((", why: Both say little.", ""), "field examples[1].why: is missing"),
    ],
)
def test_wrong_examples_are_refused(delibsim, home, change, told):
    put(home, OWN + EXAMPLES.replace(*change))
    answer = delibsim("list", "dimensions", "schemes/polite.yaml")
    assert answer.code == 2
    assert told in answer.err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("more polite?", "more polite."), "line 6, field criteria[1]: expected a question"),
        (("adverb: politely", "adverb: very politely"), "line 4, field adverb: expected one word"),
        (("id: polite", "id: rude"), "the name of the file says 'polite'"),
        (("definition:", "definitions:"), "field definition: is missing"),
        (("kind: dimension", "kind: scheme"), "holds no dimension"),
    ],
)
def test_a_wrong_file_is_refused_with_its_lines(delibsim, home, change, told):
    put(home, OWN.replace(*change))
    answer = delibsim("list", "dimensions", "schemes/polite.yaml")
    assert answer.code == 2
    assert told in answer.err


def test_an_unknown_dimension_is_told_with_those_that_there_are(delibsim):
    answer = delibsim("list", "dimensions", "logic")
    assert answer.code == 2
    assert "logical" in answer.err
