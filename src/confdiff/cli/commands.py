"""Turn functions into commands with the global options, and translate errors and warnings to flags."""

import inspect
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any

import typer

from confdiff.cli.console import complain, is_verbose, print_message, set_verbosity
from confdiff.cli.messages import Flag, UserError, flags_of, running_with, translated
from confdiff.cli.options import option, switch
from confdiff.interruption import Terminated, exit_status
from confdiff.threads import use_threads

USER_ERRORS = (ValueError, FloatingPointError, OSError)
"""Exceptions that report a user error."""
_GLOBAL = "Global options"
_JOINT = re.compile(r"\n(?! )")  # a newline before a line that is not indented
_INDENTATION = re.compile(r"\n +")
Quiet = Annotated[bool, switch("-q", "--quiet", help="Print only results and errors.", panel=_GLOBAL)]
Verbose = Annotated[
    bool,
    switch("-v", "--verbose", help="Print versions, timings, and tracebacks of errors.", panel=_GLOBAL),
]

Threads = Annotated[
    int | None,
    option(
        min=1,
        metavar="N",
        panel=_GLOBAL,
        help="Threads of every computation. If omitted, OMP_NUM_THREADS or the size of the work decides.",
    ),
]


def as_command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for :meth:`typer.Typer.command` that runs ``function`` with the global options."""

    @wraps(function)
    def command(context: typer.Context, quiet: bool, verbose: bool, threads: int | None, **arguments: Any) -> None:
        if quiet or verbose:
            set_verbosity(quiet=quiet, verbose=verbose)
        set_threads(context, threads)
        with _in_terms_of(flags_of(context.command.params)), _timed():
            function(**arguments)

    own = list(inspect.signature(function, eval_str=True).parameters.values())
    added = [
        _parameter("context", typer.Context),
        _parameter("quiet", Quiet, False),
        _parameter("verbose", Verbose, False),
        _parameter("threads", Threads, None),
    ]
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in [*own, *added]]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def set_threads(context: typer.Context, threads: int | None) -> None:
    """Compute with this number of threads until the command ends; None leaves the decision to the policy."""
    if threads is not None:
        context.with_resource(use_threads(threads))


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


@contextmanager
def _in_terms_of(flags: dict[str, Flag]) -> Iterator[None]:
    """Raise errors and print warnings with flags instead of Python arguments."""
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
        text = translated(" ".join(str(message).split()))
        if text not in printed:
            printed.add(text)
            source = f" ({category.__name__}, {filename}:{lineno})" if is_verbose() else ""
            print_message(text + source, label="warning:", style="bold yellow")

    with warnings.catch_warnings(), running_with(flags):
        warnings.showwarning = show
        try:
            yield
        except BrokenPipeError:  # the reader closed the pipe
            raise
        except Terminated as stop:
            complain(f"received {stop.signal_name}, and ended")
            raise typer.Exit(exit_status(stop)) from None
        except USER_ERRORS as error:
            raise UserError(translated(str(error))) from error


@contextmanager
def _timed() -> Iterator[None]:
    if not is_verbose():
        yield
        return
    start = time.perf_counter()
    print_message(", ".join(versions()))
    yield
    print_message(f"took {time.perf_counter() - start:.1f} s")


def versions() -> list[str]:
    """Return the versions of confdiff, Python and the packages that affect the results."""
    import platform
    from importlib.metadata import version

    from confdiff import __version__

    packages = [f"{package} {version(package)}" for package in ("torch", "scikit-learn", "numpy")]
    return [f"confdiff {__version__}", f"python {platform.python_version()}", *packages]


def help_text(function: Callable[..., None]) -> str:
    """Return a docstring with the lines of each paragraph joined, so that help wraps by itself.

    Indented lines, as in examples, remain separate lines and lose their indentation.

    >>> def command():
    ...     '''Do it.
    ...
    ...     A sentence that goes
    ...     on here.
    ...
    ...     Example:
    ...         confdiff command
    ...     '''
    >>> print(help_text(command))
    Do it.
    <BLANKLINE>
    A sentence that goes on here.
    <BLANKLINE>
    Example:
    confdiff command
    """
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(_INDENTATION.sub("\n", _JOINT.sub(" ", text)) for text in paragraphs)
