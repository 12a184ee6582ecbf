"""Averages over conditions: a study of two topics worked by hand, with unequal numbers of runs."""

from dataclasses import replace
from math import nan
from statistics import stdev

import pytest

from delibsim.analysis.average_tables import MeasuresByLevel, average_notes, table_of_levels
from delibsim.analysis.averages import averages
from delibsim.analysis.conditions import Collected, by_condition, people_in_words
from delibsim.cli.table import fits, show_table
from delibsim.cli.terminal import console
from delibsim.domain.score import MEASURES, Score
from delibsim.domain.survey import Topic
from delibsim.domain.treatment import Treatment
from delibsim.planning.compose import compose
from delibsim.testing import a_run

VALUES = {
    "acp": {"none": [0.1, 0.3], "basic": [0.5, 0.7, 0.9]},
    "ccps": {"none": [0.4], "basic": []},
}
WIDE = "熟議"
LONG = "a_treatment_with_a_name_of_sixty_characters_that_no_column_holds"


def study(values, models=("gpt",)):
    """The plans of a study, and its scores: a change of the index for every value, None for a
    session without a run.
    """
    plans, scores = [], []
    for topic, by_treatment in values.items():
        for treatment, changes in by_treatment.items():
            for model in models:
                for n, change in enumerate(changes or [None], 1):
                    plan = a_run(f"{topic}.{treatment}.{model}.r{n}").session
                    plan = replace(
                        plan,
                        topic=Topic(topic, "What?", "Nothing.", "example"),
                        treatment=Treatment(treatment, "Deliberate.", rounds=2),
                        replicate=n,
                        participants=tuple(replace(p, model=model) for p in plan.participants),
                        models={model: {"kind": model}},
                    )
                    plans.append(plan)
                    if change is not None:
                        note = "missing_answer" if change != change else ""
                        scores.append(Score("dri", "run", plan.id, change, "change", note=note))
    return plans, scores


def averaged(values, by=("treatment",), models=("gpt",), same=None):
    plans, scores = study(values, models)
    collected = Collected(plans)
    collected.add_scores("dri", scores)
    found = by_condition(collected, same or {}, {})
    return found, averages(found, by, collected.of, plans), plans


def test_every_condition_weighs_alike_however_many_runs_it_has():
    _, found, _ = averaged(VALUES)
    basic, none = found.rows
    assert (basic.levels, basic.mean, basic.valid, basic.planned) == (
        ("basic",),
        pytest.approx(0.7),
        3,
        4,
    )
    assert (none.levels, none.mean, none.valid) == (("none",), pytest.approx((0.2 + 0.4) / 2), 3)
    assert none.sd == pytest.approx(stdev([0.1, 0.3, 0.4]))
    half = 12.7062 * 0.1  # t(1) and the error of the mean of .2 and .4
    assert (none.low, none.high) == pytest.approx((0.3 - half, 0.3 + half), abs=1e-4)
    assert (basic.low, basic.high) == (None, None)
    assert (basic.topics, basic.models, basic.conditions, basic.conditions_planned) == (1, 1, 1, 2)
    assert found.cells == {("models", ("basic",)): 4, ("models", ("none",)): 3}


def test_a_treatment_of_which_nothing_was_held_stays_in_the_table():
    _, found, _ = averaged({"acp": {"none": [0.1], "basic": []}})
    (table,) = next(iter(MeasuresByLevel(found, ["dri"], MEASURES).tables()))
    cells = {column.group or column.heading: [row[i] for row in table.rows]
             for i, column in enumerate(table.columns)}  # fmt: skip
    assert cells["basic"] == ["0/1", "-", "0"]
    rows = table_of_levels(found, "dri", MEASURES).rows
    assert [row[0] for row in rows] == ["basic", "none"]
    assert rows[0][-1] == "no run"


def test_null_citizens_and_language_models_are_never_averaged_together():
    _, own, _ = averaged(VALUES, models=("gpt", "citizen"))
    assert {population for population, _ in own.cells} == {"models", "null citizen"}
    by_cell = {(row.population, row.levels): row for row in own.rows}
    assert by_cell["models", ("none",)].models == 1
    table = table_of_levels(own, "dri", MEASURES)
    assert [column.heading for column in table.columns][:2] == ["treatment", "population"]


def test_missing_values_are_counted_by_reason():
    found, own, plans = averaged({"acp": {"none": [0.1, nan]}})
    (row,) = own.rows
    assert (row.mean, row.valid, row.planned, row.missing) == (0.1, 1, 2, {"missing_answer": 1})
    notes = " ".join(average_notes(found, own, ["dri"], MEASURES, plans))
    assert "no value of Deliberative Reason Index: missing_answer (a participant has" in notes
    assert notes.count("n/m") == 1


def test_what_is_said_of_people_is_said_once_for_all_topics():
    plans = [
        compose(f"topic={topic}", "group.size=2") for topic in ("acp", "ccps", "bep", "zukunft")
    ]
    (line,) = people_in_words(plans[:2])
    assert line.startswith("people on acp, ccps: the change of 45, 31 people pooled, which")
    (line,) = people_in_words(plans)
    assert line.startswith("people on 4 topics: the change of 16 to 63 people pooled, which")
    assert people_in_words([]) == []


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize("names", [(WIDE, "none"), (LONG, "none"), ("[bold]x", "a\x1b[31mb")])
def test_tables_fit_whatever_conditions_are_called(width, names, monkeypatch):
    values = {"acp": {names[0]: [0.1, 0.2], names[1]: [0.3, nan]}}
    _, found, _ = averaged(values)
    tables = [table_of_levels(found, "dri", MEASURES)]
    for several in MeasuresByLevel(found, ["dri"], MEASURES).tables():
        tables += several
    for table in tables:
        screen = console()
        screen.width = width
        with screen.capture() as printed:
            show_table(table, screen)
        text = printed.get()
        assert "\x1b[31m" not in text
        lines = text.splitlines()
        assert max(sum(2 if c in WIDE else 1 for c in line) for line in lines) <= width
        assert "+0.150" in text


def test_a_table_fits_whole_or_wrapped():
    screen = console()
    screen.width = 40
    _, found, _ = averaged({"acp": {"none": [0.1], "basic": [0.2]}})
    wide, narrow = [tables[0] for tables in MeasuresByLevel(found, ["dri"], MEASURES).tables()]
    assert not fits(wide, screen, wrapped=True)
    assert not fits(narrow, screen)
    assert fits(narrow, screen, wrapped=True)
