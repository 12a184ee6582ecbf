"""Every line `delibsim ...` in the guide, the README and the messages of the code is one that there
is: its command, the command within it, and its options.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from delibsim.cli.commands import COMMANDS, GROUPS, loaded

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FILES = sorted(
    path
    for folder in ("conf", "topics", "delibsim/data/commands")
    for path in (ROOT / folder).rglob("*.yaml")
)
MODULES = sorted((ROOT / "delibsim").rglob("*.py"))
LINE = re.compile(r"(?<![\w/.-])delibsim +([a-z][a-z-]*(?:[^\S\n]+[^\s`]+)*)")
OPTION = re.compile(r"(?<!\S)(--?[a-z][a-z0-9-]*)")
NAMED = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
ELSEWHERE = {
    "CONTRIBUTING.md", "architecture.md", "benchmarks.md", "clusters.md", "deploy.md", "faults.md",
    "manifest.py", "provider.py", "refusal.py", "servers.md",
}  # fmt: skip
"""Pages and modules that name options of other programs, or such as there are not."""
OF_OTHERS = {
    "--version",
    "--index-url",
    "--hash",
    "--max-model-len",
    "--reasoning-parser",
    "--tint",
    "--option",
}
"""Options of no command within: of delibsim itself, of pip and servers, a colour, any option."""
ENGLISH = {
    "and", "as", "does", "in", "knows", "or", "reads", "can", "has", "here", "is", "itself", "that", "these", "under", "was", "with", "writes",
}  # fmt: skip
"""What may stand behind the name of the program in a sentence."""


@cache
def words_of(name):
    """The commands within a command ("" for none), each with its options."""
    command = loaded(name)
    inner = getattr(command, "commands", None) or {"": command}
    options = {
        word: {option for one in own.params for option in (*one.opts, *one.secondary_opts)}
        for word, own in inner.items()
    }
    return {word: found | {"--help"} for word, found in options.items()}


def fault_of(line):
    """What a line has that there is not; "" for a right one."""
    name, *rest = line.split()
    if name in ENGLISH:
        return ""
    if name not in COMMANDS:
        return f"no command {name}"
    inner = words_of(name)
    if "" in inner:
        options = inner[""]
    else:
        word = rest[0].strip(".,;:)'\"") if rest else ""
        if (
            not word
            or word.isupper()
            or "|" in word
            or word[0] == "{"
            or word in ("--help", "...", "commands")
        ):
            return ""
        if word not in inner:
            return f"{name} has no {word}"
        options = inner[word]
    for option in OPTION.findall(" ".join(rest).partition(" | ")[0]):
        if option not in options:
            return f"{name} has no option {option}"
    return ""


def lines_of_page(text):
    """The lines in fenced blocks and in code between backticks."""
    joined = text.replace("\\\n", " ")
    for block in re.findall(r"^ *```(?:console|sh)\n(.*?)^ *```", joined, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            yield re.sub(r"\s#.*", "", line)
    bare = re.sub(r"^ *```.*?^ *```", "", joined, flags=re.DOTALL | re.MULTILINE)
    yield from (" ".join(one.split()) for one in re.findall(r"`([^`]+)`", bare))


def lines_of_code(text):
    """The strings of a module, those put together of pieces as one, what is filled in as {}."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            parts = [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values]
            yield " ".join("".join(map(str, parts)).split())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())


def faults_in(lines):
    found = []
    for line in lines:
        for match in LINE.finditer(line):
            sentence = re.split(r"[;()]|\. | \(|, | or | and | \[", match[1])[0]
            if fault := fault_of(sentence):
                found.append(f"delibsim {sentence}: {fault}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_lines_of_a_page_are_commands(page):
    assert faults_in(lines_of_page(page.read_text(encoding="utf-8"))) == []


def test_the_lines_in_comments_of_settings_are_commands():
    assert faults_in("".join(path.read_text("utf-8") for path in FILES).splitlines()) == []


def test_the_lines_in_messages_are_commands():
    found = [
        f"{path.relative_to(ROOT)}: {fault}"
        for path in MODULES
        for fault in faults_in(lines_of_code(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_every_option_that_is_named_is_one_of_a_command():
    known = OF_OTHERS.union(*(found for name in COMMANDS for found in words_of(name).values()))
    found = []
    for path in (*PAGES, *FILES, *MODULES):
        if path.name not in ELSEWHERE:
            for option in NAMED.findall(path.read_text(encoding="utf-8")):
                found += [f"{path.name}: {option}"] if option not in known else []
    assert found == []


def test_a_wrong_line_is_found():
    for line in ("rnu topic=ccps", "run --topic ccps", "people dry-run hall", "score s --runs x"):
        assert fault_of(line)


def test_every_command_has_its_group_and_its_part_of_the_page():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name, one in COMMANDS.items():
        assert one.group in (*GROUPS, "")
        assert (f"<!-- list of delibsim {name}: " in page) is bool(one.group), name
