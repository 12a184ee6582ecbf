"""README and guide do what they say: their Python and their commands run, page by page, and print
what stands below them.

Blocks marked `python` run in order, with the names of those above them. In blocks marked `console`,
lines that begin with `$ ` are commands; one that is to fail says so in a comment (`# exit code 4`).
A block marked `text` right below is what they print: `...` stands for lines left out. Blocks of
other kinds are not run. A page works in an empty folder of its own.
"""

import contextlib
import io
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from delibsim.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MADE = {
    ROOT / "docs" / "api" / f"{name}.md" for name in ("names", "measures", "testing")
}  # by make docs; see test_api_pages.py
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>[\w-]*)[^\n]*\n(?P<body>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
KINDS = {"python", "console", "text", "sh", "yaml", "toml", "json", "r", "bibtex", "mermaid"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its kind, its text, the line it begins on, and what a `text` block
    right below says it prints.
    """

    kind: str
    body: str
    line: int
    prints: str | None = None


def blocks_of(text):
    """The blocks of a page, in order."""
    matches = list(FENCE.finditer(text))
    found = []
    for match, below in itertools.zip_longest(matches, matches[1:]):
        adjacent = (
            below is not None
            and below["kind"] == "text"
            and not text[match.end() : below.start()].strip()
        )
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match["kind"], match["body"], line, below["body"] if adjacent else None))
    return found


def commands_of(body):
    """The commands of a console block with the exit code each is to end with."""
    said = 0
    for line in body.splitlines():
        code = re.search(r"#.*\bexit code (\d+)", line)
        if line.startswith("$ "):
            yield re.sub(r"\s#.*", "", line[2:]), int(code[1]) if code else said
            said = 0
        elif code and line.startswith("#"):
            said = int(code[1])


def run_command(command, folder):
    """Exit code, output and errors of a command; a plain `delibsim` command runs in this process,
    which is faster.
    """
    words = shlex.split(command)
    if words[0] != "delibsim" or re.search(r"[|<>;&`$*]", command.replace("\\", "")):
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr
    out, err, argv, on_terminate = (
        io.StringIO(),
        io.StringIO(),
        sys.argv,
        signal.getsignal(signal.SIGTERM),
    )
    sys.argv = words
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code = 0
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = argv
        signal.signal(signal.SIGTERM, on_terminate)
    return code, out.getvalue(), err.getvalue()


def missing_lines(expected, output):
    """The lines a page promises that the output does not hold, in their order; runs of space count
    as one.
    """
    lines = iter([" ".join(line.split()) for line in output.splitlines()])
    wanted = [" ".join(line.split()) for line in expected.splitlines()]
    return [
        line for line in wanted if line.strip(" .…") and not any(line == other for other in lines)
    ]


def run_page(path, folder):
    """Run every block of a page in a folder; AssertionError with page and line for what fails."""
    names = {"__name__": "__main__"}
    for block in blocks_of(path.read_text(encoding="utf-8")):
        where = f"{path.name}, line {block.line}"
        printed = ""
        if block.kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.body, where, "exec"), names)
            printed = out.getvalue()
        elif block.kind == "console":
            for command, expected in commands_of(block.body):
                if "../shared" in command and not SHARED.is_dir():
                    continue
                code, out, err = run_command(command, folder)
                assert code == expected, (
                    f"{where}: {command}: exit code {code}, not {expected}\n{out}\n{err}"
                )
                printed += out + err
        if block.kind in ("python", "console") and block.prints:
            assert missing_lines(block.prints, printed) == [], (
                f"{where}: does not print what stands below it, but\n{printed}"
            )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder beside which, where it exists, the shared data lies."""
    work = tmp_path / "work"
    work.mkdir()
    if SHARED.is_dir():
        (tmp_path / "shared").symlink_to(SHARED)
    monkeypatch.chdir(work)
    return work


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_does_what_it_says(path, folder):
    run_page(path, folder)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_block_has_a_known_kind_and_commands_stand_where_they_are_run(path):
    for block in blocks_of(path.read_text(encoding="utf-8")):
        assert block.kind in KINDS, (
            f"{path.name}, line {block.line}: a block of kind '{block.kind}'"
        )
        if block.kind == "console":
            assert list(commands_of(block.body)), (
                f"{path.name}, line {block.line}: a console block without a command"
            )
        elif block.kind != "python":
            assert not re.search(r"^\$ ", block.body, re.MULTILINE), (
                f"{path.name}, line {block.line}: commands belong into console blocks"
            )


def test_the_first_page_shows_commands_and_python():
    kinds = {block.kind for block in blocks_of((ROOT / "README.md").read_text(encoding="utf-8"))}
    assert {"python", "console"} <= kinds
    assert any(
        block.kind == "console"
        for block in blocks_of((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    )


def anchors_of(path):
    """The anchors that headings of a page give."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h).lower())
        .strip()
        .replace(" ", "-")
        for h in headings
    }


UPKEEP = [ROOT / name for name in ("CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")]


@pytest.mark.parametrize("path", [*PAGES, *UPKEEP], ids=lambda path: path.name)
def test_links_inside_the_repository_lead_somewhere(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        assert place.exists() or place in MADE, f"{path.name} links to {target}"
        if anchor and place.suffix == ".md":
            assert anchor in anchors_of(place), (
                f"{path.name} links to {target}; anchors there: {sorted(anchors_of(place))}"
            )


# the runner itself: it must be able to fail


def a_page(folder, text):
    page = folder / "page.md"
    page.write_text(text.replace("'''", "```"), encoding="utf-8")
    return page


GOOD = """
'''python
x = 1
'''

'''python
print(x + 1)
print("done")
'''

'''text
2
...
'''

'''console
$ delibsim topics ccsp  # exit code 2
# exit code 2
$ delibsim topics ccsp
$ delibsim topics ccps
$ echo a | tr a b
$ echo ../shared
'''

'''sh
exit 9
'''
"""


def test_a_page_that_keeps_its_word_passes(folder):
    run_page(a_page(folder, GOOD), folder)
    assert [
        block.kind for block in blocks_of((folder / "page.md").read_text(encoding="utf-8"))
    ] == "python python text console sh".split()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("'''python\nassert 1 == 2, 'no'\n'''\n", "no"),
        ("'''console\n$ delibsim topics ccsp\n'''\n", "exit code 2, not 0"),
        ("'''console\n$ delibsim topics ccps # exit code 4\n'''\n", "exit code 0, not 4"),
        ("'''console\n$ false\n'''\n", "exit code 1, not 0"),
        ("'''python\nprint(3)\n'''\n\n'''text\n2\n'''\n", "does not print"),
        ("'''console\n$ delibsim topics ccps\n'''\n\n'''text\nid: acp\n'''\n", "does not print"),
    ],
)
def test_a_page_that_breaks_its_word_is_found_out(folder, text, fault):
    with pytest.raises(AssertionError, match=fault):
        run_page(a_page(folder, text), folder)
