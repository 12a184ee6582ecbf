"""Studies begun before 0.2 replay equal, and go on under the prompts they were begun with (see
README.md).
"""

import json
import shutil
from pathlib import Path

import pytest

from delibsim import Runs
from delibsim.cli.main import main
from delibsim.conduct.replay import replay

HERE = Path(__file__).parent
COMMANDS = {
    "study_0_1": (
        "topic=acp,ccps",
        "treatment=none,normative",
        "group.size=2",
        "rounds=1",
        "seed=7",
    ),
    "debates_0_1": (
        "format=debate",
        "tournament.design=round_robin",
        "tournament.debaters=[citizen_eloquent,citizen_plain]",
        "tournament.motions=[ai_art,remote_work]",
        "audience=1",
        "seed=7",
    ),
}
"""The overrides by which each study was begun."""


@pytest.fixture(params=COMMANDS)
def study(request, tmp_path, monkeypatch):
    """A copy of an older study, in a folder of its own."""
    shutil.copytree(HERE / request.param, tmp_path / "runs" / request.param)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs" / request.param


@pytest.fixture
def delibsim(monkeypatch, capsys):
    """Call `delibsim` with these words; its exit code, output and errors."""

    def call(*words):
        monkeypatch.setattr("sys.argv", ["delibsim", *words])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return call


async def test_every_run_of_an_older_study_replays_equal(study):
    runs = Runs(study.parent, study.name)
    assert len(runs.sessions()) in (2, 4)
    for session in runs.sessions():
        assert await replay(runs, session) == runs.run(session)


def begun(study):
    """The runs and plans of a study as bytes, by name."""
    return {str(path.relative_to(study)): path.read_bytes() for path in study.glob("*/*.json")}


def test_an_older_study_that_was_cut_off_goes_on_under_its_own_prompts(study, delibsim):
    whole = {name: json.loads(text) for name, text in begun(study).items()}
    first, last = (
        sorted(study.glob("*/run.json"))[0].parent,
        sorted(study.glob("*/run.json"))[-1].parent,
    )
    shutil.rmtree(first)  # never begun
    (last / "run.json").unlink()  # cut off in the middle
    log = (last / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
    (last / "exchanges.jsonl").write_text("\n".join(log[:2]) + "\n", encoding="utf-8")

    code, out, err = delibsim("run", "-q", "-m", f"study={study.name}", *COMMANDS[study.name])
    assert code == 0, err
    assert "2 came from the record" in out
    assert "was begun under the presets of version 0.1 and keeps them" in err
    now = {name: json.loads(text) for name, text in begun(study).items()}
    assert set(now) == set(whole)
    for name, text in now.items():
        text.pop("provenance", None)
        whole[name].pop("provenance", None)
        assert text == whole[name]

    manifest = json.loads((study / "study.json").read_text(encoding="utf-8"))
    assert (manifest["schema"], manifest["edition"]) == (3, "0.1")
    assert all(
        own["instructions"] == "everywhere" for own in manifest["parts"]["procedures"].values()
    )
    code, _, err = delibsim("run", "-q", "-m", f"study={study.name}", *COMMANDS[study.name])
    assert (code, err) == (0, "")  # said once


def test_an_older_study_is_enlarged_under_its_own_prompts(study, delibsim):
    if study.name == "debates_0_1":
        words = [word.replace("ai_art,", "ai_art,dating_apps,") for word in COMMANDS[study.name]]
    else:
        words = [*COMMANDS[study.name], "replicate=1,2"]
    code, _, err = delibsim("run", "-q", "-m", f"study={study.name}", *words)
    assert code == 0, err
    runs = Runs(study.parent, study.name)
    told = {runs.planned(session).procedure.instructions for session in runs.sessions()}
    assert told == {"everywhere"}
    assert len(runs.sessions()) > 2
    wordings = {
        tuple(sorted(runs.planned(session).wording.texts.items())) for session in runs.sessions()
    }
    assert len(wordings) == 1


def test_an_older_study_can_be_told_otherwise_under_another_name(tmp_path, monkeypatch, delibsim):
    shutil.copytree(HERE / "study_0_1", tmp_path / "runs" / "study_0_1")
    monkeypatch.chdir(tmp_path)
    runs = Runs(tmp_path / "runs", "study_0_1")
    before = {name: runs.planned(name) for name in runs.sessions()}
    words = (*COMMANDS["study_0_1"], "procedure.instructions=turns")
    code, _, err = delibsim("run", "-q", "-m", "study=study_0_1", *words)
    assert code == 0, err
    added = set(runs.sessions()) - set(before)
    assert len(added) == 4
    assert all("instructions-turns" in name for name in added)
    assert {runs.planned(name).procedure.instructions for name in added} == {"turns"}
    assert {name: runs.planned(name) for name in before} == before


def test_ratings_of_an_older_study_go_on_under_their_own_wording(tmp_path, monkeypatch, delibsim):
    study = tmp_path / "runs" / "debates_0_1"
    shutil.copytree(HERE / study.name, study)
    monkeypatch.chdir(tmp_path)
    kept = json.loads((study / "ratings" / "panels.json").read_text(encoding="utf-8"))
    code, out, err = delibsim("ratings", "ask", study.name, "group.size=3", "model=citizen_capable")
    assert code == 0, err
    assert "2 ratings now, 4 before" in out
    now = json.loads((study / "ratings" / "panels.json").read_text(encoding="utf-8"))
    assert now["panel"]["wording"] == kept["panel"]["wording"]


def test_raters_of_an_older_study_are_said_to_read_its_wording_once_per_command(
    tmp_path, monkeypatch, delibsim
):
    study = tmp_path / "runs" / "debates_0_1"
    shutil.copytree(HERE / study.name, study)
    monkeypatch.chdir(tmp_path)
    ask = ("ratings", "ask", study.name, "group.size=2", "model=citizen_capable")
    for words in (ask, (*ask, "--estimate"), ("ratings", "export", study.name, "--to", "pack")):
        code, _, err = delibsim(*words)
        assert code == 0, err
        (said,) = [line for line in err.splitlines() if "edition" in line]
        assert said.startswith("note: raters read the wording 'oxford' of edition 0.1, ")
        assert study.name in said
    own = tmp_path / "conf" / "wording" / "mine.yaml"
    own.parent.mkdir(parents=True)
    today = (HERE.parents[1] / "conf" / "wording" / "oxford.yaml").read_text(encoding="utf-8")
    own.write_text(today.replace("id: oxford", "id: mine"), encoding="utf-8")
    words = ("ratings", "export", study.name, "--to", "own", "--wording", "mine")
    code, _, err = delibsim(*words)
    assert (code, "edition" in err) == (0, False)


def test_an_older_study_has_no_presets_that_came_later(tmp_path, monkeypatch, delibsim):
    shutil.copytree(HERE / "study_0_1", tmp_path / "runs" / "study_0_1")
    monkeypatch.chdir(tmp_path)
    words = (*COMMANDS["study_0_1"], "procedure=published")
    code, _, err = delibsim("run", "-q", "-m", "study=study_0_1", *words)
    assert code == 2
    assert "begun under version 0.1 and keeps its presets" in err
    told = delibsim("estimate", "-m", "study=study_0_1", *COMMANDS["study_0_1"], "replicate=2")
    assert "statements of 75 to 200 words" in told[1]
