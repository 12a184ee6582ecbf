"""Texts of one study or of several in one comparison, and their scores back at the runs."""

import math
from dataclasses import replace
from statistics import fmean

import pytest

from delibsim import Runs, WrongInput
from delibsim.asking import road
from delibsim.asking.kinds.pair import PAIRS
from delibsim.asking.kinds.pair_plan import plan_pairs
from delibsim.asking.kinds.pair_texts import study_of_several
from delibsim.conduct import ask as asking
from delibsim.conduct.compare_report import compared_runs, report_on_pairs
from delibsim.conduct.import_texts import Columns, import_texts
from delibsim.domain.survey import Topic
from delibsim.scorers.answers import Pairs
from delibsim.store.answers import (
    Comparisons,
    comparisons_about,
    gathered_from,
    measures_of_study,
)
from delibsim.store.manifest import Manifest
from delibsim.store.study_texts import StudyTexts
from delibsim.testing import a_debate, a_run

SETTINGS = ("dimension=logical", "model=citizen", "name=ab")
REASONS = "Participant 2 and GPT-5 are wrong, because trams are dear{}."
TOPICS = {name: Topic(name, f"What of {name}?", "", "example") for name in ("trams", "parks")}


def study(root, name, sessions):
    """A study of these sessions by id, each with its topic, in which two people speak."""
    runs = Runs(root, name)
    runs.settle(Manifest(name, {}, {}))
    for number, (id, topic) in enumerate(sessions.items()):
        run = a_run(id, participants=2)
        session = replace(run.session, topic=TOPICS[topic])
        first, second = run.transcript
        first = replace(first, text=REASONS.format(", since rails cost" * (number + 3 * len(name))))
        second = replace(second, text=f"{name} {id} is plain.")
        run = replace(run, session=session, transcript=(first, second))
        runs.plan(run.session)
        runs.add(run)
    return runs


@pytest.fixture
def two(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "runs"
    one = study(root, "a", {"s1": "trams", "s2": "trams", "s3": "parks"})
    return one, study(root, "bb", {"s1": "trams", "s3": "parks"})


def planned(two, *settings, keep_equal=False):
    runs = study_of_several(two[0].folder.parent, "ab", two)
    return plan_pairs(runs, [*SETTINGS, *settings], keep_equal, sources=two)


async def asked(two, *settings):
    plan = planned(two, *settings)
    return plan, await asking.ask(plan)


async def test_texts_of_several_studies_are_blinded_and_kept_in_a_study_of_their_own(two):
    plan, outcome = await asked(two)
    assert (outcome.new, outcome.whole) == (15 + 6, True)
    texts = StudyTexts(plan.runs).named()
    assert set(texts) == {
        *(f"a/{id}/{n}" for id in ("s1", "s2", "s3") for n in (1, 2)),
        *(f"bb/{id}/{n}" for id in ("s1", "s3") for n in (1, 2)),
    }
    one = texts["a/s1/1"]
    assert one.text.startswith("[a participant] and [removed] are wrong")
    assert (one.group, one.facts["study"], one.facts["session"]) == ("trams", "a", "s1")
    assert gathered_from(plan.runs) == ["a", "bb"]
    assert plan.runs.manifest().components["gathered"]["bb"]["texts"] == 4
    groups = {vote.sheet.group for vote in plan.answers.all()}
    assert groups == {"trams", "parks"}
    assert (await road.replay(PAIRS.kept(plan.runs, ""))).verdict == "equal"
    _, again = await asked(two)
    assert (again.new, again.before) == (0, 21)


async def test_what_was_said_since_is_refused_with_the_difference(two):
    await asked(two)
    run = a_run("s4", participants=2)
    run = replace(run, session=replace(run.session, topic=TOPICS["parks"]))
    two[1].plan(run.session)
    two[1].add(run)
    with pytest.raises(WrongInput, match="bb/s4/1 and bb/s4/2"):  # alike once they are blinded
        planned(two)
    with pytest.raises(WrongInput, match="bb/s4/1: new"):
        planned(two, keep_equal=True)
    with pytest.raises(WrongInput, match="no longer there"):
        planned(two, "unit=participant", keep_equal=True)


async def test_scores_come_back_to_the_runs_as_the_report_has_them(two):
    plan, _ = await asked(two)
    about = list(comparisons_about(two[1]))
    assert [(one.coder, one.prefix) for one in about] == [("ab", "bb/")]
    assert [one.id for one in measures_of_study("pairs", two[1])] == ["pairs.ab.logical"]
    compared = compared_runs(two[1], [])
    scores = Pairs().score([compared(run) for run in two[1].readable([])])
    found = {score.target: score.value for score in scores}
    rows = report_on_pairs(plan.runs, [plan.answers], fitted_settings(plan)).results["scores"]
    reported = dict(zip(rows.rows["id"], rows.rows["score"], strict=True))
    texts = [f"s1/{n}" for n in (1, 2)]
    assert all(found[id] == pytest.approx(reported[f"bb/{id}"], abs=1e-12) for id in texts)
    assert found["s1"] == pytest.approx(fmean(reported[f"bb/{id}"] for id in texts))
    assert {score.coder for score in scores} == {"ab"}


def fitted_settings(plan):
    """How the report computes scores by default."""
    from delibsim.cli.compare import REPORTED, _settings
    from delibsim.cli.options import settings_of

    return _settings(settings_of([], REPORTED), plan.answers)


async def test_a_text_that_is_another_now_has_no_score(two):
    plan, _ = await asked(two)
    run = two[0].run("s1")
    said = (replace(run.transcript[0], text="Something else."), run.transcript[1])
    scores = Pairs().score([compared_runs(two[0], [])(replace(run, transcript=said))])
    notes = {score.target: score.note for score in scores if score.unit == "statement"}
    assert notes == {"s1/1": "edited", "s1/2": ""}
    assert plan.answers.name == "ab"


async def test_sessions_and_lone_runs_of_a_topic_give_no_mean_of_a_run(two):
    within = {}
    for name, own in {"own": "within=session", "topic": "within=topic"}.items():
        given = ["dimension=logical", "model=citizen", f"name={name}", own]
        await asking.ask(plan_pairs(two[0], given))
        within[name] = set()
    compared = compared_runs(two[0], [])
    scores = Pairs().score([compared(run) for run in two[0].readable([])])
    for score in scores:
        if score.unit == "run":
            within[score.coder].add((score.target, score.note))
    nothing = "within_session"
    assert within["own"] == {("s1", nothing), ("s2", nothing), ("s3", nothing)}
    assert within["topic"] == {("s1", ""), ("s2", ""), ("s3", nothing)}
    assert not any(score.note for score in scores if score.unit == "participant")


async def test_texts_without_a_vote_and_apart_from_others_have_a_reason(two):
    plan, _ = await asked(two)
    file = plan.answers.files.annotations
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"a/s1/2"' not in line))
    scores = Pairs().score([compared_runs(two[0], [])(two[0].run("s1"))])
    notes = {score.target: score.note for score in scores}
    assert notes["s1/2"] == notes["s1/Participant 2"] == "not_judged"
    assert notes["s1"] == ""
    kept = ('"a/s1/1"', '"bb/s1/1"'), ('"a/s2/1"', '"bb/s1/2"')
    pairs = [line for line in lines if any(a in line and b in line for a, b in kept)]
    file.write_text("".join(pairs))
    scores = Pairs().score([compared_runs(two[0], [])(two[0].run("s1"))])
    known = {score.target: (math.isnan(score.value), score.note) for score in scores}
    assert known["s1/1"] == known["s1"] == (True, "not_connected")


def test_studies_that_cannot_be_compared_together_are_refused(two, tmp_path):
    root = two[0].folder.parent
    with pytest.raises(WrongInput, match="named twice"):
        study_of_several(root, "ab", [two[0], two[0]])
    with pytest.raises(WrongInput, match="one of the studies compared"):
        study_of_several(root, "bb", two)
    with pytest.raises(WrongInput, match="a, bb: studies that are compared together lie in one"):
        study_of_several(tmp_path, "ab", two)
    with pytest.raises(WrongInput, match="share no session"):
        planned(two, "within=session")
    with pytest.raises(WrongInput, match="unit=speech is of debates"):
        planned(two, "unit=speech")
    other = study(root, "other", {"s1": "trams"})
    with pytest.raises(WrongInput, match="exists and holds something else"):
        study_of_several(root, "other", two)
    run = a_run("s9", participants=2)
    renamed = replace(TOPICS["trams"], question="Buses?")
    run = replace(run, session=replace(run.session, topic=renamed))
    other.plan(run.session)
    other.add(run)
    with pytest.raises(WrongInput, match="topic trams asks another question"):
        planned((*two, other))


async def test_nothing_is_imported_into_gathered_texts(two, tmp_path):
    await asked(two)
    (tmp_path / "t.csv").write_text("id,text\nx,New.\n")
    with pytest.raises(WrongInput, match="holds texts gathered from a, bb"):
        import_texts(tmp_path / "t.csv", "ab", two[0].folder.parent, Columns())


def test_speeches_are_those_of_debates_without_notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = Runs(tmp_path / "runs", "d")
    runs.settle(Manifest("d", {}, {}))
    debate = a_debate("d1")
    runs.plan(debate.session)
    runs.add(debate)
    plan = plan_pairs(runs, ["dimension=logical", "unit=speech", "within=topic"])
    assert len(plan.about.texts) == 6
    assert {text.group for text in plan.about.texts} == {debate.session.topic.id}
    assert plan.task["unit"] == "speech"
    assert not Comparisons.of(runs, "main").bound
