"""How a citizen answers a survey and speaks in a deliberation.

    rating       the scale's middle + half its width * (a_is + e) / 2, e ~ N(0, noise), rounded and
                 kept on the scale
    rank         options ordered by a_is + e, the highest first

a_is is the attitude of the citizen toward the item (opinion.py).
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from delibsim.domain.survey import Survey
from delibsim.domain.transcript import Statement
from delibsim.models.citizen.meaning import NEGATIONS, quote, sentences, words
from delibsim.models.citizen.opinion import Attitude
from delibsim.prompts.blocks import read_block, read_items, read_transcript
from delibsim.prompts.forms.survey import SurveyAnswers


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
    others = [said for said in heard if said.turn.speaker != me]
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
