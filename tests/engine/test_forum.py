"""What a watcher of the room is told, and in which order."""

from delibsim import Response, Statement


async def test_a_watcher_is_told_of_every_beginning_and_every_end(session_of, held):
    moments = []
    run, _ = await held(session_of(3, rounds=2), watch=moments.append)
    occasions = [moment.occasion for moment in moments]
    assert occasions == ["pre"] * 6 + ["turn"] * 12 + ["post"] * 6
    begun = [(m.occasion, m.participant, m.turn) for m in moments if not m.done]
    ended = [(m.occasion, m.participant, m.turn) for m in moments if m.done]
    assert sorted(begun, key=str) == sorted(ended, key=str)
    assert all(m.said is None for m in moments if not m.done)
    assert {m.session for m in moments} == {run.session.id}
    assert tuple(m.said for m in moments if m.done and m.occasion == "turn") == run.transcript
    answered = [m.said for m in moments if m.done and m.occasion != "turn"]
    assert sorted(answered, key=str) == sorted(run.responses, key=str)
    assert all(
        isinstance(said, (Response, Statement)) for said in [m.said for m in moments if m.done]
    )


async def test_everybody_is_asked_the_survey_at_once(session_of, held):
    moments = []
    await held(session_of(5, rounds=0), watch=moments.append)
    assert [m.done for m in moments if m.occasion == "pre"] == [False] * 5 + [True] * 5
