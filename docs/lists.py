"""Write the lists of presets in the guide from the files of conf/: python docs/lists.py

A list stands in a page between `<!-- list of NAME: made by docs/lists.py -->` and `<!-- end of
list -->`; `tests/test_docs.py` compares them.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
CONF = ROOT / "conf"
LIST = re.compile(
    r"(<!-- list of (\w+): made by docs/lists.py -->\n).*?(\n<!-- end of list -->)", re.DOTALL
)
PRODUCTS = {"citizen": "citizens", "human": "people", "person": "people"}
"""What the plug-ins of models are called; all others are language models."""
GROUPS = (
    "treatment", "model", "group", "persona", "wording", "procedure", "consensus", "debate",
    "limits", "summary", "experiment",
)  # fmt: skip
SENTENCE = re.compile(r"(?<=[a-z0-9)])\.\s")


def presets(group: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every preset of a group: its name, the first sentence of its comment, and its settings."""
    for path in sorted((CONF / group).glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        lines = []
        for line in text.splitlines():
            if not line.startswith("#"):
                break
            if "@package" not in line:
                lines.append(line.removeprefix("#").strip())
        yield path.stem, SENTENCE.split(" ".join(lines) + " ")[0].strip(" ."), yaml.safe_load(text)


def groups() -> str:
    """The presets of every group of the configuration."""
    rows = ["| group | presets |", "|---|---|"]
    for group in GROUPS:
        names: dict[str, list[str]] = {}
        for name, _, settings in presets(group):
            kind = PRODUCTS.get(settings["kind"], "language models") if group == "model" else ""
            names.setdefault(kind, []).append(f"`{name}`")
        told = [
            f"{kind}: {', '.join(own)}" if kind else ", ".join(own) for kind, own in names.items()
        ]
        rows.append(f"| `{group}` | {'; '.join(told)} |")
    return "\n".join(rows)


def citizens() -> str:
    """The presets of the citizen, and what each has otherwise than `citizen`."""
    chosen = {one[0]: one for one in presets("model") if one[2]["kind"] == "citizen"}
    usual = chosen["citizen"][2]
    rows = ["| preset | what it is | otherwise than `citizen` |", "|---|---|---|"]
    for name, told, settings in chosen.values():
        others = []
        for key, value in settings.items():
            if key != "name" and value != usual.get(key):
                others.append(f"`{key}={value}`")
        rows.append(f"| `{name}` | {told} | {', '.join(others)} |")
    return "\n".join(rows)


def mixed() -> str:
    """The groups of several models, with their members in the order of the seats."""
    rows = ["| group | what it is | models |", "|---|---|---|"]
    for name, told, settings in presets("group"):
        if settings["models"]:
            listed = ", ".join(f"`{one}`" for one in settings["models"])
            rows.append(f"| `{name}` | {told} | {listed} |")
    return "\n".join(rows)


LISTS: dict[str, Callable[[], str]] = {
    "groups": groups,
    "citizens": citizens,
    "mixed": mixed,
}


def pages() -> dict[Path, str]:
    """The pages that hold a list, with their lists made anew."""
    made = {}
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if LIST.search(text):
            made[path] = LIST.sub(lambda one: f"{one[1]}\n{LISTS[one[2]]()}\n{one[3]}", text)
    return made


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
