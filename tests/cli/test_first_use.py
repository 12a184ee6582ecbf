"""What a first user reads: progress, standing, names and suggestions say what they mean."""

import json
import re
import shutil

import pytest
from cases import cases_of

from delibsim import Runs
from delibsim.domain.study import natural
from delibsim.store.places import account_of

CASES = cases_of(__file__)
DEBATE = ("run", "study=d", "format=debate", "motion=voting", "audience=2")


def test_the_progress_of_a_debate_names_speech_and_task(delibsim):
    answer = delibsim(*DEBATE)
    assert answer.code == 0
    told = [line.split("s  ", 1)[1] for line in answer.err.splitlines() if "s  " in line]
    speeches = [line for line in told if line.startswith("debate, speech ")]
    tasks = [line.partition(", speech ")[2].partition(":")[0] for line in speeches]
    assert tasks == [
        f"{n} of 6, {task}"
        for n, task in enumerate(
            ("opening", "opening", "rebuttal", "rebuttal", "closing", "closing"), 1
        )
    ]
    assert "deliberation" not in answer.err
    assert "round 0" not in answer.err
    assert any(line.startswith("survey before 2/2") for line in told)
    assert any(line.startswith("survey after 2/2") for line in told)


def test_the_notes_before_a_debate_are_not_counted_as_speeches(delibsim):
    answer = delibsim(*DEBATE, "procedure.rules.preparation=true")
    assert answer.code == 0
    assert "debate, notes 2 of 2: Opposition" in answer.err
    assert "debate, speech 6 of 6, closing: Opposition" in answer.err
    assert "round 0" not in answer.err


def test_what_was_answered_when_it_was_asked_again_is_no_failure(delibsim, study):
    log = study / "exchanges.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines()
    failed = json.loads(lines[2])
    failed["completion"] |= {"status": "cancelled", "text": "", "detail": "stopped here"}
    log.write_text("\n".join([*lines[:2], json.dumps(failed), *lines[2:], ""]), encoding="utf-8")
    answer = delibsim("status", "s")
    assert answer.code == 0
    assert "cancelled" not in answer.out
    assert "6 ok" in answer.out
    assert delibsim("status", "s", "--json").json["calls"] == {"ok": 6}
    # What was not asked again since is still told.
    log.write_text("\n".join([*lines[:2], json.dumps(failed), *lines[3:], ""]), encoding="utf-8")
    assert "1 cancelled" in delibsim("status", "s").out


def test_sessions_and_studies_are_listed_in_the_order_of_their_numbers(delibsim, study, home):
    for n in (2, 10, 11):
        name = study.name.replace(".r1", f".r{n}")
        shutil.copytree(study, study.parent / name)
    for name in ("s10", "s9"):
        words = ("topic=ccps", "treatment=none", "group.size=2")
        assert delibsim("run", "-q", f"study={name}", *words).code == 0
    listed = [entry["session"] for entry in delibsim("status", "s", "--json").json["sessions"]]
    assert [name.rpartition(".")[2] for name in listed] == ["r1", "r2", "r10", "r11"]
    assert account_of(Runs(home / "runs", "s")).planned == tuple(listed)
    studies = [entry["study"] for entry in delibsim("status", "--json").json]
    assert studies == ["s", "s9", "s10"]


def test_conditions_are_printed_in_the_order_of_their_numbers(delibsim):
    sizes = ("topic=ccps", "group.size=2,3,10", "rounds=0", "treatment=none")
    assert delibsim("run", "-q", "-m", "study=s", *sizes).code == 0
    printed = delibsim("score", "s", "--all").out
    places = [printed.index(f"group.size={n}") for n in (2, 3, 10)]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "names", [["a2b10", "a2b9", "a10"], ["r1", "r01", "r001"], ["", "1", "a"], ["x²", "x2"]]
)
def test_natural_order_takes_any_names(names):
    backwards = names[::-1]
    assert sorted(names, key=natural) == sorted(backwards, key=natural)
    assert len({natural(name) for name in names}) == len(names)


def test_topics_and_motions_are_suggested_where_they_can_be_used(delibsim, home):
    (home / "topics").mkdir()
    (home / "topics" / "plastic_bags.yaml").write_text(
        "id: plastic_bags\nquestion: Should bags be free?\n", encoding="utf-8"
    )
    topic = delibsim("run", "topic=plastis")
    assert topic.code == 2
    offered = topic.err.partition("There are: ")[2].partition(". ")[0].split(", ")
    assert "plastic_bags" in offered
    for motion in ("plastics", "voting", "nuclear"):
        assert motion not in offered
    motion = delibsim("run", "format=debate", "motion=plastis")
    assert motion.code == 2
    assert motion.err.startswith("delibsim: unknown motion 'plastis'; did you mean plastics?")
    offered = motion.err.partition("There are: ")[2].partition(". ")[0].split(", ")
    assert "plastics" in offered
    assert not {"plastic_bags", "ccps"} & set(offered)
    for name in offered:
        assert delibsim("list", "topics", name, "--json").json["kind"] == "motion"


def test_a_scorer_that_has_nothing_to_say_has_no_file_and_this_is_said(delibsim, study):
    scores = study.parent / "scores"
    scores.mkdir(exist_ok=True)
    (scores / "ratings.v1.jsonl").write_text("", encoding="utf-8")
    answer = delibsim("score", "s", "--all")
    assert answer.code == 0
    assert all(path.stat().st_size for path in scores.glob("*.jsonl"))
    assert not list(scores.glob("ratings.*"))
    assert "have no score for any run: " in answer.out
    assert "ratings" in answer.out.partition("no score for any run: ")[2]
    again = delibsim("score", "s", "--json").json
    assert "ratings" in again["without_scores"]
    assert not any("ratings" in file for file in again["files"])


@pytest.fixture
def broken(home):
    """Files of one's own that are broken: a treatment, a set of personas, a topic and a survey in
    their syntax, another set of personas and topic in their fields.
    """
    for place, text in {
        "topics/tea.yaml": "id: tea\nquestion: [\n",
        "surveys/tea.yaml": "id: tea\nconsiderations: {\n",
        "conf/persona/torn.yaml": "name: torn\npersonas: [a\n",
        "conf/treatment/torn.yaml": 'name: torn\ninstructions: "x\n',
        "topics/odd.yaml": "id: odd\nquestion: 3\nextra: 2\n",
        "conf/persona/odd.yaml": "name: odd\npersonas: 3\nseating: x\n",
    }.items():
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text(text, encoding="utf-8")
    return home


@pytest.mark.parametrize(
    ("settings", "told"),
    CASES["the_faults_of_all_files_of_a_command_are_told_in_one_pass"],
)
@pytest.mark.parametrize("command", ["run", "estimate", "preregister"])
def test_the_faults_of_all_files_of_a_command_are_told_in_one_pass(
    delibsim, broken, command, settings, told
):
    answer = delibsim(command, *settings.split())
    assert answer.code == 2
    lines = answer.err.splitlines()
    assert len(lines) == len(told)
    for text in told:
        assert sum(text in line for line in lines) == 1


def test_a_sweep_tells_each_fault_of_its_files_once(delibsim, broken):
    answer = delibsim("run", "-m", "study=s", "topic=tea,odd,ccps", "persona=torn,odd,none")
    assert answer.code == 2
    assert "8 of 9 combinations cannot be held" in answer.err
    for text in ("persona/torn", "topics/tea", "surveys/tea", "field question", "field seating"):
        assert answer.err.count(text) == 1


TOPIC = "id: tea\nquestion: Should we drink tea?\nbackground: Tea is a drink.\n"
TEA = """id: tea
considerations:
  - {id: C1, text: Tea is good.}
  - {id: C2, text: Tea is dear.}
preferences:
  - {id: P1, text: Drink tea.}
  - {id: P2, text: Drink water.}
"""
TEA_SESSION = ("study=s", "topic=tea", "group.size=2", "rounds=1")


@pytest.fixture
def tea(home):
    """A study on a topic and a survey of one's own, which has begun."""
    for folder, text in (("topics", TOPIC), ("surveys", TEA)):
        (home / folder).mkdir()
        (home / folder / "tea.yaml").write_text(text, encoding="utf-8")
    return home


@pytest.mark.parametrize(
    ("place", "old", "new", "told"),
    CASES["an_edited_topic_or_survey_is_refused_with_what_stood_and_what_stands"],
)
@pytest.mark.parametrize("replicate", ["replicate=1", "replicate=2"])
def test_an_edited_topic_or_survey_is_refused_with_what_stood_and_what_stands(
    delibsim, tea, files, place, old, new, told, replicate
):
    assert delibsim("run", "-q", *TEA_SESSION).code == 0
    path = tea / place
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    before = files()
    for command in ("run", "estimate", "preregister"):
        answer = delibsim(command, *TEA_SESSION, replicate)
        assert (answer.code, answer.out) == (2, "")
        assert told in answer.err
        assert not re.search(r"[0-9a-f]{32}", answer.err)
    assert files() == before


def test_an_edit_that_no_plan_holds_is_named_without_hashes(delibsim, tea):
    assert delibsim("run", "-q", *TEA_SESSION).code == 0
    for path in (tea / "runs" / "s").glob("*/session.json"):
        path.write_text("torn", encoding="utf-8")
    (tea / "topics" / "tea.yaml").write_text(TOPIC.replace("drink", "like"), encoding="utf-8")
    answer = delibsim("run", *TEA_SESSION)
    assert answer.code == 2
    assert "topics.tea: was edited since the study began" in answer.err
    assert not re.search(r"[0-9a-f]{32}", answer.err)
