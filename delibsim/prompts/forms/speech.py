"""The form of a speech in a debate: words that keep to rules."""

from dataclasses import dataclass, replace

from delibsim.domain.rules import Rules, cut
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import UnreadableReply


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
        return (
            f"Reply with the words of your speech and nothing else: {self.rules.least} to"
            f" {self.rules.most} words."
        )

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
