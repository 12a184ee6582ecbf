"""Holding a session: survey, turns, survey; then, where it is asked for, a collective statement.

Its two formats: a deliberation, in which speakers are drawn, and a debate, whose turns are fixed.
"""

from collections.abc import Iterator, Mapping

from delibsim.domain.format import DEBATE, DELIBERATION
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run, Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import Turn
from delibsim.engine.agenda import Watch, deliberation_slots
from delibsim.engine.agent import Agent
from delibsim.engine.check import check, provenance
from delibsim.engine.forum import Forum
from delibsim.models.base import LanguageModel


class Deliberation(Forum):
    """Everybody speaks once a round; without interaction nobody speaks."""

    def agenda(self) -> Iterator[Turn]:
        """Each round, all participants in an order that Mesa shuffles."""
        return self.as_given(deliberation_slots(self.session, self._drawn))

    def _drawn(self) -> Iterator[str]:
        founders = {self.seats[name] for name in self.session.founders}
        for agent in list(self.agents.select(lambda agent: agent in founders).shuffle()):
            assert isinstance(agent, Agent)
            yield agent.participant.id


BROKEN_OFF = Reason(
    "debate_incomplete", "the debate broke off, so the survey after it was not held"
)


class Debate(Forum):
    """Opening, rebuttal and closing, the proposition first; a turn without a speech ends it."""

    def agenda(self) -> Iterator[Turn]:
        """Private notes where the rules ask for them, then the six turns.

        The first silence ends the agenda.
        """
        for turn in self.as_given(self.session.slots()):
            if self.silences:
                return
            yield turn

    async def survey(self, phase: Phase) -> tuple[Response, ...]:
        """Ask the audience, but not after a debate that broke off: then all answers are missing."""
        if phase == "pre" or not self.silences:
            return await super().survey(phase)
        items = [item.id for item in self.session.survey.items]
        missing = dict.fromkeys(items, BROKEN_OFF)
        return tuple(Response(person.id, phase, {}, missing) for person in self.session.respondents)


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
