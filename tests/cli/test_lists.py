"""`delibsim topics` and `delibsim surveys`: what there is to deliberate on, and the instruments."""

import pytest

TWELVE = set(
    "fnqcj uppsala_speaks fremantle ccps zukunft energy_futures forestera auscj biobanking_wa"
    " swiss_health bep acp".split()
)


def test_the_topics_and_motions_there_are(delibsim):
    answer = delibsim("list", "topics")
    assert (answer.code, answer.err) == (0, "")
    entries = delibsim("list", "topics", "--json").json
    topics = {entry["id"]: entry for entry in entries if entry["kind"] == "topic"}
    motions = {entry["id"]: entry for entry in entries if entry["kind"] == "motion"}
    assert set(topics) == TWELVE
    assert sum(motion["tournament"] for motion in motions.values()) == 10
    assert {id for id, motion in motions.items() if not motion["tournament"]} == {
        "ai_art_harm",
        "dating_apps_love",
        "remote_work_right",
    }
    assert answer.out.count("by default") == 10
    assert answer.out.count("if named") == 3
    assert len({motion["theme"] for motion in motions.values()}) == 5
    for entry in topics.values():
        assert entry["question"].endswith("?")
        assert 100 <= len(entry["background"].split()) <= 200
        assert entry["survey"] == entry["id"]
    for id in (*topics, *motions):
        assert any(line.split()[:1] == [id] for line in answer.out.splitlines())


def test_one_topic_and_one_motion_whole(delibsim):
    topic = delibsim("list", "topics", "ccps")
    assert topic.code == 0
    plain = delibsim("list", "topics", "ccps", "--json").json
    assert " ".join(plain["background"].split()) in " ".join(topic.out.split())
    assert delibsim("list", "topics", "plastics", "--json").json["kind"] == "motion"
    motion = delibsim("list", "topics", "ai_art_harm")
    assert (motion.code, "tournament: False" in motion.out) == (0, True)


def test_the_surveys_there_are(delibsim):
    answer = delibsim("list", "surveys")
    assert (answer.code, answer.err) == (0, "")
    surveys = {survey["id"]: survey for survey in delibsim("list", "surveys", "--json").json}
    assert set(surveys) == TWELVE
    for survey in surveys.values():
        considerations = [item for item in survey["items"] if item["kind"] == "consideration"]
        assert len(considerations) == 20
        assert sum(item["reverse"] for item in considerations) == 10
        assert survey["validated"] is False
        assert any(
            line.split()[:2] == [survey["id"], "20"] and line.split()[-1] == "no"
            for line in answer.out.splitlines()
        )


def test_one_survey_whole(delibsim):
    answer = delibsim("list", "surveys", "ccps")
    survey = delibsim("list", "surveys", "ccps", "--json").json
    shown = " ".join(answer.out.split())
    assert answer.code == 0
    assert "validated: no" in shown
    for item in survey["items"]:
        assert f"{item['id']} {' '.join(item['text'].split())}" in shown


@pytest.mark.parametrize(
    ("command", "id", "said"),
    [
        ("topics", "ccsp", "unknown topic 'ccsp'; did you mean ccps"),
        ("surveys", "forestra", "did you mean forestera"),
    ],
)
def test_what_is_not_there_is_refused_with_the_closest(delibsim, command, id, said):
    answer = delibsim(command, id)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


@pytest.mark.parametrize(("command", "folder"), [("topics", "topics"), ("surveys", "surveys")])
def test_a_broken_file_of_ones_own_is_named_with_its_line(delibsim, home, command, folder):
    (home / folder).mkdir()
    (home / folder / "mine.yaml").write_text("id: mine\nbackground: [\n", encoding="utf-8")
    answer = delibsim(command)
    assert answer.code == 3
    assert f"{folder}/mine.yaml, line 3" in answer.err
    assert {line.split()[0] for line in answer.out.splitlines() if line.strip()} >= TWELVE
    assert delibsim(command, "mine").code == 2
    assert delibsim(command, "ccps").code == 0


def test_text_of_ones_own_is_printed_inert(delibsim, home):
    (home / "topics").mkdir()
    (home / "topics" / "mine.yaml").write_text(
        'id: mine\nquestion: "\\e[31mred [bold]loud[/bold]?"\n', encoding="utf-8"
    )
    for answer in (delibsim("list", "topics"), delibsim("list", "topics", "mine")):
        assert answer.code == 0
        assert "\x1b" not in answer.out
        assert "[31mred [bold]loud[/bold]?" in answer.out
