"""A person behind the door of language models: asked item by item, put right at once, and free to
stop or to decline. A person who debates at the terminal: words counted, time told, rules as for
everybody, stopped and resumed. A person votes on statements for the group: how far it agrees
with each, and then the ranks.
"""

import asyncio
import os
import pty
import re
import sys
from dataclasses import replace

import pytest
import warm
from debates import debate, scripted
from pseudo_terminal import AtTerminal

from delibsim import Runs
from delibsim.domain.survey import Item, Survey
from delibsim.domain.text import safe as inert
from delibsim.domain.transcript import Statement, Turn
from delibsim.engine.forum import hold
from delibsim.models.base import LanguageModel
from delibsim.models.person.person import Human, columns, fitted
from delibsim.prompts.blocks import answers_block, block, items_block, transcript_block
from delibsim.prompts.forms.survey import Ranked, RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose

ITEMS = [Item(f"C{k}", "consideration", f"Reason {k} counts.") for k in (1, 2, 3)] + [
    Item(f"P{k}", "preference", f"Way {k}") for k in (1, 2, 3)
]
SURVEY = Survey("ways", tuple(ITEMS), -2, 2)


def asked(form, *parts, attempt=0):
    text = "\n\n".join([*parts, form.describe()])
    return Prompt(
        (Message("system", "You deliberate."), Message("user", text)),
        form,
        Purpose("Participant 2", "pre", attempt),
    )


def survey_prompt(survey=SURVEY, *parts):
    shown = [survey.items[k] for k in (2, 0, 1)], survey.items[3:]
    return asked(
        SurveyAnswers(survey),
        block("you", "Participant 2"),
        items_block("considerations", shown[0]),
        items_block("preferences", shown[1]),
        *parts,
    )


def tell(prompt, *lines):
    """What a person who says these lines gives, and everything it was shown; then it goes away."""
    said, shown = iter(lines), []

    async def ask(text):
        shown.append(text)
        try:
            return next(said) + "\n"
        except StopIteration:
            raise EOFError from None

    human = Human(ask=ask)
    assert isinstance(human, LanguageModel)
    return asyncio.run(human.complete(prompt, 1)), shown


def test_a_q_sort_offers_only_what_is_left():
    survey = Survey("sort", tuple(ITEMS), -1, 1, (1, 1, 1))
    completion, shown = tell(survey_prompt(survey), "1", "1", "0", "-1", "1", "2", "3", "")
    assert SurveyAnswers(survey).read(completion.text)["C2"] == -1
    assert "[left: -1 x1, 0 x1, 1 x1]" in shown[0]
    assert "please answer with a whole number: -1, 0:" in shown[2]


def test_a_reversed_scale_is_shown_as_such_and_mapped_back():
    survey = Survey("sort", tuple(ITEMS), -1, 1, (2, 1, 0))
    form = SurveyAnswers(survey, reversed=True)
    shown = (
        items_block("considerations", survey.items[:3]),
        items_block("preferences", survey.items[3:]),
    )
    completion, asked_for = tell(asked(form, *shown), "1", "0", "1", "1", "2", "3", "")
    assert "-1 (strongly agree) to 1 (strongly disagree) [left: 0 x1, 1 x2]" in asked_for[0]
    assert form.read(completion.text)["C1"] == -1


def test_own_earlier_answers_stand_beside_the_items_and_marks_do_not_show():
    before = answers_block({"C1": -2, "P2": 1}, ["C1", "P2"])
    heard = transcript_block([Statement(Turn(1, 1, "Ann"), "I am for \x1b[31mway 2.")])
    typed = ["1", "1", "1", "1", "2", "3", ""]
    completion, shown = tell(survey_prompt(SURVEY, heard, before), *typed)
    assert completion.status == "ok"
    assert "Reason 1 counts.  (before: -2)" in shown[1]
    assert "P2. Way 2  (before: 1)" in shown[3]
    assert "> I am for [31mway 2." in shown[0]
    assert not any(
        mark in "".join(shown)
        for mark in ("<transcript>", "<you>", "<answers>", "LABEL: NUMBER", "\x1b")
    )


def test_a_statement_that_is_too_long_is_asked_for_anew():
    completion, shown = tell(asked(Words(2)), "one two three", "!done", "one two", "!done")
    assert completion.text == "one two"
    assert "That cannot be taken: the reply has 3 words" in shown[2]


@pytest.mark.parametrize(("line", "status"), [("!later", "cancelled"), ("!decline", "refusal")])
@pytest.mark.parametrize("prompt", [survey_prompt(), asked(Words())])
def test_a_person_may_stop_and_may_decline(prompt, line, status):
    completion, _ = tell(prompt, line)
    assert (completion.status, completion.text) == (status, "")
    assert completion.detail


@pytest.mark.parametrize("prompt", [survey_prompt(), asked(Words())])
def test_when_the_input_ends_nothing_is_made_up(prompt):
    completion, _ = tell(prompt, "1")
    assert (completion.status, completion.text) == ("cancelled", "")


async def test_what_is_typed_before_it_is_asked_for_is_nobodys_answer(monkeypatch, capsys):
    keyboard, terminal = pty.openpty()
    everything = ""

    async def until(shown):
        nonlocal everything
        async with asyncio.timeout(20):
            while shown not in everything:
                await asyncio.sleep(0.01)
                everything += capsys.readouterr().err
        everything = everything.partition(shown)[2]

    with os.fdopen(terminal) as screen, monkeypatch.context() as here:
        here.setattr(sys, "stdin", screen)
        human = Human()
        os.write(keyboard, b"Typed while it began.\n!done\n")
        people = [
            asyncio.create_task(human.complete(prompt, 1))
            for prompt in (asked(Words()), asked(Words()), survey_prompt())
        ]
        await until("What do you say?")
        os.write(
            keyboard,
            b"One.\n\nTwo, in another paragraph.\n!done\nWhat was pasted after it.\n!done\n",
        )
        await until("not taken")
        await until("What do you say?")
        os.write(keyboard, b"I am another.\n!done\n")
        for n in (1, 2, 3):
            await until(f"{n}/3  Reason")
            os.write(keyboard, f"{n - 2}\n2\n2\n".encode())
        for n in (3, 2, 1):
            await until("rank of")
            os.write(keyboard, f"{n}\n".encode())
        await until("hands the answers in")
        os.write(keyboard, b"\n")
        first, second, survey = await asyncio.wait_for(asyncio.gather(*people), 20)
    os.close(keyboard)
    assert (first.text, second.text) == ("One.\n\nTwo, in another paragraph.", "I am another.")
    assert survey.text == "C3: -1\nC1: 0\nC2: 1\nP1: 3\nP2: 2\nP3: 1"


def test_nothing_a_text_holds_can_steer_the_terminal():
    assert inert("a\x1b]0;x\x07\u202eb\nc\td") == "a]0;xb\nc\td"


COMMAND = ["run", "-q", "study=s", "group.models=[human,citizen]", "group.size=2", "rounds=1"]
ANSWERS = "4\n" * 20 + "".join(f"{k}\n" for k in range(1, 8))


def test_a_session_with_a_person_is_cut_off_goes_on_and_replays(tmp_path):
    with warm.typed(f"{ANSWERS}I favour trams.\n!done\n4\n4\n") as pipe:
        code, _, errors = warm.run(COMMAND, tmp_path, os.environ, pipe)
    assert code == 4
    assert "cancelled: nobody is there to answer" in errors
    (tmp_path / "typed").write_text(ANSWERS)
    with (tmp_path / "typed").open() as file:
        code, _, errors = warm.run(COMMAND, tmp_path, os.environ, file)
    assert code == 0, errors
    again = "what was answered before is not asked again"
    assert "for the first time" not in errors, again
    assert "The survey, for the second time (Participant 1)" in errors
    code, output, _ = warm.run(("replay", "s"), tmp_path, os.environ)
    assert (code, "equal" in output) == (0, True)


# What a person sees and types at a real terminal


TOPIC = "id: tea\nquestion: Should we drink tea?\n"
TEA = """
id: tea
scale_max: 5
considerations:
  - {id: C1, text: "Tea is a drink that very many people all over this large world are said to like."}
  - {id: C2, text: "Coffee is a drink that keeps those people awake who would otherwise fall asleep."}
preferences:
  - {id: P1, text: "Drink tea."}
  - {id: P2, text: "Drink coffee."}
"""
WITH_ME = (
    "run",
    "study=s",
    "topic=tea",
    "group.models=[human,citizen]",
    "group.size=2",
    "rounds=1",
)


@pytest.mark.parametrize("width", [40, 80, 140])
def test_a_person_goes_back_keeps_answers_and_reads_whole_words(tmp_path, width):
    for folder, text in (("topics", TOPIC), ("surveys", TEA)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tea.yaml").write_text(text, encoding="utf-8")
    fixed = ("procedure.shuffle_items=false", "replicate=1")
    person = AtTerminal(tmp_path, width, *WITH_ME, *fixed)
    above = person.until("1/2")
    assert "for the first time" in above
    assert not re.search(r"\bpre\b|/0|<[a-z]+>|C1", above)
    for shown, typed in (
        ("agree): ", "4"),
        ("2/2", "!back"),  # to the first, which shows what was answered
        ("1/2", ""),
        ("2/2", "1"),
        ("rank of P1", "!back"),
        ("2/2", "2"),
        ("rank of P1", "2"),
        ("rank of P2", "!back"),
        ("rank of P1", "1"),
        ("rank of P2", "2"),
        ("hands the answers in", "1"),  # to an item named, and forward again
        ("1/2", ""),
        ("2/2", ""),
        ("rank of P1", ""),
        ("rank of P2", ""),
        ("hands the answers in", ""),
        ("What do you say?", "I am for tea."),
        ("> ", "!dnoe"),
        ("means nothing here", "And for coffee."),
        ("> ", "!back"),
        ("taken back: And for coffee.", "!done"),
        ("second time", None),
        ("]: ", ""),
        ("]: ", "5"),
        ("]: ", ""),
        ("]: ", ""),
        ("hands the answers in", ""),
    ):
        person.until(shown)
        if typed is not None:
            person.until(": ") if shown in ("1/2", "2/2") or shown[:4] in ("rank", "hand") else None
            person.type(typed)
    assert person.end() == 0, person.shown[-3000:]
    run = Runs(tmp_path / "runs", "s").all()[0][0]
    mine = next(one.id for one in run.session.participants if one.model == "human")
    assert dict(run.response(mine, "pre").answers) == {"C1": 4, "C2": 2, "P1": 1, "P2": 2}
    assert dict(run.response(mine, "post").answers) == {"C1": 4, "C2": 5, "P1": 1, "P2": 2}
    said = [one.text for one in run.transcript if one.turn.speaker == mine]
    assert said == ["I am for tea."]
    lines = person.lines()
    assert [line for line in lines if len(line) > width] == []
    whole = " ".join(" ".join(lines).split())
    assert "Tea is a drink that very many people all over this large world" in whole


def test_text_is_fitted_to_any_width_without_losing_anything():
    text = "A person, who is asked.\n> Quoted speech of somebody else.\n  P1. 水を飲むべきですか  x"
    for width in (12, 20, 33):
        lines = fitted(text, width).split("\n")
        assert max(map(columns, lines)) <= width
        assert "".join("".join(lines).split()).replace(">", "") == "".join(
            text.replace(">", "").split()
        )
        assert all(line.startswith("> ") for line in lines if "Quoted" in line)


def test_an_answer_that_is_taken_cannot_be_kept():
    earlier = answers_block({"C3": 1, "C1": 1, "P1": 1, "P2": 1}, ["C3", "C1", "P1", "P2"])
    survey = Survey("sort", tuple(ITEMS), -1, 1, (1, 1, 1))
    completion, shown = tell(survey_prompt(survey, earlier), "", "", "0", "-1", "", "2", "3", "")
    assert SurveyAnswers(survey).read(completion.text)["C3"] == 1
    assert "[Enter keeps 1]: " in shown[0]
    assert "Enter keeps" not in shown[1]
    assert "please answer" in shown[2]
    assert "Enter keeps 1" in shown[4]
    assert "Enter keeps" not in shown[5]


@pytest.mark.parametrize(
    ("back", "again"),
    [
        (["!back"], ["3"]),
        (["b"], ["3"]),
        (["p3"], ["3"]),
        (["P1", "!back"], ["-2", "1", "2", "3"]),
        (["3"], ["-2", "", "", ""]),
        (["0", "4", "yes", "2"], ["1", "-2", "", "", ""]),
    ],
)
def test_after_the_last_question_a_person_may_still_go_back(back, again):
    answered = ["2", "-1", "0", "1", "2", "3"]
    plain, _ = tell(survey_prompt(), *answered, "")
    completion, shown = tell(survey_prompt(), *answered, *back, *again, "")
    assert completion.status == "ok"
    expected = SurveyAnswers(SURVEY).read(plain.text)
    if "-2" in again:
        expected["C2"] = -2
    if again[0] == "1":
        expected["C1"] = 1
    assert SurveyAnswers(SURVEY).read(completion.text) == expected
    assert "(1 to 3, P1, P2, P3): " in shown[6]
    refused = [text for text in shown if "please press Enter, or name a question" in text]
    assert len(refused) == (3 if "yes" in back else 0)


def test_who_goes_away_at_the_last_question_has_handed_nothing_in():
    completion, _ = tell(survey_prompt(), "2", "-1", "0", "1", "2", "3")
    assert (completion.status, completion.text) == ("cancelled", "")


SPEECH = ["word " * 60, "more " * 60, "!done"]


def at_the_terminal(session, *lines):
    """The voices of a session whose proposition is a person who says these lines, and everything
    the person was shown.
    """
    said, shown = iter(lines), []

    async def ask(text):
        shown.append(text)
        try:
            return next(said) + "\n"
        except StopIteration:
            raise EOFError from None

    return {**scripted(session), "human": Human(ask=ask)}, shown


def with_a_person(tmp_path):
    session = debate(tmp_path)
    people = (replace(session.participants[0], model="human"), *session.participants[1:])
    return replace(
        session, participants=people, models={**session.models, "human": {"kind": "human"}}
    )


def test_a_person_reads_the_debate_and_sees_words_and_time(tmp_path):
    session = with_a_person(tmp_path)
    voices, shown = at_the_terminal(session, *SPEECH * 3)
    run = asyncio.run(hold(session, voices))
    assert run.status == "complete"
    assert run.transcript[0].text.split() == ["word"] * 60 + ["more"] * 60
    assert "This house would make voting compulsory." in shown[0]
    assert "You speak for the motion." in shown[0]
    assert [re.search(r"\[(\d+) words, \d+:\d\d\] > $", text)[1] for text in shown[:3]] == [
        "0",
        "60",
        "120",
    ]
    assert run.transcript[1].text in shown[3]
    assert not re.search(r"citizen|model", "".join(shown))


def test_a_speech_that_breaks_a_rule_is_asked_again_as_everybodys_is(tmp_path):
    session = with_a_person(tmp_path)
    voices, shown = at_the_terminal(session, "Too short.", "!done", *SPEECH * 3)
    run = asyncio.run(hold(session, voices))
    assert len(run.transcript[0].text.split()) == 120
    assert "the speech has 2 words; at least 100 are asked for" in shown[2]


def test_a_person_stops_and_goes_on_in_that_turn(tmp_path):
    command = ["run", "-q", "format=debate", "motion=voting", "proposition=human", "study=p"]

    def at_terminal(*lines):
        with warm.typed("\n".join(lines) + "\n") as said:
            return warm.run(command, tmp_path, os.environ, said)

    code, _, errors = at_terminal(*SPEECH, "!later")
    assert code == 3
    assert "turn 3" in errors
    assert "What was recorded is kept; the same command goes on from there." in errors
    code, output, errors = at_terminal(*SPEECH, *SPEECH)
    assert code == 0, errors[-500:]
    assert errors.count("opening speech") == 0
    assert "Proposition, closing (120 words)" in output


def voted(statements, *lines):
    """What a person who says these lines answers to so many statements, and what it was shown."""
    form, said, shown = RankingForm(len(statements)), iter(lines), []
    listed = "\n".join(f"S{i}. {text}" for i, text in enumerate(statements, 1))
    messages = (Message("user", f"{block('statements', listed)}\n\n{form.describe()}"),)

    async def ask(text):
        shown.append(text)
        return next(said) + "\n"

    prompt = Prompt(messages, form, Purpose("Participant 2", "vote 1"))
    completion = asyncio.run(Human(ask=ask).complete(prompt, 1))
    return form.read(completion.text), "".join(shown)


def test_a_vote_is_asked_statement_by_statement_and_then_the_ranks():
    given, shown = voted(["We wait.", "We begin."], "3", "6", "2", "1", "")
    assert given == Ranked((2, 1), (3, 6))
    assert "Your vote on statements for the group" in shown
    assert "We begin." in shown


def test_one_statement_is_ranked_by_itself_and_a_number_off_the_scale_is_asked_again():
    given, shown = voted(["We wait."], "9", "5", "")
    assert given == Ranked((1,), (5,))
    assert "please answer with a whole number: 1 to 7" in shown
