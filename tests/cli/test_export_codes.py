"""`delibsim score`, `export` and `show` of a study whose statements were coded."""

import csv

from coded_study import MODELS, keep_task, samples_of

from delibsim import Runs
from delibsim.asking.texts import texts_of
from delibsim.store.files import append_line


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_codes_are_scored_and_exported_with_all_their_columns_in_the_codebook(delibsim, study):
    runs = Runs(study.parent.parent, "s")
    texts = texts_of(runs)
    codings = keep_task(runs, texts, unit="statement")
    for text in texts:
        for model in MODELS:
            codings.add(samples_of(text, "reasons", model, (2, 2, 1)))
    scored = delibsim("score", "s", "--scorer", "codes")
    assert (scored.code, scored.err) == (0, "")
    assert "Reasons (plain)" in scored.out
    answer = delibsim("export", "s", "--json")
    assert answer.code == 0, answer.err
    rows = answer.json["rows"]
    assert (rows["codes"], rows["samples"]) == (len(texts) * 5, len(texts) * 12)
    folder = runs.folder / "tables"
    known = {(row["table"], row["name"]) for row in table(folder / "codebook.csv")}
    for name in ("codes", "samples"):
        assert {(name, column) for column in table(folder / f"{name}.csv")[0]} <= known
    (row,) = [row for row in table(folder / "measures.csv") if row["scorer"] == "codes"]
    assert row["label"] == "Reasons (plain)"


def test_codes_stand_below_what_was_said(delibsim, study):
    runs = Runs(study.parent.parent, "s")
    first, *_ = texts_of(runs)
    codings = keep_task(runs, texts_of(runs), unit="statement")
    for model in MODELS:
        given = (None, None, 1) if model == "d" else (2, 2, 1)
        codings.add(samples_of(first, "reasons", model, given))
    answer = delibsim("show", "s", "--no-answers")
    told = "plain.reasons: ensemble 2, a 2, b 2, c 2, d none (too_few_samples)"
    assert answer.code == 0
    assert answer.out.count(told) == answer.out.count("plain.reasons") == 1


def test_a_damaged_line_of_codes_is_told_and_the_others_are_scored_and_exported(delibsim, study):
    runs = Runs(study.parent.parent, "s")
    texts = texts_of(runs)
    codings = keep_task(runs, texts, unit="statement")
    for text in texts:
        codings.add(samples_of(text, "reasons", "a", (2, 2, 1)))
    append_line(codings.files.annotations, {"text": "lost"})
    told = "annotations.jsonl: 1 damaged line"
    for words in (("score", "s", "--scorer", "codes"), ("export", "s")):
        answer = delibsim(*words)
        assert (answer.code, told in answer.out + answer.err) == (3, True), answer.err


def test_a_code_of_a_dimension_that_the_scheme_does_not_know_is_exported_without_a_place(
    delibsim, study
):
    runs = Runs(study.parent.parent, "s")
    (text, *_) = texts = texts_of(runs)
    codings = keep_task(runs, texts, unit="statement")
    codings.add(samples_of(text, "reasons", MODELS[0], (2, 2)))
    codings.add(samples_of(text, "<b>", MODELS[0], (2, 2)))
    assert delibsim("export", "s", "-o", "ex").code == 0
    places = [row["place"] for row in table(study.parent.parent.parent / "ex" / "samples.csv")]
    assert places == ["3", "3", "", ""]
