"""Holding a session: survey, turns, survey; then, where it is asked for, a collective statement."""

from collections.abc import Mapping

from delibsim.domain.format import DEBATE, DELIBERATION
from delibsim.domain.run import Run, Session
from delibsim.engine.agenda import Watch
from delibsim.engine.check import check, provenance
from delibsim.engine.debate import Debate, Deliberation
from delibsim.engine.forum import Forum
from delibsim.models.base import LanguageModel

FORUMS: dict[str, type[Forum]] = {DELIBERATION.name: Deliberation, DEBATE.name: Debate}
"""The forum of every format."""


async def hold(
    session: Session, voices: Mapping[str, LanguageModel], watch: Watch = lambda event: None
) -> Run:
    """Hold a session and return the run.

    `voices` gives the language model of every name in `Participant.model`; `watch` is called with
    every event as it happens. Raises Interrupted when a model cannot be asked.
    """
    check(session)
    forum = FORUMS[session.format](session, voices, watch)
    try:
        await forum.survey("pre")
        for turn in forum.agenda():
            await forum.hold_turn(turn)
        after = await forum.survey("post")
        consensus = await forum.seek_consensus()
    finally:
        forum.leave()
    # Of those who left in a fork only the statements remain.
    before = tuple(forum.responses["pre", person.id] for person in session.respondents)
    responses = before + after
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
