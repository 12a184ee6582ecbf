"""Write the tree of modules in docs/architecture.md from the first sentence of each module: python
docs/tree.py
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- tree: made by docs/tree.py -->\n", "<!-- end of tree -->\n"
FOLDERS = (
    "domain", "measures", "measures/bradley_terry", "measures/inference", "measures/reliability",
    "measures/summaries",
    "prompts", "prompts/forms", "store", "store/instruments", "store/people", "store/tables",
    "models",
    "models/clients", "models/citizen", "models/person", "engine", "annotation",
    "annotation/coding", "scorers",
    "scorers/aqua", "scorers/judge", "planning",
    "planning/preregistration", "analysis", "analysis/agreement",
    "analysis/beside", "analysis/coding", "analysis/human", "analysis/pairs", "analysis/debates",
    "analysis/personas", "analysis/study", "analysis/study/table",
    "analysis/study/sample", "analysis/study/analyses", "analysis/figures",
    "analysis/study/report", "analysis/sharing", "analysis/summaries", "analysis/pages", "testing",
    "conduct", "conduct/asking", "conduct/coding", "conduct/comparing", "conduct/judging",
    "conduct/summarising", "conduct/launch", "conduct/people", "conduct/reading", "web",
    "web/people", "cli",
)  # fmt: skip
"""The packages from the lowest layer to the highest."""


def first_sentence(path: Path) -> str:
    """The first sentence of a module, without its final stop."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    opening = " ".join(docstring.split("\n\n")[0].split())
    return re.split(r"(?<=[a-z)`])\.(?:\s|$)", opening)[0]


def tree() -> str:
    """Every package with its modules, each with its first sentence, as Markdown."""
    parts = []
    for folder in FOLDERS:
        place = ROOT / "delibsim" / folder
        title = first_sentence(place / "__init__.py")
        parts.append(f"### `{folder}`\n\n{title}.\n\n| module | |\n|---|---|")
        modules = sorted(path for path in place.glob("*.py") if path.stem != "__init__")
        parts[-1] += "".join(f"\n| `{path.stem}` | {_cell(path)} |" for path in modules)
    return "\n\n".join(parts) + "\n"


def _cell(path: Path) -> str:
    return first_sentence(path).replace("|", "\\|")


def page() -> str:
    """The page with its tree made anew."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tree()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
