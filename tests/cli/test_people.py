"""`delibsim people invite`, `list` and `revoke`: links that are written once, and who is where."""

import csv
import json
import stat

import pytest
from people_site import hall_of

from delibsim.cli.main import main
from delibsim.domain.errors import WrongInput
from delibsim.store.instruments.library import package_data
from delibsim.store.people.hosting_files import read_hosting
from delibsim.store.people.persons import invited, person_of
from delibsim.store.people.register import Register
from delibsim.store.runs import Runs

YAML = (
    "consent: I take part.\nwithdrawal: delete\nexpires_days: 3\n"
    "address: https://study.example.org\n"
)


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hall = hall_of(tmp_path)
    (session,) = hall.sessions.values()
    hall.runs.plan(session)
    hall.register.close()
    (tmp_path / "people.yaml").write_text(YAML, encoding="utf-8")
    return Runs(tmp_path / "runs", "s")


@pytest.fixture
def people(capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["delibsim", "people", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


def links(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_links_are_written_once_for_this_user_alone_and_kept_as_hashes(study, people, tmp_path):
    code, out, _ = people("invite", "s", "--n", "3")
    assert code == 0
    assert "3 links" in out
    assert "3 days" in out
    path = tmp_path / "links.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rows = links(path)
    register = Register.of(study)
    for row in rows:
        assert row["link"].startswith("https://study.example.org/i/")
        token = row["link"].rsplit("/", 1)[1]
        assert len(token) >= 32
        assert invited(register, token).person == row["code"]
        for file in study.folder.rglob("*"):
            assert file.is_dir() or token.encode() not in file.read_bytes()
        assert token not in out
    register.close()
    assert len({row["link"] for row in rows}) == 3
    code, _, err = people("invite", "s", "--n", "1")
    assert code == 2
    assert "is there already" in err
    assert links(path) == rows


def test_a_list_gives_each_row_a_link_and_a_faulty_one_gives_none(study, people, tmp_path):
    (session,) = study.sessions()
    sheet = tmp_path / "people.csv"
    sheet.write_text(
        "name,address,session,seat,language\n"
        f"=Ada,ada@example.org,{session},Participant 1,de\nBen,,,,\n",
        encoding="utf-8",
    )
    code, _, err = people("invite", "s", "--list", "people.csv", "--expires", "1")
    assert code == 0, err
    rows = links(tmp_path / "links.csv")
    assert [row["name"] for row in rows] == ["'=Ada", "Ben"]
    register = Register.of(study)
    found = invited(register, rows[0]["link"].rsplit("/", 1)[1])
    assert (found.session, found.seat) == (session, "Participant 1")
    assert person_of(register, rows[0]["code"]).language == "de"
    register.close()
    for text, fault in (
        ("name,mail\nA,b\n", "unknown column mail"),
        (f"name,session,seat\nA,{session}x,\n", "line 2"),
        ("name,seat\nA,Participant 1\n", "a seat needs its session"),
        (f"name,session,seat\nA,{session},Participant 9\n", "Participant 9"),
        ("name,language\nA,xx\n", "language"),
    ):
        sheet.write_text(text, encoding="utf-8")
        code, _, err = people("invite", "s", "--list", "people.csv", "-o", "more.csv")
        assert code == 2, text
        assert fault in err
        assert not (tmp_path / "more.csv").exists()


def test_people_are_listed_by_code_and_names_only_where_asked(study, people, tmp_path):
    (tmp_path / "people.csv").write_text("name,address\nAda Planted,ada@example.org\n")
    people("invite", "s", "--list", "people.csv")
    code, out, _ = people("list", "s")
    assert code == 0
    assert "Planted" not in out
    assert "invited" in out
    assert "Planted" not in people("list", "s", "--json")[1]
    (one,) = json.loads(people("list", "s", "--names", "--json")[1])["people"]
    assert one["name"] == "Ada Planted"


def test_links_are_revoked_by_person_and_open_ones_together(study, people, tmp_path):
    people("invite", "s", "--n", "1")
    people("invite", "s", "--open", "-o", "open.csv")
    (one,) = links(tmp_path / "links.csv")
    (shared,) = links(tmp_path / "open.csv")
    tokens = [row["link"].rsplit("/", 1)[1] for row in (one, shared)]
    assert people("revoke", "s", one["code"][:6])[0] == 0
    register = Register.of(study)
    assert invited(register, tokens[0]) is None
    assert invited(register, tokens[1]) is not None
    assert "1 open link revoked" in people("revoke", "s", "open")[1]
    assert invited(register, tokens[1]) is None
    register.close()
    code, _, err = people("revoke", "s", "nobody")
    assert code == 2
    assert "delibsim people list" in err


@pytest.mark.parametrize(
    "arguments", [["--number", "0"], ["--number", "2", "--open"], ["--rater", "none", "--open"]]
)
def test_what_cannot_be_invited_is_said(study, people, arguments):
    code, _, err = people("invite", "s", *arguments)
    assert code == 2
    assert err


def test_the_status_says_that_people_are_waited_for_by_the_server(study, people, delibsim):
    assert "`delibsim run` command" in delibsim("status", "s").out  # nobody was invited yet
    assert people("invite", "s", "--n", "1")[0] == 0
    told = delibsim("status", "s").out
    assert "while `delibsim serve s` runs" in told
    assert "retry" not in told
    assert "People: 1 not over; delibsim people list s has codes." in told


@pytest.mark.parametrize("command", [("people", "invite", "s", "--open"), ("serve", "s")])
def test_nobody_is_invited_before_it_is_said_what_a_withdrawal_does(
    command, study, tmp_path, monkeypatch, capsys
):
    text = YAML.replace("withdrawal: delete\n", "withdrawal:\n")
    (tmp_path / "people.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["delibsim", *command])
    with pytest.raises(SystemExit) as end:
        main()
    told = " ".join(capsys.readouterr().err.split())
    assert end.value.code == 2
    for part in (
        "people.yaml, withdrawal",
        "delete: all that she gave",
        "with what everybody else",
    ):
        assert part in told
    assert "pseudonymise: her name and address are deleted" in told
    assert not (tmp_path / "links.csv").exists()
    assert not (study.folder / "people.yaml").exists()


def test_the_example_makes_the_researcher_choose(people, study, tmp_path):
    example = package_data("data") / "people" / "example.people.yaml.txt"
    assert read_hosting(example).consent.startswith("# Consent")  # a demo goes on without
    with pytest.raises(WrongInput, match="withdrawal: say what becomes"):
        read_hosting(example, real=True)
