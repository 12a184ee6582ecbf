"""What is found out about a model before the first paid call."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One finding about one model: an "error" stops the study before it pays, a "warning" and a "note" do not."""

    level: Literal["error", "warning", "note"]
    model: str
    text: str
