"""The form of a whole survey: a labelled rating or rank for each item."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.domain.survey import Survey, faults_of
from delibsim.prompts.labelled import in_one_line, labelled_values
from delibsim.prompts.prompt import UnreadableReply


@dataclass(frozen=True)
class SurveyAnswers:
    """One labelled line for each item: ratings on the scale, and ranks that are a permutation.

    `reversed`: the scale is stated with its ends the other way round, and ratings are mapped back
    as they are read.
    """

    survey: Survey
    reversed: bool = False

    @property
    def shown(self) -> Survey:
        """The survey as its numbers are to be understood by who answers it."""
        forced = self.survey.forced_distribution
        if not self.reversed or forced is None:
            return self.survey
        return replace(self.survey, forced_distribution=forced[::-1])

    @property
    def scale(self) -> str:
        """The scale in words, as it stands in the form."""
        low, high = "strongly disagree", "strongly agree"
        if self.reversed:
            low, high = high, low
        return f"{self.survey.scale_min} ({low}) to {self.survey.scale_max} ({high})"

    def describe(self) -> str:
        """The form in words."""
        return f"{self.rules()}\n{self.ending()}"

    def rules(self) -> str:
        """How to rate and rank."""
        if len(self.survey.items) == 1:
            return f"Answer with a whole number from {self.scale}."
        survey = self.shown
        ranks = len(survey.preferences)
        lines = [f"Rate every consideration with a whole number from {self.scale}."]
        if survey.forced_distribution is not None:
            pairs = zip(survey.scale, survey.forced_distribution, strict=True)
            counts = ", ".join(f"{n} at {value}" for value, n in pairs)
            lines.append(
                f"Give the ratings this exact distribution over the considerations: {counts}."
            )
        lines.append(
            f"Rank the {ranks} policy options from 1 (the one you prefer most) to {ranks} (the one"
            " you prefer least), using each rank exactly once."
        )
        return "\n".join(lines)

    def ending(self) -> str:
        """How to write it down, which stands last in a prompt."""
        items = self.survey.items
        if len(items) == 1:
            return f"Reply with one line, {items[0].id}: NUMBER, and nothing else."
        return (
            f"Reply with one line for each of the {len(items)} labels, in the form LABEL: NUMBER,"
            " and nothing else."
        )

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema: an object with one integer for each label."""
        ratings = list(self.survey.scale)
        ranks = list(range(1, len(self.survey.preferences) + 1))
        properties = {}
        for item in self.survey.items:
            allowed = ratings if item.kind == "consideration" else ranks
            properties[item.id] = {"type": "integer", "enum": allowed}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def read(self, text: str) -> Mapping[str, int]:
        """Answers by item id, on the survey's own scale; UnreadableReply with the faults."""
        values, faults = _read(self, text)
        if faults:
            raise UnreadableReply(in_one_line(faults))
        return self.survey.mirrored(values) if self.reversed else dict(values)

    def example(self, label: str, words: int = 0) -> str:
        """The survey filled in: ratings up the scale, ranks in order; `label` is not used."""
        survey = self.shown
        forced = survey.forced_distribution or itertools.repeat(1)
        uses = zip(survey.scale, forced, strict=False)
        ratings = itertools.cycle([value for value, n in uses for _ in range(n)])
        rated = zip(survey.considerations, ratings, strict=False)
        lines = [f"{item.id}: {value}" for item, value in rated]
        lines += [f"{item.id}: {rank}" for rank, item in enumerate(survey.preferences, 1)]
        return "\n".join(lines)


@functools.lru_cache(maxsize=64)  # a reply is read when it is recorded, and again by who asked
def _read(form: SurveyAnswers, text: str) -> tuple[Mapping[str, int], Sequence[str]]:
    """The numbers in a reply by item id, as they were given, and the faults of the reply."""
    labels = tuple(item.id for item in form.survey.items)
    values, unread = labelled_values(text, labels)
    return values, (*unread, *faults_of(values, form.shown))
