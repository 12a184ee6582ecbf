"""The house is as big as tests/budget.json allows, and the numbers there may only fall.

Made anew after code went: python tests/test_budget.py. A number is raised by hand, in a commit that
says who asked for it and what it replaces.
"""

import ast
import io
import json
import tokenize
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "budget.json"
NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def lines_of_code(text):
    """How many lines of a module are neither blank nor comment nor docstring."""
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            found -= set(range(node.lineno, node.end_lineno + 1))
    return len(found)


def measured():
    """Lines of code by layer, the modules of all, and the lines of the tests."""
    code = Counter()
    modules = sorted((ROOT / "delibsim").rglob("*.py"))
    for path in modules:
        layer, *inner = path.relative_to(ROOT / "delibsim").parts
        code[layer if inner else "."] += lines_of_code(path.read_text(encoding="utf-8"))
    tests = 0
    for path in sorted((ROOT / "tests").rglob("*.py")):
        tests += len(path.read_text(encoding="utf-8").splitlines())
    return {"code": dict(sorted(code.items())), "modules": len(modules), "tests": tests}


def written(found):
    """The file as it is written."""
    return json.dumps(found, indent=1) + "\n"


@pytest.fixture(scope="module")
def found():
    """What the house takes now."""
    return measured()


def test_no_layer_has_more_code_than_its_budget(found):
    budget = json.loads(FILE.read_text(encoding="utf-8"))
    over = {
        layer: f"{lines} lines of code, {budget['code'].get(layer, 0)} allowed"
        for layer, lines in found["code"].items()
        if lines > budget["code"].get(layer, 0)
    }
    assert not over


@pytest.mark.parametrize("what", ["modules", "tests"])
def test_there_are_no_more_modules_and_lines_of_tests_than_the_budget_allows(found, what):
    assert found[what] <= json.loads(FILE.read_text(encoding="utf-8"))[what]


def test_the_budget_names_the_layers_there_are(found):
    assert set(json.loads(FILE.read_text(encoding="utf-8"))["code"]) == set(found["code"])


def test_a_line_of_code_is_no_comment_docstring_or_blank():
    text = '"""What it is."""\n\nX = """a\nb"""\n\n\ndef f():\n    """Two\n\n    parts."""\n    # why\n'
    assert lines_of_code(text + "    return X\n") == 4


if __name__ == "__main__":
    FILE.write_text(written(measured()), encoding="utf-8")
