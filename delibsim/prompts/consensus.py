"""What is asked when a group seeks a statement of its own, after the last survey.

The participants' prompts share the system message of the surveys, in which no treatment stands. The
mediator reads what they wrote as quotations without names.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from delibsim.domain.consensus import MEDIATOR, Candidate, ConsensusRule
from delibsim.domain.participant import Participant
from delibsim.domain.run import Session
from delibsim.domain.transcript import Statement
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import TEXTS, block, quoted, refuse_unfilled
from delibsim.prompts.forms.survey import RankingForm
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Form, Message, Prompt, Purpose
from delibsim.prompts.session import messages_of, particulars, transcript_shown

LONGEST = 6
"""A text of more than so many times the words asked for is unreadable, and asked for again."""
FIELDS = dict.fromkeys(("write", "improve", "position", "critique"), ("words",))
"""The fields that are filled in, by text."""


@dataclass(frozen=True)
class Asked:
    """The rule of a session and what its prompts are made of."""

    session: Session
    rule: ConsensusRule

    @property
    def form(self) -> Words:
        """The form of a position, a critique and a statement."""
        return Words(LONGEST * self.rule.words)

    def say(self, name: str) -> str:
        """One text of the rule, filled in."""
        return _filled(self.rule.texts[name], self.rule.words)


def position_prompt(
    asked: Asked, participant: Participant, heard: Sequence[Statement] = ()
) -> Prompt:
    """Ask a participant to write down its position."""
    shown = heard if asked.session.procedure.show_transcript else ()
    parts = [
        transcript_shown(asked.session, shown),
        asked.say("position"),
        particulars(asked.session, participant),
        asked.form.describe(),
    ]
    return _of_participant(asked, participant, parts, "position", asked.form)


def candidate_prompt(asked: Asked, positions: Sequence[str], number: int) -> Prompt:
    """Ask the mediator for a statement, from the positions in the order given."""
    parts = [_quotations(asked, positions), asked.say("write"), asked.form.describe()]
    return _of_mediator(asked, parts, f"candidate {number}")


def revision_prompt(
    asked: Asked,
    positions: Sequence[str],
    winner: Candidate,
    critiques: Sequence[str],
    number: int,
) -> Prompt:
    """Ask the mediator to improve the winner, from the positions and critiques as given."""
    said = [block("criticism", quoted(text)) for text in critiques]
    parts = [
        _quotations(asked, positions),
        _winner(asked, winner),
        "\n\n".join([asked.say("criticised"), *said]),
        asked.say("improve"),
        asked.form.describe(),
    ]
    return _of_mediator(asked, parts, f"revision {number}")


def vote_prompt(
    asked: Asked,
    participant: Participant,
    own: str,
    statements: Sequence[Candidate],
    number: int,
) -> Prompt:
    """Ask a participant to rank statements in the order given; `own` is its position."""
    form = RankingForm(len(statements))
    lines = []
    for place, candidate in enumerate(statements, 1):
        lines.append(f"S{place}. {' '.join(candidate.text.split())}")
    parts = [
        asked.say("vote"),
        particulars(asked.session, participant),
        _own(asked, own),
        f"{asked.say('statements')}\n{block('statements', chr(10).join(lines))}",
        form.describe(),
    ]
    return _of_participant(asked, participant, parts, f"vote {number}", form)


def critique_prompt(asked: Asked, participant: Participant, own: str, winner: Candidate) -> Prompt:
    """Ask a participant what it criticises in the winner; `own` is its position."""
    parts = [
        _winner(asked, winner),
        asked.say("critique"),
        particulars(asked.session, participant),
        _own(asked, own),
        asked.form.describe(),
    ]
    return _of_participant(asked, participant, parts, "critique", asked.form)


def check_consensus_texts(rule: ConsensusRule) -> None:
    """Refuse a rule that lacks a text, or fills in another field in one; WrongInput."""
    refuse_unfilled(Wording(f"consensus {rule.name}", rule.texts), TEXTS["consensus"], FIELDS)


def fixed_consensus_prompts(session: Session, rule: ConsensusRule) -> tuple[Prompt, ...]:
    """One prompt of every kind, with placeholders: what every replicate is asked alike."""
    asked, person = Asked(session, rule), session.participants[0]
    winner = Candidate("c1", "statement")
    found = [
        candidate_prompt(asked, ["position"], 1),
        vote_prompt(asked, person, "position", [winner, winner], 1),
    ]
    if rule.position == "written":
        found.append(position_prompt(asked, person))
    if rule.critique:
        found.append(critique_prompt(asked, person, "position", winner))
        found.append(revision_prompt(asked, ["position"], winner, ["criticism"], 1))
    return tuple(found)


def _of_participant(
    asked: Asked, participant: Participant, parts: Sequence[str], occasion: str, form: Form
) -> Prompt:
    messages = messages_of(asked.session, parts, instructed=False)
    return Prompt(messages, form, Purpose(participant.id, occasion))


def _of_mediator(asked: Asked, parts: Sequence[str], occasion: str) -> Prompt:
    """A prompt to the mediator, which is told the topic and its background as participants are."""
    topic, procedure = asked.session.topic, asked.session.procedure
    background = topic.background.strip() if procedure.background else ""
    about = block("topic", "\n\n".join(part for part in (topic.question, background) if part))
    messages = (
        Message("system", f"{asked.say('mediator')}\n\n{about}"),
        Message("user", "\n\n".join(parts)),
    )
    return Prompt(messages, asked.form, Purpose(MEDIATOR, occasion))


def _quotations(asked: Asked, positions: Sequence[str]) -> str:
    said = [block("position", quoted(text)) for text in positions]
    return "\n\n".join([asked.say("positions"), *said])


def _winner(asked: Asked, winner: Candidate) -> str:
    return f"{asked.say('winner')}\n{block('statement', quoted(winner.text))}"


def _own(asked: Asked, own: str) -> str:
    """A participant's own position; "" where it has none."""
    return f"{asked.say('own_position')}\n{block('own_position', quoted(own))}" if own else ""


@functools.lru_cache(maxsize=256)
def _filled(text: str, words: int) -> str:
    return Template(text).safe_substitute(words=words).strip()
