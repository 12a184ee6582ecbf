"""What is said of settings without effect, and of conditions that are the same."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from delibsim.domain.effect import Drop, Dropped, NoEffect, drops, no_effects, same_cells
from delibsim.domain.run import Session
from delibsim.domain.study import cell_of
from delibsim.plugins import without_effect


@dataclass(frozen=True)
class Effects:
    """What sessions vary without effect, by declaration of their models and by the record of calls.

    `same` gives for each condition that is the same as another by construction the first of these,
    `alike` for each whose difference from another was dropped the first that was asked alike;
    conditions go by the names of their sessions without the replicate, and `conditions` is the
    number of all.
    """

    settings: tuple[NoEffect, ...]
    same: Mapping[str, str]
    conditions: int
    dropped: tuple[Drop, ...] = ()
    alike: Mapping[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """What is known before anything is asked, as plain values."""
        return {
            "without_effect": [asdict(one) for one in self.settings],
            "same_conditions": dict(self.same),
        }

    def recorded(self) -> dict[str, Any]:
        """What only the record shows, as plain values."""
        return {"dropped": [asdict(one) for one in self.dropped], "asked_alike": dict(self.alike)}

    def mark(self, condition: str) -> str:
        """What stands behind a condition that is the same as another; "" behind the others."""
        if condition in self.same:
            return f" (= {self.same[condition]}, by construction)"
        if condition in self.alike:
            return f" (asked like {self.alike[condition]})"
        return ""

    def lines(self) -> list[str]:
        """Notes in words; nothing where all that is varied has an effect."""
        notes = [str(one) for one in self.settings]
        notes += _counted(self.same, self.conditions, "are the same as another by construction")
        notes += [str(one) for one in self.dropped]
        notes += _counted(self.alike, self.conditions, "were asked like another")
        return [f"note: {line}" for line in notes]


def effects_of(
    sessions: Sequence[Session],
    held: Sequence[Session] = (),
    dropped: Dropped | None = None,
) -> Effects:
    """What these sessions vary without effect; of those `held`, also what was dropped on record."""
    same = same_cells(sessions, without_effect)
    cells = len({cell_of(session) for session in sessions})
    found = no_effects(sessions, without_effect)
    if not dropped:
        return Effects(found, same, cells)
    alike = same_cells(held, without_effect, dropped)
    alike = {cell: first for cell, first in alike.items() if cell not in same}
    return Effects(found, same, cells, drops(held, without_effect, dropped), alike)


def _counted(cells: Mapping[str, str], of: int, what: str) -> list[str]:
    """How many of the conditions share what is said, and one example."""
    if not cells:
        return []
    cell, first = next(iter(cells.items()))
    return [f"{len(cells)} of {of} conditions {what}, such as {cell} = {first}"]
