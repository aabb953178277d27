"""Connect to a Ray cluster, or start one on this machine: quietly, with limits on time and memory, and to the end."""

import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from confdiff.io.temporary import temporary_folder
from confdiff.threads import available_cpus

STORE_BYTES = 512 * 2**20
"""Size of the object store of a cluster that is started here; more goes to temporary files."""
_SAME = ("confdiff", "torch", "numpy")
"""Packages that must have the same version in all workers, because results depend on them."""
_CONNECT_SECONDS = 5.0
_SHORT = 12
"""Characters of a folder below which Ray's sockets fit into the 107 bytes that systems allow for their paths."""
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported over the network
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # Ray's future behaviour, of which it warns otherwise
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",  # long messages about workers that died; calls report that themselves
}
_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""With this, Ray listens on the loopback address only, as it does by default on macOS and Windows."""
_HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""How a client of HTTP/2 begins: its preface, and empty settings. A server answers with its own settings."""
_SETTINGS = 4


@contextmanager
def ray_cluster(cpus: int | None = None, address: str | None = None) -> Iterator[Any]:
    """Connect to a Ray cluster for a block, and yield the module ``ray``.

    Without an address, and without ``RAY_ADDRESS``, a cluster is started on this machine. It listens on the loopback
    address only, and all of its processes and files are removed at the end. A connection that the program has made
    before is used and left open.

    Parameters
    ----------
    cpus : int, optional
        Number of calls at a time of a cluster that is started, by default the number of processors.
    address : str, optional
        ``"auto"`` for the cluster of this machine, or the host and port of its head node.

    Raises
    ------
    ValueError
        Ray is not installed.
    ConnectionError
        No cluster can be reached at the address.
    """
    address = address or os.environ.get("RAY_ADDRESS")
    with ExitStack() as stack:
        stack.enter_context(_variables(_QUIET if address else _QUIET | _LOOPBACK | _secret()))
        ray = _import_ray()
        if not ray.is_initialized():
            stack.enter_context(_started(ray, cpus) if address is None else _connected(ray, address))
        yield ray


def cause_of(error: Any) -> BaseException:
    """Return the exception that a call in a worker raised, without Ray's wrapping."""
    cause: BaseException | None = error.cause
    if type(cause).__name__ == "RaySystemError":  # the function or its arguments could not be loaded
        return ValueError(
            f"a worker cannot load its work ({_first_line(error.cause)}). All nodes must have the packages of this "
            "machine, confdiff among them, in the same versions."
        )
    return error if cause is None else cause


def own_versions() -> dict[str, str]:
    """Return the versions of the packages that results depend on."""
    return {name: version(name) for name in _SAME}


def check_versions(expected: Mapping[str, str]) -> None:
    """Check in a worker that it has the versions of the caller."""
    for name, own in own_versions().items():
        if own != expected[name]:
            raise ValueError(
                f"all nodes of the cluster must have {name} {expected[name]}, as this machine has; "
                f"{socket.gethostname()} has {own}. Install the same version there."
            )


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ValueError(
            "engine='ray' needs the package ray: install it with `pip install 'confdiff[ray]'`."
        ) from error
    return ray


@contextmanager
def _started(ray: Any, cpus: int | None) -> Iterator[None]:
    """Start a cluster on this machine, and end it with all of its processes and files."""
    with _short_folder() as folder, _variables({"TMPDIR": str(folder)}):
        try:
            _initialise(
                ray,
                address="local",
                num_cpus=cpus or available_cpus(),
                num_gpus=0,
                object_store_memory=STORE_BYTES,
                include_dashboard=False,
                _temp_dir=str(folder),
                _plasma_directory=_store_folder(folder),
            )
            yield
        finally:
            ray.shutdown()


def _secret() -> dict[str, str]:
    """Return variables for a cluster of this process that other users of this machine cannot connect to.

    Ray reads them when it is imported. If the program has imported it before, Ray's own default applies.
    """
    if "ray" in sys.modules and not _token.cache_info().currsize:
        return {}
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": _token()}


@cache
def _token() -> str:
    return secrets.token_hex(16)


def _store_folder(folder: Path) -> str | None:
    """Return where the object store is kept if the shared memory of the system is too small for it, as in Docker."""
    shared = Path("/dev/shm")
    if not shared.is_dir() or shutil.disk_usage(shared).free < 2 * STORE_BYTES:
        return str(folder)
    return None


@contextmanager
def _short_folder() -> Iterator[Path]:
    """Yield a temporary folder with a short path, and remove those of killed runs."""
    place = tempfile.gettempdir()
    with temporary_folder(Path("/tmp" if len(place) > _SHORT else place) / "ray") as folder:
        yield folder


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """Connect to a cluster and disconnect at the end."""
    _check_answer(_resolved(ray, address), address)
    try:
        _initialise(ray, address=address)
    except (RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        raise ConnectionError(
            f"no connection to the Ray cluster at {address}, although a server answers there: {_first_line(error)}. "
            "Do versions of Ray and Python agree, and is RAY_AUTH_TOKEN the token of the cluster?"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _resolved(ray: Any, address: str) -> tuple[str, int]:
    """Return the host and port of an address of Ray."""
    text = address.removeprefix("ray://")
    if text == "auto":
        text = _address_of_this_machine(ray)
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise ConnectionError(
            f"the address of a Ray cluster must be auto, or a host and a port such as 10.0.0.1:6379; got {address!r}."
        )
    return host.strip("[]"), int(port)


def _address_of_this_machine(ray: Any) -> str:
    """Return the address that Ray would choose for ``auto``."""
    from ray._private.services import canonicalize_bootstrap_address_or_die

    try:
        return str(canonicalize_bootstrap_address_or_die("auto"))
    except ConnectionError:
        raise ConnectionError(
            "address='auto' needs one Ray cluster on this machine, and there is none or more than one. Start one with "
            "`ray start`, or pass the address of its head node."
        ) from None


def _check_answer(place: tuple[str, int], address: str) -> None:
    """Check within seconds that a server answers at an address: Ray itself would try for minutes, and then exit."""
    problem = f"no Ray cluster answers at {address}"
    try:
        with socket.create_connection(place, timeout=_CONNECT_SECONDS) as connection:
            connection.sendall(_HTTP2)
            head = connection.recv(9)
    except OSError as error:
        raise ConnectionError(f"{problem}: {error.strerror or error}. Is it running, and is the port open?") from error
    if len(head) < 4 or head[3] != _SETTINGS:
        raise ConnectionError(f"{problem}: another program listens on that port.")


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables inside the block, except those that the user has set."""
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _initialise(ray: Any, **options: Any) -> None:
    """Call ``ray.init`` without its messages, and keep the handler of SIGTERM, which it replaces."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    finally:
        if threading.current_thread() is threading.main_thread() and handler is not None:
            signal.signal(signal.SIGTERM, handler)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
