"""Blinding: a debate as its raters read it, without a trace of who debates.

Speakers become A and B. What a speech says of the sides is put in those letters; names of models and of those who make them, and
words of being an AI, are taken out. What stays is the argument: which side a speaker is on can be read, who it is cannot.
"""

import re
from collections.abc import Iterable

from delibsim.domain.participant import SIDES, Side
from delibsim.domain.rules import DISCLOSURE
from delibsim.domain.run import Run, Session
from delibsim.domain.transcript import PREPARATION, Statement, Turn

REMOVED = "[removed]"
FAMILIES = re.compile(
    r"\b(?:(?:chat)?gpt(?:[-_ ]?\d\w*(?:\.\w+)*)?(?:[-_](?:mini|nano|turbo|pro|oss\w*))*|chatgpt|openai|anthropic|claude|deepmind"
    r"|gemini|gemma|deepseek|moonshot ai|kimi|llama[-_ ]?\d?|mi[sx]tral(?: ai)?|qwen|grok|x\.?ai|copilot|perplexity|delibsim)\b",
    re.IGNORECASE,
)
"""Names of language models and of houses known for nothing else. Google, Meta and their like are also what debates are about."""
OWN_NAME = re.compile(r"[\d_./:-]")
"""What tells the name of a preset or a model from a word that any speech may hold."""


def blinded(run: Run, first: Side) -> tuple[Statement, ...]:
    """The six speeches under the names Speaker A (who is on the side `first`) and Speaker B, scrubbed; notes are left out."""
    names = {side: f"Speaker {'A' if side == first else 'B'}" for side in SIDES}
    seats = {participant.id: names[participant.role] for participant in run.session.participants if participant.role in SIDES}
    speeches = [said for said in run.transcript if said.turn.task != PREPARATION]
    return tuple(
        Statement(Turn(i, said.turn.round, seats[said.turn.speaker]), scrubbed(said.text, names, names_in(run.session)))
        for i, said in enumerate(speeches, 1)
    )


def scrubbed(text: str, names: dict[Side, str], models: Iterable[str] = ()) -> str:
    """A text in which the sides go by these names, and models and self-disclosure are removed.

    >>> scrubbed("As an AI I say: the opposition is wrong.", {"proposition": "Speaker A", "opposition": "Speaker B"})
    '[removed] I say: Speaker B is wrong.'
    """
    text = DISCLOSURE.sub(REMOVED, text)
    for model in sorted(set(models), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(model)}(?!\w)", REMOVED, text, flags=re.IGNORECASE)
    text = FAMILIES.sub(REMOVED, text)
    for side, name in names.items():
        # "the opposition to this tax" is no side of the debate
        text = re.sub(
            rf"\b(?:the|our|this|side) (?:side )?{side}(?: (?:side|team|bench))?\b(?! (?:to|of) )", name, text, flags=re.IGNORECASE
        )
        text = re.sub(rf"\b{side.capitalize()}\b(?! (?:to|of) )", name, text)
    return text


def names_in(session: Session) -> list[str]:
    """The names under which a session's models are known, as far as they cannot be ordinary words."""
    found = set()
    for name, settings in session.models.items():
        model = str(settings.get("model", ""))
        found |= {name, model, model.rpartition("/")[2]}
    return [name for name in found if OWN_NAME.search(name)]
