"""What a citizen thinks: where it begins, what moves it, and its attitude toward a text.

    position     x_i ~ N(0, I) in `dimensions` dimensions, seeded by the population and the name,
                 moved toward the persona, or where a real participant's answers put it
    a text       v_s = the unit vector of its words, each word a fixed random direction; negations
                 flip the sign
    attitude     a_is = x_i . v_s + u_is,   u_is ~ N(0, idiosyncrasy), seeded by the population, the
                 name and the text
    hearing      for each sentence asserted by another, in order:  d = CONVICTION - x_i . v_s;
                 if |d| <= openness:  x_i += susceptibility * d * v_s
                 (bounded confidence, delta rule)

docs/citizen.md gives the equations and their sources.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from delibsim.domain.seed import seed_of
from delibsim.models.citizen.meaning import (
    Vector,
    bare,
    leaning,
    meaning,
    quoted_stances,
    sentences,
)
from delibsim.models.citizen.traits import Traits
from delibsim.prompts.blocks import read_block, read_items, read_starting_answers, read_transcript

CONVICTION = 1.5  # the attitude, in standard deviations, that an assertion expresses

Attitude = Callable[[str], float]
"""The attitude of one person toward a text, in standard deviations; above 0 is in favour."""


@dataclass(frozen=True, eq=False)
class Start:
    """Where a person stands before it hears anybody.

    An attitude toward a text is the position along the direction of that text, plus a part that is
    particular to the person and the text. `own` gives that part, by text, where a persona or real
    answers fix it; elsewhere it is drawn. `answered` holds the labels of the items that a real
    participant answered.
    """

    position: Vector
    own: Mapping[str, float]
    answered: frozenset[str] = frozenset()


def start_of(traits: Traits, me: str, text: str) -> Start:
    """Where this person stands before it hears anybody: drawn, and moved by a persona; or fitted to
    a real participant's answers.
    """
    persona = read_block("persona", text) or ""
    options = read_items("preferences", text)
    items = read_items("considerations", text) | options
    given = read_starting_answers(persona)
    known = {label: value for label, value in given[0].items() if label in items} if given else {}
    if given and known:
        scale_min, scale_max = given[1]
        ratings = {label: value for label, value in known.items() if label not in options}
        attitudes = _from_ratings(ratings, (scale_min + scale_max) / 2, (scale_max - scale_min) / 2)
        attitudes |= _from_ranks({label: known[label] for label in options})
        return _fitted(traits, attitudes, items)
    population, spread = traits.population or 0, traits.idiosyncrasy
    position = _born(population, me, traits.dimensions)
    if not persona:
        return Start(position, {})
    stances = quoted_stances(persona)
    pull = leaning(stances, traits.dimensions) if stances else meaning(persona, traits.dimensions)
    # What a persona says of a text, it feels about that text, whatever words the text shares with
    # others.
    own = {
        item: traits.persona_weight * stances[bare(item)] + _drawn(population, me, item, spread)
        for item in items.values()
        if bare(item) in stances
    }
    return Start(position + traits.persona_weight * pull, own)


def attitude_of(traits: Traits, me: str, text: str, start: Start) -> Attitude:
    """The attitude of this person toward any text, after what it heard in the transcript of a
    prompt. What it hears changes its position, and not what is particular to it.
    """
    position, own = _moved(traits, me, text, start.position), start.own
    population, spread = traits.population or 0, traits.idiosyncrasy

    @functools.cache
    def attitude(toward: str) -> float:
        drawn = toward not in own
        particular = _drawn(population, me, toward, spread) if drawn else own[toward]
        return float(position.dot(meaning(toward, traits.dimensions)) + particular)

    return attitude


def _from_ratings(ratings: Mapping[str, int], middle: float, half: float) -> dict[str, float]:
    """The attitudes, by label, that ratings without error express."""
    return {label: 2 * (rating - middle) / half for label, rating in ratings.items()}


def _from_ranks(ranks: Mapping[str, int]) -> dict[str, float]:
    """The attitudes, by label, that ranks without error express: from 2 for the first to -2."""
    steps = max(len(ranks) - 1, 1)
    return {label: 2 * (1 - 2 * (rank - 1) / steps) for label, rank in ranks.items()}


def _fitted(traits: Traits, attitudes: Mapping[str, float], items: Mapping[str, str]) -> Start:
    """The position most probable under attitudes without error, by label, and what is left of each
    as the person's own.
    """
    v = np.array([meaning(items[label], traits.dimensions) for label in attitudes])
    a = np.array(list(attitudes.values()))
    # Ridge regression: the posterior mean under x ~ N(0, I) and what is one's own ~ N(0,
    # idiosyncrasy).
    penalty = max(traits.idiosyncrasy, 1e-3) ** 2 * np.eye(traits.dimensions)
    x = np.linalg.solve(v.T @ v + penalty, v.T @ a)
    own = {
        items[label]: float(felt - x @ meaning(items[label], traits.dimensions))
        for label, felt in attitudes.items()
    }
    return Start(x, own, frozenset(attitudes))


def _moved(traits: Traits, me: str, text: str, start: Vector) -> Vector:
    """Where this person stands after everything it has heard."""
    x = start.tobytes()
    for said in read_transcript(text):
        if said.turn.speaker != me:
            x = _heard(x, said.text, traits.dimensions, traits.openness, traits.susceptibility)
    return np.frombuffer(x)


@functools.lru_cache(maxsize=5_000)  # what was heard stands in every prompt that follows
def _heard(
    position: bytes, statement: str, dimensions: int, openness: float, susceptibility: float
) -> bytes:
    """Where a person at this position (its bytes, which can be looked up) stands after hearing a
    statement.
    """
    x = np.frombuffer(position)
    for v in _asserted(statement, dimensions):
        distance = CONVICTION - x.dot(v)
        if abs(distance) <= openness:
            x = x + susceptibility * distance * v
    return x.tobytes()


@functools.lru_cache(maxsize=1_000)  # everybody hears it
def _asserted(statement: str, dimensions: int) -> tuple[Vector, ...]:
    """The directions of the sentences of a statement that have one."""
    directions = (meaning(sentence, dimensions) for sentence in sentences(statement))
    return tuple(v for v in directions if v.any())


@functools.lru_cache(maxsize=20_000)  # the items of an instrument stand in every prompt
def _drawn(population: int, me: str, text: str, spread: float) -> float:
    """What is a person's own in its attitude toward a text."""
    return float(_rng(population, me, text).normal(0, spread))


@functools.lru_cache(maxsize=2_000)
def _born(population: int, me: str, dimensions: int) -> Vector:
    """Where a person of a population begins."""
    position = _rng(population, me).standard_normal(dimensions)
    position.setflags(write=False)
    return position


def _rng(population: int, *names: str) -> np.random.Generator:
    return np.random.default_rng(seed_of(population, *names))
