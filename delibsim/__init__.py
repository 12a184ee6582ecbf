"""delibsim: deliberations and debates among language-model agents, measured with the field's own
instruments.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

# Names are imported when first used: `import delibsim` must not load mesa, numpy or pydantic for
# `delibsim --help`.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOME_OF: dict[str, str] = {}
for _line in _STUB.body:
    if isinstance(_line, ast.ImportFrom):
        _HOME_OF |= dict.fromkeys([_name.name for _name in _line.names], str(_line.module))

__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'delibsim' has no attribute '{name}'")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
