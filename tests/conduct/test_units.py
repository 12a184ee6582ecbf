"""The texts of a study as coders are given them."""

from dataclasses import replace

import pytest

from delibsim import Runs, WrongInput
from delibsim.asking.texts import texts_of
from delibsim.domain.annotation import Text
from delibsim.store.manifest import Manifest
from delibsim.store.study_texts import StudyTexts
from delibsim.testing import a_run


@pytest.fixture
def held(tmp_path):
    """A study with one run."""
    runs = Runs(tmp_path, "held")
    runs.settle(Manifest("held", {}, {}))
    run = a_run()
    runs.plan(run.session)
    runs.add(run)
    return runs, run


@pytest.fixture
def imported(tmp_path):
    """A study of three texts in two groups."""
    runs = Runs(tmp_path, "imported")
    texts = [Text("a", "One.", "x"), Text("b", "Two.", "y"), Text("c", "Three.", "x")]
    StudyTexts(runs).keep(texts, Manifest("imported", {}, {}))
    return runs, texts


def test_statements_are_named_by_session_and_turn(held):
    runs, run = held
    texts = texts_of(runs)
    id = run.session.id
    assert [text.id for text in texts] == [f"{id}/{said.turn.index}" for said in run.transcript]
    assert [text.text for text in texts] == [said.text for said in run.transcript]
    assert {text.group for text in texts} == {id}
    assert texts[0].facts["speaker"] == run.transcript[0].turn.speaker


def test_context_is_what_was_said_before_the_oldest_first(held):
    runs, run = held
    said = [one.text for one in run.transcript]
    texts = texts_of(runs, context=2)
    assert len(said) > 2
    assert texts[0].context == ()
    assert texts[1].context == (said[0],)
    assert texts[-1].context == tuple(said[-3:-1])


def test_the_words_of_a_speaker_are_joined(held):
    runs, run = held
    found = {text.id: text.text for text in texts_of(runs, "speaker")}
    for person in {said.turn.speaker for said in run.transcript}:
        own = [said.text for said in run.transcript if said.turn.speaker == person]
        assert found[f"{run.session.id}/{person}"] == "\n\n".join(own)
    (whole,) = texts_of(runs, "text")
    assert (whole.id, whole.text) == (
        run.session.id,
        "\n\n".join(said.text for said in run.transcript),
    )


def test_notes_that_nobody_heard_are_no_texts_and_no_context(tmp_path):
    runs = Runs(tmp_path, "noted")
    runs.settle(Manifest("noted", {}, {}))
    run = a_run()
    first, *others = run.transcript
    note = replace(first, turn=replace(first.turn, task="preparation"))
    runs.plan(run.session)
    runs.add(replace(run, transcript=(note, *others)))
    texts = texts_of(runs, context=1)
    assert [text.text for text in texts] == [said.text for said in others]
    assert texts[0].context == ()


def test_a_run_that_cannot_be_read_is_named(held):
    runs, run = held
    (runs.folder / run.session.id / "run.json").write_text("{", encoding="utf-8")
    faults = []
    assert texts_of(runs, faults=faults) == []
    assert "run.json" in faults[0]


def test_imported_texts_are_given_as_they_are_with_those_before_them_in_their_group(imported):
    runs, texts = imported
    assert texts_of(runs) == texts_of(runs, "text") == texts
    context = {text.id: text.context for text in texts_of(runs, context=1)}
    assert context == {"a": (), "b": (), "c": ("One.",)}


def test_what_texts_do_not_have_is_refused(imported, held):
    for runs, unit, context, fault in (
        (imported[0], "speaker", 0, "speakers are not known"),
        (held[0], "speaker", 1, "before a statement"),
        (held[0], "sentence", 0, "unknown unit 'sentence'"),
        (held[0], "statement", -1, "context=-1"),
    ):
        with pytest.raises(WrongInput, match=fault):
            texts_of(runs, unit, context)


def test_context_needs_groups(tmp_path):
    runs = Runs(tmp_path, "loose")
    StudyTexts(runs).keep([Text("a", "One.")], Manifest("loose", {}, {}))
    with pytest.raises(WrongInput, match="no group; import them with: group=COLUMN"):
        texts_of(runs, context=1)


@pytest.mark.parametrize("line", ['{"id": "d"}\n', '{"id": "a", "text": "Twice."}\n', '{"id"'])
def test_a_damaged_line_is_named_and_never_left_out(imported, line):
    runs, _ = imported
    with StudyTexts(runs).file.open("a", encoding="utf-8") as file:
        file.write(line)
    with pytest.raises(WrongInput, match=r"texts\.jsonl, line 4: damaged \(.*\)"):
        texts_of(runs)
