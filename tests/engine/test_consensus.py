"""A collective statement: who is asked what after the last survey, who wins, and what is missing."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick

from delibsim import compose
from delibsim.domain.consensus import MEDIATOR, Candidate, ConsensusVote, Ranking
from delibsim.domain.errors import WrongInput
from delibsim.engine.check import check
from delibsim.engine.consensus import winner_of
from delibsim.models.base import Completion
from delibsim.planning.costing import calls_of
from delibsim.planning.dry_run import dry_run
from delibsim.prompts.forms.survey import RankingForm
from delibsim.store.codec import run_from_json, run_to_json

SOUGHT = ("topic=acp", "consensus=schulze", "seed=3")


@pytest.fixture(scope="module")
def rule(tmp_path_factory):
    """The rule of the preset."""
    found = compose(*SOUGHT, home=tmp_path_factory.mktemp("home")).consensus
    assert found is not None
    return found


@pytest.fixture
def sought(session_of, rule):
    """A small session that seeks a statement, with changes of the rule."""

    def make(**changes):
        return replace(session_of(3, 1), consensus=replace(rule, **changes))

    return make


def occasions(voice):
    asked = [prompt.purpose for prompt in voice.prompts()]
    return [(one.participant, one.occasion) for one in asked if one.attempt == 0]


async def test_nothing_that_is_asked_before_changes_by_a_letter(session_of, sought, held):
    without, voice = await held(session_of(3, 1))
    run, other = await held(sought())
    before = len(voice.prompts())
    assert [prompt.text for prompt in other.prompts()[:before]] == [
        prompt.text for prompt in voice.prompts()
    ]
    assert (run.responses, run.transcript) == (without.responses, without.transcript)
    assert without.consensus is None
    assert run.consensus.statement.text


async def test_the_last_statement_may_be_the_position_and_the_critique_be_left_out(sought, held):
    run, voice = await held(sought(position="last_statement", critique=False, candidates=2))
    found = run.consensus
    assert [one.text for one in found.positions] == [
        next(said.text for said in run.transcript if said.turn.speaker == one.participant)
        for one in found.positions
    ]
    assert found.second is None
    assert not found.critiques
    assert {occasion for _, occasion in occasions(voice)[-5:]} == {
        "candidate 1",
        "candidate 2",
        "vote 1",
    }


async def test_no_treatment_is_told_and_the_mediator_reads_no_names(sought, held):
    session = sought()
    told = replace(session.treatment, instructions="Speak in the name of the river.")

    def written(prompt):
        return "I want it so." if prompt.purpose.occasion in ("position", "critique") else None

    _, voice = await held(replace(session, treatment=told), written)
    for prompt in voice.prompts():
        occasion = prompt.purpose.occasion
        if not occasion.startswith("turn"):
            assert "name of the river" not in prompt.text
        if prompt.purpose.participant == MEDIATOR:
            assert "Participant" not in prompt.text


async def test_everybody_sees_the_statements_in_an_order_of_its_own_and_ballots_are_mapped_back(
    sought, held
):
    run, voice = await held(sought(candidates=4))
    vote = run.consensus.first
    assert len({ranking.order for ranking in vote.rankings}) > 1
    texts = {candidate.id: candidate.text for candidate in vote.candidates}
    for ranking in vote.rankings:
        (prompt,) = voice.prompts(ranking.participant, "vote 1")
        places = [prompt.text.index(" ".join(texts[id].split())) for id in ranking.order]
        assert places == sorted(places)


def refusing(*refused):
    """A script in which these occasions end in a refusal."""

    def script(prompt):
        purpose = prompt.purpose
        if (purpose.participant, purpose.occasion) in refused or purpose.occasion in refused:
            return Completion("", "refusal", "the model declined", model_requested="citizen")
        return None

    return script


async def test_a_refused_ballot_is_missing_and_the_others_decide(sought, held):
    run, _ = await held(sought(), refusing(("Participant 2", "vote 1")))
    vote = run.consensus.first
    (missing,) = [ranking for ranking in vote.rankings if ranking.missing]
    assert (missing.participant, missing.missing.code) == ("Participant 2", "refusal")
    assert len(vote.cast) == 2
    assert vote.winner
    assert run.status == "partial"
    (gap,) = run.gaps
    assert (gap.participant, gap.occasion, gap.what) == ("Participant 2", "vote 1", "ballots")


async def test_without_a_ballot_there_is_no_winner(sought, held):
    run, voice = await held(sought(), refusing("vote 1"))
    assert run.consensus.first.winner == ""
    assert run.consensus.statement is None
    assert not [prompt for prompt in voice.prompts() if prompt.purpose.occasion == "critique"]


async def test_without_a_statement_nobody_votes_and_without_a_position_nobody_writes(sought, held):
    run, voice = await held(sought(candidates=1), refusing((MEDIATOR, "candidate 1")))
    assert run.consensus.first.candidates[0].missing.code == "refusal"
    assert [gap.what for gap in run.gaps] == ["candidates"]
    assert not run.consensus.first.rankings
    run, voice = await held(sought(), refusing("position"))
    assert {one.missing.code for one in run.consensus.first.candidates} == {"no_positions"}
    assert not voice.prompts(MEDIATOR)


async def test_a_run_is_read_back_as_it_was_written(sought, held):
    run, _ = await held(sought(), refusing(("Participant 1", "critique")))
    assert run_from_json(run_to_json(run)) == run


@pytest.mark.parametrize("more", [(), ("consensus.critique=false",), ("treatment=none",)])
async def test_an_estimate_counts_the_calls_that_are_made(more, tmp_path):
    session = compose(*SOUGHT, *more, home=tmp_path)
    assert await calls_of(session) == await dry_run(session)


def test_a_mediator_that_no_participant_speaks_by_is_made_and_counts_in_no_condition(tmp_path):
    session = compose(*SOUGHT, "consensus.mediator=citizen_open", home=tmp_path)
    assert list(session.models) == ["citizen"]
    assert list(session.voices) == ["citizen", "citizen_open"]
    assert session.mediator == "citizen_open"


def test_debates_and_wrong_settings_are_refused(tmp_path):
    with pytest.raises(WrongInput, match="the sides of a debate seek no collective statement"):
        check(compose("format=debate", "motion=voting", "consensus=schulze", home=tmp_path))
    with pytest.raises(WrongInput, match="candidates must be from 1 to 26, not 0"):
        compose(*SOUGHT, "consensus.candidates=0", home=tmp_path)
    with pytest.raises(WrongInput, match=r"\$word is not filled in there"):
        check(compose(*SOUGHT, "consensus.texts.write=Use $word words", home=tmp_path))


def vote_of(*ballots):
    """A vote in which each ballot names the candidates from the best to the worst."""
    candidates = tuple(Candidate(name, name) for name in sorted(ballots[0]))
    rankings = []
    for number, ballot in enumerate(ballots):
        ranks = {name: place for place, name in enumerate(ballot, 1)}
        rankings.append(Ranking(f"Participant {number}", ranks, dict.fromkeys(ranks, 4)))
    return ConsensusVote(candidates, tuple(rankings))


def test_the_example_of_schulze_is_won_by_e():
    counts = "ACBED 5, ADECB 5, BEDAC 8, CABED 3, CAEBD 7, CBADE 2, DCEBA 7, EBADC 8"
    ballots = []
    for ballot, n in map(str.split, counts.split(", ")):
        ballots += [ballot] * int(n)
    assert winner_of(vote_of(*ballots), 1) == ("E", "schulze")


def test_among_those_tied_a_drawn_ballot_decides():
    tied = vote_of("AB", "BA")
    found = {winner_of(tied, seed) for seed in range(20)}
    assert found == {("A", "ballot"), ("B", "ballot")}
    assert winner_of(tied, 5) == winner_of(tied, 5)


@quick
@given(st.lists(st.permutations("ABCD"), min_size=1, max_size=7), st.integers(0, 5))
def test_a_candidate_that_beats_all_others_wins(ballots, seed):
    vote = vote_of(*map("".join, ballots))
    for name in "ABCD":
        beaten = 0
        for other in set("ABCD") - {name}:
            ahead = sum(one.ranks[name] < one.ranks[other] for one in vote.rankings)
            beaten += ahead > len(ballots) - ahead
        if beaten == 3:
            assert winner_of(vote, seed) == (name, "schulze")


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("R1: 1\nA1: 4\nA2: 5", "R2 is missing"),
        ("R1: 1\nR2: 1\nA1: 4\nA2: 5", "do not use each of 1 to 2 exactly once"),
        ("R1: 1\nR2: 2\nA1: 8\nA2: 5", "A1 has 8, outside 1 to 7"),
        ("R1: 1\nR2: 2\nA1: 4-5\nA2: 5", "A1 has '4-5', which is not a whole number"),
    ],
)
def test_a_ballot_that_leaves_something_out_is_no_ballot(reply, fault):
    with pytest.raises(ValueError, match=fault):
        RankingForm(2).read(reply)
