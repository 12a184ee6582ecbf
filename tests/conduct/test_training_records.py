"""Records to train on: from files with every fault, and from judgments of a study."""

import pytest

from delibsim.conduct.judging.training_records import hash_of, records_of_file
from delibsim.domain.errors import WrongInput

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
