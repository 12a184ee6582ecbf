"""What a command line says that cannot be read, in one sentence with the nearest right line."""

import re
import sys
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import quoted

EXTRA = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)")
"""What typer says of words that no argument takes."""
SAME: dict[str, str] = read_data("messages.yaml")["options"]
"""Words of other programs for the options that commands share."""


def in_one_line(error: Any) -> str:
    """What typer refused: the command, what is wrong, and how to mend it."""
    context = error.ctx
    if context is None:
        option = getattr(error, "option_name", "")
        return f"{option} needs a value" if option else error.format_message()
    said = f"{_fault(error)}; see {context.command_path} --help"
    return f"{context.info_name}: {said}" if context.parent else said


def _fault(error: Any) -> str:
    params = error.ctx.command.params
    option = getattr(error, "option_name", "")
    if option and option not in [word for param in params for word in param.opts]:
        return _unknown(option, error.ctx)
    param = getattr(error, "param", None)
    if param is None:
        found = EXTRA.match(error.message)
        return f"too many words: {found[1]}" if found else _lower(error.format_message())
    name = (
        param.opts[0] if param.param_type_name == "option" else param.metavar or param.name.upper()
    )
    if "Missing" in type(error).__name__:
        pieces = error.ctx.command.collect_usage_pieces(error.ctx)[1:]
        line = " ".join([error.ctx.command_path, *pieces])
        return f"{name} is missing: {line}"
    return f"{name}: {_lower(error.message)}"


def _unknown(option: str, context: Any) -> str:
    """An option that the command has not, and the word that was meant."""
    params = context.command.params
    known = [word for param in params for word in (*param.opts, *param.secondary_opts)]
    same = SAME.get(option)
    if same in known:
        return f"there is no {option}; write {same}"
    if any(param.name == "settings" for param in params) and (line := _as_setting(option)):
        return f"there is no {option}, and settings are written without dashes: write {line}"
    near = get_close_matches(option, known, 1)
    return f"there is no {option}; did you mean {near[0]}" if near else f"there is no {option}"


def _as_setting(option: str) -> str:
    """The setting that an option would be, with the value behind it; "" where there is none of its
    name.
    """
    from delibsim.planning.cell import Composer  # slow to import

    wanted = option.lstrip("-").replace("-", "_")
    try:
        settings = Composer(Path.cwd()).presets.config()
    except WrongInput:
        return ""
    dotted = [
        f"{group}.{key}"
        for group, inner in settings.items()
        if isinstance(inner, dict)
        for key in inner
    ]
    found = [one for one in (*settings, *dotted) if one.rpartition(".")[2] == wanted]
    words = [*sys.argv, ""]
    value = ""
    for word, after in pairwise(words):
        name, equals, given = word.partition("=")
        if name == option:
            value = given if equals else after
    return f"{found[0]}={quoted(value)}" if found and value and value[0] != "-" else ""


def _lower(text: str) -> str:
    """A sentence of typer's as the rest of one of ours."""
    first, rest = text[:1], text[1:].rstrip(".?")
    return f"{first.lower()}{rest}"
