"""The form of what a facilitator says: its words, and whom it would like to hear next."""

import re
from dataclasses import dataclass

from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import UnreadableReply

NEXT = re.compile(r"\n?[ \t>*_#-]*next[ \t*_]*:[ \t*_]*([^\n]*?)[ \t*_.]*$", re.IGNORECASE)
NOBODY = ("", "-", "nobody", "no one", "none")
LONGEST_NAME = 200
"""Characters of a name that are kept."""


@dataclass(frozen=True)
class Facilitated:
    """What a facilitator said, and whom it would like to hear next; "" for nobody."""

    text: str
    names: str = ""


@dataclass(frozen=True)
class Facilitation:
    """The words of a facilitator to a `task`, which speak for none of the `people`; with `waiting`,
    a last line may name one of these as the next to speak.
    """

    task: str
    people: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    limit: int | None = None

    def describe(self) -> str:
        """The form in words."""
        if not self.waiting:
            return Words().describe()
        return (
            "Reply with the words you say and nothing else, and then on a line of its own with"
            " “Next: ” and the name of the one you would like to hear next, or “Next: nobody”."
        )

    def read(self, text: str) -> Facilitated:
        r"""The words and the name, as it was written; UnreadableReply where a line is spoken for
        somebody else.

        >>> Facilitation("round", ("Ann", "Ben"), ("Ann", "Ben")).read("Thank you.\nNext: Ben")
        Facilitated(text='Thank you.', names='Ben')
        """
        words, names = Words(self.limit).read(text), ""
        match = NEXT.search(words) if self.waiting else None
        if match:
            words, names = words[: match.start()].strip(), match[1].strip()[:LONGEST_NAME]
        if not words:
            raise UnreadableReply("the reply names the next speaker and says nothing else")
        for line in words.splitlines():
            spoken, colon, _ = line.strip(" \t>*_").partition(":")
            if colon and spoken.strip(" *_") in self.people:
                raise UnreadableReply(
                    f"a line speaks for {spoken.strip(' *_')}; reply with your own words alone"
                )
        return Facilitated(words, "" if names.casefold() in NOBODY else names)

    def example(self, label: str, words: int = 0) -> str:
        """The label, padded to `words` words; it names nobody."""
        said = Words(self.limit).example(label, words)
        return f"{said}\nNext: nobody" if self.waiting else said
