"""A study may come from somebody else: no link of it is followed, and of its analysis only what
delibsim would write is shown, by the server, in pages to share, and in a run that is shared.
"""

import os
import re
import shutil
from pathlib import Path

import pytest
from cases import cases_of
from starlette.testclient import TestClient

import delibsim
from delibsim.conduct.reading.written import why_foreign
from delibsim.conduct.view import shared_view
from delibsim.domain.errors import WrongInput
from delibsim.store.notes import Notes
from delibsim.store.runs import Runs
from delibsim.web.guard import Guard
from delibsim.web.pages import write_static
from delibsim.web.serve import application
from delibsim.web.site import Site

CASES = cases_of(__file__)
SECRET = "wrote-this-for-nobody-else"
ADDRESS = "http://127.0.0.1:8377"
ROUTES = (
    "", "s/index.html", "s/runs.html", "s/runs.html?q=the", "s/~analysis/report.html", "s/~figures/change.svg", "s/RUN/index.html",
    "s/RUN/calls/index.html", "s/RUN/calls/1.html", "s/OTHER/index.html", "s/OTHER/beside.html?with=RUN",
    "s~forks/index.html", "s~forks/runs.html",
)  # fmt: skip


@pytest.fixture
def outside(root, tmp_path, spoken):
    """A study elsewhere that is private: every text in it holds the secret."""
    copied = shutil.copytree(root / "s", tmp_path / "private" / "s")
    run = Runs.at(copied).run(spoken)
    for path in copied.rglob("*.json*"):
        path.write_text(path.read_text().replace(run.transcript[0].text[:30], SECRET))
    Notes(Runs.at(copied)).add(spoken, 1, SECRET)
    figures = copied / "analysis" / "figures"
    figures.mkdir(parents=True)
    (copied / "analysis" / "report.html").write_text(f"<p>{SECRET}</p>")
    (figures / "change.svg").write_text(f"<svg><title>{SECRET}</title></svg>")
    return copied


def read(site, spoken):
    """What every route answers, as text."""
    client = TestClient(Guard(application(site), 8377), ADDRESS, raise_server_exceptions=False)
    other = "ccps.none.citizen_size3.r1"
    answers = []
    for route in ROUTES:
        answer = client.get("/" + route.replace("RUN", spoken).replace("OTHER", other))
        assert answer.status_code < 500, route
        answers.append(answer.text)
    return answers


PLACES = (
    "analysis", "analysis/report.html", "analysis/figures", "analysis/figures/change.svg", "RUN", "RUN/run.json", "RUN/session.json",
    "RUN/exchanges.jsonl", "study.json", "notes.jsonl", "scores", "scores/dri.v1.jsonl", "fork", "annotations", "sessions.jsonl",
)  # fmt: skip


@pytest.mark.parametrize(
    ("place", "kind"),
    [*((place, "link") for place in PLACES), *((place, "pipe") for place in PLACES[1:9:2])],
)
def test_nothing_that_lies_elsewhere_is_read(root, tmp_path, spoken, outside, place, kind):
    own = root / "s" / place.replace("RUN", spoken)
    target = outside / place.replace("RUN", spoken)
    if not target.exists():  # any other folder of the private study
        target = outside
    if own.is_dir():
        shutil.rmtree(own)
    own.unlink(missing_ok=True)
    own.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        own.symlink_to(target)
    else:
        os.mkfifo(own)  # whoever opened it would wait for ever
    site = Site(root, cache=tmp_path / "cache", fresh=0.0)
    for answer in read(site, spoken):
        assert SECRET not in answer
    site.close()
    static = Site(root, static=True, read_only=True, cache=tmp_path / "cache", fresh=0.0)
    written = write_static(static, tmp_path / "out", lambda *_: None)
    for path in (tmp_path / "out").rglob("*"):
        assert not path.is_symlink()
        assert path.is_dir() or SECRET not in path.read_text(encoding="utf-8")
    if (tmp_path / "out" / "s").is_dir():
        assert (tmp_path / "out" / "s" / spoken / "index.html").is_file()
    else:
        assert "is no file but a link, a pipe or a device" in " ".join(written.left_out)
    if place.startswith("RUN") or place == "scores":
        with pytest.raises(WrongInput, match="only files that lie in the study are read"):
            shared_view(Runs(root, "s"), spoken)


def test_a_note_is_not_written_through_a_link(root, tmp_path, spoken):
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    (root / "s" / "notes.jsonl").symlink_to(mine)
    client = TestClient(Guard(application(Site(root, cache=tmp_path / "cache")), 8377), ADDRESS)
    answer = client.post(f"/s/{spoken}/~notes", data={"text": "x"}, headers={"origin": ADDRESS})
    assert answer.status_code == 400
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("figure", "text"),
    CASES["what_could_run_load_or_lead_elsewhere_is_none_of_ours"],
)
def test_what_could_run_load_or_lead_elsewhere_is_none_of_ours(figure, text):
    assert why_foreign(text.encode(), figure)


def test_every_attribute_of_our_pages_is_ours():
    pages = Path(delibsim.__file__).parent / "data" / "pages"
    texts = [path.read_text(encoding="utf-8") for path in pages.glob("*.html")]
    names = {name for text in texts for name in re.findall(r'[\s}]([a-z][a-z-]*)="', text)}
    assert "data-head" in names
    for name in names - {
        "charset",
        "href",
        "http-equiv",
        "src",
        "srcset",
        "type",
    }:  # of certain values
        assert why_foreign(f'<td {name}="Note">x</td>'.encode(), False) == "", name


def test_a_report_and_a_figure_that_are_none_of_ours_are_left_out(root, tmp_path):
    folder = root / "s" / "analysis"
    (folder / "figures").mkdir(parents=True)
    (folder / "report.html").write_text("<p>All is well<script>alert(1)</script>")
    (folder / "figures" / "change.svg").write_text('<svg onload="alert(1)"/>')
    (folder / "figures" / "good.svg").write_text("<svg/>")
    site = Site(root, cache=tmp_path / "cache", fresh=0.0)
    client = TestClient(Guard(application(site), 8377), ADDRESS)
    names = ("~analysis/report.html", "~figures/change.svg", "~figures/good.svg")
    assert [client.get(f"/s/{name}").status_code for name in names] == [404, 404, 200]
    page = client.get("/s/index.html").text
    assert [f'="{name}"' in page for name in names] == [False, False, True]
    site.static = True
    written = write_static(site, tmp_path / "out", lambda *_: None)
    assert [(tmp_path / "out" / "s" / name).exists() for name in names] == [False, False, True]
    for told in (page, " ".join(written.left_out)):
        assert "nalysis/report.html is left out: it holds the element script" in told
        assert (
            "nalysis/figures/change.svg is left out: it holds the attribute onload of svg" in told
        )
