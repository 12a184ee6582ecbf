"""For authors of plug-ins: checks of what a plug-in must do, runs to try it on, and a provider."""

from delibsim.testing.checks import (
    check_exporter,
    check_importer,
    check_language_model,
    check_scorer,
)
from delibsim.testing.runs import a_coded_run, a_debate, a_run

__all__ = [
    "a_coded_run",
    "a_debate",
    "a_run",
    "check_exporter",
    "check_importer",
    "check_language_model",
    "check_scorer",
]
