"""Every exporter keeps its contract, and its files hold what was said, answered and voted."""

import csv
import json
from io import StringIO

import pytest

from delibsim.domain.corpora import ExportedSession
from delibsim.domain.errors import WrongInput
from delibsim.plugins import load, names
from delibsim.testing import a_debate, a_run, check_exporter
from delibsim.testing.runs import a_run_with_consensus

GROUP = "delibsim.exporters"


def written(name, *sessions):
    return {
        file: "".join(pieces) for file, pieces in load(GROUP, name).files("example", iter(sessions))
    }


@pytest.mark.parametrize("name", names(GROUP))
def test_an_exporter_keeps_the_contract(name):
    check_exporter(load(GROUP, name))
    assert load(GROUP, name).name == name


def test_an_exporter_that_leaves_its_folder_is_found_out():
    class Leaving:
        name = form = "leaving"

        def files(self, study, sessions):
            yield "../x", ["x"]

    with pytest.raises(AssertionError, match="no path of a file in the folder"):
        check_exporter(Leaving())


def test_a_corpus_replies_in_the_order_of_turns_and_holds_all_answers():
    run = a_run("one", missing=["Participant 2"])
    time = {(run.transcript[1].turn.speaker, "turn 2"): "2026-01-31T12:30:59.000+00:00"}
    files = written("convokit", ExportedSession(run, {"dri_pre": 0.5}, {}, time))
    lines = [json.loads(line) for line in files["utterances.jsonl"].splitlines()]
    assert [line["text"] for line in lines] == [said.text for said in run.transcript]
    assert [line["reply-to"] for line in lines] == [None, *(line["id"] for line in lines[:-1])]
    assert {line["conversation_id"] for line in lines} == {"one/1"}
    assert [line["timestamp"] for line in lines[:3]] == [None, 1769862659, None]
    speakers = json.loads(files["speakers.json"])
    for response in run.responses:
        meta = speakers[f"one/{response.participant}"]["meta"]
        assert meta["answers"][response.phase] == dict(response.answers)
        assert set(meta["missing"][response.phase]) == set(response.missing)
    (meta,) = [one["meta"] for one in json.loads(files["conversations.json"]).values()]
    assert meta["measures"] == {"dri_pre": 0.5}
    assert meta["status"] == "partial"


def test_a_log_has_a_message_for_every_turn_and_survey():
    run = a_debate("two", speeches=3)
    (text,) = written("inspect", ExportedSession(run, {"x": 1.0})).values()
    log = json.loads(text)
    (sample,) = log["samples"]
    replies = [one for one in sample["messages"] if one["role"] == "assistant"]
    turns = [one for one in replies if "turn" in one["metadata"]]
    said = [one["content"] for one in turns if one["metadata"]["replied"]]
    assert said == [one.text for one in run.transcript]
    assert len(turns) == len(run.transcript) + len(run.silences)
    assert len(replies) - len(turns) == len(run.responses)
    assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == 1.0
    assert list(log)[-1] == "samples"  # readers of the head stop there


def test_ballots_are_votes_that_agree_pass_and_disagree():
    run = a_run_with_consensus("three")
    files = written("polis", ExportedSession(run), ExportedSession(a_run("without")))
    folders = {name.partition("/")[0] for name in files}
    assert folders == {"three"}
    tables = {}
    for name, text in files.items():
        tables[name.partition("/")[2]] = list(csv.reader(StringIO(text)))
    head, *votes = tables["votes.csv"]
    assert head == ["timestamp", "datetime", "comment-id", "voter-id", "vote"]
    expected = []
    for vote in filter(None, (run.consensus.first, run.consensus.second)):
        for ranking in vote.cast:
            expected += [(a >= 5) - (a <= 3) for a in ranking.agreement.values()]
    assert [int(row[4]) for row in votes] == expected
    comments = tables["comments.csv"][1:]
    assert [row[7] for row in comments][: len(run.consensus.first.standing)] == [
        one.text for one in run.consensus.first.standing
    ]
    last = {(row[3], row[2]): row[4] for row in votes}
    for seat, _, _, n, agree, disagree, *own in tables["participants-votes.csv"][1:]:
        given = [last.get((seat, str(number)), "") for number in range(len(comments))]
        assert own == given
        counts = [str(given.count(vote)) for vote in ("1", "-1")]
        assert [n, agree, disagree] == [str(len(given) - given.count("")), *counts]


def test_a_study_without_ballots_is_told_so():
    with pytest.raises(WrongInput, match="no statements with ballots"):
        written("polis", ExportedSession(a_run("one")))
