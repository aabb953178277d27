"""The engine ``joblib:dask`` connects to a cluster by its address; Dask itself is replaced, as it is no dependency."""

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import joblib
import pytest
from joblib._parallel_backends import LokyBackend
from joblib.parallel import BACKENDS

from command import confdiff
from confdiff.engines import open_engine

EVENTS = []


@contextmanager
def client(address, timeout, set_as_default):
    assert not set_as_default
    EVENTS.append(f"connected to {address}")
    yield address
    EVENTS.append("disconnected")


def refused(address, **options):
    raise OSError(f"Timed out trying to connect to tcp://{address} after 5 s")


def no_client():
    raise ValueError("No global client found and no address provided")


class OfDask(LokyBackend):
    def __init__(self, client, **options):
        super().__init__(**options)
        EVENTS.append(f"used {client}")


@pytest.fixture
def dask(monkeypatch):
    """Return a module that stands for ``distributed``."""
    EVENTS.clear()
    module = SimpleNamespace(Client=client, get_client=lambda: "the client of the program")
    monkeypatch.setitem(sys.modules, "distributed", module)
    joblib.register_parallel_backend("dask", OfDask)
    yield module
    del BACKENDS["dask"]


def test_the_engine_connects_by_its_address_and_disconnects(dask):
    with open_engine("joblib:dask", jobs=2, address="10.0.0.1:8786") as engine:
        assert not engine.shares_files
        assert sorted(engine.run(pow, [(2, 3), (3, 2), (2, 0)])) == [1, 8, 9]
    assert EVENTS == ["connected to 10.0.0.1:8786", "used 10.0.0.1:8786", "disconnected"]


def test_the_client_of_the_program_is_used(dask):
    with open_engine("joblib:dask", jobs=2) as engine:
        assert list(engine.run(pow, [(2, 3)])) == [8]
    assert EVENTS == ["used the client of the program"]


def test_problems_are_named(dask, monkeypatch):
    dask.Client = refused
    with (
        pytest.raises(ConnectionError, match=r"no Dask scheduler answers at 10\.0\.0\.1:8786"),
        open_engine("joblib:dask", address="10.0.0.1:8786"),
    ):
        pass
    dask.get_client = no_client
    with pytest.raises(ValueError, match=r"needs a Dask cluster: pass address="), open_engine("joblib:dask"):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match="needs the package distributed: install it"), open_engine("joblib:dask"):
        pass


def test_the_command_names_flags(dask, tmp_path):
    dask.get_client = no_client
    grid = ("run", "digits", "--methods", "confdiff-abs", "--trials", "1", "--epochs", "1", "--engine", "joblib:dask")
    result = confdiff(*grid, cwd=tmp_path)
    assert result.returncode == 2
    assert "--engine joblib:dask needs a Dask cluster: pass --address ADDRESS" in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
