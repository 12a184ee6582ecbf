"""`delibsim people invite`, `list` and `revoke`: links that are written once, and who is where."""

import csv
import json
import stat

import pytest
from people_site import hall_of

from delibsim.cli.main import main
from delibsim.domain.errors import WrongInput
from delibsim.planning.compose import plan
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


TOPICS = ("acp", "ccps")
PEOPLE = ("persona=human:${topic}", "survey=deliberr.${topic}")
EXPERIMENT = """\
# @package _global_
hydra:
  sweeper:
    params:
      study: pilot
      topic: acp,ccps
      persona: none,human:${topic}
      survey: deliberr.${topic}
      treatment: none
      replicate: range(1,3)
"""


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def ratings(topic, person):
    """What a person of a topic rated before, unlike what anybody else did."""
    return [1 + person % 5, 1 + person // 5, 1 + TOPICS.index(topic), 4]


@pytest.fixture
def published(home):
    """Published files of invented content: two topics with ten people each."""
    folder = home / "published"
    folder.mkdir()
    instruments = [["type", "order", "statement", "name", "scale_max", "q_method"]]
    rows = [["survey", "case", "stage_id", "pnum", "C1", "C2", "C3", "C4", "P1", "P2"]]
    for topic in TOPICS:
        instruments += [["C", k, f"{topic} reason {k}", topic, 7, "FALSE"] for k in (1, 2, 3, 4)]
        instruments += [["P", k, f"{topic} option {k}", topic, "NA", "NA"] for k in (1, 2)]
        for person in range(10):
            own = [*ratings(topic, person), 1, 2]
            rows += [[topic, "one", stage, f"{topic}-{person}", *own] for stage in (1, 2)]
    write(folder / "surveys.csv", instruments)
    write(folder / "human_data.csv", rows)
    return folder


def first_answers(run):
    """The ratings before, in the order of the survey, of everybody in a run."""
    survey = run["session"]["survey"]["items"]
    items = [item["id"] for item in survey if item["kind"] == "consideration"]
    before = [response["answers"] for response in run["responses"] if response["phase"] == "pre"]
    return [[answers[item] for item in items] for answers in before]


def test_a_sweep_gives_every_topic_its_own_people_and_instrument(delibsim, home, published):
    assert delibsim("import", published, "--as", "deliberr").code == 0
    asked = ["study=s", "topic=acp,ccps", *PEOPLE, "treatment=none", "replicate=1,2"]
    answer = delibsim("run", "-m", "-q", *asked)
    assert (answer.code, answer.err) == (0, "")
    seated = {topic: [] for topic in TOPICS}
    for path in (home / "runs" / "s").glob("*/run.json"):
        run = json.loads(path.read_text(encoding="utf-8"))
        topic = run["session"]["topic"]["id"]
        assert run["session"]["survey"]["id"] == f"deliberr.{topic}"
        seated[topic] += first_answers(run)
    for topic in TOPICS:
        everybody = [ratings(topic, person) for person in range(10)]
        assert sorted(seated[topic]) == sorted(everybody), "two groups of five are everybody, once"


def test_a_single_run_and_the_topic_written_out_plan_the_same_session(delibsim, home, published):
    assert delibsim("import", published, "--as", "deliberr").code == 0
    for topic in TOPICS:
        named = plan([f"topic={topic}", f"persona=human:{topic}", f"survey=deliberr.{topic}"], home)
        assert plan([f"topic={topic}", *PEOPLE], home).session == named.session
    assert delibsim("run", "-q", "topic=ccps", *PEOPLE, "treatment=none").code == 0


def test_an_experiment_of_the_users_own_may_use_both(delibsim, home, published):
    assert delibsim("import", published, "--as", "deliberr").code == 0
    (home / "conf" / "experiment").mkdir(parents=True)
    (home / "conf" / "experiment" / "pilot.yaml").write_text(EXPERIMENT)
    sessions = plan(["experiment=pilot"], home, sweep=True).sessions
    assert len(sessions) == 8
    described = {(session.topic.id, bool(session.participants[0].persona)) for session in sessions}
    assert described == {(topic, people) for topic in TOPICS for people in (False, True)}
    assert {session.survey.id for session in sessions} == {f"deliberr.{topic}" for topic in TOPICS}


def test_without_an_import_one_message_names_every_missing_survey_once(delibsim, home):
    asked = ["study=s", "topic=all", PEOPLE[1], "treatment=none,basic", "replicate=1,2"]
    answer = delibsim("run", "-m", *asked)
    assert answer.code == 2
    head, line = answer.err.strip().splitlines()
    assert "48 of 48 combinations cannot be held, so nothing was begun" in head
    assert line.count("'deliberr.") == 12
    advice = ("delibsim import PATH --as deliberr", "survey=null takes the short forms")
    for said in ("'deliberr.acp'", "'deliberr.zukunft'", *advice):
        assert line.count(said) == 1
    one = delibsim("run", "topic=ccps", "survey=deliberr.${topic}")
    assert one.code == 2
    assert "not imported: survey 'deliberr.ccps'; import it with: delibsim import" in one.err
    assert not (home / "runs").exists()


def test_without_answers_one_message_names_every_survey_that_lacks_them(delibsim, home):
    asked = ["study=s", "topic=acp,ccps", "persona=none,human:${topic}", "replicate=1,2"]
    answer = delibsim("run", "-m", *asked)
    assert answer.code == 2
    head, line = answer.err.strip().splitlines()
    assert "4 of 8 combinations cannot be held" in head
    assert "no answers of people to survey 'acp', 'ccps'; import them with:" in line
    assert "delibsim import FILE --as answers survey=SURVEY" in line


def test_a_misspelt_survey_is_answered_with_those_that_are_imported(delibsim, published):
    assert delibsim("import", published, "--as", "deliberr").code == 0
    answer = delibsim("run", "topic=ccps", "survey=deliberr.cpps")
    assert answer.code == 2
    assert "unknown survey 'deliberr.cpps'; did you mean deliberr.ccps" in answer.err
    other = delibsim("run", "topic=bep", "survey=deliberr.bep")
    assert "not imported: survey 'deliberr.bep'" in other.err


def test_run_holds_the_sessions_without_people_and_names_who_waits_for_the_others(delibsim, home):
    grid = ("topic=ccps", "treatment=none", "replicate=1-4", "people=0.5", "group.size=2")
    found = delibsim("run", "-m", "study=both", *grid, "-q")
    assert found.code == 0
    assert "2 sessions with people: delibsim serve both waits for them" in found.err
    assert len(list((home / "runs" / "both").glob("*/run.json"))) == 4
    alone = delibsim("run", "-m", "study=alone", "model=person", *grid[:3], "-q")
    assert alone.code == 2
    assert "delibsim serve" in alone.err
