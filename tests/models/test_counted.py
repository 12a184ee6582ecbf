"""Counts of whole prompts are never taken for cut ones, whatever the language and the tokenizer;
cut ones are found.
"""

import importlib.util
import random
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from delibsim import Message, Prompt
from delibsim.models.base import Completion, Usage
from delibsim.models.counted import InputCounts
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Purpose

PLACE = Path(importlib.util.find_spec("litellm").origin).parent
(CLAUDE,) = map(str, PLACE.rglob("anthropic_tokenizer.json"))
ENGLISH = (
    "The council should weigh the cost of a tram against its benefit, and say so plainly.".split()
)
GERMAN = "Straßenbahnverlängerung Bürgerversammlung der und Gemeinderat nicht Finanzierung".split()
TEXTS = {
    "English": lambda r, n: " ".join(r.choices(ENGLISH, k=n)),
    "German": lambda r, n: " ".join(r.choices(GERMAN, k=n)),
    "Chinese": lambda r, n: "".join(
        r.choices("我们认为政府应该考虑成本和利益并且说明理由", k=2 * n)
    ),
    "Thai": lambda r, n: "".join(r.choices("กขคงจชซญดตถทธนบปผฝพ", k=4 * n)),
    "numbers": lambda r, n: " ".join(str(r.randrange(10 ** r.randrange(1, 20))) for _ in range(n)),
    "blanks": lambda r, n: ("   \n\n\t " * r.randrange(1, 9)).join(r.choices(ENGLISH, k=n)),
    "lines": lambda r, n: "\n".join(r.choice("-=*_") * r.randrange(1, 200) for _ in range(n // 4)),
    "emoji": lambda r, n: " ".join(r.choices(["😀", "👩‍👩‍👧", "a"], k=n)),
}


@pytest.fixture(scope="module")
def tokenizers():
    """The numbers of tokens by several tokenizers."""
    claude = Tokenizer.from_file(CLAUDE)
    return {
        "Claude's": lambda text: len(claude.encode(text).ids),
        "bytes": lambda text: len(text.encode()),
        "words": lambda text: len(text.split()),
    }


def session(r, kinds):
    """What participants are asked in a session in these languages: participant, occasion, text."""
    head, survey = (TEXTS[r.choice(kinds)](r, r.randrange(30, 400)) for _ in range(2))
    own = [TEXTS[r.choice(kinds)](r, r.randrange(1, 200)) for _ in range(3)]
    said = ""
    for i, persona in enumerate(own):
        yield i, "pre", f"{head}\n{persona}\n{survey}"
    for turn in range(9):
        yield turn % 3, f"turn {turn}", f"{head}\n<said>{said}</said>\n{own[turn % 3]}\nYou speak."
        said += f"\n> {TEXTS[r.choice(kinds)](r, r.randrange(1, 150))}"
    for i, persona in enumerate(own):
        yield i, "post", f"{head}\n<said>{said}</said>\n{persona}\n{survey}"


def coding(r, kinds):
    """Texts of these languages under one codebook."""
    head = TEXTS["English"](r, 300)
    for i in range(20):
        yield i, "code", f"{head}\n{TEXTS[r.choice(kinds)](r, r.randrange(1, 900))}\nCode it."


def judged(calls, count):
    """The statuses of calls whose prompts a server counts so."""
    counts = InputCounts()
    for participant, occasion, text in calls:
        purpose = Purpose(str(participant), occasion)
        prompt = Prompt((Message("user", text),), Words(), purpose)
        answer = Completion("I agree.", usage=Usage(input_tokens=count(text)), provider="http://x")
        yield counts.judged(prompt, answer).status


@pytest.mark.parametrize("calls", [session, coding])
@pytest.mark.parametrize("tokenizer", ["Claude's", "bytes", "words"])
def test_a_whole_prompt_is_never_taken_for_a_cut_one(tokenizers, calls, tokenizer):
    for seed in range(24):
        r = random.Random(seed)
        kinds = [r.choice(list(TEXTS))] if seed % 2 else list(TEXTS)
        found = set(judged(calls(r, kinds), tokenizers[tokenizer]))
        assert found == {"ok"}, (seed, kinds)


@pytest.mark.parametrize("language", ["English", "German", "Chinese"])
def test_most_sessions_with_cut_prompts_are_found(tokenizers, language):
    count, found = tokenizers["Claude's"], 0
    for seed in range(12):
        calls = list(session(random.Random(seed), [language]))
        numbers = sorted(count(text) for *_, text in calls)
        window = int(0.6 * numbers[-1] + 0.4 * numbers[0])
        found += "truncated_prompt" in set(
            judged(calls, lambda text, most=window: min(count(text), most))
        )
    assert found >= 10
