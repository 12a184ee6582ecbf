"""Profiles: what they are told of a cluster, the template, language models over real HTTP, and the
manipulation check.
"""

import asyncio
import math

import numpy as np
import pytest
from fake_provider import FakeProvider, Rule
from invented import people

from delibsim.analysis.personas import (
    ProfileCheck,
    clusters_of,
    compared,
    departures,
    shortcomings,
    template_profile,
)
from delibsim.conduct.personas import (
    NoProfile,
    profile_question,
    read_profiles,
    reading_question,
    write_profiles,
)
from delibsim.domain.survey import Item, Survey, Topic
from delibsim.models.citizen.citizen import Citizen
from delibsim.models.citizen.coding import quoted_stances
from delibsim.models.clients.openai_compatible import OpenAICompatible
from delibsim.models.replay import Recorder, Replay

TOPIC = Topic("ways", "Which way should we go?")
LOW, HIGH = [1, 1, 1, 4, 7], [7, 7, 7, 4, 1]
ANSWERS, PLAIN = people([LOW, [1, 2, 1, 4, 6], LOW, HIGH, [7, 6, 7, 5, 1]])
WORDS = [
    "Rivers need banks.",
    "Walls keep towns “dry”.",
    "Who pays for harbours?",
    "Fish matter",
    "Farmers lose fields.",
]
SURVEY = Survey(
    "ways",
    tuple(
        Item(
            i.id,
            i.kind,
            dict(zip(("C1", "C2", "C3", "C4", "C5"), WORDS, strict=True)).get(i.id, i.text),
        )
        for i in PLAIN.items
    ),
)
CLUSTERS = clusters_of(ANSWERS, SURVEY, k=2)


def test_a_cluster_is_described_by_where_it_departs_most_signed_and_largest_first():
    for cluster in (0, 1):
        found = departures(CLUSTERS, SURVEY, cluster, most=4)
        assert len(found) == 4
        sizes = [abs(own.z) for own in found]
        assert sizes == sorted(sizes, reverse=True)
        assert all(
            own.z == pytest.approx(CLUSTERS.centroids[cluster][CLUSTERS.items.index(own.item)])
            for own in found
        )
    assert {own.item: own.z > 0 for own in departures(CLUSTERS, SURVEY, 1)} == {
        "C1": True,
        "C2": True,
        "C3": True,
        "C4": True,
        "C5": False,
    }


def test_the_template_says_what_one_agrees_with_more_or_less_and_the_citizen_reads_it():
    text = template_profile(departures(CLUSTERS, SURVEY, 1))
    assert text.startswith("You agree much more than others that “")
    assert "You agree much less than others that “Farmers lose fields.”" in text
    assert "“Walls keep towns ‘dry’.”" in text
    assert "“Who pays for harbours?”" in text
    assert "“Fish matter.”" in text
    stances = quoted_stances(text)
    assert (
        stances["Rivers need banks"],
        stances["Farmers lose fields"],
        stances["Who pays for harbours?"],
    ) == (1, -1, 1)


def test_the_writer_is_told_the_departures_and_the_reader_is_not():
    found = departures(CLUSTERS, SURVEY, 0)
    lines = "\n".join(own.line for own in found)
    asked = profile_question(TOPIC, 0, 0, lines).prompt().text
    assert all(f"{own.z:+.2f}" in asked for own in found)
    read = reading_question(TOPIC, 0, SURVEY, 0, "You love rivers.").prompt().text
    assert "You love rivers." in read
    assert not any(f"{own.z:+.2f}" in read for own in found)
    assert "cluster" not in read


async def test_the_same_reading_is_the_manipulation_check_offline():
    profiles = await write_profiles(TOPIC, SURVEY, CLUSTERS, None)
    readings = await read_profiles(
        TOPIC, SURVEY, CLUSTERS, profiles, Citizen(population=1, persona_weight=5)
    )
    assert all(reading.r > 0.5 and reading.rho > 0.4 and reading.recognised for reading in readings)
    swapped = await read_profiles(
        TOPIC, SURVEY, CLUSTERS, profiles[::-1], Citizen(population=1, persona_weight=5)
    )
    assert all(reading.r < 0 and not reading.recognised for reading in swapped), (
        "a profile of the other cluster does not pass"
    )


def test_a_reading_is_compared_by_hand():
    centroid = CLUSTERS.centroids[0]
    perfect = compared(3 + 2 * centroid, CLUSTERS, 0)
    assert (perfect.r, perfect.rho, perfect.recognised) == (
        pytest.approx(1),
        pytest.approx(1),
        True,
    )
    turned = compared(-centroid, CLUSTERS, 0)
    assert (turned.r, turned.recognised) == (pytest.approx(-1), False)
    flat = compared(np.full(5, 4.0), CLUSTERS, 0)
    assert math.isnan(flat.r)
    assert (flat.recognised, flat.reason) == (None, "constant_answers")
    assert compared(np.array([1.0, 2.0]), CLUSTERS, 0).reason == "too_few_items"


def model(provider, name="local"):
    return OpenAICompatible(name=name, model="local", base_url=provider.base_url)


PROFILE = "You care for rivers above all."


async def test_language_models_write_and_read_over_http_and_the_record_replays_without_them():
    kept = []
    async with FakeProvider([Rule(match="Write a portrait", text=PROFILE)]) as provider:
        writer, reader = model(provider), model(provider, "other")
        profiles = await write_profiles(TOPIC, SURVEY, CLUSTERS, Recorder(writer, kept.append))
        readings = await read_profiles(
            TOPIC, SURVEY, CLUSTERS, profiles, Recorder(reader, kept.append)
        )
        assert provider.calls == len(kept) == 4
        await asyncio.gather(writer.close(), reader.close())
    assert profiles == [PROFILE] * 2
    again = await write_profiles(TOPIC, SURVEY, CLUSTERS, Replay("local", kept))
    assert again == profiles
    assert await read_profiles(TOPIC, SURVEY, CLUSTERS, again, Replay("other", kept)) == readings


async def test_an_unreadable_reading_is_asked_again_and_then_missing_with_the_reason():
    rules = [
        Rule(match="Write a portrait", text=PROFILE),
        Rule(match="say how that person", text="I would rather not say."),
    ]
    async with FakeProvider(rules) as provider:
        reader = model(provider)
        readings = await read_profiles(
            TOPIC, SURVEY, CLUSTERS, [PROFILE, PROFILE + " And fish."], reader
        )
        assert provider.calls == 8
        await reader.close()
    assert all(math.isnan(reading.r) and reading.recognised is None for reading in readings)
    assert all(reading.reason.startswith("unreadable: C1 is missing") for reading in readings)


@pytest.mark.parametrize(
    "rule", [Rule(status=401), Rule(message={"refusal": "I will not describe people."})]
)
async def test_without_a_profile_there_are_no_personas(rule):
    async with FakeProvider([rule]) as provider:
        writer = model(provider)
        with pytest.raises(
            NoProfile, match=r"local wrote no profile of cluster 1: (authentication|refusal)"
        ):
            await write_profiles(TOPIC, SURVEY, CLUSTERS, writer)
        await writer.close()


def test_identical_profiles_and_a_failed_check_are_said():
    def readings(*values):
        return [ProfileCheck(r, r, True) for r in values]

    assert shortcomings(["You walk.", "You ride."], readings(0.4, 0.6)) == []
    assert shortcomings(["You walk.", "You ride."], readings(0.4, math.nan)) == [
        "the manipulation check failed: mean r is 0.400, below 0.5; the profiles do not say what"
        " the clusters think"
    ]
    assert shortcomings(
        ["You walk.", "You ride.", "You  walk.\n"], readings(math.nan, math.nan, math.nan)
    ) == [
        "the profiles of clusters 1, 3 are identical, so their personas do not differ",
        "the manipulation check says nothing: no reading can be compared with its centroid",
    ]
