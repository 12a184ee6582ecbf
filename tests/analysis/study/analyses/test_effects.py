"""The mean of differences, beside scipy."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from delibsim.analysis.study.analyses.effects import mean_of, noted, one_sample_p
from delibsim.analysis.study.draws import Draws

DRAWS = Draws(resamples=300)


@pytest.mark.parametrize("size", [2, 11, 12])
def test_p_is_that_of_scipy(size):
    values = np.random.default_rng(size).normal(0.03, 0.06, size)
    assert one_sample_p(values) == pytest.approx(ttest_1samp(values, 0).pvalue, rel=1e-9)


def test_where_t_is_undefined_so_is_p():
    assert one_sample_p([0.0, 0.0]) == 1
    assert np.isnan([one_sample_p([0.1, 0.1, 0.1]), one_sample_p([0.1]), one_sample_p([])]).all()


def test_a_summary_says_what_it_could_not_compute():
    summary, note = mean_of([0.2, 0.2], "topic", DRAWS)
    assert note == "no_variance: all topics have the same difference"
    assert summary["estimate"] == summary["low"] == summary["high"] == 0.2
    summary, note = mean_of([], "model", DRAWS)
    assert (summary["n"], note.partition(":")[0]) == (0, "no_models")
    assert mean_of([0.1, -0.1], "topic", DRAWS)[1] == ""


def test_a_note_holds_the_sentences_that_there_are():
    assert noted("", "a", "", "b") == "a; b"
