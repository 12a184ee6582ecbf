"""Tables of the report in sections: what rows share stands once beside them."""

import pandas as pd

from delibsim.analysis.debates.fits import headings, sections


def test_a_table_of_models_has_a_section_for_each_with_its_fit_and_its_note():
    rows = [("a", "x", 1.0, 0.5, ""), ("a", "y", 2.0, 0.5, ""), ("b", "", None, None, "separated")]
    table = pd.DataFrame(rows, columns=["model", "term", "coefficient", "r2", "note"])
    first, second = sections(table)
    assert (first.name, first.fit, first.note) == ("a", {"r2": 0.5}, "")
    assert list(first.table.columns) == ["term", "coefficient"]
    assert list(first.table["term"]) == ["x", "y"]
    assert (second.name, second.fit, second.note) == ("b", {}, "separated")


def test_notes_that_differ_stay_in_the_table():
    table = pd.DataFrame({"measure": ["x", "y"], "note": ["", "no_variance"]})
    (section,) = sections(table)
    assert (section.name, section.note) == ("", "")
    assert list(section.table.columns) == ["measure", "note"]


def test_the_standings_say_of_what_low_and_high_are():
    columns = ["debater", "win_rate", "win_low", "performance", "performance_low"]
    found = headings(pd.DataFrame(columns=columns))
    assert found["win_low"] == ("win rate", "low")
    assert found["performance_low"] == ("performance", "low")
    other = headings(pd.DataFrame(columns=["dimension", "performance", "p_holm"]))
    assert (other["performance"], other["p_holm"]) == (("", "performance"), ("", "p, Holm"))
