"""`delibsim replay STUDY`: what anybody may have edited of a study is told, and enters no number."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from delibsim import Runs
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.cli.main import main
from delibsim.conduct.analysed import study_table
from delibsim.store.session_files import SUMS, lay_tombstone, sums_in

LEAVE_OUT = (
    "score s", "analyze s --figures none", "export s", "status s", "view s --static pages", "plot s effects", "plot s",
    "code handout s scheme=dqi3", "compare handout s dimension=logical",
)  # fmt: skip
CODED = ("code", "ask", "s", "scheme=dqi3", "group.size=2", "samples=2")
A, B = "ccps.normative.citizen_rounds1_size3.r1", "ccps.normative.citizen_rounds1_size3.r2"
FEW = DrawCounts(99, 99, 9)
GOLDEN = Path(__file__).resolve().parents[1] / "golden"
DESIGN = ("topic=ccps", "treatment=none,normative", "replicate=1,2", "group.size=3", "rounds=1")


def call(*words):
    """A command, which ends well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["delibsim", *words])
        with pytest.raises(SystemExit) as end:
            main()
    assert end.value.code == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a scored study of four runs, a fork, its control, and a probe."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        call("run", "-m", "-q", "study=s", *DESIGN)
        call("score", "s")
        call("fork", f"s/{A}", "--at", "2", "--remove", "2", "--control")
        call("probe", f"s/{B}", "--after", "2")
    return folder


@pytest.fixture
def pilot(made, home):
    """A copy of that study."""
    shutil.copytree(made / "runs", home / "runs")
    return home / "runs" / "s"


def edit(path, change):
    plain = json.loads(path.read_text(encoding="utf-8"))
    change(plain)
    path.write_text(json.dumps(plain, indent=1), encoding="utf-8")


def edit_lines(path, change):
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(records)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")


def set_answer(plain):
    answers = plain["responses"][-1]["answers"]
    answers["C1"] = 1 if answers["C1"] != 1 else 2


def in_both(folder, change):
    """The same edit of plan and run."""
    edit(folder / "session.json", change)
    edit(folder / "run.json", lambda plain: change(plain["session"]))


def unsummed(folder):
    (folder / SUMS).unlink()


def swap(one, other):
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def fork_of(study):
    return next((study / "forks").glob("*remove*"))


NOT_WRITTEN = "run.json is not what it was when the run was written"
RUNS = {
    "an answer": (lambda f: edit(f / "run.json", set_answer), "different", NOT_WRITTEN),
    "an answer, check sums removed": (
        lambda f: (edit(f / "run.json", set_answer), unsummed(f)),
        "different",
        "responses[6].answers.C1: ",
    ),
    "a word": (
        lambda f: edit(f / "run.json", lambda p: p["transcript"][0].update(text="Yes.")),
        "different",
        'transcript[1].text: "Yes." -> ',
    ),
    "its versions": (
        lambda f: edit(f / "run.json", lambda p: p["provenance"].update(numpy="1")),
        "changed",
        NOT_WRITTEN,
    ),
    "cut": (
        lambda f: (f / "run.json").write_bytes((f / "run.json").read_bytes()[:500]),
        "damaged",
        "not JSON",
    ),
    "deleted": (lambda f: (f / "run.json").unlink(), "lost", "run.json is gone"),
    "that of another session": (
        lambda f: swap(f / "run.json", f.with_name(B) / "run.json"),
        "damaged",
        "holds the run of another session",
    ),
    "a link to an edited copy": (
        lambda f: (
            edit(f / "run.json", set_answer),
            (f / "run.json").rename(f / "copy.json"),
            (f / "run.json").symlink_to("copy.json"),
        ),
        "different",
        NOT_WRITTEN,
    ),
    "its plan": (
        lambda f: edit(f / "session.json", lambda p: p["treatment"].update(name="none")),
        "different",
        "session.json is not what it was",
    ),
}
"""Edits of a run that scores must not be made of; the verdict, and what is told."""
RECORDS = {
    "plan and run, check sums removed": (
        lambda f: (in_both(f, lambda p: p["survey"]["items"][0].update(text="X")), unsummed(f)),
        "diverged",
        "surveys.ccps is not the one that study.json has the hash of",
    ),
    "plan alone, check sums removed": (
        lambda f: (
            edit(f / "session.json", lambda p: p["treatment"].update(name="none")),
            unsummed(f),
        ),
        "different",
        "session.json is not the plan that run.json was held under",
    ),
    "seed": (
        lambda f: (in_both(f, lambda p: p.update(seed=9)), unsummed(f)),
        "diverged",
        "seed: 0 in study.json, 9 in the plan",
    ),
    "a call deleted": (
        lambda f: edit_lines(f / "exchanges.jsonl", lambda records: records.pop()),
        "diverged",
        "the record holds no such call",
    ),
    "what a call cost": (
        lambda f: edit_lines(
            f / "exchanges.jsonl",
            lambda records: records[0]["completion"]["usage"].update(cost_usd=9.0),
        ),
        "changed",
        "exchanges.jsonl is not what it was",
    ),
    "no record": (lambda f: (f / "exchanges.jsonl").unlink(), "diverged", "is missing"),
    "a folder in its place": (
        lambda f: ((f / "exchanges.jsonl").unlink(), (f / "exchanges.jsonl").mkdir()),
        "damaged",
        "it cannot be replayed",
    ),
    "no plan": (lambda f: (f / "session.json").unlink(), "damaged", "session.json is missing"),
    "a run of nobody's plan": (
        lambda f: edit(f.parent / "study.json", lambda p: p["sessions"].remove(A)),
        "changed",
        "study.json plans no such session",
    ),
    "hash of a topic": (
        lambda f: edit(f.parent / "study.json", lambda p: p["parts"]["topics"].update(ccps="0")),
        "changed",
        "topics.ccps is not the one",
    ),
    "hash of prompts": (
        lambda f: edit(
            f.parent / "study.json", lambda p: p.update(prompts=dict.fromkeys(p["prompts"], "0"))
        ),
        "changed",
        "not those that study.json has the hash of",
    ),
}


def test_a_study_as_it_was_written_differs_in_nothing(delibsim, pilot, files):
    before = files()
    answer = delibsim("verify", "s")
    assert answer.code == 0
    assert (
        answer.out
        == "study s: nothing differs\n7 of 7 runs equal to their record (2 in forks, 1 in probes)\n"
    )
    assert files() == before
    assert delibsim("verify", "s", "--json").json["sessions"] == {"equal": 7}
    alone = delibsim("verify", f"s/{A}")
    assert (alone.code, alone.out.splitlines()[0]) == (0, f"s/{A}: nothing differs")


def test_anybody_can_compare_the_check_sums(pilot):
    done = subprocess.run(
        ["sha256sum", "-c", SUMS], check=True, cwd=pilot / A, capture_output=True, text=True
    )
    names = ["session.json", "exchanges.jsonl", "run.json"]
    assert done.stdout.splitlines() == [f"{name}: OK" for name in names]
    assert "inherited.jsonl" in sums_in(fork_of(pilot))


@pytest.mark.parametrize("what", RUNS)
def test_a_run_that_was_edited_is_told_and_enters_no_number(delibsim, pilot, what):
    change, verdict, told = RUNS[what]
    held = delibsim("score", "s", "--json").json
    change(pilot / A)
    found = delibsim("verify", "s", "--json")
    own = {one["name"]: one for one in found.json["differing"]}
    assert (found.code, found.json["verdict"], own[A]["verdict"]) == (4, "different", verdict)
    assert any(told in line for line in own[A]["changed"])
    if "check sums removed" in what:
        return
    scored = delibsim("score", "s", "--json")
    assert scored.code == 3
    assert any(f"{A}/" in fault for fault in scored.json["unreadable"])
    valid = [sum(row["valid"] for row in plain["conditions"]) for plain in (held, scored.json)]
    assert valid[1] < valid[0]
    assert f"{A}/" in delibsim("score", "s").out
    table = study_table(Runs.at(pilot)).rows.set_index("session")
    assert table.loc[A, "dri_note"] == "damaged"


@pytest.mark.parametrize("command", LEAVE_OUT)
def test_who_leaves_a_changed_run_out_names_it(delibsim, pilot, command):
    edit(pilot / A / "run.json", set_answer)
    answer = delibsim(*command.split())
    assert answer.code == 3
    assert A in answer.out + answer.err
    assert "after it was written" in answer.out + answer.err


def test_a_run_that_is_gone_is_named_by_what_it_is_missing_from(delibsim, pilot):
    (pilot / A / "run.json").unlink()
    for command in ("score s", "export s"):
        answer = delibsim(*command.split())
        assert answer.code == 3, command
        assert f"{A}/run.json is gone" in answer.out + answer.err, command


def test_a_plan_without_a_run_that_cannot_be_read_is_damage(delibsim, pilot):
    (pilot / "other").mkdir()
    (pilot / "other" / "session.json").write_text("{", encoding="utf-8")
    found = {one["name"]: one for one in delibsim("verify", "s", "--json").json["differing"]}
    assert found["other"]["verdict"] == "damaged"


def test_a_plan_that_cannot_be_read_is_of_no_condition(delibsim, pilot):
    before = contrasts(study_table(Runs.at(pilot)), FEW)
    (pilot / "other").mkdir()
    (pilot / "other" / "session.json").write_text("{", encoding="utf-8")
    assert contrasts(study_table(Runs.at(pilot)), FEW).rows.equals(before.rows)
    answer = delibsim("analyze", "s", "--figures", "none")
    assert answer.code == 3
    assert "1 session left out" in answer.out


@pytest.mark.parametrize("what", RECORDS)
def test_an_edited_plan_record_or_manifest_is_told(delibsim, pilot, what):
    change, verdict, told = RECORDS[what]
    change(pilot / A)
    answer = delibsim("verify", "s", "--json")
    own = {one["name"]: one for one in answer.json["differing"]}
    assert (answer.code, own[A]["verdict"]) == (4, verdict)
    assert any(told in line for line in own[A]["changed"])
    assert f"  {A}: {verdict}\n" in delibsim("verify", "s").out


def test_branches_are_compared_with_their_records_and_their_parents(delibsim, pilot):
    fork = fork_of(pilot)
    edit(fork / "run.json", set_answer)
    edit(pilot / B / "run.json", lambda plain: plain["provenance"].update(numpy="1"))
    found = {one["name"]: one for one in delibsim("verify", "s", "--json").json["differing"]}
    assert found[f"forks/{fork.name}"]["verdict"] == "different"
    (probe,) = (one for name, one in found.items() if name.startswith("probes/"))
    assert probe["changed"] == [f"the run.json of its parent, {B}, is not what it branched off"]


def test_what_is_not_known_is_said_once(delibsim, pilot):
    for folder in pilot.glob("*/"):
        (folder / SUMS).unlink(missing_ok=True)
    answer = delibsim("score", "s")
    assert answer.code == 0
    assert answer.out.count("without check sums") == 1
    assert "4 runs without check sums" in answer.out
    assert "4 runs without check sums" in delibsim("verify", "s").out


@pytest.mark.parametrize(
    "content", [b"", b"\xff\0" * 99, b"0" * 64, b"x" * 64 + b"  run.json\n", None, "a pipe"]
)
def test_check_sums_that_cannot_be_read_are_not_known(delibsim, pilot, content):
    unsummed(pilot / A)
    if content is None:
        (pilot / A / SUMS).mkdir()
    elif content == "a pipe":
        os.mkfifo(pilot / A / SUMS)
    else:
        (pilot / A / SUMS).write_bytes(content)
    for command, code in (("score", 0), ("verify", 4 if content == "a pipe" else 0)):
        answer = delibsim(command, "s")
        assert answer.code == code
        assert "1 run without check sums" in answer.out


def test_sessions_without_a_run_are_no_difference(delibsim, pilot):
    shutil.rmtree(pilot / A)
    for name in ("run.json", SUMS):
        (pilot / B / name).unlink()
    gone = pilot / "ccps.none.citizen_size3.r1"
    lay_tombstone(gone, gone.name)
    shutil.rmtree(pilot / "forks")
    shutil.rmtree(pilot / "probes")
    answer = delibsim("verify", "s")
    assert answer.code == 0
    assert "1 of 1 run equal to their record" in answer.out
    assert "1 session withdrawn" in answer.out
    assert "2 sessions without a run, not compared" in answer.out


def test_a_run_that_was_lost_or_left_when_it_was_written_is_made_again(delibsim, pilot):
    """Killed between the check sums and the run, a process leaves what a deletion leaves."""
    (pilot / A / "run.json").unlink()
    assert delibsim("run", "-m", "-q", "study=s", *DESIGN).code == 0
    assert delibsim("verify", "s").code == 0


@pytest.mark.parametrize("folder", sorted(GOLDEN.glob("*/study.json")), ids=str)
def test_studies_without_check_sums_replay(delibsim, folder):
    answer = delibsim("verify", folder.parent)
    assert answer.code == 0
    assert "without check sums" in answer.out


def test_nothing_to_compare_is_no_success(delibsim, home):
    (home / "runs" / "e").mkdir(parents=True)
    plain = {"schema": 1, "study": "e", "settings": {}, "parts": {}}
    (home / "runs" / "e" / "study.json").write_text(json.dumps(plain), encoding="utf-8")
    answer = delibsim("verify", "e")
    assert (answer.code, answer.out) == (4, "study e: nothing to compare yet\n")


def test_a_replay_of_a_study_is_the_same(delibsim, pilot):
    assert delibsim("replay", "s", "--json").json == delibsim("verify", "s", "--json").json


def test_what_was_asked_about_texts_is_compared_with_its_record(delibsim, pilot):
    asked = ("scheme=dqi3", "model=citizen", "samples=1", "group.size=2")
    assert delibsim("code", "ask", "s", *asked).code == 0
    assert delibsim("compare", "ask", "s", "dimension=logical", "model=citizen").code == 0
    tasks = delibsim("verify", "s", "--json").json["tasks"]
    assert {one["task"]: one["verdict"] for one in tasks} == {
        "code-dqi3": "equal",
        "compare-main": "equal",
    }
    edit_lines(
        pilot / "annotations" / "compare-main" / "annotations.jsonl",
        lambda votes: votes.pop(),
    )
    shutil.rmtree(pilot / "annotations" / "code-dqi3" / "packs", ignore_errors=True)
    (pilot / "annotations" / "code-dqi3" / "exchanges.jsonl").unlink()
    answer = delibsim("verify", "s")
    assert answer.code == 4
    assert "code-dqi3: 0 answers, different" in answer.out
    assert "but not kept as a vote" in answer.out


def test_damaged_settings_packs_and_records_of_raters_are_told(delibsim, home):
    debate = ("format=debate", "motion=voting", "proposition=citizen_eloquent")
    delibsim("run", "-q", "study=d", *debate, "opposition=citizen_halting")
    delibsim("rate", "ask", "d", "group.size=2")
    delibsim("rate", "handout", "d", "--raters", "2", "-o", "pack")
    study = home / "runs" / "d"
    panel, (pack,) = study / "annotations" / "rating-panel", study.glob("annotations/*/packs/*")
    none = json.dumps(dict.fromkeys(("models", "wording", "sheets", "number")))
    for file, content in ((pack, "[]"), (pack, none), (panel / "task.json", none)):
        kept = file.read_text()
        file.write_text(content)
        answer = delibsim("score", "d")
        assert (answer.code, len(answer.err.splitlines())) == (2, 1)
        assert f"{file.name} is damaged; restore it" in answer.err
        file.write_text(kept)

    def spoil(records):
        records[0]["completion"] = None
        for one in records[1:3]:
            one["completion"]["usage"]["cost_usd"] = 1e308

    for log in (*study.glob("*/exchanges.jsonl"), panel / "exchanges.jsonl"):
        edit_lines(log, spoil)
    assert "0 USD spent, 4 calls of unknown cost" in delibsim("status", "d").out


def test_a_study_is_verified_while_it_is_held(delibsim, pilot):
    with Runs.at(pilot).lock():
        assert delibsim("verify", "s", "-q").code == 0


def _put_pipe(pilot):
    path = pilot / A / "exchanges.jsonl"
    path.unlink()
    os.mkfifo(path)


def _put_link(pilot):
    path = pilot / A / "run.json"
    path.rename(pilot.parent / "elsewhere.json")
    path.symlink_to(pilot.parent / "elsewhere.json")


@pytest.mark.parametrize(
    ("put", "place"),
    [(_put_pipe, f"{A}/exchanges.jsonl"), (_put_link, f"{A}/run.json")],
    ids=["pipe", "link"],
)
def test_only_regular_files_count_in_a_study(delibsim, pilot, put, place):
    put(pilot)
    for named in ("s", f"s/{A}"):
        answer = delibsim("verify", named)
        assert answer.code == 4
        assert (
            f"{place.removeprefix(f'{A}/' if '/' in named else '')} is a link, a pipe" in answer.out
        )


@pytest.mark.parametrize(
    "command", ["status s", "analyze s --figures none", "plot s effects", "view s --static p"]
)
@pytest.mark.parametrize("file", [".lock", "scores/other.v1.jsonl"])
def test_no_command_waits_for_a_pipe_in_a_study(delibsim, pilot, command, file):
    (pilot / file).unlink(missing_ok=True)
    os.mkfifo(pilot / file)
    answer = delibsim(*command.split())
    assert answer.code in (0, 2)
    assert answer.code == 0 or len(answer.err.splitlines()) == 1


def test_a_link_in_a_study_lets_nothing_be_written_elsewhere(delibsim, pilot):
    kept = pilot.parent / "kept.txt"
    kept.write_text("mine")
    shutil.rmtree(pilot / A)
    (pilot / A).mkdir()
    (pilot / A / SUMS).symlink_to(kept)
    assert delibsim("run", "-m", "-q", "study=s", *DESIGN).code == 0
    assert kept.read_text() == "mine"
    shutil.rmtree(pilot / A)
    for file in (".lock", "annotations/code-dqi3/exchanges.jsonl"):
        (pilot / file).unlink(missing_ok=True)
        (pilot / file).parent.mkdir(parents=True, exist_ok=True)
        (pilot / file).symlink_to(kept)
        words = ("run", "-m", "-q", "study=s", *DESIGN) if file == ".lock" else CODED
        answer = delibsim(*words)
        assert (answer.code, kept.read_text()) == (2, "mine")
        assert "it is a link" in answer.err
        (pilot / file).unlink()


def test_a_study_may_be_reached_through_a_link(delibsim, pilot):
    (pilot.parent / "t").symlink_to(pilot)
    assert delibsim("verify", "t").code == 0


def test_one_unreadable_record_leaves_the_rest_of_a_study_readable(delibsim, pilot):
    _put_pipe(pilot)
    answer = delibsim("status", "s")
    assert answer.code == 3
    assert f"{A}/exchanges.jsonl: it is a device or a pipe" in answer.out
    for words in (("export", "s"), ("analyze", "s", "--figures", "none")):
        answer = delibsim(*words)
        assert answer.code == 3
        assert A in answer.out + answer.err
