"""The methods of a study: they say what was held, and nothing that was not."""

from dataclasses import replace

import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.methods import methods, model_in_words
from delibsim.analysis.study.record import Asked
from delibsim.analysis.study.study_table import Draws

DRAWS = Draws(permutations=3_000, resamples=2_000, parametric=400, seed=5)


def test_the_methods_of_a_study_say_how_it_was_held(rounds_study, rounds_record):
    design, procedure, models, software, analysis = methods(rounds_study, DRAWS, rounds_record)
    assert "2 topics (acp, ccps); 1 set-up (citizen); 2 treatments (none, normative)" in design
    assert "2 further settings (rounds=1; rounds=3); 2 replicates: 12 sessions" in design
    assert "compared in pairs" in design
    assert "normative (1 or 3 rounds of speech)" in procedure  # its preset has 2
    assert "none (no speech)" in procedure
    assert "No personas were given. The seed of the study is 7;" in procedure
    assert models.startswith("All participants were embedded citizens (citizen)")
    assert f"delibsim {rounds_record.versions['delibsim']}" in software
    for said in ("flipping the signs of all differences of a draw (3,000", "(2,000 resamples)"):
        assert said in analysis
    assert "Seed of all draws: 5." in analysis


@pytest.mark.parametrize(
    ("rounds", "said"), [(1, "1 round of speech"), (None, "rounds of speech not known")]
)
def test_rounds_are_those_of_the_sessions(rounds_study, rounds_record, rounds, said):
    rows = rounds_study.rows.assign(rounds=rounds)
    told = methods(replace(rounds_study, rows=rows), DRAWS, rounds_record)[1]
    assert f"normative ({said})" in told


def test_a_table_alone_says_that_nothing_is_recorded():
    study = replace(synthetic_study(topics=2, models=1, replicates=1), paired=False)
    design, unknown, analysis = methods(study, DRAWS, None)
    assert "1 replicate: 6 sessions in all" in design
    assert "share nothing" in design
    assert "is not recorded in it" in unknown
    assert "permuting labels (3,000 where not all can be listed)" in analysis


def test_a_model_in_words_says_what_is_known_and_what_is_not():
    asked = Asked("m", {"kind": "openai", "model": "big", "temperature": 0.7, "seed": None})
    assert model_in_words(asked) == (
        "m: requested big, under which name it answered is not recorded; stated in its preset:"
        " temperature 0.7."
    )
    known = replace(asked, returned=("big-1",), sent={"max_tokens": 9}, dropped=("temperature",))
    assert model_in_words(known) == (
        "m: requested big, answered as big-1; sent with a recorded call: max_tokens 9; no"
        " temperature was sent; requested and not taken by the provider: temperature."
    )
