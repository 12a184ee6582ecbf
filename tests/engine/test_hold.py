"""Holding a session: one run of any size, equal to itself, that leaves nothing behind. What a
watcher of the room is told, and in which order.
"""

import gc
import weakref
from dataclasses import replace

import mesa
import pytest
from cases import cases_of

from delibsim import Completion, Response, Statement, WrongInput, hold, models_for
from delibsim.engine.forum import Agent, Forum, check
from delibsim.models.ask import Interrupted

CASES = cases_of(__file__)


@pytest.mark.parametrize("n", range(2, 10))
async def test_a_group_of_any_size_is_held(session_of, held, n):
    run, voice = await held(session_of(n, rounds=2))
    assert [r.participant for r in run.responses] == [p.id for p in run.session.participants] * 2
    assert [r.phase for r in run.responses] == ["pre"] * n + ["post"] * n
    assert [s.turn.index for s in run.transcript] == list(range(1, 2 * n + 1))
    assert len(voice.asked) == 2 * n + 2 * n
    assert run.status == "complete"
    assert run.silences == ()
    assert all(
        isinstance(r, Response) and len(r.answers) == 10 and not r.missing for r in run.responses
    )


async def test_a_run_is_equal_to_itself_held_again(session_of):
    session = session_of(4)
    run = await hold(session, models_for(session))
    assert await hold(session, models_for(session)) == run
    other = replace(session, seed=8)
    again = await hold(other, models_for(other))
    assert replace(again, session=session) != run
    assert [r.answers for r in again.responses] != [r.answers for r in run.responses]


def room_of(script=lambda prompt: None):
    """A script that keeps weak references to the forum and the agents it is asked from."""
    gc.freeze()  # what other tests left behind is not of this room, and takes seconds to look through
    seen = []

    def watching(prompt):
        if not seen:
            gc.collect()
            seen.extend(weakref.ref(o) for o in gc.get_objects() if isinstance(o, (Forum, Agent)))
        return script(prompt)

    return seen, watching


async def test_nothing_of_the_room_stays_alive(session_of, held):
    seen, script = room_of()
    gc.disable()  # nothing waits for a sweep of the collector either
    try:
        await held(session_of(3, rounds=1), script)
    finally:
        gc.enable()
    assert len(seen) == 4
    assert [ref() for ref in seen] == [None] * 4
    assert not any(isinstance(model, Forum) for model in getattr(mesa.Agent, "_ids", {}))


async def test_nothing_of_an_interrupted_room_stays_alive(session_of, scripted):
    seen, script = room_of(
        lambda prompt: (
            Completion("", "timeout", "gone") if "turn" in prompt.purpose.occasion else None
        )
    )
    try:
        await hold(session_of(3, rounds=1), {"citizen": scripted(script)})
    except Interrupted:
        pass
    else:
        pytest.fail("was not interrupted")
    gc.collect()
    assert len(seen) == 4
    assert [ref() for ref in seen] == [None] * 4


@pytest.mark.parametrize(
    "missing", CASES["a_wording_that_lacks_a_text_is_refused_before_anything_is_asked"]
)
def test_a_wording_that_lacks_a_text_is_refused_before_anything_is_asked(session_of, missing):
    session = session_of(3)
    texts = {name: text for name, text in session.wording.texts.items() if name != missing}
    with pytest.raises(WrongInput, match=missing):
        check(replace(session, wording=replace(session.wording, texts=texts)))


@pytest.mark.parametrize(
    "text", ["It is your turn in $ruond.", "That costs 5 $.", "Round ${round of $rounds"]
)
def test_a_wording_that_cannot_be_filled_in_is_refused_before_anything_is_asked(session_of, text):
    session = session_of(3)
    texts = {**session.wording.texts, "speak": text}
    with pytest.raises(WrongInput, match="speak"):
        check(replace(session, wording=replace(session.wording, texts=texts)))


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
