"""The configuration as Hydra composes it: `conf/` of the package, and `conf/` beside the user,
which takes precedence.
"""

import copy
import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.editions import FIRST, LATER, NOW, UNSAID, edition_folder
from delibsim.store.instruments.library import package_data
from delibsim.store.reading import check_yaml

GROUPS = ("treatment", "model", "group", "persona", "wording", "procedure", "limits")

REFERENCE = re.compile(r"\$\{\s*(\w+)")
"""The first step of a ${...}: a key of the configuration, or the name of a resolver."""

RESERVED = (("procedure", "published"),)
"""Presets that follow a publication, and that no file of the user's can replace."""

FOR_DEBATES: Mapping[str, tuple[str, ...]] = {
    "treatment": ("oxford",),
    "wording": ("oxford", "oxford_evaluative"),
    "procedure": ("oxford",),
    "model": ("citizen_eloquent", "citizen_capable", "citizen_plain", "citizen_halting"),
}
"""Options that were made for debates: neither `all` nor a glob means them in a sweep of
deliberations, but they can be named.
"""


class Presets:
    """What can be chosen, and the configuration of any choice.

    Hydra takes some 30 ms for a composition, and a study may have thousands of sessions, so every
    option is composed once and the configuration of a session is put together from its options.
    """

    def __init__(self, home: Path, edition: str = NOW) -> None:
        self.home, self.edition = home, edition
        self._composed: dict[tuple[str, ...], dict[str, Any]] = {}

    def names(self, group: str) -> list[str]:
        """The options of a group."""
        later = LATER.get(self.edition, {}).get(group, ())
        found = {path.stem for path in (package_data("conf") / group).glob("*.yaml")} - set(later)
        for folder in self._before():
            found |= {path.stem for path in (folder / group).glob("*.yaml")}
        return sorted(found)

    def config(self, choices: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The configuration with these options by group, the defaults for all others; WrongInput
        for an option there is not.
        """
        choices = choices or {}
        for group, name in choices.items():
            if name not in self.names(group):
                raise unknown(group, name, self.names(group), self.advice())
            self._refuse_own(group, name)
        options = {group: self._option(group, name) for group, name in choices.items()}
        if any(option is None for option in options.values()):
            config = self._compose(*(f"{group}={name}" for group, name in choices.items()))
        else:
            config = {**self._compose(), **options}
        return resolved(self._as_then(copy.deepcopy(config)))

    def advice(self) -> str:
        """What to do about a preset that the study's edition does not have."""
        if self.edition == NOW:
            return ""
        return (
            f"The study was begun under version {self.edition} and keeps its presets and settings;"
            " newer ones are for a study of their own"
        )

    def _refuse_own(self, group: str, name: str) -> None:
        """Refuse a file of the user's under a name that says what a publication did."""
        theirs = self.home / "conf" / group / f"{name}.yaml"
        ours = package_data("conf") / group / f"{name}.yaml"
        if (group, name) in RESERVED and theirs.is_file() and theirs.resolve() != ours.resolve():
            raise WrongInput(
                f"{theirs} would pass for the {group} of the published study; give your file a name"
                " of its own"
            )

    def _as_then(self, config: dict[str, Any]) -> dict[str, Any]:
        """A configuration as it was under the edition: without the settings that came later."""
        if self.edition != FIRST or not isinstance(config["procedure"], dict):
            return config
        return {**config, "procedure": {**UNSAID, **config["procedure"]}}

    def experiment(self, name: str) -> dict[str, str]:
        """The overrides of an experiment by key, which stand under hydra.sweeper.params; WrongInput
        if it sets anything else.
        """
        if name not in self.names("experiment"):
            raise unknown("experiment", name, self.names("experiment"))
        composed = self._raw([f"+experiment={name}"], hydra=True)
        params = composed["hydra"]["sweeper"].get("params") or {}
        del composed["hydra"]
        composed.pop("experiment", None)
        if other := [key for key, value in composed.items() if value != self._compose().get(key)]:
            raise WrongInput(
                f"conf/experiment/{name}.yaml sets '{other[0]}'; an experiment holds its settings"
                " under hydra.sweeper.params"
            )
        return {str(key): _written(value) for key, value in params.items()}

    def launcher(self, name: str, overrides: Iterable[str]) -> None:
        """WrongInput if Hydra knows no such launcher, or not those settings of it."""
        self._raw([f"hydra/launcher={name}", *overrides], hydra=True)

    def _option(self, group: str, name: str) -> Any:
        """What an option puts under its group; None where it reaches beyond it, so that it cannot
        be composed alone.
        """
        base, whole = self._compose(), self._compose(f"{group}={name}")
        beyond = any(whole.get(key) != base.get(key) for key in {*base, *whole} - {group})
        return None if beyond or "${" in json.dumps([base, whole], default=str) else whole[group]

    def _compose(self, *overrides: str) -> dict[str, Any]:
        if overrides not in self._composed:
            self._composed[overrides] = self._raw(overrides)
        return self._composed[overrides]

    def _before(self) -> list[Path]:
        """The folders that are searched before the package: the user's, then that of the study's
        edition.
        """
        found = [(self.home / "conf").resolve(), edition_folder(self.edition, "conf")]
        return [path for path in found if path.is_dir() and path != package_data("conf").resolve()]

    def _raw(self, overrides: Iterable[str], hydra: bool = False) -> dict[str, Any]:
        before = self._before()
        if not before:
            return copy.deepcopy(_packaged(tuple(overrides), hydra))
        return _composed(tuple(overrides), hydra, before)


@functools.cache
def _packaged(overrides: tuple[str, ...], hydra: bool) -> dict[str, Any]:
    """A composition of what the package comes with, which does not change."""
    return _composed(overrides, hydra)


def _composed(
    overrides: tuple[str, ...], hydra: bool, before: Sequence[Path] = ()
) -> dict[str, Any]:
    ours = package_data("conf").resolve()
    for folder in before:
        for path in sorted(folder.rglob("*.yaml")):
            _refuse_unsafe(path, path.stat().st_mtime_ns)
    try:
        with initialize_config_dir(version_base="1.3", config_dir=str(ours)):
            words = list(overrides)
            # Hydra appends what hydra.searchpath names, and would let the package win; the override
            # makes it look again.
            for folder in reversed(before):
                GlobalHydra.instance().config_loader().get_search_path().prepend(
                    folder.name, f"file://{folder}"
                )
            if before:
                words.append(
                    f"hydra.searchpath=[{','.join(f'file://{folder}' for folder in before)}]"
                )
            plain: Any = OmegaConf.to_container(
                hydra_compose("config", overrides=words, return_hydra_config=hydra)
            )
            return plain
    except (HydraException, OmegaConfBaseException) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        advice = (
            '; null stands in quotes there: "null"'
            if any("is not Optional" in line for line in lines)
            else ""
        )
        raise WrongInput(" ".join(lines[:2]) + advice) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{mark.name}, line {mark.line + 1}: " if mark else ""
        raise WrongInput(f"{place}{error.problem or error.context}") from None
    except UnicodeDecodeError as error:
        searched = before[0] if before else ours
        found = (
            path
            for path in sorted(searched.rglob("*.yaml"))
            if path.read_bytes().decode(errors="replace").count("\ufffd")
        )
        raise WrongInput(f"{next(found, searched)}: not text in UTF-8: {error.reason}") from None
    except yaml.YAMLError as error:
        raise WrongInput(
            f"a file in {before[0] if before else ours}: {str(error).splitlines()[0]}"
        ) from None


@functools.cache
def _refuse_unsafe(path: Path, changed: int) -> None:
    """Refuse a file that Hydra would take minutes to read, or never finish; `changed` says when it
    was written, so that each version is checked once.
    """
    check_yaml(path)


def laid_over(preset: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with values at dotted keys; the models' own settings may be added to, other
    dictionaries replaced whole.
    """
    config = json.loads(json.dumps(preset))
    for key, value in values.items():
        *path, leaf = key.split(".")
        place = config
        for step in path:
            place = place.setdefault(step, {})
            if not isinstance(place, dict):
                raise WrongInput(f"'{key}': '{step}' holds one value and no settings of its own")
        place[leaf] = value
    return resolved(config)


def leaves(config: Mapping[str, Any], at: str = "", whole: bool = False) -> dict[str, Any]:
    """Every setting by dotted key; with `whole`, the dictionaries that hold them too."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            found |= ({f"{at}{key}": value} if whole else {}) | leaves(value, f"{at}{key}.", whole)
        else:
            found[f"{at}{key}"] = value
    return found


def resolved(config: dict[str, Any]) -> dict[str, Any]:
    """A configuration with every ${...} in it filled in."""
    concerned = _concerned(config)
    if not concerned:
        return config
    try:
        plain: Any = OmegaConf.to_container(
            OmegaConf.create({key: config[key] for key in concerned}), resolve=True
        )
    except OmegaConfBaseException as error:
        raise WrongInput(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    return {**config, **plain}


def _concerned(config: Mapping[str, Any]) -> list[str]:
    """The keys of a configuration that hold a ${...}, and those that are named in one, directly or
    through others.

    OmegaConf takes ten times as long for a whole configuration, and a sweep fills in one for every
    session.
    """
    texts = {key: json.dumps(value, default=str) for key, value in config.items()}
    concerned = [key for key, text in texts.items() if "${" in text]
    for key in concerned:  # which grows as it is gone through
        named = REFERENCE.findall(texts[key])
        concerned += [
            name for name in dict.fromkeys(named) if name in texts and name not in concerned
        ]
    return concerned


def _written(value: Any) -> str:
    """A parameter of an experiment as it would stand at the command line."""
    return value if isinstance(value, str) else json.dumps(value)
