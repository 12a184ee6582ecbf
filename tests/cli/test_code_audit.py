"""`delibsim code audit` at the command line: what it prints, writes, takes back and refuses."""

import hashlib
import html
import re
from dataclasses import replace

import pytest
from pilot_texts import TEXTS, samples, study_of_texts

from delibsim.domain.coding import Code


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


def test_an_audit_says_what_it_read_and_what_not(delibsim, coded):
    done = delibsim("code", "audit", "pilot")
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert [
        "reasons",
        "alpha",
        "15",
        "15",
        "0",
        "0",
        "1.000",
        "1.000",
        "0.796,",
        "1.000",
        "1.000",
    ] in rows
    assert ["reasons", "beta", "15", "0", "0", "15", "0.000", "-", "-", "-"] in rows
    assert "1, reasons, alpha: “never said so”" in done.out
    assert "2, reasons: ensemble 0, Ann 1: acknowledged" in done.out
    assert "\x1b" not in done.out
    assert delibsim("code", "audit", "pilot").out == done.out


def test_an_audit_as_json_has_every_row(delibsim, coded):
    plain = delibsim("code", "audit", "pilot", "scheme=backing", "--json").json
    assert plain["calls"] == 30
    assert len(plain["misquoted"]) == 5
    assert plain["misquoted"][0]["quotations"] == ["never said so"]
    assert plain["kinds"]["reasons"] == {
        "strict": 0, "acknowledged": 1, "over_read": 0, "over_graded": 0, "unstable": 0, "other": 1,
    }  # fmt: skip
    empty = next(row for row in plain["by_rule"] if row["model"] == "beta")
    assert empty["faithful"]["value"] is None


def test_a_sample_goes_out_and_verdicts_come_back(delibsim, home, coded):
    done = delibsim("code", "audit", "pilot", "--sample", "4", "--to", "a b")
    assert done.code == 0, done.err
    assert "4 rationales of 2 strata" in done.out
    form = home / "a b" / "form.csv"
    empty = delibsim("code", "audit", "pilot", "--import", form)
    assert (empty.code, "0 verdicts kept, 0 known before, 4 cells" in empty.out) == (4, True)
    lines = form.read_text().splitlines()
    form.write_text("\n".join([lines[0], *(f"{line}1" for line in lines[1:])]))
    done = delibsim("code", "audit", "pilot", "--import", form)
    assert (done.code, "4 verdicts kept, 0 known before, 0 cells" in done.out) == (0, True)
    out = delibsim("code", "audit", "pilot").out
    assert "Read by readers" in out
    failures = home / "a b" / "failures.csv"
    failures.write_text(failures.read_text().replace("other", "strict"))
    assert "1 correction kept" in delibsim("code", "audit", "pilot", "--import", failures).out
    assert (
        "1, reasons: ensemble 0, Ann 2: strict (proposed: other)"
        in delibsim("code", "audit", "pilot").out
    )


def test_failures_link_to_their_texts_which_are_inert(delibsim, home, coded):
    _, codings = coded
    codings.add([Code("4", "reasons", "<i>Ann</i>", "human", 2)], people=True)
    assert delibsim("code", "audit", "pilot", "--sample", "1", "--to", "a").code == 0
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
        "code", "audit", "pilot", "--model", "local", "--sample", "6", "--estimate", "--json"
    )
    assert done.code == 0, done.err
    assert done.json["rationales"] == {"planned": 6, "held": 0, "waiting": 6}
    told = delibsim("code", "audit", "pilot", "--model", "local", "--estimate").out
    assert "30 rationales, 0 read already, 30 to be read" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pilot", "--estimate"), "name it with --model NAME"),
        (("pilot", "model=local"), "unknown setting 'model'"),
        (("pilot", "scheme=dqi3"), "has no codes of models by dqi3"),
        (("pilot", "--import", "x.csv"), "this is neither the form of a sample"),
        (("pilot", "--sample", "2", "--to", "runs"), "runs exists; name another folder with --to"),
        (("pilot", "--model", "citizen"), "a citizen is rule-based"),
        (("empty",), "study empty is not coded yet"),
    ],
)
def test_what_cannot_be_audited_is_wrong_input(delibsim, home, coded, words, message):
    runs, _ = study_of_texts(home / "runs", "empty", begun=False)
    assert runs.folder.is_dir()
    (home / "x.csv").write_text("a,b\n1,2\n")
    done = delibsim("code", "audit", *words)
    assert done.code == 2
    assert message in done.err
