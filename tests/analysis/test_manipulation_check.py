"""The manipulation check can fail, and its reader is blind to all but the profile."""

import dataclasses
import json

import numpy as np
import pytest
from fake_provider import FakeProvider, Rule
from invented import people

from delibsim.analysis.personas import (
    clusters_of,
    departures,
    shortcomings,
    template_profile,
)
from delibsim.conduct.personas import read_profiles
from delibsim.domain.survey import Survey, Topic
from delibsim.models.citizen.citizen import Citizen
from delibsim.models.clients.openai_compatible import OpenAICompatible

TOPIC = Topic("ways", "Which way should we go?")
TEXTS = (
    "Rivers need strong banks.",
    "Walls keep towns dry.",
    "Harbours pay for themselves.",
    "Fish matter more than boats.",
    "Farmers lose their fields.",
    "Bridges bring people together.",
    "Old mills deserve protection.",
    "Ferries pollute the water.",
    "Children should learn to swim.",
)
CAMPS = np.array(
    [[7, 7, 7, 2, 2, 2, 4, 4, 1], [2, 2, 2, 7, 7, 1, 4, 1, 4], [2, 4, 1, 2, 4, 7, 7, 7, 7]]
)


def camps(seed):
    """Answers of thirty people in three camps, their survey, and the three clusters."""
    rng = np.random.default_rng(seed)
    rated = np.repeat(CAMPS, 10, axis=0) + rng.integers(-1, 2, size=(30, 9))
    answers, plain = people(np.clip(rated, 1, 7))
    rated_items = [item for item in plain.items if item.kind == "consideration"]
    named = [dataclasses.replace(i, text=t) for i, t in zip(rated_items, TEXTS, strict=True)]
    survey = Survey(plain.id, (*named, *plain.preferences))
    return survey, clusters_of(answers, survey, k=3)


def profiles_of(survey, clusters):
    return [template_profile(departures(clusters, survey, cluster)) for cluster in range(3)]


async def mean_r(survey, clusters, profiles, reader):
    """The mean correlation of the check, how many clusters were recognised, and what is told."""
    readings = await read_profiles(TOPIC, survey, clusters, profiles, reader)
    recognised = sum(bool(reading.recognised) for reading in readings)
    told = shortcomings(profiles, readings)
    return float(np.mean([reading.r for reading in readings])), recognised, told


@pytest.mark.parametrize("seed", range(5))
async def test_the_check_passes_good_profiles_and_fails_the_same_profiles_swapped(seed):
    survey, clusters = camps(seed)
    profiles = profiles_of(survey, clusters)
    reader = Citizen(population=1, persona_weight=5)
    good, recognised, told = await mean_r(survey, clusters, profiles, reader)
    assert good > 0.6
    assert (recognised, told) == (3, [])
    for swapped in (profiles[1:] + profiles[:1], profiles[2:] + profiles[:2]):
        bad, recognised, told = await mean_r(survey, clusters, swapped, reader)
        assert bad < 0, "a profile of another cluster correlates with the wrong centroid"
        assert recognised == 0
        assert [warning.split(":")[0] for warning in told] == ["the manipulation check failed"]


async def test_a_profile_that_says_nothing_does_not_pass():
    survey, clusters = camps(0)
    silent = [f"You live in house number {k}." for k in (1, 2, 3)]
    r, _, told = await mean_r(survey, clusters, silent, Citizen(population=1))
    assert r < 0.5
    assert any("the manipulation check failed" in warning for warning in told)


PROFILE = "You care for rivers above all."


async def asked_over_http(survey, clusters):
    """What a reader over HTTP is sent when every cluster has the same profile, seeds aside."""
    async with FakeProvider([Rule(text="I would rather not say.")]) as provider:
        reader = OpenAICompatible(name="reader", model="local", base_url=provider.base_url)
        await read_profiles(TOPIC, survey, clusters, [PROFILE] * 3, reader)
        await reader.close()
        bodies = [request.body for request in provider.requests]
    first = [body for body in bodies if len(body["messages"]) == 2]
    assert len(first) == 3
    return {json.dumps({k: v for k, v in body.items() if k != "seed"}) for body in first}


async def test_equal_profiles_are_asked_about_in_equal_words_whatever_their_cluster():
    survey, clusters = camps(0)
    other = camps(1)[1]
    assert not np.array_equal(clusters.centroids, other.centroids)
    (one,), (two,) = await asked_over_http(survey, clusters), await asked_over_http(survey, other)
    assert one == two
    for word in ("cluster", "centroid", "group", "average", "other people"):
        assert word not in one.lower()
    for z in clusters.centroids.ravel():
        assert f"{z:+.2f}" not in one
