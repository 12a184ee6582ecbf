"""The audit of a study's codes by one scheme, on disk: verdicts of people and models, kinds.

A task folder of its own, annotations/audit-SCHEME/: task.json (the models that read rationales),
exchanges.jsonl, annotations.jsonl (verdicts of models), people.jsonl (those of people), packs/
(samples handed out to people), kinds.jsonl (kinds of failure as people corrected them).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from delibsim.domain.audit import FailureKind, Verdict
from delibsim.domain.reason import reason_from_text
from delibsim.store import codec
from delibsim.store.annotations import TaskFolder
from delibsim.store.reading import adapter
from delibsim.store.runs import Runs

PREFIX = "audit-"


@dataclass(frozen=True)
class Correction:
    """The kind that a person gives a disagreement between the ensemble and a coder."""

    text: str
    dimension: str
    person: str
    kind: FailureKind


@dataclass(frozen=True)
class Audits:
    """The audit of the codes of one study by one scheme."""

    files: TaskFolder

    @classmethod
    def of(cls, runs: Runs, scheme: str) -> "Audits":
        """That of a study by the scheme of this id."""
        return cls(TaskFolder.of(runs, f"{PREFIX}{scheme}"))

    def settle_models(self, scheme_sha256: str, models: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep which models read rationales, with their settings."""
        task = self.files.task()
        known = {**task.get("models", {}), **models}
        self.files.settle({"scheme_sha256": scheme_sha256, "models": known})

    def verdicts(self) -> list[Verdict]:
        """Every verdict, of models and of people; Damaged for a line that is none."""
        found = []
        for file in (self.files.annotations, self.files.people):
            for line in self.files.read(file)[0]:
                plain: dict[str, Any] = {"level": None, **line}
                missing = plain.get("missing")
                if isinstance(missing, str):
                    plain["missing"] = asdict(reason_from_text(missing))
                found.append(_built(Verdict, plain, file))
        return found

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Keep verdicts; who calls it has refused those that are known."""
        for verdict in verdicts:
            plain = asdict(verdict)
            plain["missing"] = None if verdict.missing is None else str(verdict.missing)
            said = {name: value for name, value in plain.items() if value not in (None, "")}
            file = self.files.annotations if verdict.kind == "model" else self.files.people
            self.files.add(file, [said])

    def corrections(self) -> dict[tuple[str, str, str], FailureKind]:
        """The kinds that people gave, by text, dimension and coder; the last of each counts."""
        found = {}
        for line in self.files.read(self._kinds)[0]:
            one = _built(Correction, line, self._kinds)
            found[one.text, one.dimension, one.person] = one.kind
        return found

    def correct(self, corrections: Iterable[Correction]) -> None:
        """Keep kinds that people gave."""
        self.files.add(self._kinds, map(asdict, corrections))

    @property
    def _kinds(self) -> Path:
        return self.files.folder / "kinds.jsonl"


def _built(kind: type[Any], plain: Mapping[str, Any], file: Path) -> Any:
    """What a line describes; Damaged, naming the file, if it describes nothing."""
    try:
        return adapter(kind).validate_json(json.dumps(plain), strict=True)
    except ValidationError as error:
        raise codec.Damaged(f"{file}: {error.errors()[0]['msg']}") from None
