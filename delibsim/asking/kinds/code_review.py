"""What people should read next: texts drawn half at random and half by the doubt of the models."""

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from delibsim.asking.kinds.code_levels import coded_by_models, doubt_of
from delibsim.asking.kinds.code_packs import TRAINING, CodingPack, Draw, hand_out
from delibsim.asking.kinds.coding import Coding
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.seed import seed_of
from delibsim.domain.text import study_named
from delibsim.measures.designs import chances_by_doubt, drawn_by_doubt
from delibsim.store.packs import handed_out, packs_of

REVIEW = "review"


def doubts(coding: Coding, dimension: str = "") -> dict[str, float]:
    """The doubt of the models about each text, in bits: the entropy of its levels (see
    `measures.certainty`), the mean over dimensions, or that of one `dimension`.

    Texts that no model has coded are left out.
    """
    chosen = coding.scheme.dimensions
    if dimension:
        chosen = tuple(one for one in chosen if one.id == dimension)
    if not chosen:
        ids = [one.id for one in coding.scheme.dimensions]
        raise unknown("dimension", dimension, ids)
    by_dimension = coded_by_models(coding).by_dimension
    by_text: defaultdict[str, list[float]] = defaultdict(list)
    for one in chosen:
        if one.id in by_dimension:
            for text, bits in doubt_of(by_dimension[one.id]).items():
                by_text[text].append(bits)
    return {text: fmean(bits) for text, bits in by_text.items()}


def draw_review(coding: Coding, n: int, dimension: str = "") -> Draw:
    """A draw of about `n` texts of those that models have coded: half at random, half by doubt.

    Texts that a person has coded before are part of the draw with the chance 1, and are not read
    again; texts of a training round are left out of it. The chances hold for all that is left.
    """
    packs = packs_of(coding.codings.files)
    training = set().union(*handed_out(packs, TRAINING).values())
    doubt = {id: u for id, u in doubts(coding, dimension).items() if id not in training}
    coded = {code.text for code in coding.codings.people() if not code.training}
    read = [id for id in doubt if id in coded]
    number = sum(pack["kind"] == REVIEW for pack in packs.values()) + 1
    names = coding.runs.study, coding.scheme.id, REVIEW, number
    waiting = [id for id in doubt if id not in coded]
    if not waiting:
        raise WrongInput(
            f"{study_named(coding.runs.study)}: people have coded every text that models have"
        )
    waiting.sort(key=lambda id: seed_of(*names, id))
    if n >= len(waiting):
        chances = np.ones(len(waiting))
    else:
        chances = chances_by_doubt([doubt[id] for id in waiting], n)
    drawn, at_random = drawn_by_doubt(chances, n, random.Random(seed_of(*names)).random())
    texts = {waiting[i]: float(chances[i]) for i in drawn}
    texts |= dict.fromkeys(read, 1.0)
    by_lot = tuple(waiting[i] for i in at_random)
    return Draw(texts, by_lot, len(doubt), tuple(read))


def review(
    coding: Coding,
    coders: Sequence[str],
    n: int,
    dimension: str = "",
    folder: Path | None = None,
) -> tuple[CodingPack, Draw]:
    """Write a pack of what people should read next; the chances of the draw are kept with it."""
    draw = draw_review(coding, n, dimension)
    return hand_out(coding, draw, coders, REVIEW, folder), draw


def told_review(pack: CodingPack, draw: Draw) -> list[str]:
    """What was drawn, in sentences."""
    new = len(draw.texts) - len(draw.read)
    line = (
        f"drawn from {draw.among} texts that models have coded: {new}, of them {len(draw.random)}"
        f" at random and {new - len(draw.random)} by doubt"
    )
    lines = [line]
    if draw.read:
        lines.append(f"read by people before, and part of the draw: {len(draw.read)}")
    lines.append(
        "agreement holds for all texts on those drawn at random only; means weigh each text by its"
        f" chance, which is kept in packs/{pack.name}.json"
    )
    return lines
