"""The form of a translation by a language model: German, and nothing but the text that was to be
translated.
"""

import re
from dataclasses import dataclass

from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import UnreadableReply
from delibsim.scorers.aqua.language import SHORT, language

# times as many words as the text has, and a few more; a longer reply says something of its own
LONGER = 3
PREAMBLE = re.compile(r"^\W*(here|sure|certainly|translat|gern|natürlich|selbstverständlich|klar|hier|(die )?(deutsche )?übersetzung)"
                      r"[^\n]{0,80}:\s", re.IGNORECASE)  # fmt: skip
ABOUT = {
    "the translation": (r"übersetz|\btranslat", r"übersetz|\btranslat|\binterpret"),
    "being a language model": (r"\bki\b|sprachmodell|language model", r"\bai\b|\bki\b|artificial|sprachmodell|language model"),
    "not being able to help": (r"(nicht|weder).{0,20}\b(helfen|behilflich|entsprechen)|anfrage.{0,30}ablehnen", r"\bhelp|assist|helfen"),
}  # fmt: skip
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
        told = language(reply)
        if told not in ("german", None) or (told is None and len(source.split()) > 2 * SHORT):
            raise UnreadableReply("the reply is not German")
        if source.casefold() in reply.casefold() and language(source) in ("english", "unknown"):
            raise UnreadableReply("the reply repeats the text without translating it")
        if PREAMBLE.search(reply) and not PREAMBLE.search(source):
            raise UnreadableReply("the reply begins with words of its own")
        for what, (in_reply, in_text) in ABOUT.items():
            if re.search(in_reply, reply, re.IGNORECASE) and not re.search(
                in_text, source, re.IGNORECASE
            ):
                raise UnreadableReply(f"the reply speaks of {what}, of which the text does not")
        if len(reply.split()) > LONGER * (len(source.split()) + 5):
            raise UnreadableReply(
                f"the reply has {len(reply.split())} words, the text {len(source.split())}"
            )
        return reply

    def example(self, label: str, words: int = 0) -> str:
        """The label, padded to so many words."""
        return Words().example(label, words)
