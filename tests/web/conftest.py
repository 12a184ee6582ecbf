"""Studies to read: a small one that was held and scored, and one whose every text is hostile."""

import shutil
from dataclasses import replace

import pytest
from hostile import EVIL, PERSONA
from small_study import SMALL, held_study

from delibsim.cli.main import main
from delibsim.conduct.score import score_all, usual_scorers
from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.survey import Topic
from delibsim.store.runs import Runs
from delibsim.web.site import Site


@pytest.fixture(scope="session")
def held(tmp_path_factory):
    """A folder with the scored study `s`: four sessions of two treatments."""
    home = tmp_path_factory.mktemp("read")
    runs = held_study(
        home, "topic=ccps", "treatment=none,normative", "replicate=1,2", "seed=7", *SMALL
    )
    score_all(runs, usual_scorers())
    return runs.folder.parent


@pytest.fixture
def root(held, tmp_path):
    """The same in a folder of the test's own."""
    return shutil.copytree(held, tmp_path / "runs")


@pytest.fixture
def site(root, tmp_path):
    """The studies of that folder, with an index of their own."""
    made = Site(root, cache=tmp_path / "cache", fresh=0.0)
    yield made
    made.close()


@pytest.fixture
def spoken():
    """The session of the study in which people spoke."""
    return "ccps.normative.citizen_rounds1_size3.r1"


@pytest.fixture
def hostile(root, spoken):
    """A second study, `evil`, with one run in which everything that others write is hostile."""
    runs = Runs(root, "s")
    run = runs.run(spoken)
    names = {person.id: f"{person.id} <b onclick=alert(1)>" for person in run.session.participants}
    people = tuple(
        Participant(names[one.id], f"{PERSONA} {EVIL}", one.model, one.role)
        for one in run.session.participants
    )
    session = replace(
        run.session,
        participants=people,
        topic=Topic("ccps", f"What now? {EVIL}", EVIL),
        treatment=replace(run.session.treatment, instructions=EVIL),
    )
    items = {item.id for item in session.survey.items}
    gone = sorted(items)[0]
    responses = []
    for response in run.responses:
        answers = {item: value for item, value in response.answers.items() if item != gone}
        own = replace(response, participant=names[response.participant], answers=answers)
        responses.append(replace(own, missing={gone: Reason("refusal", EVIL)}))
    transcript = []
    for statement in run.transcript:
        turn = replace(statement.turn, speaker=names[statement.turn.speaker])
        transcript.append(replace(statement, turn=turn, text=EVIL + " word" * 50_000))
    evil = Runs(root, "evil")
    evil.settle(replace(runs.manifest(), study="evil"))
    evil.plan(session)
    evil.add(
        replace(run, session=session, responses=tuple(responses), transcript=tuple(transcript))
    )
    return evil


@pytest.fixture
def command(root, monkeypatch, capsys):
    """Gives a command of delibsim to the studies of that folder; what it prints."""

    def give(*words):
        monkeypatch.setattr("sys.argv", ["delibsim", *words, "--dir", str(root)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert end.value.code == 0, said.err
        return said.out

    return give


@pytest.fixture
def branched(root, spoken, tmp_path, command):
    """The study with a fork of its run at turn 2, where a statement is edited, and a probe after
    turn 1.
    """
    words = tmp_path / "say.txt"
    words.write_text("I have changed my mind about the bills.", encoding="utf-8")
    command("fork", f"s/{spoken}", "--at", "2", "--say", f"2={words}")
    command("probe", f"s/{spoken}", "--after", "1")
    return Runs(root, "s")
