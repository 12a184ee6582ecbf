"""The report on codes with samples and people: corrected means, cost, failures, planted cases."""

from dataclasses import replace

import numpy as np
import pytest
from coded_study import MODELS, coded_study, keep_task, samples_of, texts_study

from delibsim.analysis.coding.agreement import notes_on_pairs, pairs
from delibsim.analysis.coding.codes import coded_study as study_of
from delibsim.analysis.coding.costs import costs, refusals
from delibsim.analysis.coding.levels import calibration, calibration_scores, corrected
from delibsim.analysis.coding.report import CodeReportSettings, remarks_on
from delibsim.analysis.result import make_table
from delibsim.conduct.code_report import report_on_codes
from delibsim.domain.coding import Code
from delibsim.domain.errors import WrongInput
from delibsim.domain.score import ENSEMBLE
from delibsim.measures.corrected import corrected as estimator
from delibsim.measures.corrected import units
from delibsim.store.coded import SchemeCodes


def with_samples(root, ensemble, people, packs=None, draw=None):
    """A study of two models whose samples have these levels, and what people gave."""
    runs, texts = texts_study(root, len(ensemble))
    codings = keep_task(runs, texts, models=("a", "b"), samples=1)
    for text, level in zip(texts, ensemble, strict=True):
        for model in ("a", "b"):
            codings.add(samples_of(text, "reasons", model, (int(level),)))
    for text, level in zip(texts, people, strict=True):
        if level != ".":
            pack = (packs or {}).get(text.id, "")
            codings.add(
                [Code(text.id, "reasons", "Ann", "human", int(level), pack=pack)], people=True
            )
    return study_of("s", SchemeCodes.of(codings), texts, draw)


def row_of(name, rows, **cells):
    table = make_table(f"codes/{name}", rows).plain()
    (row,) = [row for row in table if cells.items() <= row.items()]
    return row


def means(study, columns=(), **cells):
    return row_of("corrected_means", corrected(study, columns, []), **cells)


def drawn(chances, kind="sample"):
    """A pack of these texts, and which text came by it."""
    return {"r": {"kind": kind, "texts": chances, "random": []}}, dict.fromkeys(chances, "r")


def test_means_are_those_of_the_estimator_with_a_column_a_model(tmp_path):
    draw, packs = drawn({f"t{i}": 8 / 28 for i in range(1, 9)})
    models = "2110222122101220112210221201"
    study = with_samples(tmp_path, models, "21202122" + "." * 20, packs, draw)
    people = means(study, of="level", row="people")
    assert (people["estimate"], people["n"]) == (1.5, 8)
    alone = means(study, of="level", row="models")
    assert (alone["estimate"], alone["note"]) == (pytest.approx(36 / 28), "not valid by itself")
    both = means(study, of="level", row="corrected")
    groups = [study.texts[text].group or text for text in study.dimensions[0].texts]
    codes = np.array([float(level) for level in models])
    read = np.array([*map(float, "21202122"), *[np.nan] * 20])
    own = units(np.ones((28, 1)), codes, read, np.full(28, 8 / 28), groups)
    expected = estimator(own, [1.0])
    assert both["estimate"] == pytest.approx(expected.estimate, abs=1e-12)
    shares = [means(study, of=f"share of {i}", row="people")["estimate"] for i in range(3)]
    assert sum(shares) == pytest.approx(1)


def test_a_text_that_was_read_before_a_draw_belongs_to_it(tmp_path):
    draw = drawn({"t1": 1.0, "t2": 0.5}, "review")[0]
    study = with_samples(tmp_path, "0000", "21..", {"t2": "r"}, draw)
    row = means(study, of="level", row="people")
    assert row["estimate"] == pytest.approx((2 / 1 + 1 / 0.5) / 3)  # by hand


def test_codes_of_peoples_own_choice_are_refused_with_the_command_that_draws(tmp_path):
    with pytest.raises(WrongInput, match="delibsim code handout"):
        means(with_samples(tmp_path, "0000", "11.."))


def test_texts_drawn_by_doubt_do_not_count_as_agreement(tmp_path):
    chances = [0.2, 0.7, 0.2, 0.3875, 0.825, 0.2, 0.325, 0.7, 0.2, 0.2625]
    draw, packs = drawn({f"t{i}": chance for i, chance in enumerate(chances, 1)}, "review")
    draw["r"]["random"] = ["t2"]
    study = with_samples(tmp_path, "2102120122", ".2..1..1.1", packs, draw)
    weights = 1 / np.array([0.7, 0.825, 0.7, 0.2625])
    row = means(study, of="level", row="people")
    assert row["estimate"] == pytest.approx(weights @ [2, 1, 1, 1] / weights.sum())
    (fair,) = study.fair
    assert row_of("pairs", pairs(fair), a=ENSEMBLE, b="Ann")["texts"] == 1
    assert "drawn by doubt" in notes_on_pairs(study)[0]


def test_a_draw_that_came_back_incomplete_is_told_with_counts(tmp_path):
    draw, packs = drawn({"t1": 0.2, "t2": 0.5, "t3": 0.5}, "review")
    notes = []
    study = with_samples(tmp_path / "a", "0000", "11..", packs, draw)
    list(corrected(study, [], notes))
    assert notes == ["reasons: 1 drawn text without a code of people, as if not drawn"]
    notes.clear()
    list(corrected(with_samples(tmp_path / "b", "0000", "111.", packs, draw), [], notes))
    assert notes == []


def test_a_text_that_was_edited_since_has_no_code_that_counts(tmp_path):
    draw, packs = drawn({f"t{i}": 1.0 for i in range(1, 5)})
    study = with_samples(tmp_path, "0122", "0121", packs, draw)
    words = replace(study.texts["t4"], text="Something else.")
    texts = [words if id == "t4" else text for id, text in study.texts.items()]
    edited = study_of("s", study.coded, texts, draw)
    assert edited.edited == ["t4"]
    assert means(edited, of="level", row="people")["estimate"] == 1.0
    assert means(edited, of="level", row="models")["n"] == 3


def test_means_are_given_by_the_parts_of_a_column(tmp_path):
    draw, packs = drawn({f"t{i}": 1.0 for i in range(1, 5)})
    study = with_samples(tmp_path, "0122", "0121", packs, draw)
    row = means(study, ["year"], of="level", part="2020", row="people")
    assert (row["by"], row["n"]) == ("year", 2)
    assert means(study, of="level", part="", row="people")["estimate"] == 1.0


def test_calibration_has_a_row_a_bin_and_says_when_texts_are_few(tmp_path):
    study = with_samples(tmp_path, "0122", "0121")
    (own,) = study.dimensions
    rows = [row for row in calibration(own) if row["by"] == "stability"]
    assert [row["texts"] for row in rows] == [0, 0, 0, 0, 4]
    assert (rows[4]["agrees"], rows[4]["confidence"]) == (0.75, 1.0)
    row = row_of("calibration_scores", calibration_scores(own), by="stability")
    assert (row["brier"], row["calibration_error"], row["note"]) == (0.25, 0.25, "too_few_texts")


def test_refusals_are_told_by_the_level_that_the_others_give(tmp_path):
    runs, texts = texts_study(tmp_path, 4)
    codings = keep_task(runs, texts, samples=1)
    for text, level in zip(texts, (0, 0, 2, 2), strict=True):
        for model in MODELS:
            refused = model == "d" and level == 0
            codings.add(samples_of(text, "reasons", model, (None if refused else level,)))
    result = refusals(study_of("s", SchemeCodes.of(codings), texts))
    lowest, highest = (row_of("refusals", result, model="d", level=level) for level in (0, 2))
    assert (lowest["refused"], lowest["share_refused"]) == (2, 1.0)
    assert (highest["refused"], highest["samples"]) == (0, 2)


def test_costs_are_by_text_and_by_usable_code(tmp_path):
    study = with_samples(tmp_path, "0122", "....")
    known = {"usage": {"cost_usd": 0.02, "input_tokens": 100, "output_tokens": 10}}
    records = []
    for model, completion in (("a", known), ("a", known), ("b", {"usage": {}})):
        call = {"purpose": {"participant": model}, "completion": completion | {"status": "ok"}}
        records.append(call | {"seconds": 0.5})
    result = list(costs(study, records))
    paid, unknown = (row_of("costs", result, model=model) for model in "ab")
    assert (paid["cost_usd"], paid["cost_per_text"], paid["cost_per_code"]) == (0.04, 0.01, 0.01)
    assert (paid["input_tokens"], paid["seconds"]) == (200, 1.0)
    assert (unknown["cost_usd"], unknown["input_tokens"]) == (None, None)


# the report


def test_settings_without_effect_and_replies_that_came_twice_are_told():
    done = {"status": "ok", "text": "x", "response_id": "r1", "parameters_dropped": ["temperature"]}
    told = list(remarks_on([{"model": "a", "completion": done}] * 2))
    assert told[0] == "temperature: requested, and without effect on a."
    assert told[1].startswith("2 calls came with the response id of another (r1)")
    dated = {"status": "ok", "model_requested": "a-1", "model_returned": "a-1-old"}
    (said,) = remarks_on([{"model": "a", "completion": dated}] * 2)
    assert said == "a was answered as a-1-old."


def test_one_model_is_not_compared_with_the_ensemble_that_it_is(tmp_path):
    runs, texts = texts_study(tmp_path, 6)
    codings = keep_task(runs, texts, models=("a",), samples=1)
    for i, text in enumerate(texts):
        codings.add(samples_of(text, "reasons", "a", [i % 3]))
    codings.add((Code(text.id, "reasons", "Ann", "human", 1) for text in texts), people=True)
    results = report_on_codes(runs, "", CodeReportSettings()).results
    compared = [(row["a"], row["b"]) for row in results["pairs"].plain()]
    assert compared == [(ENSEMBLE, "Ann"), ("a", "Ann")]
    assert "the ensemble is that model" in results["pairs"].notes[0]
    (row,) = results["certainty"].plain()
    assert (row["texts"], row["stability"], row["flips"], row["unanimous"]) == (6, None, None, None)


def test_doubt_tells_where_people_differ_if_it_does(tmp_path):
    runs, texts = texts_study(tmp_path, 6)
    codings = keep_task(runs, texts, models=("a", "b"), samples=2)
    for i, text in enumerate(texts):
        for model in ("a", "b"):
            codings.add(samples_of(text, "reasons", model, [0, 2] if i < 3 else [1, 1]))
        people = {"Ann": 1, "Ben": 2 if i in (0, 1, 3) else 1}
        codings.add(
            [Code(text.id, "reasons", who, "human", n) for who, n in people.items()], people=True
        )
    results = report_on_codes(runs, "", CodeReportSettings()).results
    entropy, *_ = results["foretold"].plain()
    assert (entropy["texts"], entropy["split"]) == (6, 3)
    assert entropy["area"] == pytest.approx(6 / 9), "2 x (.5 + 1 + 1) + (0 + .5 + .5) of nine pairs"
    assert entropy["low"] < entropy["area"] < entropy["high"]
    (row,) = results["certainty"].plain()
    assert row["samples_sd"] == pytest.approx(2**-0.5), "half of the texts have SD 0, half 2 ** .5"


def test_what_a_model_that_was_given_up_owes_is_told_with_its_number(tmp_path):
    runs, texts = texts_study(tmp_path, 6)
    codings = keep_task(runs, texts, samples=2)
    for model in MODELS:
        answered = texts[:2] if model == "d" else texts
        for text in answered:
            codings.add(samples_of(text, "reasons", model, [1, 1]))
    report = report_on_codes(runs, "", CodeReportSettings())
    (row,) = report.results["failures"].plain()
    assert (row["model"], row["reason"]) == ("d", "not_given")
    assert (row["missing"], row["samples"], row["share"]) == (8, 12, 8 / 12)
    assert any(line.startswith("Still to be given: 8 samples (d 8)") for line in report.told)


def test_texts_without_a_level_of_the_ensemble_are_told_with_their_reasons(tmp_path):
    runs, texts = texts_study(tmp_path, 4)
    codings = keep_task(runs, texts, models=("a", "b"), samples=1)
    for text, given in zip(texts, ("calm calm", "calm loud", "loud calm", ". ."), strict=True):
        for model, tone in zip("ab", given.split(), strict=True):
            level = None if tone == "." else tone
            codings.add(samples_of(text, "tone", model, [level]))
    report = report_on_codes(runs, "", CodeReportSettings())
    (row,) = report.results["certainty"].plain()
    assert (row["texts"], row["without"]) == (1, "tied 2, too_few_models 1")
    said = "tone: the ensemble has a level on 1 text, and only these count below"
    assert any(line.startswith(said) for line in report.told)


def test_a_report_of_models_alone_says_that_nobody_checked_them(tmp_path):
    report = report_on_codes(coded_study(tmp_path, 12, people=()), "", CodeReportSettings())
    assert report.results["equivalence"].why_not == "one_coder"
    assert "nothing says yet whether the ensemble is right" in report.told[-1]
    assert report.results["levels"].given


def test_a_report_of_people_alone_has_their_agreement(tmp_path):
    runs, texts = texts_study(tmp_path, 6)
    codings = keep_task(runs, texts, models=(), wordings=())
    for person in ("Ann", "Ben"):
        codings.add((Code(text.id, "reasons", person, "human", 1) for text in texts), people=True)
    codings.add([Code("t1", "reasons", "Cem", "human", 2, training=True)], people=True)
    report = report_on_codes(runs, "plain", CodeReportSettings())
    (row,) = report.results["pairs"].plain()
    assert (row["a"], row["b"], row["exact"]) == ("Ann", "Ben", 1.0)
    assert report.results["equivalence"].why_not == "no_models"
    assert "Cem" not in report.told[0]


def test_delta_is_given_without_each_model_by_other_rules_and_wordings(tmp_path):
    runs = coded_study(tmp_path, 24, wordings=("coding", "coding_a"))
    report = report_on_codes(runs, "", CodeReportSettings(column="year"))
    variants = set(report.results["robustness"].rows["variant"])
    assert {"without a", "rule mode", "wording coding_a", "as reported"} <= variants
