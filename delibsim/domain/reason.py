"""Reasons: why an answer, a statement, a rating or a value is missing."""

from dataclasses import dataclass

SEPARATOR = ": "


@dataclass(frozen=True)
class Reason:
    """Why something is missing: a `code` that is counted, and the `detail` in words, "" if none.

    The code is the status of a call, such as "refusal" or "unreadable", or names what was not done,
    such as "debate_incomplete" or "not_given".
    """

    code: str
    detail: str = ""

    @classmethod
    def of_call(cls, status: str, detail: str) -> "Reason":
        """Why a call gave no answer: its status, and its detail without a colon at the end.

        >>> Reason.of_call("unreadable", "the reply is empty: ")
        Reason(code='unreadable', detail='the reply is empty')
        """
        return cls(status, detail.rstrip(SEPARATOR))

    def __str__(self) -> str:
        """As it stands in files, in tables and on the screen.

        >>> str(Reason("refusal", "the model declined")), str(Reason("not_given"))
        ('refusal: the model declined', 'not_given')
        """
        return f"{self.code}{SEPARATOR}{self.detail}" if self.detail else self.code


def reason_from_text(text: str) -> Reason:
    """The reason that a file gives as text; only the codecs of the store call this.

    >>> reason_from_text("unreadable: C1 is missing")
    Reason(code='unreadable', detail='C1 is missing')
    """
    code, _, detail = text.partition(SEPARATOR)
    return Reason(code, detail)
