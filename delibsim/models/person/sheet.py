"""A survey as a person is asked it: item by item, with the numbers that are left for each."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from delibsim.domain.consensus import HIGHEST, LOWEST
from delibsim.domain.survey import Item, Survey
from delibsim.models.person.page import BACK
from delibsim.prompts.forms.survey import SurveyAnswers


@dataclass(frozen=True)
class Sheet:
    """The items of a survey by label, in the order in which they were shown.

    `before` holds the answers of the first survey where they are shown. `settled` is what was
    answered of the items before the one that is asked.
    """

    form: SurveyAnswers
    considerations: Mapping[str, str]
    options: Mapping[str, str]
    before: Mapping[str, int]

    @property
    def labels(self) -> list[str]:
        """The labels of all items, in the order in which they are asked."""
        return [*self.considerations, *self.options]

    def allowed(self, label: str, settled: Mapping[str, int]) -> Collection[int]:
        """The numbers that an item can be answered with."""
        left = self._left(label, settled)
        return self.form.shown.scale if left is None else left

    def question(self, label: str, settled: Mapping[str, int]) -> str:
        """What is asked of one item; the first option is shown with all others."""
        left = self._left(label, settled)
        if label in self.options:
            first = next(iter(self.options)) == label
            ranks = ", ".join(map(str, left or ()))
            return f"{self._listed() if first else ''}rank of {label} [left: {ranks}]"
        number = f"{list(self.considerations).index(label) + 1}/{len(self.considerations)}"
        item = f"{self.considerations[label]}{self._answered(label)}"
        counts = ", ".join(f"{value} x{n}" for value, n in (left or {}).items())
        places = f" [left: {counts}]" if counts else ""
        return f"\n{number}  {item}\n{self.form.scale}{places}"

    def last_question(self) -> str:
        """What is asked when every item is answered."""
        return (
            f"\nEnter hands the answers in; {BACK} or a question returns to it ({self.named()}): "
        )

    def named(self) -> str:
        """What a person may call the items: considerations by number, options by label."""
        numbers = f"1 to {len(self.considerations)}" if len(self.considerations) > 1 else "1"
        return ", ".join([numbers, *self.options])

    def place(self, name: str) -> int | None:
        """The place of the item that a person names among all; None where none is called so."""
        numbers = map(str, range(1, len(self.considerations) + 1))
        labels = [label.casefold() for label in self.options]
        names = [*numbers, *labels]
        return names.index(name.casefold()) if name.casefold() in names else None

    def _left(self, label: str, settled: Mapping[str, int]) -> dict[int, int] | None:
        """How often each number is left: each rank once; None where the scale is free."""
        ranked = label in self.options
        used = Counter(n for own, n in settled.items() if (own in self.options) == ranked)
        forced = self.form.shown.forced_distribution
        if ranked:
            places = dict.fromkeys(range(1, len(self.options) + 1), 1)
        elif forced is not None:
            places = dict(zip(self.form.shown.scale, forced, strict=True))
        else:
            return None
        return {number: n - used[number] for number, n in places.items() if n > used[number]}

    def _listed(self) -> str:
        """All options, above the rank of the first."""
        lines = []
        for label, text in self.options.items():
            lines.append(f"  {label}. {text}{self._answered(label)}\n")
        return f"\nRank the options, 1 for the one you prefer most:\n{''.join(lines)}"

    def _answered(self, label: str) -> str:
        return f"  (before: {self.before[label]})" if label in self.before else ""


def sheet_of_vote(statements: Sequence[str]) -> Sheet:
    """A vote as a sheet: agreement with every statement (A1 and on), then the ranks (R1 and on),
    which one statement alone does not have.
    """
    agreement = {f"A{i}": f"S{i}. {text}" for i, text in enumerate(statements, 1)}
    several = range(1, len(statements) + 1) if len(statements) > 1 else ()
    ranks = {f"R{i}": f"the statement S{i}" for i in several}
    items = [Item(label, "consideration", text) for label, text in agreement.items()]
    items += [Item(label, "preference", text) for label, text in ranks.items()]
    survey = Survey("vote", tuple(items), LOWEST, HIGHEST)
    return Sheet(SurveyAnswers(survey), agreement, ranks, {})
