"""Prompts: messages, the purpose they serve, and the form of reply they ask for."""

import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from delibsim.domain.survey import Survey, faults_of
from delibsim.prompts.labelled import labelled_values, whole_characters


class UnreadableReply(ValueError):
    """The reply does not meet the form that was asked for; the message names the concrete fault."""


PADDING = "words that stand until some reply comes".split()
"""What the speech of a rehearsal is filled up with; its words have the mean length of English
prose, 4.7 letters.
"""


class Form(Protocol):
    """A form of reply: says in words what it wants, reads it back, and gives an example of it for
    rehearsals.
    """

    def describe(self) -> str:
        """The form in words, as the prompt states it."""
        ...

    def read(self, text: str) -> Any:
        """The value in a reply; raises UnreadableReply with the concrete fault."""
        ...

    def example(self, label: str, words: int = 0) -> str:
        """A reply that `read` takes at once, for a rehearsal that calls nobody
        (delibsim/planning/dry_run.py).

        Speech is `label`, which says what the text stands for, padded to `words` words; all else
        has the length of a real reply.
        """
        ...


@dataclass(frozen=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Purpose:
    """What a prompt is for: which participant is asked, on which occasion ("pre", "post", "turn
    3"), at which attempt from 0.
    """

    participant: str
    occasion: str
    attempt: int = 0


@dataclass(frozen=True)
class Prompt:
    """Everything that is asked in one call."""

    messages: tuple[Message, ...]
    reply: Form
    purpose: Purpose

    @property
    def text(self) -> str:
        """All messages as one text, each under its role."""
        return "\n\n".join(f"[{message.role}]\n{message.content}" for message in self.messages)

    def hash(self, model: str, seed: int) -> str:
        """SHA-256 of the canonical request: roles and contents, form of reply, model and seed, each
        after its length in bytes.
        """
        digest = hashlib.sha256()
        parts = [part for message in self.messages for part in (message.role, message.content)]
        for part in (*parts, self.reply.describe(), model, str(seed)):
            text = part.encode(errors="surrogatepass")
            digest.update(b"%d:" % len(text))  # lengths keep the parts apart
            digest.update(text)
        return digest.hexdigest()


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
        if self.limit is not None and (count := len(words.split())) > self.limit:
            raise UnreadableReply(f"the reply has {count} words; at most {self.limit} are read")
        return words

    def example(self, label: str, words: int = 0) -> str:
        """The label, padded to so many words, or to as many as are read.

        >>> Words().example("[a statement]", 4)
        '[a statement] words that'
        """
        said = label.split()
        padding = itertools.islice(itertools.cycle(PADDING), max(0, words - len(said)))
        return " ".join([*said, *padding][: self.limit])


@dataclass(frozen=True)
class SurveyAnswers:
    """A whole survey: one labelled line for each item, ratings on the scale and ranks that are a
    permutation.

    `reversed`: the scale is stated with its ends the other way round, and ratings are mapped back
    as they are read.
    """

    survey: Survey
    reversed: bool = False

    @property
    def shown(self) -> Survey:
        """The survey as its numbers are to be understood by who answers it."""
        forced = self.survey.forced_distribution
        return (
            self.survey
            if not self.reversed or forced is None
            else replace(self.survey, forced_distribution=forced[::-1])
        )

    @property
    def scale(self) -> str:
        """The scale in words, as it stands in the form."""
        low, high = (
            ("strongly agree", "strongly disagree")
            if self.reversed
            else ("strongly disagree", "strongly agree")
        )
        return f"{self.survey.scale_min} ({low}) to {self.survey.scale_max} ({high})"

    def describe(self) -> str:
        """The form in words."""
        return f"{self.rules()}\n{self.ending()}"

    def rules(self) -> str:
        """How to rate and rank."""
        if len(self.survey.items) == 1:
            return f"Answer with a whole number from {self.scale}."
        survey, ranks = self.shown, len(self.survey.preferences)
        lines = [
            f"Rate every consideration with a whole number from {self.scale}.",
            (
                f"Rank the {ranks} policy options from 1 (the one you prefer most) to {ranks} (the"
                " one you prefer least), using each rank exactly once."
            ),
        ]
        if survey.forced_distribution is not None:
            counts = ", ".join(
                f"{n} at {value}"
                for value, n in zip(survey.scale, survey.forced_distribution, strict=True)
            )
            lines.insert(
                1, f"Give the ratings this exact distribution over the considerations: {counts}."
            )
        return "\n".join(lines)

    def ending(self) -> str:
        """How to write it down, which stands last in a prompt."""
        if len(self.survey.items) == 1:
            return f"Reply with one line, {self.survey.items[0].id}: NUMBER, and nothing else."
        return (
            f"Reply with one line for each of the {len(self.survey.items)} labels, in the form"
            " LABEL: NUMBER, and nothing else."
        )

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema, for providers that hold a model to one: an object with one
        integer for each label.
        """
        survey = self.survey
        ranks = list(range(1, len(survey.preferences) + 1))
        values = {
            item.id: list(survey.scale) if item.kind == "consideration" else ranks
            for item in survey.items
        }
        properties = {
            label: {"type": "integer", "enum": allowed} for label, allowed in values.items()
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def read(self, text: str) -> Mapping[str, int]:
        """Answers by item id, on the survey's own scale; raises UnreadableReply naming every label
        at fault.
        """
        values, unread = labelled_values(text, tuple(item.id for item in self.survey.items))
        faults = [*unread, *faults_of(values, self.shown)]
        if faults:
            shown = "; ".join(faults[:8])
            raise UnreadableReply(
                shown + (f"; and {len(faults) - 8} more faults" if len(faults) > 8 else "")
            )
        return self.survey.mirrored(values) if self.reversed else dict(values)

    def example(self, label: str, words: int = 0) -> str:
        """The survey filled in, one labelled line for each item: ratings up the scale, ranks in
        order; it says nothing of its own.
        """
        survey = self.shown
        forced = survey.forced_distribution or itertools.repeat(1)
        ratings = itertools.cycle(
            [value for value, n in zip(survey.scale, forced, strict=False) for _ in range(n)]
        )
        lines = [
            f"{item.id}: {value}"
            for item, value in zip(survey.considerations, ratings, strict=False)
        ]
        return "\n".join(
            lines + [f"{item.id}: {rank}" for rank, item in enumerate(survey.preferences, 1)]
        )
