"""`persona=human:${topic}` and `survey=deliberr.${topic}`: single runs, sweeps, experiments."""

import csv
import json

import pytest

from delibsim.planning.compose import plan

TOPICS = ("acp", "ccps")
PEOPLE = ("persona=human:${topic}", "survey=deliberr.${topic}")
EXPERIMENT = """\
# @package _global_
hydra:
  sweeper:
    params:
      study: pilot
      topic: acp,ccps
      persona: none,human:${topic}
      survey: deliberr.${topic}
      treatment: none
      replicate: range(1,3)
"""


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def ratings(topic, person):
    """What a person of a topic rated before, unlike what anybody else did."""
    return [1 + person % 5, 1 + person // 5, 1 + TOPICS.index(topic), 4]


@pytest.fixture
def published(home):
    """Published files of invented content: two topics with ten people each."""
    folder = home / "published"
    folder.mkdir()
    instruments = [["type", "order", "statement", "name", "scale_max", "q_method"]]
    rows = [["survey", "case", "stage_id", "pnum", "C1", "C2", "C3", "C4", "P1", "P2"]]
    for topic in TOPICS:
        instruments += [["C", k, f"{topic} reason {k}", topic, 7, "FALSE"] for k in (1, 2, 3, 4)]
        instruments += [["P", k, f"{topic} option {k}", topic, "NA", "NA"] for k in (1, 2)]
        for person in range(10):
            own = [*ratings(topic, person), 1, 2]
            rows += [[topic, "one", stage, f"{topic}-{person}", *own] for stage in (1, 2)]
    write(folder / "surveys.csv", instruments)
    write(folder / "human_data.csv", rows)
    return folder


def first_answers(run):
    """The ratings before, in the order of the survey, of everybody in a run."""
    survey = run["session"]["survey"]["items"]
    items = [item["id"] for item in survey if item["kind"] == "consideration"]
    before = [response["answers"] for response in run["responses"] if response["phase"] == "pre"]
    return [[answers[item] for item in items] for answers in before]


def test_a_sweep_gives_every_topic_its_own_people_and_instrument(delibsim, home, published):
    assert delibsim("import", published, "--as", "deliberr").code == 0
    asked = ["study=s", "topic=acp,ccps", *PEOPLE, "treatment=none", "replicate=1,2"]
    answer = delibsim("run", "-m", "-q", *asked)
    assert (answer.code, answer.err) == (0, "")
    seated = {topic: [] for topic in TOPICS}
    for path in (home / "runs" / "s").glob("*/run.json"):
        run = json.loads(path.read_text(encoding="utf-8"))
        topic = run["session"]["topic"]["id"]
        assert run["session"]["survey"]["id"] == f"deliberr.{topic}"
        seated[topic] += first_answers(run)
    for topic in TOPICS:
        everybody = [ratings(topic, person) for person in range(10)]
        assert sorted(seated[topic]) == sorted(everybody), "two groups of five are everybody, once"


def test_a_single_run_and_the_topic_written_out_plan_the_same_session(delibsim, home, published):
    assert delibsim("import", published, "--as", "deliberr").code == 0
    for topic in TOPICS:
        named = plan([f"topic={topic}", f"persona=human:{topic}", f"survey=deliberr.{topic}"], home)
        assert plan([f"topic={topic}", *PEOPLE], home).session == named.session
    assert delibsim("run", "-q", "topic=ccps", *PEOPLE, "treatment=none").code == 0


def test_an_experiment_of_the_users_own_may_use_both(delibsim, home, published):
    assert delibsim("import", published, "--as", "deliberr").code == 0
    (home / "conf" / "experiment").mkdir(parents=True)
    (home / "conf" / "experiment" / "pilot.yaml").write_text(EXPERIMENT)
    sessions = plan(["experiment=pilot"], home, sweep=True).sessions
    assert len(sessions) == 8
    described = {(session.topic.id, bool(session.participants[0].persona)) for session in sessions}
    assert described == {(topic, people) for topic in TOPICS for people in (False, True)}
    assert {session.survey.id for session in sessions} == {f"deliberr.{topic}" for topic in TOPICS}


def test_without_an_import_one_message_names_every_missing_survey_once(delibsim, home):
    asked = ["study=s", "topic=all", PEOPLE[1], "treatment=none,basic", "replicate=1,2"]
    answer = delibsim("run", "-m", *asked)
    assert answer.code == 2
    head, line = answer.err.strip().splitlines()
    assert "48 of 48 combinations cannot be held, so nothing was begun" in head
    assert line.count("'deliberr.") == 12
    advice = ("delibsim import PATH --as deliberr", "survey=null takes the short forms")
    for said in ("'deliberr.acp'", "'deliberr.zukunft'", *advice):
        assert line.count(said) == 1
    one = delibsim("run", "topic=ccps", "survey=deliberr.${topic}")
    assert one.code == 2
    assert "not imported: survey 'deliberr.ccps'; import it with: delibsim import" in one.err
    assert not (home / "runs").exists()


def test_without_answers_one_message_names_every_survey_that_lacks_them(delibsim, home):
    asked = ["study=s", "topic=acp,ccps", "persona=none,human:${topic}", "replicate=1,2"]
    answer = delibsim("run", "-m", *asked)
    assert answer.code == 2
    head, line = answer.err.strip().splitlines()
    assert "4 of 8 combinations cannot be held" in head
    assert "no answers of people to survey 'acp', 'ccps'; import them with:" in line
    assert "delibsim import FILE --as answers survey=SURVEY" in line


def test_a_misspelt_survey_is_answered_with_those_that_are_imported(delibsim, published):
    assert delibsim("import", published, "--as", "deliberr").code == 0
    answer = delibsim("run", "topic=ccps", "survey=deliberr.cpps")
    assert answer.code == 2
    assert "unknown survey 'deliberr.cpps'; did you mean deliberr.ccps" in answer.err
    other = delibsim("run", "topic=bep", "survey=deliberr.bep")
    assert "not imported: survey 'deliberr.bep'" in other.err


def test_run_holds_the_sessions_without_people_and_names_who_waits_for_the_others(delibsim, home):
    grid = ("topic=ccps", "treatment=none", "replicate=1-4", "people=0.5", "group.size=2")
    found = delibsim("run", "-m", "study=both", *grid, "-q")
    assert found.code == 0
    assert "2 sessions with people: delibsim serve both waits for them" in found.err
    assert len(list((home / "runs" / "both").glob("*/run.json"))) == 4
    alone = delibsim("run", "-m", "study=alone", "model=person", *grid[:3], "-q")
    assert alone.code == 2
    assert "delibsim serve" in alone.err
