"""A figure as files: equal to the byte, inert names, texts that are texts, nothing dated."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from study_results import made_results
from synthetic_study import synthetic_study

from delibsim.analysis.figures.of_study import FIGURES
from delibsim.analysis.figures.style import WIDTHS
from delibsim.domain.errors import WrongInput

HOSTILE = {
    "topic0": "<script>x</script>",
    "topic1": "$x^2$ \\frac{a}{b} &amp;",
    "topic2": "שלום עולם",
    "topic3": "話題",
    "topic4": "a" * 300,
    "topic5": "line\nend\x00\x1b[31m",
}
KINDS = {kind.name: kind for kind in FIGURES}
before_after, effects_by_topic = KINDS["before_after"].draw, KINDS["effects_by_topic"].draw
SVG = "{http://www.w3.org/2000/svg}"


def named(names):
    study = synthetic_study(topics=6, models=2, replicates=2)
    study.rows["topic"] = study.rows["topic"].replace(names)
    return study


@pytest.fixture(scope="module")
def study():
    return named({})


def test_a_figure_is_the_same_file_each_time_in_every_form(study):
    one, again = (before_after(study, {}).files() for _ in range(2))
    assert one == again
    assert list(one) == ["svg", "pdf", "png"]
    assert one["pdf"].startswith(b"%PDF")
    assert one["png"].startswith(b"\x89PNG")


def test_a_form_alone_is_the_same_file_as_among_others(study):
    drawing = before_after(study, {})
    together = drawing.files()
    for kind, content in together.items():
        assert drawing.files((kind,))[kind] == content


def test_a_figure_is_drawn_once_for_all_its_files(study):
    drawing, drawn = before_after(study, {}), []

    def draw(columns):
        drawn.append(columns)
        return drawing.draw(columns)

    replace(drawing, draw=draw).files()
    assert drawn == [drawing.columns]


def test_a_figure_of_two_columns_has_a_narrow_drawing_for_pages(study):
    one = before_after(study, {})
    assert one.columns == 1
    assert one.picture().narrow == ""
    two = replace(one, columns=2).picture()
    widths = [float(ET.fromstring(svg).get("width")[:-2]) for svg in (two.svg, two.narrow)]
    assert widths == pytest.approx([72 * WIDTHS[2], 72 * WIDTHS[1]], abs=0.1)


def test_an_svg_holds_texts_and_no_date_and_nothing_of_other_hosts(study):
    drawing = before_after(study, {})
    text = drawing.svg()
    root = ET.fromstring(text)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == drawing.title
    assert root.find(f"{SVG}desc").text == drawing.alt
    shown = {"".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")}
    assert {"none", "basic", "normative"} <= shown
    assert "dc:date" not in text
    assert not [part for part in ("<script", "url(http", 'href="http') if part in text]


def test_a_figure_is_as_wide_as_the_columns_that_it_takes(study):
    drawing = before_after(study, {})
    for columns, inches in WIDTHS.items():
        root = ET.fromstring(drawing.svg(columns))
        assert float(root.get("width").removesuffix("pt")) == pytest.approx(72 * inches, abs=0.1)


def test_hostile_names_are_inert_and_shown_literally():
    study = named(HOSTILE)
    drawing = effects_by_topic(study, made_results(study))
    text = drawing.svg()
    root = ET.fromstring(text)
    assert "<script" not in text
    shown = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    for name in ("<script>x</script>", "$x^2$ \\frac{a}{b} &amp;", "שלום עולם", "話題"):
        assert name in shown
    assert "a" * 25 + "…" in shown
    assert "line end[31m" in shown
    assert "aaaa" * 75 in drawing.alt
    assert set(drawing.files(("pdf", "png"))) == {"pdf", "png"}


def test_a_figure_is_written_in_the_form_of_its_name_or_refused(study, tmp_path):
    drawing = before_after(study, {})
    path = drawing.write(tmp_path / "new" / "a.svg")
    assert path.read_text(encoding="utf-8") == drawing.svg()
    assert [own.name for own in path.parent.iterdir()] == ["a.svg"]
    for name in ("a.gif", "a"):
        with pytest.raises(WrongInput, match="kind of picture"):
            drawing.write(tmp_path / name)
