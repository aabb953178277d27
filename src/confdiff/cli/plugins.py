"""The option ``--plugin``, and the decorator of commands that take it."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from confdiff.cli.console import status
from confdiff.cli.options import option

PluginsOption = Annotated[
    list[str] | None,
    option(
        "--plugin",
        metavar="FILE",
        help="Plug-in with methods, data sets or networks: a Python file, or the name of a package. May be repeated.",
    ),
]


def takes_plugins(function: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command: it gets the option ``--plugin``, and runs when these and installed plug-ins are loaded."""

    @wraps(function)
    def decorated(*, plugin: list[str] | None = None, **arguments: Any) -> None:
        _load(plugin or [])
        function(**arguments)

    signature = inspect.signature(function, eval_str=True)
    parameter = inspect.Parameter("plugin", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=PluginsOption)
    decorated.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), parameter]
    )
    return decorated


def _load(sources: list[str]) -> None:
    from confdiff.plugins import load_installed_plugins, load_plugins

    problems = load_installed_plugins()
    if sources:
        with status("loading plug-ins"):
            load_plugins(*sources)
    if problems:
        from confdiff.validation import warn_user

        for problem in problems:
            warn_user(problem)
