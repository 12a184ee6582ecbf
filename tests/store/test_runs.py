"""The folder of a study: settings that do not change, runs that are written once, damage that is
named and left alone.
"""

import dataclasses
import json
import math
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick, runs, scores

from delibsim.domain.errors import WrongInput
from delibsim.domain.score import Score
from delibsim.domain.treatment import Treatment
from delibsim.store.codec import Damaged
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
from delibsim.testing import a_run

SETTINGS = {
    "seed": 7,
    "group": {"size": 5},
    "wording": {"id": "default", "texts": {"you": "You are"}},
}
PARTS = {"topics": {"ccps": "digest"}, "models": {"citizen": {"kind": "citizen", "noise": 0.4}}}


def manifest(settings, parts, **other):
    return Manifest("demo", settings, parts, **other)


@pytest.fixture
def study(tmp_path):
    return Runs(tmp_path / "runs", "demo")


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def held(study, *runs):
    """A study with these runs in it."""
    for run in runs:
        study.plan(run.session)
        study.add(run)
    return study


# The folder


@pytest.mark.parametrize(
    "name", ["../../x", "/etc/x", "CON", "a/b", "a\0b", "x" * 300, "🙂", "..", "", "\udcff"]
)
def test_a_study_of_any_name_stays_in_its_root(tmp_path, name):
    study = Runs(tmp_path / "runs", name)
    study.settle(Manifest(name, SETTINGS, PARTS))
    assert study.folder.resolve().parent == (tmp_path / "runs").resolve()
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert Runs.open(tmp_path / "runs", name).folder == study.folder


@pytest.mark.parametrize(
    "session", ["../../x", "/tmp/x", "..", ".", "a/b", "", "scores", "a\0b", "x" * 300]
)
def test_a_session_of_any_name_stays_in_the_folder_of_its_study(study, tmp_path, session):
    study.settle(manifest(SETTINGS, PARTS))
    study.write_scores("dri", 1, [])
    try:
        held(study, a_run(session))
    except WrongInput:
        # Refusing such a name is as good as keeping it safe.
        pass
    else:
        study.record(session, {"n": 1})
        assert study.run(session).session.id == session
        assert study.sessions() == [session]
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["demo"]
    assert all(
        path.parent.parent == study.folder
        for path in study.folder.rglob("*.json*")
        if path.name != "study.json"
    )
    assert not (study.folder / "run.json").exists()
    assert not (study.folder / "scores" / "run.json").exists()


def test_a_study_is_found_by_its_folder_whatever_its_name(tmp_path):
    study = Runs(tmp_path, "Über/Tee")
    study.settle(Manifest(study.study, SETTINGS, PARTS))
    found = Runs.at(study.folder)
    assert (found.study, found.folder) == ("Über/Tee", study.folder)
    with pytest.raises(WrongInput, match="is not the folder of a study: it has no study.json"):
        Runs.at(tmp_path)


def test_an_unknown_study_comes_with_the_closest(tmp_path):
    for name in ("demo", "pilot"):
        Runs(tmp_path, name).settle(manifest(SETTINGS, PARTS))
    with pytest.raises(
        WrongInput, match=r"unknown study 'dem'; did you mean demo\? There are: demo, pilot"
    ):
        Runs.open(tmp_path, "dem")
    with pytest.raises(WrongInput, match="unknown study 'demo'"):
        Runs.open(tmp_path / "nowhere", "demo")


def test_a_folder_without_settings_is_no_study(tmp_path):
    (tmp_path / "demo").mkdir()
    with pytest.raises(WrongInput, match="unknown study 'demo'"):
        Runs.open(tmp_path, "demo")


# Settings


@pytest.mark.parametrize(
    ("settings", "difference"),
    [
        (SETTINGS | {"seed": 8}, "seed: 7 -> 8"),
        (SETTINGS | {"group": {"size": 7}}, "group.size: 5 -> 7"),
        (SETTINGS | {"rounds": 4}, "rounds: null -> 4"),
        ({key: value for key, value in SETTINGS.items() if key != "seed"}, "seed: 7 -> null"),
    ],
)
def test_other_settings_are_refused_with_the_difference(study, settings, difference):
    study.settle(manifest(SETTINGS, PARTS))
    before = contents(study.folder)
    with pytest.raises(
        WrongInput, match="study demo has other settings; it is left as it is:"
    ) as caught:
        study.settle(manifest(settings, PARTS))
    assert difference in [line.strip() for line in str(caught.value).splitlines()]
    assert "study=NAME" in str(caught.value)
    assert contents(study.folder) == before


def test_added_parts_are_kept_beside_the_old(study):
    study.settle(manifest(SETTINGS, PARTS))
    study.settle(
        manifest(
            SETTINGS,
            {"topics": {"acp": "other"}, "models": PARTS["models"], "personas": {"values": "x"}},
        )
    )
    kept = json.loads((study.folder / "study.json").read_text())["parts"]
    assert kept == {
        "topics": {"ccps": "digest", "acp": "other"},
        "models": PARTS["models"],
        "personas": {"values": "x"},
    }
    study.settle(manifest(SETTINGS, PARTS))
    assert json.loads((study.folder / "study.json").read_text())["parts"] == kept


def test_a_study_is_frozen_when_it_begins_and_amended_later(study):
    first = manifest(SETTINGS, PARTS, sessions=("a",), prompts={"a": "1"}, begun={"at": "monday"})
    more = manifest(
        SETTINGS,
        PARTS | {"topics": {"acp": "other"}},
        sessions=("b", "a"),
        prompts={"b": "2"},
        begun={"at": "tuesday"},
    )
    study.settle(first)
    assert study.manifest() == first
    study.settle(more)
    now = study.manifest()
    assert (now.begun, now.sessions, now.prompts) == (
        {"at": "monday"},
        ("a", "b"),
        {"a": "1", "b": "2"},
    )
    assert now.amendments == ({"at": "tuesday", "added": {"topics": ["acp"]}, "sessions": 1},)
    study.settle(more)
    assert study.manifest() == now


def test_prompts_that_are_worded_otherwise_are_refused(study):
    study.settle(manifest(SETTINGS, PARTS, prompts={"a": "1"}))
    with pytest.raises(WrongInput, match="prompts of a: worded otherwise"):
        study.settle(manifest(SETTINGS, PARTS, prompts={"a": "2", "b": "3"}))
    assert study.manifest().prompts == {"a": "1"}


def test_a_kind_of_parts_that_is_not_mentioned_stays(study):
    study.settle(manifest(SETTINGS, PARTS))
    study.settle(manifest(SETTINGS, {"topics": PARTS["topics"]}))
    assert json.loads((study.folder / "study.json").read_text())["parts"] == PARTS


def test_comparing_writes_nothing(study):
    study.compare(manifest(SETTINGS, PARTS))
    assert not study.folder.exists()
    study.settle(manifest(SETTINGS, PARTS))
    study.compare(manifest(SETTINGS, {"topics": {"acp": "other"}}))
    with pytest.raises(WrongInput, match="seed: 7 -> 8"):
        study.compare(manifest(SETTINGS | {"seed": 8}, PARTS))
    assert json.loads((study.folder / "study.json").read_text())["parts"] == PARTS


def test_many_differences_are_cut_and_counted(study):
    study.settle(manifest({str(k): 0 for k in range(50)}, {}))
    with pytest.raises(WrongInput, match="and 30 more"):
        study.settle(manifest({str(k): 1 for k in range(50)}, {}))
    with pytest.raises(WrongInput) as caught:
        study.settle(manifest({str(k): int(k < 20) for k in range(50)}, {}))
    assert "more" not in str(caught.value)
    assert str(caught.value).count(": 0 -> 1") == 20


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is damaged"),
        ("", "is damaged"),
        ("[]", "schema 1"),
        ('{"schema": 9}', "schema 1"),
        ('{"schema": 1}', "is damaged"),
    ],
    ids=repr,
)
def test_a_damaged_settings_file_is_named_and_left_alone(study, text, reason):
    study.folder.mkdir(parents=True)
    (study.folder / "study.json").write_text(text)
    with pytest.raises(WrongInput, match=reason) as caught:
        study.settle(manifest(SETTINGS, PARTS))
    assert str(study.folder / "study.json") in str(caught.value)
    assert (study.folder / "study.json").read_text() == text


# Plans


def test_a_plan_is_kept_and_the_same_plan_again_is_no_change(study):
    session = a_run("s1").session
    study.plan(session)
    before = contents(study.folder)
    study.plan(session)
    assert contents(study.folder) == before
    assert study.planned("s1") == session
    assert study.sessions() == ["s1"]
    assert not study.held("s1")


def test_another_plan_under_the_same_name_is_refused_with_the_difference(study):
    session = a_run("s1").session
    study.plan(session)
    before = contents(study.folder)
    other = dataclasses.replace(
        session, seed=99, treatment=Treatment("basic", "Deliberate with the others.", rounds=3)
    )
    with pytest.raises(
        WrongInput, match="session 's1' of study demo was planned differently"
    ) as caught:
        study.plan(other)
    assert [line.strip() for line in str(caught.value).splitlines()[1:3]] == [
        "treatment.rounds: 1 -> 3",
        "seed: 1 -> 99",
    ]
    assert contents(study.folder) == before


def test_an_unknown_session_comes_with_the_closest(study):
    study.plan(a_run("ccps.basic.r1").session)
    with pytest.raises(
        WrongInput, match=r"unknown session 'ccps.basik.r1'; did you mean ccps.basic.r1\?"
    ):
        study.planned("ccps.basik.r1")
    with pytest.raises(
        WrongInput, match=r"session 'ccps.basic.r1' .* was cut off and has no run yet"
    ):
        study.run("ccps.basic.r1")  # planned, and not held yet


# Runs


@quick
@given(runs())
def test_a_run_is_read_back_equal(tmp_path_factory, run):
    study = held(Runs(tmp_path_factory.mktemp("runs"), "demo"), run)
    assert study.run(run.session.id) == run
    assert study.planned(run.session.id) == run.session
    found, faults = study.all()
    assert (list(found), faults) == ([run], [])


def test_a_run_is_written_once_and_never_again(study):
    run = a_run("s1")
    folder = held(study, run).add
    before = contents(study.folder)
    with pytest.raises(WrongInput, match=r"run\.json exists; runs are never overwritten"):
        folder(dataclasses.replace(run, status="partial"))
    assert contents(study.folder) == before
    assert study.run("s1") == run


def test_all_gives_runs_in_order_of_name_and_leaves_out_what_was_only_begun(study):
    held(study, *(a_run(name) for name in ("b", "a", "c")))
    study.plan(a_run("begun").session)
    found, faults = study.all()
    assert [run.session.id for run in found] == ["a", "b", "c"]
    assert faults == []
    assert study.sessions() == ["a", "b", "begun", "c"]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: "", "not JSON"),
        (lambda text: text.replace('"schema": 1', '"schema": 2'), "another schema than 1"),
        (lambda text: text.replace('"status": "complete"', '"status": "fine"'), "status"),
        (lambda text: "\0" * len(text), "not JSON"),
    ],
    ids=["cut off", "empty", "another schema", "a wrong value", "zeros"],
)
def test_a_damaged_run_is_named_and_the_others_are_still_read(study, damage, reason):
    held(study, *(a_run(name) for name in ("a", "b", "c")))
    path = study.folder / "b" / "run.json"
    path.write_text(damage(path.read_text()))
    before = contents(study.folder)
    found, faults = study.all()
    assert [run.session.id for run in found] == ["a", "c"]
    assert len(faults) == 1
    assert faults[0].startswith(f"{path}: ")
    assert reason in faults[0]
    with pytest.raises(Damaged, match=reason):
        study.run("b")
    assert contents(study.folder) == before


def test_a_run_under_the_name_of_another_session_is_not_counted_twice(study):
    held(study, a_run("a"))
    for copy in ("b", "Copy of a"):
        shutil.copytree(study.folder / "a", study.folder / copy)
    found, faults = study.all()
    assert [run.session.id for run in found] == ["a"]
    assert all(any(copy in fault for fault in faults) for copy in ("b", "Copy of a"))


# Exchanges


def test_exchanges_are_kept_by_session_and_damaged_lines_counted(study):
    for session in "ab":
        study.plan(a_run(session).session)
    for session, n in (("a", 1), ("b", 2), ("a", 3)):
        study.record(session, {"n": n, "text": "次\n"})
    with (study.folder / "a" / "exchanges.jsonl").open("ab") as log:
        log.write(b'{"n": 4, "te')
    study.record("a", {"n": 5})
    assert study.exchanges("a") == (
        [{"n": 1, "text": "次\n"}, {"n": 3, "text": "次\n"}, {"n": 5}],
        1,
    )
    assert study.exchanges("b") == ([{"n": 2, "text": "次\n"}], 0)
    assert study.exchanges("none") == ([], 0)


# Scores


def alike(one, other):
    """Whether scores are equal, NaN being equal to NaN."""
    return list(map(repr, one)) == list(map(repr, other))


@quick
@given(st.lists(scores, max_size=6))
def test_scores_are_read_back_one_object_a_line(tmp_path_factory, given_scores):
    study = Runs(tmp_path_factory.mktemp("runs"), "demo")
    path = study.write_scores("dri", 1, given_scores)
    assert path == study.folder / "scores" / "dri.v1.jsonl"
    assert len(path.read_text(encoding="utf-8").split("\n")) == len(given_scores) + 1
    assert alike(study.scores(), given_scores)


def test_scorers_and_versions_lie_beside_each_other_and_a_scorer_replaces_its_own(study):
    def score(value, note=""):
        return Score("dri", "run", "a", value, "pre", note=note)

    study.write_scores("dri", 1, [score(0.1), score(0.2)])
    study.write_scores("dri", 2, [score(0.3)])
    study.write_scores("Über/dri", 1, [score(math.nan, "missing_answer")])
    study.write_scores("dri", 1, [score(0.4)])
    assert sorted(str(s.value) for s in study.scores()) == ["0.3", "0.4", "nan"]
    assert len(list((study.folder / "scores").iterdir())) == 3


def test_details_lie_beside_the_scores_and_are_not_read_as_scores(study):
    study.write_scores("dri", 1, [Score("dri", "run", "a", 0.5)])
    path = study.write_details(
        "dri", 1, [{"target": "a/1", "text": "Ja.\u2028Gut."}, {"target": "a/2"}]
    )
    assert path == study.folder / "scores" / "details" / "dri.v1.jsonl"
    assert [
        json.loads(line)["target"] for line in path.read_text(encoding="utf-8").split("\n") if line
    ] == ["a/1", "a/2"]
    assert [score.measure for score in study.scores()] == ["dri"]


def test_scores_that_cannot_be_written_leave_the_old_ones(study):
    study.write_scores("dri", 1, [Score("dri", "run", "a", 0.5)])
    with pytest.raises(ValueError, match="not JSON compliant"):
        study.write_scores("dri", 1, [Score("dri", "run", "a", math.inf)])
    assert [score.value for score in study.scores()] == [0.5]


def test_a_damaged_file_of_scores_is_named(study):
    path = study.write_scores("dri", 1, [Score("dri", "run", "a", 0.5)] * 3)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(Damaged, match="1 damaged lines; score the study again") as caught:
        list(study.scores())
    assert str(path) in str(caught.value)


def test_a_line_that_is_no_score_is_named_with_its_file(study):
    path = study.write_scores("dri", 1, [Score("dri", "run", "a", 0.5)])
    path.write_text(path.read_text() + '{"measure": "dri"}\n')
    with pytest.raises(Damaged, match="unit") as caught:
        list(study.scores())
    assert str(path) in str(caught.value)
