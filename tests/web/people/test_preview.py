"""A preview: every page of a study that has not begun, as files that load and keep nothing."""

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from chromium import fits, found_by_axe
from people_site import hall_of
from told_alike import DEBATE, PAIR, shots_of

from delibsim.cli.main import main
from delibsim.planning.compose import plan
from delibsim.web.people.preview import write_preview

PEOPLE = """\
consent: I take part.
information: We talk in turn.
debriefing: It is over.
completion_code: DONE-1
turn: {minutes: 5}
checks:
  - {id: read, text: How?, options: [In turn, At once], right: [In turn]}
"""
SHARED = {
    "link", "link-that-opens-nothing", "consent", "information-and-questions", "declined",
    "failed-the-checks", "all-seats-are-taken", "leave", "withdraw-delete", "withdraw-pseudonymise",
    "withdrawn",
}  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.yaml").write_text(PEOPLE, encoding="utf-8")

    def command(*words):
        monkeypatch.setattr("sys.argv", ["delibsim", "people", "preview", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return command


def test_a_study_that_has_not_begun_is_seen_as_each_participant_under_each_treatment(run, tmp_path):
    settings = [one for one in PAIR if not one.startswith("group.models")]
    settings += ["group.models=[person,person]", "treatment=none,normative", "-m"]
    code, out, err = run("study=hall", *settings, "-o", "pages")
    assert (code, err) == (0, "")
    folder = tmp_path / "pages"
    names = {path.stem for path in folder.glob("*.html")}
    assert names >= SHARED
    assert f"{len(names) - 1} pages of 2 sessions: pages/index.html" in out
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert sorted(re.findall(r'href="([^"]+)\.html"', index)) == sorted(names - {"index"})
    assert index.count("<h3>Participant 1</h3>") == index.count("<h3>Participant 2</h3>") == 2
    for title in ("Lobby", "Survey before", "Turn 1", "Waiting in turn 1", "Survey after", "End"):
        assert f">{title}<" in index, title
    turns = [path for path in folder.glob("*-turn-*.html") if "waiting" not in path.name]
    assert len(turns) == 4  # two people, two rounds, under normative
    told = [path.read_text(encoding="utf-8") for path in turns]
    assert all("Treat everyone with respect" in text for text in told)
    assert sum("Your instructions hold" in text for text in told) == 2
    end = next(folder.glob("*-end.html")).read_text(encoding="utf-8")
    assert "DONE-1" in end
    assert not (tmp_path / "runs").exists()  # the study has not begun


def test_pages_load_and_send_nothing(run, tmp_path):
    assert run("study=d", *DEBATE, "proposition=person", "opposition=citizen", "-o", "p")[0] == 0
    for path in (tmp_path / "p").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
        assert policy.startswith(
            "default-src &#39;none&#39;" if "index" in path.name else "default-src 'none'"
        )
        assert "form-action" in policy
        assert not re.search(
            r'(?:src|href)="/|~assets|data-draft=|name="(?:csrf|key)" value="[^"]', text
        )
    manifest = json.loads((tmp_path / "p" / "manifest.json").read_text(encoding="utf-8"))
    assert {*manifest["files"], "manifest.json"} == {
        path.name for path in (tmp_path / "p").iterdir()
    }


def test_a_folder_of_something_else_is_left_and_a_preview_is_replaced(run, tmp_path):
    settings = ("study=d", *DEBATE, "proposition=person", "opposition=citizen", "-o", "p")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "mine.txt").write_text("mine", encoding="utf-8")
    code, _, err = run(*settings)
    assert code == 2
    assert "holds what no preview wrote (mine.txt" in " ".join(err.split())
    (tmp_path / "p" / "mine.txt").unlink()
    assert run(*settings)[0] == run(*settings)[0] == 0


def test_a_study_that_has_begun_is_left_as_it_is(run, tmp_path):
    hall = hall_of(tmp_path, models="[person,citizen]")
    for session in hall.sessions.values():
        hall.runs.plan(session)
    hall.register.close()

    def state():
        files = sorted(path for path in hall.runs.folder.rglob("*") if path.is_file())
        return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = state()
    assert run("s", "-o", "p")[0] == 0
    assert state() == before


def test_where_no_seat_is_for_a_person_it_says_so(run):
    code, _, err = run("study=d", *DEBATE, "proposition=citizen", "opposition=citizen")
    assert code == 2
    assert "nobody is waited for" in err


@pytest.mark.heavy
def test_chromium_opens_every_page_from_its_file_without_a_complaint(tmp_path, browser):

    settings = (*PAIR, "treatment=normative")
    with ThreadPoolExecutor(1) as apart:  # a browser has the event loop of this thread
        shots = apart.submit(shots_of, settings, tmp_path).result()
    session = plan(["study=hall", *settings], tmp_path).session
    write_preview("hall", [session], shots, tmp_path / "p")
    said = []
    for width in (1280, 400):
        context = browser.new_context(viewport={"width": width, "height": 800})
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on(
            "request",
            lambda request: said.append(request.url) if "/p/" not in request.url else None,
        )
        for path in sorted((tmp_path / "p").glob("*.html")):
            page.goto(path.as_uri())
            assert fits(page), (path.name, width)
        if page.goto((tmp_path / "p" / "index.html").as_uri()):
            page.click("text=Survey before")
        assert page.locator(".rank .grip").count() > 0  # the script of forms runs
        context.close()
    assert [one for one in said if not one.startswith("data:")] == []
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    for name in ("index.html", "consent.html", "leave.html"):
        page.goto((tmp_path / "p" / name).as_uri())
        assert found_by_axe(page) == []
    context.close()
