"""Who is told what: the treatment reaches speaking turns only, and every switch of the procedure
changes one thing.
"""

from dataclasses import replace

import pytest

from delibsim import compose
from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import Response
from delibsim.domain.transcript import Statement, Turn
from delibsim.engine.check import check, prompt_hash
from delibsim.prompts.session import longest_prompt, statement_words, survey_prompt
from delibsim.testing import a_run

TREATMENTS = "none basic normative normative_a normative_b normative_c normative_d".split()
SAID = (
    Statement(Turn(1, 1, "Participant 2"), "Wide banks carry the flood away."),
    Statement(Turn(2, 1, "Participant 1"), "Walls cost less."),
)


@pytest.fixture
def of_treatment(home_folder):
    """One replicate of a session under a treatment, with a small survey."""

    def make(treatment, *overrides):
        session = compose(
            "topic=ccps", f"treatment={treatment}", "seed=7", *overrides, home=home_folder
        )
        return replace(session, survey=a_run().session.survey)

    return make


@pytest.fixture(scope="module")
def home_folder(tmp_path_factory):
    """An empty folder, so that nothing but the presets of the package is read."""
    return tmp_path_factory.mktemp("home")


def surveys_of(session, phase, heard=()):
    """What each participant is asked in a survey, as sent, form of reply included."""
    items = [item.id for item in session.survey.items]
    asked = []
    for person in session.participants:
        earlier = Response(person.id, "pre", dict.fromkeys(items, 2), order=tuple(items))
        prompt = survey_prompt(
            session, person, phase, items, heard, earlier if phase == "post" else None
        )
        asked.append((prompt.messages, prompt.reply.describe()))
    return asked


@pytest.mark.parametrize("procedure", ["default", "published"])
@pytest.mark.parametrize(("phase", "heard"), [("pre", ()), ("post", ()), ("post", SAID)])
def test_surveys_are_asked_alike_under_every_treatment(of_treatment, procedure, phase, heard):
    sessions = [of_treatment(name, f"procedure={procedure}") for name in TREATMENTS]
    first = surveys_of(sessions[0], phase, heard)
    assert len(first) == 5
    for session in sessions[1:]:
        assert surveys_of(session, phase, heard) == first


async def test_first_turns_differ_between_treatments_in_the_instructions_alone(of_treatment, held):
    turns = {}
    for name in TREATMENTS[1:]:
        session = of_treatment(name)
        _, voice = await held(session)
        first = voice.prompts(occasion="turn")[0]
        text = first.messages[0].content
        instructions = session.treatment.instructions.strip()
        assert text.count(instructions) == 1
        turns[name] = (text.replace(instructions, ""), first.messages[1:], first.purpose)
    assert len(turns) == 6
    assert all(turn == turns["basic"] for turn in turns.values())


async def test_instructions_can_be_told_everywhere(of_treatment, held):
    session = of_treatment("normative", "procedure.instructions=everywhere", "rounds=1")
    _, voice = await held(session)
    assert len(voice.asked) == 15
    assert all(
        session.treatment.instructions.strip() in prompt.messages[0].content
        for prompt in voice.asked
    )


async def test_without_background_the_topic_is_a_bare_question(of_treatment, held):
    bare = of_treatment("normative", "procedure.background=false", "rounds=1")
    _, voice = await held(bare)
    for prompt in voice.asked:
        assert f"<topic>\n{bare.topic.question}\n</topic>" in prompt.messages[0].content
        assert bare.topic.background not in prompt.text
    _, voice = await held(of_treatment("normative", "rounds=1"))
    assert all(bare.topic.background in prompt.messages[0].content for prompt in voice.asked)


@pytest.mark.parametrize("words", [150, 80, None])
async def test_speakers_are_asked_for_the_words_of_the_procedure_and_nobody_else_is(
    of_treatment, held, words
):
    session = of_treatment("normative", f"procedure.words={words or 'null'}", "rounds=1")
    _, voice = await held(session)
    for prompt in voice.asked:
        named = f"in at most {words} words" in prompt.text
        assert named == (words is not None and prompt.purpose.occasion.startswith("turn"))
        assert words is not None or "at most" not in prompt.text


async def test_under_the_published_procedure_a_speaker_sees_topic_treatment_and_what_was_said(
    of_treatment, held, heard_in
):
    session = of_treatment("normative", "procedure=published")
    run, voice = await held(session)
    turns = voice.prompts(occasion="turn")
    assert len(turns) == 10
    for turn, prompt in enumerate(turns):
        assert heard_in(prompt) == [(s.turn.speaker, s.text) for s in run.transcript[:turn]]
        assert "<considerations>" not in prompt.text
        assert "<answers>" not in prompt.text
        assert session.topic.background not in prompt.text
    written = tuple(item.id for item in session.survey.items)
    assert {response.order for response in run.responses} == {written}


async def test_under_the_published_procedure_a_long_speech_is_read(of_treatment, held):
    speech = "word " * 5000
    session = of_treatment("basic", "procedure=published", "rounds=1")
    run, _ = await held(
        session, lambda prompt: speech if prompt.purpose.occasion.startswith("turn") else None
    )
    assert [len(said.text.split()) for said in run.transcript] == [5000] * 5


def test_the_published_procedure_has_a_wording_of_its_own(of_treatment):
    default, published = (
        of_treatment("none", f"procedure={name}") for name in ("default", "published")
    )
    changed = {"setting", "you", "survey_post"}
    for name, text in default.wording.texts.items():
        assert (published.wording.texts[name] != text) == (name in changed), name
    for phase in ("pre", "post"):
        for messages, _ in surveys_of(published, phase):
            asked = "".join(message.content for message in messages)
            assert "group" not in asked
            assert "participants" not in asked
            assert "leave" not in asked
    again = of_treatment("none", "procedure=published", "wording=default")
    assert again.wording == default.wording
    assert "wording-default" in again.id


def test_the_published_procedure_is_these_switches(of_treatment):
    default, published = (
        of_treatment("none", f"procedure={name}").procedure for name in ("default", "published")
    )
    assert published == replace(
        default,
        background=False,
        shuffle_items=False,
        recall=False,
        words=None,
        longest_statement=None,
    )
    assert published.show_transcript
    assert published.show_answers
    assert published.instructions == "turns"


def test_a_wording_without_the_number_of_words_is_refused_where_one_is_named(of_treatment):
    session = of_treatment("basic")
    texts = {name: text for name, text in session.wording.texts.items() if name != "words"}
    older = replace(session, wording=replace(session.wording, texts=texts))
    with pytest.raises(WrongInput, match="lacks the text 'words'.*procedure.words=null"):
        check(older)
    silent = replace(older, procedure=replace(older.procedure, words=None))
    check(silent)


def test_what_is_expected_of_a_statement_follows_from_what_is_asked_for(of_treatment):
    short, published = of_treatment("basic"), of_treatment("basic", "procedure=published")
    assert statement_words(short) == (75, 200)
    low, high = statement_words(published)
    assert low < 483 < high
    assert len(longest_prompt(published).text) > 3 * len(longest_prompt(short).text)


def test_a_reversed_scale_goes_with_personas(of_treatment):
    session = of_treatment("basic", "persona=values", "procedure.reverse_scale=half")
    check(session)
    assert prompt_hash(session)
    forms = {form.splitlines()[0] for _, form in surveys_of(session, "pre")}
    assert len(forms) == 2
