"""Scores of a collective statement, worked by hand."""

from dataclasses import replace

import pytest
from scipy.stats import friedmanchisquare

from delibsim.domain.consensus import Candidate, Consensus, ConsensusVote, Contribution, Ranking
from delibsim.domain.reason import Reason
from delibsim.measures.schulze import concordance
from delibsim.scorers.consensus import ConsensusScorer
from delibsim.testing import a_run

FIRST = ConsensusVote(
    (Candidate("c1", "One."), Candidate("c2", "Two.")),
    (
        Ranking("Ann", {"c1": 1, "c2": 2}, {"c1": 6, "c2": 3}),
        Ranking("Bob", {"c1": 1, "c2": 2}, {"c1": 4, "c2": 4}),
        Ranking("Cem", {"c1": 2, "c2": 1}, {"c1": 2, "c2": 7}),
    ),
    "c1",
    "schulze",
)
SECOND = ConsensusVote(
    (
        Candidate("c1", "One."),
        Candidate("r1", "Better."),
        Candidate("r2", missing=Reason("length")),
    ),
    (
        Ranking("Ann", {"c1": 2, "r1": 1}, {"c1": 6, "r1": 7}),
        Ranking("Bob", {"c1": 2, "r1": 1}, {"c1": 4, "r1": 5}),
        Ranking("Cem", missing=Reason("refusal")),
    ),
    "r1",
    "schulze",
)


def scored(consensus):
    run = replace(a_run(), consensus=consensus)
    found = ConsensusScorer().score([run])
    values = {}
    for score in found:
        name = score.measure.removeprefix("consensus.")
        values[(name, *score.target.split("/")[1:])] = score.note or score.value
    return values


def test_every_measure():
    # Last vote: r1 has 7 and 5 of those who voted; both rank alike. First vote: c1 has 6, 4, 2.
    assert scored(Consensus((), FIRST, (), SECOND)) == {
        ("agreement",): 6,
        ("agreement_before",): 4,
        ("least",): 5,
        ("agreeing",): 1,
        ("left_out",): 0,
        ("concordance",): 1,
        ("condorcet",): 1,
        ("extractive",): "no_positions",
        ("agreement", "Ann"): 7,
        ("agreement", "Bob"): 5,
    }


def test_without_a_critique_the_first_vote_is_the_last():
    # Rank sums 4 and 5 of three voters: W = 12 (0.25 + 0.25) / (9 x 6) = 1/9.
    found = scored(Consensus((), FIRST))
    assert found["agreement",] == found["agreement_before",] == 4
    assert (found["agreeing",], found["left_out",]) == pytest.approx((1 / 3, 1 / 3))
    assert found["concordance",] == pytest.approx(1 / 9)


def test_what_is_missing_has_no_value():
    nobody = replace(FIRST, winner="", decided="", rankings=(Ranking("Ann", missing=Reason("x")),))
    said = (Contribution("Ann", "We wait."),)
    assert set(scored(Consensus(said, nobody)).values()) == {"no_votes"}
    nothing = ConsensusVote((Candidate("c1", missing=Reason("refusal")),))
    assert set(scored(Consensus(said, nothing)).values()) == {"no_candidates"}
    assert ConsensusScorer().score([a_run()]) == []


def test_a_statement_of_copied_sentences_has_no_distance_and_one_of_other_words_has_all():
    said = [Contribution("Ann", "Rivers need wide banks."), Contribution("Bob", "Walls hold.")]
    for text, distance in (("Rivers need wide banks. Walls hold.", 0), ("Trams run.", 1)):
        first = replace(FIRST, candidates=(Candidate("c1", text), *FIRST.candidates[1:]))
        found = scored(Consensus(tuple(said), first))
        assert found["extractive",] == pytest.approx(distance, abs=1e-12)


def test_concordance_is_that_of_friedmans_test():
    ranks = [[1, 2, 3, 4], [2, 1, 4, 3], [1, 3, 2, 4], [4, 1, 2, 3], [1, 2, 4, 3]]
    statistic, _ = friedmanchisquare(*zip(*ranks, strict=True))
    assert concordance(ranks) == pytest.approx(statistic / (5 * 3), abs=1e-12)
