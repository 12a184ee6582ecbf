"""The form of steps: the numbered procedure by which a coder will apply one dimension."""

import re
from dataclasses import dataclass

from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import UnreadableReply

FEWEST, MOST = 5, 7
NUMBERED = re.compile(
    r"[ \t>*#_-]*(?:step[ \t]+)?(\d{1,2})[ \t*_]*[.):][ \t*_]*(.*)", re.IGNORECASE
)


@dataclass(frozen=True)
class StepsForm:
    """Five to seven numbered steps, each beginning a line; what follows a step belongs to it."""

    def describe(self) -> str:
        """The form in words."""
        return (
            f"Reply with {FEWEST} to {MOST} numbered steps and nothing else, each on a line that"
            " begins with its number and a full stop."
        )

    def example(self, label: str, words: int = 0) -> str:
        """Six steps; they say nothing of their own."""
        said = "Compare what the text says with the anchor of this level, and go on if it fits."
        return "\n".join(f"{number}. {said}" for number in range(1, FEWEST + 2))

    def read(self, text: str) -> tuple[str, ...]:
        r"""The steps in their order; UnreadableReply where they are too few or too many.

        >>> StepsForm().read("1. Read.\n2. Find.\n3. Ask.\n4. Compare.\n5. Decide.")[-1]
        'Decide.'
        """
        steps: list[list[str]] = []
        for line in whole_characters(text).splitlines():
            match = NUMBERED.match(line)
            if match and int(match[1]) == len(steps) + 1:
                steps.append([match[2]])
            elif steps:
                steps[-1].append(line)
        found = tuple(" ".join(" ".join(lines).split()) for lines in steps)
        if not FEWEST <= len(found) <= MOST:
            raise UnreadableReply(
                f"the reply has {len(found)} numbered steps; {FEWEST} to {MOST} are asked for"
            )
        empty = next((number for number, step in enumerate(found, 1) if not step), 0)
        if empty:
            raise UnreadableReply(f"step {empty} is empty")
        return found
