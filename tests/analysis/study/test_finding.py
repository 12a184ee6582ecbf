"""The finding on one page: its numbers are those of the report, and it says what can be said."""

import re
from dataclasses import replace

import numpy as np
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.counts import COUNTED, MEDIANS, attrition
from delibsim.analysis.study.effect_sizes import sizes
from delibsim.analysis.study.mixed import mixed
from delibsim.analysis.study.outcomes import chosen_outcomes
from delibsim.analysis.study.people import people
from delibsim.analysis.study.report import findings, study_report
from delibsim.analysis.study.study_table import DrawCounts

FEW = DrawCounts(40, 40, 8)
STUDY = synthetic_study(
    effects={"none": 0.0, "basic": 0.2, "normative": 0.3}, topics=5, models=2, replicates=2
)
TWIN = synthetic_study(topics=5, models=1, replicates=2, seed=3, null=True).rows
STEPS = (attrition, contrasts, sizes, mixed, people)
NUMBER = re.compile(r"−?\d*\.\d{3}")
QUESTIONS = ["Over topics like these", "On these topics, with these models"]


def report_of(rows=STUDY.rows, **more):
    return study_report(findings(replace(STUDY, rows=rows, **more), FEW, STEPS), FEW)


def test_every_number_of_the_page_is_one_of_the_json():
    report = report_of(twin=TWIN)
    finding, plain = report.finding, report.plain()
    assert plain["finding"]["sentences"] == list(finding.sentences)
    rows = [row for row in plain["questions"] if row["role"] == "primary"]
    own = [row for row in rows if row["population"] == "models"]
    assert [name for (name, _), _ in finding.grid.rows][:2] == QUESTIONS
    columns = list(zip(*(cells for _, cells in finding.grid.rows), strict=True))
    for pair, cells in zip(finding.grid.heads, columns, strict=True):
        answers = [row for row in own if f"{row['a']} − {row['b']}" == pair]
        for row, cell in zip(answers, cells, strict=True):
            names = ["estimate", "low", "high", "p_holm" if row["p_holm"] is not None else "p"]
            told = [printed(row[name], name) for name in names if row[name] is not None]
            assert NUMBER.findall(" ".join(cell)) == told
    sizes = report.results["sizes"].plain()
    known = {printed(value) for row in [*rows, *sizes] for value in row.values()}
    for sentence in finding.sentences[:2]:
        assert set(NUMBER.findall(sentence)) <= known
    assert "The null citizen, which understands no language," in finding.sentences[2]
    shown = finding.html().replace("\u00a0", " ")
    for text in (*finding.sentences, *finding.grid.heads):
        assert text.replace("'", "&#39;") in shown


def printed(value, name=""):
    if not isinstance(value, float) or np.isnan(value):
        return ""
    value = max(value, 0.001) if name.startswith("p") else value
    return f"{value:.3f}".replace("0.", ".").replace("-", "−")


def test_the_first_answer_has_the_verbs_of_the_contrasts():
    report = report_of()
    for row in report.plain()["contrasts"][:3]:
        assert (
            f"{row['a']} instructions {row['verb']} " in report.finding.sentences[0].lower()
        ) == (row["verb"] in ("raised", "lowered"))
    assert "raised the Deliberative Reason Index compared with no deliberation" in str(
        report.finding
    )


def test_of_many_contrasts_the_clear_ones_are_told_and_each_has_a_row():
    effects = {"none": 0.0, "basic": 0.0, "normative": 0.0, "hall": 0.0, "mini": 0.9}
    rows = synthetic_study(effects=effects, topics=5, models=2, replicates=2, sd_slope=0).rows
    finding = report_of(rows).finding
    assert finding.sentences[0].count("the treatment mini raised") == 4
    assert "in 6 contrasts" in finding.sentences[0]
    assert (finding.grid.of, len(finding.grid.rows)) == ("contrast", 10)


@pytest.mark.parametrize(
    ("outcome", "compared"),
    [("diversity", "change of perspective diversity"), ("words_spoken", "words spoken")],
)
def test_another_outcome_that_decides_is_that_of_every_part(outcome, compared):
    chosen = chosen_outcomes(STUDY.rows, [outcome])
    finding = report_of(primary=outcome, outcomes=chosen).finding
    assert finding.outcome == outcome
    assert "Deliberative" not in finding.html([finding.figure.picture()])
    assert f"Difference in the {compared}" in finding.figure.caption
    assert f"what is compared: {compared.replace('of ', 'of the ')}" in finding.compared


ROWS = STUDY.rows
LOST = {name: np.nan for name in ROWS.columns if name.endswith(("_pre", "_post", "_change"))}
SEATS = dict.fromkeys([*COUNTED, *MEDIANS], 0)
SEATS |= {"people_seats": ROWS["group_size"]}


@pytest.mark.parametrize(
    ("rows", "said", "drawn"),
    [
        (ROWS.iloc[:1], "In 1 session, a group of 5", "before_after"),
        (ROWS[ROWS["topic"] == "topic0"], "and here there is 1 topic", "effects"),
        (ROWS[ROWS["treatment"] == "none"], "one treatment only (none)", "before_after"),
        (ROWS.assign(null=True), "citizens of the null model (model0 and model1)", "effects"),
        (ROWS.assign(**SEATS), "groups of 5 people", "effects"),
        (
            ROWS.assign(status=["not begun", *["complete"] * (len(ROWS) - 1)]),
            "Not complete: 1 of 60 planned sessions",
            "effects",
        ),
        (
            ROWS.assign(status=["damaged", *["complete"] * (len(ROWS) - 1)]),
            "1 session left out, because a file was damaged",
            "effects",
        ),
        (ROWS.assign(status="not begun", **LOST), "No session has been held yet", None),
        (ROWS.assign(format="debate", **LOST), "nobody was surveyed before and after", None),
    ],
    ids="session topic none citizens people running damaged waiting debates".split(),
)
def test_what_can_be_said_is_said_and_no_frame_is_empty(rows, said, drawn):
    finding = report_of(rows).finding
    page = finding.html([finding.figure.picture()] if finding.figure else ())
    assert said in str(finding)
    assert (finding.figure and finding.figure.name) == drawn
    assert page.count("<img") == page.count("<figure") == (drawn is not None)
    assert ("<table" in page) == (drawn == "effects")
    assert "nan" not in str(finding).split()
