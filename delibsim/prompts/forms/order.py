"""The order of options in a reply, as a server can enforce it, and the form that asks for it alone.

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

from delibsim.prompts.labelled import labelled_values, whole_characters
from delibsim.prompts.objects import Members, brief, only_object
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
