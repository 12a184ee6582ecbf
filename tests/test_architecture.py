"""The house rules that a program can check: layers, length, docstrings, arguments, names, entry
points, and the wheel.
"""

import ast
import functools
import os
import re
import subprocess
import sys
import zipfile
from collections import defaultdict
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from importlinter.cli import lint_imports
from test_budget import lines_of_code

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "delibsim").rglob("*.py"))
FORBIDDEN_NAMES = set("util utils utilities manager managers handler handlers helper".split())
FORBIDDEN_NAMES |= {"helpers", "common", "misc"}
NOTHING = ("utils", "manager", "handler", "helper")
LEFT_OVER = ("random.seed(", "np.random.rand", "np.random.seed", "NotImplementedError")
LEFT_OVER += ("TODO", "FIXME", "XXX")


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def public_parts(tree):
    """Public functions, classes and methods of a module, with their dotted names."""
    for node in tree.body:
        if isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(
                        inner, (ast.FunctionDef, ast.AsyncFunctionDef)
                    ) and not inner.name.startswith("_"):
                        yield f"{node.name}.{inner.name}", inner


def test_the_layers_hold(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    before = list(sys.path)
    assert lint_imports(config_filename="pyproject.toml", no_cache=True) == 0, (
        capsys.readouterr().out
    )
    sys.path[:] = before


def faults_of(check):
    """What `check` finds in each module, beside the module's name."""
    return [f"{path.relative_to(ROOT)}: {fault}" for path in MODULES for fault in check(path)]


def badly_opened(path):
    """Faults of a module's length, first sentence, and documentation."""
    text = path.read_text(encoding="utf-8")
    if text.count("\n") > 350 and lines_of_code(text) > 350:  # counting code takes its time
        yield "more than 350 lines of code"
    docstring = ast.get_docstring(tree_of(path)) or ""
    first = docstring.split("\n\n")[0].strip()
    begins = first[:1].isupper() or first[:1] in tuple("`'\"") or first.startswith("delibsim")
    if not (begins and first.endswith((".", "?", ":"))):
        yield f"opens with {first!r}"
    for name, node in public_parts(tree_of(path)):
        if not ast.get_docstring(node):
            yield f"{name} is not documented"


def test_a_module_is_short_opens_with_a_sentence_and_documents_what_is_public():
    assert faults_of(badly_opened) == []


def too_big(path):
    """Functions of a module with more arguments or lines than a reader can hold."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            taken = node.args
            names = [a.arg for a in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)]
            arguments = len(set(names) - {"self", "cls"})
            # In cli an option is an argument: a limit must not decide what a command takes.
            if arguments > 8 and path.parent.name != "cli":
                yield f"{node.name} takes {arguments} arguments"
            if node.end_lineno - node.lineno >= 70:
                yield f"{node.name} has {node.end_lineno - node.lineno + 1} lines"


def test_functions_take_at_most_eight_arguments_and_fit_a_screen():
    assert faults_of(too_big) == []


def named_after_nothing(path):
    """Parts of a module's path and classes of it whose names say nothing."""
    parts = [part.removesuffix(".py").strip("_").lower() for part in path.relative_to(ROOT).parts]
    yield from set(parts) & FORBIDDEN_NAMES
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ClassDef) and node.name.lower().endswith(NOTHING):
            yield node.name


def test_no_module_or_class_is_named_after_nothing():
    assert faults_of(named_after_nothing) == []


def test_no_public_class_has_the_name_of_another():
    places = defaultdict(list)
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_global_random_state_and_no_work_left_over():
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        for word in LEFT_OVER:
            assert word not in text, f"{path}: {word}"


def test_models_are_handed_to_the_pool_and_nobody_derives_from_it():
    folders = (ROOT / folder for folder in ("delibsim", "tests", "bench"))
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        if "ModelPool" not in path.read_text(encoding="utf-8"):
            continue
        for node in ast.walk(tree_of(path)):
            bases = node.bases if isinstance(node, ast.ClassDef) else []
            names = {getattr(base, "attr", getattr(base, "id", "")) for base in bases}
            assert "ModelPool" not in names, f"{path}: {node.name}"


def test_every_folder_of_modules_is_a_package():
    assert [
        folder
        for folder in {path.parent for path in MODULES}
        if not (folder / "__init__.py").is_file()
    ] == []


@pytest.mark.parametrize("group", ["delibsim.scorers", "delibsim.models"])
def test_every_entry_point_of_ours_resolves(group):
    ours = [entry for entry in entry_points(group=group) if entry.value.startswith("delibsim.")]
    assert ours
    for entry in ours:
        made = entry.load()
        assert isinstance(made, type)
        assert entry.value.startswith(f"{group}.")
        if group == "delibsim.scorers":
            assert made().name == entry.name


def test_every_module_of_scorers_is_an_entry_point():
    offered = {entry.value.split(":")[0] for entry in entry_points(group="delibsim.scorers")}
    for path in (ROOT / "delibsim" / "scorers").glob("*.py"):
        if any(
            isinstance(node, ast.ClassDef)
            and "score" in {getattr(n, "name", "") for n in node.body}
            for node in tree_of(path).body
        ):
            assert f"delibsim.scorers.{path.stem}" in offered


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_the_wheel_holds_code_and_data_and_nothing_else(wheel):
    names = {str(path.relative_to(wheel)) for path in wheel.rglob("*") if path.is_file()}
    tracked = subprocess.run(
        ["git", "ls-files", "conf", "topics", "surveys"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    for name in tracked.stdout.split():
        assert f"delibsim/{name}" in names
    assert "delibsim/py.typed" in names
    assert "delibsim/data/model_families.json" in names
    assert {str(path.relative_to(ROOT)) for path in MODULES} <= names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"delibsim"}
    assert not [
        name
        for name in names
        if "imported" in name.split("/") or name.endswith(".pyc") or "/tests/" in name
    ]
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_the_wheel_works_without_the_checkout(wheel, tmp_path):
    code = (
        "import asyncio, delibsim\n"
        "session = delibsim.compose('topic=acp', 'group.size=2', 'rounds=1')\n"
        "run = asyncio.run(delibsim.hold(session, delibsim.models_for(session)))\n"
        "print(delibsim.__file__, run.status, len(delibsim.Library().surveys()), sep='\\n')"
    )
    environment = {**os.environ, "PYTHONPATH": str(wheel)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    file, status, surveys = done.stdout.split("\n")[:3]
    assert Path(file).is_relative_to(wheel)
    assert (status, int(surveys)) == ("complete", 12)


def test_the_page_of_the_architecture_is_short_and_shows_every_folder():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 200
    packages = {path.parent for path in MODULES if path.parent.parent == ROOT / "delibsim"}
    assert {path.name for path in packages} <= set(re.findall(r"^  (\w+)/ ", page, re.MULTILINE))


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def dense(tree):
    """The dense places of a module, by kind: comprehensions inside comprehensions or f-strings, and
    so on.
    """
    for node in ast.walk(tree):
        if not isinstance(node, (*COMPREHENSIONS, ast.JoinedStr, ast.IfExp)):
            continue
        inner = [child for child in ast.walk(node) if child is not node]
        holds = isinstance(node, (*COMPREHENSIONS, ast.JoinedStr))
        if holds and any(isinstance(child, COMPREHENSIONS) for child in inner):
            yield "comprehension"
        if isinstance(node, COMPREHENSIONS) and any(
            isinstance(child, ast.NamedExpr) for child in inner
        ):
            yield "walrus"
        if isinstance(node, ast.IfExp) and any(isinstance(child, ast.IfExp) for child in inner):
            yield "conditional"


def test_no_construct_stands_inside_another_of_its_kind():
    found = [
        (str(path.relative_to(ROOT)), kind) for path in MODULES for kind in dense(tree_of(path))
    ]
    assert found == [], "give the inner one a name and a line of its own"
