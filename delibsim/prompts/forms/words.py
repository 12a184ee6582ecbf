"""The forms of free text: words, a speech that keeps to rules, a summary, the steps of a coder, and
what a facilitator says, with whom it would like to hear next.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from delibsim.domain.errors import phrase
from delibsim.domain.treatment import Rules, cut
from delibsim.prompts.labelled import only_object, padded, whole_characters
from delibsim.prompts.prompt import UnreadableReply, schema_of, text_schema

PADDING = "words that stand until some reply comes"
"""The words that pad a speech in a dry run; their mean length is that of English prose, 4.7
letters.
"""


QUESTION_MARKS = "?\uff1f\u061f\u037e"
"""What ends a question, in one script or another."""


def asks(text: str) -> bool:
    """Whether a text puts a question.

    >>> asks("What does it cost?"), asks("It is dear.")
    (True, False)
    """
    return any(mark in text for mark in QUESTION_MARKS)


@dataclass(frozen=True)
class Words:
    """Free speech: any text that is not empty and has no more than `limit` words."""

    limit: int | None = None

    def describe(self) -> str:
        """The form in words."""
        return "Reply with the words you say and nothing else."

    def read(self, text: str) -> str:
        """The words without surrounding space.

        >>> Words().read(" I agree. ")
        'I agree.'
        """
        words = whole_characters(text).strip().strip("\ufeff").strip()
        if not words:
            raise UnreadableReply("the reply is empty")
        if self.limit is None or len(words) < 2 * self.limit:
            return words  # too few characters for too many words
        count = len(words.split())
        if count > self.limit:
            raise UnreadableReply(f"the reply has {count} words; at most {self.limit} are read")
        return words

    def example(self, label: str, words: int = 0) -> str:
        """The label, padded to `words` words, or to as many as are read.

        >>> Words().example("[a statement]", 4)
        '[a statement] words that'
        """
        said = label.split()
        missing = max(0, words - len(said))
        whole = [*said, *padded(PADDING, missing).split()]
        return " ".join(whole[: self.limit])


@dataclass(frozen=True)
class WitnessQuestion(Words):
    """Words that put a question."""

    def describe(self) -> str:
        """The form in words."""
        return "Reply with your question and nothing else."

    def read(self, text: str) -> str:
        """The question; UnreadableReply where nothing is asked.

        >>> WitnessQuestion().read("What does it cost?")
        'What does it cost?'
        """
        words = super().read(text)
        if not asks(words):
            raise UnreadableReply("the reply puts no question; it has no question mark")
        return words

    def example(self, label: str, words: int = 0) -> str:
        """The label as a question, padded to `words` words."""
        return f"{super().example(label, words)}?"


@dataclass(frozen=True)
class Speech:
    """A speech under rules; `asked` counts re-asks, from 0.

    After the last re-ask a speech is read whatever rule it breaks.
    """

    rules: Rules
    limit: int | None = None
    asked: int = 0

    def describe(self) -> str:
        """The form in words."""
        return phrase("speech_form", least=self.rules.least, most=self.rules.most)

    def read(self, text: str) -> str:
        """The speech; UnreadableReply with every broken rule while it may be asked for again."""
        words = Words(self.limit).read(text)
        broken = self.rules.broken(words)
        if broken and self.asked < self.rules.reasks:
            raise UnreadableReply("; ".join(broken.values()))
        if "too_long" in broken and self.rules.then == "cut":
            return cut(words, self.rules.most)
        return words

    def example(self, label: str, words: int = 0) -> str:
        """The label, padded to the length nearest to `words` that the rules allow."""
        allowed = min(max(words, self.rules.least), self.rules.most)
        return Words(self.limit).example(label, allowed)

    def again(self) -> "Speech":
        """The form in which it is asked for once more."""
        return replace(self, asked=self.asked + 1)


@dataclass(frozen=True)
class SummaryForm:
    """The summary alone."""

    def describe(self) -> str:
        """The form in words."""
        return "Reply with the summary and nothing else."

    def read(self, text: str) -> str:
        """The summary without surrounding space; UnreadableReply where it is empty.

        >>> SummaryForm().read(" Most want a tram. ")
        'Most want a tram.'
        """
        return Words().read(text)

    def example(self, label: str, words: int = 0) -> str:
        """The label, padded to `words` words."""
        return Words().example(label, words)


FEWEST, MOST = 5, 7
NUMBERED = re.compile(
    r"[ \t>*#_-]*(?:step[ \t]+)?(\d{1,2})[ \t*_]*[.):][ \t*_]*(.*)", re.IGNORECASE
)


@dataclass(frozen=True)
class StepsForm:
    """Five to seven numbered steps, each beginning a line; what follows a step belongs to it."""

    def describe(self) -> str:
        """The form in words."""
        return phrase("steps_form", fewest=FEWEST, most=MOST)

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema: a text for each of six steps."""
        return schema_of({f"{number}.": text_schema(400) for number in range(1, FEWEST + 2)})

    def example(self, label: str, words: int = 0) -> str:
        """Six steps; they say nothing of their own."""
        said = "Compare what the text says with the anchor of this level, and go on if it fits."
        return "\n".join(f"{number}. {said}" for number in range(1, FEWEST + 2))

    def read(self, text: str) -> tuple[str, ...]:
        r"""The steps in their order; UnreadableReply where they are too few or too many.

        >>> StepsForm().read("1. Read.\n2. Find.\n3. Ask.\n4. Compare.\n5. Decide.")[-1]
        'Decide.'
        """
        if '"1."' in text:
            found = only_object(text, [f"{number}." for number in range(1, MOST + 1)])
            text = "\n".join(f"{name} {said}" for name, said in found.pairs)
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
        return phrase("facilitation_form")

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
