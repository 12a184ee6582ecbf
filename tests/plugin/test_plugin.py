"""A package of somebody else, installed for real: its scorer scores and its language model speaks,
and delibsim changes nothing.
"""

import csv
import json
import subprocess

import pytest
from plugin.installed import DELIBSIM, Workplace, install

RUN = (
    "run",
    "--quiet",
    "study=s",
    "model=slow",
    "topic=ccps",
    "group.size=2",
    "rounds=1",
    "seed=7",
)
SPOKEN, SILENT = "ccps.normative.slow_rounds1_size2.r1", "ccps.none.slow_size2.r1"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def place(tmp_path_factory, package):
    """Somebody's folder, in which one session was held with the foreign model."""
    place = Workplace(tmp_path_factory.mktemp("work"), package)
    place.held = place.call(*RUN, "--json")
    return place


def scores(place, measure="words"):
    files = list((place.folder / "runs" / "s" / "scores").glob("words.*"))
    assert [file.name for file in files] == ["words.v2.jsonl"]
    return [json.loads(line) for line in files[0].read_text(encoding="utf-8").splitlines()]


def test_the_foreign_model_voices_everybody(place):
    code, output, errors = place.held
    assert (code, errors) == (0, "")
    summary = json.loads(output)
    assert summary["models"] == {"slow": "slow"}
    assert summary["calls"]["by_status"] == {"ok": 6}
    assert sorted(place.asked) == sorted(
        f"Participant {seat}/{occasion}/0"
        for seat, occasion in [(1, "pre"), (2, "pre"), (1, "post"), (2, "post"), *speakers(place)]
    )


def speakers(place):
    run = json.loads(
        (place.folder / "runs" / "s" / SPOKEN / "run.json").read_text(encoding="utf-8")
    )
    return [
        (int(s["turn"]["speaker"][-1]), f"turn {s['turn']['index']}") for s in run["transcript"]
    ]


def test_the_foreign_scorer_scores_beside_our_own_and_touches_no_run(place):
    file = place.folder / "runs" / "s" / SPOKEN / "run.json"
    before = file.read_bytes()
    code, output, errors = place.call("score", "s", "--json")
    assert (code, errors) == (0, "")
    rows = json.loads(output)["conditions"]
    assert {"words", "dri", "diversity"} <= {row["measure"] for row in rows}
    (row,) = [row for row in rows if row["measure"] == "words"]
    counts = [len(s["text"].split()) for s in json.loads(before)["transcript"]]
    assert row["mean"] == sum(counts) / len(counts) > 0
    assert (row["planned"], row["held"], row["valid"]) == (1, 1, 1)
    assert [s["value"] for s in scores(place) if s["unit"] == "statement"] == counts
    assert file.read_bytes() == before


def test_the_measure_that_the_foreign_scorer_declares_is_shown_everywhere(place):
    (row,) = scores_of_runs(place)
    code, table, _ = place.call(*RUN)
    assert code == 0
    (line,) = [line for line in table.splitlines() if line.startswith("words a statement")]
    assert f"{row['value']:.3f}" in line.split()
    summary = json.loads(place.call(*RUN, "--json")[1])
    assert summary["measures"]["words"] == {"value": row["value"]}
    assert place.call("export", "s")[0] == 0
    tables = place.folder / "runs" / "s" / "tables"
    with (tables / "measures.csv").open(encoding="utf-8", newline="") as file:
        known = {row["measure"]: row for row in csv.DictReader(file)}
    source = "https://example.org/delibsim-example"
    words = known["words"]
    assert (words["scorer"], words["scorer_version"], words["value_unit"]) == (
        "words",
        "2",
        "words",
    )
    assert (words["lowest"], words["highest"], words["comparable"]) == ("0", "", "TRUE")
    assert (words["label"], words["source"]) == ("words a statement", source)
    assert known["dri"]["label"] == "Deliberative Reason Index"
    codebook = (tables / "codebook.md").read_text(encoding="utf-8")
    assert "| `words` | words a statement | Words of a statement, or their mean" in codebook
    assert place.call("preregister", "study=p", "topic=ccps")[0] == 0
    plan = place.folder / "runs" / "p" / "preregistration.md"
    assert source in plan.read_text(encoding="utf-8")


def scores_of_runs(place):
    """The scores of the run in which people spoke."""
    return [
        score for score in scores(place) if score["unit"] == "run" and score["target"] == SPOKEN
    ]


def test_without_the_package_the_export_knows_the_name_of_its_measure_alone(place):
    bare = dict(place.environment, PYTHONPATH="")
    to = place.folder / "bare"
    ended = subprocess.run(
        [DELIBSIM, "export", "s", "-o", to], cwd=place.folder, env=bare, check=False
    )
    assert ended.returncode == 0
    with (to / "measures.csv").open(encoding="utf-8", newline="") as file:
        known = {row["measure"]: row for row in csv.DictReader(file)}
    assert known["words"]["scorer_version"] == "2"
    assert {known["words"][name] for name in ("label", "definition", "source", "signed")} == {""}


def test_what_the_foreign_scorer_leaves_undefined_is_null_with_its_reason(place):
    assert place.call(*RUN, "treatment=none")[0] == 0
    assert [s["note"] for s in scores(place) if s["target"] == SILENT and s["value"] is None] == [
        "no_statements"
    ]
    code, output, _ = place.call("score", "s", "--scorer", "words", "--json")
    rows = {row["treatment"]: row for row in json.loads(output)["conditions"]}
    assert code == 0
    assert (rows["none"]["mean"], rows["none"]["valid"], rows["none"]["missing"]) == (
        None,
        0,
        {"no_statements": 1},
    )
    assert rows["normative"]["mean"] > 0


def test_without_the_package_its_names_are_unknown_and_nothing_is_written(tmp_path):
    place = Workplace(tmp_path, None)
    code, output, errors = place.call(*RUN)
    assert (code, output) == (2, "")
    assert "no plug-in 'slow' in delibsim.models" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "runs").exists()


CONFORMANCE = """
from importlib.metadata import entry_points
from delibsim.testing import check_language_model, check_scorer
for entry in entry_points(group="delibsim.scorers"):
    if not getattr(entry.load(), "on_request", False):  # those need more than an installed package
        check_scorer(entry.load()())
        print(entry.name)
for name in ("citizen", "slow"):
    (entry,) = entry_points(group="delibsim.models", name=name)
    check_language_model(entry.load()(name=name))
    print(name)
"""


def test_every_installed_scorer_and_every_offline_model_keeps_its_contract(place):
    code, output, errors = place.python(CONFORMANCE)
    assert (code, errors) == (0, "")
    assert {"words", "dri", "diversity", "agreement", "citizen", "slow"} <= set(output.split())
