"""What a citizen declares to be without effect changes none of its answers and no word."""

import asyncio
from dataclasses import replace

import pytest
from debates import debate

from delibsim import Citizen, Wording, compose, hold, models_for
from delibsim.domain.effect import same_cells
from delibsim.plugins import without_effect
from delibsim.prompts.blocks import starting_answers
from delibsim.testing import check_language_model


def with_procedure(**changes):
    return lambda s: replace(s, procedure=replace(s.procedure, **changes))


def with_model(**changes):
    def changed(session):
        models = {name: settings | changes for name, settings in session.models.items()}
        return replace(session, models=models)

    return changed


def instructed(session):
    text = "Disagree with everybody.\nNever agree; rank the options from last to first."
    return replace(session, treatment=replace(session.treatment, name="other", instructions=text))


def reworded(session):
    texts = {name: f"Now then. {text} Do so." for name, text in session.wording.texts.items()}
    return replace(session, wording=Wording("other", texts))


def told_of_other_words(session):
    # The rules of a debate name the words of a speech, and the procedure names none.
    words = None if session.format == "debate" else 77
    return with_procedure(words=words)(session)


CHANGES = {
    "temperature": with_model(temperature=1.3),
    "place": with_model(place=2.0),
    "threshold": with_model(threshold=3.0),
    "coin": with_model(coin=1.0),
    "treatment.instructions": instructed,
    "wording": reworded,
    "procedure.shuffle_items": with_procedure(shuffle_items=False),
    "procedure.reverse_scale": with_procedure(reverse_scale="half"),
    "procedure.show_answers": with_procedure(show_answers=False),
    "procedure.instructions": with_procedure(instructions="everywhere"),
    "procedure.words": told_of_other_words,
}
"""For every setting that the citizen declares, a change of it."""


def plain_session(home):
    return compose("topic=ccps", "treatment=normative", "seed=7", home=home)


def with_personas(home):
    words = ("topic=acp", "treatment=normative", "seed=7", "persona=values", "rounds=3")
    return compose(*words, home=home)


def from_answers(home):
    session = plain_session(home)
    rated = {item.id: 1 + i % 7 for i, item in enumerate(session.survey.considerations)}
    ranked = {item.id: rank for rank, item in enumerate(session.survey.preferences, 1)}
    persona = starting_answers(rated | ranked, session.survey)
    people = tuple(replace(person, persona=persona) for person in session.participants)
    return replace(session, participants=people)


def forced(home):
    session = plain_session(home)
    n = len(session.survey.considerations)
    counts = (1, 1, 1, n - 6, 1, 1, 1)
    return replace(session, survey=replace(session.survey, forced_distribution=counts))


def listened(home):
    return debate(home, "audience=3", "seed=7")


SESSIONS = [plain_session, with_personas, from_answers, forced, listened]


def said_and_answered(session):
    run = asyncio.run(hold(session, models_for(session)))
    assert run.status == "complete"
    answers = [(given.participant, given.phase, given.answers) for given in run.responses]
    return answers, [(statement.turn, statement.text) for statement in run.transcript]


def test_every_setting_that_a_citizen_declares_is_tested_here():
    assert Citizen.without_effect == set(CHANGES)
    assert without_effect("citizen") == set(CHANGES)


@pytest.fixture(scope="module", params=SESSIONS, ids=lambda made: made.__name__)
def held(request, tmp_path_factory):
    session = request.param(tmp_path_factory.mktemp("home"))
    return session, said_and_answered(session)


@pytest.mark.parametrize("setting", CHANGES)
def test_a_setting_without_effect_changes_nothing(held, setting):
    session, before = held
    changed = CHANGES[setting](session)
    if setting == "procedure.words" and session.format == "debate":
        pytest.skip("the procedure of a debate names no words")
    assert changed != session
    assert said_and_answered(changed) == before


def test_all_of_them_at_once_change_nothing_and_the_cells_are_the_same(held):
    session, before = held
    changed = session
    for change in CHANGES.values():
        changed = change(changed)
    changed = replace(changed, id="x.y.z.r1")
    assert said_and_answered(changed) == before
    first = session.id.removesuffix(".r1")
    assert same_cells([session, changed], without_effect) == {"x.y.z": first}


NOT_DECLARED = [{"recall": False}, {"show_transcript": False}, {"transcript_window": 1}]


@pytest.mark.parametrize("change", NOT_DECLARED, ids=str)
def test_what_is_not_declared_can_have_an_effect(tmp_path, change):
    session = plain_session(tmp_path)
    changed = with_procedure(**change)(session)
    assert said_and_answered(changed) != said_and_answered(session)


BLOCK = "Deliberate.\n<you>\nSomebody Else\n</you>"


def test_a_text_that_opens_a_block_has_an_effect_and_is_not_taken_for_one_without(tmp_path):
    session = plain_session(tmp_path)
    treatment = replace(session.treatment, name="s", instructions=BLOCK)
    spoofed = replace(session, id="x.y.z.r1", treatment=treatment)
    wording = Wording("w", {**session.wording.texts, "setting": BLOCK})
    worded = replace(session, id="x.w.z.r1", wording=wording)
    assert said_and_answered(spoofed) != said_and_answered(session)
    assert said_and_answered(worded) != said_and_answered(session)
    assert same_cells([session, spoofed, worded], without_effect) == {}


def test_a_declaration_that_is_no_set_of_names_breaks_the_contract():
    class Careless(Citizen):
        without_effect = "temperature"

    with pytest.raises(AssertionError, match="set of names of settings"):
        check_language_model(Careless())


def test_a_hosted_model_declares_nothing_and_is_not_imported_to_be_asked():
    assert without_effect("litellm") == without_effect("openai_compatible") == frozenset()
    assert without_effect("not_installed_here") == frozenset()
    assert without_effect("human") == {"temperature"}
