"""Mesa's core is imported alone, and the rest of Mesa is there for whoever asks for it."""

import sys
from importlib import import_module

import pytest

from delibsim.engine.mesa_core import Agent, Model, put_off


@pytest.fixture
def heavy(tmp_path, monkeypatch):
    """A package that notes when its own code runs; what it imports it defines."""
    folder = tmp_path / "heavy_package"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text(
        "import sys\nsys.modules['heavy_ran'] = sys\nfrom heavy_package.part import Part\n"
    )
    (folder / "part.py").write_text("class Part: pass\n")
    (folder / "inner" / "__init__.py").write_text("from heavy_package.part import Part\nN = 1\n")
    (folder / "inner" / "deep.py").write_text("DEEP = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "heavy_package"
    for name in [name for name in sys.modules if name.startswith("heavy_")]:
        del sys.modules[name]


def test_a_package_that_was_put_off_runs_when_something_of_it_is_asked_for(heavy):
    put_off(heavy)
    put_off(f"{heavy}.inner")
    part = import_module(f"{heavy}.part").Part
    assert import_module(f"{heavy}.inner.deep").DEEP == 2
    assert "heavy_ran" not in sys.modules
    package = import_module(heavy)
    assert package.Part is part
    assert "heavy_ran" in sys.modules
    assert package.inner.N == 1
    assert package.inner.Part is part
    with pytest.raises(AttributeError, match="no_such_thing"):
        package.no_such_thing  # noqa: B018


def test_a_package_that_runs_already_is_left_as_it_is(heavy):
    package = import_module(heavy)
    put_off(heavy)
    put_off("no_package_of_this_name")
    assert import_module(heavy) is package


def test_the_classes_are_those_of_mesa():
    mesa = import_module("mesa")
    assert (mesa.Agent, mesa.Model) == (Agent, Model)
    assert callable(mesa.batch_run)
