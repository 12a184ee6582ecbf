"""`delibsim people export`, `forget` and `withdraw` over a real study that people took part in."""

import csv
import json
import os
import shutil
import signal
import stat
import time
from contextlib import closing, nullcontext

import pytest
import warm
from people_site import TABLE, Browser, hall_of, link_for, served
from rated import all_of, hand_in_next, person
from sqlalchemy import update

from delibsim.people.erase import forget_due
from delibsim.people.raters import AnswerWriter, RaterDesk, rater_rows
from delibsim.store.people.erasures import unfinished, withdrawn_undone
from delibsim.store.people.hosting_files import read_hosting
from delibsim.store.people.persons import note_withdrawn, person_of
from delibsim.store.people.register import Register, now
from delibsim.store.people.rooms import seat_of
from delibsim.store.people.schema import IDENTITY
from delibsim.store.runs import Runs

HERS = "The quagga bridge must be painted violet before anybody in Oberfranken may cross it again."
TOLD = "quagga", "violet before anybody", "Oberfranken"
NAME = "Wilhelmine Zsigmondy"
OTHER = "Speech {} says that households be asked by letter, and letters counted by a notary."
YAML = """\
consent: I take part.
debriefing: It is over.
withdrawal: {how}
keep_days: 90
typing: null
questions:
  - {{id: age, text: How old are you?, kind: number, low: 18, high: 99}}
  - {{id: job, text: What do you do?, kind: text}}
"""


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """A study of two sessions that was held by people on pages; each with two of them."""
    return _held(tmp_path_factory.mktemp("held"), "delete")


def _held(home, how):
    declared = home / "people.yaml"
    declared.write_text(YAML.format(how=how), encoding="utf-8")
    hosting = read_hosting(declared)
    hall = hall_of(home, *TABLE, "replicate=1,2", sweep=True, hosting=hosting)
    for session in hall.sessions.values():
        hall.runs.plan(session)
    shutil.copy(declared, hall.runs.folder / "people.yaml")
    codes = {}
    with served(hall) as address:
        people = []
        for number, session in enumerate(sorted(hall.sessions) * 2):
            name = NAME if number == 0 else f"Person {number}"
            code, link = link_for(hall, name, session=session)
            browser = Browser(address).enter(link)
            browser.get()
            job = "=1+1 quagga keeper of Oberfranken" if number == 0 else "@fishmonger"
            given = {"q-age": "44", "q-job": job}
            browser.post("/me/questions", **given)
            codes[name] = code
            people.append((browser, HERS if number == 0 else OTHER.format(number)))
        _all_through(people)
    return home, codes


def _all_through(people):
    """Everybody answers in turn until all are at the end."""
    waiting = list(people)
    for _ in range(200):
        for browser, words in list(waiting):
            text = browser.get().text
            if "<h1>You have reached the end</h1>" in text:
                waiting.remove((browser, words))
            elif 'action="/me/answer"' in text:
                browser.answer(words)
        if not waiting:
            return
        time.sleep(0.1)
    raise AssertionError(waiting[0][0].page.text)


@pytest.fixture
def study(held, home, monkeypatch):
    """A copy of that study in the folder of the test; its runs, and the codes by name."""
    before, codes = held
    shutil.copytree(before / "runs", home / "runs")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    return Runs(home / "runs", "s"), codes


def bytes_with(folder, words):
    """The files below a folder that hold any of these words, as they stand or compressed."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if any(word.encode() in data for word in words):
                found.append(str(path.relative_to(folder)))
    return found


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def session_of(runs, code):
    register = Register.of(runs)
    with closing(register):
        return seat_of(register, code)[0]


def test_nothing_of_who_withdraws_is_left_in_any_file(study, delibsim, home):
    runs, codes = study
    gone = session_of(runs, codes[NAME])
    (stays,) = set(runs.sessions()) - {gone}
    assert delibsim("score", "s").code == 0
    assert delibsim("export", "s").code == 0
    assert delibsim("people", "export", "s", "--names").code == 0
    assert delibsim("view", "s", "--static", "site").code == 0
    shutil.rmtree(home / "site")
    assert delibsim("fork", f"s/{gone}", "--at", "3", "model=citizen").code == 0
    assert bytes_with(runs.folder, TOLD)
    assert bytes_with(runs.folder, [NAME])
    run = (runs.path(stays) / "run.json").read_bytes()
    answer = delibsim("people", "withdraw", "s", codes[NAME][:6])
    assert answer.code == 0, answer
    assert f"session {gone} is withdrawn" in answer.out
    assert bytes_with(home, [*TOLD, NAME]) == []
    assert (runs.path(stays) / "run.json").read_bytes() == run
    assert sorted(path.name for path in runs.path(gone).iterdir()) == [
        "session.json",
        "withdrawn.json",
    ]
    assert json.loads((runs.path(gone) / "withdrawn.json").read_text())["reason"] == "withdrawn"
    again = delibsim("people", "withdraw", "s", codes[NAME])
    assert again.code == 0
    assert "carried out" in again.out


def test_a_study_with_a_withdrawn_session_is_read_counted_and_not_held_again(study, delibsim, home):
    runs, codes = study
    gone = session_of(runs, codes[NAME])
    assert delibsim("people", "withdraw", "s", codes[NAME]).code == 0
    found = delibsim("status", "s", "--json").json
    assert found["states"] == {"complete": 1, "withdrawn": 1}
    told = delibsim("status", "s").out
    assert "1 session was withdrawn" in told
    assert "retry" not in told
    assert delibsim("run", "s", "--retry").code == 0
    assert not runs.held(gone)
    for words in (
        ["show"],
        ["replay"],
        ["export", "--as", "html"],
        ["fork", "--at", "1"],
        ["show", "--call", "all"],
    ):
        answer = delibsim(words[0], f"s/{gone}", *words[1:])
        assert answer.code == 2, (words, answer)
        assert "was withdrawn" in answer.err, (words, answer)
    scored = delibsim("score", "s", "--json")
    assert scored.code == 0
    (gap,) = [one for one in scored.json["missing"] if one["reason"] == "withdrawn"]
    assert (gap["what"], gap["n"]) == ("sessions", 1)
    mean = next(one for one in scored.json["conditions"] if one["phase"] == "change")
    assert (mean["planned"], mean["held"]) == (2, 1)
    assert "withdrawn" in delibsim("score", "s").out
    verified = delibsim("verify", "s", "--json")
    assert (verified.code, verified.json["sessions"]) == (0, {"equal": 1, "withdrawn": 1})
    assert delibsim("export", "s", "--json").json["sessions"] == {"complete": 1, "withdrawn": 1}
    rows = rows_of(runs.folder / "tables" / "runs.csv")
    assert {row["session"]: row["status"] for row in rows}[gone] == "withdrawn"
    assert {row["session"] for row in rows_of(runs.folder / "tables" / "statements.csv")} == {
        name for name in runs.sessions() if name != gone
    }
    wide = rows_of(runs.folder / "tables" / "runs_wide.csv")
    assert {row["session"]: row["status"] for row in wide}[gone] == "withdrawn"
    assert {row["session"]: row["dri_note"] for row in wide}[gone] == "withdrawn"
    analysed = delibsim("analyze", "s", "--json", "--figures", "none")
    assert analysed.code in (0, 3), analysed
    assert "withdrawn 1" in json.dumps(analysed.json) + analysed.out
    assert delibsim("view", "s", "--static", "site").code == 0
    pages = [path for path in (home / "site").rglob("index.html") if path.parent.name == gone]
    assert ["withdrawn" in path.read_text(encoding="utf-8") for path in pages] == [True]


def test_with_pseudonymise_the_identity_goes_and_the_words_stay(tmp_path, home, delibsim):
    _, codes = _held(home, "pseudonymise")
    runs = Runs(home / "runs", "s")
    answer = delibsim("people", "withdraw", "s", codes[NAME])
    assert answer.code == 0, answer
    assert "her words stay" in answer.out
    assert bytes_with(home, [NAME]) == []
    assert bytes_with(runs.folder, ["quagga bridge"])
    assert delibsim("status", "s").code == 0
    register = Register.of(runs)
    with closing(register):
        assert person_of(register, codes[NAME]).stage == "withdrawn"


def test_the_export_names_nobody_unless_it_is_asked_for(study, delibsim, home):
    runs, codes = study
    answer = delibsim("people", "export", "s", "-o", "out", "--json")
    assert answer.code == 0, answer
    assert bytes_with(home / "out", [NAME, "Person 1"]) == []
    assert not (home / "out" / "names.csv").exists()
    assert answer.json["rows"] == {
        "persons": 4,
        "answers": 8,
        "checks": 0,
        "times": answer.json["rows"]["times"],
        "groups": 2,
        "links": 4,
        "erasures": 0,
    }
    groups = rows_of(home / "out" / "groups.csv")
    assert {(row["state"], row["seats"], row["free"]) for row in groups} == {("over", "2", "0")}
    assert all(row["opened"] < row["begun"] < row["ended"] for row in groups)
    persons = {row["person"]: row for row in rows_of(home / "out" / "persons.csv")}
    her = persons[codes[NAME]]
    assert her["stage"] == "done"
    assert her["consent_version"] == "80f31313fba7"
    assert her["consented"].endswith("+00:00")
    assert delibsim("export", "s").code == 0
    seats = {
        (row["session"], row["participant"])
        for row in rows_of(runs.folder / "tables" / "participants.csv")
    }
    assert {(row["session"], row["participant"]) for row in persons.values()} <= seats
    jobs = [r for r in rows_of(home / "out" / "answers.csv") if r["question"] == "job"]
    assert {row["value"] for row in jobs} == {
        "'=1+1 quagga keeper of Oberfranken",
        "'@fishmonger",
    }
    times = rows_of(home / "out" / "times.csv")
    assert {row["person"] for row in times} == set(codes.values())
    assert all(float(row["seconds"]) >= 0 for row in times)
    assert {row["state"] for row in rows_of(home / "out" / "links.csv")} == {"used"}
    book = {(row["table"], row["name"]) for row in rows_of(home / "out" / "codebook.csv")}
    for path in (home / "out").glob("*.csv"):
        if path.stem != "codebook":
            header = path.read_text(encoding="utf-8-sig").splitlines()[0].split(",")
            assert {(path.stem, name) for name in header} <= book
    named = delibsim("people", "export", "s", "--names", "-o", "out")
    assert "names.csv says who people are" in named.out
    assert stat.S_IMODE((home / "out" / "names.csv").stat().st_mode) == 0o600
    assert NAME in {row["name"] for row in rows_of(home / "out" / "names.csv")}
    (home / "mine.txt").write_text("kept", encoding="utf-8")
    assert delibsim("people", "export", "s", "-o", ".").code == 2


def test_forget_deletes_who_they_are_and_keeps_what_they_said(study, delibsim, home):
    runs, codes = study
    assert delibsim("people", "forget", "s").code == 2
    dry = delibsim("people", "forget", "s", "--all", "--dry-run")
    assert set(codes.values()) <= set(dry.out.split())
    assert bytes_with(runs.folder, [NAME])
    assert delibsim("people", "export", "s", "--names").code == 0
    answer = delibsim("people", "forget", "s", codes[NAME])
    assert answer.code == 0, answer
    assert bytes_with(home, [NAME]) == []
    assert bytes_with(runs.folder, ["quagga bridge"])
    assert bytes_with(runs.folder, ["Person 1"])
    assert delibsim("people", "forget", "s", "--all").code == 0
    assert bytes_with(home, ["Person 1"]) == []


def test_what_was_kept_long_enough_is_forgotten_by_any_command(study, delibsim, home):
    runs, codes = study
    register = Register.of(runs)
    with closing(register):
        key = person_of(register, codes[NAME]).identity
        with register.writing() as connection:
            long_ago = update(IDENTITY).where(IDENTITY.c.key == key).values(made=now() - 91 * 86400)
            connection.execute(long_ago)
        assert delibsim("people", "forget", "s", "--due", "--dry-run").out.split()[0] == codes[NAME]
        answer = delibsim("people", "list", "s")
        assert "kept for 90 days" in answer.err
        assert bytes_with(home, [NAME]) == []
        assert forget_due(runs, register, read_hosting(runs.folder / "people.yaml")) == []
        assert person_of(register, codes[NAME]).stage == "done"


KILLED = """
import os, signal, sys
from pathlib import Path
from delibsim.people import erase
from delibsim.store.people.hosting_files import read_hosting
from delibsim.store.people.register import Register
from delibsim.store.runs import Runs

def end(*arguments, **more):
    os.kill(os.getpid(), signal.SIGKILL)

runs = Runs(Path("runs"), "s")
place = erase if hasattr(erase, sys.argv[1]) else erase.erasures
before = getattr(place, sys.argv[1])
if sys.argv[2] == "after":
    def end(*arguments, **more):
        before(*arguments, **more)
        os.kill(os.getpid(), signal.SIGKILL)
setattr(place, sys.argv[1], end)
erase.carry_out(runs, Register.of(runs), read_hosting(runs.folder / "people.yaml"))
"""


@pytest.mark.parametrize(
    ("step", "when"),
    [
        ("lay_tombstone", "after"),
        ("sweep", "after"),
        ("empty_session", "before"),
        ("delete_person_in_sessions", "before"),
        ("delete_person_in_sessions", "after"),
        ("finish", "before"),
    ],
)
def test_killed_on_the_way_the_next_command_finishes(study, delibsim, home, step, when):
    runs, codes = study
    register = Register.of(runs)
    note_withdrawn(register, codes[NAME])
    register.close()
    assert warm.run(["-c", KILLED, step, when], home, os.environ)[0] == -9
    register = Register.of(runs)
    with closing(register):
        assert len(unfinished(register)) == 1
    gone = session_of(runs, codes[NAME])
    assert not runs.held(gone)
    assert delibsim("status", "s", "--json").json["states"] == {"complete": 1, "withdrawn": 1}
    assert delibsim("people", "list", "s").code == 0
    assert bytes_with(home, [*TOLD, NAME]) == []
    register = Register.of(runs)
    with closing(register):
        assert unfinished(register) == []
        assert withdrawn_undone(register) == []


def test_the_server_finishes_at_its_start_what_was_cut_off(study, home):
    runs, codes = study
    register = Register.of(runs)
    note_withdrawn(register, codes[NAME])
    register.close()
    assert warm.run(["-c", KILLED, "empty_session", "before"], home, os.environ)[0] == -9
    assert bytes_with(home, TOLD)
    with warm.Piped(["serve", "s", "--port", "0"], home) as server:
        for line in server.stderr:
            if "withdrew" in line:
                break
        assert codes[NAME] in line
        server.send_signal(signal.SIGTERM)
        server.communicate()
    assert bytes_with(home, [*TOLD, NAME]) == []


def test_codes_and_comparisons_of_a_withdrawn_session_go_and_the_others_stay(study, delibsim, home):
    runs, codes = study
    gone = session_of(runs, codes[NAME])
    coding = ("scheme=complaint", "group.size=2", "samples=1")
    assert delibsim("code", "ask", "s", *coding).code == 0
    comparing = ("dimension=logical", "model=citizen", "keep_equal=true")
    assert delibsim("compare", "ask", "s", *comparing).code == 0
    pack = delibsim(
        "code", "handout", "s", "scheme=complaint", "--online", "--raters", "2", "--json"
    )
    assert pack.code == 0, pack
    register = Register.of(runs)
    desk = RaterDesk(runs, register)
    (task,) = desk.names()
    ann = desk.join(person(register, "ann"), task)
    for _ in range(3):
        hand_in_next(desk, ann)
    sheets = len(ann.sheets)
    file = runs.folder / "annotations" / "code-complaint" / "annotations.jsonl"
    before = file.read_text(encoding="utf-8").splitlines()
    assert bytes_with(runs.folder / "annotations", TOLD)
    assert delibsim("people", "withdraw", "s", codes[NAME]).code == 0
    assert bytes_with(home, [*TOLD, NAME]) == []
    left = file.read_text(encoding="utf-8").splitlines()
    assert 0 < len(left) < len(before)
    assert set(left) < set(before)
    assert not any(gone in line for line in left)
    desk = RaterDesk(runs, register)
    ann = desk.join("ann", task)
    assert 0 < len(ann.sheets) < sheets
    all_of(desk, ann)
    assert AnswerWriter(desk, nullcontext).bring() > 0
    assert rater_rows(desk, [task])
    register.close()
    again = delibsim("code", "ask", "s", *coding)
    assert "0 samples now" in again.out, again
    compared = delibsim("compare", "ask", "s", *comparing)
    assert compared.code == 0, compared
    for words in (
        ("code", "report", "s", "scheme=complaint"),
        ("code", "replay", "s", "scheme=complaint"),
        ("score", "s"),
        ("export", "s"),
        ("people", "raters", "s"),
        ("compare", "report", "s"),
        ("compare", "replay", "s"),
    ):
        answer = delibsim(*words)
        assert answer.code in (0, 3), (words, answer)
        assert "Traceback" not in answer.err
    assert delibsim("code", "replay", "s", "scheme=complaint").code == 0


def test_forks_go_that_say_her_words_again_or_whose_plan_is_damaged(study, delibsim, home):
    runs, codes = study
    gone = session_of(runs, codes[NAME])
    (home / "say.txt").write_text(HERS, encoding="utf-8")
    for words in (("--at", "3"), ("--at", "3", "--say", "3=say.txt")):
        assert delibsim("fork", f"s/{gone}", *words, "model=citizen").code == 0
    forks = sorted(path.parent for path in runs.folder.glob("forks/*/session.json"))
    assert len(forks) == 2
    (forks[0] / "session.json").write_text("{", encoding="utf-8")
    answer = delibsim("people", "withdraw", "s", codes[NAME])
    assert answer.code == 0, answer
    assert answer.out.count("is withdrawn too") == 2
    assert bytes_with(home / "runs", [*TOLD, NAME]) == []
    assert delibsim("fork", "s").code in (3, 4)
