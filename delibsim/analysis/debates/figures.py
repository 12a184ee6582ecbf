"""Figures of a tournament as SVG documents: dots with intervals, residuals of models."""

import html
from collections.abc import Sequence

import pandas as pd

WIDTH, ROW, LEFT = 640, 26, 210
HEIGHT, MARGIN = 400, 60
BLUE, GREY = "#1b4d7a", "#999"


def figures(found: dict[str, pd.DataFrame]) -> dict[str, str]:
    """The figures by name, each an SVG document, as far as there is something to draw.

    Win rates, performance, strengths, and the residuals of every mixed model.
    """
    made = {}
    placed = found["standings"]
    if not placed.empty:
        rows = placed[["debater", "win_rate", "win_low", "win_high"]]
        made["win_rates"] = dots("Win rate, with 95 percent intervals", _rows(rows), at=0.5)
        rows = placed[["debater", "performance", "performance_low", "performance_high"]]
        made["performance"] = dots("Mean performance, with 95 percent intervals", _rows(rows))
    strengths = found["strengths"].dropna(subset=["coefficient"])
    if not strengths.empty:
        labelled = strengths.assign(label=strengths["kind"] + " " + strengths["term"])
        rows = labelled[["label", "coefficient", "low", "high"]]
        made["strengths"] = dots("Bradley-Terry, log odds", _rows(rows), at=0.0)
    for model, own in found["residuals"].groupby("model"):
        points = list(own[["fitted", "residual"]].itertuples(index=False, name=None))
        title = f"Residuals of the mixed model: {model}"
        made[f"residuals_{str(model).replace(' ', '_')}"] = scatter(title, points)
    return made


def _rows(table: pd.DataFrame) -> list[tuple[str, float, float, float]]:
    return list(table.itertuples(index=False, name=None))


def scatter(title: str, points: Sequence[tuple[float, float]]) -> str:
    """A point for each fitted value and residual, with a line at a residual of 0; an SVG document.

    The lowest and highest fitted value and the largest residual are written at the axes.
    """
    lowest, highest = min(x for x, _ in points), max(x for x, _ in points)
    largest = max(abs(y) for _, y in points) or 1.0
    across = (WIDTH - 2 * MARGIN) / ((highest - lowest) or 1.0)
    down = (HEIGHT - 2 * MARGIN) / (2 * largest)
    middle, bottom, right = HEIGHT / 2, HEIGHT - 30, WIDTH - MARGIN
    elements = [f'<text x="10" y="22" font-weight="bold">{html.escape(title)}</text>']
    dashed = f'stroke="{GREY}" stroke-dasharray="3 3"'
    elements.append(f'<line x1="{MARGIN}" x2="{right}" y1="{middle}" y2="{middle}" {dashed}/>')
    for x, y in points:
        place = f'cx="{MARGIN + (x - lowest) * across:.1f}" cy="{middle - y * down:.1f}"'
        elements.append(f'<circle {place} r="2.5" fill="{BLUE}" fill-opacity="0.4"/>')
    elements.append(f'<text x="{MARGIN}" y="{bottom}">{lowest:.1f}</text>')
    elements.append(f'<text x="{WIDTH / 2}" y="{bottom}" text-anchor="middle">fitted</text>')
    elements.append(f'<text x="{right}" y="{bottom}" text-anchor="end">{highest:.1f}</text>')
    for value, height in ((largest, MARGIN), (0.0, middle), (-largest, HEIGHT - MARGIN)):
        elements.append(f'<text x="10" y="{height + 4}">{value:.1f}</text>')
    return _document(elements, HEIGHT)


def dots(
    title: str,
    rows: Sequence[tuple[str, float, float, float]],
    at: float | None = None,
) -> str:
    """A dot and an interval for each row (label, value, low, high), as an SVG document.

    `at` is the value at which a line is drawn, None for no line. An interval that is NaN is not
    drawn.
    """
    ends = [] if at is None else [at]
    for _, *values in rows:
        ends += [value for value in values if value == value]
    low, high = min(ends), max(ends)
    pad = (high - low) * 0.08 or 1.0
    low, high = low - pad, high + pad

    def x(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - 70), 1)

    height = 60 + ROW * len(rows)
    elements = [f'<text x="10" y="22" font-weight="bold">{html.escape(title)}</text>']
    if at is not None:
        dashed = f'stroke="{GREY}" stroke-dasharray="3 3"'
        elements.append(f'<line x1="{x(at)}" x2="{x(at)}" y1="36" y2="{height - 18}" {dashed}/>')
    for i, (label, value, lower, upper) in enumerate(rows):
        y = 52 + ROW * i
        elements.append(f'<text x="10" y="{y + 4}">{html.escape(label)}</text>')
        if lower == lower and upper == upper:
            place = f'x1="{x(lower)}" x2="{x(upper)}" y1="{y}" y2="{y}"'
            elements.append(f'<line {place} stroke="{BLUE}" stroke-width="2"/>')
        elements.append(f'<circle cx="{x(value)}" cy="{y}" r="4.5" fill="{BLUE}"/>')
        elements.append(f'<text x="{WIDTH - 60}" y="{y + 4}">{value:.2f}</text>')
    return _document(elements, height)


def _document(elements: Sequence[str], height: int) -> str:
    body = "\n".join(elements)
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    font = 'font-family="sans-serif" font-size="13"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>'
    return f'{opening}\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
