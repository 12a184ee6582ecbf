"""Write the lists of presets in the guide from the files of conf/, and the words of commands from
the code: python docs/lists.py

A list stands in a page between `<!-- list of NAME: made by docs/lists.py -->` and `<!-- end of
list -->`; `tests/test_docs.py` compares them.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from delibsim.cli.commands import loaded

ROOT = Path(__file__).resolve().parents[1]
CONF = ROOT / "conf"
IN_PYTHON = ROOT / "delibsim" / "data" / "in_python.yaml"
LIST = re.compile(
    r"(<!-- list of (delibsim [\w-]+|\w+): made by docs/lists.py -->\n).*?(\n<!-- end of list -->)",
    re.DOTALL,
)
PRODUCTS = {"citizen": "citizens", "human": "people", "person": "people"}
"""What the plug-ins of models are called; all others are language models."""
GROUPS = (
    "treatment", "model", "group", "persona", "wording", "procedure", "consensus", "facilitator",
    "witness", "debate", "limits", "summary", "experiment",
)  # fmt: skip
EXAMPLE = re.compile(r"For example: (delibsim (?:'[^']*'|[^;])*?)(?:[.;](?=\s|$)|, or |$)")
"""How help gives an example of a command."""
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


def words_of(name: str) -> str:
    """A command with its arguments and options; of a group of commands, each of them."""
    command = loaded(name)
    leaves = getattr(command, "commands", None) or {"": command}
    return "\n\n".join(
        _words(f"delibsim {name} {inner}".strip(), own) for inner, own in leaves.items()
    )


def _words(line: str, command: Any) -> str:
    """How a command is written, what it does, an example, and a table of its words."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    usage = [line]
    for one in arguments:
        word = one.metavar or one.name.upper()
        word = word if one.required else f"[{word}]"
        usage.append(f"{word} ..." if one.nargs == -1 else word)
    about = " ".join((command.help or "").split())
    rows = ["| word | meaning |", "|---|---|"]
    for one in command.params:
        if one.name != "help" and not one.hidden:
            rows.append(f"| {_named(one)} | {_meant(one)} |")
    parts = [f"`{' '.join(usage)}`", about, "\n".join(rows)]
    told = EXAMPLE.search(" ".join(f"{command.help or ''} {command.epilog or ''}".split()))
    if told:
        parts.insert(2, f"```sh\n{told[1]}\n```")
    return "\n\n".join(parts)


def _named(one: Any) -> str:
    """An argument or option as it is written, with the kind of its value."""
    if one.param_type_name == "argument":
        word = one.metavar or one.name.upper()
        return " or ".join(f"`{part}`" for part in word.split("|"))
    words = ", ".join(f"`{word}`" for word in (*one.opts, *one.secondary_opts))
    return words if one.is_flag else f"{words} {one.metavar or 'VALUE'}"


def _meant(one: Any) -> str:
    """What an argument or option means, and its default."""
    text = " ".join((one.help or "").split()).replace("|", "\\|")
    default = "" if callable(one.default) else one.default
    usual = (
        "" if default in (None, "", False, True) or isinstance(default, (list, tuple)) else default
    )
    return f"{text} Default: `{usual}`" if usual != "" and "Default" not in text else text


def in_python() -> str:
    """What each command is in Python."""
    parts = []
    for command, told in yaml.safe_load(IN_PYTHON.read_text(encoding="utf-8")).items():
        parts.append(f"## delibsim {command}")
        if "needs" in told:
            parts.append(f"Needs {told['needs']}.")
        kind = "plain" if "needs" in told else "python"
        parts.append(f"```{kind}\n{told['code'].rstrip()}\n```")
    return "\n\n".join(parts)


LISTS: dict[str, Callable[[], str]] = {
    "groups": groups,
    "citizens": citizens,
    "mixed": mixed,
    "in_python": in_python,
}


def pages() -> dict[Path, str]:
    """The pages that hold a list, with their lists made anew."""
    made = {}
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if LIST.search(text):
            made[path] = LIST.sub(lambda one: f"{one[1]}\n{_list(one[2])}\n{one[3]}", text)
    return made


def _list(name: str) -> str:
    """A list of presets, or the words of a command."""
    command = name.removeprefix("delibsim ")
    return words_of(command) if command != name else LISTS[name]()


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
