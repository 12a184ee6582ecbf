"""What is collected here are tests; examples in docstrings are those of the package."""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from chromium import browser  # noqa: F401
from hypothesis import settings

# Bytecode is kept, whatever the shell says. Otherwise each worker would compile all test modules
# anew, and each process that a test starts all of delibsim.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Before numpy is imported: threads of two workers would wait for each other on two cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A width that the terminal of whoever tests has named is not that of the tests.
os.environ.pop("COLUMNS", None)

# Fewer examples than the 100 of Hypothesis, which `--hypothesis-profile=default` gives; what a test
# asks for by itself it gets. No test fails because a machine is slow.
settings.register_profile("quick", settings(), max_examples=40, deadline=None)
settings.load_profile("quick")

# Files are written there whole and synchronised, thousands of times, which memory does not wait for.
MEMORY = Path("/dev/shm")
if (
    "TMPDIR" not in os.environ
    and MEMORY.is_dir()
    and os.access(MEMORY, os.W_OK)
    and shutil.disk_usage(MEMORY).free > 4e9
    and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
):
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None

# What is imported and collected stays, so that looking for garbage in it is time lost.
gc.disable()


def pytest_collection_finish():
    """Look for garbage in what tests make, seldom, and no longer in what was there before them."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_sessionfinish():
    """End the process from which commands were forked, and let go of what was kept."""
    gc.unfreeze()
    if "warm" in sys.modules:
        sys.modules["warm"].close()


@pytest.fixture(autouse=True)
def umask():
    """Commands that a test calls in this process leave it as they found it."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)
    if private := sys.modules.get("delibsim.store.files"):
        private._commands.clear()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Leave out the modules that `--doctest-modules` collects beside the tests, which would import
    every test module a second time.
    """
    found = yield
    return [collector for collector in found if type(collector) is pytest.Module]
