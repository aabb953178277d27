"""Load plug-ins: files, packages, and installed packages that announce themselves by an entry point.

A plug-in is ordinary Python, and loading it executes it. So plug-ins are loaded only by name: on the command line, by a
call of :func:`load_plugins`, or because they are installed. No data set, result or model can name code to load.
"""

import hashlib
import os
import re
import sys
import traceback
from collections.abc import Iterable
from importlib import import_module, metadata
from importlib.abc import ExecutionLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from confdiff.plugins.plugin import Plugin
from confdiff.plugins.registering import RegistrationError, Registrations, registering, withdraw

ENTRY_POINTS = "confdiff.plugins"
"""The group of entry points by which installed packages announce their plug-ins."""

_PREFIX = "confdiff_plugin_"
_STEM = re.compile(r"[A-Za-z0-9_][\w-]*")
_PACKAGE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_loaded: dict[str, Registrations] = {}
"""Name of a plug-in -> what it added."""


def load_plugins(*sources: str | os.PathLike[str]) -> tuple[Plugin, ...]:
    """Load plug-ins, so that all names that they register can be used, also in workers.

    A plug-in that is already loaded is not executed again, unless its file has changed: it then replaces the former
    version.

    Parameters
    ----------
    *sources : str or path
        Python files, or names of packages.

    Returns
    -------
    tuple of Plugin
        The plug-ins.

    Raises
    ------
    ValueError
        A plug-in raises an exception, registers nothing, or registers a name that is taken.
    FileNotFoundError
        A file or a package does not exist.

    Examples
    --------
    >>> load_plugins("mine.py")
    Traceback (most recent call last):
    ...
    FileNotFoundError: the plug-in mine.py does not exist.
    """
    return tuple(_load(os.fspath(source)) for source in sources)


def load_installed_plugins() -> list[str]:
    """Load the plug-ins of installed packages, and return a message for each one that cannot be loaded."""
    problems = []
    for entry in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        try:
            _load_package(entry.module)
        except (ValueError, OSError) as error:
            distribution = entry.dist.name if entry.dist is not None else entry.name
            problems.append(f"the plug-in of the installed package {distribution} was not loaded: {error}")
    return problems


def loaded_plugins() -> tuple[Plugin, ...]:
    """Return the plug-ins that are loaded, in the order of their loading."""
    return tuple(added.plugin for added in _loaded.values() if added.plugin is not None)


def load_sent_plugins(plugins: Iterable[Plugin]) -> None:
    """Load in a worker the plug-ins of the process that sends work; another version is replaced.

    Raises
    ------
    ValueError
        A package has another version here.
    """
    for plugin in plugins:
        if plugin not in loaded_plugins():
            _load_sent(plugin)


def _load_sent(plugin: Plugin) -> None:
    if plugin.program is not None:
        _load_program(plugin.name, plugin.source, plugin.program, version=plugin.version)
        return
    own = _load_package(plugin.module)
    if own.version != plugin.version:
        raise ValueError(
            f"all workers must have {plugin.name} {plugin.version}, as the process that sent the work has; a worker "
            f"has {own.version}. Install the same version there."
        )


def _load(source: str) -> Plugin:
    path = Path(source).expanduser()
    if path.suffix != ".py" and not path.exists() and _PACKAGE.fullmatch(source):
        return _load_package(source)
    if path.is_dir():
        raise IsADirectoryError(
            f"the plug-in {source} is a folder: pass a Python file, or install the folder as a package and pass its "
            "name."
        )
    if not path.exists():
        raise FileNotFoundError(f"the plug-in {source} does not exist.")
    if path.suffix != ".py" or not _STEM.fullmatch(path.stem):
        raise ValueError(
            f"a plug-in must be a Python file, named with letters, digits, '-' and '_', such as my_method.py; got "
            f"{source}."
        )
    try:
        program = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"the plug-in {source} is not a Python program: {error}.") from error
    return _load_program(path.stem, source, program)


def _load_program(name: str, source: str, program: str, *, version: str | None = None) -> Plugin:
    """Load a file from its text; the text is also what workers get."""
    former = _loaded.get(name)
    if former is not None and former.plugin is not None and version is None:
        if former.plugin.program == program and not former.files:
            return former.plugin
        if not _is_same_file(former.source, source):
            raise _same_name(name, former.source, source)
    _withdraw_former(name)
    with registering(source) as added:
        module = _execute(name, source, program)
        _check_additions(added, needs_files=version is None)
        added.plugin = Plugin(
            name=name,
            version=version or _stated_version(module, source) or _digest(program, added),
            module=module.__name__,
            source=source,
            program=program,
        )
    _loaded[name] = added
    return added.plugin


def _same_name(name: str, first: str, second: str) -> ValueError:
    return ValueError(f"two plug-ins are named {name!r}: {first} and {second}. Results name plug-ins, so rename one.")


def _is_same_file(first: str, second: str) -> bool:
    return Path(first).expanduser().resolve() == Path(second).expanduser().resolve()


def _withdraw_former(name: str) -> None:
    """Withdraw a former version of a plug-in, so that its names are free."""
    former = _loaded.pop(name, None)
    if former is not None:
        withdraw(former)


def _execute(name: str, source: str, program: str) -> ModuleType:
    path = str(Path(source).expanduser().absolute())
    full_name = f"{_PREFIX}{name}"
    spec = spec_from_loader(full_name, _ProgramLoader(path, program), origin=path, is_package=False)
    assert spec is not None
    assert spec.loader is not None
    spec.has_location = True
    module = module_from_spec(spec)
    sys.modules[full_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[full_name]
        raise _failure(source, path, error) from error
    return module


class _ProgramLoader(ExecutionLoader):
    """Loads a module from a text that is already read, under the path that it came from."""

    def __init__(self, path: str, program: str) -> None:
        self._path = path
        self._program = program

    def get_filename(self, fullname: str) -> str:
        """Return the path, for tracebacks."""
        return self._path

    def get_source(self, fullname: str) -> str:
        """Return the text."""
        return self._program


def _load_package(module_name: str) -> Plugin:
    former = _loaded[module_name].plugin if module_name in _loaded else None
    if former is not None and former.program is not None:
        raise _same_name(module_name, former.source, f"the package {module_name}")
    if former is not None:
        return former
    if not _exists(module_name):
        raise FileNotFoundError(
            f"the plug-in {module_name} does not exist: it is neither a Python file nor an installed package."
        )
    if module_name in sys.modules:
        raise ValueError(
            f"the package {module_name} was imported before it was loaded as a plug-in: call "
            f"load_plugins({module_name!r}) first."
        )
    with registering(module_name) as added:
        try:
            module = import_module(module_name)
        except (Exception, SystemExit) as error:
            raise _failure(module_name, None, error) from error
        _check_additions(added, needs_files=False)
        version = _stated_version(module, module_name) or _installed_version(module_name)
        added.plugin = Plugin(name=module_name, version=version, module=module_name, source=module_name)
    _loaded[module_name] = added
    return added.plugin


def _exists(module_name: str) -> bool:
    try:
        return module_name in sys.modules or find_spec(module_name) is not None
    except (ImportError, ValueError, AttributeError):  # a parent package is missing, or is none
        return False


def _check_additions(added: Registrations, *, needs_files: bool) -> None:
    """Check that a plug-in adds something, and that the files of its data sets exist; workers get them later."""
    if not added.tables:
        raise ValueError(
            f"the plug-in {added.source} registers nothing: it must call confdiff.register_method, "
            "confdiff.register_dataset or confdiff.register_model."
        )
    missing = [path for path in added.files if not path.is_file()]
    if missing and needs_files:
        raise FileNotFoundError(f"the plug-in {added.source} needs the file {missing[0]}, which does not exist.")


def _stated_version(module: ModuleType, source: str) -> str | None:
    version = getattr(module, "__version__", None)
    if version is None:
        return None
    if not isinstance(version, str) or not re.fullmatch(r"[\w.+-]{1,60}", version):
        raise ValueError(f"the plug-in {source} must have a version such as __version__ = '1.0'; got {version!r:.60}.")
    return version


def _installed_version(module_name: str) -> str:
    """Return the version of the distribution of a module that states none."""
    top = module_name.partition(".")[0]
    stated = getattr(sys.modules.get(top), "__version__", None)
    distributions = metadata.packages_distributions().get(top, [])
    if isinstance(stated, str):
        return stated
    if not distributions:
        raise ValueError(f"the plug-in {module_name} has no version: define __version__ in it.")
    return metadata.version(distributions[0])


def _digest(program: str, added: Registrations) -> str:
    """Return the version of a file that states none: it changes with the file and with the files of its data sets."""
    digest = hashlib.sha256(program.encode())
    for path in added.files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def _failure(source: str, path: str | None, error: BaseException) -> ValueError:
    """Return the error for a plug-in that cannot be loaded, with the line of the file that failed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
    place = f"the plug-in {source}" + (f", line {line}," if line else "")
    if isinstance(error, RegistrationError):
        return ValueError(f"{place.removesuffix(',')}: {error}")
    what = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    return ValueError(f"{place} raised {type(error).__name__}: {what}".rstrip(": "))
