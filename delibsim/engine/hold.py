"""Holding a session: all steps of its phases, one after the other."""

from collections.abc import Mapping

from delibsim.domain.parentage import TurnSlot
from delibsim.domain.run import Run, Session
from delibsim.engine.agenda import Watch
from delibsim.engine.check import check, provenance
from delibsim.engine.forum import Forum
from delibsim.models.base import LanguageModel


async def hold(
    session: Session, voices: Mapping[str, LanguageModel], watch: Watch = lambda event: None
) -> Run:
    """Hold a session and return the run.

    `voices` gives the language model of every name in `Participant.model`; `watch` is called with
    every event as it happens. Raises Interrupted when a model cannot be asked.
    """
    check(session)
    forum, consensus = Forum(session, voices, watch), None
    try:
        for step in forum.agenda():
            if isinstance(step, TurnSlot):
                await forum.hold_turn(step)
            elif step == "consensus":
                consensus = await forum.seek_consensus()
            else:
                await forum.survey(step)
    finally:
        forum.leave()
    # Of those who left in a fork only the statements remain.
    people = [person.id for person in session.respondents]
    phases = session.waves
    responses = tuple(forum.responses[phase, name] for phase in phases for name in people)
    unanswered = any(response.missing for response in responses)
    lacking = consensus is not None and any(consensus.gaps)
    run = Run(
        session=session,
        responses=responses,
        transcript=tuple(forum.statements),
        status="partial" if forum.silences or unanswered or lacking else "complete",
        provenance=provenance(),
        silences=tuple(forum.silences),
        consensus=consensus,
        dropped=forum.dropped(),
    )
    vars(forum).clear()  # a model of Mesa refers to itself, and its memory would wait for a sweep
    return run
