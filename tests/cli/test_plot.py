"""`delibsim plot`: the list of figures, one figure as a file, and why there is none."""

import pytest
from synthetic_study import synthetic_study

TABLE = ("topic", "model", "treatment", "replicate", "dri_pre", "dri_post")


@pytest.fixture
def table(home):
    """A table of a study held elsewhere."""
    rows = synthetic_study(topics=4, models=2, replicates=2).rows[list(TABLE)]
    named = rows.rename(columns={"dri_pre": "pre", "dri_post": "post"})
    named.to_csv(home / "elsewhere.csv", index=False)
    return "elsewhere.csv"


def test_a_table_lists_its_figures_and_says_why_others_are_not_there(delibsim, table):
    listed = delibsim("plot", table, "--json")
    assert listed.code == 0
    found = {row["figure"]: row["why_not"] for row in listed.json["figures"]}
    assert found["effects"] == ""
    assert found["before_after"] == ""
    assert "a table does not hold" in found["consistency"]
    printed = delibsim("plot", table).out
    assert "not here, because" in printed
    assert "effects_by_model" in printed


def test_a_figure_is_written_in_each_form_and_its_caption_is_printed(delibsim, table, home):
    drawn = delibsim("plot", table, "before_after")
    assert drawn.code == 0
    assert "written: elsewhere-before_after.svg" in drawn.out
    assert "16 sessions" not in drawn.out  # 48: four topics, two models, three treatments
    assert "48 sessions" in drawn.out
    assert (home / "elsewhere-before_after.svg").read_text().startswith("<svg ")
    for name in ("a.pdf", "b.png"):
        given = delibsim("plot", table, "before_after", "-o", name, "--columns", 2, "--json")
        assert given.json["file"] == name
        assert (home / name).stat().st_size > 1000


def test_a_condition_is_drawn_alone(delibsim, table):
    drawn = delibsim("plot", table, "before_after", "--condition", "basic", "--json")
    assert drawn.json["alt"].startswith("Index before and after. basic (n = 16)")


def test_what_there_is_not_ends_with_a_reason_and_a_code(delibsim, table):
    missing = delibsim("plot", table, "consistency")
    assert missing.code == 4
    assert "has no figure consistency: It needs the answers" in missing.err
    for words in (
        ("plot", table, "effect"),
        ("plot", table, "effects", "--condition", "other"),
        ("plot", table, "effects", "-o", "a.gif"),
        ("plot", table, "effects", "--columns", 3),
        ("plot", "nowhere"),
    ):
        assert delibsim(*words).code == 2, words


def test_the_answers_of_a_study_are_drawn(delibsim, home):
    settings = ("study=small", "topic=ccps", "group.size=3", "rounds=1", "treatment=none,basic")
    assert delibsim("run", "-q", "-m", *settings).code == 0
    drawn = delibsim("plot", "small", "consistency", "--condition", "basic", "--json")
    assert drawn.code == 0
    assert "basic: before 3 pairs" in drawn.json["alt"]
    assert "none: before" not in drawn.json["alt"]
    assert "no such folder" in drawn.json["caption"]
    moved = delibsim("plot", "small", "individual_change", "--json")
    assert "6 participants of 2 sessions" in moved.json["caption"]
