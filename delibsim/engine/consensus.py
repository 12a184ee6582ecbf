"""Seeking a collective statement after the last survey: positions, candidates, votes, a critique.

Nothing here imports Mesa: an estimate counts the calls with the same code that makes them.
"""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.domain.consensus import (
    Candidate,
    Consensus,
    ConsensusRule,
    ConsensusVote,
    Contribution,
    Decision,
    Ranking,
)
from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.run import Session
from delibsim.domain.transcript import Statement
from delibsim.models.ask import ask
from delibsim.models.base import Completion, LanguageModel
from delibsim.prompts.consensus import (
    Asked,
    candidate_prompt,
    critique_prompt,
    position_prompt,
    revision_prompt,
    vote_prompt,
)
from delibsim.prompts.forms.survey import Ranked
from delibsim.prompts.prompt import Prompt

Heard = Callable[[str], Sequence[Statement]]
"""The statements that a participant has heard, its own among them, by its name."""
OnReply = Callable[[str, Completion], None]
"""What is called with the model and the completion of every call."""


@dataclass(frozen=True)
class ConsensusContext:
    """What the steps share: the session, its rule, the voices, and what was heard."""

    session: Session
    rule: ConsensusRule
    voices: Mapping[str, LanguageModel]
    heard: Heard
    on_reply: OnReply
    on_answer: Callable[[str], None]

    @property
    def asked(self) -> Asked:
        """What prompts are made of."""
        return Asked(self.session, self.rule)

    def order(self, names: Sequence[str], *occasion: str | int) -> list[str]:
        """Names in an order drawn for an occasion."""
        drawn = list(names)
        random.Random(self.session.seed_for("order", *occasion)).shuffle(drawn)
        return drawn

    async def ask(self, model: str, prompt: Prompt) -> tuple[Any, Reason | None]:
        """The value of a reply; None with the reason why there is none."""

        def note(completion: Completion) -> None:
            self.on_reply(model, completion)

        value, completion = await ask(self.session, self.voices[model], prompt, note)
        self.on_answer(prompt.purpose.participant)
        if value is None:
            return None, Reason.of_call(completion.status, completion.detail)
        return value, None

    async def ask_mediator(self, prompt: Prompt) -> tuple[Any, Reason | None]:
        """What the mediator replies."""
        return await self.ask(self.session.mediator, prompt)


async def seek_consensus(room: ConsensusContext) -> Consensus:
    """The collective statement of a group, with everything that led to it.

    Raises Interrupted when a model cannot be asked.
    """
    people = room.session.respondents
    positions = tuple(await _all(_position(room, person) for person in people))
    own = {one.participant: one.text for one in positions if one.missing is None}
    numbers = range(1, room.rule.candidates + 1)
    written = tuple(await _all(_candidate(room, own, number) for number in numbers))
    first = await _vote(room, ConsensusVote(written), own, 1)
    winner = next((one for one in written if one.id == first.winner), None)
    if winner is None or not room.rule.critique:
        return Consensus(positions, first)
    critiques = tuple(await _all(_critique(room, person, own, winner) for person in people))
    said = {one.participant: one.text for one in critiques if one.missing is None}
    if not said:
        return Consensus(positions, first, critiques)
    revised = await _all(_revision(room, own, winner, said, number) for number in numbers)
    second = await _vote(room, ConsensusVote((replace(winner, order=()), *revised)), own, 2)
    return Consensus(positions, first, critiques, second)


async def _position(room: ConsensusContext, person: Participant) -> Contribution:
    heard = room.heard(person.id)
    if room.rule.position == "last_statement":
        said = [one.text for one in heard if one.turn.speaker == person.id]
        missing = None if said else Reason("no_statements")
        return Contribution(person.id, said[-1] if said else "", missing)
    text, missing = await room.ask(person.model, position_prompt(room.asked, person, heard))
    return Contribution(person.id, text or "", missing)


async def _candidate(room: ConsensusContext, own: Mapping[str, str], number: int) -> Candidate:
    id = f"c{number}"
    if not own:
        return Candidate(id, missing=Reason("no_positions"))
    order = room.order(list(own), "candidate", number)
    prompt = candidate_prompt(room.asked, [own[name] for name in order], number)
    text, missing = await room.ask_mediator(prompt)
    return Candidate(id, text or "", missing, tuple(order))


async def _revision(
    room: ConsensusContext,
    own: Mapping[str, str],
    winner: Candidate,
    said: Mapping[str, str],
    number: int,
) -> Candidate:
    order = room.order(list(own), "revision", number)
    critics = room.order(list(said), "criticism", number)
    prompt = revision_prompt(
        room.asked,
        [own[name] for name in order],
        winner,
        [said[name] for name in critics],
        number,
    )
    text, missing = await room.ask_mediator(prompt)
    return Candidate(f"r{number}", text or "", missing, tuple(order))


async def _critique(
    room: ConsensusContext, person: Participant, own: Mapping[str, str], winner: Candidate
) -> Contribution:
    prompt = critique_prompt(room.asked, person, own.get(person.id, ""), winner)
    text, missing = await room.ask(person.model, prompt)
    return Contribution(person.id, text or "", missing)


async def _vote(
    room: ConsensusContext, vote: ConsensusVote, own: Mapping[str, str], number: int
) -> ConsensusVote:
    """The vote with everybody's ranking and the winner; nobody is asked without a candidate."""
    if not vote.standing:
        return vote
    people = room.session.respondents
    rankings = await _all(_ranking(room, person, own, vote, number) for person in people)
    held = replace(vote, rankings=tuple(rankings))
    winner, decided = winner_of(held, room.session.seed_for("vote", number))
    return replace(held, winner=winner, decided=decided)


async def _ranking(
    room: ConsensusContext,
    person: Participant,
    own: Mapping[str, str],
    vote: ConsensusVote,
    number: int,
) -> Ranking:
    by_id = {candidate.id: candidate for candidate in vote.standing}
    order = tuple(room.order(list(by_id), "vote", number, person.id))
    shown = [by_id[id] for id in order]
    prompt = vote_prompt(room.asked, person, own.get(person.id, ""), shown, number)
    ranked, missing = await room.ask(person.model, prompt)
    if not isinstance(ranked, Ranked):
        return Ranking(person.id, order=order, missing=missing)
    ranks = dict(zip(order, ranked.ranks, strict=True))
    agreement = dict(zip(order, ranked.agreement, strict=True))
    return Ranking(person.id, ranks, agreement, order)


def winner_of(vote: ConsensusVote, seed: int) -> tuple[str, Decision]:
    """The winner of a vote by Schulze's method, and what decided it; "" twice without a ballot.

    Among those tied, a ballot of a voter drawn by `seed` decides, and if it ties them a lot.
    """
    ids = [candidate.id for candidate in vote.standing]
    if not vote.cast:
        return "", ""
    if len(ids) == 1:
        return ids[0], "only"
    from delibsim.measures.schulze import schulze  # numpy takes long to import

    tied = [ids[place] for place in schulze(vote.ranks).tied]
    if len(tied) == 1:
        return tied[0], "schulze"
    drawn = random.Random(seed)
    ballot = drawn.choice(vote.cast)
    best = min(ballot.ranks[id] for id in tied)
    first = [id for id in tied if ballot.ranks[id] == best]
    return (first[0], "ballot") if len(first) == 1 else (drawn.choice(first), "lot")


async def _all(asking: Any) -> list[Any]:
    """What all come to, in their order. Whoever fails, the others finish first: what is in flight
    has been paid for and is to be recorded.
    """
    settled = await asyncio.gather(*asking, return_exceptions=True)
    for outcome in settled:
        if isinstance(outcome, BaseException):
            raise outcome
    return settled
