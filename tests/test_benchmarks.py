"""Results of benchmarks are kept with machine and commit, and their page is made from them."""

import importlib.util
import json
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"


@pytest.fixture
def module():
    """The module that benchmarks call."""
    spec = importlib.util.spec_from_file_location("bench_record", BENCH / "record.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_page_is_made_from_the_results_that_are_kept(module):
    assert module.results()
    made = module.page(module.results())
    assert module.PAGE.read_text(encoding="utf-8") == made, "run python bench/record.py"


def test_every_result_says_where_it_comes_from(module):
    for result in module.results():
        script = Path(result["command"].split()[1])
        assert (BENCH / script.name).is_file()
        assert result["name"].startswith(script.stem)
        assert len(result["commit"]) == 40
        assert result["changed"] is False
        assert result["machine"]["cores"] > 0
        assert result["machine"]["processor"]
        assert result["packages"]["delibsim"]


def test_a_result_is_written_and_shown(module, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    rows = [{"what": "one | row", "seconds": 0.12345, "calls": 12345}]
    rows.append({"what": "another", "seconds": None, "calls": 2})
    path = module.record("example", "What was measured.", rows, ["numpy"])
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept["rows"] == rows
    assert set(kept["packages"]) == {"delibsim", "numpy"}
    shown = module.page(module.results())
    assert "| one \\| row | 0.123 | 12,345 |\n| another | – | 2 |" in shown
    assert "## example\n\nWhat was measured.\n" in shown
