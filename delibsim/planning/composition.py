"""Hydra's composition of `conf/`: the folders searched, the result as plain values, its faults.

Hydra is slow to import, and no part of what a command needs to print its help.
"""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from types import NoneType
from typing import Any

import yaml

from delibsim.domain.errors import WrongInput
from delibsim.store.instruments.library import package_data
from delibsim.store.reading import check_yaml, yaml_nodes

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
            raise WrongInput(
                f"{path}, line {key.start_mark.line + 1}: the defaults of a file name other files"
                " as they are, without ${...}"
            )


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
