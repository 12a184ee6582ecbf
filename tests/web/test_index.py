"""The index finds what the runs hold, follows them when they change, and can be deleted."""

import json
import re
import threading
from dataclasses import replace

import pytest

from delibsim.conduct.reading.index import StudyIndex
from delibsim.conduct.reading.listing import ListQuery, columns_of, listing, overview_of
from delibsim.conduct.scored import scored_study
from delibsim.store.runs import Runs


@pytest.fixture(scope="module")
def index(held, tmp_path_factory):
    """The index of a study that no test changes."""
    made = StudyIndex(Runs(held, "s"), tmp_path_factory.mktemp("cache"))
    made.refresh()
    yield made
    made.close()


@pytest.fixture
def own(root, tmp_path):
    """The index of a study that is the test's own."""
    made = StudyIndex(Runs(root, "s"), tmp_path / "cache")
    made.refresh()
    yield made
    made.close()


def found(index, **asked):
    return listing(index, columns_of(index), ListQuery(**asked))


def sessions(shown):
    return [run.session for run in shown.runs]


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_list_has_every_session_with_the_scores_that_were_written(index):
    shown = found(index, measure="dri", sort="dri_change", descending=True)
    written = {}
    for line in (index.runs.scores_folder / "dri.v1.jsonl").read_text().splitlines():
        score = json.loads(line)
        if (score["measure"], score["phase"]) == ("dri", "change"):
            written[score["target"]] = score["value"]
    assert {run.session: run.values["dri_change"] for run in shown.runs} == written
    assert sessions(shown) == sorted(written, key=lambda name: -written[name])


def test_a_column_of_the_design_filters(index):
    columns = columns_of(index)
    assert columns.choices["treatment"] == ["none", "normative"]
    shown = found(index, only={"treatment": "none", "replicate": "2", "no_such": "x"})
    assert sessions(shown) == ["ccps.none.citizen_size3.r2"]


def test_what_is_missing_comes_last_however_it_is_sorted(own):
    gone = own.runs.path("ccps.none.citizen_size3.r1") / "run.json"
    gone.unlink()
    assert own.refresh()
    for descending in (False, True):
        shown = found(own, measure="dri", sort="words_spoken", descending=descending)
        assert sessions(shown)[-1] == gone.parent.name


def test_a_search_finds_the_statements_that_hold_the_word(index):
    expected = {}
    for name in index.runs.sessions():
        said = [
            one for one in index.runs.run(name).transcript if re.search(r"\boptions\b", one.text)
        ]
        if said:
            expected[name] = len(said)
    shown = found(index, text="options")
    assert {run.session: run.hits_in_all for run in shown.runs} == expected
    assert shown.found == (sum(expected.values()), len(expected))
    marked = [text for run in shown.runs for text, wanted in run.hits[0].parts if wanted]
    assert set(marked) == {"options"}


@pytest.mark.parametrize(
    ("search", "matches"),
    [
        ("I would put FIRST", True),
        ('"would put first"', True),
        ('"first put would"', False),
        ("opti", True),
        ("opti xyzzy", False),
        ("' OR 1=1 --", False),
        ('NEAR("options" "first") OR *', False),
        ('"', False),
        ("text:options", False),
        ("a\0b" * 1000, False),
        ("\ud800", False),
        ("); DROP TABLE said; --", False),
    ],
)
def test_whatever_is_searched_for_is_words(index, search, matches):
    shown = found(index, text=search)
    assert bool(shown.runs) is matches
    assert len(found(index).runs) == 4


def test_words_without_spaces_and_accents_are_found(own, spoken):
    run = own.runs.run(spoken)
    path = own.runs.path(spoken) / "run.json"
    texts = ["我们认为气候变化很重要", "Une décision déjà prise", "\x02marks\x03"]
    said = []
    for statement, text in zip(run.transcript, texts, strict=True):
        said.append(replace(statement, text=text))
    path.unlink()
    own.runs.add(replace(run, transcript=tuple(said)))
    assert own.refresh()
    assert found(own, text="气候").runs[0].hits[0].parts[1] == ("气候", True)
    assert found(own, text="deja").runs[0].hits[0].turn == run.transcript[1].turn.index
    assert sessions(found(own, text="marks")) == [spoken]


def test_it_follows_the_study_and_reads_again_only_what_is_new(own):
    assert not own.refresh()
    run = own.runs.run("ccps.none.citizen_size3.r1")
    session = replace(run.session, id="ccps.none.citizen_size3.r3", replicate=3)
    own.runs.plan(session)
    own.runs.add(replace(run, session=session))
    asked = []
    own.refresh(lambda what, done, among: asked.append((what, among)))
    assert ("reading statements", 1) in asked
    shown = found(own, measure="dri", sort="session", descending=True)
    assert sessions(shown)[0].endswith("normative.citizen_rounds1_size3.r2")
    assert len(shown.runs) == 5
    assert [run.values["dri_pre"] for run in shown.runs].count(None) == 1


def test_deleting_it_loses_nothing_and_a_damaged_one_is_made_anew(own, root, tmp_path):
    before = found(own, measure="dri").runs
    own.close()
    for spoil in (own.file.unlink, lambda: own.file.write_bytes(b"no database" * 99)):
        spoil()
        again = StudyIndex(Runs(root, "s"), tmp_path / "cache")
        again.refresh()
        assert found(again, measure="dri").runs == before
        again.close()


def test_nothing_of_the_study_is_changed(root, tmp_path):
    before = files_of(root)
    index = StudyIndex(Runs(root, "s"), tmp_path / "cache")
    index.refresh()
    overview_of(index)
    index.close()
    assert files_of(root) == before


def test_nobody_but_its_owner_reads_what_is_kept(root, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o755)
    index = StudyIndex(Runs(root, "s"), folder)
    index.file.write_bytes(b"from another version, for all to read")
    index.file.chmod(0o644)
    seen = set()

    def look(*_):
        for path in (folder, *folder.iterdir()):
            seen.add((path.name, path.stat().st_mode & 0o077))

    index.refresh(look)
    index.refresh()
    look()
    assert {mode for _, mode in seen} == {0}
    assert len(seen) > 4
    index.delete()
    assert list(folder.iterdir()) == []


def test_the_old_index_is_read_while_a_new_one_is_made(own, spoken):
    before = found(own, measure="dri").runs
    (own.runs.path("ccps.none.citizen_size3.r1") / "run.json").unlink()
    seen = []
    own.refresh(lambda *_: seen.append(found(own, measure="dri").runs))
    assert seen
    assert all(runs == before for runs in seen)
    assert found(own, measure="dri").runs != before


def test_two_processes_make_it_one_after_the_other(own, root, tmp_path):
    other = StudyIndex(Runs(root, "s"), tmp_path / "cache")
    assert not other.refresh()  # it is there
    (own.runs.path("ccps.none.citizen_size3.r1") / "run.json").unlink()
    asked = []
    threads = [
        threading.Thread(target=one.refresh, args=[lambda *what: asked.append(what)])
        for one in (own, other)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [what for what in asked if what[0] == "reading statements"] == [
        ("reading statements", 0, 1)
    ]
    assert own.digest == other.digest
    assert found(own).runs == found(other).runs
    other.close()


def test_what_fails_while_it_is_made_leaves_the_old_one(own):
    before, kept = found(own).runs, sorted(own.file.parent.iterdir())
    (own.runs.path("ccps.none.citizen_size3.r1") / "run.json").unlink()

    def fail(*_):
        raise InterruptedError("stopped")

    with pytest.raises(InterruptedError):
        own.refresh(fail)
    assert found(own).runs == before
    assert sorted(own.file.parent.iterdir()) == kept
    assert own.refresh()


def test_the_scores_of_a_run_are_there_before_the_index_is(index, root, tmp_path, spoken):
    new = StudyIndex(Runs(root, "s"), tmp_path / "cache")
    by_target = {score.target: score for score in index.scores(spoken)}
    assert len(by_target) > 1
    assert {score.target: score for score in new.scores(spoken)}.keys() == by_target.keys()
    assert len(new.scores(spoken)) == len(index.scores(spoken))
    assert new.scores("no such run") == []


def test_without_a_cache_that_can_be_written_it_is_held_in_memory(root, tmp_path):
    (tmp_path / "file").write_text("")
    index = StudyIndex(Runs(root, "s"), tmp_path / "file" / "cache")
    index.refresh()
    assert len(found(index).runs) == 4


def test_the_overview_gives_the_means_that_scoring_gives(own):
    seen = overview_of(own)
    scored = scored_study(own.runs, [], lambda *_: None)
    averages = scored.averages(["treatment"])
    table = seen.measures[0]
    at = [n for n, column in enumerate(table.columns) if column.group == "normative"]
    row = next(row for row in table.rows if row[0] == "Deliberative Reason Index")
    by_phase = averages.of("dri")["null citizen", ("normative",)]
    expected = [
        f"{by_phase[phase].mean:{sign}.3f}"
        for phase, sign in (("pre", ""), ("post", ""), ("change", "+"))
    ]
    assert [row[n] for n in at][:3] == expected
    assert seen.states == {"complete": 4}
    assert seen.cost_usd == 0.0
