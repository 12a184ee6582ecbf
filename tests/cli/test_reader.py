"""`delibsim view`: what it says before it serves, a real server, pages as files."""

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request

from small_study import SMALL


def test_pages_are_written_as_files(delibsim, study, home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    answer = delibsim("view", f"s/{study.name}", "--static", "pages", "--without-personas")
    assert answer.code == 0
    assert answer.out.startswith("written: pages/index.html and ")
    assert (home / "pages" / "index.html").is_file()


def test_an_address_that_is_taken_or_none_is_refused(delibsim, study, home, monkeypatch):
    from delibsim.web.serve import bound

    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    with bound("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        answer = delibsim("view", "s", "--port", port, "--no-browser")
    assert answer.code == 2
    assert f"cannot be served on 127.0.0.1, port {port}" in answer.err
    answer = delibsim("view", "s", "--host", "no.such.host.invalid", "--no-browser")
    assert answer.code == 2
    assert "name another" in answer.err


def test_a_real_server_is_read_and_ended_by_ctrl_c(study, home):
    words = [
        sys.executable,
        "-m",
        "delibsim.cli.main",
        "view",
        f"s/{study.name}",
        "--port",
        "0",
        "--no-browser",
    ]
    server = subprocess.Popen(
        words,
        cwd=home,
        env=dict(os.environ),  # without what readline sets behind it
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = server.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/\S+", line)[0]
        with urllib.request.urlopen(address) as answer:
            page = answer.read().decode()
    finally:
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=30)
    assert study.name in page
    assert "server" not in answer.headers
    assert server.returncode == 0
    assert "Traceback" not in out + err


def test_one_study_that_is_left_out_leaves_the_others(delibsim, study, home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    root, pages = home / "runs", home / "pages"
    shutil.copytree(root / "s", root / "t")
    (root / "t" / study.name / "more.json").symlink_to("/etc/hostname")
    answer = delibsim("view", "--static", "pages")
    assert answer.code == 3
    assert (
        f"t is left out: {study.name}/more.json in the folder of the study t is no file"
        in answer.err
    )
    assert (pages / "s" / "index.html").is_file()
    assert not (pages / "t").exists()
    assert delibsim("view", "t", "--static", "others").code == 2


def test_what_delibsim_writes_is_shown_as_it_is(delibsim, home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    design = ("study=a", "topic=ccps", "treatment=none,basic", "replicate=1,2", "seed=7", *SMALL)
    assert delibsim("run", "-q", "-m", *design).code == 0
    assert delibsim("analyze", "a").code == 0
    assert delibsim("view", "a", "--static", "pages").code == 0
    analysis, pages = home / "runs" / "a" / "analysis", home / "pages" / "a"
    figures = sorted((analysis / "figures").glob("*.svg"))
    assert len(figures) > 3
    for name in ("finding.html", "report.html"):
        assert (pages / "~analysis" / name).read_bytes() == (analysis / name).read_bytes()
    page = (pages / "index.html").read_text(encoding="utf-8")
    assert page.index("~analysis/finding.html") < page.index("~analysis/report.html")
    effects, before = page.index("~figures/effects.svg"), page.index("~figures/before_after.svg")
    assert effects < before, "in the order of the report"
    assert "<figcaption>Effects of treatments on the Deliberative Reason Index<details>" in page
    for path in figures:
        assert (pages / "~figures" / path.name).read_bytes() == path.read_bytes()
