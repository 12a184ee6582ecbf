"""The forms of a survey and of a vote, a labelled rating or rank for each item; and the order of
options in a reply, as a server can enforce it.

No grammar of a size that grows with the number of options allows all orders of them and nothing
else. Of up to `FEW` options every order is listed; of more, each place holds one of the labels, and
where one stands twice the places after it are asked for again.
"""

import functools
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.domain.errors import phrase
from delibsim.domain.survey import Survey, faults_of, faults_of_ranks
from delibsim.prompts.labelled import (
    Members,
    brief,
    in_one_line,
    labelled_values,
    only_object,
    whole_characters,
)
from delibsim.prompts.prompt import SAID, UnreadableReply, schema_of

if TYPE_CHECKING:
    from delibsim.prompts.prompt import Form

ORDER = "order"
FEW = 5
"""RankedOptions of which every order is listed: 120 texts."""
BETWEEN = " > "
APART = re.compile(r"\s*[>,]\s*|\s+")


@functools.lru_cache(maxsize=64)
def order_schema(labels: tuple[str, ...]) -> Mapping[str, Any]:
    """An order of options, the one preferred most first, as a JSON schema."""
    if len(labels) <= FEW:
        orders = [BETWEEN.join(order) for order in itertools.permutations(labels)]
        return {"type": "string", "enum": orders, "description": SAID["order"]}
    place = {"type": "string", "enum": list(labels)}
    places = schema_of({str(number): place for number in range(1, len(labels) + 1)})
    return {**places, "description": SAID["places"]}


def places_of(order: Any, labels: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The options of an order up to its first fault, and the fault; "" if all have their places.

    >>> places_of("P2 > P1 > P2", ("P1", "P2", "P3"))
    (('P2', 'P1'), 'P2 stands twice in the order')
    """
    said: list[Any] = []
    if isinstance(order, str):
        said = APART.split(order.strip())
    elif isinstance(order, list):
        said = order
    elif isinstance(order, Members):
        if order.names != [str(number) for number in range(1, len(order.names) + 1)]:
            return (), "the places of the order are not numbered from 1"
        said = [value for _, value in order.pairs]
    placed: list[str] = []
    for label in said:
        if label not in labels:
            return tuple(placed), f"{brief(label)} in the order is none of {', '.join(labels)}"
        if label in placed:
            return tuple(placed), f"{label} stands twice in the order"
        placed.append(label)
    left = [label for label in labels if label not in placed]
    return tuple(placed), f"the order lacks {', '.join(left)}" if left else ""


@dataclass(frozen=True)
class RankedOptions:
    """The options of a form, the labels under which their ranks stand in lines, and all labels."""

    options: tuple[str, ...]
    ranks: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def rated(self) -> tuple[str, ...]:
        """The labels of all else than ranks."""
        return tuple(label for label in self.labels if label not in self.ranks)

    def schema(self, rated: Mapping[str, Any]) -> dict[str, Any]:
        """Ratings and the order as one JSON schema."""
        order = {ORDER: order_schema(self.options)} if self.options else {}
        return schema_of({**rated, **order})

    def read(self, text: str) -> tuple[Mapping[str, int], Sequence[str], tuple[str, ...]]:
        """Whole numbers by label, what could not be read, and the options that have their places.

        Ranks are read from an order in a JSON object, else under labels of their own.
        """
        if f'"{ORDER}"' not in text:
            return *labelled_values(text, self.labels), ()
        try:
            found = only_object(whole_characters(text), (ORDER,))
        except UnreadableReply as fault:
            return {}, [str(fault)], ()
        orders = [value for name, value in found.pairs if name == ORDER]
        placed, fault = places_of(orders[0], self.options)
        if len(orders) > 1:
            placed, fault = (), "the order is given twice"
        values, unread = self._rated([pair for pair in found.pairs if pair[0] != ORDER])
        if fault:
            return values, [*unread, fault], placed
        return {**values, **self.ranked(placed)}, unread, placed

    def rest(self, whole: "Form", reply: str) -> "OrderForm | None":
        """The form that asks for the ranks alone, where all else of a reply to a whole form can be
        read; None for any other reply.
        """
        values, _, placed = self.read(reply)
        kept = tuple(f"{label}: {values[label]}" for label in self.rated if label in values)
        try:
            value = whole.read("\n".join([*kept, *self.lines(self.options)]))
        except UnreadableReply:
            return None
        try:
            whole.read(reply)
        except UnreadableReply as fault:
            partial = _without(value, self.ranks) if isinstance(value, dict) else None
            return OrderForm(whole, self, kept, partial, placed, str(fault))
        return None

    def _rated(self, given: Sequence[tuple[str, Any]]) -> tuple[Mapping[str, int], Sequence[str]]:
        """The ratings among members of an object, and what could not be read."""
        values = {label: value for label, value in given if type(value) is int}
        if len(values) == len(given) and values.keys() == set(self.rated):
            return values, ()
        flat = ((name, said) for name, said in given if not isinstance(said, Members))
        lines = (f"{name}: {json.dumps(said)}" for name, said in flat)
        return labelled_values("\n".join(lines), self.rated)

    def ranked(self, placed: Sequence[str]) -> dict[str, int]:
        """The ranks of options that have their places, by label."""
        labels = (self.ranks[self.options.index(option)] for option in placed)
        return {label: rank for rank, label in enumerate(labels, 1)}

    def lines(self, placed: Sequence[str]) -> list[str]:
        """Ranks in labelled lines."""
        return [f"{label}: {rank}" for label, rank in self.ranked(placed).items()]


def _without(values: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    return {label: value for label, value in values.items() if label not in labels}


@dataclass(frozen=True)
class OrderForm:
    """What is still to be ordered after a reply to the form `whole` of which all else was read:
    `kept` are its other values in lines, `partial` is what they are worth without ranks, `placed`
    has its place already, and `fault` says what was wrong with the rest.
    """

    whole: "Form"
    among: RankedOptions
    kept: tuple[str, ...]
    partial: Any = field(compare=False)
    placed: tuple[str, ...]
    fault: str

    @property
    def left(self) -> tuple[str, ...]:
        """The options without a place."""
        return tuple(option for option in self.among.options if option not in self.placed)

    def describe(self) -> str:
        """What is asked for, with the fault."""
        placed = SAID["placed"].format(order=BETWEEN.join(self.placed)) if self.placed else ""
        said = SAID["again"].format(fault=self.fault, left=", ".join(self.left), placed=placed)
        return " ".join(said.split())

    def schema(self) -> dict[str, Any]:
        """The order of what is left as a JSON schema."""
        return schema_of({ORDER: order_schema(self.left)})

    def example(self, label: str, words: int = 0) -> str:
        """What is left in the order of the labels."""
        return json.dumps({ORDER: BETWEEN.join(self.left)})

    def read(self, text: str) -> Any:
        """The value of the whole reply, with the order that this one completes."""
        placed, fault = self._placed(text)
        if fault:
            raise UnreadableReply(fault)
        return self.whole.read("\n".join([*self.kept, *self.among.lines(placed)]))

    def rest(self, reply: str) -> "OrderForm":
        """The form of the next reply, after one that has not all places."""
        placed, fault = self._placed(reply)
        return replace(self, placed=placed, fault=fault)

    def _placed(self, reply: str) -> tuple[tuple[str, ...], str]:
        """All options that have their places with this reply, and its fault."""
        try:
            found = only_object(whole_characters(reply), (ORDER,))
        except UnreadableReply as fault:
            return self.placed, str(fault)
        placed, fault = places_of(dict(found.pairs)[ORDER], self.left)
        return (*self.placed, *placed), fault


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
        lines.append(phrase("ranks_form", ranks=ranks))
        return "\n".join(lines)

    def ending(self) -> str:
        """How to write it down, which stands last in a prompt."""
        items = self.survey.items
        if len(items) == 1:
            return f"Reply with one line, {items[0].id}: NUMBER, and nothing else."
        return phrase("survey_form", n=len(items))

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
            return phrase("one_vote_form", scale=scale)
        return phrase("votes_form", n=self.n, scale=scale, lines=2 * self.n)

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
