"""What every figure of every report holds: it is drawn from its table, says what it shows, its texts
stay within it, and no two of its lines look alike, not even in grey.
"""

import io
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from analysis.figures.test_gallery import full_study, pairs
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from study_results import made_results, result
from synthetic_study import synthetic_study

from delibsim.analysis.coding import report as of_codes
from delibsim.analysis.debates.report import density
from delibsim.analysis.figures.drawing import LAID_OUT
from delibsim.analysis.figures.entries import Data, drawings_of, entries_of
from delibsim.analysis.figures.of_study import FIGURES
from delibsim.analysis.figures.of_study import drawings as of_study
from delibsim.analysis.figures.style import SERIES, STYLE
from delibsim.analysis.pairs.report import _long
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.analysis.summaries import report as of_summaries

KEPT = Path(__file__).parents[2] / "approval" / "kept"
"""Tables that real reports gave."""
RNG = np.random.default_rng(0)


def kept(study):
    """The results of a kept report."""
    found = {}
    for path in (KEPT / study / "report" / "tables").glob("*.csv"):
        *lines, _ = path.read_text(encoding="utf-8").splitlines()  # the last says how many
        rows = pd.read_csv(io.StringIO("\n".join(lines)))
        texts = rows.select_dtypes(exclude="number").columns
        found[path.stem] = result(path.stem, rows.fillna(dict.fromkeys(texts, "")))
    return found


def codes():
    return of_codes.drawings(kept("codes"))


def comparison():
    given = kept("pairs")
    scores = given["scores"].rows.assign(panel="all")
    facts = {"scale": "log_odds", "level": 95, "words": "log odds"}
    tables = {"scores": Data(scores, facts), "curve": _long(given["curve"].rows)}
    tables["against_scores"] = given["against_scores"]
    return drawings_of("pairs", tables)


def summaries():
    scores = {"score": RNG.uniform(size=40), "minority": RNG.uniform(size=40) > 0.8}
    given = kept("summaries")
    topics = pd.DataFrame({"model": ["a", "b"] * 2, "topic": ["x", "x", "y", "y"]})
    given["topics"] = result("topics", topics.assign(relative=[0.1, -0.1, -0.1, 0.1]))
    kinds = pd.DataFrame({"model": ["a", "b"], "difference": [0.1, -0.1]})
    given["kinds"] = result("kinds", kinds)
    return of_summaries.drawings(given, pd.DataFrame(scores))


def debates():
    names = ["one", "two", "three"]
    mean = pd.Series([0.2, 0.5, 0.7])
    ends = {f"{kind}_{end}": mean + by for kind in ("win", "performance") for end, by in
            (("low", -0.1), ("high", 0.1))}  # fmt: skip
    standings = pd.DataFrame({"debater": names, "win_rate": mean, "performance": mean, **ends})
    strengths = pd.DataFrame({"kind": "debater", "term": names, "coefficient": mean})
    residuals = pd.DataFrame({"model": "m", "fitted": RNG.normal(size=50)})
    own = density({name: pd.Series(RNG.normal(size=30)) for name in names})
    correlations = [
        {"debaters": "all", "n": 30, "dimension": a, "other": b, "r": 1.0 if a == b else 0.3}
        for a in names
        for b in names
    ]
    tables = {
        "standings": standings,
        "strengths": strengths.assign(low=mean - 0.1, high=mean + 0.1),
        "residuals": residuals.assign(residual=RNG.normal(size=50), distance=1.0),
        "quantiles": pd.DataFrame({"model": "m", "expected": mean, "found": mean, "distance": 0.1}),
        "density_performance": own,
        "density_stance_change": own,
        "density_stance": own,
        "correlations": pd.DataFrame(correlations),
    }
    return drawings_of("debates", tables)


def study():
    full = full_study()
    found, _ = of_study(full, made_results(full) | {"pair_correlations": pairs(full.rows)})
    return found


REPORTS = {
    "study": study,
    "codes": codes,
    "pairs": comparison,
    "summaries": summaries,
    "debates": debates,
}


@pytest.fixture(scope="module")
def drawn():
    return {kind: make() for kind, make in REPORTS.items()}


def laid_out(drawing, columns):
    """The figure with every text at its place."""
    with mpl.rc_context(dict(STYLE)):
        figure = drawing.draw(columns)
        figure.get_layout_engine().execute(figure)
    with mpl.rc_context(LAID_OUT):
        figure.set_layout_engine(None)
    return figure


@pytest.mark.parametrize("kind", REPORTS)
def test_every_entry_is_drawn_from_its_table(drawn, kind):
    names = [drawing.name for drawing in drawn[kind]]
    for name, entry in entries_of(kind).items():
        assert [one for one in names if one == name or (entry.each and one.startswith(name))], name


@pytest.mark.parametrize("kind", REPORTS)
def test_every_figure_says_what_it_shows(drawn, kind):
    for drawing in drawn[kind]:
        assert drawing.caption.endswith("."), drawing.name
        assert drawing.alt.endswith("."), drawing.name
        assert len(drawing.alt) > len(drawing.title) + 20, drawing.name
        for text in (drawing.title, drawing.caption, drawing.alt):
            assert "{" not in text
            assert "nan" not in text.lower().replace(",", " ").split()


@pytest.mark.parametrize("kind", REPORTS)
@pytest.mark.parametrize("columns", [1, 2])
def test_no_text_is_cut_off_and_no_two_lines_look_alike(drawn, kind, columns):
    for drawing in drawn[kind]:
        figure = laid_out(drawing, columns)
        width, height = figure.bbox.width, figure.bbox.height
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        for text in figure.findobj(Text):
            if not text.get_text().strip() or not text.get_visible():
                continue
            box = text.get_window_extent(renderer)
            inside = box.x0 > -2 and box.y0 > -2 and box.x1 < width + 2 and box.y1 < height + 2
            assert inside or not _in_view(text), (drawing.name, text.get_text())
        for axes in figure.axes:
            named = [line for line in axes.lines if not line.get_label().startswith("_")]
            colours = {mpl.colors.to_hex(line.get_color()) for line in named}
            marks = {(line.get_marker(), str(line.get_linestyle())) for line in named}
            dashes = {str(line._dash_pattern) for line in named}
            assert len(colours) == len(named), drawing.name
            assert max(len(marks), len(dashes)) == len(named), drawing.name


def _in_view(text):
    """Whether a text is drawn: the names of ticks outside an axis are not."""
    axes = text.axes
    if axes is None:
        return True
    ticks = [*axes.xaxis.get_ticklabels(), *axes.yaxis.get_ticklabels()]
    return text not in ticks and axes.get_visible()


def test_of_many_lines_each_has_a_panel_of_its_own():
    rows = [
        {"model": f"m{m:02}", "size": size, "overall": 0.4 + m / 100}
        for m in range(18)
        for size in (10, 50)
    ]
    table = pd.DataFrame(rows)
    (many,) = drawings_of("summaries", {"sizes": table})
    (few,) = drawings_of("summaries", {"sizes": table[table["model"] < f"m{len(SERIES):02}"]})
    assert len(laid_out(few, 2).axes[0].lines) == len(SERIES)
    shown = [axes for axes in laid_out(many, 2).axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == sorted(set(table["model"]))
    front = [max(axes.lines, key=lambda line: line.zorder).get_label() for axes in shown]
    assert front == sorted(set(table["model"]))


def test_a_column_that_an_entry_names_must_be_there():
    rows = kept("codes")["levels"].rows
    assert len(drawings_of("codes", {"levels": rows})) == 1
    with pytest.raises(KeyError):
        drawings_of("codes", {"levels": rows.drop(columns="coder")})


PREPARED_FROM_ANSWERS = {"pair_correlations", "individual_change", "effects_on_texts"}


@pytest.mark.parametrize("kind", FIGURES, ids=[kind.name for kind in FIGURES])
def test_the_command_that_draws_a_figure_makes_the_table_it_is_drawn_from(kind):
    if not kind.result or kind.result in PREPARED_FROM_ANSWERS:
        return
    study = synthetic_study(topics=3, models=2, replicates=2)
    assert kind.result in kind.results(study, DrawCounts(19, 19, 9))
