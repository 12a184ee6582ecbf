"""The example package, installed once for all tests of this folder."""

import pytest
from plugin.installed import install


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed"))
