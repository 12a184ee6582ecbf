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
from delibsim.store.answers import Answers
from delibsim.store.reading import adapter
from delibsim.store.records import plain_record

PREFIX = "audit-"


@dataclass(frozen=True)
class Correction:
    """The kind that a person gives a disagreement between the ensemble and a coder."""

    text: str
    dimension: str
    person: str
    kind: FailureKind


@dataclass(frozen=True)
class Audits(Answers[Verdict]):
    """The audit of the codes of one study by one scheme."""

    prefix = PREFIX
    called = "audit"
    key = "scheme"
    command = "delibsim code ask kind=rationale"

    def every(self) -> list[Verdict]:
        """Every verdict, of models and then of people; Damaged for a line that is none."""
        return [*self.all(), *self.people()]

    def _read(self, file: Path, faults: list[str] | None) -> list[Verdict]:
        """The verdicts in a file; Damaged for a line that is none."""
        found = []
        for line in self.files.read(file)[0]:
            plain: dict[str, Any] = {"level": None, **line}
            missing = plain.get("missing")
            if isinstance(missing, str):
                plain["missing"] = asdict(reason_from_text(missing))
            found.append(_built(Verdict, plain, file))
        return found

    def _plain(self, answer: Verdict) -> Mapping[str, Any]:
        """A verdict as one line, without what says nothing."""
        return plain_record(answer)

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
