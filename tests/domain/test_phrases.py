"""Texts of data/phrases.yaml against the code that fills them in: each is used, with its fields."""

import ast
from pathlib import Path
from string import Formatter

from delibsim.domain.data import read_data

HOUSE = Path(__file__).parents[2] / "delibsim"
FUNCTIONS = ("phrase", "refused")


def test_every_phrase_is_used_with_its_fields():
    asked = {}
    for path in HOUSE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in (
            ast.walk(ast.parse(text)) if any(f"{name}(" in text for name in FUNCTIONS) else ()
        ):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in FUNCTIONS:
                (name,) = node.args
                if isinstance(name, ast.Constant):
                    asked.setdefault(name.value, []).append({one.arg for one in node.keywords})
    known = {}
    for name, text in read_data("phrases.yaml").items():
        known[name] = {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    assert asked.keys() == known.keys()
    assert asked == {name: [known[name]] * len(asked[name]) for name in known}
