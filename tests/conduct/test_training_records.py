"""Records to train on: from files with every fault, and from judgments of a study."""

import json

import pytest

from delibsim import Runs
from delibsim.asking.kinds.summary_plan import plan_summaries
from delibsim.conduct.trained.records import (
    hash_of,
    records_of_file,
    records_of_study,
)
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.summary import Judgment, Sitting, Slot, Summary, Triple, parts_by_rater
from delibsim.store.answers import Judgments

HEAD = "question,opinion,summary,rater,instance,rep,inf,neu,pol\n"


def file_of(tmp_path, text, name="records.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_are_brought_to_one_scale_and_missing_ones_are_missing(tmp_path):
    path = file_of(tmp_path, f"{HEAD}q,o,s,r1,i1,5,-1,7,\nq,o,t,r1,i1,1,NA,3,4\n")
    first, second = records_of_file(path)
    assert first.scores == {"rep": 0.75, "inf": 0.0, "neu": 1.0}
    assert second.scores == {"rep": 0.25, "neu": 0.5, "pol": 0.625}
    assert (first.rater, first.instance) == ("r1", "i1")


def test_the_published_names_of_columns_are_read(tmp_path):
    text = (
        "topic,comment,summary_text,annotator_id,perspective_representation,informativeness,"
        "neutrality_balance,policy_approval\nq,o,s,a,0.5,0.25,0.125,0.75\n"
    )
    (one,) = records_of_file(file_of(tmp_path, text))
    assert one.scores == {"rep": 0.5, "inf": 0.25, "neu": 0.125, "pol": 0.75}


def test_what_may_be_two_scales_is_asked_for(tmp_path):
    path = file_of(tmp_path, f"{HEAD}q,o,s,r,i,1,1,0,1\n")
    with pytest.raises(WrongInput, match="scale=labels or scale=unit"):
        records_of_file(path)
    assert records_of_file(path, "labels")[0].scores["rep"] == 0.25
    assert records_of_file(path, "unit")[0].scores["rep"] == 1.0


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("opinion,summary,rep\no,s,1\n", "no column question"),
        ("question,opinion,summary\nq,o,s\n", "no column rep"),
        (f"{HEAD}q,,s,r,i,1,2,3,4\n", "line 2: opinion is empty"),
        (f"{HEAD}q,o,s,r,i,many,2,3,4\n", "line 2: rep 'many' is no number"),
        (f"{HEAD}q,o,s,r,i,9,2,3,4\n", "line 2: rep 9 is not within -1 and 7"),
        (f"{HEAD}q,o,s,r,i,,,,\n", "no score in 1 row"),
        (f"{HEAD}q,o,s,r,i,nan,inf,3,4\n", "line 2: inf"),
    ],
)
def test_a_fault_is_named_by_its_line(tmp_path, text, fault):
    with pytest.raises(WrongInput, match=fault):
        records_of_file(file_of(tmp_path, text))


def test_the_hash_changes_with_any_record(tmp_path):
    one = records_of_file(file_of(tmp_path, f"{HEAD}q,o,s,r,i,5,2,3,4\n"))
    other = records_of_file(file_of(tmp_path, f"{HEAD}q,o,s,r,i,5,2,3,5\n", "other.csv"))
    assert hash_of(one) != hash_of(other)


def test_without_raters_an_opinion_is_of_one_person_and_stays_in_one_part(tmp_path):
    text = "question,opinion,summary,rep\nq,yes,s,4\nq,yes,t,3\nq,no,s,1\np,no,s,2\n"
    found = records_of_file(file_of(tmp_path, text))
    assert found[0].rater == found[1].rater
    assert len({one.rater for one in found}) == 3
    parts = parts_by_rater(found, 1).values()
    assert sum(any(one.triple.opinion == "yes" for one in part) for part in parts) == 1


PUBLISHED = {
    "perspective_representation": 4,
    "informativeness": -1,
    "neutrality_balance": 3,
    "policy_approval": 7,
}


@pytest.mark.parametrize("form", ["lines", "cell"])
def test_the_published_form_with_an_object_of_scores(tmp_path, form):
    row = {"question": "q", "comment": "o", "summary": "s", "user_dir": "u1"}
    if form == "lines":
        text = json.dumps({"id": "x", **row, "scores": PUBLISHED}) + "\n"
        (one,) = records_of_file(file_of(tmp_path, text, "records.jsonl"))
    else:
        quoted = json.dumps(PUBLISHED).replace('"', '""')
        text = f'question,comment,summary,user_dir,scores\nq,o,s,u1,"{quoted}"\n'
        (one,) = records_of_file(file_of(tmp_path, text))
    assert (one.triple, one.rater) == (Triple("q", "o", "s"), "u1")
    assert one.scores == {"rep": 0.625, "inf": 0.0, "neu": 0.5, "pol": 1.0}


def test_lines_that_are_no_records_are_named(tmp_path):
    file = file_of(tmp_path, '{"question": "q", "scores": [1]}\nnothing\n', "records.jsonl")
    with pytest.raises(WrongInput, match=r"(?s)line 1: it is no object.*line 2: it is no object"):
        records_of_file(file)


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Three opinions and two summaries of all; judgments are for each test to give."""
    from typer.testing import CliRunner

    from delibsim.cli.import_ import app

    monkeypatch.chdir(tmp_path)
    rows = "id,text,author\na,Trams are quiet.,ann\nb,Rails cost.,\nc,I doubt it.,\n"
    file_of(tmp_path, rows, "o.csv")
    words = ["s", "o.csv", "--as", "texts", "question=Why?"]
    assert CliRunner().invoke(app, words).exit_code == 0
    runs = Runs.open(tmp_path / "runs", "s")
    planned = plan_summaries(runs, ["model=citizen", "sizes=all", "runs=2"])
    planned.answers.files.settle(planned.task)
    for run in (1, 2):
        planned.answers.add([Summary(Slot("citizen", 3, run=run), f"Summary {run}.")])
    Judgments.of(runs, "main").files.settle({"summaries": planned.answers.name, "models": {}})
    return runs


ONE, TWO = "citizen 3.1.1", "citizen 3.1.2"


def test_a_model_judges_for_those_whose_opinions_it_is_shown(study):
    """One model alone gives three raters, so that it can be learnt from."""
    four = dict.fromkeys(("rep", "inf", "neu", "pol"), 4)
    given = [
        Judgment(Sitting(ONE, "a"), "m", four),
        Judgment(Sitting(ONE, "b"), "m", four),
        Judgment(Sitting(ONE, "b", TWO), "m", {"rep": 5}),
        Judgment(Sitting(ONE, "c"), "m", {"inf": 2}),
        Judgment(Sitting(TWO, "c"), "m", missing=Reason("refusal")),
    ]
    Judgments.of(study, "main").add(given)
    found = records_of_study(study, "m")
    scores = {(one.rater, one.triple.summary): one.scores.get("rep") for one in found}
    assert scores == {
        ("ann", "Summary 1."): 0.625,
        ("b", "Summary 1."): 0.625,
        ("b", "Summary 2."): 0.875,
        ("c", "Summary 1."): None,
    }
    assert all(map(len, parts_by_rater(found, 1).values()))


def test_a_person_is_the_rater_of_its_own_judgments(study):
    judgments = Judgments.of(study, "main")
    judgments.keep_opinions({"p/1": "I like both."})
    rated = Judgment(Sitting(ONE, "p/1"), "p/1", {"rep": 4, "inf": 2})
    compared = Judgment(Sitting(TWO, "p/1", ONE), "p/1", {"rep": 1, "inf": 5}, first=ONE)
    judgments.add([rated, compared], people=True)
    first, second = records_of_study(study)
    assert (first.rater, second.rater, first.instance) == ("p/1", "p/1", second.instance)
    assert first.scores == {"rep": 0.625, "inf": 0.375}
    assert second.scores == {"rep": 0.875, "inf": 0.125}  # the other one stood as A
    assert second.derived
