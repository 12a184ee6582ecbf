"""`delibsim code report` as it is typed: the screen, the folder, JSON, exit codes."""

import hashlib
import html
import re
from dataclasses import replace

import pytest
from coded_study import coded_study, keep_task, samples_of, texts_study
from pilot_texts import TEXTS, samples, study_of_texts

from delibsim.domain.coding import Code


@pytest.fixture
def pilot(home):
    """A study of texts that four models and two people coded."""
    return coded_study(home / "runs", 40)


def test_the_screen_has_a_row_a_dimension_and_says_where_the_rest_is(delibsim, pilot):
    answer = delibsim("code", "report", "pilot")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert len(lines) < 12
    assert lines[0].startswith("40 texts coded by plain: 4 models and 2 people (Ann, Ben).")
    reasons, tone = (next(line for line in lines if line.startswith(id)) for id in ("reas", "tone"))
    assert reasons.split()[-2:] == ["undecided", "no"]
    found = delibsim("code", "report", "pilot", "--json").json["tables"]
    row = found["dimensions"][0]
    (groups,) = [
        g
        for g in found["groups"]
        if g["dimension"] == "reasons"
        and g["coders"] == "people"
        and g["coefficient"].startswith("AC2")
    ]
    assert (row["people"], row["people_low"]) == (groups["estimate"], groups["low"])
    assert row["delta"] == min(e["estimate"] for e in found["equivalence"])
    assert tone.split()[1] == "31"
    assert "--tables all prints them" in lines[-1]


def test_json_holds_the_tables_and_why_others_are_not_given(delibsim, pilot):
    words = ("code", "report", "pilot", "--json", "against=year", "by=group")
    found = delibsim(*words).json
    rows = found["tables"]["resampled"]
    assert {(row["by"], row["clusters"]) for row in rows if row["texts"] == 40} == {("group", 6)}
    assert (found["scheme"], found["rule"], found["bound"]) == ("plain", "lower", 0.1)
    assert {row["part"] for row in found["tables"]["against"]} == {"2020", "2021"}
    assert found["not_given"]["wordings"]["reason"] == "one_wording"
    assert {row["p"] <= 1 for row in found["tables"]["shares"]} == {True}


def test_a_study_without_codes_says_how_to_get_some(delibsim, home):
    runs, texts = texts_study(home / "runs", 3)
    answer = delibsim("code", "report", "pilot")
    assert answer.code == 2
    assert "pilot is not coded yet" in answer.err
    keep_task(runs, texts)
    assert delibsim("code", "report", "pilot").code == 4


def test_samples_that_give_no_level_are_told_instead_of_nothing(delibsim, home):
    runs, texts = texts_study(home / "runs", 3)
    codings = keep_task(runs, texts, models=("a",))
    for text in texts:
        codings.add(samples_of(text, "reasons", "a", [None, None, 1]))
    answer = delibsim("code", "report", "pilot")
    assert answer.code == 4
    assert "no text has a level: 3 of 9 samples can be read" in answer.err
    assert "reasons, a: 6 samples: refusal (the model refused)" in answer.err
    assert "nothing has been coded yet" not in answer.err


def test_damaged_lines_are_named_and_the_rest_is_reported(delibsim, pilot):
    file = pilot.folder / "annotations" / "code-plain" / "annotations.jsonl"
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"text": "t1", \n{"broken\n')
    answer = delibsim("code", "report", "pilot")
    assert answer.code == 3
    assert "annotations.jsonl: 2 damaged lines" in answer.err


@pytest.fixture
def coded(home):
    """Five texts by two models; each rationale names its level, and one in three quotes words that
    are not in the text; one person disagrees on two texts.
    """
    runs, codings = study_of_texts(home / "runs")
    kept = []
    for sample in samples("reasons", "alpha", {id: [1, 1, 1] for id in "12345"}):
        said = (
            "It says “never said so”, and meets level 1."
            if sample.index == 1
            else "It meets level 1."
        )
        digest = hashlib.sha256(TEXTS[sample.text].encode()).hexdigest()
        kept.append(replace(sample, rationale=said, text_sha256=digest))
        kept.append(
            replace(kept[-1], model="beta", level=0, rationale="A claim\x1b[31m stands alone.")
        )
    codings.add(kept)
    codings.add(
        [Code("1", "reasons", "Ann", "human", 2), Code("2", "reasons", "Ann", "human", 1)],
        people=True,
    )
    return runs, codings


def test_an_audit_as_json_has_every_row(delibsim, coded):
    plain = delibsim("code", "report", "pilot", "scheme=backing", "--json", "kind=rationale").json
    assert plain["calls"] == 30
    assert len(plain["misquoted"]) == 5
    assert plain["misquoted"][0]["quotations"] == ["never said so"]
    assert plain["kinds"]["reasons"] == {
        "strict": 0, "acknowledged": 1, "over_read": 0, "over_graded": 0, "unstable": 0, "other": 1,
    }  # fmt: skip
    empty = next(row for row in plain["by_rule"] if row["model"] == "beta")
    assert empty["faithful"]["value"] is None


def test_a_sample_goes_out_and_verdicts_come_back(delibsim, home, coded):
    done = delibsim("code", "handout", "pilot", "--n", "4", "-o", "a b", "kind=rationale")
    assert done.code == 0, done.err
    assert "4 rationales of 2 strata" in done.out
    form = home / "a b" / "form.csv"
    empty = delibsim("code", "collect", "pilot", form, "kind=rationale")
    assert (empty.code, "0 verdicts kept, 0 known before, 4 cells" in empty.out) == (4, True)
    lines = form.read_text().splitlines()
    form.write_text("\n".join([lines[0], *(f"{line}1" for line in lines[1:])]))
    done = delibsim("code", "collect", "pilot", form, "kind=rationale")
    assert (done.code, "4 verdicts kept, 0 known before, 0 cells" in done.out) == (0, True)
    out = delibsim("code", "report", "pilot", "kind=rationale").out
    assert "Read by readers" in out
    failures = home / "a b" / "failures.csv"
    failures.write_text(failures.read_text().replace("other", "strict"))
    assert (
        "1 correction kept" in delibsim("code", "collect", "pilot", failures, "kind=rationale").out
    )
    assert (
        "1, reasons: ensemble 0, Ann 2: strict (proposed: other)"
        in delibsim("code", "report", "pilot", "kind=rationale").out
    )


def test_failures_link_to_their_texts_which_are_inert(delibsim, home, coded):
    _, codings = coded
    codings.add([Code("4", "reasons", "<i>Ann</i>", "human", 2)], people=True)
    assert delibsim("code", "handout", "pilot", "--n", "1", "-o", "a", "kind=rationale").code == 0
    page = (home / "a" / "failures.html").read_text()
    links = re.findall(r"<a href=#(text-\d)>([^<]*)</a>", page)
    assert [text for _, text in links] == ["1", "2", "4"]
    for anchor, text in links:
        (section,) = re.findall(rf"<section id={anchor}>.*?</section>", page, re.S)
        assert html.escape(TEXTS[text]) in section
        assert "<a href=#failures>" in section
    assert "&lt;b&gt;now" in page
    assert "<b>now" not in page
    assert "<i>" not in page


def test_reading_by_a_model_is_priced_first(delibsim, coded):
    done = delibsim(
        "code", "ask", "pilot", "--n", "6", "--estimate", "--json", "kind=rationale", "model=local"
    )
    assert done.code == 0, done.err
    assert done.json["rationales"] == {"planned": 6, "held": 0, "waiting": 6}
    told = delibsim("code", "ask", "pilot", "--estimate", "kind=rationale", "model=local").out
    assert "30 rationales, 0 there already, 30 to be asked for" in told
