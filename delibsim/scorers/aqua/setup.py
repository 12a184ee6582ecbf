"""The files that AQuA is computed with: found, or fetched from the Hugging Face Hub and from the
authors' repository; checked, hashed, recorded in aqua/setup.json.
"""

import hashlib
import os
import shutil
import unicodedata
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused
from delibsim.measures.aqua import INDICATORS
from delibsim.scorers.aqua.weights import ADAPTER_FILES, MODEL_FILES, need_extra
from delibsim.scorers.neural import missing_files, quiet, refuse_empty, weight_files
from delibsim.store.files import json_text, write_atomically
from delibsim.store.reading import adapter, file_bytes, json_value, opened

RECORD = "setup.json"
SCHEMA = 1
DEPTH = 4
FOLDERS: Mapping[str, str] = read_data("aqua.yaml")["folders"]
"""The folder of each indicator in the authors' repository as it is now."""


@dataclass(frozen=True)
class File:
    """A file as it was when it was checked: SHA-256, bytes, and time of change in nanoseconds."""

    sha256: str
    size: int
    changed: int


@dataclass(frozen=True)
class ModelFiles:
    """A folder with a model or an adapter, its files by name; `name` says where it comes from, for
    people.
    """

    path: str
    name: str
    files: Mapping[str, File]

    @property
    def hash(self) -> str:
        """Twelve characters that change with any of the files."""
        return digest(f"{name} {file.sha256}" for name, file in sorted(self.files.items()))


@dataclass(frozen=True)
class TranslatingModel:
    """A language model that translates: settings as in conf/model, its address, the limits for it,
    and how often it is asked again.
    """

    settings: Mapping[str, Any]
    address: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    reasks: int = 3

    @property
    def name(self) -> str:
        """The name in the settings."""
        return str(self.settings.get("name", "?"))


@dataclass(frozen=True)
class Setup:
    """Everything AQuA needs to know on this machine.

    `translator` is a folder with a MarianMT model, a language model, or None where all texts are
    German. `language` of the texts is "auto" (each is looked at), "german" (none is translated),
    "english" or "other" (all are). `device` is "auto", "cpu" or "cuda".
    """

    base: ModelFiles
    adapters: Mapping[str, ModelFiles]
    translator: ModelFiles | TranslatingModel | None = None
    scale: float = 5.0
    language: Literal["auto", "german", "english", "other"] = "auto"
    precision: Literal["float32", "bfloat16"] = "float32"
    device: Literal["auto", "cpu", "cuda"] = "auto"

    @property
    def model(self) -> str:
        """Twelve characters that change with any file of the encoder or of an adapter."""
        adapters = [f"{name} {self.adapters[name].hash}" for name in INDICATORS]
        return digest([f"base {self.base.hash}", *adapters])


@dataclass
class _Found:
    """What a search for models has found so far, and what is wrong with it."""

    adapters: dict[str, Path] = field(default_factory=dict)
    encoders: list[Path] = field(default_factory=list)
    translators: list[Path] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def look_at(self, place: Path) -> None:
        """Note the model or the adapter in a folder, if it holds one."""
        kind = _model_type(place)
        if kind == "bert":
            self.encoders.append(place)
        elif kind == "marian":
            self.translators.append(place)
        elif any((place / name).is_file() for name in _names_in(ADAPTER_FILES)):
            self._add_adapter(place)

    def _add_adapter(self, place: Path) -> None:
        indicator, fault = _indicator(place)
        lacking = missing_files(place, ADAPTER_FILES)
        if lacking:
            fault = fault or f"{place} lacks {', '.join(lacking)}"
        elif indicator in self.adapters:
            places = f"{self.adapters[indicator]} and {place}"
            fault = f"{indicator} is there twice: {places}; give a folder that holds one set"
        if fault:
            self.faults.append(fault)
        if indicator:
            self.adapters.setdefault(indicator, place)

    def all_faults(self) -> list[str]:
        """The faults found, and the adapters that are missing."""
        if not self.adapters and not self.faults:
            parts = "each with adapter_config.json, head_config.json and their weights"
            return [f"no adapters (20 folders, one an indicator, {parts})"]
        missing = []
        for name in INDICATORS:
            if name not in self.adapters:
                missing.append(f"no adapter for {name} (a folder {name} or {FOLDERS[name]})")
        return self.faults + missing


def find(folder: Path) -> tuple[dict[str, Path], list[Path], list[Path]]:
    """The adapters by indicator, encoders and MarianMT models in a folder, however deep they lie.

    Checkpoints of training are left out. WrongInput names everything that is missing, doubtful or
    there twice among the adapters; a folder may also hold models and no adapter at all.
    """
    if not folder.is_dir():
        raise refused("no_folder_of_adapters", folder=folder)
    found = _Found()
    for place in _folders(folder, DEPTH):
        found.look_at(place)
    only_models = not found.adapters and not found.faults and (found.encoders or found.translators)
    faults = [] if only_models else found.all_faults()
    if faults:
        lines = "\n".join(f"  {fault}" for fault in faults)
        raise WrongInput(f"{folder} cannot be used:\n{lines}")
    return found.adapters, found.encoders, found.translators


def _names_in(files: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The names that the files of a model may have."""
    for name, either in files.items():
        yield from either or (name,)


def part_of(folder: Path, files: Mapping[str, tuple[str, ...]], name: str = "") -> ModelFiles:
    """A folder with the hashes of what decides about its results; WrongInput naming the files it
    lacks, or that are empty.
    """
    if lacking := missing_files(folder, files):
        raise WrongInput(f"{folder} lacks {', '.join(lacking)}")
    chosen = _deciding(folder, files)
    refuse_empty(chosen)
    if sharded := [path.name for path in chosen if path.name.endswith(".index.json")]:
        raise refused("sharded_weights", folder=folder, listed=", ".join(sharded))
    known = {path.name: _file(path) for path in chosen}
    return ModelFiles(str(folder.resolve()), name or folder.name, known)


def _deciding(folder: Path, files: Mapping[str, tuple[str, ...]]) -> list[Path]:
    """The files of a folder that decide about results: its weights, and whatever a library may read
    beside them.
    """
    deciding = set(weight_files(folder, files))
    for ending in ("json", "txt", "spm", "model"):
        deciding |= set(folder.glob(f"*.{ending}"))
    return sorted(path for path in deciding if path.name != RECORD)


def model_part(folder: Path, name: str = "") -> ModelFiles:
    """The folder of an encoder or a MarianMT model."""
    return part_of(folder, MODEL_FILES, name)


def adapter_parts(folders: Mapping[str, Path]) -> dict[str, ModelFiles]:
    """The folders of the adapters, by indicator in the published order."""
    return {name: part_of(folders[name], ADAPTER_FILES) for name in INDICATORS}


def keep(setup: Setup, folder: Path) -> Path:
    """Write the record into `folder`; the file."""
    plain = {"schema": SCHEMA, **adapter(Setup).dump_python(setup, mode="json")}
    write_atomically(folder / RECORD, json_text(plain, indent=1) + "\n")
    return folder / RECORD


def read(folder: Path) -> Setup:
    """The record in `folder`; WrongInput if there is none, or it cannot be read."""
    file = folder / RECORD
    if not file.is_file():
        raise WrongInput(
            f"AQuA is not set up here: there is no {file}. First: delibsim setup aqua FOLDER"
        )
    try:
        plain = json_value(file_bytes(file))
        if plain.pop("schema", None) != SCHEMA:
            raise ValueError("it was written under another schema")
        return adapter(Setup).validate_python(plain)
    except (ValueError, AttributeError, TypeError) as error:
        fault = str(error).splitlines()[0]
        raise WrongInput(
            f"{file} cannot be read ({fault}); set AQuA up again: delibsim setup aqua FOLDER"
        ) from None


def unchanged(setup: Setup) -> None:
    """WrongInput, naming the first file that is gone or has changed since it was set up, or is new
    and would be read.
    """
    for part in (setup.base, setup.translator):
        if isinstance(part, ModelFiles):
            _check_part(part, MODEL_FILES)
    for part in setup.adapters.values():
        _check_part(part, ADAPTER_FILES)


def _check_part(part: ModelFiles, kinds: Mapping[str, tuple[str, ...]]) -> None:
    """WrongInput unless the files of a folder are those that were set up."""
    again = "delibsim setup aqua FOLDER"
    for name, known in part.files.items():
        path = Path(part.path) / name
        if not path.is_file():
            raise WrongInput(
                f"{path} is gone since AQuA was set up; put it back, or set up again: {again}"
            )
        state = path.stat()
        same = (state.st_size, state.st_mtime_ns) == (known.size, known.changed)
        if not same and _file(path).sha256 != known.sha256:
            raise WrongInput(
                f"{path} is not the file it was when AQuA was set up; to use the new one: {again}"
            )
    new = [path for path in _deciding(Path(part.path), kinds) if path.name not in part.files]
    if new:
        raise WrongInput(
            f"{new[0]} was not there when AQuA was set up; take it away, or to use it: {again}"
        )


def digest(lines: Iterable[str]) -> str:
    """Twelve characters of the SHA-256 of some lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def _folders(folder: Path, depth: int) -> Iterable[Path]:
    yield folder
    if depth:
        for inner in sorted(folder.iterdir()):
            if inner.is_dir() and not inner.name.startswith((".", "checkpoint-")):
                yield from _folders(inner, depth - 1)


def _model_type(folder: Path) -> str:
    try:
        return str(json_value(file_bytes(folder / "config.json")).get("model_type", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _indicator(folder: Path) -> tuple[str, str]:
    """The indicator whose adapter lies in a folder, by the name it was trained under, else by the
    folder's; and what is wrong.
    """
    try:
        trained = _plain(str(json_value(file_bytes(folder / "adapter_config.json"))["name"]))
    except (OSError, ValueError, KeyError, TypeError):
        trained = ""
    by_name = {name: name for name in INDICATORS}
    by_name |= {english: name for name, english in FOLDERS.items()}
    named, placed = by_name.get(trained, ""), by_name.get(_plain(folder.name), "")
    if named and placed and named != placed:
        return "", f"{folder} holds the adapter {trained}, which is another indicator"
    if not named and not placed:
        which = trained or "without a name"
        return "", f"{folder} holds an adapter of no indicator of AQuA ({which})"
    return named or placed, ""


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _file(path: Path) -> File:
    state = os.stat(path)
    with opened(path) as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return File(sha256, state.st_size, state.st_mtime_ns)


BASE = "google-bert/bert-base-multilingual-cased"
TRANSLATOR = "Helsinki-NLP/opus-mt-en-de"
ADAPTERS = (
    "https://raw.githubusercontent.com/mabehrendt/AQuA"
    "/b3c8d5c235ee85366f287c291db14e3d570aa263/trained adapters"
)
"""The adapters in a fixed state of the repository."""
FILES = ("adapter_config.json", "head_config.json", "pytorch_adapter.bin", "pytorch_model_head.bin")


def fetch_model(name: str) -> Path:
    """A repository of the Hub, in the Hub's own cache; WrongInput if it cannot be fetched.

    Weights in other formats are left out.
    """
    need_extra()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    wanted = ["*.json", "*.txt", "*.spm", "*.model", "*.safetensors"]
    try:
        with quiet():
            folder = Path(snapshot_download(name, allow_patterns=wanted))
            if not any(folder.rglob("*.safetensors")):
                folder = Path(snapshot_download(name, allow_patterns=[*wanted, "*.bin"]))
    except (OSError, ValueError, HfHubHTTPError, HFValidationError) as error:
        cause = " ".join(str(error).split())[:300]
        raise WrongInput(
            f"'{name}' is no folder, and cannot be had from the Hub: {cause}"
        ) from None
    return folder


def fetch_adapters(to: Path, source: str = ADAPTERS) -> Path:
    """The twenty folders from an address, into `to`; WrongInput if one cannot be fetched.

    What is there already is not fetched again.
    """
    for folder in FOLDERS.values():
        for name in FILES:
            _fetch(f"{source}/{folder}/{name}", to / folder / name)
    return to


def commit(folder: Path) -> str:
    """The first twelve digits of the commit that a folder of the Hub's cache holds; "" for any
    other folder.

    The cache keeps each commit in `snapshots/<commit>`.
    """
    return folder.name[:12] if folder.parent.name == "snapshots" else ""


def _fetch(address: str, file: Path) -> None:
    if file.is_file():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.part")
    quoted = urllib.parse.quote(address, safe=":/")
    try:
        with urllib.request.urlopen(quoted, timeout=60) as answer, partial.open("wb") as out:
            shutil.copyfileobj(answer, out)
    except (urllib.error.URLError, OSError) as error:
        raise WrongInput(
            f"{address} cannot be had: {error}. What was fetched before is kept in"
            f" {file.parents[1]}"
        ) from None
    partial.replace(file)
