"""Correlations of pairs: as scipy computes them, and the index is their mean."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from delibsim.analysis.study.pair_correlations import pair_correlations, people_pair_correlations
from delibsim.measures.dri import pair_index
from delibsim.scorers.arrays import considerations, preferences
from delibsim.scorers.dri import DRI
from delibsim.testing import a_run


def test_each_pair_has_the_correlations_of_scipy_and_their_mean_index_is_the_scorers():
    run = a_run()
    rows = pair_correlations([run]).rows
    for phase in ("pre", "post"):
        own = rows[rows["phase"] == phase]
        rated, ranked = considerations(run, phase), preferences(run, phase)
        n = len(rated)
        assert len(own) == n * (n - 1) / 2
        first = spearmanr(rated[0], rated[1]).statistic
        second = spearmanr(ranked[0], ranked[1]).statistic
        assert own["considerations"].iloc[0] == pytest.approx(first)
        assert own["preferences"].iloc[0] == pytest.approx(second)
        index = pair_index(own["considerations"].to_numpy(), own["preferences"].to_numpy()).mean()
        scores = {(s.measure, s.phase): s.value for s in DRI().score([run])}
        assert index == pytest.approx(scores["dri", phase])


def test_nothing_that_has_no_answers_gives_pairs():
    nothing = pair_correlations([])
    assert not nothing.given
    assert nothing.rows.empty
    assert nothing.detail
    assert not people_pair_correlations({}, ["ccps"]).given


def test_a_group_without_an_index_has_a_row_with_its_reason():
    run = a_run()
    silent = run.session.participants[0].id
    kept = []
    for response in run.responses:
        answers = {} if response.participant == silent else response.answers
        kept.append(replace(response, answers=answers))
    rows = pair_correlations([replace(run, responses=tuple(kept))]).rows
    assert rows["note"].tolist() == ["missing_answer"] * 2
    assert np.isnan(rows["considerations"]).all()
