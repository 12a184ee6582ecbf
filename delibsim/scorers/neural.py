"""What scorers with neural networks share: weights from files, whole or not at all; batches."""

import contextlib
import hashlib
import importlib.util
import logging
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from delibsim.domain.errors import WrongInput, refused
from delibsim.store.files import append_line, read_lines
from delibsim.store.reading import file_bytes, json_value

POINTER = b"version https://git-lfs.github.com/spec/"


def need_packages(what: str, extra: str, packages: Sequence[str]) -> None:
    """WrongInput that says what to install, unless every package of an extra is there.

    Nothing is imported: that takes seconds.
    """
    not_loaded = [name for name in packages if name not in sys.modules]
    missing = [name for name in not_loaded if importlib.util.find_spec(name) is None]
    if missing:
        raise refused("extra_missing", what=what, extra=extra, missing=", ".join(missing))


def need_device(device: str) -> None:
    """WrongInput if "cuda" is asked for and torch finds none."""
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise refused("no_gpu")


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """Without the warnings and progress bars of the libraries; what matters is checked here."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def missing_files(folder: Path, files: Mapping[str, tuple[str, ...]]) -> list[str]:
    """What a folder lacks of `files`, in words."""
    lacking = []
    for name, either in files.items():
        if not any((folder / one).is_file() for one in either or (name,)):
            lacking.append(" or ".join(either) or name)
    return lacking


def weight_files(folder: Path, files: Mapping[str, tuple[str, ...]]) -> list[Path]:
    """The files of a folder that decide what is computed: configurations, and of each kind of
    weights the one that is read.
    """
    found = []
    for name, either in files.items():
        there = [folder / one for one in either or (name,) if (folder / one).is_file()]
        found += there[:1]
    return found


def refuse_not_finite(place: Path, weights: Mapping[str, Any]) -> None:
    """WrongInput naming the weights that hold NaN or infinity."""
    numbers = {key: tensor for key, tensor in weights.items() if tensor.is_floating_point()}
    keys = [key for key, tensor in numbers.items() if not tensor.isfinite().all()]
    if keys:
        raise refused("weights_in_file_not_finite", place=place, few=few(keys))


def refuse_partial(place: Path, missing: list[str], unexpected: list[str]) -> None:
    """WrongInput where weights are missing, or are there and have no place in the model."""
    problems = {
        "has no weights for": missing,
        "holds weights that have no place in the model:": unexpected,
    }
    for problem, keys in problems.items():
        if keys:
            raise refused("weights_unusable", place=place, problem=problem, few=few(keys))


def few(keys: Sequence[str]) -> str:
    """The first eight names, and how many more there are."""
    more = f" and {len(keys) - 8} more" if len(keys) > 8 else ""
    return ", ".join(keys[:8]) + more


def refuse_empty(files: Iterable[Path]) -> None:
    """WrongInput naming a file that is empty, or only the pointer that Git LFS leaves where the
    file itself was not fetched.
    """
    for file in files:
        with file.open("rb") as opened:
            begin = opened.read(len(POINTER))
        if not begin:
            raise WrongInput(f"{file} is empty; get the whole file from its authors")
        if begin == POINTER:
            raise refused("pointer_of_git_lfs", file=file)


_UNREADABLE = (
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    EOFError,
    UnpicklingError,
)
"""What the libraries raise about a file that they cannot read, besides errors of their own."""
TOKENISER = "a file of its tokeniser is damaged; get it from its authors"


@contextlib.contextmanager
def readable(place: Path) -> Generator[None]:
    """Turn what the libraries raise about a file into the error a user can mend."""
    from safetensors import SafetensorError

    try:
        yield
    except (*_UNREADABLE, ImportError, SafetensorError) as error:
        weights = [file for file in place.glob("*") if file.suffix in (".bin", ".safetensors")]
        damaged = [file for file in sorted(weights) if not _opens(file)]
        if damaged:
            fault = "it is damaged, or holds code, which is not run; get it again from its authors"
            raise WrongInput(f"{damaged[0]} cannot be read: {fault}") from None
        if isinstance(error, ImportError):
            # transformers takes a file it cannot read for one of another format.
            raise WrongInput(f"{place} cannot be read: {TOKENISER}") from None
        cause = error.__context__ if isinstance(error.__context__, Exception) else error
        raise WrongInput(f"{place} cannot be read: {' '.join(str(cause).split())[:600]}") from None


def tokeniser(made: Any) -> Any:
    """A tokeniser that transformers made; ValueError where it made none: where protobuf is
    installed it gives False for a file that it cannot read.
    """
    if made is False:
        raise ValueError(TOKENISER)
    return made


def _opens(file: Path) -> bool:
    """Whether a file of weights can be read whole.

    Asked only after loading failed, since what is raised then names no file.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        if file.suffix == ".safetensors":
            with safe_open(file, framework="pt"):
                return True
        torch.load(file, map_location="cpu", weights_only=True)
    except (*_UNREADABLE, SafetensorError):
        return False
    return True


def plain_json(file: Path) -> dict[str, Any]:
    """The JSON object in a file; WrongInput if there is none."""
    try:
        plain = json_value(file_bytes(file))
    except (OSError, ValueError) as error:
        raise WrongInput(f"{file} cannot be read: {error}") from None
    if not isinstance(plain, dict):
        raise WrongInput(f"{file} holds no JSON object")
    return plain


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Indices in batches, by length, so that no batch holds more than `tokens` with its padding, or
    only one text.

    >>> list(batches([4, 9, 2, 3], 8))
    [[2, 3], [0], [1]]
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and lengths[i] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


class Cache:
    """A file of JSON lines, one result a line, found again by its key.

    Lines that a crash tore, and those that are not `whole`, are left alone and made again.
    """

    def __init__(self, file: Path, whole: Callable[[Mapping[str, Any]], bool]) -> None:
        self._file = file
        kept = (
            record
            for record in read_lines(file)[0]
            if isinstance(record.get("key"), str) and whole(record)
        )
        self._found: dict[str, Mapping[str, Any]] = {record["key"]: record for record in kept}

    def get(self, key: str) -> Mapping[str, Any] | None:
        """The result under a key, or None."""
        return self._found.get(key)

    def keep(self, key: str, **result: Any) -> None:
        """Append a result; it is on disk when this returns."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        record = {"key": key, **result}
        append_line(self._file, record)
        self._found[key] = record


def key_of(*names: str) -> str:
    """The hash of a text and of all that its result depends on.

    >>> key_of("a", "bc") == key_of("ab", "c")
    False
    """
    digest = hashlib.sha256()
    for name in names:
        encoded = name.encode(errors="surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()
