"""The citizen as a judge of pairs: the votes of a model whose strengths and biases are known."""

from collections import Counter
from math import exp, sqrt

import pytest

from delibsim import Citizen
from delibsim.domain.scheme import QualityDimension
from delibsim.models.citizen.judging import strength
from delibsim.planning.compose import plan
from delibsim.prompts.compare import Manner, compare_prompt
from delibsim.prompts.prompt import Purpose

LOGICAL = QualityDimension("logical", "Logical quality", "logically", "It follows.", ("Which?",))
STRONG, WEAK = "We need trees because they cool, since it follows.", "Trees are nice."
CALLS = 1500


@pytest.fixture(scope="module")
def wording():
    return plan(["wording=compare"]).session.wording


async def shares(wording, texts, ties=True, reasons=False, **traits):
    """The share of each reply of a citizen to these texts, over many seeds."""
    purpose = Purpose("judge", "t1 | t2")
    manner = Manner("none", ties, reasons)
    prompt = compare_prompt(LOGICAL, manner, wording, texts, "", purpose)
    citizen = Citizen(population=1, **traits)
    found = Counter()
    for seed in range(CALLS):
        completion = await citizen.complete(prompt, seed)
        found[prompt.reply.read(completion.text).outcome] += 1
    assert "rule-based" in completion.model_returned
    return {name: found[name] / CALLS for name in ("a", "b", "tie")}


def sigmoid(x):
    return 1 / (1 + exp(-x))


@pytest.mark.parametrize("texts", [(STRONG, WEAK), (WEAK, STRONG), (WEAK, WEAK)])
async def test_votes_are_those_of_rao_and_kupper_with_known_strengths(wording, texts):
    noise, place, threshold = 0.8, 0.3, 0.4
    found = await shares(wording, texts, noise=noise, place=place, threshold=threshold)
    gap = strength(texts[0], LOGICAL.name) - strength(texts[1], LOGICAL.name)
    a = sigmoid((gap + place - threshold) / noise)
    b = sigmoid((-gap - place - threshold) / noise)
    for name, expected in (("a", a), ("b", b), ("tie", 1 - a - b)):
        assert abs(found[name] - expected) < 4 * sqrt(expected * (1 - expected) / CALLS)


async def test_a_coin_decides_in_its_share_of_replies(wording):
    found = await shares(wording, (STRONG, WEAK), noise=0, coin=0.5)
    assert abs(found["b"] - 0.25) < 4 * sqrt(0.25 * 0.75 / CALLS)
    assert found["tie"] == 0


async def test_without_noise_the_stronger_text_wins_and_equal_ones_tie_where_they_may(wording):
    assert (await shares(wording, (WEAK, STRONG), noise=0))["b"] == 1
    assert (await shares(wording, (WEAK, WEAK), noise=0, reasons=True))["tie"] == 1
    assert (await shares(wording, (WEAK, WEAK), noise=0, ties=False))["tie"] == 0


def test_a_text_is_as_strong_as_the_marks_it_has():
    assert strength(STRONG, "Logical quality") == 1.5
    assert strength("because " * 50, "Logical quality") == 6.0
    assert strength("However, critics fear that.", "Dialectical quality") == 1.5
    assert strength("You may imagine it.", "Rhetorical quality") == 1.0
