"""How like people a study is: what is compared, what is left out, what may be said."""

import numpy as np
import pandas as pd
import pytest

from delibsim.analysis.study.like import COLUMNS, COMPARED, like, like_by_item
from delibsim.analysis.study.study_table import DrawCounts, StudyTable

DRAWS = DrawCounts(permutations=99)


def table(name, seed, topics=("tram", "tax"), sessions=10, survey="one", null=False, **more):
    """A study whose sessions have random values of everything; `more` adds to those of a column."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic in topics:
        for n in range(sessions):
            values = dict(zip(COLUMNS, rng.normal(size=len(COLUMNS)), strict=True))
            row = {"topic": topic, "replicate": n, "treatment": "t", "model": "m", "setting": ""}
            facts = {"session": f"{topic}{n}", "status": "complete", "survey": survey, "null": null}
            rows.append({**row, **facts, **values, "interaction": True})
    frame = pd.DataFrame(rows)
    for column, by in more.items():
        frame[column] += by
    return StudyTable(name, frame, ())


def rows_of(result):
    return {row["measure"]: row for row in result.plain()}


def test_what_was_planted_is_said_and_nothing_else():
    longer = table("here", 1, **{"talk.words": 3.0})
    (found, classifier, sessions), told = like(longer, table("people", 2), DRAWS)
    rows = rows_of(found)
    assert [name for name, row in rows.items() if row["differs"]] == ["talk.words"]
    assert rows["talk.words"]["differs"] == "higher"
    assert rows["talk.words"]["g"] == pytest.approx(3, abs=0.8)
    assert rows["talk.words"]["overlap"] < 0.35 < rows["talk.echo"]["overlap"]
    assert told[0] == (
        "Beside people, sessions of models differ on average in 1 of 18 measures (Holm's p below .05): higher words of a turn."
    )
    assert told[1].startswith("A classifier tells sessions of models from those of people in ")
    assert told[1].endswith("it goes by words of a turn most.")
    (row,) = classifier.plain()
    assert (row["most"], row["p"] < 0.05) == ("words of a turn", True)
    assert sessions.rows["population"].value_counts().to_dict() == {"people": 20, "models": 20}


def test_too_few_sessions_are_told_and_nothing_is_said_of_a_difference():
    few, people = table("here", 1, ("tram",), 2), table("people", 2, ("tram",), 2)
    (found, *_), told = like(few, people, DRAWS)
    assert not any(row["differs"] for row in found.plain())
    (sentence,) = told
    assert sentence.startswith("Beside people, nothing is said of sessions of models")


def test_topics_of_one_study_alone_are_left_out_and_counted():
    ours, theirs = table("here", 1, ("tram", "own")), table("people", 2, ("tram", "a", "b"), 7)
    (found, *_), _ = like(ours, theirs, DRAWS)
    row = rows_of(found)["talk.words"]
    assert (row["sessions"], row["people_sessions"], row["topics"]) == (10, 7, 1)
    assert found.notes == [
        "Only here has own: 10 sessions left out.",
        "Only people has a, b: 14 sessions left out.",
    ]
    (found, *_), told = like(table("here", 1, ("x",)), table("people", 2, ("y",)), DRAWS)
    assert (found.given, found.why_not, told) == (False, "nothing_shared", [found.detail])
    assert "Nothing of here can stand beside people" in found.detail


@pytest.mark.parametrize(("survey", "changed"), [("other", ()), ("one", ("one",))])
def test_opinions_of_another_survey_are_missing_and_talk_is_compared(survey, changed):
    (found, *_), _ = like(table("here", 1), table("people", 2, survey=survey), DRAWS, changed)
    for name, row in rows_of(found).items():
        opinion = name in COMPARED["opinion"]
        assert row["note"] == ("surveys_differ" if opinion else "")
        assert (row["g"] is None) == opinion


def test_conditions_that_share_draws_are_no_more_than_their_draws():
    ours = table("here", 1)
    copies = [ours.rows.assign(treatment=name) for name in "abcd"]
    shared = StudyTable("here", pd.concat(copies), (), paired=True)
    alone = rows_of(like(ours, table("people", 2), DRAWS)[0][0])["talk.words"]
    found = rows_of(like(shared, table("people", 2), DRAWS)[0][0])["talk.words"]
    assert (found["sessions"], alone["sessions"]) == (80, 20)
    assert found["p"] == pytest.approx(alone["p"], rel=0.02)


def test_variance_by_item_is_told_within_and_between_groups_and_conditions_that_are_pooled():
    here, people = table("here", 1, ("tram",), 2), table("people", 2, ("tram",), 2)
    here.rows["treatment"] = ["open", "led"]
    answers = []
    for study, values in ((here, [[1, 3], [5, 7]]), (people, [[4, 4], [4, 6]])):
        own = [
            {"session": session, "topic": "tram", "phase": "post", "item": "C1", "value": value}
            for session, group in zip(study.rows["session"], values, strict=True)
            for value in group
        ]
        answers.append(own)
    found, told = like_by_item(here, people, answers)
    (row,) = found.plain()
    # Mean squares by hand: here 2 within, 16 between, (16 - 2) / 2; of people 1, 1, 0.
    assert [row[f"here_{name}"] for name in ("within", "between", "icc", "groups")] == [
        2,
        7,
        7 / 9,
        2,
    ]
    assert [row[f"people_{name}"] for name in ("within", "between", "icc")] == [1, 0, 0]
    assert told == [
        "By item, answers after of models vary by 2.00 within groups and by 7.00 between them, those of people by 1.00 and 0.00 (medians of the variances of 1 items)."
    ]
    assert (
        like_by_item(here, table("people", 2, survey="other"), answers)[0].why_not
        == "nothing_shared"
    )
    (_, *_), told = like(here, people, DRAWS)
    assert told[-1] == (
        "Sessions of here that stand there are pooled over treatment (led, open); choose some: treatment=led."
    )
