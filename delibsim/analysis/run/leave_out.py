"""A run, a text, or a call without personas and without the answers of people, for those who may
not see them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from delibsim.domain.annotation import AnnotatedRun
from delibsim.domain.consensus import MEDIATOR, Consensus, ConsensusVote, Contribution, Ranking
from delibsim.domain.conversation import KINDS_OF_PEOPLE
from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run, Session
from delibsim.domain.survey import Response
from delibsim.models.replay import Exchange

NOT_SHOWN = "left_out"
"""Why a vote or an answer is missing that was given, and that is not to be shown."""
BY_PEOPLE = "human"
"""The source of a rating that a person gave."""
LEFT_OUT = "(left out: persona)"
"""What stands for a persona."""
EARLIER = "(left out: another persona)"
"""What stands for a persona that a fork has changed, before it branches off."""
WHY = Reason(NOT_SHOWN, "the answers of people are left out on request")
SHORTEST = 4
"""Characters of a persona from which on it is also looked for in what was said."""
BLOCK = re.compile(r"(?m)^<persona>\n.*?\n</persona>$", re.DOTALL)
"""A persona in a prompt."""


def people_among(session: Session) -> frozenset[str]:
    """Those who are people, in a browser, at the terminal or elsewhere: participants, who leads and
    witnesses, also those who left before a fork.
    """
    voices = {**session.models, **session.voices}
    asked = (*session.participants, *session.invited)
    found = {one.id for one in asked if voices[one.model].get("kind") in KINDS_OF_PEOPLE}
    return frozenset(found if session.before is None else found | people_among(session.before))


def personas_of(session: Session) -> list[str]:
    """The personas of a session and of every plan that it branches off, as they may stand in a
    text, the longest first.
    """
    found = {one.persona.strip() for one in session.participants}
    if session.before is not None:
        found |= set(personas_of(session.before))
    return sorted((one for one in found if len(one) >= SHORTEST), key=len, reverse=True)


def without_personas(run: Run) -> Run:
    """The run without the texts of its personas, wherever they stand word for word, and without the
    answers, ballots, positions and critiques of people, which are missing with the reason
    `left_out`, and without the ratings that people gave.
    """
    hide = _Hiding.of(run.session)
    said = [replace(one, text=hide.text(one.text)) for one in run.transcript]
    silences = [replace(one, reason=hide.text(one.reason)) for one in run.silences]
    found = replace(
        run,
        session=hide.session(run.session),
        transcript=tuple(said),
        silences=tuple(silences),
        responses=tuple(hide.response(one) for one in run.responses),
        consensus=None if run.consensus is None else hide.consensus(run.consensus),
    )
    return _without_raters(found) if isinstance(found, AnnotatedRun) else found


def text_without_personas(text: str, session: Session) -> str:
    """A text in which the personas of a session are left out: their blocks, and their words where
    they stand as a whole.
    """
    return _Hiding.of(session).text(text)


def is_left_out(exchange: Exchange, people: frozenset[str]) -> bool:
    """Whether a call holds what one of these people answered: those to them, whose prompts may
    repeat it, and those to a mediator, which reads what they wrote.
    """
    asked = exchange.purpose.participant
    return asked in people or (bool(people) and asked == MEDIATOR)


@dataclass(frozen=True)
class _Hiding:
    """What is hidden of a session: these personas, the longest first, and what these people say."""

    personas: Sequence[str]
    people: frozenset[str]

    @classmethod
    def of(cls, session: Session) -> "_Hiding":
        """What is hidden of a session, and of the run it branches off."""
        return cls(personas_of(session), people_among(session))

    def text(self, text: str) -> str:
        text = BLOCK.sub(f"<persona>\n{LEFT_OUT}\n</persona>", text)
        for persona in self.personas:
            text = text.replace(persona, LEFT_OUT)
        return text

    def session(self, session: Session) -> Session:
        """The plan, and that of the run it branches off, in which a persona that the branch has
        changed stays another one.
        """
        now = {one.id: one.persona for one in session.participants}
        before, parentage = session.before, session.parentage
        if before is not None:
            own = {one.id: LEFT_OUT for one in before.participants if one.persona}
            changed = [one.id for one in before.participants if now.get(one.id) != one.persona]
            own |= {name: EARLIER for name in changed if name in own}
            before = _seated(self.session(before), own)
        if parentage is not None:
            edits = tuple(replace(one, text=self.text(one.text)) for one in parentage.edits)
            parentage = replace(parentage, edits=edits)
        hidden = {name: LEFT_OUT for name, persona in now.items() if persona}
        return replace(_seated(session, hidden), before=before, parentage=parentage)

    def response(self, response: Response) -> Response:
        if response.participant in self.people:
            asked = {**response.answers, **response.missing}
            return replace(response, answers={}, missing=dict.fromkeys(asked, WHY), order=())
        missing = {item: self.reason(why) for item, why in response.missing.items()}
        return replace(response, missing=missing)

    def reason(self, why: Reason) -> Reason:
        return replace(why, detail=self.text(why.detail))

    def consensus(self, consensus: Consensus) -> Consensus:
        second = consensus.second
        return replace(
            consensus,
            positions=tuple(self.contribution(one) for one in consensus.positions),
            first=self.vote(consensus.first),
            critiques=tuple(self.contribution(one) for one in consensus.critiques),
            second=None if second is None else self.vote(second),
        )

    def contribution(self, one: Contribution) -> Contribution:
        if one.missing is not None:
            return replace(one, missing=self.reason(one.missing))
        if one.participant in self.people:
            return replace(one, text="", missing=WHY)
        return replace(one, text=self.text(one.text))

    def vote(self, vote: ConsensusVote) -> ConsensusVote:
        candidates = tuple(replace(one, text=self.text(one.text)) for one in vote.candidates)
        rankings = tuple(self.ranking(one) for one in vote.rankings)
        return replace(vote, candidates=candidates, rankings=rankings)

    def ranking(self, one: Ranking) -> Ranking:
        if one.missing is not None:
            return replace(one, missing=self.reason(one.missing))
        if one.participant in self.people:
            return Ranking(one.participant, order=one.order, missing=WHY)
        return one


def _without_raters(run: AnnotatedRun) -> AnnotatedRun:
    """A debate without the ratings that people gave."""
    return replace(run, ratings=tuple(one for one in run.ratings if one.source != BY_PEOPLE))


def _seated(session: Session, personas: Mapping[str, str]) -> Session:
    seats: list[Participant] = []
    for one in session.participants:
        seats.append(replace(one, persona=personas.get(one.id, "")))
    return replace(session, participants=tuple(seats))
