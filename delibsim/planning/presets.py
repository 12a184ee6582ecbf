"""What can be chosen in `conf/`, as Hydra composes it, and the configuration of any choice.

`conf/` beside the user takes precedence over `conf/` of the package.
"""

import copy
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any

import yaml

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.planning.references import resolved
from delibsim.store.instruments.library import check_persona_file, package_data
from delibsim.store.reading import check_yaml, yaml_nodes

_KNOWN = read_data("settings.yaml")
GROUPS: tuple[str, ...] = _KNOWN["groups"]

RESERVED = (("procedure", "published"), ("wording", "published"))
"""Presets that follow a publication, and that no file of the user's can replace."""

WORDED = {"published": "published"}
"""The wording that goes with a procedure where none is named; `default` goes with any other."""

FOR_DEBATES: Mapping[str, tuple[str, ...]] = _KNOWN["for_debates"]
"""Options for debates, which can be named; in deliberations, `all` and globs leave them out."""

FOR_CODERS: Mapping[str, tuple[str, ...]] = {"wording": ("coding", "coding_a", "coding_b")}
"""Options for coders of finished texts; no session is held with them."""


class Presets:
    """The options of every group, and the configuration with some of them chosen.

    Hydra takes some 100 ms for a composition. It composes the defaults once; the configuration of a
    session is put together from these and from the file of each option that was chosen. Where an
    option's file does more than set values of its group, Hydra composes it.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self._composed: dict[tuple[str, ...], dict[str, Any]] = {}
        self._names: dict[str, list[str]] = {}
        self._options: dict[tuple[str, str], Any] = {}

    def names(self, group: str) -> list[str]:
        """The options of a group."""
        if group not in self._names:
            self._names[group] = self._found(group)
        return self._names[group]

    def config(self, choices: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The configuration with these options by group, and the defaults for all other groups.

        WrongInput for an unknown option.
        """
        choices = choices or {}
        for group, name in choices.items():
            if name not in self.names(group):
                raise unknown(group, name, self.names(group))
            self._refuse_own(group, name)
        base = self._compose()  # which also refuses files that cannot be read, before any is
        options = {group: self._option(group, name) for group, name in choices.items()}
        if any(option is None for option in options.values()):
            config = self._compose(*(f"{group}={name}" for group, name in choices.items()))
        else:
            config = {**base, **options}
        config = resolved(copy.deepcopy(config))
        if "model" in choices and isinstance(config["model"], dict):
            config["model"].setdefault("name", choices["model"])  # that of its file
        return config

    def experiment(self, name: str) -> dict[str, str]:
        """The overrides of an experiment by key, which stand under hydra.sweeper.params.

        WrongInput if it sets anything else.
        """
        if name not in self.names("experiment"):
            raise unknown("experiment", name, self.names("experiment"))
        config = self._raw(f"+experiment={name}", hydra=True)
        sweeper = config["hydra"]["sweeper"]
        params = sweeper.get("params") if isinstance(sweeper, dict) else None
        if params is not None and not isinstance(params, dict):
            raise WrongInput(f"conf/experiment/{name}.yaml: hydra.sweeper.params holds no settings")
        params = params or {}
        del config["hydra"]
        config.pop("experiment", None)
        defaults = self._compose()
        for key, value in config.items():
            if value != defaults.get(key):
                raise refused("experiment_setting_misplaced", named=name, key=key)
        return {str(key): _as_override(value) for key, value in params.items()}

    def launcher(self, name: str, overrides: Iterable[str]) -> None:
        """Check a launcher: WrongInput if Hydra does not know it, or not those settings of it."""
        self._raw(f"hydra/launcher={name}", *overrides, hydra=True)

    def values(self, group: str, name: str) -> dict[str, Any]:
        """What a preset sets that no session is composed with, such as one of `summary`.

        WrongInput for an unknown one, and for a file that is no mapping of plain values.
        """
        if name not in self.names(group):
            raise unknown(group, name, self.names(group))
        path = self.file(group, name)
        found = plain_option(path)
        if found is None:
            raise WrongInput(f"{path}: this is no list of settings with plain values")
        return found

    def _refuse_own(self, group: str, name: str) -> None:
        """Refuse a file of the user's under a name that is reserved for a publication."""
        theirs = self.home / "conf" / group / f"{name}.yaml"
        ours = package_data("conf") / group / f"{name}.yaml"
        if (group, name) in RESERVED and theirs.is_file() and theirs.resolve() != ours.resolve():
            raise refused("passes_for_published", theirs=theirs, group=group)

    def _found(self, group: str) -> list[str]:
        """The options of a group for which there is a file."""
        found = _stems(package_data("conf") / group)
        for folder in self._before():
            found |= _stems(folder / group)
        return sorted(found)

    def _option(self, group: str, name: str) -> Any:
        """What an option sets in its group; None where it must be composed with the others."""
        if (group, name) not in self._options:
            path = self.file(group, name)
            found = plain_option(path)
            own = path.is_relative_to((self.home / "conf").resolve())
            if group == "persona" and found is not None and own:
                check_persona_file(path, found)
            self._options[group, name] = found or self._composed_option(group, name)
        return self._options[group, name]

    def _composed_option(self, group: str, name: str) -> Any:
        """What an option sets in its group, as Hydra composes it; None where it sets more."""
        base, whole = self._compose(), self._compose(f"{group}={name}")
        if "${" in json.dumps([base, whole], default=str):
            return None
        others = {*base, *whole} - {group}
        beyond = any(whole.get(key) != base.get(key) for key in others)
        return None if beyond else whole[group]

    def file(self, group: str, name: str) -> Path:
        """The file of an option: of the first folder that has one."""
        folders = [*self._before(), package_data("conf")]
        paths = [folder / group / f"{name}.yaml" for folder in folders]
        return next((path for path in paths if path.is_file()), paths[-1])

    def _compose(self, *overrides: str) -> dict[str, Any]:
        if overrides not in self._composed:
            self._composed[overrides] = self._raw(*overrides)
        return self._composed[overrides]

    def _raw(self, *overrides: str, hydra: bool = False) -> dict[str, Any]:
        before = self._before()
        if before:
            return composed(overrides, before, hydra)
        return copy.deepcopy(composed_from_package(overrides, hydra))

    def _before(self) -> list[Path]:
        """The folders searched before the package: that of the user, where there is one."""
        own = (self.home / "conf").resolve()
        return [own] if own.is_dir() and own != package_data("conf").resolve() else []


def _stems(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.yaml")}


def _as_override(value: Any) -> str:
    """A parameter of an experiment as it would stand at the command line."""
    return value if isinstance(value, str) else json.dumps(value)


BEYOND = ("@package", "defaults", "${", "???")
"""What a file holds that reaches beyond its group, or that only Hydra can read."""


def composed(
    overrides: Sequence[str], before: Sequence[Path] = (), hydra: bool = False
) -> dict[str, Any]:
    """The configuration that Hydra composes from overrides, as plain values.

    `before` are the folders that take precedence over the package; with `hydra`, Hydra's own
    settings are part of the result. WrongInput for what cannot be composed.
    """
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        plain = _composed(overrides, before, hydra)
        if not hydra:
            _refuse_odd_values(plain)
        return plain
    except (HydraException, OmegaConfBaseException) as error:
        raise WrongInput(_of_hydra(error)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{mark.name}, line {mark.line + 1}: " if mark else ""
        raise WrongInput(f"{place}{error.problem or error.context}") from None
    except UnicodeDecodeError as error:
        searched = before[0] if before else package_data("conf").resolve()
        raise WrongInput(f"{_not_utf8(searched)}: not text in UTF-8: {error.reason}") from None
    except yaml.YAMLError as error:
        searched = before[0] if before else package_data("conf").resolve()
        raise WrongInput(f"a file in {searched}: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise WrongInput(f"a setting of {', '.join(overrides)} is nested too deep") from None
    except WrongInput:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise WrongInput(f"a setting of {', '.join(overrides)}: {error}") from None


@functools.cache
def composed_from_package(overrides: tuple[str, ...], hydra: bool) -> dict[str, Any]:
    """A composition of the files of the package, which do not change; not to be written to."""
    return composed(overrides, hydra=hydra)


def plain_option(path: Path) -> dict[str, Any] | None:
    """What the file of an option holds, where it is a mapping that Hydra would take as it is.

    None for any other file: Hydra composes it, or says what is wrong with it.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in BEYOND):
            return None
        content: Any = OmegaConf.to_container(OmegaConf.load(path))
        json.dumps(content)
    except (OSError, ValueError, TypeError, yaml.YAMLError, OmegaConfBaseException):
        return None
    return content if isinstance(content, dict) and content else None


def _composed(overrides: Sequence[str], before: Sequence[Path], hydra: bool) -> dict[str, Any]:
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    words = list(overrides)
    ours = package_data("conf").resolve()
    for folder in before:
        for path in sorted(folder.rglob("*.yaml")):
            _refuse_unsafe(path, path.stat().st_mtime_ns)
    with initialize_config_dir(version_base="1.3", config_dir=str(ours)):
        # Hydra appends what hydra.searchpath names, and would let the package win; the override
        # makes it look again.
        search_path = GlobalHydra.instance().config_loader().get_search_path()
        for folder in reversed(before):
            search_path.prepend(folder.name, f"file://{folder}")
        if before:
            places = ",".join(f"file://{folder}" for folder in before)
            words.append(f"hydra.searchpath=[{places}]")
        config = hydra_compose("config", overrides=words, return_hydra_config=hydra)
        plain: Any = OmegaConf.to_container(config)
    return plain


def _refuse_odd_values(value: Any, key: str = "") -> None:
    """WrongInput for a value that could not be kept as JSON, such as !!binary."""
    if isinstance(value, dict):
        for name, inner in value.items():
            _refuse_odd_values(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for inner in value:
            _refuse_odd_values(inner, key)
    elif isinstance(value, int):
        str(value)  # raises ValueError for thousands of digits
    elif not isinstance(value, (str, float, NoneType)):
        raise WrongInput(f"'{key}' is a value of the type {type(value).__name__}; write it as text")


@functools.cache
def _refuse_unsafe(path: Path, changed: int) -> None:
    """Refuse a file that Hydra would take minutes to read, or never finish; `changed` says when it
    was written, so that each version is checked once.
    """
    check_yaml(path)
    try:
        node = yaml_nodes(path)
    except WrongInput:
        return  # Hydra, which takes more than we do, says what is wrong with it
    for key, chosen in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.value == "defaults" and "${" in yaml.serialize(chosen):
            raise refused("default_with_reference", path=path, line=key.start_mark.line + 1)


def _of_hydra(error: Exception) -> str:
    """The first two lines of a fault that Hydra found, with advice where we have some."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return f"a file in conf/ cannot be composed: {type(error).__name__}"
    unquoted = any("is not Optional" in line for line in lines)
    advice = '; null stands in quotes there: "null"' if unquoted else ""
    return " ".join(lines[:2]) + advice


def _not_utf8(folder: Path) -> Path:
    """The first file of a folder that is not UTF-8; the folder where there is none."""
    for path in sorted(folder.rglob("*.yaml")):
        if "\ufffd" in path.read_bytes().decode(errors="replace"):
            return path
    return folder
