"""Carrying a study out: holding, replaying, annotating and scoring."""

from importlib import import_module
from typing import Any

from delibsim.renamed import warn_renamed

RENAMED = {"hold_all": "hold", "score_all": "score", "usual_scorers": "score", "spent": "cost"}
"""Functions that version 0.1 had here, and the module they are in now; they are kept for one
version.
"""


def __getattr__(name: str) -> Any:
    if name not in RENAMED:
        raise AttributeError(f"module 'delibsim.conduct' has no attribute '{name}'")
    warn_renamed(f"delibsim.conduct.{name}", f"delibsim.conduct.{RENAMED[name]}.{name}")
    return getattr(import_module(f"delibsim.conduct.{RENAMED[name]}"), name)
