"""Two runs beside each other: what differs is told, what is the same is not, nothing is made up."""

import json
from dataclasses import replace

from delibsim.analysis.run.beside import (
    OTHER_SURVEY,
    Cost,
    Value,
    agreement,
    beside,
    cost_of_run,
    same_until,
    settings_that_differ,
    turn_pairs,
)
from delibsim.analysis.run.beside_tables import (
    answers_that_differ,
    measures_beside,
    other_measures,
    ratings_beside,
    who_moved_in_both,
    why_no_value,
)
from delibsim.analysis.run.view import RunView
from delibsim.conduct.scorers import measures_of, scores_of, usual_scorers
from delibsim.domain.consensus import Candidate, Consensus, ConsensusVote, Ranking
from delibsim.domain.participant import Participant
from delibsim.domain.survey import Item
from delibsim.domain.transcript import Silence, Statement, Turn
from delibsim.domain.word_differences import marked, word_differences
from delibsim.testing import a_debate, a_run

RUN = a_run()


def both(a, b):
    measures = measures_of(usual_scorers())
    sides = [RunView("s", run, measures, list(scores_of(run))) for run in (a, b)]
    return beside(*sides, measures)


def said(run, texts):
    """The run with other turns: (speaker, text), one after another in round 1."""
    turns = [
        Statement(Turn(index, 1, f"Participant {speaker}"), text)
        for index, (speaker, text) in enumerate(texts, 1)
    ]
    return replace(run, transcript=tuple(turns))


def lines_of(run):
    return RunView("s", run, {}).lines


def together(a, b):
    """The turns beside each other, as (index in a, index in b)."""
    found = []
    for pair in turn_pairs(lines_of(a), lines_of(b)):
        found.append(tuple(one and one.turn.index for one in (pair.a, pair.b)))
    return found


def test_a_run_beside_itself_differs_in_nothing():
    found = both(RUN, RUN)
    assert found.settings == ()
    assert all(pair.same for pair in (*found.turns, *found.answers))
    assert answers_that_differ(found) == []
    assert {pair.difference for pair in found.measures} == {0.0}
    assert other_measures(found).rows == []
    assert found.relation[1:] == [
        "5 of 5 turns the same, word for word",
        "0 of 50 answers different before",
        "0 of 50 answers different after",
    ]


def test_every_setting_that_differs_is_named_with_its_words():
    session = RUN.session
    seats = [replace(session.participants[0], model="Ann", persona="I am a baker.")]
    other = replace(
        session,
        treatment=replace(session.treatment, instructions="Deliberate with all others."),
        participants=(*seats, *session.participants[1:]),
        models={**session.models, "Ann": {"kind": "human"}},
    )
    found = {pair.of["name"]: pair for pair in settings_that_differ(session, other)}
    assert {name: (pair.a, pair.b) for name, pair in found.items()} == {
        "treatment.instructions": ("Deliberate with the others.", "Deliberate with all others."),
        "models.Ann.kind": (None, "human"),
        "Participant 1.model": ("citizen", "Ann"),
        "Participant 1.persona": ("", "I am a baker."),
    }
    instructions = found["treatment.instructions"]
    words = marked(word_differences(instructions.a, instructions.b))
    assert words == "Deliberate with [-the-]{+all+} others."
    assert settings_that_differ(session, replace(session, id="another name")) == ()


def test_models_of_two_names_in_the_same_seats_are_compared_as_one():
    session = RUN.session
    seats = tuple(replace(seat, model="other") for seat in session.participants)
    kind = session.models["citizen"]
    other = replace(session, participants=seats, models={"other": {**kind, "noise": 0.9}})
    found = [(pair.of["name"], pair.a, pair.b) for pair in settings_that_differ(session, other)]
    assert found == [
        ("models.citizen|other", "citizen", "other"),
        ("models.citizen|other.noise", None, "0.9"),
    ]


def test_turns_with_the_same_speakers_go_together_by_number():
    a = said(RUN, [(1, "I agree."), (2, "Why?"), (1, "Because."), (2, "No.")])
    b = said(RUN, [(1, "Because."), (2, "Why?"), (1, "I agree.")])
    assert together(a, b) == [(1, 1), (2, 2), (3, 3), (4, None)]
    assert same_until(turn_pairs(lines_of(a), lines_of(a))) == 4
    pair = turn_pairs(lines_of(a), lines_of(b))[0]
    assert (pair.same, marked(pair.pieces)) == (False, "[-I agree-]{+Because+}.")


def test_an_inserted_and_a_removed_turn_stand_alone():
    a = said(RUN, [(1, "One."), (2, "Two."), (3, "Three."), (4, "Four.")])
    inserted = said(RUN, [(1, "One."), (3, "Wait."), (2, "Two?"), (3, "Three?"), (4, "Four.")])
    assert together(a, inserted) == [(1, 1), (None, 2), (2, 3), (3, 4), (4, 5)]
    removed = said(RUN, [(1, "One."), (3, "Third."), (4, "Fourth.")])
    assert together(a, removed) == [(1, 1), (2, None), (3, 2), (4, 3)]


def test_speakers_in_another_order_go_together_round_by_round():
    a = said(RUN, [(1, "a"), (2, "b"), (3, "c")])
    b = said(RUN, [(3, "d"), (2, "e"), (1, "f")])
    assert sorted(together(a, b)) == [(1, 3), (2, 2), (3, 1)]


def test_a_silence_has_no_words_and_its_reason():
    silence = Silence(RUN.transcript[0].turn, "refusal", "against my policy")
    other = replace(RUN, transcript=RUN.transcript[1:], silences=(silence,))
    pair = both(RUN, other).turns[0]
    assert (pair.b.missing, pair.pieces, pair.same) == ("refusal: against my policy", (), False)


def test_a_missing_answer_is_no_difference_and_keeps_its_reason():
    found = both(RUN, a_run(missing=("Participant 2",)))
    pair = next(one for one in found.answers if one.of["participant"] == "Participant 2")
    assert (pair.b.after, pair.b.why_not_after) == (None, "refusal")
    assert (pair.a.before, pair.same) == (pair.b.before, False)
    assert agreement(found.answers, "post")[0] == 40
    (row,) = [row for row in who_moved_in_both(found).rows if row[0] == "Participant 2"]
    assert row[5:] == ["0/0", "-", "-", "-"]
    dri = next(
        one for one in found.measures if (one.of["measure"], one.of["phase"]) == ("dri", "post")
    )
    assert (dri.b, dri.difference) == (Value(None, "missing_answer"), None)
    assert any("Deliberative Reason Index" in line for line in why_no_value(found))
    assert "NaN" not in json.dumps(found.plain())


def test_items_in_other_words_are_other_items_and_measures_of_a_survey_are_not_compared():
    session = RUN.session
    items = (Item("C1", "consideration", "Something else."), *session.survey.items[1:])
    survey = replace(session.survey, id="other", items=items)
    found = both(RUN, replace(RUN, session=replace(session, survey=survey)))
    assert agreement(found.answers, "pre")[0] == 45
    alone = [(pair.a is None, pair.b is None) for pair in found.answers if pair.of["item"] == "C1"]
    assert sorted(alone) == [(False, True)] * 5 + [(True, False)] * 5
    by_id = {(pair.of["measure"], pair.of["phase"]): pair for pair in found.measures}
    assert by_id["dri", "pre"].difference == 0
    assert by_id["diversity", "pre"].difference is None
    assert by_id["diversity", "pre"].why_not == OTHER_SURVEY
    names = [
        pair.of["name"] for pair in settings_that_differ(session, replace(session, survey=survey))
    ]
    assert names == ["survey.id"]


def test_another_seat_is_in_one_run_alone():
    session = RUN.session
    seats = (*session.participants[:-1], Participant("Ann"))
    other = replace(session, participants=seats)
    responses = tuple(
        replace(one, participant="Ann") if one.participant == "Participant 5" else one
        for one in RUN.responses
    )
    found = both(RUN, replace(RUN, session=other, responses=responses, transcript=()))
    assert [pair.of["participant"] for pair in found.people if pair.a is None] == ["Ann"]
    assert [pair.of["participant"] for pair in found.people if pair.b is None] == ["Participant 5"]
    (table,) = answers_that_differ(found)[:1]
    assert table.rows


def test_a_debate_has_answers_and_no_index():
    found = both(a_debate(), a_debate(seed=2))
    assert found.people == ()
    assert {pair.of["participant"] for pair in found.answers} == {"Listener 1", "Listener 2"}
    assert measures_beside(found).rows == []


def test_costs_are_known_or_unknown_and_never_made_up():
    usage = {"input_tokens": 10, "output_tokens": 2, "cost_usd": 0.5}
    known = {"completion": {"status": "ok", "usage": usage}}
    silent = {"completion": {"status": "ok", "usage": {"cost_usd": 0.5}}}
    assert cost_of_run([known, known]) == Cost(2, 20, 4, 1.0)
    assert cost_of_run([known, silent]) == Cost(2, None, None, 1.0)
    assert cost_of_run([known, {}]) == Cost(1, None, None, None)
    assert cost_of_run([known], damaged_lines=1) == Cost(1, None, None, None)


def test_as_plain_values_it_is_json_and_the_sides_can_be_exchanged():
    a, b = a_run(), replace(a_run(seed=3), status="complete")
    one, other = both(a, b).plain(), both(b, a).plain()
    assert json.loads(json.dumps(one, allow_nan=False)) == one
    assert [row["difference"] for row in one["measures"]] == [
        None if row["difference"] is None else -row["difference"] for row in other["measures"]
    ]
    assert one["a"] == other["b"]


def test_collective_statements_stand_beside_each_other_and_none_is_none():
    vote = ConsensusVote(
        (Candidate("c1", "One."),), (Ranking("Ann", {"c1": 1}, {"c1": 6}),), "c1", "only"
    )
    found = both(RUN, replace(RUN, consensus=Consensus((), vote)))
    assert found.statements == (None, ("One.", "c1, chosen as the only candidate, 1 ballot"))
    assert found.plain()["statements"][0] is None


def test_mean_ratings_of_two_debates_are_those_of_attentive_raters():
    debate = a_debate()
    first, second = debate.ratings
    inattentive = replace(debate, ratings=(first, replace(second, attentive=False)))
    found = both(debate, inattentive)
    means = {pair.of["what"]: (pair.a, pair.b) for pair in found.ratings}
    a, b = (one.proposition["logic"] for one in (first, second))
    assert means["logic of the proposition"] == ((a + b) / 2, a)
    assert means["change of stance"][1] == first.after - first.before
    assert ratings_beside(found).rows[0] == ["attentive raters (n)", "2", "1", ""]
    unrated = both(debate, replace(debate, ratings=()))
    assert {pair.b for pair in unrated.ratings} == {None}
    assert both(RUN, debate).ratings == ()


def test_what_cannot_be_compared_is_said():
    session = RUN.session
    elsewhere = replace(session, topic=replace(session.topic, id="other"), seed=2)
    told = both(RUN, replace(RUN, session=elsewhere)).relation
    drawn = "what is drawn at random is drawn anew"
    assert told[0] == f"another topic (example, other) and seed (1, 2): {drawn}"
    items = [replace(item, text=f"Not: {item.text}") for item in session.survey.items]
    survey = replace(session.survey, items=tuple(items))
    told = both(RUN, replace(RUN, session=replace(session, survey=survey))).relation
    assert "no participant and item in common: no answer can be compared" in told
