"""`delibsim analyze`: its words, its report, its JSON and its exit codes."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from small_study import held_study
from synthetic_study import synthetic_study

from delibsim import study
from delibsim.analysis.study.report import findings, study_report
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.cli.results import print_report
from delibsim.cli.terminal import CommandConsole

QUICK = ("--draws", "40")
FEW = (*QUICK, "--figures", "none")
EVIL = "<script>alert(1)</script>"


def table(topics=3, models=2, **more):
    """A study held elsewhere: the columns that a table must have."""
    rows = synthetic_study(topics=topics, models=models, replicates=2, **more).rows
    kept = rows[["topic", "model", "treatment", "replicate", "dri_pre", "dri_post"]]
    return kept.rename(columns={"dri_pre": "pre", "dri_post": "post"})


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_study_is_analysed_in_words_a_report_and_files(delibsim, home):
    held_study(home, study="small")
    found = delibsim("analyze", "small", *QUICK)
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert lines[0].startswith("This is the null model")
    assert "8 sessions were planned (2 topics, 1 model, 2 treatments), 8 held" in found.out
    assert "against no deliberation" in found.out
    assert lines[-2:] == [
        "finding: runs/small/analysis/finding.html",
        "report: runs/small/analysis/report.html",
    ]
    folder = home / "runs" / "small" / "analysis"
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "finding.html", "report.html", "report.md", "tables.tex", "tables.docx", "tables", "figures", "codebook.csv",
        "manifest.json", "finding.json",
    }  # fmt: skip
    study = pd.read_csv(folder / "tables" / "study.csv")
    assert len(study) == 8
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 5_000_000
    for part in ("Summary", "Design", "Flow of runs", "Methods", "Checklist", "Not shown, and why"):
        assert part in page
    assert {path.suffix for path in (folder / "figures").iterdir()} == {".svg", ".pdf", ".png"}
    assert "figures/effects.svg" in (folder / "report.md").read_text(encoding="utf-8")
    codebook = pd.read_csv(folder / "codebook.csv", keep_default_na=False)
    for file in (folder / "tables").glob("*.csv"):
        columns = set(pd.read_csv(file, nrows=0).columns)
        assert columns == set(codebook[codebook["table"] == file.stem]["column"])


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_table_with_hostile_names_is_analysed_as_json(delibsim, home):
    rows = table(topics=2, models=1).replace(
        {"model": {"model0": EVIL}, "topic": {"topic0": "=HYPERLINK(1)|x"}}
    )
    rows.to_csv(home / "study.csv", index=False)
    found = delibsim("analyze", "study.csv", "--json", "--figures", "svg", *QUICK)
    assert found.code == 0, found.err
    assert found.json["runs"] == {"planned": 12, "held": 12, "valid": 12, "analysed": 12}
    page = (home / "study.analysis" / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert {path.suffix for path in (home / "study.analysis" / "figures").iterdir()} == {".svg"}
    assert delibsim("analyze", "study.csv", "--json", "--figures", "svg", *QUICK).out == found.out
    assert (home / "study.analysis" / "report.html").read_text(encoding="utf-8") == page
    assert delibsim("analyze", "study.csv", "--json", *FEW).out == found.out
    assert not (home / "study.analysis" / "figures").exists()
    for name in ("report.html", "finding.html", "report.md"):
        page = (home / "study.analysis" / name).read_text(encoding="utf-8")
        assert [mark for mark in ("<svg", "<img", ".svg") if mark in page] == []


def test_an_unfinished_table_is_partial_and_an_empty_one_nothing(delibsim, home):
    rows = table(topics=2, models=1)
    rows.loc[rows["treatment"] == "none", ["pre", "post"]] = None
    rows.to_csv(home / "part.csv", index=False)
    assert delibsim("analyze", "part.csv", *QUICK).code == 3
    rows.assign(pre=None, post=None).to_csv(home / "nothing.csv", index=False)
    found = delibsim("analyze", "nothing.csv", *FEW)
    assert (found.code, "0 analysed" in found.out) == (4, True)


def test_a_study_of_debates_is_no_study_of_an_index(delibsim, home):
    held_study(home, "format=debate", "motion=voting", "audience=1", study="oxford")
    found = delibsim("analyze", "oxford", *FEW)
    assert found.code == 4
    assert "delibsim rate report oxford" in found.out


def test_two_studies_stand_beside_each_other(delibsim, home):
    table(seed=1).to_csv(home / "first.csv", index=False)
    other = table(seed=2, effects={"none": 0.0, "basic": 0.3})
    other[other["topic"] != "topic0"].to_csv(home / "second.csv", index=False)
    found = delibsim("analyze", "first.csv", "second.csv", *FEW)
    assert found.code == 0, found.err
    assert "Only first has the topics topic0" in found.out
    assert "Only first has the treatments normative" in found.out
    assert "over 2 topics that both have" in found.out
    folder = home / "analysis_with_second"
    differences = pd.read_csv(folder / "tables" / "differences.csv")
    assert set(differences["treatment"]) == {"none", "basic"}
    both = pd.read_csv(folder / "tables" / "contrasts_of_both.csv")
    assert set(both["study"]) == {"first", "second"}


@pytest.mark.parametrize("width", [80, 100])
def test_the_first_screen_fits(width):
    found = findings(synthetic_study(topics=4, models=2, replicates=2), DrawCounts(40, 40, 8))
    out = io.StringIO()
    print_report(
        study_report(found, DrawCounts(40, 40, 8)),
        CommandConsole(file=out, width=width, force_terminal=True, color_system=None),
    )
    assert max(map(len, out.getvalue().splitlines())) <= width


def test_any_column_of_a_table_is_an_outcome(delibsim, home):
    rows = synthetic_study(topics=6, models=2, replicates=2).rows
    trust = rows[["topic", "model", "treatment", "replicate"]].assign(trust=rows["dri_change"])
    trust.assign(seen="yes").to_csv("trust.csv", index=False)
    rows.to_csv("wide.csv", index=False)
    found = delibsim("analyze", "trust.csv", "--outcome", "trust", "--json", *QUICK).json
    same = study(home / "wide.csv", outcomes=["dri"]).contrasts("dri", "absolute")
    assert {(row["outcome"], row["scale"], row["role"]) for row in found["contrasts"]} == {
        ("trust", "value", "primary")
    }
    for name in ("a", "b", "estimate", "low", "high", "p_holm", "verb"):
        assert [row[name] for row in found["contrasts"]] == same[name].tolist()
    assert {row["outcome"] for row in found["by_topic"]} == {"trust"}
    assert found["runs"]["analysed"] == len(rows)
    for name, told in {"seen": "'yes', not a number", "hope": "'hope'"}.items():
        refused = delibsim("analyze", "trust.csv", "--outcome", name)
        assert refused.code == 2
        assert told in refused.err or "no columns pre and post" in refused.err


def test_what_models_code_is_an_outcome_that_models_alone_do_not_decide(delibsim, home):
    grid = ("topic=ccps,acp,fremantle", "treatment=none,basic,normative", "replicate=1,2,3,4,5")
    small = ("group.size=3", "rounds=1")
    assert delibsim("run", "-m", "-q", "study=pilot", *grid, *small).code == 0
    assert delibsim("code", "ask", "pilot", "scheme=dqi3", "group.size=2", "samples=1").code == 0
    found = delibsim("analyze", "pilot", "--outcome", "justification", "--json", *FEW)
    assert found.code == 0  # the sessions in which nobody speaks are not missing
    (contrast,) = found.json["contrasts"]
    assert (contrast["a"], contrast["b"]) == ("normative", "basic")
    assert (contrast["outcome"], contrast["verb"]) == ("dqi3.justification", "not_valid")
    alone = delibsim("code", "effect", "pilot", "--dimension", "justification", "--json").json
    (row,), (expected,) = found.json["effects"], alone["rows"]
    assert row == {**expected, "outcome": "dqi3.justification"}
    told = delibsim("analyze", "pilot", "--outcome", "justification", *FEW).out
    assert "by models alone the difference in dqi3.justification is" in told
    assert "delibsim code handout" in told
    words = study("pilot", outcomes=["words_spoken"]).contrasts()
    assert set(words["b"]) == {"none", "basic"}
    assert set(study("pilot").contrasts()["outcome"]) > {"dri", "dqi3.justification"}


def test_what_is_scored_of_participants_or_statements_alone_is_averaged_in_sessions(delibsim, home):
    grid = ("topic=ccps,acp", "treatment=basic,normative", "replicate=1,2")
    small = ("group.size=3", "rounds=1")
    assert delibsim("run", "-m", "-q", "study=pilot", *grid, *small).code == 0
    assert delibsim("score", "pilot").code == 0
    scores = home / "runs" / "pilot" / "scores"
    own = [json.loads(line) for line in next(scores.glob("dri.v*")).read_text().splitlines()]
    means = {}
    for score in own:
        if score["measure"] == "dri_individual":
            session = score["target"].partition("/")[0]
            means.setdefault((session, score["phase"]), []).append(score["value"])
    found = delibsim("analyze", "pilot", "--outcome", "dri_individual", "--json", *FEW)
    assert found.code == 0
    in_python = study("pilot", outcomes=["dri_individual"]).outcomes["dri_individual_change"]
    assert in_python.notna().all()
    (contrast,) = found.json["contrasts"]
    changes = {
        session: np.mean(means[session, "post"]) - np.mean(means[session, "pre"])
        for session, _ in means
    }
    of = {
        name: [changes[one] for one in changes if f".{name}." in one]
        for name in ("normative", "basic")
    }
    expected = np.mean(of["normative"]) - np.mean(of["basic"])
    assert contrast["estimate"] == pytest.approx(expected, abs=1e-12)


def test_scores_of_statements_have_models_alone_with_sessions_as_clusters(delibsim, home):
    grid = ("topic=ccps", "treatment=basic,normative", "replicate=1,2,3,4")
    assert delibsim("run", "-m", "-q", "study=pilot", *grid, "group.size=3", "rounds=1").code == 0
    assert delibsim("score", "pilot").code == 0
    rows, values = [], {"basic": [], "normative": []}
    for i, path in enumerate(sorted((home / "runs" / "pilot").glob("*/run.json"))):
        session, own = path.parent.name, [float((7 * i + 3 * n) % 5) for n in range(3)]
        values[session.split(".")[1]] += own
        named = {"measure": "aqua.score", "phase": None, "coder": "AQuA", "note": None}
        for n, value in enumerate(own):
            rows.append(
                named | {"unit": "statement", "target": f"{session}/{n + 1}", "value": value}
            )
        rows.append(named | {"unit": "run", "target": session, "value": sum(own) / 3})
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (home / "runs" / "pilot" / "scores" / "aqua.v9.jsonl").write_text(lines)
    found = delibsim("analyze", "pilot", "--json", *FEW).json
    (effect,) = found["effects"]
    assert (effect["outcome"], effect["row"]) == ("aqua.score", "models")
    assert (effect["n"], effect["clusters"]) == (24, 8)
    difference = np.mean(values["normative"]) - np.mean(values["basic"])
    assert effect["estimate"] == pytest.approx(difference, abs=1e-12)


def test_strengths_that_models_gave_decide_nothing(delibsim, home):
    grid = ("topic=ccps", "treatment=basic,normative", "replicate=1,2,3")
    assert delibsim("run", "-m", "-q", "study=pilot", *grid, "group.size=3", "rounds=1").code == 0
    asked = ("dimension=logical", "model=citizen", "within=topic", "keep_equal=true")
    assert delibsim("compare", "ask", "pilot", *asked).code == 0
    assert delibsim("score", "pilot", "--scorer", "pairs").code == 0
    found = delibsim("analyze", "pilot", "--json", *FEW).json
    own = [row for row in found["contrasts"] if row["outcome"].startswith("pairs.")]
    assert [row["verb"] for row in own] == ["not_valid"]
    assert {row["row"] for row in found["effects"]} == {"models"}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_study_beside_people_has_a_part_tables_figures_and_sentences(delibsim, home):
    held_study(home, "topic=ccps", "replicate=1,2,3,4,5", "group.size=3", study="models")
    people = ("topic=ccps", "replicate=1,2,3,4,5", "group.size=3", "seed=9", "model=citizen_open")
    held_study(home, *people, study="people")
    found = delibsim("analyze", "models", "--like", "people", *QUICK)
    assert found.code in (0, 3), found.err
    assert "Beside people, sessions of the null citizen differ" in found.out
    assert "A classifier " in found.out
    folder = home / "runs" / "models" / "analysis"
    assert "How like people" in (folder / "report.html").read_text(encoding="utf-8")
    assert {"like.svg", "like_sessions.svg"} <= {
        path.name for path in (folder / "figures").iterdir()
    }
    rows = pd.read_csv(folder / "tables" / "like.csv", keep_default_na=False)
    assert len(rows) == 18
    assert rows[rows["measure"] == "talk.words"]["sessions"].tolist() == [5]
    plain = json.loads(delibsim("analyze", "models", "--like", "people", "--json", *FEW).out)
    assert len(plain["like"]) == 18
    assert plain["like_classifier"][0]["sessions"] == 5
    assert {len(plain["like_items"]), plain["like_items"][0]["people_groups"]} == {54, 5}
    for words, told in {
        ("treatment=high", "--like", "people"): "unknown treatment 'high'. There are: normative",
        ("like.model=x", "--like", "people"): "unknown model 'x'. There are: citizen_open",
        ("treatment=normative",): "chooses sessions that are set beside others",
    }.items():
        wrong = delibsim("analyze", "models", *words, *FEW)
        assert (wrong.code, told in wrong.err) == (2, True), wrong.err
    # An outcome that is scored where it is asked for; under none nobody talks, and has no value.
    held_study(home, "topic=ccps", "treatment=none,normative", *people[1:3], study="both")
    asked = delibsim("analyze", "both", "--outcome", "talk.echo", *FEW)
    assert (asked.code, "echo of others' words" in asked.out) == (0, True)
    here = study("models", home / "runs").like(study("people", home / "runs"))
    assert here["label"].tolist()[9] == "words of a turn"
    refused = delibsim("analyze", "models", "people", "--like", "people")
    assert (refused.code, refused.out) == (2, "")
    assert "--like" in refused.err
