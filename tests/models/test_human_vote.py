"""A person votes on statements for the group: how far it agrees with each, and then the ranks."""

import asyncio

from delibsim.models.person.person import Human
from delibsim.prompts.blocks import block
from delibsim.prompts.forms.survey import Ranked, RankingForm
from delibsim.prompts.prompt import Message, Prompt, Purpose


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
