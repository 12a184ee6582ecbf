"""The figures of a comparison: data/figures/pairs.yaml, drawn from its tables."""

import pandas as pd

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, drawings_of, entries_of
from delibsim.analysis.pairs.report import PairsReport

SCALES = {
    "log_odds": "log odds",
    "z": "z",
    "unit": "from 0 to 1",
    "win": "share of comparisons that it would win",
}
"""The scales of scores in words."""
PANELS = 6
"""The groups that are drawn, those with the most texts first chosen."""
LINES = {"r": "with all pairs", "half_half_r": "two parts"}


def drawings(report: PairsReport) -> list[Drawing]:
    """Every figure that the tables give."""
    tables = {name: result.rows for name, result in report.results.items() if result.given}
    known = [own.dimension for own in report.fits]
    scores, curve = tables["scores"], tables["curve"]
    scores = scores[scores["dimension"].isin(known)]
    curve = curve[curve["dimension"].isin(known)]
    given = {"scores": _scores(report, scores), "curve": _long(curve)}
    return drawings_of("pairs", given)


def _scores(report: PairsReport, table: pd.DataFrame) -> Data:
    """The scores of the groups that can be read in one figure, and what is said of the others."""
    table = table.assign(panel=table["group"].where(table["group"] != "", table["dimension"]))
    sizes = table["panel"].value_counts(sort=False).sort_values(ascending=False, kind="stable")
    drawn = table[table["panel"].isin(sizes.index[:PANELS])]
    ends = entries_of("pairs")["scores"].how["ends"]
    more = ""
    if len(sizes) > PANELS:
        more += f" Drawn are the {PANELS} of {len(sizes)} groups that have the most texts."
    if len(sizes) and sizes.iloc[0] > 2 * ends:
        more += f" Of a group of more than {2 * ends} texts the {ends} strongest and the {ends}"
        more += " weakest are drawn."
    if more:
        more += " The table has every text."
    facts = {"scale": report.settings.scale, "level": 100 * report.settings.level}
    return Data(drawn, {**facts, "words": SCALES[report.settings.scale]}, more)


def _long(curve: pd.DataFrame) -> pd.DataFrame:
    """Both correlations below each other, `of` naming which."""
    parts = [curve.assign(of=words, r=curve[column]) for column, words in LINES.items()]
    return pd.concat(parts)
