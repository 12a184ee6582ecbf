"""Fetching models from the Hugging Face Hub, and the adapters from their authors' repository."""

import shutil
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.scorers.aqua.setup import FOLDERS
from delibsim.scorers.aqua.weights import need_extra
from delibsim.scorers.neural import quiet

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
