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

It answers a survey and speaks in a deliberation:

    rating       the scale's middle + half its width * (a_is + e) / 2, e ~ N(0, noise), rounded and
                 kept on the scale
    rank         options ordered by a_is + e, the highest first

a_is is the attitude of the citizen toward the item.
"""

import functools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from delibsim.domain.seed import seed_of
from delibsim.domain.survey import Survey
from delibsim.domain.transcript import FACILITATOR, QUESTION, Statement
from delibsim.models.citizen.citizen import Traits
from delibsim.models.citizen.coding import (
    NEGATIONS,
    Vector,
    bare,
    leaning,
    meaning,
    quote,
    quoted_stances,
    sentences,
    words,
)
from delibsim.prompts.blocks import read_block, read_items, read_starting_answers, read_transcript
from delibsim.prompts.forms.survey import SurveyAnswers

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
        heard = said.turn.role != FACILITATOR and said.turn.task != QUESTION
        if said.turn.speaker != me and heard:
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


def survey_reply(
    form: SurveyAnswers,
    text: str,
    attitude: Attitude,
    answered: Collection[str],
    noise: float,
    seed: int,
) -> str:
    """The answers to a survey as text, with the errors that the seed draws.

    `answered` holds the labels of items that a real participant answered: that person's error is in
    those answers already.
    """
    survey, rng = form.survey, np.random.default_rng(seed)
    # Noise is drawn by label, so that the order in which items are shown changes no answer.
    labels = sorted(item.id for item in survey.items)
    drawn = rng.normal(0, noise, len(labels)).tolist()
    errors = dict(zip(labels, drawn, strict=True)) | dict.fromkeys(answered, 0.0)
    felt = _felt(read_items("considerations", text), attitude, errors)
    wanted = _felt(read_items("preferences", text), attitude, errors)
    ranked = sorted(wanted, key=lambda label: (-wanted[label], label))
    answers = _ratings(felt, survey)
    answers |= {label: rank for rank, label in enumerate(ranked, 1)}
    answers = survey.mirrored(answers) if form.reversed else answers
    return "\n".join(f"{label}: {answers[label]}" for label in [*felt, *wanted])


def _felt(
    items: Mapping[str, str], attitude: Attitude, errors: Mapping[str, float]
) -> dict[str, float]:
    """What is felt about each item, by label: the attitude and the error of the answer."""
    return {label: attitude(item) + errors[label] for label, item in items.items()}


def _ratings(felt: Mapping[str, float], survey: Survey) -> dict[str, int]:
    """Attitudes on the survey's scale, or sorted into its forced distribution."""
    low, high = survey.scale_min, survey.scale_max
    if survey.forced_distribution is not None:
        slots = np.repeat(survey.scale, survey.forced_distribution).tolist()
        ordered = sorted(felt, key=lambda label: (felt[label], label))
        return dict(zip(ordered, slots, strict=False))
    middle, half = (low + high) / 2, (high - low) / 2
    rounded = {label: math.floor(middle + half * a / 2 + 0.5) for label, a in felt.items()}
    return {label: min(max(value, low), high) for label, value in rounded.items()}


def statement(me: str, text: str, attitude: Attitude) -> str:
    """A reply to the last other speaker, the two strongest considerations not yet spoken for, and
    the favourite option.
    """
    considerations = list(read_items("considerations", text).values())
    considerations = considerations or sentences(read_block("topic", text) or "")
    heard = read_transcript(text)
    own_words = " ".join(said.text for said in heard if said.turn.speaker == me)
    talk = [said for said in heard if not said.turn.role and said.turn.task != QUESTION]
    others = [said for said in talk if said.turn.speaker != me]
    lines = list(_replies(others, considerations, attitude))
    spoken_for = own_words + "".join(lines)
    fresh = [item for item in considerations if quote(item) not in spoken_for]
    strongest = sorted(fresh, key=lambda item: (-abs(attitude(item)), item))[:2]
    for opening, item in zip(("To my mind", "What is more,"), strongest, strict=False):
        verdict = "it is true that" if attitude(item) >= 0 else "it is not true that"
        lines.append(f"{opening} {verdict} {quote(item)}.")
    if options := sorted(read_items("preferences", text).values()):
        favourite = max(options, key=attitude)
        lines.append(f"Of the options I would put first {quote(favourite)}.")
    return " ".join(lines) or "I have nothing to add."


def question(text: str, attitude: Attitude) -> str:
    """A question about the consideration toward which it feels most, which asserts nothing."""
    items = sorted(read_items("considerations", text).values())
    if not items:
        return "What is known about it?"
    return f"How certain is it that {quote(max(items, key=lambda item: abs(attitude(item))))}?"


def _replies(
    others: Sequence[Statement], considerations: Sequence[str], attitude: Attitude
) -> Iterator[str]:
    """One sentence to the last other speaker, by name, about a consideration it named, if it named
    one; nothing where nobody has spoken.
    """
    if not others:
        return
    last = others[-1]
    speaker = last.turn.speaker
    named = [item for item in considerations if quote(item) in last.text]
    if not named:
        yield f"I have listened to {speaker}."
        return
    point = max(sorted(named), key=lambda item: abs(attitude(item)))
    before = last.text.partition(quote(point))[0]
    own_sentence = re.split(r"[.!?]\s", before)[-1]
    i_hold = attitude(point) >= 0
    speaker_holds = not NEGATIONS & set(words(own_sentence))
    verdict = f"Like {speaker}," if i_hold == speaker_holds else f"Unlike {speaker},"
    yield f"{verdict} I {'hold' if i_hold else 'do not hold'} that {quote(point)}."
