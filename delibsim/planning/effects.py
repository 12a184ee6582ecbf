"""What is said of settings without effect, and of conditions that are the same."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from delibsim.domain.effect import Drop, Dropped, NoEffect, drops, no_effects, same_cells
from delibsim.domain.format import DELIBERATION
from delibsim.domain.run import Session
from delibsim.domain.study import cell_of
from delibsim.plugins import without_effect
from delibsim.store.instruments.library import Library


@dataclass(frozen=True)
class Effects:
    """What sessions vary without effect, by declaration of their models and by the record of calls.

    `same` gives for each condition that is the same as another by construction the first of these,
    `alike` for each whose difference from another was dropped the first that was asked alike;
    conditions go by the names of their sessions without the replicate, and `conditions` is the
    number of all. `surveys` gives for each topic the survey of another on which it is held.
    """

    settings: tuple[NoEffect, ...]
    same: Mapping[str, str]
    conditions: int
    dropped: tuple[Drop, ...] = ()
    alike: Mapping[str, str] = field(default_factory=dict)
    surveys: Mapping[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """What is known before anything is asked, as plain values."""
        return {
            "without_effect": [asdict(one) for one in self.settings],
            "same_conditions": dict(self.same),
            "surveys_of_other_topics": dict(self.surveys),
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
        return [*self.warned(), *(f"note: {line}" for line in notes)]

    def warned(self) -> list[str]:
        """What is most likely an error, as warnings."""
        lines = []
        for topic, survey in self.surveys.items():
            lines.append(
                f"warning: people deliberate on {topic} and answer the survey {survey}, which is"
                " that of another topic"
            )
        return lines


def effects_of(
    sessions: Sequence[Session],
    held: Sequence[Session] = (),
    dropped: Dropped | None = None,
) -> Effects:
    """What these sessions vary without effect; of those `held`, also what was dropped on record."""
    same = same_cells(sessions, without_effect)
    cells = len({cell_of(session) for session in sessions})
    found = no_effects(sessions, without_effect)
    others = _of_other_topics(sessions)
    if not dropped:
        return Effects(found, same, cells, surveys=others)
    alike = same_cells(held, without_effect, dropped)
    alike = {cell: first for cell, first in alike.items() if cell not in same}
    return Effects(found, same, cells, drops(held, without_effect, dropped), alike, others)


def _of_other_topics(sessions: Sequence[Session]) -> dict[str, str]:
    """The survey of each topic that goes by the name of another topic."""
    found: dict[str, str] = {}
    topics = Library().topics()
    for session in sessions:
        topic, survey = session.topic, session.survey.id
        name = survey.rpartition(".")[2]
        own = (topic.id, topic.survey, topic.survey.rpartition(".")[2])
        if session.format == DELIBERATION.name and name in topics and name not in own:
            found.setdefault(topic.id, survey)
    return found


def _counted(cells: Mapping[str, str], of: int, what: str) -> list[str]:
    """How many of the conditions share what is said, and one example."""
    if not cells:
        return []
    cell, first = next(iter(cells.items()))
    return [f"{len(cells)} of {of} conditions {what}, such as {cell} = {first}"]
