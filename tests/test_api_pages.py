"""The API reference is made whole: every public name, every measure and every name for tests."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import delibsim
from delibsim import testing

SCRIPT = Path(__file__).resolve().parents[1] / "docs" / "api" / "make.py"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The text of every page, made as `make docs` makes it."""
    folder = tmp_path_factory.mktemp("api")
    subprocess.run([sys.executable, str(SCRIPT), str(folder)], check=True)
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


@pytest.fixture(scope="module")
def make():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("make_api", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_those_of_the_guide(pages, make):
    guide = (SCRIPT.parents[2] / "zensical.toml").read_text(encoding="utf-8")
    assert set(re.findall(r"api/(\S+\.md)", guide)) == set(pages) == set(make.PAGES)


def headings(page, level):
    return re.findall(rf"^{level} (\S+)$", page, re.MULTILINE)


def test_every_public_name_has_an_entry(pages):
    assert headings(pages["names.md"], "##") == sorted(delibsim.__all__, key=str.casefold)


def test_every_module_of_measures_has_its_functions(pages):
    page = pages["measures.md"]
    folder = SCRIPT.parents[2] / "delibsim" / "measures"
    modules = sorted(folder.glob("[a-z]*.py"))
    for package in ("bradley_terry", "reliability"):
        modules += sorted((folder / package).glob("[a-z]*.py"))
    names = []
    for module in modules:
        names.append(".".join(module.relative_to(folder.parents[1]).with_suffix("").parts))
    assert headings(page, "##") == names
    for module in modules:
        written = re.findall(r"^def ([a-z]\w*)", module.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(written) <= set(headings(page, "###"))


def test_what_ships_for_tests_has_entries(pages):
    found = headings(pages["testing.md"], "###")
    assert {*testing.__all__, "FakeProvider", "Rule"} <= set(found)


def test_signatures_are_those_of_the_code(pages):
    names = pages["names.md"]
    assert "```python\ndef seed_of(*names: str | int) -> int\n```" in names
    fields = delibsim.Statement.__dataclass_fields__
    (statement,) = re.findall(r"## Statement\n\n```python\n(.*?)```", names, re.DOTALL)
    assert re.findall(r"^    (\w+):", statement, re.MULTILINE) == list(fields)
    assert "fmt: skip" not in names


def test_fences_are_closed_and_examples_are_code(pages):
    for page in pages.values():
        assert page.count("```") % 2 == 0
        outside = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
        assert ">>>" not in outside


def test_no_character_of_a_docstring_is_read_as_markup(make):
    said = "Adds <two>, as in [1] and 2*3; `a[0] * b`.\n\n>>> 1 + 1\n2\n\n    indented"
    text, example, block = make.markdown(said).rstrip().split("\n\n")
    assert text == "Adds &lt;two>, as in \\[1\\] and 2\\*3; `a[0] * b`."
    assert example == "```pycon\n>>> 1 + 1\n2\n```"
    assert block == "```text\nindented\n```"
