"""What is planned to be asked of models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from delibsim.prompts.prompt import Prompt

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class PlannedCalls:
    """The calls of one session, one panel of raters or one coding task, as far as a preflight needs
    them: the settings of the models by name, and the longest prompt that any of them can get.
    """

    id: str
    models: Mapping[str, Settings]
    longest: Prompt
