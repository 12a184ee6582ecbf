"""`delibsim list`: what a setting can be, one with its file, and files of one's own checked."""

import pandas as pd
import pytest
from cases import cases_of

from delibsim import Library
from delibsim.domain.score import MEASURES
from delibsim.plugins import names

CASES = cases_of(__file__)

TWELVE = set(
    "fnqcj uppsala_speaks fremantle ccps zukunft energy_futures forestera auscj biobanking_wa"
    " swiss_health bep acp".split()
)
SCHEME = """\
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
DIMENSION = """\
kind: dimension
id: tone
name: "Polite \\u001b[31mred"
adverb: politely
definition: How polite a text is.
criteria: [Which of the two texts is more polite?]
"""
EXAMPLES = """\
examples:
  - {answer: Tie, a: One., b: Two., why: Both say little.}
  - {answer: b, a: Three., b: Four., why: The second says more.}
  - {answer: A, a: Five., b: Six., why: The first says more.}
"""
TOPIC = 'id: tone\nquestion: "\\e[31mred [bold]loud[/bold]?"\n'
OWN = {"schemes": SCHEME, "dimensions": DIMENSION, "topics": TOPIC}
SHIPPED = {
    "topics": ({"ccps", "plastics", "ai_art_harm"}, "ccps", "ccsp"),
    "surveys": (TWELVE, "ccps", "forestra"),
    "schemes": ({"complaint", "dqi3", "dqi3_strict"}, "dqi3", "dqi"),
    "dimensions": ({"dialectical", "logical", "rhetorical"}, "logical", "logic"),
    "models": ({"citizen", "local", "person"}, "citizen", "citizn"),
    "treatments": ({"none", "basic", "normative"}, "normative", "normativ"),
    "wordings": ({"coding", "oxford"}, "oxford", "oxfrd"),
    "groups": ({"default", "five_families"}, "default", "defalt"),
    "experiments": ({"smoke", "oxford"}, "smoke", "smke"),
    "personas": ({"none", "values"}, "values", "valeus"),
    "measures": (set(MEASURES), "dri", "drii"),
    "scorers": (set(names("delibsim.scorers")), "dri", "drii"),
}


def put(home, kind, text, name="tone"):
    folder = home / {"dimensions": "schemes"}.get(kind, kind)
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return f"{folder.name}/{name}.yaml"


@pytest.mark.parametrize("kind", SHIPPED)
def test_what_there_is_is_listed_and_one_is_printed_with_its_file(delibsim, kind):
    some, one, wrong = SHIPPED[kind]
    listed = delibsim("list", kind)
    assert (listed.code, listed.err) == (0, "")
    plain = delibsim("list", kind, "--json").json
    assert some <= {entry.get("id") or entry["scorer"] for entry in plain}
    assert all(name in listed.out for name in some)
    assert "@package" not in listed.out  # a line for Hydra alone
    shown = delibsim("list", kind, one)
    assert (shown.code, one in shown.out) == (0, True)
    assert delibsim("list", kind, one, "--json").code == 0
    unknown = delibsim("list", kind, wrong)
    assert (unknown.code, unknown.out) == (2, "")
    assert one in unknown.err


@pytest.mark.parametrize(("kind", "name"), [("schemes", "dqi3"), ("dimensions", "logical")])
def test_what_texts_are_coded_by_has_a_hash(delibsim, home, kind, name):
    library = Library(home)
    one = library.scheme(name) if kind == "schemes" else library.dimension(name)
    assert f"SHA-256 {one.sha256}" in delibsim("list", kind, name).out
    assert delibsim("list", kind, name, "--json").json["sha256"] == one.sha256


@pytest.mark.parametrize("kind", OWN)
def test_what_a_file_of_ones_own_says_commands_no_terminal(delibsim, home, kind):
    file = put(home, kind, OWN[kind])
    names = ["tone"] if kind == "topics" else ["tone", file]
    for words in ([], *([name] for name in names)):
        answer = delibsim("list", kind, *words)
        assert answer.code == 0
        assert "\x1b" not in answer.out
        assert "\u202e" not in answer.out
        assert "tone" in answer.out


@pytest.mark.parametrize("kind", ["topics", "surveys", "schemes", "dimensions"])
def test_a_broken_file_of_ones_own_is_named_with_its_line(delibsim, home, kind):
    broken = "kind: dimension\nid: mine\nbackground: [\n" if kind == "dimensions" else "id: mine\n["
    file = put(home, kind, broken, "mine")
    answer = delibsim("list", kind)
    some, one, _ = SHIPPED[kind]
    if kind != "dimensions":  # one that cannot be read is taken for a scheme
        assert answer.code == 3
        assert f"left out: {file}, line" in answer.err.replace(f"{home}/", "")
    assert all(name in answer.out for name in some)
    assert delibsim("list", kind, "mine").code == 2
    assert delibsim("list", kind, one).code == 0


@pytest.mark.parametrize("name", ["tone", "schemes/tone.yaml"])
def test_a_wrong_scheme_is_refused_with_all_its_faults(delibsim, home, name):
    wrong = SCHEME.replace("value: warm", "value: cold").replace("id: warmth", "id: Warm th")
    put(home, "schemes", wrong)
    answer = delibsim("list", "schemes", name)
    assert (answer.code, answer.out) == (2, "")
    assert "tone.yaml, line 4, field dimensions[1].id: cannot be an id" in answer.err
    assert "tone.yaml, line 10, field dimensions[1].levels[2].value" in answer.err
    assert "cannot be read: No such file" in delibsim("list", "schemes", "no/dqi3.yaml").err


@pytest.mark.parametrize(("change", "told"), CASES["a_wrong_dimension_is_refused_with_its_lines"])
def test_a_wrong_dimension_is_refused_with_its_lines(delibsim, home, change, told):
    file = put(home, "dimensions", (DIMENSION + EXAMPLES).replace(*change))
    answer = delibsim("list", "dimensions", file)
    assert answer.code == 2
    assert told in answer.err


def test_dimensions_are_no_schemes_and_those_beside_the_user_come_first(home):
    library = Library(home)
    shipped = SHIPPED["dimensions"][0]
    assert set(library.dimensions()) == shipped
    assert not shipped & set(library.schemes())
    counts = {id: len(library.dimension(id).criteria) for id in shipped}
    assert counts == {"logical": 3, "rhetorical": 5, "dialectical": 3}
    for id in shipped:
        found = library.dimension(id).examples
        assert sorted(one.answer for one in found) == ["a", "b", "tie"]
    put(home, "dimensions", (DIMENSION + EXAMPLES).replace("id: tone", "id: logical"), "logical")
    own = Library(home).dimension("logical")
    assert (own.adverb, [one.answer for one in own.examples]) == ("politely", ["tie", "b", "a"])


def test_results_of_all_studies_are_printed_and_written(delibsim, study, home):
    answer = delibsim("list", "results", "-o", "models.csv")
    assert "s: its estimates: delibsim score s" in answer.err
    assert answer.code == 3
    assert delibsim("score", "s").code == 0
    answer = delibsim("list", "results", "-o", "models.csv")
    assert answer.code == 0, answer.err
    assert "null citizen" in answer.out
    assert "Models whose intervals overlap are not told apart" in answer.out
    (row, people) = pd.read_csv(home / "models.csv").to_dict("records")
    assert (row["who"], people["who"]) == ("null citizen", "people, published")
    assert row["studies"] == "s"
