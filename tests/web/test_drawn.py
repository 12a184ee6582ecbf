"""What a page shows of one run: who changed, how pairs agree, who names whom, scores of statements."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from delibsim.analysis.run.drawn import heard_in, item_shifts, of_statements, pairs_of
from delibsim.domain.reason import Reason
from delibsim.domain.score import MEASURES, Score
from delibsim.domain.treatment import Network
from delibsim.store.runs import Runs


@pytest.fixture
def run(held, spoken):
    return Runs(held, "s").run(spoken)


def lacking(run, person, item):
    """The run without one answer afterwards."""
    responses = []
    for response in run.responses:
        if (response.participant, response.phase) == (person, "post"):
            answers = {name: value for name, value in response.answers.items() if name != item}
            response = replace(response, answers=answers, missing={item: Reason("refusal")})
        responses.append(response)
    return replace(run, responses=tuple(responses))


def test_pairs_agree_with_scipy_and_their_mean_is_the_index(run):
    survey = run.session.survey
    for phase in pairs_of(run):
        distances = []
        for pair in phase.pairs:
            rows = [run.response(who, phase.phase).answers for who in (pair.first, pair.second)]
            for items, value in (
                (survey.considerations, pair.considerations),
                (survey.preferences, pair.preferences),
            ):
                a, b = ([row[item.id] for item in items] for row in rows)
                assert value == pytest.approx(spearmanr(a, b).statistic)
            distances.append(abs(pair.considerations - pair.preferences))
        assert phase.index == pytest.approx(1 - 2 * np.mean(distances))


def test_a_missing_answer_is_missing_and_no_zero(run):
    person, item = run.session.participants[0].id, run.session.survey.items[0].id
    part = lacking(run, person, item)
    own = item_shifts(part)[0]
    assert (own.shifts[0].after, own.shifts[0].change, own.missing) == (None, None, 1)
    assert own.moved == sum(abs(shift.change) for shift in own.shifts[1:])
    before, after = pairs_of(part)
    assert before.index is not None
    assert (after.index, after.pairs, after.why) == (None, (), "missing_answer")


def test_people_can_be_left_out_of_the_changes(run):
    first = run.session.participants[0].id
    assert [shift.participant for shift in item_shifts(run, [first])[0].shifts] == [
        person.id for person in run.session.participants[1:]
    ]


def test_who_names_whom_counts_statements_with_whole_names(run):
    a, b, _ = (person.id for person in run.session.participants)
    texts = [f"{b} and again {b}; I agree with {a}0", f"As {a} said", "Nobody"]
    said = []
    for statement, speaker, text in zip(run.transcript, (a, b, b), texts, strict=True):
        said.append(replace(statement, turn=replace(statement.turn, speaker=speaker), text=text))
    assert heard_in(replace(run, transcript=tuple(said))).naming == {(a, b): 1, (b, a): 1}


def test_who_hears_whom_is_the_network_of_the_session(run):
    assert heard_in(run).complete
    star = replace(run.session.procedure, audience=Network("star"))
    heard = heard_in(replace(run, session=replace(run.session, procedure=star)))
    a, b, c = heard.people
    assert heard.edges == ((a, b), (a, c))
    assert not heard.complete


def test_scores_of_statements_go_to_their_turn_with_their_reason():
    scores = [
        Score("speech.words", "statement", "x/2", 120.0),
        Score("aqua", "statement", "x/2", math.nan, note="empty_text", coder="m"),
        Score("flags.persona_leak", "statement", "x/3", 1.0),
        Score("dri", "run", "x", 0.4, "pre"),
    ]
    found = of_statements(scores, MEASURES)
    assert sorted(found) == [2, 3]
    assert (found[2].scores[0].value, found[2].scores[0].coder) == ("120", "")
    assert found[2].scores[1].value.startswith("none (")
    assert found[3].flags == ("persona leak",)
