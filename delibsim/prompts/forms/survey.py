"""The forms of a survey and of a vote: a labelled rating or rank for each item."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.domain.survey import Survey, faults_of, faults_of_ranks
from delibsim.prompts.forms.order import OrderForm, RankedOptions
from delibsim.prompts.labelled import in_one_line
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

    @property
    def among(self) -> RankedOptions:
        """The options that are ranked."""
        ranked = tuple(item.id for item in self.survey.preferences)
        return RankedOptions(ranked, ranked, tuple(item.id for item in self.survey.items))

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema: a whole number for each rating, and the order of options."""
        rating = {"type": "integer", "enum": list(self.survey.scale)}
        rated = {item.id: rating for item in self.survey.considerations}
        return self.among.schema(rated)

    def read(self, text: str) -> Mapping[str, int]:
        """Answers by item id, on the survey's own scale; UnreadableReply with the faults."""
        values, faults = _read(self, text)
        if faults:
            raise UnreadableReply(in_one_line(faults))
        return self.survey.mirrored(values) if self.reversed else dict(values)

    def rest(self, reply: str) -> OrderForm | None:
        """The form that asks for the ranks alone, where every rating of a reply is readable."""
        return self.among.rest(self, reply)

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
    values, unread, _ = form.among.read(text)
    return values, (*unread, *faults_of(values, form.shown))


@dataclass(frozen=True)
class Ranked:
    """Ranks (1: preferred most) and agreement, both in the order of the statements shown."""

    ranks: tuple[int, ...]
    agreement: tuple[int, ...]


@dataclass(frozen=True)
class RankingForm:
    """Two labelled lines for each of `n` statements S1 to Sn: ranks R1 to Rn, a permutation, and
    agreement A1 to An on the scale from 1 to 7.
    """

    n: int

    @property
    def ranks(self) -> tuple[str, ...]:
        """The labels of the ranks."""
        return tuple(f"R{i}" for i in range(1, self.n + 1))

    @property
    def agreement(self) -> tuple[str, ...]:
        """The labels of the agreement."""
        return tuple(f"A{i}" for i in range(1, self.n + 1))

    def describe(self) -> str:
        """The form in words."""
        scale = f"{LOWEST} (strongly disagree) to {HIGHEST} (strongly agree)"
        if self.n == 1:
            return (
                "Rank the statement 1, and say how far you agree with it, with a whole number from"
                f" {scale}.\nReply with the lines R1: 1 and A1: NUMBER, and nothing else."
            )
        return (
            f"Rank the {self.n} statements from 1 (the one you prefer most) to {self.n} (the one"
            " you prefer least), using each rank exactly once: R1 is the rank of S1, and so on."
            f" Say how far you agree with every statement, with a whole number from {scale}: A1 is"
            " your agreement with S1, and so on.\n"
            f"Reply with one line for each of the {2 * self.n} labels R1 to R{self.n} and A1 to"
            f" A{self.n}, in the form LABEL: NUMBER, and nothing else."
        )

    @property
    def among(self) -> RankedOptions:
        """The statements that are ranked."""
        statements = tuple(f"S{i}" for i in range(1, self.n + 1))
        return RankedOptions(statements, self.ranks, (*self.ranks, *self.agreement))

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema: a whole number for each agreement, and the order."""
        number = {"type": "integer", "enum": list(range(LOWEST, HIGHEST + 1))}
        return self.among.schema(dict.fromkeys(self.agreement, number))

    def example(self, label: str, words: int = 0) -> str:
        """Ranks in order, and the middle of the scale; `label` is not used."""
        lines = [f"{rank}: {i}" for i, rank in enumerate(self.ranks, 1)]
        lines += [f"{agreement}: {(LOWEST + HIGHEST) // 2}" for agreement in self.agreement]
        return "\n".join(lines)

    def read(self, text: str) -> Ranked:
        r"""Ranks and agreement; UnreadableReply with the faults.

        >>> RankingForm(2).read("R1: 2\nR2: 1\nA1: 4\nA2: 7")
        Ranked(ranks=(2, 1), agreement=(4, 7))
        """
        values, unread, _ = self.among.read(text)
        faults = [*unread, *self._faults(values)]
        if faults:
            raise UnreadableReply(in_one_line(faults))
        ranks = tuple(values[label] for label in self.ranks)
        return Ranked(ranks, tuple(values[label] for label in self.agreement))

    def rest(self, reply: str) -> OrderForm | None:
        """The form that asks for the ranks alone, where every agreement of a reply is readable."""
        return self.among.rest(self, reply)

    def _faults(self, values: Any) -> list[str]:
        """What makes whole numbers no vote; what is missing is told already."""
        faults = faults_of_ranks({own: values[own] for own in self.ranks if own in values}, self.n)
        for label in self.agreement:
            if label in values and not LOWEST <= values[label] <= HIGHEST:
                faults.append(f"{label} has {values[label]}, outside {LOWEST} to {HIGHEST}")
        return faults
