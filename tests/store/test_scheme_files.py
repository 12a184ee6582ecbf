"""Schemes from files: what is shipped, what is refused and where, and the user's before ours."""

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delibsim import Library, WrongInput
from delibsim.store.instruments.scheme_files import read_scheme

SMALL = """\
id: tone
name: Tone
dimensions:
  - id: warmth
    name: Warmth
    scale: ordinal
    levels:
      - {value: 0, anchor: Cold words., name: cold}
      - {value: 1, anchor: Warm words.}
    examples:
      - {text: Dear all, level: 1}
"""


@pytest.fixture
def package(tmp_path):
    """The package alone, as a user without files of their own sees it."""
    return Library(tmp_path)


def put(folder, text, name="tone"):
    place = folder / "schemes" / f"{name}.yaml"
    place.parent.mkdir(exist_ok=True)
    place.write_text(textwrap.dedent(text), encoding="utf-8")
    return place


def refusal(path):
    with pytest.raises(WrongInput) as caught:
        read_scheme(path)
    return str(caught.value).replace(f"{path}, ", "").splitlines()


def test_three_schemes_are_shipped(package):
    assert set(package.schemes()) == {"complaint", "dqi3", "dqi3_strict"}
    levels = {one.id: one.values for one in package.scheme("dqi3").dimensions}
    assert levels == {
        "justification": (0, 1, 2, 3),
        "groups": (0, 1, 2),
        "counterarguments": (0, 1, 2),
    }
    scales = {dimension.scale for dimension in package.scheme("complaint").dimensions}
    assert scales == {"nominal"}


@pytest.mark.parametrize("id", ["dqi3", "dqi3_strict"])
def test_an_entry_of_the_index_has_six_parts_and_examples_of_every_level(package, id):
    scheme = package.scheme(id)
    assert (scheme.least_words, scheme.lower_in_doubt) == (20, True)
    for dimension in scheme.dimensions:
        entry = (dimension.brief, dimension.full, dimension.use, dimension.not_use)
        assert all(entry), dimension.id
        assert {example.level for example in dimension.examples} == set(dimension.values)
        least = max(scheme.least_words, dimension.least_words)
        for example in dimension.examples:
            assert len(example.text.split()) >= least, example.text
    assert scheme.dimension("justification").least_words == 30


def test_the_strict_scheme_differs_on_counterarguments_alone(package):
    loose, strict = package.scheme("dqi3"), package.scheme("dqi3_strict")
    assert loose.dimensions[:2] == strict.dimensions[:2]
    assert loose.dimensions[2] != strict.dimensions[2]
    assert loose.sha256 != strict.sha256


def test_the_users_scheme_comes_before_ours(package, tmp_path):
    put(tmp_path, SMALL)
    put(tmp_path, SMALL.replace("id: tone", "id: dqi3"), "dqi3")
    assert package.scheme("tone").dimension("warmth").levels[1].name == "1"
    assert package.scheme("dqi3").name == "Tone"


def test_a_file_of_another_kind_is_no_scheme(package, tmp_path):
    path = put(tmp_path, "kind: dimension\nid: tone\n")
    assert "tone" not in package.schemes()
    assert refusal(path) == [
        "line 1, field kind: is 'dimension', so the file holds no scheme (kind: scheme)"
    ]


FAULTY = """\
id: other
id: Tone
name: ""
kidn: scheme
texts: {least_words: 9, most_words: 3}
dimensions:
  - id: warmth
    name: Warmth
    scale: ordinal
    levels:
      - {value: 0, anchor: Cold., name: cold}
      - {value: 2, anchor: Warm., name: warm}
      - {value: 2, name: hot}
      - {value: true, anchor: Odd.}
    examples:
      - {text: Dear all, level: 7}
  - id: warmth
    name: Again
    scale: nominal
    levels:
      - {value: 1, anchor: One.}
  - name: Nameless
    scale: cardinal
    levels:
      - {value: a, anchor: "A"}
      - {value: b, anchor: "B"}
  - id: degree
    name: Degree
    scale: interval
    levels:
      - {value: 1.5, anchor: Some.}
      - {value: 0.5, anchor: Less.}
      - {value: .nan, anchor: Unknown.}
"""


def test_all_faults_of_a_file_are_told_with_their_lines(tmp_path):
    told = "\n".join(refusal(put(tmp_path, FAULTY)))
    for fault in (
        'line 2: found duplicate key "id"',
        "line 1, field id: cannot be an id",
        "line 3, field name: is empty",
        "line 4, field kidn: is not a field here; fields are: id, name, dimensions",
        "line 5, field texts.most_words: is 3, fewer than least_words (9)",
        "line 12, field dimensions[1].levels[2].value: ordinal levels follow one another",
        "line 13, field dimensions[1].levels[3].anchor: is missing",
        "line 13, field dimensions[1].levels[3].value: levels of a dimension must be unique",
        "line 14, field dimensions[1].levels[4].value: expected a number",
        "line 16, field dimensions[1].examples[1].level: there is no level 7 here",
        "line 17, field dimensions[2].id: dimension ids must be unique",
        "line 20, field dimensions[2].levels: list should have at least 2 items",
        "line 21, field dimensions[2].levels[1].value: levels of a nominal dimension are names",
        "line 22, field dimensions[3].id: is missing",
        "line 23, field dimensions[3].scale: input should be 'ordinal', 'nominal' or 'interval'",
        "line 32, field dimensions[4].levels[2].value: interval levels stand in order",
        "line 33, field dimensions[4].levels[3].value: expected a finite number",
    ):
        assert fault in told, f"{fault}\n---\n{told}"


def test_the_id_is_the_name_of_the_file(tmp_path):
    path = put(tmp_path, SMALL, "tune")
    assert refusal(path) == [
        "line 1, field id: is 'tone', but the place of the file says 'tune'; make them equal"
    ]


@settings(max_examples=50, deadline=None)
@given(
    scale=st.sampled_from(["ordinal", "nominal", "interval"]),
    values=st.lists(
        st.one_of(st.integers(-2, 3), st.floats(-2, 3), st.booleans(), st.sampled_from("abc ")),
        min_size=2,
        max_size=4,
    ),
)
def test_whatever_the_levels_they_are_read_or_refused_with_a_line(tmp_path_factory, scale, values):
    """No combination of scale and levels reaches the noun that would refuse it without a line."""
    levels = "".join(f"      - {{value: {plain(value)}, anchor: A.}}\n" for value in values)
    text = f"id: tone\nname: T\ndimensions:\n  - id: one\n    name: O\n    scale: {scale}\n"
    path = tmp_path_factory.mktemp("any") / "tone.yaml"
    path.write_text(f"{text}    levels:\n{levels}", encoding="utf-8")
    fault = ""
    try:
        read_scheme(path)
    except WrongInput as error:
        fault = str(error)
    assert not fault or f"{path}, line " in fault


def plain(value):
    """A value as YAML writes it."""
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
