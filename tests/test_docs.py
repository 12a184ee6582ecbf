"""README and guide do what they say: their Python and their commands run, page by page, and print
what stands below them.

Blocks marked `python` run in order, with the names of those above them. In blocks marked `console`,
lines that begin with `$ ` are commands; one that is to fail says so in a comment (`# exit code 4`).
A block marked `text` is what the nearest of them above it prints, from the first line to the last,
spaces counted as one: a line `...` stands for any lines left out, `...` within a line for what
varies. What is neither run nor printed (formulas, trees of files) is marked `plain`. Commands that
name the folder PATH need the published answers of people; where those are not at hand, the rest of
the page is run without them. A page works in an empty folder of its own.
"""

import ast
import contextlib
import importlib.util
import inspect
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from cases import cases_of

from delibsim.cli.main import main

CASES = cases_of(__file__)
ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
PATH = SHARED / "data" / "dri"  # the published instruments and answers of people
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REPRODUCTIONS = sorted((ROOT / "docs" / "reproductions").glob("*.md"))
"""Pages whose commands test_reproductions.py runs, since a script writes what they print."""
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>[\w-]*)[^\n]*\n(?P<body>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
KINDS = {
    "python",
    "console",
    "text",
    "plain",
    "sh",
    "yaml",
    "toml",
    "json",
    "markdown",
    "r",
    "bibtex",
    "mermaid",
    "ini",
    "nginx",
    "caddy",
    "dockerfile",
}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its kind, its text and the line it begins on."""

    kind: str
    body: str
    line: int


def blocks_of(text):
    """The blocks of a page, in order."""
    return [
        Block(match["kind"], match["body"], text.count("\n", 0, match.start()) + 1)
        for match in FENCE.finditer(text)
    ]


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


def matches(excerpt, output):
    """Whether an excerpt is what was printed, as the head of this module says."""
    lines = [" ".join(line.split()) for line in excerpt.strip().splitlines()]
    shown = "\n".join(" ".join(line.split()) for line in output.strip().splitlines())
    pattern = "\n".join(
        r"(?:.*\n)*?.*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*")
        for line in lines
    )
    return re.fullmatch(pattern, shown) is not None


def needs_people(block):
    """Whether commands of a block read the published answers of people."""
    return any(re.search(r"\bPATH\b", command) for command, _ in commands_of(block.body))


def outputs_of(block, where, names, folder):
    """What a block prints: its output alone, and its output with what it says besides."""
    if block.kind == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.body, where, "exec"), names)
        return out.getvalue(), out.getvalue()
    printed = said = ""
    for command, expected in commands_of(block.body):
        code, out, err = run_command(re.sub(r"\bPATH\b", str(PATH), command), folder)
        assert code == expected, (
            f"{where}: {command}: exit code {code}, not {expected}\n{out}\n{err}"
        )
        printed += out
        said += out + err
    return printed, said


def run_page(path, folder):
    """Run every block of a page in a folder; AssertionError with page and line for what fails."""
    names = {"__name__": "__main__"}
    outputs = None  # of the block that ran last
    for block in blocks_of(path.read_text(encoding="utf-8")):
        where = f"{path.name}, line {block.line}"
        if block.kind == "console" and needs_people(block) and not PATH.is_dir():
            outputs = ()
        elif block.kind in ("python", "console"):
            outputs = outputs_of(block, where, names, folder)
        elif block.kind == "text":
            assert outputs is not None, f"{where}: nothing that prints this stands above it"
            assert not outputs or any(matches(block.body, output) for output in outputs), (
                f"{where}: the page says\n{block.body}\nand what is printed is\n{outputs[-1]}"
            )
        elif block.kind != "plain":
            outputs = None


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder beside which, where it exists, the shared data lies."""
    work = tmp_path / "work"
    work.mkdir()
    if SHARED.is_dir():
        (tmp_path / "shared").symlink_to(SHARED)
    monkeypatch.chdir(work)
    return work


async def run_notebook(path):
    """What each cell of a notebook shows, its cells run in order where an event loop is running."""
    names, shown, flags = {}, [], ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [], "clear the outputs: they grow old"
        tree = ast.parse("".join(cell["source"]))
        last = ast.parse("None", mode="eval").body
        if isinstance(tree.body[-1], ast.Expr):
            last = tree.body.pop().value
        for part, kind in ((tree, "exec"), (ast.Expression(last), "eval")):
            found = eval(compile(part, cell["id"], kind, flags=flags), names)
            found = await found if inspect.iscoroutine(found) else found
        if found is not None:
            shown.append(found)
    return shown


async def test_the_notebook_runs_where_a_loop_is_running(folder):
    """Its cells run in a plain namespace: a kernel of Jupyter would bring some forty packages."""
    shown = await run_notebook(ROOT / "docs" / "notebook.ipynb")
    assert len(shown) > 7
    for value in shown:
        html = value._repr_html_()
        assert "<table" in html or "<svg" in html
        assert len(html) < 60_000


def words_of(picture):
    """What a picture says: its title, its description, every text in it, in order."""
    text = picture.read_text(encoding="utf-8")
    return re.findall(r"<(?:title|desc|text)\b[^>]*>([^<]*)<", text)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_does_what_it_says(path, folder):
    run_page(path, folder)
    if path.name == "r.md" and not run_command("Rscript -e 'library(jsonlite)' | cat", folder)[0]:
        blocks = blocks_of(path.read_text(encoding="utf-8"))
        code = "\n".join(block.body for block in blocks if block.kind == "r")
        (folder / "page.R").write_text(code, encoding="utf-8")
        code, _, said = run_command("Rscript page.R | cat", folder)
        assert code == 0, said
    if path.name == "README.md":
        drawn = words_of(folder / "runs" / "smoke" / "analysis" / "figures" / "effects.svg")
        assert len(drawn) > 5
        assert drawn == words_of(ROOT / "docs" / "images" / "figure.svg"), "make figures"


@pytest.mark.parametrize("path", [*PAGES, *REPRODUCTIONS], ids=lambda path: path.name)
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


def test_lists_of_presets_are_those_of_the_files():
    spec = importlib.util.spec_from_file_location("lists", ROOT / "docs" / "lists.py")
    lists = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lists)
    made = lists.pages()
    assert {path.name for path in made} == {
        "cli.md",
        "citizen.md",
        "commands-in-python.md",
        "models.md",
    }
    for path, text in made.items():
        assert text == path.read_text(encoding="utf-8"), "make it anew: python docs/lists.py"


@pytest.mark.parametrize(
    ("page", "group"),
    [("models.md", "model"), ("studies.md", "experiment"), ("cli.md", "treatment")],
)
def test_every_preset_is_named_in_the_guide(page, group):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for path in (ROOT / "conf" / group).glob("*.yaml"):
        if not path.stem.startswith("citizen"):  # which are in a list of their own
            assert f"`{path.stem}`" in text, f"{page} does not name {path}"


UPKEEP = [ROOT / name for name in ("CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")]


@pytest.mark.parametrize("path", [*PAGES, *REPRODUCTIONS, *UPKEEP], ids=lambda path: path.name)
def test_links_inside_the_repository_lead_somewhere(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        assert place.exists(), f"{path.name} links to {target}"
        if anchor and place.suffix == ".md":
            assert anchor in anchors_of(place), (
                f"{path.name} links to {target}; anchors there: {sorted(anchors_of(place))}"
            )


@pytest.mark.parametrize(
    "picture", sorted((ROOT / "docs" / "images").glob("*.svg")), ids=lambda p: p.name
)
def test_a_picture_fetches_nothing_from_elsewhere(picture):
    text = picture.read_text(encoding="utf-8")
    assert not re.search(r"(?:href|src)=\"(?!#)|url\((?!#)|@import|<script", text)


def test_the_figure_of_the_first_page_says_in_words_what_it_shows():
    text = (ROOT / "docs" / "images" / "figure.svg").read_text(encoding="utf-8")
    described = re.search(r"<desc>([^<]+)</desc>", text)
    assert described
    assert all(treatment in described[1] for treatment in ("none", "basic", "normative"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"!\[[^]]{40,}\]\(docs/images/figure\.svg\)", readme)


# the runner itself: it must be able to fail


def a_page(folder, text):
    page = folder / "page.md"
    page.write_text(text.replace("'''", "```"), encoding="utf-8")
    return page


def test_a_page_that_keeps_its_word_passes(folder):
    good = Path(__file__).with_name("test_docs_page.txt").read_text(encoding="utf-8")
    run_page(a_page(folder, good), folder)
    assert [
        block.kind for block in blocks_of((folder / "page.md").read_text(encoding="utf-8"))
    ] == "python python text console text plain console text sh".split()


@pytest.mark.parametrize(("text", "fault"), CASES["a_page_that_breaks_its_word_is_found_out"])
def test_a_page_that_breaks_its_word_is_found_out(folder, text, fault):
    with pytest.raises(AssertionError, match=fault):
        run_page(a_page(folder, text), folder)
