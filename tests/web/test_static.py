"""The pages as files: every link leads to a file of the folder, and nothing private is in them."""

import re
from urllib.parse import unquote, urldefrag

import pytest
from hostile import EVIL, PERSONA

from delibsim.domain.errors import WrongInput
from delibsim.store.notes import Notes
from delibsim.store.places import is_run
from delibsim.store.runs import Runs
from delibsim.web.pages import write_static
from delibsim.web.site import Site

LINK = re.compile(r'(?:href|src|action)="([^"]*)"')
KEY = "sk-0123456789abcdefghijklmnop"


def written(site, folder):
    write_static(site, folder, lambda *_: None)
    return {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}


def check_links(files, folder):
    for path in files.values():
        if path.suffix != ".html":
            continue
        for link in LINK.findall(path.read_text(encoding="utf-8")):
            target = unquote(urldefrag(link).url.partition("?")[0])
            if link.startswith(("data:,", "#")):
                continue
            assert "://" not in link
            assert not link.startswith(("/", "file:", "\\"))
            place = (path.parent / target).resolve()
            assert place.is_relative_to(folder.resolve())
            assert place.is_file(), (path, link)


def test_a_folder_of_pages_needs_nothing_else(
    root, hostile, branched, spoken, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    Notes(Runs(root, "s")).add(spoken, 1, f"my key is {KEY}")
    site = Site(root, read_only=True, static=True, cache=tmp_path / "cache")
    files = written(site, tmp_path / "out")
    assert {"index.html", "manifest.json"} <= {str(name) for name in files}
    check_links(files, tmp_path / "out")
    assert any(str(name).startswith("s~forks/") for name in files)
    for name, path in files.items():
        text = path.read_text(encoding="utf-8")
        assert KEY not in text, name
        assert str(root) not in text, name
        assert str(tmp_path) not in text, name
        if path.suffix == ".html":
            assert '<form method="post"' not in text
            assert text.count("<script ") == text.count("~assets/reader.js")
            assert re.search(r'Content-Security-Policy" content="default-src &#39;none&#39;', text)
    assert "my key is" in (tmp_path / "out" / "s" / "index.html").read_text(encoding="utf-8")


def pages_of(folder, name):
    return set(LINK.findall((folder / name / "index.html").read_text()))


def test_comparisons_are_written_of_forks_and_of_treatments_of_one_replicate(
    root, branched, spoken, tmp_path, monkeypatch
):
    folder = tmp_path / "out"
    site = Site(root, static=True, cache=tmp_path / "cache")
    files = written(site, folder)
    pages = sorted(name for name in map(str, files) if "beside-" in name)
    assert len(pages) == 3  # a fork, and either replicate under two treatments
    check_links(files, folder)
    control = "ccps.none.citizen_size3.r1"
    (fork,) = Runs.at(branched.folder / "forks").sessions()
    linked = {
        name: [link for link in pages_of(folder, name) if "beside-" in link]
        for name in (f"s/{spoken}", f"s/{control}", f"s~forks/{fork}")
    }
    assert [len(links) for links in linked.values()] == [2, 1, 1]
    of_fork = (folder / "s" / spoken / linked[f"s~forks/{fork}"][0]).resolve().read_text()
    assert "<ins>" in of_fork
    assert "I have changed my mind about the bills." in of_fork
    of_treatments = (folder / "s" / control / linked[f"s/{control}"][0]).resolve().read_text()
    assert "One replicate (seed 7, topic ccps, replicate 1)" in of_treatments
    assert "3 comparisons of two runs" in (folder / "s" / "index.html").read_text().lower()
    monkeypatch.setattr("delibsim.web.site.MOST_COMPARED", 1)
    site = Site(root, static=True, cache=tmp_path / "cache")
    (one, why) = write_static(site, folder, lambda *_: None).notes
    assert one == "s: 1 comparison of two runs, on the pages of these runs"
    assert "2 comparisons of one replicate under two treatments would be more than" in why
    assert not list((folder / "s" / control).glob("beside-*"))
    assert "are left out" in (folder / "s" / control / "index.html").read_text()


def test_a_run_that_cannot_be_read_does_not_stop_the_others(root, spoken, tmp_path):
    (root / "s" / spoken / "run.json").write_text("{")
    files = written(Site(root, static=True, cache=tmp_path / "cache"), tmp_path / "out")
    check_links(files, tmp_path / "out")
    pages = [path.read_text() for name, path in files.items() if "beside-" in str(name)]
    assert len(pages) == 2
    assert sum("its own page says why" in page for page in pages) == 1


def test_one_run_without_personas(root, hostile, tmp_path):
    (name,) = hostile.sessions()
    Notes(hostile).add(name, 1, "for me alone")
    site = Site(root, hostile, name, private=True, static=True, cache=tmp_path / "cache")
    files = written(site, tmp_path / "out")
    check_links(files, tmp_path / "out")
    for path in files.values():
        text = path.read_text(encoding="utf-8")
        assert PERSONA not in text
        assert "for me alone" not in text
        assert EVIL not in text


def test_a_study_without_personas_shows_no_report_and_nothing_of_a_session_cut_off(
    root, hostile, tmp_path
):
    (name,) = hostile.sessions()
    persona = hostile.planned(name).participants[0].persona
    figures = hostile.folder / "analysis" / "figures"
    figures.mkdir(parents=True)
    (figures.parent / "report.html").write_text(f"<p>{PERSONA}</p>")
    (figures / "change.svg").write_text(f"<svg><title>{PERSONA}</title></svg>")
    who = hostile.planned(name).participants[0].id
    for status, text, detail in (("ok", f"As {persona}", ""), ("unreadable", "", persona)):
        record = {
            "hash": "", "model": "citizen", "seed": 1, "messages": [], "form": "", "started": "", "seconds": 0.0,
            "purpose": {"participant": who, "occasion": "turn 1", "attempt": 0},
            "completion": {"text": text, "status": status, "detail": detail},
        }  # fmt: skip
        hostile.record(name, record)
    (hostile.folder / name / "run.json").unlink()

    def texts(private):
        folder = tmp_path / f"out-{private}"
        site = Site(root, hostile, private=private, static=True, cache=tmp_path / "cache")
        files = written(site, folder)
        check_links(files, folder)
        return {str(name): path.read_text(encoding="utf-8") for name, path in files.items()}

    shown, hidden = texts(False), texts(True)
    places = {name for name, text in shown.items() if PERSONA in text}
    page = f"evil/{name}/"
    assert places == {
        "evil/index.html",
        "evil/~analysis/report.html",
        "evil/~figures/change.svg",
        f"{page}index.html",
        f"{page}calls/index.html",
        f"{page}calls/1.html",
        f"{page}calls/2.html",
    }
    assert not [name for name, text in hidden.items() if PERSONA in text]
    assert set(shown) - set(hidden) == {"evil/~analysis/report.html", "evil/~figures/change.svg"}
    assert "are left out, since they may hold personas" in hidden["evil/index.html"]
    assert "(left out: persona)" in hidden[f"{page}index.html"]


def test_forks_alone_are_written_without_links_to_what_is_not_there(branched, root, tmp_path):
    assert not is_run("s/forks", root)
    forks = Runs.at(branched.folder / "forks")
    assert is_run(f"s/forks/{forks.sessions()[0]}", root)
    site = Site(root, forks, static=True, cache=tmp_path / "cache")
    files = written(site, tmp_path / "out")
    assert any(str(name).startswith("s~forks/") for name in files)
    check_links(files, tmp_path / "out")


def test_only_a_folder_of_pages_is_replaced(root, tmp_path):
    site = Site(root, static=True, cache=tmp_path / "cache")
    folder = tmp_path / "out"
    first = set(written(site, folder))
    assert set(written(site, folder)) == first
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(WrongInput, match="--static FOLDER"):
        write_static(site, folder, lambda *_: None)
    assert (folder / "mine.txt").read_text() == "mine"
