"""Writes the API reference from signatures and docstrings: python docs/api/make.py [FOLDER]

`make docs` calls it, so that the pages, which are not kept in the repository, are never out of
date. The code is parsed and not imported, except for the table of the public names.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = "This page is made from the docstrings of the code."
NAMES = f"""# Public names

{MADE} `from delibsim import NAME` imports any of these names. The deprecation policy of the
project (`RELEASING.md` in the repository) covers them.
"""
MEASURES = f"""# Measures of arrays

{MADE} The formulas know nothing of runs. What they mean, and where they come from, is
explained in [Measures](../measures.md).
"""
TESTING = f"""# Testing plug-ins

{MADE} `check_scorer`, `check_language_model`, `a_run` and `a_debate` are imported from
`delibsim.testing`. [Plug-ins](../plugins.md) shows how they are used.
"""
PAGES = ("names.md", "measures.md", "testing.md")
TESTING_MODULES = ("testing.checks", "testing.runs", "testing.provider")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


class Module:
    """A parsed module of delibsim: its public definitions, with their source as it is laid out."""

    def __init__(self, name: str) -> None:
        text = (ROOT / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")
        self.name = name
        self.lines = text.splitlines()
        self.tree = ast.parse(text)

    @property
    def docstring(self) -> str:
        """What the module says of itself."""
        return ast.get_docstring(self.tree) or ""

    def definitions(self) -> Iterator[tuple[str, Definition, str]]:
        """Every public name with its definition and its docstring, in the order of the source."""
        yield from self.within(self.tree.body)

    def within(self, body: list[ast.stmt]) -> Iterator[tuple[str, Definition, str]]:
        """The public names of a module's or a class's body; "" where there is no docstring."""
        for node, below in zip(body, [*body[1:], None], strict=True):
            name = _name(node)
            if name is None or name.startswith("_"):
                continue
            if isinstance(node, ast.Assign | ast.AnnAssign):
                yield name, node, _text_of(below)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield name, node, ast.get_docstring(node) or ""

    def signature(self, node: Definition) -> str:
        """The source of a definition, without its docstring and the bodies of its functions."""
        if isinstance(node, ast.Assign | ast.AnnAssign):
            return self._source(node.lineno, node.end_lineno)
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        head = self._source(first, node.body[0].lineno - 1)
        if not isinstance(node, ast.ClassDef):
            return head.removesuffix(":")
        parts = []
        for inner in node.body:
            name = _name(inner)
            if isinstance(inner, ast.Assign | ast.AnnAssign) and not (name or "_").startswith("_"):
                parts.append(self._source(inner.lineno, inner.end_lineno))
            elif isinstance(inner, ast.FunctionDef) and name == "__init__":
                parts.append(f"{self.signature(inner)}: ...")
        return "\n".join([head, *(textwrap.indent(part, "    ") for part in parts)])

    def _source(self, first: int, last: int | None) -> str:
        text = textwrap.dedent("\n".join(self.lines[first - 1 : last])).rstrip()
        # What tells a tool to look away tells a reader nothing.
        return re.sub(r" *# (?:fmt|noqa|ty):.*", "", text)


def names() -> str:
    """The page of the names that `delibsim` itself offers."""
    sys.path.insert(0, str(ROOT))
    import delibsim

    homes = delibsim._HOME_OF
    modules = {home: Module(home) for home in set(homes.values())}
    parts = [NAMES]
    for name in sorted(delibsim.__all__, key=str.casefold):
        module = modules[homes[name]]
        (found,) = [part for part in module.definitions() if part[0] == name]
        parts += _entry(module, found, "##")
    return "\n".join(parts)


def measures() -> str:
    """The page of the formulas, module by module."""
    folder = ROOT / "delibsim" / "measures"
    files = sorted(folder.glob("*.py"))
    for package in ("bradley_terry", "reliability"):
        files += sorted((folder / package).glob("*.py"))
    parts = [file.relative_to(ROOT).with_suffix("").parts for file in files]
    return _of_modules(MEASURES, [".".join(own) for own in parts if own[-1] != "__init__"])


def testing() -> str:
    """The page of what ships for authors of plug-ins."""
    return _of_modules(TESTING, [f"delibsim.{name}" for name in TESTING_MODULES])


def _of_modules(head: str, modules: list[str]) -> str:
    parts = [head]
    for name in modules:
        module = Module(name)
        parts += [f"## {name}\n", markdown(module.docstring)]
        for found in module.definitions():
            if found[2]:
                parts += _entry(module, found, "###")
    return "\n".join(parts)


def _entry(module: Module, found: tuple[str, Definition, str], level: str) -> list[str]:
    """Heading, signature and docstring of a definition, and of the methods of a class."""
    name, node, docstring = found
    parts = [f"{level} {name}\n", f"```python\n{module.signature(node)}\n```\n"]
    parts.append(markdown(docstring))
    if not isinstance(node, ast.ClassDef):
        return parts
    for inner, method, said in module.within(node.body):
        if said and isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
            parts += _entry(module, (f"{name}.{inner}", method, said), f"{level}#")
    return parts


def markdown(docstring: str) -> str:
    """A docstring as Markdown: its examples in fences, and no character of it read as markup."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(docstring)):
        if paragraph.lstrip().startswith(">>>"):
            parts.append(f"```pycon\n{textwrap.dedent(paragraph)}\n```")
        elif paragraph.startswith("    "):
            parts.append(f"```text\n{textwrap.dedent(paragraph)}\n```")
        else:
            parts.append(_escaped(paragraph))
    return "\n\n".join(parts) + "\n"


def _escaped(paragraph: str) -> str:
    """The paragraph with `<`, `*` and `[` escaped wherever it is not code."""
    parts = re.split(r"(`[^`]*`)", paragraph)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*\[\]])", r"\\\1", parts[i].replace("<", "&lt;"))
    return "".join(parts)


def _name(node: ast.stmt) -> str | None:
    """The name that a statement defines, if it defines one."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Assign):
        target = node.targets[0]
    elif isinstance(node, ast.AnnAssign):
        target = node.target
    else:
        return None
    return target.id if isinstance(target, ast.Name) else None


def _text_of(node: ast.stmt | None) -> str:
    """The text that stands alone below an assignment and explains it."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
        return ""
    return node.value.value if isinstance(node.value.value, str) else ""


def main() -> None:
    """Write the pages."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for page, text in zip(PAGES, (names(), measures(), testing()), strict=True):
        (folder / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
