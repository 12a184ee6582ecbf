"""Conversations of people as runs: `import --as turns|convokit|polis`, what takes such runs, forks of them."""

import csv
import json
import re
import stat
import sys
from subprocess import run as run_process

import pytest
from conversations import AFTER, BEFORE, TEXTS, TURNS, debates, polis

from delibsim import Runs
from delibsim.conduct.import_conversations import example
from delibsim.plugins import load
from delibsim.store.study_texts import StudyTexts
from delibsim.testing import check_importer

TURN, SURVEYED = "people/ccps.open.r1", "people/ccps.chaired.r1"


@pytest.fixture
def people(delibsim):
    """The conversations that ship, imported."""
    answer = delibsim("import", "--as", "turns", "study=people", "example=neighbours")
    assert answer.code == 0, answer.err
    return answer


def read(home, study, session):
    return Runs(home / "runs", study).run(session)


def test_the_example_is_imported_under_codes_once(delibsim, people, home, files):
    assert "12 conversations new, 0 known before" in people.out
    key = home / "runs" / "people.names.csv"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with key.open(encoding="utf-8") as rows:
        assert {
            row["participant"]: row["speaker"]
            for row in csv.DictReader(rows)
            if row["session"] == "ccps.open.r1"
        } == {
            "Speaker 1": "Marta",
            "Speaker 2": "Joel",
            "Speaker 3": "Nadia",
            "Speaker 4": "Piet",
        }
    run = read(home, "people", "ccps.open.r1")
    assert run.status == "complete"
    turns, answers = example("neighbours")
    with turns.open(encoding="utf-8") as rows:
        theirs = [row["text"] for row in csv.DictReader(rows) if row["session"] == "open-air-1"]
    assert [said.text for said in run.transcript] == theirs
    with answers.open(encoding="utf-8") as rows:
        first = next(row for row in csv.DictReader(rows) if row["speaker"] == "Marta")
    assert run.response("Speaker 1", "pre").answers["C7"] == int(first["C7"])
    before = files("runs/people")
    assert (
        "0 conversations new, 12 known before"
        in delibsim("import", "--as", "turns", "study=people", "example=neighbours").out
    )
    assert files("runs/people") == before


def test_what_takes_a_study_takes_one_of_people(delibsim, people, home):
    assert (
        delibsim("verify", "people").out == "study people: nothing differs\n12 sessions imported\n"
    )
    replayed = delibsim("replay", TURN)
    assert (replayed.code, "there is nothing to replay" in replayed.out) == (4, True)
    assert "12 complete" in delibsim("status", "people").out
    assert delibsim("score", "people", "--json").code == 0
    analysed = delibsim("analyze", "people", "--figures", "none").out
    assert "groups of 4 people answered a survey" in analysed
    assert "conversation open-air-1 of turns.csv" in delibsim("show", TURN).out
    export = delibsim("export", "people", "-o", "tables")
    assert export.code == 0, export.err
    with (
        home / "tables" / "sessions.csv"
        if (home / "tables" / "sessions.csv").exists()
        else home / "tables" / "runs.csv"
    ).open() as rows:
        assert next(csv.DictReader(rows))["people_seats"] == "4"
    assert delibsim("view", "people", "-o", "site").code == 0
    assert (
        delibsim(
            "compare", "ask", "people", "model=citizen", "dimension=logical", "design.per_text=2"
        ).code
        == 0
    )
    for words, told in {
        ("probe", TURN, "--after", "each"): "cannot be asked",
        ("run", "study=people", "topic=ccps"): "not both; name another study",
        ("import", "--as", "texts", "people", "x.csv"): "x.csv",
    }.items():
        answer = delibsim(*words)
        assert (answer.code, told in answer.err) == (2, True), answer.err
    # A study that delibsim held takes no conversation of people.
    assert (
        delibsim("run", "--quiet", "study=held", "topic=ccps", "group.size=2", "rounds=1").code == 0
    )
    assert delibsim("import", "--as", "turns", "study=held", "example=neighbours").code == 2


def test_a_fork_goes_on_with_a_model_where_people_spoke(delibsim, people, home):
    answer = delibsim("fork", TURN, "--at", "6", "--seat", "Speaker 3=citizen", "--json").json
    (fork,) = answer["forks"]
    assert (answer["states"], answer["calls_asked_now"]) == (
        {"complete": 0, "partial": 1, "failed": 0},
        2,
    )
    own, theirs = read(home, "people/forks", fork["session"]), read(home, "people", "ccps.open.r1")
    assert [one.text for one in own.transcript[:6]] == [one.text for one in theirs.transcript[:6]]
    differing = [
        one.turn.index
        for one, other in zip(own.transcript, theirs.transcript, strict=True)
        if one.text != other.text
    ]
    assert differing == [7]  # the only turn of that seat from 6 on
    assert [one.turn.index for one in own.transcript if one.given] == [6, 8, 9, 10, 11]
    assert own.response("Speaker 3", "pre") == theirs.response("Speaker 3", "pre")
    assert own.response("Speaker 3", "post").answers != theirs.response("Speaker 3", "post").answers
    assert {one.code for one in own.response("Speaker 1", "post").missing.values()} == {
        "person_not_there"
    }
    place = f"people/forks/{fork['session']}"
    assert delibsim("replay", place).out.endswith(": equal\n")
    beside = delibsim("show", TURN, place).out
    assert theirs.transcript[6].text in " ".join(beside.split())
    assert "6 turns (1 to 6) the same" in beside
    assert (
        "who did not hear what models say here: turn 6, 8, 9, 10, 11" in delibsim("show", place).out
    )
    # No control is possible: what people said and measured stands beside the fork.
    told = delibsim("fork", "people").out
    assert re.search(r"\nwords of a turn +17\.818 +23\.091 +- +1\n", told), told
    assert "no effect: people_once" in told
    assert "agreement on" not in told  # their answers after are missing
    assert all(word in " ".join(told.split()) for word in "Mine? Not for a light bulb.".split())
    assert own.transcript[5].text not in told
    everybody = delibsim("fork", TURN, "--at", "6", "model=citizen", "--json").json
    mean = next(one for one in everybody["effects"] if one["measure"] == "dri")
    assert (round(mean["people"], 3), mean["note"], mean["effect"]) == (0.913, "people_once", None)
    assert everybody["states"]["complete"] == 1
    again = delibsim("fork", place, "--at", "9", "--seat", "4", "model=citizen", "--json").json
    later = read(home, "people/forks", again["forks"][0]["session"])
    assert [one.text for one in later.transcript[:8]] == [one.text for one in own.transcript[:8]]
    assert "nothing differs" in delibsim("verify", "people").out
    for words, told in {
        ("--at", "6"): "name the model that speaks from there on",
        ("--at", "6", "model=citizen", "--control"): "there is no control",
        ("--at", "6", "--seat", "Speaker 9=citizen"): "unknown seat 'Speaker 9'",
    }.items():
        assert told in delibsim("fork", TURN, *words).err


def test_votes_of_an_oxford_debate_become_its_stance_change_and_winner(delibsim, home):
    debates(home / "iq2")
    answer = delibsim("import", "iq2", "--as", "convokit", "study=iq2", "facts=date")
    assert answer.code == 0, answer.err
    assert "not placed: 3 x metadata of speakers, which may say who they are: name" in answer.err
    sessions = {
        run.session.conversation.id: run
        for run in map(Runs(home / "runs", "iq2").run, Runs(home / "runs", "iq2").sessions())
    }
    first = sessions["d1-0"]
    assert [one.text for one in first.transcript] == [TEXTS[f"d1-{n}"] for n in range(4)]
    assert [one.turn.round for one in first.transcript] == [1, 2, 3, 3]
    assert [one.role for one in first.session.participants] == [
        "moderator",
        "proposition",
        "opposition",
    ]
    assert [held.reply_to for held in first.session.conversation.turns] == [None, 1, 2, 3]
    assert first.session.conversation.facts == {"date": "May 2015"}
    assert "Pat Pro" not in json.dumps(
        [path.read_text() for path in (home / "runs" / "iq2").rglob("*.json")]
    )
    scores = delibsim("score", "iq2", "--all").code
    assert scores == 0
    lines = (home / "runs/iq2/scores/ratings.v1.jsonl").read_text(encoding="utf-8").splitlines()
    values = {(line["measure"], line["phase"]): line["value"] for line in map(json.loads, lines)}
    # 30 + 52 / 2 = 56 before, 41 + 14 / 2 = 48 after; the sides gained 41 - 30 = 11 and 45 - 18 = 27.
    assert values == {
        ("audience.stance", "pre"): 56.0,
        ("audience.stance", "post"): 48.0,
        ("audience.stance", "change"): -8.0,
        ("audience.gain", ""): -16.0,
        ("audience.proposition_wins", ""): 0.0,
    }
    assert sum(BEFORE.values()) == sum(AFTER.values()) == 100


def test_utterances_stand_in_the_order_of_their_times_and_replies_point_at_turns(delibsim, home):
    said = [("u2", "u1", 30), ("u3", "u9", 40), ("u1", None, 20), ("u0", None, 10)]
    lines = []
    for n, (id, reply_to, seconds) in enumerate(said):
        line = {"id": id, "conversation_id": "c", "text": id, "speaker": f"s{n % 2}", "meta": {}}
        lines.append(line | {"reply-to": reply_to, "timestamp": 1.6e9 + seconds})
    (home / "c").mkdir()
    (home / "c" / "utterances.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    answer = delibsim("import", "c", "--as", "convokit", "study=s", "topic=ccps")
    assert "1 x replies to what is not in the conversation" in answer.err
    run = read(home, "s", "ccps.conversation.r1")
    assert [one.text for one in run.transcript] == ["u0", "u1", "u2", "u3"]
    turns = run.session.conversation.turns
    assert [one.reply_to for one in turns] == [None, None, 2, None]
    assert [one.time[14:19] for one in turns] == ["26:50", "27:00", "27:10", "27:20"]
    # What is known of a turn stands in the export, and is printed beside it.
    assert delibsim("export", "s", "-o", "tables").code == 0
    with (home / "tables" / "statements.csv").open(encoding="utf-8") as rows:
        assert [row["reply_to"] for row in csv.DictReader(rows)] == ["", "", "2", ""]
    assert "12:26:50 UTC" in delibsim("show", "s/ccps.conversation.r1").out


def test_an_edited_source_is_refused_with_the_difference(delibsim, home, files):
    debates(home / "iq2")
    words = ("import", "iq2", "--as", "convokit", "study=iq2")
    assert delibsim(*words).code == 0
    before = files("runs/iq2")
    for path in sorted((home / "iq2").iterdir()):
        path.unlink()
    (home / "iq2").rmdir()
    debates(home / "iq2", text="It does, and always did.")
    answer = delibsim(*words)
    assert answer.code == 2
    assert "'d1-0' was imported with something else (transcript[3].text:" in answer.err
    assert files("runs/iq2") == before


def test_comments_of_polis_become_opinions_with_their_votes(delibsim, home):
    polis(home / "trams")
    answer = delibsim("import", "trams", "--as", "polis", "study=trams")
    assert answer.code == 0, answer.err
    assert "3 comments new" in answer.out
    texts = [
        json.loads(line)
        for line in (home / "runs/trams/texts.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [(one["text"], one["author"]) for one in texts][1:] == [
        ("Not by the river.", "Author 1"),
        ("<script>buses</script>", "Author 2"),
    ]
    facts = texts[0]["facts"]
    names = ("agrees", "passes", "author_group", "group_0_agrees", "group_1_disagrees")
    assert [facts[name] for name in names] == ["2", "0", "0", "2", "1"]
    assert texts[1]["facts"]["passes"] == "0"  # she voted again
    assert "Should there be trams, and where?" in delibsim("list", "texts", "trams").out
    again = delibsim("import", "trams", "--as", "polis", "study=trams")
    assert "0 comments new, 3 known before" in again.out
    # Who is who is kept beside, and the export gives the same votes and groups back.
    key = (home / "runs" / "trams.names.csv").read_text(encoding="utf-8").splitlines()
    assert key[1:] == ["trams,Author 1,7", "trams,Author 2,8", "trams,Voter 3,9"]
    assert delibsim("export", "trams", "--as", "polis", "-o", "out/trams").code == 0
    last = (home / "out" / "trams" / "participants-votes.csv").read_text("utf-8").splitlines()
    assert last[1:] == ["0,0,2,2,1,1,1,-1,", "1,0,1,2,2,0,1,1,", "2,1,0,2,0,1,-1,,0"]
    about = [(home / path / "summary.csv").read_text("utf-8") for path in ("trams", "out/trams")]
    assert set(about[0].splitlines()) <= set(about[1].splitlines())
    assert delibsim("import", "out/trams", "--as", "polis", "study=again").code == 0
    for name in ("texts.jsonl", "voters.jsonl"):
        both = [(home / "runs" / study / name).read_bytes() for study in ("trams", "again")]
        assert both[0] == both[1]
    # A vote that was changed is refused; without single votes the last ones are taken.
    votes = home / "trams" / "votes.csv"
    votes.write_text(votes.read_text("utf-8").replace("3,0,9,-1", "3,0,9,1"), "utf-8")
    changed = delibsim("import", "trams", "--as", "polis", "study=trams")
    assert (changed.code, "votes were imported otherwise, of Voter 3" in changed.err) == (2, True)
    votes.unlink()
    assert delibsim("import", "trams", "--as", "polis", "study=last").code == 0
    (own,) = [one for one in StudyTexts(Runs(home / "runs", "last")).voters() if one.group == "1"]
    assert own.votes == (("0", -1, ""), ("2", 0, ""))


def test_votes_say_on_what_opinion_groups_agree(delibsim, home):
    polis(home / "trams")
    assert delibsim("import", "trams", "--as", "polis", "study=trams").code == 0
    tables = delibsim("analyze", "trams", "--of", "votes", "--json").json["tables"]
    first = tables["agreement"][0]
    # Of group 0 two agree of two, of group 1 none of one: 3/4 times 1/3.
    names = ("opinion", "votes", "agrees", "disagrees", "passes", "least", "informed")
    assert [first[name] for name in names] == ["0", 3, 2 / 3, 1 / 3, 0, 0, 0.25]
    (typical, *_) = tables["typical"]
    assert [typical[name] for name in ("group", "members", "agrees", "others")] == ["0", 2, 1, 0]
    assert typical["ratio"] == pytest.approx((3 / 4) / (1 / 3))
    assert delibsim("export", "trams", "-o", "tables").code == 0
    with (home / "tables" / "opinion_votes.csv").open(encoding="utf-8") as rows:
        votes = [
            (row["voter"], row["text_id"], row["vote"], row["holds"])
            for row in csv.DictReader(rows)
        ]
    assert ("Author 2", "1", "0", "FALSE") in votes
    assert ("Author 2", "1", "1", "TRUE") in votes
    whose = ("--license", "CC-BY-4.0", "--creator", "Ann Bee")
    assert delibsim("package", "trams", "--for", "osf", "-o", "pack", *whose).code == 0
    assert (home / "pack" / "data" / "record" / "trams" / "voters.jsonl").is_file()
    asked = delibsim("summarise", "ask", "trams", "groups=author_group", "runs=1")
    assert asked.code == 0, asked.err
    wrong = delibsim("summarise", "ask", "trams", "groups=nothing", "name=b")
    assert (wrong.code, "author_group" in wrong.err) == (2, True)
    texts = delibsim("import", "--as", "texts", "none", "example=tram")
    assert texts.code == 0
    for words in (("analyze", "none", "--of", "votes"), ("export", "none", "--as", "polis")):
        assert "holds no votes on its opinions" in delibsim(*words).err
    assert "is of sessions" in delibsim("export", "trams", "--as", "inspect").err


FILES = {
    ("comments.csv", "4,0,7,2,1,1,again\n"): "line 5: '0' stands in",
    ("votes.csv", "9,2,,1\n"): "line 9: the voter has no id",
    ("votes.csv", "9,2,9,2\n"): "line 9: a vote is -1, 0 or 1, not '2'",
    ("votes.csv", "yesterday,2,9,1\n"): "line 9: 'yesterday' is no number of seconds",
    ("participants-votes.csv", "7,1,2,1,,\n"): "line 5: participant '7' stands there already",
}


@pytest.mark.parametrize("rows", FILES, ids=list(FILES.values()))
def test_a_faulty_export_of_polis_is_refused_in_a_line_and_nothing_is_kept(rows, delibsim, home):
    file = polis(home / "trams") / rows[0]
    file.write_text(file.read_text("utf-8") + rows[1], "utf-8")
    answer = delibsim("import", "trams", "--as", "polis", "study=s")
    assert (answer.code, FILES[rows] in answer.err) == (2, True), answer.err
    assert len(answer.err.splitlines()) == 1
    assert not list((home / "runs").glob("*"))


@pytest.mark.parametrize(
    ("name", "make"), [("convokit", debates), ("polis", polis), ("turns", None)]
)
def test_importers_keep_their_contract(name, make, tmp_path):
    source = make(tmp_path / "source") if make else tmp_path / "source.csv"
    if make is None:
        source.write_text(TURNS, encoding="utf-8")
    check_importer(load("delibsim.importers", name), source)


HEAD = "session,turn,speaker,text"
TABLES = {
    f"{TURNS}a,2,Ben,Again.\n": "line 5: '2' stands in line 3 already",
    f"{HEAD}\na,1,Ann,x\na,2,,y\na,3,Ben,z\n": "line 3: the speaker has no name",
    f"{HEAD}\na,one,Ann,x\n": "line 2: turn is a whole number from 0, not 'one'",
    f"{HEAD},time\na,1,Ann,x,2020-01-01\na,2,Ben,y,1577836800\na,3,Ben,y,2020-01-01T10:00\n": "times are written in 3 ways: a date (line 2)",
    f"{HEAD},time\na,1,Ann,x,01/02/2020\na,2,Ben,y,\n": "line 2: '01/02/2020' is no time",
    f"{HEAD},reply_to\na,1,Ann,x,3\na,2,Ben,y,1\na,3,Ann,z,2\n": "is a reply to itself, over others",
    f"{HEAD},topic\na,1,Ann,x,one?\na,2,Ben,y,two?\n": "line 3: the session a has another topic",
    f"{HEAD}\na,1,Ann,x\na,2,Ben\n": "line 3: 3 cells, but 4 columns",
    f'{HEAD}\na,1,Ann,"x\na,2,Ben,y\n': "is a quotation mark not closed?",
    "session,speaker,text\na,Ann,x\n": "unknown column 'turn'",
    f"{HEAD}\n": "holds no utterance",
    f"{HEAD}\na,1,Ann,x\na,2,Ann,y\n": "in no conversation two people speak",
}


@pytest.mark.parametrize("table", TABLES, ids=list(TABLES.values()))
def test_a_faulty_table_is_refused_in_a_line_and_nothing_is_kept(table, delibsim, home):
    (home / "t.csv").write_text(table, encoding="utf-8")
    answer = delibsim("import", "t.csv", "--as", "turns", "study=s", "topic=Should we?")
    assert (answer.code, TABLES[table] in answer.err) == (2, True), answer.err
    assert len(answer.err.splitlines()) == 1
    assert not (home / "runs" / "s").exists()
    assert not list((home / "runs").glob("*"))


LINES = {
    b'{"id": "u1", "conv': "line 3 is no JSON: the corpus breaks off there",
    b'{"id": "u1", "conversation_id": "d2-0", "speaker": null, "text": "x"}\n': "line 3: the speaker has no name",
    b'{"id": "d1-0", "conversation_id": "d1-0", "speaker": "Pat", "text": "x"}\n': "'d1-0' stands in line 1 already",
    b'{"id": "u1", "conversation_id": "d2-0", "speaker": "Z\xe9", "text": "x"}\n': "line 3 is not UTF-8",
    b'{"id": "u1", "conversation_id": "d2-0", "speaker": "Z", "text": "\\ud83d"}\n': "half a character",
}


@pytest.mark.parametrize("line", LINES, ids=list(LINES.values()))
def test_a_faulty_corpus_is_refused_in_a_line_and_nothing_is_kept(line, delibsim, home):
    file = debates(home / "iq2") / "utterances.jsonl"
    good = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*good[:2], line]))
    answer = delibsim("import", "iq2", "--as", "convokit", "study=s")
    assert (answer.code, LINES[line] in answer.err) == (2, True), answer.err
    assert len(answer.err.splitlines()) == 1
    assert not list((home / "runs").glob("*"))


ANSWERS = {
    "a,Ann,pre,C99,3": "line 2: the survey ccps has no item 'C99'",
    "a,Zoe,pre,C1,3": "line 2: 'Zoe' never spoke in 'a', and has answers",
    "b,Ann,pre,C1,3": "line 2: there is no conversation 'b'",
    "a,Ann,later,C1,3": "line 2: a phase is pre, post or in between wave_2 to wave_5, not 'later'",
    "a,Ann,pre,C1,9": "line 2: Ann, pre: C1 has 9, outside 1 to 7",
    "a,Ann,pre,C1,3.5": "C1: an answer is a whole number, not '3.5'",
    "a,Ann,pre,C1,3\na,Ann,pre,C1,4": "line 3: C1 is answered twice",
    "a,Ann,wave_2,C1,3": "do not say after which of its 3 turns wave_2 was held: column after",
}


@pytest.mark.parametrize("rows", ANSWERS, ids=list(ANSWERS.values()))
def test_faulty_answers_are_refused_in_a_line_and_nothing_is_kept(rows, delibsim, home):
    (home / "t.csv").write_text(TURNS, encoding="utf-8")
    (home / "a.csv").write_text(f"session,speaker,phase,item,value\n{rows}\n", encoding="utf-8")
    answer = delibsim(
        "import", "t.csv", "--as", "turns", "study=s", "topic=ccps", "--answers", "a.csv"
    )
    assert (answer.code, ANSWERS[rows] in answer.err) == (2, True), answer.err
    assert len(answer.err.splitlines()) == 1
    assert not list((home / "runs").glob("*"))


def test_answers_that_nobody_gave_are_missing_with_the_reason(delibsim, home):
    (home / "t.csv").write_text(TURNS, encoding="utf-8")
    (home / "a.csv").write_text(
        "session,speaker,phase,item,value\na,Ann,pre,C1,3\n", encoding="utf-8"
    )
    answer = delibsim(
        "import",
        "t.csv",
        "--as",
        "turns",
        "study=s",
        "topic=ccps",
        "--answers",
        "a.csv",
        "--keep-names",
    )
    assert answer.code == 0, answer.err
    assert not (home / "runs" / "s.names.csv").exists()
    run = read(home, "s", "ccps.conversation.r1")
    assert run.status == "partial"
    assert run.response("Ann", "pre").answers == {"C1": 3}
    assert {one.code for one in run.response("Ben", "post").missing.values()} == {"not_given"}


def test_a_corpus_is_read_as_a_stream(tmp_path):
    """Of 40 MB of which the conversations do not stand together, less than 40 MB more is in memory than of one of 1 MB."""
    peaks = []
    for turns in (25, 1000):
        file = tmp_path / f"t{turns}.csv"
        with file.open("w", encoding="utf-8") as lines:
            lines.write(f"{HEAD}\n")
            for n in range(turns):
                for session in range(40):
                    lines.write(f"{session},{n},S{n % 3},{'word ' * 200}\n")
        words = f"import --as turns {file} study=s{turns} topic=ccps".split()
        code = (
            "import resource, sys; from delibsim.cli.main import main\n"
            f"sys.argv = ['delibsim', *{words}]\n"
            "try: main()\nexcept SystemExit as end: assert not end.code\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = run_process(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout.split()[-1]) / 1024)
    assert peaks[1] - peaks[0] < 40, peaks


@pytest.mark.slow
def test_a_corpus_that_was_exported_gives_the_same_texts_replies_times_and_answers(delibsim, home):
    rows = ["session,turn,speaker,text,topic,time,reply_to,role"]
    rows += ['s,1,Ann,"One, ""two""\n<b>three</b>",ccps,2021-04-03T10:00:00Z,,moderator']
    rows += ["s,2,Bob,Zwei – é,ccps,2021-04-03T10:01:00.5,1,", "s,3,Cem,Three,ccps,,1,"]
    (home / "turns.csv").write_text("\n".join([*rows, "s,4,Bob,Four,ccps,,,"]) + "\n", "utf-8")
    (home / "a.csv").write_text("case,speaker,phase,C1,P2\ns,Cem,1,3,\ns,Ann,2,7,1\n", "utf-8")
    words = ("import", "turns.csv", "--as", "turns", "study=told", "--answers", "a.csv")
    assert delibsim(*words).code == 0
    assert delibsim("export", "told", "--as", "convokit", "-o", "corpus").code == 0
    lines = (home / "corpus" / "utterances.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    ids = [one["id"] for one in told]
    assert [one["reply-to"] for one in told] == [None, ids[0], ids[0], ids[2]]
    assert [one["timestamp"] for one in told] == [1617444000, 1617444060, None, None]
    speakers = json.loads((home / "corpus" / "speakers.json").read_text("utf-8"))
    for speaker in speakers.values():  # as others write them: an answer in a member
        for phase, items in speaker["meta"].pop("answers").items():
            speaker["meta"] |= {f"{phase}.{item}": value for item, value in items.items()}
    (home / "other").mkdir()
    for file in (home / "corpus").iterdir():
        (home / "other" / file.name).write_bytes(file.read_bytes())
    (home / "other" / "speakers.json").write_text(json.dumps(speakers), "utf-8")
    for folder, more in (("corpus", []), ("other", ["answers_in={phase}.{item}"])):
        found = delibsim("import", folder, "--as", "convokit", f"study={folder}", *more)
        assert found.code == 0, found.err
        kept = []
        for study in ("told", folder):
            run = read(home, study, "ccps.conversation.r1")
            assert run.transcript[0].text.endswith("<b>three</b>")
            people = [one.role for one in run.session.participants]
            kept.append([run.transcript, run.responses, run.session.conversation.turns, people])
        assert kept[0] == kept[1]
    refused = delibsim("import", "other", "--as", "convokit", "study=x", "answers_in=said")
    assert "no metadata hold answers by answers_in=said" in refused.err
