"""`delibsim import` of opinions: question, stance, minority, authors; and those of participants."""

from dataclasses import replace

import pytest

from delibsim import Runs
from delibsim.domain.consensus import ConsensusRule, Contribution
from delibsim.domain.reason import Reason
from delibsim.store.manifest import Manifest
from delibsim.store.study_texts import opinions_of
from delibsim.testing import a_run
from delibsim.testing.runs import a_run_with_consensus

CSV = "nr;comment;side;minority;user\n1;Yes, we should.;for;yes;Ann\n2;No.;against;;Ben\n3;YES,  we should.;;no;\n"


@pytest.fixture
def file(home):
    (home / "o.csv").write_text(CSV, encoding="utf-8-sig")
    return home


IMPORT = ("import", "x", "o.csv", "question=Should we?", "id=nr", "--as", "texts")


def test_opinions_are_kept_with_what_their_authors_are_for(delibsim, file):
    answer = delibsim(*IMPORT, "--json")
    assert answer.code == 0
    assert answer.json["described"]["stances"] == {"positive": 1, "negative": 1}
    assert answer.json["described"]["repeated"] == ["3"]
    held = opinions_of(Runs(file / "runs", "x"))
    assert (held.question, held.kind) == ("Should we?", "stance")
    said = [(one.id, one.author, one.stance, one.minority) for one in held.texts]
    assert said == [
        ("1", "Ann", "positive", "yes"),
        ("2", "Ben", "negative", ""),
        ("3", "", "", "no"),
    ]
    shown = delibsim("list", "texts", "x").out
    assert "question   Should we? (stance)" in shown
    assert delibsim(*IMPORT, "--json").json["known_before"] == 3


def test_without_authors_no_author_is_written(delibsim, file):
    assert delibsim(*IMPORT, "authors=false").code == 0
    assert "Ann" not in (file / "runs/x/texts.jsonl").read_text()


def test_opinions_are_taken_from_runs_with_a_stance(delibsim, study):
    words = ("import", "said", "s", "item=C1", "phase=pre", "--as", "opinions")
    answer = delibsim(*words, "--json")
    assert answer.code == 0
    (taken,) = answer.json["taken"]
    assert (taken["study"], taken["texts"], taken["new"]) == ("said", 2, 2)
    assert sum(taken["described"]["stances"].values()) == 2
    assert delibsim(*words, "--json").json["taken"][0]["new"] == 0
    for wrong in ("P1", "C99"):
        assert delibsim("import", "z", "s", f"item={wrong}", "--as", "opinions").code == 2
    assert delibsim("import", "said", "s", "take=all", "--as", "opinions").code in (0, 2)


def agreed(name, position="written", refused=0):
    """A run of five who sought a statement; some of them refused to write a position."""
    run = a_run_with_consensus(name)
    rule = ConsensusRule("schulze", "schulze", position=position)
    positions = list(run.consensus.positions)
    for k in range(refused):
        positions[k] = Contribution(positions[k].participant, missing=Reason("refusal", "no"))
    session = replace(run.session, consensus=rule)
    found = replace(run.consensus, positions=tuple(positions))
    return replace(run, session=session, consensus=found)


def test_written_positions_are_taken_and_missing_ones_counted_with_the_reason(delibsim, home):
    runs = Runs(home / "runs", "mixed")
    runs.settle(Manifest("mixed", {}, {}))
    wrote = agreed("wrote", refused=2)
    for run in (wrote, agreed("spoke", "last_statement"), a_run("plain")):
        runs.plan(run.session)
        runs.add(run)
    words = ("import", "said", "mixed", "take=position", "--as", "opinions")
    (taken,) = delibsim(*words, "--json").json["taken"]
    asked_nobody = len(a_run("plain").session.respondents) + 5
    assert taken["missing"] == {"refusal": 2, "not_asked": asked_nobody}
    held = opinions_of(Runs(home / "runs", "said")).texts
    assert [one.text for one in held] == [one.text for one in wrote.consensus.positions[2:]]
    assert {one.source for one in held} == {"position"}
    again = delibsim(*words)
    told = f"{asked_nobody + 2} participants without an opinion: not_asked {asked_nobody}, refusal"
    assert (again.code, "0 opinions new" in again.out, told in again.out) == (0, True, True)


def test_a_study_that_asked_for_no_positions_has_none_to_take(delibsim, study, partial):
    answer = delibsim("import", "z", "s", "take=position", "--as", "opinions")
    assert (answer.code, "in study s (not_asked 2); take the last" in answer.err) == (2, True)
    (taken,) = delibsim("import", "y", "p", "--json", "--as", "opinions").json["taken"]
    assert (taken["texts"], taken["missing"]) == (1, {"refusal": 1})


def test_the_example_is_invented_and_has_its_minorities(delibsim, home):
    answer = delibsim("import", "tram", "example=tram", "--json", "--as", "texts")
    assert (answer.code, answer.json["texts"]) == (0, 300)
    assert answer.json["described"]["minorities"] == {"yes": 36, "no": 252, "not sure": 12}
    assert answer.json["described"]["repeated"] == []
