"""The form of a summary: any text that is not empty."""

from dataclasses import dataclass

from delibsim.prompts.forms.words import Words


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
