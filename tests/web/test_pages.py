"""The pages over a real application: they show what the files hold, and hostile text is inert."""

import json
import re
import shutil
import threading
import time
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

import pytest
from hostile import EVIL, PERSONA
from starlette.testclient import TestClient

from delibsim.analysis.table import number
from delibsim.conduct.forks import course_of
from delibsim.conduct.reading.index import StudyIndex
from delibsim.domain.consensus import Candidate, Consensus, ConsensusVote
from delibsim.domain.text import safe
from delibsim.store.codec import run_to_json
from delibsim.store.notes import Notes
from delibsim.store.runs import Runs
from delibsim.web.guard import Guard
from delibsim.web.serve import application
from delibsim.web.site import Site

REFRESH = StudyIndex.refresh
ADDRESS = "http://127.0.0.1:8377"
OWN = {"origin": ADDRESS}


def client_of(site):
    return TestClient(
        Guard(application(site), 8377), base_url=ADDRESS, raise_server_exceptions=False
    )


@pytest.fixture
def client(site):
    return client_of(site)


@pytest.fixture(scope="module")
def reading(held, tmp_path_factory):
    """A client of a study that no test changes."""
    site = Site(held, cache=tmp_path_factory.mktemp("cache"))
    yield client_of(site)
    site.close()


@pytest.fixture
def run_at(spoken):
    return f"/s/{spoken}/index.html"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def links(self):
        return [
            attrs[name]
            for _, attrs in self.elements
            for name in ("href", "src", "action")
            if attrs.get(name)
        ]


PYTHON = re.compile(
    r"""\{\}|\[\]|\(\)|\[['"]|\{['"]|\(['"]|\bNone\b|\bTrue\b|\bFalse\b|(?<!\w)(""|'')(?!\w)|\bnan\b|[a-z]\w+\(\w+=|<\w+ object"""
)


def test_every_link_of_every_page_leads_somewhere_and_no_page_shows_python(
    client, site, branched, spoken
):
    Notes(Runs(site.root, "s")).add(spoken, 2, "a note", "tag")
    seen, wanted = {}, {"/", f"/s/{spoken}/beside.html?with=ccps.none.citizen_size3.r1"}
    while wanted - set(seen):
        address = min(wanted - set(seen))
        answer = client.get(address)
        assert answer.status_code == 200, address
        seen[address] = answer
        if "html" not in answer.headers["content-type"]:
            continue
        page = Elements(answer.text)
        assert [text for text in page.texts if PYTHON.search(text)] == [], address
        ids = {attrs.get("id") for _, attrs in page.elements}
        for link in page.links():
            target, fragment = urldefrag(urljoin(address, link))
            if link.startswith("#"):
                assert fragment in ids, (address, link)
            elif not link.startswith(("data:", "~notes", "beside.html")):
                assert target.startswith("/"), (address, link)
                if "?" not in target:
                    wanted.add(target)
    assert f"/s/{spoken}/calls/1.html" in seen
    assert max(len(answer.content) for answer in seen.values()) < 300_000
    for answer in seen.values():
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_probes_are_lines_over_turns(client, branched, spoken):
    page = Elements(client.get(f"/s/{spoken}/index.html").text)
    own = [one for one in course_of(branched, spoken).readings if one.measure == "dri"]
    told = [f"after turn {one.after} ({one.source}): {number(one.mean)}" for one in own]
    drawn = [attrs.get("aria-label", "") for tag, attrs in page.elements if tag == "svg"]
    assert f"Deliberative Reason Index: {'; '.join(told)}" in drawn
    study = Elements(client.get("/s/index.html").text)
    assert "1 fork of its runs, counted apart" in study.text
    assert "4 complete" in study.text
    assert client.get("/s~probes/runs.html").status_code == 200
    assert "s~forks" not in client.get("/").text


def test_forks_stand_as_a_tree_in_words_with_the_effects_that_the_terminal_prints(
    client, branched, command, spoken
):
    run = f"s/{spoken}"
    command("fork", run, "--at", "2", "--n", "3", "--control", "treatment=basic")
    (one, *_) = Runs.at(branched.folder / "forks").sessions()
    command("fork", f"s/forks/{one}", "--at", "3", "--control")
    printed = command("fork", "s")
    pages = {}
    for address in ("/s~forks/index.html", f"/s/{spoken}/index.html", f"/s~forks/{one}/index.html"):
        page = pages[address] = Elements(client.get(address).text)
        assert "From turn 2" in page.text
        assert "treatment: normative → basic: fork 1" in page.text
        assert "nothing but the seed: fork 1" in page.text
        shown = [text for text in page.texts if "_" in text and one.rpartition("_")[2] in text]
        assert shown == ([one] if one in address else [])  # among the facts
        assert [
            link for link in page.links() if link.endswith(f"{one}/index.html")
        ] or one in address
    tables = [table for table in printed.split("\n\n") if f"{run} at 2: treatment" in table]
    numbers = re.findall(r"[-+]?\d+\.\d+", tables[0].replace("\n", " "))
    assert len(numbers) > 20
    for page in pages.values():
        there = [text.strip().replace("−", "-") for text in page.texts]
        told = [part for text in there for part in re.findall(r"[-+]?\d+\.\d+", text)]
        assert not set(numbers) - set(told)
    why = "all replicates differ by the same amount"
    assert why in " ".join(printed.split())
    assert why in pages["/s~forks/index.html"].text
    words = pages[f"/s~forks/{one}/index.html"]
    assert words.text.count("at 2: ") >= 2  # its place above the page, and the title of its effects
    listed = Elements(client.get("/s~forks/runs.html").text)
    assert "at 2: treatment: normative → basic, fork 2" in listed.text
    assert one.rpartition("_")[2] not in listed.text
    assert f"../../s/{spoken}/index.html#turn-2" in words.links()
    beside = [link for link in words.links() if "beside" in link]
    assert client.get(urljoin(f"/s~forks/{one}/", beside[0])).status_code == 200


def test_a_study_of_nothing_but_forks_is_listed(client, branched, command, spoken):
    command("fork", f"s/{spoken}", "--at", "2", "--control", "study=whatif")
    links = Elements(client.get("/").text).links()
    assert "whatif~forks/index.html" in links
    page = Elements(client.get("/whatif~forks/index.html").text)
    assert f"../s/{spoken}/index.html" in page.links()
    assert "nothing but the seed" in page.text


def test_a_run_leads_to_its_neighbours_and_to_the_same_replicate_under_other_treatments(
    client, site, spoken
):
    names = Runs(site.root, "s").sessions()
    at = names.index(spoken)
    page = Elements(client.get(f"/s/{spoken}/index.html").text)
    ends = {
        attrs["rel"]: attrs["href"] for tag, attrs in page.elements if tag == "a" and "rel" in attrs
    }
    assert ends == {
        "prev": f"../{names[at - 1]}/index.html",
        "next": f"../{names[at + 1]}/index.html",
    }
    (twin,) = [link for link in page.links() if link.startswith("beside.html?with=")]
    assert twin.endswith("ccps.none.citizen_size3.r1")
    assert "under none" in page.text
    both = client.get(f"/s/{spoken}/{twin}")
    assert both.status_code == 200
    assert "One replicate (seed 7, topic ccps, replicate 1)" in Elements(both.text).text
    first = Elements(client.get(f"/s/{names[0]}/index.html").text)
    assert "Previous run" not in first.text
    plots = client.get(f"/s/{spoken}/index.html").text
    before = plots[: plots.index('<ol class="items">')]
    assert '<details class="fold"><summary>' in before[before.rindex("<details") :]
    site.private = True
    assert "beside.html" not in client.get(f"/s/{spoken}/index.html").text


def test_two_runs_stand_beside_each_other_word_for_word(client, site, branched, spoken):
    (fork,) = Runs.at(branched.folder / "forks").sessions()
    address = f"/s/{spoken}/beside.html?with=s~forks/{fork}"
    page = client.get(address)
    assert page.status_code == 200
    said = branched.run(spoken).transcript[1].text
    assert "I have changed my mind about the bills." in Elements(page.text).text
    assert " ".join(said.split()) in Elements(page.text).text
    other = "ccps.none.citizen_size3.r1"
    beside = Elements(client.get(f"/s/{spoken}/beside.html?with={other}").text)
    assert "treatment" in beside.text
    for name, status in (
        (spoken, 400),
        ("nothing", 404),
        ("", 404),
        ("../s", 404),
        ("s/../s/x", 404),
    ):
        assert client.get(f"/s/{spoken}/beside.html", params={"with": name}).status_code == status
    site.private = True
    assert client.get(address).status_code == 404


def test_collective_statements_stand_beside_each_other(client, root, spoken):
    runs = Runs(root, "s")
    vote = ConsensusVote((Candidate("c1", "<b>Bread for all</b>"),), (), "c1", "only")
    run = replace(runs.run(spoken), consensus=Consensus((), vote))
    (runs.path(spoken) / "run.json").write_text(run_to_json(run), encoding="utf-8")
    (runs.path(spoken) / "SHA256SUMS").unlink()
    other = "ccps.none.citizen_size3.r1"
    page = Elements(client.get(f"/s/{spoken}/beside.html?with={other}").text)
    assert "<b>Bread for all</b>" in page.text
    assert "None was sought" in page.text


def test_the_page_of_a_run_says_what_the_run_holds(reading, held, spoken, run_at):
    run = Runs(held, "s").run(spoken)
    page = Elements(reading.get(run_at).text)
    for statement in run.transcript:
        assert safe(" ".join(statement.text.split())) in page.text
    scores = {}
    for line in (held / "s" / "scores" / "dri.v1.jsonl").read_text().splitlines():
        score = json.loads(line)
        if score["target"] == spoken and score["measure"] == "dri":
            scores[score["phase"]] = score["value"]
    shown = f"Deliberative Reason Index {scores['pre']:.3f} {scores['post']:.3f} {scores['change']:+.3f}"
    assert shown.replace("-", "−") in page.text
    person, item = run.session.participants[0].id, run.session.survey.items[0]
    before, after = (run.response(person, phase).answers[item.id] for phase in ("pre", "post"))
    drawings = [
        attrs["aria-label"]
        for tag, attrs in page.elements
        if tag == "svg" and "aria-label" in attrs
    ]
    assert any(label.startswith(f"{person}: {before}, then {after};") for label in drawings)


def test_a_call_is_shown_as_it_was_sent(reading, held, spoken):
    records, _ = Runs(held, "s").exchanges(spoken)
    for n in (1, len(records)):
        page = reading.get(f"/s/{spoken}/calls/{n}.html")
        record, text = records[n - 1], Elements(page.text).text
        for message in record["messages"]:
            assert " ".join(message["content"].split()) in text
        assert " ".join(record["completion"]["text"].split()) in text
    assert reading.get(f"/s/{spoken}/calls/{len(records) + 1}.html").status_code == 404


def test_the_list_is_filtered_sorted_and_searched(reading, spoken):
    def rows(query):
        page = reading.get(f"/s/runs.html?{query}").text
        return re.findall(r'<tr class="entry"><th[^>]*>(?:<a [^>]*>)?([^<]+)', page)

    def changes(query):
        page = reading.get(f"/s/runs.html?{query}").text
        lines = page.split('<tr class="entry">')[1:]
        return [
            float(re.findall(r"<td>([^<]*)</td>", line)[-1].replace("−", "-")) for line in lines
        ]

    assert len(rows("")) == 4
    assert rows("treatment=normative&replicate=1") == [spoken]
    assert rows("sort=dri_change&order=desc") == rows("sort=dri_change")[::-1]
    assert set(rows("q=options")) == {name for name in rows("") if "normative" in name}
    for strange in (
        "sort=session;DROP",
        "measure=no&sort=no_pre",
        "page=99999999999",
        "page=-1",
        "q=%22(*",
        "topic=%00",
    ):
        assert reading.get(f"/s/runs.html?{strange}").status_code == 200
    assert rows("replicate=7") == []
    ordered = rows("sort=dri_change")
    shown = changes("sort=dri_change")
    middle = (shown[1] + shown[2]) / 2
    assert rows(f"least={middle}&sort=dri_change") == ordered[2:]
    assert rows(f"most={middle}&sort=dri_change") == ordered[:2]
    assert rows(f"least={middle}&q=options&most=9") == rows(f"least={middle}&treatment=normative")
    assert rows("least=often&most=inf") == rows("")


@pytest.mark.parametrize(
    "address",
    [
        "/nothing/index.html", "/s/nothing/index.html", "/s/scores/index.html", "/s/..%2fs/index.html", "/..%2f..%2fetc/index.html",
        "/%2e%2e/index.html", "/s/%2e%2e/index.html", "/s/%00/index.html", "/~assets/..%2fbase.html", "/~assets/base.html",
        "/s/~figures/..%2f..%2fstudy.svg", "/s/study.json", "/s/notes.jsonl", "/s/CCPS.normative.citizen_rounds1_size3.r1/index.html",
        "/s/ccps.normative.citizen_rounds1_size3.r1/turns-301.html", "/s/ccps.normative.citizen_rounds1_size3.r1/turns-2.html",
        "/s/ccps.normative.citizen_rounds1_size3.r1/run.json", "/s/" + "x" * 5000 + "/index.html",
    ],
)  # fmt: skip
def test_names_leave_no_folder(reading, address):
    answer = reading.get(address)
    assert answer.status_code == 404
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_hostile_text_is_inert_on_every_page(site, hostile, client):
    (name,) = hostile.sessions()
    evil = (
        f"/evil/{name}/index.html",
        "/evil/index.html",
        "/evil/runs.html?q=word",
        f"/evil/{name}/calls/index.html",
    )
    Notes(hostile).add(name, 1, EVIL, EVIL[:40])
    pages = [client.get(address) for address in evil]
    for page in pages:
        assert page.status_code == 200
        assert len(page.content) < 300_000
        assert not set(page.text) & set("\x1b\u202e\u202c")
        for tag, attrs in Elements(page.text).elements:
            assert not [key for key in attrs if key.startswith(("on", "style", "srcdoc"))]
            assert tag not in ("iframe", "object", "embed", "base", "style", "b") or not attrs
            if tag in ("script", "img"):
                assert "~assets/" in attrs["src"]
        assert not [
            link
            for link in Elements(page.text).links()
            if ":" in link and not link.startswith("data:,")
        ]
        assert "49" not in re.findall(r"\]\]&gt; (\S+)", page.text)
    assert safe(" ".join(EVIL.split())[:60]) in Elements(pages[0].text).text
    assert re.search(r"\(250,\d{3} characters in all\)", pages[0].text)  # the rest: its call
    assert "refusal" in pages[0].text


def test_personas_are_closed_until_asked_for_and_can_be_left_out(site, hostile, client):
    (name,) = hostile.sessions()
    address = f"/evil/{name}/index.html"
    open_page = client.get(address).text
    assert PERSONA in open_page
    before = open_page[: open_page.index(PERSONA)]
    assert before.rindex("<details") > before.rfind("</details>")
    assert " open" not in before[before.rindex("<details") :].partition(">")[0]
    site.private = True
    assert PERSONA not in client.get(address).text
    record = {
        "hash": "", "model": "citizen", "seed": 1, "purpose": {"participant": "x", "occasion": "pre", "attempt": 0},
        "messages": [{"role": "user", "content": f"You.\n\n<persona>\n{PERSONA} {EVIL}\n</persona>\n\nAnd as you said: {PERSONA}"}],
        "form": "", "started": "", "seconds": 0.0, "completion": {"text": f"As {PERSONA} {EVIL}"},
    }  # fmt: skip
    hostile.record(name, record)
    page = Elements(client.get(f"/evil/{name}/calls/1.html").text).text
    assert "(left out: persona)" in page
    assert page.count(PERSONA) == 1  # words that only begin like the persona are no persona


def test_the_answers_of_people_can_be_left_out(site, root, spoken, client):
    for file in ("run.json", "session.json"):
        path = root / "s" / spoken / file
        path.write_text(re.sub(r'"kind": ?"citizen"', '"kind":"human"', path.read_text()))
    (path.parent / "SHA256SUMS").unlink()
    address = f"/s/{spoken}/index.html"
    assert 'class="items"' in client.get(address).text
    assert "then" in client.get(address).text
    figure = root / "s" / "analysis" / "figures" / "change.svg"
    figure.parent.mkdir(parents=True)
    figure.write_text("<svg/>")
    (root / "s" / "analysis" / "report.html").write_text("<p>")
    of_analysis = ("/s/~analysis/report.html", "/s/~figures/change.svg")
    assert [client.get(one).status_code for one in of_analysis] == [200, 200]
    assert "<mark>" in client.get("/s/runs.html?q=options").text
    site.private = True
    assert [client.get(one).status_code for one in of_analysis] == [404, 404]
    found = client.get("/s/runs.html?q=options").text
    assert "#turn-1" in found
    assert "<mark>" not in found
    page = client.get(address).text
    assert ", then " not in page
    assert 'id="pairs"' not in page
    said = []
    for n in range(1, len(Runs(site.root, "s").exchanges(spoken)[0]) + 1):
        said.append("left out" in client.get(f"/s/{spoken}/calls/{n}.html").text)
    assert all(said)  # prompts of turns repeat answers


def test_a_session_without_a_readable_run_is_shown_as_far_as_it_is_recorded(client, site, spoken):
    folder = site.root / "s"
    said = Runs(site.root, "s").run(spoken).transcript[0].text
    for name in ("run.json", "SHA256SUMS"):
        (folder / spoken / name).unlink()
    page = client.get(f"/s/{spoken}/index.html").text
    assert "cut off" in page
    assert said[:40] in Elements(page).text
    other = folder / "ccps.none.citizen_size3.r1"
    (other / "run.json").write_text("{")
    page = client.get(f"/s/{other.name}/index.html").text
    assert "damaged" in page
    assert str(site.root) not in page
    failed = Elements(client.get("/s/index.html").text).text
    assert "1 damaged" in failed
    assert "1 no run" in failed


def test_a_study_that_is_being_held_refreshes_itself(client, site):
    asked = "/s/runs.html?treatment=normative&sort=dri_change&order=desc"
    assert "hx-trigger" not in client.get("/s/index.html").text
    assert "every 5s" not in client.get(asked).text
    with Runs(site.root, "s").lock():
        page = client.get("/s/index.html").text
        shown = Elements(client.get(asked).text)
        (runs,) = [attrs for _, attrs in shown.elements if attrs.get("id") == "list"]
        again = Elements(client.get(urljoin(asked, runs["hx-get"])).text)
    assert runs["hx-trigger"] == "every 5s"
    assert again.text == shown.text  # it asks for the same runs in the same order
    assert shown.text.count("ccps.normative") == 2
    assert "this list refreshes itself" in shown.text
    assert 'hx-trigger="every 5s"' in page
    assert "4 of 4 sessions held" in page


def test_pages_are_there_while_the_index_is_made_and_right_after_it(site, spoken, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def held_up(self, *args):
        begun.set()
        assert go_on.wait(30)
        return REFRESH(self, *args)

    monkeypatch.setattr(StudyIndex, "refresh", held_up)
    site.patience = 0.01
    with client_of(site) as client:
        assert client.get("/").status_code == 200
        page = client.get("/s/index.html").text
        assert begun.is_set()
        assert "The index of this study is being made" in page
        assert 'hx-trigger="every 1s"' in page
        assert "No session of this study" not in page
        runs = Elements(client.get("/s/runs.html").text)
        assert "is being made" in runs.text
        assert f"{spoken}/index.html" in runs.links()
        run = Elements(client.get(f"/s/{spoken}/index.html").text)
        assert "Deliberative Reason Index" in run.text
        assert "the same replicate under other treatments" in run.text
        go_on.set()
        until = time.monotonic() + 60
        while "is being made" in (page := client.get("/s/index.html").text):
            assert time.monotonic() < until
            time.sleep(0.05)
    assert "4 complete" in Elements(page).text
    assert "Deliberative Reason Index" in Elements(page).text
    assert "hx-trigger" not in page
    assert "is being made" not in client.get("/s/runs.html").text
    monkeypatch.setattr(StudyIndex, "refresh", REFRESH)
    for name in ("run.json", "SHA256SUMS"):
        (site.root / "s" / spoken / name).unlink()
    site.patience = 60
    assert "1 no run" in Elements(client.get("/s/index.html").text).text


def test_what_goes_wrong_with_the_index_is_told_once(site, monkeypatch, capfd):
    def broken(self, *args):
        raise OSError("no space left on device")

    monkeypatch.setattr(StudyIndex, "refresh", broken)
    site.patience = 5
    client = client_of(site)
    assert client.get("/s/index.html").status_code == 500
    assert "no space left on device" in capfd.readouterr().err
    monkeypatch.setattr(StudyIndex, "refresh", REFRESH)
    site.patience = 60
    assert "4 complete" in Elements(client.get("/s/index.html").text).text


def test_notes_are_written_on_the_page_and_beside_the_study(client, site, spoken):
    run = site.root / "s" / spoken / "run.json"
    before = run.read_bytes()
    at = f"/s/{spoken}/~notes"
    form = {"turn": "2", "text": "A turning point", "tags": "key"}
    answer = client.post(at, data=form, headers=OWN, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "index.html#turn-2")
    page = client.get(f"/s/{spoken}/index.html").text
    assert "A turning point" in page
    assert "A turning point" in client.get("/s/index.html").text
    (id,) = re.findall(r'name="id" value="([0-9a-f]+)"', page)
    client.post(f"{at}/remove", data={"id": id}, headers=OWN)
    assert "A turning point" not in client.get(f"/s/{spoken}/index.html").text
    assert run.read_bytes() == before
    assert client.post(at, data={"turn": "x", "text": "y"}, headers=OWN).status_code == 400
    assert client.post(at, data={"text": ""}, headers=OWN).status_code == 400
    assert client.post(at, data={"text": "x" * 300_000}, headers=OWN).status_code == 413
    assert client.post(at, json={"text": "y"}, headers=OWN).status_code == 415
    site.read_only = True
    assert client.post(at, data=form, headers=OWN).status_code == 403
    assert '<form method="post"' not in client.get(f"/s/{spoken}/index.html").text


def test_a_study_that_is_new_or_damaged_or_of_texts_has_a_page(client, site):
    empty = site.root / "t"
    empty.mkdir()
    shutil.copy(site.root / "s" / "study.json", empty)
    plain = json.loads((empty / "study.json").read_text())
    (empty / "study.json").write_text(json.dumps(plain | {"study": "t", "sessions": []}))
    assert "No session of this study was begun yet" in client.get("/t/index.html").text
    assert client.get("/t/runs.html").status_code == 200
    (site.root / "u").mkdir()
    (site.root / "u" / "study.json").write_text("{")
    page = client.get("/").text
    assert "u: its study.json cannot be read" in page
    assert client.get("/u/index.html").status_code == 400
