"""Reading YAML and JSON: what no reader may open is refused at once, by name, wherever a user can put
it; everything else is read by YAML 1.2.
"""

import math
import os
import time
from contextlib import contextmanager

import pytest
from hypothesis import strategies as st

from delibsim import WrongInput
from delibsim.planning.compose import plan
from delibsim.store.answers import PanelRatings
from delibsim.store.codec import Damaged, run_from_json, session_from_json
from delibsim.store.files import append_line, keep_private, staged, write_atomically
from delibsim.store.instruments.imported import read_people
from delibsim.store.instruments.library import Library, read_own_personas, read_persona_file
from delibsim.store.reading import (
    LEVELS,
    VALUES,
    YAML_BYTES,
    check_yaml,
    file_bytes,
    json_value,
    read_json,
    read_yaml,
)
from delibsim.store.runs import Runs

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, 12)
)
DEEP = f"a: {'[' * 100_000}{']' * 5_000}\n"
BLOCKS = "".join(f"{' ' * level}a:\n" for level in range(2_000))
MANY = f"a: [{', '.join(['x'] * (VALUES + 1))}]\n"
LARGE = f"a: {'x' * YAML_BYTES}\n"
ENDLESS = "a: &a [*a]\n"
UNSAFE = {
    "alias bomb": BOMB,
    "alias of itself": ENDLESS,
    "deep lists": DEEP,
    "deep blocks": BLOCKS,
    "many values": MANY,
    "large": LARGE,
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def at_once(seconds=15):
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


READERS = {
    "topic": ("topics/tea.yaml", lambda home: Library(home).entry("tea")),
    "survey": ("surveys/tea.yaml", lambda home: Library(home).survey("tea")),
    "personas": ("conf/persona/tea.yaml", lambda home: read_persona_file("tea", home)),
    "own personas": ("tea.yaml", lambda home: read_own_personas(home / "tea.yaml", "tea")),
    "preset": ("conf/model/tea.yaml", lambda home: plan(["topic=ccps", "model=tea"])),
    "experiment": ("conf/experiment/tea.yaml", lambda home: plan(["experiment=tea"], sweep=True)),
}


@pytest.mark.parametrize("kind", UNSAFE)
@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_no_reader_may_open_is_refused_at_once_and_named(home, reader, kind):
    place, read = READERS[reader]
    path = put(home / place, UNSAFE[kind])
    with at_once(), pytest.raises(WrongInput) as caught:
        read(home)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_scale_of_imported_answers_is_read_by_the_same_reader(home):
    folder = home / "surveys" / "imported" / "deliberr"
    answers = "survey,case,phase,participant,C1,C2,P1,P2\n"
    answers += "tea,x,pre,A,1,2,1,2\ntea,x,post,A,1,2,1,2\n"
    put(folder / "answers.csv", answers)
    for text in UNSAFE.values():
        put(folder / "tea.yaml", text)
        with at_once(), pytest.raises(WrongInput, match=r"tea\.yaml"):
            read_people(folder)


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b"[" * 500 + b"]" * 500, b'{"a":' * 90 + b"1" + b"}" * 90]
)
def test_json_nested_too_deep_is_damaged_and_named(home, text):
    runs = Runs(home / "runs", "s")
    for name in ("study.json", "a/session.json", "a/run.json", "annotations/rating-p/task.json"):
        path = runs.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    asked = (
        runs.manifest,
        lambda: runs.planned("a"),
        lambda: runs.run("a"),
        lambda: runs.status("a"),
    )
    for read in (*asked, PanelRatings.of(runs, "p").files.task):
        with pytest.raises(WrongInput, match=r"runs/s/\S+\.json") as caught:
            read()
        assert f"nested more than {LEVELS} levels deep" in str(caught.value)
    for read in (run_from_json, session_from_json):
        with pytest.raises(Damaged):
            read(text)


def test_what_is_larger_than_it_may_be_is_not_read(tmp_path):
    path = put(tmp_path / "a.json", "12345")
    assert file_bytes(path, 5) == b"12345"
    with pytest.raises(ValueError, match="larger than 4 bytes"):
        file_bytes(path, 4)
    with pytest.raises(WrongInput, match="no-such-file"):
        read_json(tmp_path / "no-such-file")


@pytest.mark.parametrize("text", ["2026-99-99", "9" * 5_000])
def test_a_value_that_is_none_is_refused_with_the_name_of_the_file(tmp_path, text):
    path = put(tmp_path / "a.yaml", f"a: {text}\n")
    with pytest.raises(WrongInput, match=str(path)):
        read_yaml(path)


def nested(levels):
    return "[" * levels + "]" * levels


def test_the_deepest_that_is_allowed_is_read(tmp_path):
    assert json_value(nested(LEVELS))
    assert read_yaml(put(tmp_path / "a.yaml", nested(LEVELS)))
    with pytest.raises(ValueError, match="levels deep"):
        json_value(nested(LEVELS + 1))
    with pytest.raises(WrongInput, match=r"a\.yaml, line 1: nested more than"):
        read_yaml(put(tmp_path / "a.yaml", nested(LEVELS + 1)))


def test_a_preset_may_use_a_few_aliases_and_another_reader_says_what_is_no_yaml(tmp_path):
    check_yaml(put(tmp_path / "a.yaml", "a: &a {b: [1, 2]}\nc: *a\nd: [*a, *a]\n"))
    check_yaml(put(tmp_path / "a.yaml", "a: [\n"))
    check_yaml(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("on", "on"), ("Yes", "Yes"), ("true", True), ("False", False), ("~", None),
        ("null", None), ("12", 12), ("-0", 0), ("+7", 7), ("0x1f", 31), ("012", 12), ("1e5", 1e5), (".5", 0.5),
        ("-1.5e-3", -0.0015), ("1_000", "1_000"), ("12:30", "12:30"), ("1e", "1e"), (".inf", math.inf),
        ("'12'", "12"), ('"no"', "no"), ("[1, {a: null}]", [1, {"a": None}]), ("=", "="), ("", None),
    ],
)  # fmt: skip
def test_plain_texts_are_read_by_the_core_schema_of_yaml_1_2(tmp_path, text, value):
    found = read_yaml(put(tmp_path / "a.yaml", f"a: {text}\n"))["a"]
    assert found == value
    assert type(found) is type(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    ("umask", "file", "folder"),
    [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700), (0o002, 0o664, 0o775)],
)
def test_files_follow_the_umask(tmp_path, umask, file, folder):
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "new" / "a.json", "{}")
        append_line(tmp_path / "log.jsonl", {"a": 1})
        with staged(tmp_path / "tables") as new:
            put(new / "runs.csv", "a\n")
    finally:
        os.umask(before)
    mode = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert mode == {
        "new": folder, "tables": folder, "a.json": file, "log.jsonl": file, "runs.csv": file,
    }  # fmt: skip


def test_what_people_give_is_private_and_the_umask_of_a_program_stays(tmp_path):
    before = os.umask(0o022)
    try:
        keep_private(tmp_path / "hall")
        write_atomically(Runs(tmp_path, "hall").path("s1") / "run.json", "{}")
        append_line(tmp_path / "hall" / "s1" / "exchanges.jsonl", {"a": 1})
        with staged(tmp_path / "hall" / "tables") as new:
            put(new / "runs.csv", "a\n")
        write_atomically(Runs(tmp_path, "ours").path("s1") / "run.json", "{}")
        (tmp_path / "notes.txt").write_text("a", encoding="utf-8")
    finally:
        assert os.umask(before) == 0o022
    mode = {}
    for path in tmp_path.rglob("*"):
        mode[str(path.relative_to(tmp_path))] = path.stat().st_mode & 0o777
    assert mode == {
        "hall": 0o700, "hall/s1": 0o700, "hall/s1/run.json": 0o600, "hall/tables": 0o700,
        "hall/s1/exchanges.jsonl": 0o600, "hall/tables/runs.csv": 0o644, "notes.txt": 0o644,
        "ours": 0o755, "ours/s1": 0o755, "ours/s1/run.json": 0o644,
    }  # fmt: skip
