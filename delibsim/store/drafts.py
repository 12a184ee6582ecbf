"""Drafts: commented files to begin with, of a topic, survey, treatment, persona or scorer."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from string import Template

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.score import MEASURES
from delibsim.domain.study import RESERVED
from delibsim.plugins import names
from delibsim.store.instruments.library import package_data

FOLDERS = {
    "topic": "topics",
    "survey": "surveys",
    "treatment": "conf/treatment",
    "persona": "conf/persona",
}
"""Where a draft is written, below the user's folder, and found by its name."""
SCORER = "scorer"
KINDS: dict[str, str] = read_data("messages.yaml")["drafts"]
"""What can be written, each in a few words."""
NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}", re.ASCII)
SETTINGS = {"all", "null", "true", "false", "nan", "inf"}
"""Words that mean something else at the command line."""
PACKAGE = {
    "pyproject.toml": "pyproject.toml.txt",
    "$package/__init__.py": "init.py.txt",
    "$package/scorer.py": "scorer.py.txt",
    "test_$module.py": "test.py.txt",
}
"""The files of the package of a scorer, and the template of each."""


@dataclass(frozen=True)
class Draft:
    """What was written, and the commands that come next."""

    path: Path
    following: tuple[str, ...]


def write_draft(kind: str, name: str, home: Path) -> Draft:
    """Write a draft below the user's folder; WrongInput for a name that cannot be one or is taken,
    and where something lies in its place.
    """
    if kind not in KINDS:
        raise unknown("kind of draft", kind, KINDS)
    if not NAME.fullmatch(name) or name in RESERVED | SETTINGS:
        raise refused(
            "no_name_of_a_draft", named=name, kind=kind, listed=", ".join(sorted(SETTINGS))
        )
    if kind == SCORER:
        return _write_scorer(name, home)
    folder = FOLDERS[kind]
    ours, path = package_data(folder.partition("/")[0]), home / folder / f"{name}.yaml"
    shipped = ours.joinpath(*folder.split("/")[1:], path.name)
    if shipped.is_file() and shipped.resolve() != path.resolve():
        raise WrongInput(f"the {kind} '{name}' comes with delibsim; take another name")
    text = _filled(f"{kind}.yaml", {"name": name})
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_new(path, text)
    return Draft(path, _following(kind, name, home))


def _following(kind: str, name: str, home: Path) -> tuple[str, ...]:
    """The commands that use a draft."""
    if kind == "survey" and not (home / "topics" / f"{name}.yaml").is_file():
        return (f"delibsim list surveys {name}", f"delibsim run topic=TOPIC survey={name}")
    if kind == "topic" and not (home / "surveys" / f"{name}.yaml").is_file():
        return (f"delibsim new survey {name}", f"delibsim run topic={name}")
    setting = "topic" if kind == "survey" else kind
    return (f"delibsim run {setting}={name}",)


def _write_scorer(name: str, home: Path) -> Draft:
    """Write the package of a scorer: all of its files or none."""
    module = name.replace("-", "_")
    package, measure = f"delibsim_{module}", f"{module}_words"
    if name in names("delibsim.scorers") or measure in MEASURES:
        raise WrongInput(f"there is a scorer or measure of the name '{name}'; take another name")
    values = {
        "name": name,
        "dashed": re.sub(r"[_-]+", "-", name).strip("-"),
        "module": module,
        "package": package,
        "measure": measure,
        "class_name": "".join(part.capitalize() for part in module.split("_")) + "Scorer",
    }
    folder = home / package
    try:
        folder.mkdir()
    except FileExistsError:
        raise _taken(folder) from None
    try:
        for place, template in PACKAGE.items():
            path = folder / Template(place).substitute(values)
            path.parent.mkdir(exist_ok=True)
            _write_new(path, _filled(f"{SCORER}/{template}", values))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    commands = (
        f"python {package}/test_{module}.py",
        f"python -m pip install -e ./{package}",
        f"delibsim score STUDY --scorer {name}",
    )
    return Draft(folder, commands)


def _filled(template: str, values: dict[str, str]) -> str:
    """The text of a draft."""
    path = package_data("data") / "templates" / template
    return Template(path.read_text(encoding="utf-8")).substitute(values)


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise _taken(path) from None


def _taken(path: Path) -> WrongInput:
    return WrongInput(f"{path} is there already and is left as it is; take another name")
