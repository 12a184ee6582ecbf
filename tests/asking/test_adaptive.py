"""Choosing batches by what is known: what a batch may hold, and when it ends."""

import random
from dataclasses import replace

import numpy as np
import pytest

from delibsim.asking.designs import Chain, Known, next_step
from delibsim.domain.comparison import Batch, Stop, Vote
from delibsim.domain.reason import Reason
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.uncertainty import uncertainty

IDS = [f"t{n:02}" for n in range(30)]
TRUTH = dict(zip(IDS, np.random.default_rng(5).normal(0, 2, 30).tolist(), strict=True))
CHAIN = Chain(
    "logical", {"x": IDS[:18], "y": IDS[18:29], "alone": IDS[29:]}, ("s", 1), 14, 0.2, "one", 16
)


def judged(sheets, seed=1):
    """Votes of the model of Rao and Kupper, place bias 0.4 and threshold 0.3."""
    found = []
    for sheet in sheets:
        d = TRUTH[sheet.a] - TRUTH[sheet.b] + 0.4
        draw = random.Random(f"{sheet.id} {seed}").random()
        won, lost = 1 / (1 + np.exp(0.3 - d)), 1 / (1 + np.exp(0.3 + d))
        outcome = "a" if draw < won else "b" if draw < won + lost else "tie"
        found.append(Vote(sheet, "judge", "logical", outcome))
    return found


@pytest.fixture(scope="module")
def course():
    """All batches, the votes on them, and what ended them."""
    batches, votes = [], []
    while isinstance(step := next_step(CHAIN, batches, votes), Batch):
        batches.append(step)
        votes += judged(step.sheets)
    return batches, votes, step


def test_a_ring_comes_first_and_then_what_teaches_most_beside_probe_pairs(course):
    batches, votes, stop = course
    assert (len(batches[0].drawn), len(batches[0].chosen)) == (18 + 11, 0)
    assert all(len(batch.drawn) == round(0.2 * batch.size) for batch in batches[1:])
    pairs = [pair for batch in batches for pair in batch.pairs]
    assert len(pairs) == len(set(pairs)) == len(votes) == CHAIN.most == 18 * 8 + 55
    assert {pair.group for pair in pairs} == {"x", "y"}
    assert all(IDS.index(pair.one) // 18 == IDS.index(pair.other) // 18 for pair in pairs)
    assert (stop.told, stop.batches, stop.votes) == ("per_text:16", len(batches), len(votes))
    for batch in batches[1:]:
        places = [id for sheet in batch.chosen for id in (sheet.a, sheet.b)]
        assert max(map(places.count, places)) <= np.ceil(2 * batch.size / 29)


def test_the_expected_correlation_is_near_the_one_with_the_truth(course):
    batches, votes, stop = course
    found = Known(CHAIN, batches, votes).found.fit.scores
    truth = np.array([TRUTH[id] for id in CHAIN.ids])
    for place in (CHAIN.group == 0, CHAIN.group == 1):
        truth[place] -= truth[place].mean()
    reached = np.corrcoef(found, truth)[0, 1]
    assert stop.r_fit == pytest.approx(reached, abs=0.04)
    assert stop.r_probe == pytest.approx(reached, abs=0.06)
    assert stop.r == min(stop.r_fit, stop.r_probe)


def test_the_first_rule_that_holds_ends_it(course):
    batches, votes, _ = course
    rules = [{"se": 9.0}, {"se": 0.001, "r": 0.2}, {"r": 0.999, "usd": 0.01}]
    steps = [next_step(replace(CHAIN, until=until), batches[:9], votes[:150]) for until in rules]
    assert [step.told if isinstance(step, Stop) else "on" for step in steps] == [
        "se:9",
        "r:0.2",
        "on",
    ]


def test_nothing_is_chosen_by_votes_that_say_nothing():
    first = next_step(CHAIN, [], [])
    votes = [
        Vote(sheet, "judge", "logical", None, missing=Reason("refusal")) for sheet in first.sheets
    ]
    assert next_step(CHAIN, [first], votes).told == "no_votes"


def test_two_texts_in_both_orders_are_all_there_is():
    chain = Chain("logical", {"": IDS[:2]}, ("s", 1), 5, 0.2, "both", 10)
    first = next_step(chain, [], [])
    assert first.drawn[0] == first.drawn[1].turned
    assert next_step(chain, [first], judged(first.sheets)).told == "all"


def test_texts_that_are_told_apart_end_it():
    chain = Chain("logical", {"": IDS[:4]}, ("s", 1), 2, 0.2, "one", 10, {"apart": 1.0})
    first = next_step(chain, [], [])
    votes = []
    for sheet in first.sheets:
        gap = IDS.index(sheet.b) - IDS.index(sheet.a)
        wins = round(300 / (1 + np.exp(-1.5 * gap)))
        for run in range(1, 301):
            votes.append(Vote(sheet, "judge", "logical", "a" if run <= wins else "b", run))
    assert isinstance(next_step(chain, [first], votes[:4]), Batch)
    stop = next_step(chain, [first], votes)
    assert (stop.told, stop.apart) == ("apart:1", 1.0)


@pytest.mark.parametrize("said", ["a", "tie"])
def test_a_judge_who_always_says_the_same_ends_nothing_before_all_is_asked(said):
    chain = Chain("logical", {"": IDS[:6]}, ("s", 1), 4, 0.2, "one", 4, {"r": 0.1})
    batches, votes = [], []
    while isinstance(step := next_step(chain, batches, votes), Batch):
        batches.append(step)
        votes += [Vote(sheet, "judge", "logical", said) for sheet in step.sheets]
    assert step.told == "per_text:4"
    assert step.r is None or step.r < 0.5


def test_errors_are_those_of_the_random_part_which_rules_rest_on(course):
    batches, votes, stop = course
    known = Known(CHAIN, batches, votes)
    drawn = {sheet.pair for batch in batches for sheet in batch.drawn}
    own = Known(CHAIN, batches, [vote for vote in votes if vote.sheet.pair in drawn])
    alone = uncertainty(fit(own.counts, Model(order=True)))
    assert known.random.scores == pytest.approx(alone.scores)
    assert stop.se == pytest.approx(alone.scores.mean())
    assert stop.se > 1.5 * known.found.scores.mean()
    none = Known(replace(CHAIN, probe=0.0), batches, votes)
    assert none.random is None
    assert np.isnan(none.value("se"))
    assert np.isnan(none.value("apart"))


def drawn_anew(seed, n=30, most=8):
    """How many intervals hold the truth at the end of a course, by all votes and by the random
    part.
    """
    ids = [f"t{number:02}" for number in range(n)]
    truth = np.random.default_rng([seed, 1]).normal(0, 1, n)
    rng = np.random.default_rng([seed, 2])
    chain = Chain("logical", {"": ids}, ("s", seed), 15, 0.3, "one", most)
    batches, votes = [], []
    while isinstance(step := next_step(chain, batches, votes), Batch):
        batches.append(step)
        for sheet in step.sheets:
            d = truth[ids.index(sheet.a)] - truth[ids.index(sheet.b)] + 0.4 + rng.logistic()
            outcome = "a" if d > 0.3 else "b" if d < -0.3 else "tie"
            votes.append(Vote(sheet, "judge", "logical", outcome))
    known = Known(chain, batches, votes)
    found = []
    for errors in (uncertainty(fit(known.counts, Model(order=True))), known.random):
        ends = errors.score_intervals()
        found.append(((ends.low < truth - truth.mean()) & (truth - truth.mean() < ends.high)).sum())
    return found


def test_intervals_of_the_random_part_hold_the_truth_and_those_of_all_votes_do_not():
    every, random = np.mean([drawn_anew(seed) for seed in range(8)], axis=0) / 30
    assert every < 0.9
    assert random > 0.93
