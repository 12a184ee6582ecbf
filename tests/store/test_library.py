"""Topics, motions and surveys from files: the user's come before those of the package, and errors
name file, line and field.
"""

import re
import textwrap

import pytest
from cases import cases_of

from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import Topic
from delibsim.store.instruments.library import Library

CASES = cases_of(__file__)


@pytest.fixture
def home(tmp_path):
    """The folder of a user who has nothing yet."""
    return tmp_path


@pytest.fixture
def package(tmp_path):
    """The package alone, as a user without files of their own sees it."""
    return Library(tmp_path)


def put(home, place, text):
    """Write one of the user's files; the first line of `text` is its line 1."""
    path = home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return path


def refusal(get, id):
    with pytest.raises(WrongInput) as caught:
        get(id)
    return str(caught.value)


# Where files are looked for

TOPIC = """
    id: tea
    question: Should tea be made in pots?
    background: |
      Some say so.
      Others do not.
    survey: tea
    """
SURVEY = """
    id: tea
    scale_min: -3
    scale_max: 3
    considerations:
      - {id: C1, text: "Pots keep tea warm."}
      - {id: C2, text: "Bags are quicker.", reverse: true}
    preferences:
      - {id: P1, text: "Buy pots."}
      - {id: P2, text: "Buy bags."}
    """
PLAIN = textwrap.dedent(SURVEY).lstrip("\n")


def survey_of(home, text):
    put(home, "surveys/tea.yaml", text)
    return Library(home).survey("tea")


def refused_survey(home, text):
    put(home, "surveys/tea.yaml", text)
    return refusal(Library(home).survey, "tea")


def refused_topic(home, text):
    put(home, "topics/tea.yaml", text)
    return refusal(Library(home).topic, "tea")


def test_a_users_files_are_found_beside_those_of_the_package(home):
    put(home, "topics/tea.yaml", TOPIC)
    library = Library(home)
    assert library.topic("tea") == Topic(
        "tea", "Should tea be made in pots?", "Some say so.\nOthers do not.", "tea"
    )
    assert {"tea", "ccps"} <= set(library.topics())
    survey = survey_of(home, SURVEY)
    assert (survey.scale_min, survey.scale_max, survey.validated, survey.source) == (
        -3,
        3,
        False,
        "",
    )
    assert [(item.id, item.kind, item.text, item.reverse) for item in survey.items] == [
        ("C1", "consideration", "Pots keep tea warm.", False),
        ("C2", "consideration", "Bags are quicker.", True),
        ("P1", "preference", "Buy pots.", False),
        ("P2", "preference", "Buy bags.", False),
    ]


def test_a_users_file_takes_precedence_over_one_of_the_package(home):
    put(home, "topics/ccps.yaml", "id: ccps\nquestion: Another question?\n")
    put(home, "surveys/ccps.yaml", SURVEY.replace("id: tea", "id: ccps"))
    assert Library(home).topic("ccps").question == "Another question?"
    assert len(Library(home).survey("ccps").items) == 4
    assert Library(home).topics()["ccps"] == home / "topics" / "ccps.yaml"
    assert len(Library(home / "elsewhere").survey("ccps").items) == 27


def test_the_working_folder_is_home_by_default(home, monkeypatch):
    put(home, "topics/tea.yaml", TOPIC)
    monkeypatch.chdir(home)
    assert Library().topic("tea").id == "tea"


def test_an_imported_survey_is_named_after_its_source(home):
    put(home, "surveys/imported/deliberr/ccps.yaml", SURVEY.replace("id: tea", "id: deliberr.ccps"))
    assert len(Library(home).survey("deliberr.ccps").items) == 4
    assert len(Library(home).survey("ccps").items) == 27


@pytest.mark.parametrize(
    ("kind", "id", "meant"),
    [
        ("topic", "cccps", "ccps"),
        ("topic", "swis_health", "swiss_health"),
        ("survey", "zukumft", "zukunft"),
    ],
)
def test_an_unknown_name_comes_with_the_closest(package, kind, id, meant):
    said = refusal(getattr(package, kind), id)
    assert said.startswith(f"unknown {kind} '{id}'; did you mean ")
    assert meant in said.partition("did you mean ")[2].partition("?")[0]


def test_a_motion_is_no_topic_to_deliberate_on(package):
    assert "'plastics' is a motion for a debate" in refusal(package.topic, "plastics")


def test_an_unknown_topic_says_where_topics_lie(package, home):
    assert str(home / "topics") in refusal(package.topic, "zzz")


def test_an_unknown_published_survey_says_how_to_import_it(package):
    assert "delibsim import PATH --as deliberr" in refusal(package.survey, "deliberr.ccps")


def test_a_name_is_no_path(home):
    put(home, "secret.yaml", TOPIC)
    for id in ("../secret", str(home / "secret"), "../secret.yaml"):
        assert refusal(Library(home).topic, id).startswith("unknown topic")


def test_a_broken_file_is_named_only_when_it_is_asked_for(home):
    put(home, "topics/tea.yaml", "id: [")
    assert "tea" in Library(home).topics()
    assert Library(home).topic("ccps").id == "ccps"


# What is refused, with file, line and field


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "expected"),
    CASES["a_wrong_type_is_named_and_never_turned_into_another"],
)
def test_a_wrong_type_is_named_and_never_turned_into_another(home, old, new, line, field, expected):
    assert old in PLAIN
    text = PLAIN.replace(old, new)
    if line is None:
        assert survey_of(home, text).preferences[0].text == "no pots"
        return
    said = refused_survey(home, text)
    assert said.startswith(f"{home}/surveys/tea.yaml, line {line}, field {field}: ")
    assert expected in said


def test_the_yaml_in_which_no_is_false_is_refused(home):
    said = refused_topic(home, "%YAML 1.1\n---\nid: tea\nquestion: no\n")
    assert (
        said
        == f"{home}/topics/tea.yaml, line 1: YAML 1.1 is not read here; leave the line %YAML out"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id: tea\nquestion: One?\nquestion: Two?\n", 3),
        ("id: tea\nid: tea\nquestion: Why?\n", 2),
        (PLAIN.replace("reverse: true", 'text: "Again."'), 6),
    ],
)
def test_a_key_used_twice_is_refused_with_its_line(home, text, line):
    said = refused_topic(home, text).splitlines()
    place = f"{home}/topics/tea.yaml, line {line}: "
    assert any(one.startswith(place) and "duplicate key" in one for one in said)


@pytest.mark.parametrize(
    "tag",
    [
        '!!python/object/apply:os.system ["touch made"]',
        "!!python/name:os.system",
        "!!python/object:object {}",
        "!ours x",
    ],
)
def test_an_object_tag_is_refused_and_makes_nothing(home, monkeypatch, tag):
    monkeypatch.chdir(home)
    said = refused_topic(home, f"id: tea\nquestion: {tag}\n")
    assert said.startswith(f"{home}/topics/tea.yaml, line 2: ")
    assert not (home / "made").exists()


def test_an_alias_bomb_is_refused_at_once(home):
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [
        f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 12)
    ]
    said = refused_topic(home, "\n".join(["id: tea", *rows]) + "\n")
    assert (
        said
        == f"{home}/topics/tea.yaml, line 3: aliases (*a0) are not allowed; write the value out"
    )


@pytest.mark.parametrize(("text", "line"), CASES["broken_yaml_is_refused_with_its_line"])
def test_broken_yaml_is_refused_with_its_line(home, text, line):
    said = refused_topic(home, text)
    assert len(said.splitlines()) == 1
    assert said.startswith(f"{home}/topics/tea.yaml, line {line}")


@pytest.mark.parametrize("text", CASES["a_file_without_fields_is_refused"])
@pytest.mark.parametrize("kind", ["topic", "survey"])
def test_a_file_without_fields_is_refused(home, kind, text):
    put(home, f"{kind}s/tea.yaml", text)
    said = refusal(getattr(Library(home), kind), "tea")
    assert said.startswith(f"{home}/{kind}s/tea.yaml, line 1: expected fields such as 'id: tea'")


def test_a_file_that_is_no_utf_8_is_refused(home):
    path = put(home, "topics/tea.yaml", "")
    path.write_bytes("id: tea\nquestion: Für wen?\n".encode("latin-1"))
    assert refusal(Library(home).topic, "tea") == (
        f"{path}: line 2 is not UTF-8; save the file as UTF-8"
    )


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(home):
    path = put(home, "topics/tea.yaml", "")
    path.write_bytes("\ufeffid: tea\r\nquestion: Für wen?\r\n".encode())
    assert Library(home).topic("tea").question == "Für wen?"


def test_keys_that_are_no_text_are_refused(home):
    assert "line 3" in refused_topic(home, "id: tea\nquestion: Why?\n1: x\n")
    assert "line 6" in refused_survey(home, PLAIN.replace("reverse: true", "1: true"))


# All faults of a file in one pass


def test_every_fault_of_a_topic_is_told_at_once_with_its_line(home):
    said = refused_topic(
        home, "id: coffee\nqestion: Why?\nbackground: 12\nsurvey: [a]\nsurvey: b\n"
    )
    place = f"{home}/topics/tea.yaml, line"
    assert said.splitlines() == [
        f"{place} 1, field question: is missing",
        f"{place} 1, field id: is 'coffee', but the place of the file says 'tea'; make them equal",
        f"{place} 2, field qestion: is not a field here; fields are: id, question, background,"
        " survey",
        f"{place} 3, field background: input should be a valid string, found 12",
        f'{place} 5: found duplicate key "survey"',
    ]


def test_every_fault_of_a_survey_is_told_at_once_with_its_line(home):
    said = refused_survey(
        home,
        """
        id: tea
        scale_min: 7
        scale_max: 1
        colour: red
        considerations:
          - {id: C1, text: "Pots keep tea warm.", revers: true}
          - {id: "1", text: ""}
          - {id: C3, text: 12}
        preferences:
          - {id: C1, text: "Buy pots."}
          - {id: P2}
          - Buy bags.
        """,
    )
    lines = said.splitlines()
    found = [re.search(r"line (\d+), field (\S+): ", line) for line in lines]
    assert [(int(one[1]), one[2]) for one in found] == [
        (2, "scale_min"),
        (4, "colour"),
        (6, "considerations[1].revers"),
        (7, "considerations[2].id"),
        (7, "considerations[2].text"),
        (8, "considerations[3].text"),
        (10, "preferences[1].id"),
        (11, "preferences[2].text"),
        (12, "preferences[3]"),
    ]
    assert "used more than once: C1" in lines[6]


def test_a_survey_whose_fields_are_sound_is_told_all_its_contradictions(home):
    text = PLAIN.replace("id: P2", "id: P1").replace("id: C2", "id: C1")
    text = text.replace("scale_max: 3", "scale_max: 3\nforced_distribution: [1]")
    said = refused_survey(home, text).splitlines()
    assert len(said) == 3
    assert "forced_distribution must hold 7 counts" in said[0]
    assert said[1].endswith("used more than once: C1")
    assert said[2].endswith("used more than once: P1")


def test_a_file_of_faults_without_end_is_cut(home):
    items = "\n".join(f"  - {{id: C{n}}}" for n in range(100))
    said = refused_survey(home, f"id: tea\nconsiderations:\n{items}\n").splitlines()
    assert len(said) == 31
    assert said[-1].endswith("and 71 more faults")
