"""The options and settings that the commands of `delibsim code` share."""

from collections.abc import Sequence
from typing import Annotated

import typer

from delibsim.cli.words import QUOTES
from delibsim.domain.errors import WrongInput, unknown

SETTINGS = "Settings as key=value, such as scheme=dqi3."
CodeSettings = Annotated[list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)]
EXAMPLES = {"scheme": "dqi3", "study": "pilot", "name": "main"}
"""A value for the first setting of a command, to show in what form settings are written."""
CODERS = "How many people code; or their names, parted by commas."
Coders = Annotated[str, typer.Option("--coders", help=CODERS)]


def values_of(settings: Sequence[str] | None, known: Sequence[str]) -> dict[str, str]:
    """The values of settings by key, "" for those not given; WrongInput for others, and for two of
    one key.

    >>> values_of(["scheme=dqi3"], ["scheme", "by"])
    {'scheme': 'dqi3', 'by': ''}
    """
    values = dict.fromkeys(known, "")
    for setting in settings or []:
        key, sign, value = setting.partition("=")
        if not sign:
            first = known[0]
            example = f"{first}={EXAMPLES.get(first, '...')}"
            raise WrongInput(f"'{setting}' is no setting; write it as key=value, such as {example}")
        if key not in values:
            raise unknown("setting", key, known)
        if values[key]:
            raise WrongInput(f"{key} is set twice")
        values[key] = value.strip(QUOTES)
    return values


def whole_number(name: str, value: str) -> int | None:
    """The whole number of a setting, None where it is not given; WrongInput for anything else."""
    if not value:
        return None
    if not value.isascii() or not value.isdigit():
        raise WrongInput(f"{name}={value}: give a whole number of 0 or more")
    return int(value)
