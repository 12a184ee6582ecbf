"""Raters on pages: who gets what, what becomes of it, and the rows that are as from paper."""

import random
import shutil
from collections import Counter
from contextlib import nullcontext

import pytest
from rated import (
    all_of,
    codes_online,
    debates_online,
    desk_of,
    hand_in_next,
    pairs_online,
    person,
    study_of_debates,
    summaries_online,
)

from delibsim.analysis.debates.rated import debates_of
from delibsim.people.raters import AnswerWriter, write_rows
from delibsim.store.answers import Codings, Comparisons, Judgments, PanelRatings
from delibsim.store.people.assignments import place_of, replies_of, unkept
from delibsim.store.people.schema import PLACE, REQUEST
from delibsim.store.runs import Runs


@pytest.fixture(scope="module")
def held_debates(tmp_path_factory):
    return study_of_debates(tmp_path_factory.mktemp("debates"))


@pytest.fixture
def debates(held_debates, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(held_debates.folder.parent, tmp_path / "runs")
    return Runs(tmp_path / "runs", "d")


def joined(desk, name, task):
    return desk.join(person(desk.register, name), task)


def rated_by(runs):
    found = {}
    for run in debates_of(runs)[0]:
        for rating in run.ratings:
            found.setdefault(rating.rater, []).append(rating)
    return found


def test_a_rater_gets_a_share_once_and_her_rows_are_those_of_paper(debates):
    task = debates_online(debates)
    desk = desk_of(debates)
    ann = joined(desk, "ann", task)
    assert desk.join("ann", task) == ann
    assert len(ann.sheets) == 4
    all_of(desk, ann)
    assert place_of(desk.register, "ann", task).state == "done"
    rows = AnswerWriter(desk, nullcontext)
    assert rows.bring() == 4
    assert rows.bring() == 0
    ratings = rated_by(debates)[f"{task} 1"]
    assert len(ratings) == len({one.session for one in ratings}) == 4
    assert {one.source for one in ratings} == {"human"}
    assert all(not one.missing and one.panel == task for one in ratings)
    key = desk.task(task).sheets
    assert {one.first for one in ratings} <= {sheet["first"] for sheet in key.values()}
    rows.rescore(at_once=True)
    assert any(task in score.coder for score in debates.scores())


@pytest.mark.parametrize("seed", range(4))
def test_shares_stay_balanced_in_whatever_order_raters_come_and_go(debates, seed):
    draw = random.Random(seed)
    each = draw.randint(1, 8)
    task = debates_online(debates, raters=draw.randint(1, 6), each=each)
    desk = desk_of(debates)
    here, n = [], 0
    while True:
        held = joined(desk, f"p{n}", task)
        n += 1
        if held is not None:
            here.append(held)
        elif not here:
            break
        while here and draw.random() < 0.7:
            one = here.pop(draw.randrange(len(here)))
            if draw.random() < 0.4 and n < 30:
                for _ in range(draw.randint(0, 2 * each)):
                    hand_in_next(desk, one)
                desk.leave(one)
            else:
                all_of(desk, one)
    AnswerWriter(desk, nullcontext).bring()
    ratings = [one for own in rated_by(debates).values() for one in own]
    assert len(ratings) % each == 0
    counts = Counter(one.session for one in ratings)
    every = [counts[run.session.id] for run in debates_of(debates)[0]]
    assert max(every) - min(every) <= 1
    first = Counter((one.session, one.first) for one in ratings)
    for debate in counts:
        assert abs(first[debate, "proposition"] - first[debate, "opposition"]) <= 1
    assert len({(one.session, one.rater) for one in ratings}) == len(ratings)


def test_a_place_that_nobody_touches_goes_to_the_next_only_when_no_other_is_free(debates):
    task = debates_online(debates, raters=2, each=2)
    desk = desk_of(debates)
    ann = joined(desk, "ann", task)
    hand_in_next(desk, ann)
    hand_in_next(desk, ann)
    assert joined(desk, "ben", task).number == 2
    assert joined(desk, "cy", task) is None
    days_ago = PLACE.update().values(seen=PLACE.c.seen - 49 * 3600).where(PLACE.c.number == 1)
    with desk.register.writing() as connection:
        connection.execute(days_ago)
    cy = desk.join("cy", task)
    assert (cy.number, len(cy.sheets)) == (3, 1)
    assert place_of(desk.register, "ann", task).state == "left"
    again = desk_of(debates)
    assert again.join("cy", task).sheets == cy.sheets
    assert again.join(person(again.register, "dee"), task) is None


def test_nobody_is_shown_a_unit_twice_even_in_another_pack(debates):
    first, second = debates_online(debates, 1, 8), debates_online(debates, 1, 4)
    desk = desk_of(debates)
    assert joined(desk, "ann", first)
    assert desk.join("ann", second) is None
    assert joined(desk, "ben", second)


def test_rows_come_once_whatever_is_killed(debates):
    task = debates_online(debates)
    desk = desk_of(debates)
    ann = joined(desk, "ann", task)
    all_of(desk, ann)
    assert write_rows(desk.task(task), desk.register) == 4
    with desk.register.writing() as connection:  # as if killed before that was noted
        connection.execute(REQUEST.update().values(kept=None))
    assert AnswerWriter(desk_of(debates), nullcontext).bring() == 4
    assert len(rated_by(debates)[f"{task} 1"]) == 4
    assert not unkept(desk.register, task)


def test_what_cannot_be_kept_is_told_and_the_rest_is_kept(debates):
    task = debates_online(debates)
    desk = desk_of(debates)
    ann = joined(desk, "ann", task)
    all_of(desk, ann)
    ratings = PanelRatings.of(debates, "people")
    path = ratings.files.packs / f"{task}.json"
    text = path.read_text()
    code = ann.sheets[0]
    path.write_text(text.replace(code, "GONE22"))
    assert AnswerWriter(desk, nullcontext).bring() == 4
    replies = replies_of(desk.register, ann)
    assert "not in pack" in replies[code]["ballot"].fault
    assert len(rated_by(debates)[f"{task} 1"]) == 3


def test_coders_code_every_dimension_of_a_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs, task = codes_online(tmp_path)
    desk = desk_of(runs)
    held = joined(desk, "ann", task)
    first = desk.next(held)
    assert first.step.name == "reasons"
    assert "these steps" not in first.step.prompt.text
    hand_in_next(desk, held)
    then = desk.next(held)
    assert (then.sheet, then.step.name) == (first.sheet, "matter")
    all_of(desk, held)
    assert AnswerWriter(desk, nullcontext).bring() == 4
    codes = Codings.of(runs, "tiny").people()
    assert {code.coder for code in codes} == {f"{task} 1"}
    assert len(codes) == 8
    assert {code.pack for code in codes} == {task}


def test_pairs_are_judged_and_repeats_are_of_one_person(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs, task = pairs_online(tmp_path)
    desk = desk_of(runs)
    ann = joined(desk, "ann", task)
    for _ in range(5):
        hand_in_next(desk, ann)
    desk.leave(ann)
    ben = joined(desk, "ben", task)
    assert ben.number == 3
    key = desk.task(task).sheets
    first = {code for code in ben.sheets if key[code]["run"] == 1}
    assert len(first) == len(ben.sheets) <= 3
    all_of(desk, ben)
    assert AnswerWriter(desk, nullcontext).bring() == 5 + len(ben.sheets)
    votes = Comparisons.of(runs, "main").people()
    assert {vote.judge for vote in votes} == {f"{task} 1", f"{task} 3"}
    pairs = Counter(vote.sheet.pair for vote in votes if vote.run == 1)
    assert set(pairs.values()) == {1}


def test_a_summary_is_judged_after_ones_own_opinion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs, task = summaries_online(tmp_path)
    desk = desk_of(runs)
    held = joined(desk, "ann", task)
    assert len(held.sheets) == 1
    steps = []
    while found := desk.next(held):
        steps.append(found.step)
        hand_in_next(desk, held)
    assert [step.name for step in steps] == ["opinion", "rating", "comparison", "check"]
    assert "Trams are quiet" in steps[1].prompt.text
    assert AnswerWriter(desk, nullcontext).bring() == 1
    judgments = Judgments.of(runs, "main").people()
    assert len(judgments) == 2
    assert all(one.missing is None and len(one.values) == 4 for one in judgments)
    assert joined(desk, "ben", task).sheets != held.sheets
