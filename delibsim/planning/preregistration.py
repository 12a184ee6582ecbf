"""The preregistration of a study: its plan as a document to be registered, with blanks for what its
author must say. The text stands in data/templates.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from delibsim.domain.data import DATA
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.planning.preregistered import BLANK, Plans, facts
from delibsim.store.reading import read_json

SEAL = "<!-- delibsim: SHA-256 of all above: {} -->\n"


def document(plans: Plans) -> str:
    """The plan as Markdown, sealed at its end.

    The seal is a hash, by which a file that was filled in is known.
    """
    return sealed(written("preregistration", facts(plans)))


def written(name: str, said: Mapping[str, Any]) -> str:
    """A text of data/templates with what it says."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import

    texts = Environment(
        loader=FileSystemLoader(DATA / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    texts.filters |= {
        "blank": BLANK.format,
        "cell": plain,
        "counted": counted,
        "json": json.dumps,
        "number": _number,
        "settings": settings,
        "table": table,
        "whole": int,
    }
    return texts.get_template(f"{name}.md.j2").render(said)


def sealed(text: str) -> str:
    """A text and its hash."""
    text = text.rstrip("\n") + "\n\n"
    return text + SEAL.format(hashlib.sha256(text.encode()).hexdigest())


def untouched(text: str) -> bool:
    """Whether a file is as it was written: nothing was filled in."""
    body, mark, _ = text.rpartition(SEAL.partition("{")[0])
    return bool(mark) and sealed(body) == text


def refuse_if_filled_in(path: Path, begun: str) -> None:
    """WrongInput for a file that was filled in, or may have been registered: one of a study of
    which `begun` says that it has begun.
    """
    if not path.exists():
        return
    fault = ""
    if not path.is_file() or not untouched(path.read_text(encoding="utf-8", errors="replace")):
        fault = "exists and was filled in or changed"
    elif begun:
        fault = "exists, and the study has begun since"
    if fault:
        raise WrongInput(f"{path} {fault}; it is left as it is. Name another file: -o FILE")


def power_analysis(path: Path) -> str:
    """The analysis of power in a file as Markdown; WrongInput where the file is none."""
    from jinja2 import TemplateError

    if not path.is_file():
        raise WrongInput(f"{path} is no file; make it with delibsim power --json > {path}")
    try:
        return written("power", read_json(path)).strip("\n")
    except (KeyError, TypeError, ValueError, AttributeError, TemplateError) as error:
        raise WrongInput(
            f"{path} is no answer of delibsim power; make it with delibsim power --json > {path}"
        ) from error


def _number(value: float | None) -> str:
    """Four digits; a dash where there is no value."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number of an answer")
    return f"{value:.4g}"


def table(rows: Iterable[Sequence[object]], *heads: str) -> str:
    r"""A table.

    >>> print(table([("a|b", 2)], "topic", "n"))
    | topic | n |
    | --- | --- |
    | a\|b | 2 |
    """
    lines = []
    for line in [list(heads), ["---"] * len(heads), *rows]:
        cells = [plain(str(cell)) for cell in line]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def plain(text: str) -> str:
    """Text that stays in its cell and is no markup of its own."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def settings(content: Any) -> str:
    """Settings word for word, in a block that nothing in them can close."""
    lines = json.dumps(content, ensure_ascii=False, indent=1, default=str).splitlines()
    return "\n".join(f"    {line}" for line in lines)
