"""What servers of the field say and do: refusals of the request under any code, replies they cannot
read, windows that they tell, and prompts that they cut without a word.
"""

from pathlib import Path

import pytest
import yaml
from fake_provider import FakeProvider, Rule

from delibsim import Message, Prompt
from delibsim.models.clients.openai_compatible import OpenAICompatible
from delibsim.prompts.forms.choice import ChoiceForm
from delibsim.prompts.prompt import Purpose

SAID = yaml.safe_load(Path(__file__).with_name("said.yaml").read_text(encoding="utf-8"))


def choice(words):
    """A prompt that asks for one of two texts."""
    return Prompt((Message("user", words),), ChoiceForm(), Purpose("Judge", "pair", 0))


@pytest.mark.parametrize("said", SAID, ids=lambda one: f"{one['server']}, {one['code']}")
async def test_what_a_server_says_has_its_status_and_is_learned(said):
    rule = Rule(status=said["code"], body=said["body"], times=1)
    async with FakeProvider([rule, Rule(text="A")]) as provider:
        options = {"structured": True, "reasoning_effort": "low", "max_tokens": 50}
        client = OpenAICompatible("local", "local", provider.base_url, **options)
        first = await client.complete(choice("A or B?"), 1)
        again = await client.complete(choice("A or B?"), 2)
        await client.close()
    dropped = (said["dropped"],) if "dropped" in said else ()
    assert (first.status, first.parameters_dropped) == (said["status"], dropped)
    assert (again.status, again.parameters_dropped) == ("ok", dropped)
    assert provider.calls == 2 + len(dropped), "a refusal that is learned costs one more attempt"
