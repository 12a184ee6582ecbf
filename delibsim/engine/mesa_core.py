"""Mesa's `Model` and `Agent` without the rest of Mesa, which takes ten times as long to import.

`import mesa` also imports its spaces, its data collector and its batch runner, and with them scipy,
pandas and networkx; nothing here uses them. They are imported as soon as anybody asks for them.
Mesa 3.5, which needs Python 3.12, imports pandas for its agents all the same.
"""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

PACKAGES = ("mesa", "mesa.experimental")
"""The packages whose own code imports what is not needed."""


class Later(ModuleType):
    """A package that runs its own code when something of it is asked for that is no module yet.

    Its modules can be imported before.
    """

    def __getattr__(self, name: str) -> Any:
        """What the package defines, once it has run."""
        spec = self.__spec__
        object.__setattr__(self, "__class__", ModuleType)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module(self)
        return getattr(self, name)


def put_off(name: str) -> None:
    """Put a package in its place without running it; nothing where it runs already."""
    spec = find_spec(name)
    if name in sys.modules or spec is None:
        return
    package = Later(name, module_from_spec(spec).__doc__)
    vars(package).update(vars(module_from_spec(spec)))
    sys.modules[name] = package
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, package)


def _put_off_the_rest() -> None:
    """Make `mesa.model` and `mesa.agent` importable alone, or else import all of Mesa."""
    if "mesa" in sys.modules:
        return
    for name in PACKAGES:
        put_off(name)
    try:
        import_module("mesa.model")
    except ImportError:  # a version whose modules need each other in the order of the package
        for name in [name for name in sys.modules if name.partition(".")[0] == "mesa"]:
            del sys.modules[name]


_put_off_the_rest()  # must precede the imports of Mesa

from mesa.agent import Agent as Agent  # noqa: E402
from mesa.model import Model as Model  # noqa: E402
