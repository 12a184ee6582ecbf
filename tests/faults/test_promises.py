"""docs/faults.md names the test of every promise: each of them exists, and every test module of
this folder is named.
"""

import re
from dataclasses import fields
from pathlib import Path

from fake_provider import Rule

from delibsim.models.base import STATUSES

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS.parent / "docs" / "faults.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(test_\w+)::(test_\w+)`", PAGE)


def test_every_test_that_is_named_exists():
    assert len(NAMED) > 50
    for module, name in NAMED:
        texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob(f"{module}.py")]
        assert any(f"def {name}(" in text for text in texts), f"{module}::{name}"


def test_every_module_of_this_folder_is_named():
    ours = {path.stem for path in Path(__file__).parent.glob("test_*.py")} - {
        "test_promises",
        "test_fake_provider",
    }
    assert ours <= {module for module, _ in NAMED}


def test_every_status_is_explained():
    explained = set(
        re.findall(r"^\| `(\w+)` \|", PAGE.split("## What is promised")[0], re.MULTILINE)
    )
    assert explained == set(STATUSES)


def test_every_field_of_a_rule_is_explained():
    explained = set(re.findall(r"`(\w+)`", PAGE.split("When a rule applies:")[1]))
    assert {field.name for field in fields(Rule)} - {"do"} <= explained
