import os
from pathlib import Path

import pytest
from hypothesis import settings

from browser import browser, context, inspected, playwright, tab  # noqa: F401 (fixtures)

# One thread, set before PyTorch is imported: commands run in forked processes, which hang on threads they inherit.
os.environ["OMP_NUM_THREADS"] = "1"

# A busy machine must not fail a test; the seed is fixed so that a failure can be repeated.
settings.register_profile("confdiff", deadline=None, derandomize=True)
settings.load_profile("confdiff")

DATA = os.environ.get("CONFDIFF_DATA")


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="needs the real data sets: set CONFDIFF_DATA to the folder that holds them")
    for item in items:
        if item.get_closest_marker("data") and not DATA:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("CONFDIFF_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def real_data():
    """The folder with the real data sets; only for tests marked ``data``."""
    return Path(DATA)
