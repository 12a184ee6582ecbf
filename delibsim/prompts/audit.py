"""What a language model is asked that audits codes: which level a rationale concludes."""

from delibsim.domain.annotation import Text
from delibsim.domain.scheme import Dimension
from delibsim.prompts.blocks import block, quoted
from delibsim.prompts.forms.ballot import Choice
from delibsim.prompts.prompt import Message, Prompt, Purpose

NO_LEVEL = "NO_LEVEL"
"""What the reader says of a rationale that concludes no level; no level is called so."""
TASK = (
    "You check explanations. Somebody graded a text on one dimension and explained the grade. You"
    " see the levels of the dimension and the explanation; you see neither the text nor the grade."
    " Say which level the explanation arrives at. Go by its words alone: do not grade the text"
    " yourself, and do not guess. A level that is named only to be ruled out does not count."
)
ORDER = (
    "Which level does the explanation arrive at? If it arrives at none, or leaves several open, say"
    f" {NO_LEVEL}. Reply with one line and nothing else:"
)
AGAIN = "That reply cannot be used: {fault}. Reply with one line, in the form asked for."


def audit_prompt(dimension: Dimension, rationale: Text, reader: str) -> Prompt:
    """Ask which level a rationale concludes; its lines are quoted and cannot close their block."""
    levels = []
    for level in dimension.levels:
        levels.append(f"{level.value} ({level.name}): {level.anchor}")
    form = Choice("LEVEL", (*map(str, dimension.values), NO_LEVEL))
    system = "\n\n".join(
        [
            TASK,
            block("dimension", f"{dimension.name}. {dimension.brief}".strip()),
            block("levels", "\n".join(levels)),
        ]
    )
    user = "\n\n".join([block("explanation", quoted(rationale.text)), ORDER, form.describe()])
    messages = (Message("system", system), Message("user", user))
    return Prompt(messages, form, Purpose(reader, f"audit {rationale.id}"))


def audit_reask(fault: str) -> str:
    """What is said after an unreadable reply."""
    return AGAIN.format(fault=fault)
