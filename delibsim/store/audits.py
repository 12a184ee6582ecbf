"""The audit of a study's codes by one scheme, on disk: verdicts of people and models, kinds.

A task folder of its own, annotations/audit-SCHEME/: task.json (the models that read rationales),
exchanges.jsonl, annotations.jsonl (verdicts of models), people.jsonl (those of people), packs/
(samples handed out to people), kinds.jsonl (kinds of failure as people corrected them).
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from delibsim.domain.audit import FailureKind, Verdict
from delibsim.store.answers import TaskAnswers
from delibsim.store.records import built


@dataclass(frozen=True)
class Correction:
    """The kind that a person gives a disagreement between the ensemble and a coder."""

    text: str
    dimension: str
    person: str
    kind: FailureKind


@dataclass(frozen=True)
class Audits(TaskAnswers[Verdict]):
    """The audit of the codes of one study by one scheme."""

    prefix = "audit-"
    called = "audit"
    key = "scheme"
    command = "delibsim code ask kind=rationale"
    of_models = Verdict

    def corrections(self) -> dict[tuple[str, str, str], FailureKind]:
        """The kinds that people gave, by text, dimension and coder; the last of each counts."""
        found = {}
        for line in self.files.read(self._kinds)[0]:
            one = built(Correction, line, str(self._kinds))
            found[one.text, one.dimension, one.person] = one.kind
        return found

    def correct(self, corrections: Iterable[Correction]) -> None:
        """Keep kinds that people gave."""
        self.files.add(self._kinds, map(asdict, corrections))

    @property
    def _kinds(self) -> Path:
        return self.files.folder / "kinds.jsonl"
