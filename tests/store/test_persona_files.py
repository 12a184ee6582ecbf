"""Sets of personas as files: written, read back word for word, never silently replaced; personas of
the user's own from CSV and YAML.
"""

import pytest
from cases import cases_of
from omegaconf import OmegaConf

from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import Personas
from delibsim.planning.compose import plan
from delibsim.store.instruments.library import (
    keep_personas,
    read_own_personas,
    read_persona_file,
)

CASES = cases_of(__file__)
HARD = ("You owe ${USER} $5: yes, no, on.", "You say “no”, ‘never’ # and\n- more.", "null", "12")


def test_a_set_is_read_back_word_for_word_by_us_and_by_the_configuration(tmp_path):
    personas = Personas("mine", HARD, "balanced", (4, 3, 2, 1))
    path, new = keep_personas(
        personas, tmp_path, {"participants": ["no", "1e5", "${x}"], "z": [0.1]}
    )
    assert new
    assert read_persona_file("mine", tmp_path)["personas"] == list(HARD)
    plain = OmegaConf.to_container(OmegaConf.load(path), resolve=True)
    assert plain["personas"] == list(HARD)
    assert plain["sizes"] == [4, 3, 2, 1]
    assert plain["built"]["participants"] == ["no", "1e5", "${x}"]


def test_the_same_set_again_is_no_news_and_another_is_refused(tmp_path):
    personas = Personas("mine", ("You love rivers.",), "balanced")
    assert keep_personas(personas, tmp_path) == (tmp_path / "conf" / "persona" / "mine.yaml", True)
    assert keep_personas(personas, tmp_path)[1] is False
    with pytest.raises(
        WrongInput, match="holds other personas, which studies may have used; move it away"
    ):
        keep_personas(Personas("mine", ("You hate rivers.",), "balanced"), tmp_path)
    with pytest.raises(WrongInput, match="come with delibsim; take another name"):
        keep_personas(Personas("values", ("You love rivers.",)), tmp_path)
    for name in ("../mine", "Mine", "a.b"):
        with pytest.raises(WrongInput, match="cannot name personas"):
            keep_personas(Personas(name, ("You love rivers.",)), tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.csv", 'size,persona,note\n3,You love rivers.,x\n1,"You, too, love\nrivers.",y\n'),
        ("p.yaml", 'personas: [You love rivers., "You, too, love\\nrivers."]\nsizes: [3, 1]\n'),
    ],
)
def test_personas_of_ones_own_come_from_csv_and_yaml(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    found = read_own_personas(tmp_path / name, "own")
    assert found == Personas(
        "own", ("You love rivers.", "You, too, love\nrivers."), "balanced", (3, 1)
    )
    assert keep_personas(found, tmp_path)[1]


@pytest.mark.parametrize(("name", "text", "fault"), CASES["what_holds_no_personas_is_refused"])
def test_what_holds_no_personas_is_refused(tmp_path, name, text, fault):
    (tmp_path / name).write_text(text)
    with pytest.raises(WrongInput, match=fault):
        read_own_personas(tmp_path / name, "own")


def test_an_unknown_set_is_answered_with_those_there_are(tmp_path):
    keep_personas(Personas("rivers", ("You love rivers.",)), tmp_path)
    with pytest.raises(WrongInput, match=r"unknown persona 'river'; did you mean rivers\?.*values"):
        read_persona_file("river", tmp_path)
    (tmp_path / "conf" / "persona" / "odd.yaml").write_text("- a\n")
    with pytest.raises(WrongInput, match="expected fields name and personas"):
        read_persona_file("odd", tmp_path)
    assert read_persona_file("values", tmp_path)["name"] == "values"


FAULTY = """name: mine
personas:
  - You love rivers.
  - 12
  - "  "
sizes: [1, many, 0, 4]
seating: by_chance
colour: red
"""


def test_every_fault_of_a_persona_file_is_told_at_once_with_its_line(tmp_path):
    path = tmp_path / "conf" / "persona" / "mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(FAULTY, encoding="utf-8")
    told = []
    for refused in (
        lambda: read_persona_file("mine", tmp_path),
        lambda: plan(["persona=mine"], tmp_path),
    ):
        with pytest.raises(WrongInput) as caught:
            refused()
        told.append(str(caught.value).splitlines())
    assert told[0] == told[1]
    places = [line.partition(", line ")[2].partition(":")[0] for line in told[0]]
    assert places == [
        "4, field personas[2]",
        "5, field personas[3]",
        "6, field sizes[2]",
        "6, field sizes[3]",
        "6, field sizes",
        "7, field seating",
        "8, field colour",
    ]


def test_every_fault_of_personas_to_be_imported_is_told_at_once(tmp_path):
    (tmp_path / "p.yaml").write_text("personas: [1, '']\nsizes: [0, x, 1]\n")
    (tmp_path / "p.csv").write_text("persona,size\nYou.,many\n,3\nYou.,1,2\nYou.,0\n")
    for name, faults in (("p.yaml", 5), ("p.csv", 4)):
        with pytest.raises(WrongInput) as caught:
            read_own_personas(tmp_path / name, "own")
        lines = str(caught.value).splitlines()
        assert len(lines) == faults
        assert all(", line " in line for line in lines)
