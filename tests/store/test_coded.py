"""From samples to codes: levels, votes, and why a level is missing."""

import pytest
from coded_study import MODELS, REASONS, keep_task, samples_of, texts_study

from delibsim.domain.coding import Code
from delibsim.domain.reason import Reason
from delibsim.store.codec import Damaged
from delibsim.store.coded import SchemeCodes

R, NA = None, Reason("not_applicable")


def codes_of(root, given, dimension="reasons", **task):
    """The codes of the first text, by coder, where these are the samples of each model."""
    runs, texts = texts_study(root, 2)
    codings = keep_task(runs, texts, **task)
    for model, levels in zip(MODELS, given, strict=False):
        codings.add(samples_of(texts[0], dimension, model, levels))
    found = SchemeCodes.of(codings).codes()
    return {code.coder: code for code in found if code.text == "t1"}


def levels(codes):
    return [codes[coder].level for coder in ("ensemble", *MODELS)]


def test_a_model_has_its_lower_median_and_the_ensemble_that_of_the_models(tmp_path):
    codes = codes_of(tmp_path, [(0, 0, 1), (2, 2, 1), (1, 1, 1), (2, 0, 2)])
    assert levels(codes) == [1, 0, 2, 1, 2]
    assert (codes["ensemble"].votes, codes["a"].votes) == (4, 3)
    assert codes["ensemble"].kind == "ensemble"


def test_lost_samples_are_told_and_leave_fewer_votes(tmp_path):
    codes = codes_of(tmp_path, [(2, R, R), (2, R, 1), (1, 1, 1)])
    assert levels(codes) == [1, None, 1, 1, None]
    assert codes["a"].missing == Reason("too_few_samples", "1 of 3; refusal 2")
    assert codes["d"].missing == Reason("not_asked")
    assert codes["ensemble"].votes == 2


def test_a_model_that_was_asked_less_often_than_others_needs_half_of_its_own_samples(tmp_path):
    twenty = {"samples": 20, "samples_by_model": {"a": 5, "b": 5, "c": 20, "d": 20}}
    samples = [(2, 2, 1, 2, R), (2, 2, R, R, R), (1,) * 10 + (R,) * 10, (1,) * 9 + (R,) * 11]
    codes = codes_of(tmp_path, samples, **twenty)
    assert levels(codes) == [1, 2, None, 1, None]
    assert codes["b"].missing == Reason("too_few_samples", "2 of 5; refusal 3")
    assert codes["d"].missing == Reason("too_few_samples", "9 of 20; refusal 11")


def test_names_that_are_given_equally_often_have_no_level(tmp_path):
    samples = [("calm",) * 3, ("loud",) * 3, ("calm", "loud", R), ("calm", R, R)]
    codes = codes_of(tmp_path, samples, "tone")
    assert levels(codes) == [None, "calm", "loud", None, None]
    assert codes["c"].missing == Reason("tied")
    assert codes["ensemble"].missing == Reason("tied")


def test_a_dimension_that_does_not_apply_is_no_failure_of_a_model(tmp_path):
    runs, texts = texts_study(tmp_path, 1)
    codings = keep_task(runs, texts)
    for model in MODELS:
        samples = samples_of(texts[0], "reasons", model, (0, R, R))
        for sample in samples[1:]:
            object.__setattr__(sample, "missing", NA)
        codings.add(samples)
    found = {code.coder: code.missing for code in SchemeCodes.of(codings).codes()}
    assert found == dict.fromkeys(("ensemble", *MODELS), NA)


def test_texts_that_were_not_put_before_coders_and_codes_of_people_stand_beside(tmp_path):
    runs, texts = texts_study(tmp_path, 2)
    told = {"t2 reasons": "too_short: 4 words"}
    codings = keep_task(runs, texts, not_coded=told)
    codings.add(samples_of(texts[0], "reasons", "a", (1, 1, 1)))
    ann = Code("t1", "reasons", "Ann", "human", 2)
    codings.add([ann], people=True)
    codes = list(SchemeCodes.of(codings).codes())
    assert codes[-1] == ann
    assert codes[-2].missing == Reason("too_short", "4 words")
    assert codes[-2].text_sha256 == texts[1].sha256


def test_only_the_scored_wording_decides(tmp_path):
    runs, texts = texts_study(tmp_path, 1)
    codings = keep_task(runs, texts, wordings=("coding_a", "coding"))
    for model in MODELS:
        codings.add(samples_of(texts[0], "reasons", model, (0, 0, 0), "coding_a"))
        codings.add(samples_of(texts[0], "reasons", model, (2, 2, 2), "coding"))
    assert {code.level for code in SchemeCodes.of(codings).codes()} == {2}


def test_a_level_that_the_scheme_does_not_have_is_named(tmp_path):
    assert 7 not in REASONS.values
    with pytest.raises(Damaged, match=r"annotations\.jsonl: t1, a: reasons has no level 7"):
        codes_of(tmp_path, [(7, 7, 7)])
