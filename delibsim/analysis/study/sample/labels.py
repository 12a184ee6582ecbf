"""The labels of two treatments exchanged: which sessions exchange theirs together, and the ways."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.study.sample.blocks import compared

DRAW = ("topic", "replicate")
SESSION = ("topic", "model", "treatment", "replicate")


@dataclass(frozen=True)
class Labels:
    """Labellings of the sessions under treatments a and b.

    `signs` (m, units) has -1 where the sessions of a unit exchange their labels; its first row is
    1 throughout. A unit is a draw (topic and replicate) where treatments share seeds (`paired`);
    where they do not, it is a replicate of a treatment with one model, in all settings together.
    `number` gives the number of a unit by its key.
    """

    a: str
    b: str
    paired: bool
    signs: NDArray[np.float64]
    number: Mapping[tuple[str, ...], int]

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.number)

    def units_of(self, runs: pd.DataFrame) -> NDArray[np.intp]:
        """The number of the unit of each of these sessions, as `compared` gives them."""
        return np.array([self.number[key] for key in _keys(runs, self.paired)], dtype=np.intp)


def labels_of(
    rows: pd.DataFrame, pair: tuple[str, str], paired: bool, most: int, seed: int
) -> Labels:
    """The labellings of all sessions under two treatments, whatever their values.

    All ways of exchanging the labels of draws are listed where there are at most `most`; else
    `most` are drawn beside the real one. Where seeds are not shared, labels are permuted within
    topic and model.
    """
    a, b = pair
    runs = compared(rows.assign(entered=0.0), "entered", a, b).runs
    keys = list(_keys(runs, paired))
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    rng, count = np.random.default_rng(seed), len(number)
    if paired and 2**count <= most:
        patterns = np.arange(2**count)[:, None] >> np.arange(count)
        return Labels(a, b, paired, 1.0 - 2.0 * (patterns & 1), number)
    signs = np.ones((most + 1, count))
    if paired:
        signs[1:] = 1.0 - 2.0 * rng.integers(0, 2, (most, count))
        return Labels(a, b, paired, signs, number)
    units = pd.DataFrame(list(number), columns=list(SESSION))
    label = np.where(units["treatment"] == a, 1.0, -1.0)
    for _, own in units.groupby(["topic", "model"]).groups.items():
        place = np.asarray(own)
        drawn = rng.permuted(np.tile(label[place], (most, 1)), axis=1)
        signs[1:, place] = drawn * label[place]
    return Labels(a, b, paired, signs, number)


def _keys(runs: pd.DataFrame, paired: bool) -> list[tuple[str, ...]]:
    """The key of the unit of each session."""
    columns = [runs[name].astype(str) for name in (DRAW if paired else SESSION)]
    return list(zip(*columns, strict=True))
