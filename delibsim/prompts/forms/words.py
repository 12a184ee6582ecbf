"""The form of free speech: any text that is not empty and not too long."""

import itertools
from dataclasses import dataclass

from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import UnreadableReply

PADDING = "words that stand until some reply comes".split()
"""The words that pad a speech in a dry run; their mean length is that of English prose, 4.7
letters.
"""


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
        padding = itertools.islice(itertools.cycle(PADDING), missing)
        padded = [*said, *padding]
        return " ".join(padded[: self.limit])
