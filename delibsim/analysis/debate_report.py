"""Everything that is published of a tournament: its tables by name, and its figures as SVG."""

import html
from collections.abc import Sequence

import pandas as pd

from delibsim.analysis.debate import SAMPLES, analysed, counts, paired_tests, rating_table, reliability, standings
from delibsim.analysis.debate_models import MODELS
from delibsim.domain.rating import Rated

TITLES = {
    "counts": "What was held, rated and analysed",
    "standings": "Win rate and performance (95 percent intervals, bootstrap over debates)",
    "strengths": "Bradley-Terry strengths, the side and the motions (log odds; errors clustered by debate)",
    "reliability": "Agreement of raters",
    "paired_tests": "Paired t tests by dimension (Holm over the eleven of a contrast)",
    "winner_model": "What makes the winner: logistic regression on ten score differences (HC1)",
    "stance_models": "What moves a stance: OLS of the change on winner and debaters (HC2)",
    "rater_models": "Mixed models with an intercept for each rater (REML)",
    "place_and_length": "Did place or length decide? (log odds of winning)",
}
"""The tables in the order of the report."""
WIDTH, ROW, LEFT = 640, 26, 210


def tables(runs: Sequence[Rated], seed: int = 0, samples: int = SAMPLES) -> dict[str, pd.DataFrame]:
    """Every table of the report; `ratings` holds the ratings themselves, also those that are not analysed."""
    ratings = rating_table(runs)
    kept = analysed(ratings)
    found = {"counts": counts(runs, ratings), "standings": standings(kept, seed, samples), "reliability": reliability(kept)}
    found |= {"paired_tests": paired_tests(kept)} | {name: model(kept) for name, model in MODELS.items()}
    return {name: found[name] for name in TITLES} | {"ratings": ratings}


def figures(found: dict[str, pd.DataFrame]) -> dict[str, str]:
    """The figures by name, each an SVG document: win rates, performance and strengths, as far as there are any."""
    made = {}
    placed = found["standings"]
    if not placed.empty:
        rows = placed[["debater", "win_rate", "win_low", "win_high"]].itertuples(index=False, name=None)
        made["win_rates"] = dots("Win rate, with 95 percent intervals", list(rows), at=0.5)
        rows = placed[["debater", "performance", "performance_low", "performance_high"]].itertuples(index=False, name=None)
        made["performance"] = dots("Mean performance, with 95 percent intervals", list(rows))
    strengths = found["strengths"].dropna(subset=["coefficient"])
    if not strengths.empty:
        rows = strengths.assign(label=strengths["kind"] + " " + strengths["term"])[["label", "coefficient", "low", "high"]]
        made["strengths"] = dots("Bradley-Terry, log odds", list(rows.itertuples(index=False, name=None)), at=0.0)
    return made


def dots(title: str, rows: Sequence[tuple[str, float, float, float]], at: float | None = None) -> str:
    """A dot and an interval a row (label, value, low, high), with a line at a value to compare with; an SVG document.

    An interval that is NaN is not drawn.
    """
    ends = [x for row in rows for x in row[1:] if x == x] + ([] if at is None else [at])
    low, high = min(ends), max(ends)
    pad = (high - low) * 0.08 or 1.0
    low, high = low - pad, high + pad

    def x(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - 70), 1)

    height = 60 + ROW * len(rows)
    parts = [f'<text x="10" y="22" font-weight="bold">{html.escape(title)}</text>']
    if at is not None:
        parts.append(f'<line x1="{x(at)}" x2="{x(at)}" y1="36" y2="{height - 18}" stroke="#999" stroke-dasharray="3 3"/>')
    for i, (label, value, lower, upper) in enumerate(rows):
        y = 52 + ROW * i
        parts.append(f'<text x="10" y="{y + 4}">{html.escape(label)}</text>')
        if lower == lower and upper == upper:
            parts.append(f'<line x1="{x(lower)}" x2="{x(upper)}" y1="{y}" y2="{y}" stroke="#1b4d7a" stroke-width="2"/>')
        parts.append(f'<circle cx="{x(value)}" cy="{y}" r="4.5" fill="#1b4d7a"/>')
        parts.append(f'<text x="{WIDTH - 60}" y="{y + 4}">{value:.2f}</text>')
    body = "\n".join(parts)
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">'
    return f'{opening}\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
