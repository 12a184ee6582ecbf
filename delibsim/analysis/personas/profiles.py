"""From clusters of people to value profiles, by a language model or a template, and the check that
a reader finds the people in them.

A second language model, blind to the cluster, answers the survey from the profile alone; the
correlation of its answers with the cluster's centroid is the manipulation check.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from delibsim.analysis.personas.clusters import Clusters
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import Survey
from delibsim.domain.topic import Topic
from delibsim.measures.pairs import Array
from delibsim.models.base import OUTCOMES, Completion, LanguageModel, read
from delibsim.prompts.blocks import block, items_block
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose

DESCRIBED = 8
"""How many considerations describe a cluster."""
PASSED = 0.5
"""The mean correlation of readings with their centroids from which the manipulation check counts as
passed: a convention.
"""
LONGEST = 220  # words of a profile
REASKS = 3
SINGLE = str.maketrans("“”", "‘’")

DEGREES = ((1.0, "much more"), (0.4, "more"), (0.0, "somewhat more"))
TASK = (
    "You write short portraits for a study of citizens' assemblies. Below are statements with which"
    " a group of citizens agrees more (+) or less (-) than citizens on average, the largest"
    " difference first. Differences are in standard deviations."
)
ORDER = (
    'Write a portrait of the values that such a person holds, in the second person ("You ..."), in'
    " 80 to 180 words. Say what matters to this person and what does not, and why. Do not repeat"
    " the statements word for word, do not mention numbers, groups, averages or a survey, and do"
    " not say what to conclude on the question."
)
READER = (
    "You read a portrait of a person and say how that person would answer a survey. Go by the"
    " portrait alone, and not by what you think yourself."
)
ANSWER = "Answer the following survey as the person of the portrait would. Use the whole scale."
AGAIN = "That reply cannot be used: {fault}. Please reply again, in the form asked for."


@dataclass(frozen=True)
class Departure:
    """By how many standard deviations a cluster's mean on one consideration departs from the mean
    of all.
    """

    item: str
    text: str
    z: float


@dataclass(frozen=True)
class Reading:
    """How the reader's answers from one profile agree with the clusters: NaN, with a reason, where
    they cannot be compared.

    `r` and `rho` (Pearson, Spearman) are with the profile's own centroid over the clustered items;
    `recognised` says whether no other cluster's centroid correlates more.
    """

    r: float
    rho: float
    recognised: bool | None
    reason: str = ""


class NotWritten(RuntimeError):
    """A language model wrote no profile; the message says for which cluster and why. What was
    recorded is kept.
    """


def departures(
    clusters: Clusters, survey: Survey, cluster: int, most: int = DESCRIBED
) -> list[Departure]:
    """The considerations on which a cluster departs most from the whole, signed, the largest
    first.
    """
    texts = {item.id: item.text for item in survey.considerations}
    found = [
        Departure(i, texts[i], float(z))
        for i, z in zip(clusters.items, clusters.centroids[cluster], strict=True)
        if i in texts
    ]
    return sorted(found, key=lambda own: (-abs(own.z), own.item))[:most]


def template_profile(found: Sequence[Departure]) -> str:
    """A profile without a language model: what one agrees with more, or less, than others do,
    quoted, the largest departure first.
    """
    said = []
    for own in found:
        degree = next(words for least, words in DEGREES if abs(own.z) >= least)
        text = " ".join(own.text.split()).translate(SINGLE)
        stop = "" if text.endswith((".", "?", "!")) else "."
        said.append(
            f"You agree {degree if own.z >= 0 else degree.replace('more', 'less')} than others that"
            f" “{text}{stop}”"
        )
    return " ".join(said)


def profile_prompt(topic: Topic, found: Sequence[Departure], cluster: int) -> Prompt:
    """Ask for the profile of one cluster."""
    lines = "\n".join(f"{own.z:+.2f}  {' '.join(own.text.split())}" for own in found)
    form = Words(LONGEST)
    parts = [
        block("topic", topic.question.strip()),
        block("statements", lines),
        ORDER,
        form.describe(),
    ]
    return Prompt(
        (Message("system", TASK), Message("user", "\n\n".join(parts))),
        form,
        Purpose(f"cluster {cluster + 1}", "profile"),
    )


def reading_prompt(topic: Topic, survey: Survey, profile: str, cluster: int) -> Prompt:
    """Ask a reader, who is not told the cluster, to answer the survey from a profile alone."""
    form = SurveyAnswers(survey)
    items = [
        items_block(f"{kind}s", [item for item in survey.items if item.kind == kind])
        for kind in ("consideration", "preference")
    ]
    parts = [
        block("topic", topic.question.strip()),
        block("you", "the person of the portrait"),
        block("persona", profile),
        ANSWER,
        *items,
    ]
    messages = (Message("system", READER), Message("user", "\n\n".join([*parts, form.describe()])))
    return Prompt(messages, form, Purpose(f"cluster {cluster + 1}", "reading"))


async def write_profiles(
    topic: Topic, survey: Survey, clusters: Clusters, writer: LanguageModel | None
) -> list[str]:
    """The profile of each cluster, by a language model or, without one, by the template; NotWritten
    where a model gives none.
    """
    found = [departures(clusters, survey, cluster) for cluster in range(len(clusters.centroids))]
    if writer is None:
        return [template_profile(own) for own in found]
    replies = await asyncio.gather(
        *(_ask(writer, profile_prompt(topic, own, c), clusters.seed) for c, own in enumerate(found))
    )
    for cluster, (text, completion) in enumerate(replies, 1):
        if text is None:
            raise NotWritten(
                f"{writer.name} wrote no profile of cluster {cluster}: {completion.status}:"
                f" {completion.detail}"
            )
    return [str(text) for text, _ in replies]


async def read_profiles(
    topic: Topic, survey: Survey, clusters: Clusters, profiles: Sequence[str], reader: LanguageModel
) -> list[Reading]:
    """What a reader finds in each profile; NotWritten where the reader could not be asked at
    all.
    """
    prompts = [
        reading_prompt(topic, survey, profile, cluster) for cluster, profile in enumerate(profiles)
    ]
    replies = await asyncio.gather(*(_ask(reader, prompt, clusters.seed) for prompt in prompts))
    readings = []
    for cluster, (answers, completion) in enumerate(replies):
        if completion.status not in OUTCOMES:
            raise NotWritten(
                f"{reader.name} could not read the profile of cluster {cluster + 1}:"
                f" {completion.status}: {completion.detail}"
            )
        if answers is None:
            readings.append(
                Reading(math.nan, math.nan, None, f"{completion.status}: {completion.detail}")
            )
        else:
            readings.append(
                compared(
                    np.array([answers[item] for item in clusters.items], dtype=float),
                    clusters,
                    cluster,
                )
            )
    return readings


def shortcomings(profiles: Sequence[str], readings: Sequence[Reading]) -> list[str]:
    """What a reader of the personas must know of them: profiles that are alike, a manipulation
    check that failed or says nothing.
    """
    alike: dict[str, list[int]] = {}
    for cluster, profile in enumerate(profiles, 1):
        alike.setdefault(" ".join(profile.split()), []).append(cluster)
    told = [
        f"the profiles of clusters {', '.join(map(str, own))} are identical, so their personas do"
        " not differ"
        for own in alike.values()
        if len(own) > 1
    ]
    valid = [reading.r for reading in readings if not math.isnan(reading.r)]
    if not valid:
        return [
            *told,
            "the manipulation check says nothing: no reading can be compared with its centroid",
        ]
    mean = sum(valid) / len(valid)
    if mean < PASSED:
        told.append(
            f"the manipulation check failed: mean r is {mean:.3f}, below {PASSED}; the profiles do"
            " not say what the clusters think"
        )
    return told


def compared(answers: Array, clusters: Clusters, cluster: int) -> Reading:
    """The answers (items) given from one profile beside the centroids of all clusters.

    They are the raw answers; correlations do not mind the scale. Ranks count 1 as best in both.
    """
    if len(answers) < 3:
        return Reading(math.nan, math.nan, None, "too_few_items")
    if np.ptp(answers) == 0:
        return Reading(math.nan, math.nan, None, "constant_answers")
    r = [
        float(np.corrcoef(answers, centroid)[0, 1]) if np.ptp(centroid) else math.nan
        for centroid in clusters.centroids
    ]
    if math.isnan(r[cluster]):
        return Reading(math.nan, math.nan, None, "constant_centroid")
    rho = float(spearmanr(answers, clusters.centroids[cluster]).statistic)
    return Reading(r[cluster], rho, bool(r[cluster] >= np.nanmax(r)))


async def _ask(model: LanguageModel, prompt: Prompt, seed: int) -> tuple[Any, Completion]:
    """The value of the first readable reply; None and the completion that says why there is
    none.
    """
    while True:
        # The seed comes from what is asked: another prompt is another call, and the same one is
        # found in the record.
        own = seed_of(
            "personas",
            seed,
            prompt.purpose.participant,
            prompt.purpose.occasion,
            prompt.purpose.attempt,
            prompt.text,
        )
        value, completion = read(prompt, await model.complete(prompt, own))
        if completion.status != "unreadable" or prompt.purpose.attempt >= REASKS:
            return value, completion
        said = (
            Message("assistant", completion.text),
            Message("user", AGAIN.format(fault=completion.detail)),
        )
        prompt = Prompt(
            (*prompt.messages, *said),
            prompt.reply,
            replace(prompt.purpose, attempt=prompt.purpose.attempt + 1),
        )
