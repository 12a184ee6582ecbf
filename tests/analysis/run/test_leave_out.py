"""What is left out of a run: personas, also those before a branch, and what people answered."""

from dataclasses import replace

from delibsim.analysis.run.leave_out import WHY, without_personas
from delibsim.analysis.run.tables import tables_of_votes
from delibsim.analysis.run.view import lineage
from delibsim.domain.branching import Edit
from delibsim.domain.consensus import Candidate, Consensus, ConsensusVote, Contribution, Ranking
from delibsim.domain.parentage import Parentage
from delibsim.domain.reason import Reason
from delibsim.store.codec import run_to_json
from delibsim.testing import a_run

BEFORE, NOW = "I mend nets in Broome.", "I drive a tram in Perth."


def a_fork(run, **changed):
    """A fork of a run in which the first has the persona NOW, and had BEFORE."""
    plan = run.session
    seats = [
        tuple(replace(seat, persona=persona) for seat in plan.participants)
        for persona in (BEFORE, NOW)
    ]
    seats[1] = (seats[1][0], *seats[0][1:])
    edit = Edit("say", 1, f"As you know: {BEFORE}")
    parentage = Parentage("s", plan.id, "0" * 64, 1, (edit,))
    before = replace(plan, participants=seats[0])
    fork = replace(plan, participants=seats[1], before=before, parentage=parentage, **changed)
    return replace(run, session=fork)


def test_a_fork_keeps_no_persona_of_the_run_it_branches_off_and_says_whose_differs():
    run = a_fork(a_run(missing=("Participant 2",)))
    said = replace(run.transcript[0], text=f"{BEFORE} And now: {NOW}")
    gone = replace(run.responses[0], answers={}, missing={})
    items = run.session.survey.items
    gone = replace(gone, missing={item.id: Reason("unreadable", f"got {NOW}") for item in items})
    run = replace(
        run,
        transcript=(said, *run.transcript[1:]),
        responses=(gone, *run.responses[1:]),
        status="partial",
    )
    hidden = without_personas(run)
    written = run_to_json(run), run_to_json(hidden)
    for text in (BEFORE, NOW):
        assert text.encode() in to_bytes(written[0])
        assert text.encode() not in to_bytes(written[1])
    assert lineage(hidden.session) == lineage(run.session)
    first, second = (seat.id for seat in run.session.participants[:2])
    assert f"persona of {first}" in lineage(hidden.session)[0]
    assert f"persona of {second}" not in lineage(hidden.session)[0]


def to_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def test_ballots_and_positions_of_people_are_left_out():
    run = a_run()
    models = {name: {"kind": "citizen"} for name in run.session.models}
    person, other = run.session.participants[:2]
    models["me"] = {"kind": "human"}
    seats = (replace(person, model="me"), *run.session.participants[1:])
    ids = ("first/1", "first/2")
    ballots = tuple(
        Ranking(who, dict(zip(ids, ranks, strict=True)), dict(zip(ids, ranks, strict=True)), ids)
        for who, ranks in ((person.id, (2, 1)), (other.id, (1, 2)))
    )
    vote = ConsensusVote(
        tuple(Candidate(id, "We agree.") for id in ids), ballots, ids[0], "schulze"
    )
    positions = tuple(Contribution(who, f"Mine is {who}.") for who in (person.id, other.id))
    session = replace(run.session, participants=seats, models=models)
    run = replace(run, session=session, consensus=Consensus(positions, vote, positions))
    found = without_personas(run).consensus
    for told in (found.positions, found.critiques):
        assert (told[0].text, told[0].missing) == ("", WHY)
        assert told[1].text == f"Mine is {other.id}."
    assert found.first.rankings == (Ranking(person.id, order=ids, missing=WHY), ballots[1])
    (shown,) = tables_of_votes(found)
    assert [row[1:] for row in shown.rows] == [["?", "1 (1)"], ["?", "2 (2)"]]
