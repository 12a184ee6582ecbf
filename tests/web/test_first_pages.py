"""The first page, which lists all studies, and the page of all models: what they take from files,
and what of these is hostile, damaged, missing or being held.
"""

import json
import os
import re
from dataclasses import replace
from html import unescape

import pytest
from hostile import EVIL, PERSONA
from starlette.testclient import TestClient

from delibsim.conduct.model_results import results_of_models
from delibsim.domain.study import natural
from delibsim.store.runs import Runs
from delibsim.web.guard import Guard
from delibsim.web.pages import write_static
from delibsim.web.serve import application
from delibsim.web.site import Site

FAILED = {"status": "quota", "detail": f"no credit {PERSONA}", "provider": "openai"}
EFFECT = {"contrast": "normative − none", "outcome": "dri", "estimate": 0.5, "told": "told .500"}


def client_of(site):
    return TestClient(Guard(application(site), 8377), base_url="http://127.0.0.1:8377")


def text_of(page):
    return " ".join(unescape(re.sub("<[^>]*>", " ", page)).split())


@pytest.fixture
def client(site):
    return client_of(site)


def analysed(runs, **changes):
    """Write what the finding of a study would say in short."""
    (runs.folder / "analysis").mkdir(exist_ok=True)
    plain = {"topics": {"ccps": "What of it?"}, "effects": [EFFECT], "sessions": 4} | changes
    path = runs.folder / "analysis" / "finding.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    return path


def named(root, study, **changes):
    """The study `s` again under another name."""
    other, runs = Runs(root, study), Runs(root, "s")
    other.settle(replace(runs.manifest(), study=study, **changes))
    return other


def listed(client, query=""):
    page = client.get(f"/index.html{query}").text
    rows = page.split('<tr class="entry">')[1:]
    return [text_of(row.partition("</tr>")[0]) for row in rows]


def test_a_study_is_listed_with_what_analyze_found_and_what_is_known_of_it(client, root):
    (row,) = listed(client)
    asked = json.loads(next(root.glob("s/*/session.json")).read_text())["topic"]["question"]
    for told in (asked, "citizen", "none, normative", "4 of 4", "0.00", "not analysed yet"):
        assert told in row
    analysed(Runs(root, "s"), sessions=3)
    (row,) = listed(client)
    assert "What of it?" in row
    assert "normative − none: told .500" in row
    assert "analysed before 1 more session was held" in row
    assert "analyze" not in row


def test_studies_are_searched_and_sorted_with_what_is_missing_last(client, root):
    analysed(Runs(root, "s"))
    for study, estimate in (("b2", 0.9), ("b10", None)):
        effect = EFFECT | {"estimate": estimate}
        analysed(named(root, study, begun={"at": f"2020-01-{estimate or 0.5}"}), effects=[effect])
    first = [row.split()[0] for row in listed(client)]
    assert first == sorted(first, key=natural) == ["b2", "b10", "s"]
    by = {
        "sort=effect&order=desc": "b2 s b10",
        "sort=effect": "s b2 b10",
        "sort=no&order=desc": "b2 b10 s",
    }
    for query, order in by.items():
        assert [row.split()[0] for row in listed(client, f"?{query}")] == order.split()
    assert [row.split()[0] for row in listed(client, "?q=WHAT+b2")] == ["b2"]
    page = client.get("/index.html?q=b2&sort=effect").text
    assert "1 of 3 studies" in page
    assert "order=desc" in page
    assert "No study holds these words" in client.get("/index.html?q=lamp").text


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"effects": 3}',
        '{"effects": [{"told": 1}]}',
        "[" * 100_000,
        '{"topics": {"a": 1}}',
    ],
)
def test_a_finding_that_is_damaged_is_one_that_is_not_there(client, root, content):
    analysed(Runs(root, "s")).write_text(content, encoding="utf-8")
    assert "not analysed yet" in listed(client)[0]


def test_a_link_or_a_pipe_in_the_place_of_a_finding_is_not_followed(client, root, tmp_path):
    path = analysed(Runs(root, "s"))
    path.rename(tmp_path / "finding.json")
    path.symlink_to(tmp_path / "finding.json")
    assert "not analysed yet" in listed(client)[0]
    path.unlink()
    os.mkfifo(path)
    assert "not analysed yet" in listed(client)[0]


def test_texts_of_others_are_inert_and_left_out_where_personas_are(root, tmp_path):
    effect = EFFECT | {"contrast": EVIL, "told": PERSONA}
    analysed(Runs(root, "s"), topics={"ccps": EVIL}, effects=[effect])
    page = client_of(Site(root, cache=tmp_path / "cache")).get("/index.html").text
    assert PERSONA in page
    assert "<img" not in page
    assert "\u202e" not in page
    private = Site(root, private=True, static=True, cache=tmp_path / "cache")
    write_static(private, tmp_path / "out", lambda *_: None)
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert PERSONA not in page
    assert "left out" in page


def test_a_study_that_is_being_held_shows_money_failures_and_the_last_statement(
    root, tmp_path, spoken
):
    runs = Runs(root, "s")
    (runs.path(spoken) / "run.json").unlink()
    record = json.loads((runs.path(spoken) / "exchanges.jsonl").read_text().split("\n")[0])
    runs.record(spoken, record | {"completion": record["completion"] | FAILED})
    said = record | {"purpose": {"participant": "P1", "occasion": "turn 9", "attempt": 0}}
    runs.record(spoken, said | {"completion": {"status": "ok", "text": "The last word."}})
    with runs.lock():
        for private in (False, True):
            client = client_of(Site(root, private=private, cache=tmp_path / "cache"))
            for address in ("/index.html", "/s/index.html"):
                page = text_of(client.get(address).text)
                assert "Being held now." in page
                assert "USD spent" in page
                assert ("no credit left: 1 session, 1 call" in page) is not private
                assert ("P1, turn 9: The last word." in page) is not private
                assert PERSONA not in page or not private
        assert 'hx-trigger="every 5s"' in client.get("/index.html").text
    assert "Being held" not in client.get("/index.html").text


def test_models_stand_side_by_side_and_lead_to_their_record(client, root, tmp_path):
    named(root, "empty")
    (root / "texts").mkdir()
    (root / "texts" / "study.json").write_text("{", encoding="utf-8")
    page = client.get("/models.html").text
    shown = text_of(page)
    assert "people, published" in shown
    assert "texts:" in shown
    result, faults = results_of_models([root / "s", root / "texts"])
    (row, _) = result.plain()
    assert f"{row['estimate']:.3f}".replace("0.", ".").replace("-", "−") in shown
    assert [fault.partition(":")[0] for fault in faults] == ["texts"]
    (link,) = re.findall('href="([^"]*model=[^"]*)"', page)
    runs = text_of(client.get(f"/{unescape(link)}").text)
    assert "ccps.normative" in runs
    assert "ccps.none" not in runs
    assert client.get("/models.csv").text.startswith("rank,who,model,version,treatment")
    site = Site(root, Runs(root, "s"), static=True, cache=tmp_path / "cache")
    write_static(site, tmp_path / "out", lambda *_: None)
    assert 'href="s/runs.html"' in (tmp_path / "out" / "models.html").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "models.csv").read_text() == result.rows.to_csv(index=False)


def test_a_study_that_is_a_link_is_no_row_and_is_read_where_it_is_named(root, tmp_path):
    (root / "s").rename(tmp_path / "elsewhere")
    (root / "s").symlink_to(tmp_path / "elsewhere")
    site = Site(root, cache=tmp_path / "cache")
    assert "s is a link" in client_of(site).get("/index.html").text
    assert client_of(site).get("/s/index.html").status_code == 400
    named = Site(root, Runs(root, "s"), cache=tmp_path / "cache")
    assert client_of(named).get("/s/index.html").status_code == 200
    result, faults = results_of_models([root / "s"])
    assert not result.given
    assert "it is a link" in faults[0]
