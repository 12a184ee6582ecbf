"""What is collected here are tests; examples in docstrings are those of the package."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Leave out the modules that `--doctest-modules` collects beside the tests, which would import
    every test module a second time.
    """
    found = yield
    return [collector for collector in found if type(collector) is pytest.Module]
