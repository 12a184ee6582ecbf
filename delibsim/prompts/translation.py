"""What a language model is asked that translates a statement into German."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from delibsim.domain.data import patterns, read_data
from delibsim.domain.text import SHORT, language
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose, UnreadableReply

_WORDS = read_data("prompts.yaml")["translation"]
INSTRUCTIONS: str = _WORDS["instructions"]
AGAIN: str = _WORDS["again"]


def translation_prompt(text: str) -> Prompt:
    """Ask for the German of one text."""
    messages = (Message("system", INSTRUCTIONS), Message("user", text))
    return Prompt(messages, Rendering(text), Purpose("translator", "translation"))


LONGER = 3
"""Times as many words as the text has, and a few more: a longer reply says something of its own."""
_PATTERNS = patterns("translation")
PREAMBLE = re.compile(rf"^\W*({_PATTERNS['preamble']})[^\n]{{0,80}}:\s", re.IGNORECASE)
ABOUT: Mapping[str, tuple[str, str]] = _PATTERNS["about"]
"""What a reply may speak of only if the text does: in the reply, and in the text."""


@dataclass(frozen=True)
class Rendering:
    """A text in German. What is a refusal, a preamble, or the text as it was, is no translation."""

    text: str

    def describe(self) -> str:
        """The form in words."""
        return "Reply with the German text and nothing else."

    def read(self, text: str) -> str:
        """The German text; UnreadableReply with what shows that it is none."""
        reply, source = Words().read(text), self.text.strip()
        found = language(reply)
        doubtful = found is None and len(source.split()) > 2 * SHORT
        if found not in ("german", None) or doubtful:
            raise UnreadableReply("the reply is not German")
        if source.casefold() in reply.casefold() and language(source) in ("english", "unknown"):
            raise UnreadableReply("the reply repeats the text without translating it")
        if PREAMBLE.search(reply) and not PREAMBLE.search(source):
            raise UnreadableReply("the reply begins with words of its own")
        for what, (in_reply, in_text) in ABOUT.items():
            said = re.search(in_reply, reply, re.IGNORECASE)
            if said and not re.search(in_text, source, re.IGNORECASE):
                raise UnreadableReply(f"the reply speaks of {what}, of which the text does not")
        words, of_text = len(reply.split()), len(source.split())
        if words > LONGER * (of_text + 5):
            raise UnreadableReply(f"the reply has {words} words, the text {of_text}")
        return reply

    def example(self, label: str, words: int = 0) -> str:
        """The label, padded to so many words."""
        return Words().example(label, words)
