"""Register a network."""

import inspect
from collections.abc import Callable

from torch import nn

from confdiff.models import MODELS
from confdiff.plugins import RegistrationError, add_to_table, check_new_name


def register_model(name: str, factory: Callable[..., nn.Module]) -> None:
    """Add a network to the table of networks, under a name that all commands and workers know.

    Parameters
    ----------
    name : str
        The name that users type, in lower-case letters, digits, ``-``, ``_`` and ``.``.
    factory : callable
        ``factory(n_features, n_scores)`` returns a new network, which maps items (m, d) to scores (m,) or (m, 1), or to
        (m, K) scores of K classes. ``n_scores`` is 1 for two classes. The seed of a run is set when it is called.

    Raises
    ------
    ValueError
        The name is taken, or the factory cannot be called with two numbers.

    Examples
    --------
    Inside a file ``mine.py``, which ``load_plugins("mine.py")`` loads::

        register_model("my-net", lambda n_features, n_scores: nn.Linear(n_features, n_scores))
    """
    check_new_name("model", MODELS, name)
    if not callable(factory):
        raise RegistrationError(f"the factory of the model {name!r} must be a function; got {factory!r:.60}.")
    try:
        inspect.signature(factory).bind(1, 1)
    except TypeError as error:
        raise RegistrationError(
            f"the factory of the model {name!r} must accept (n_features, n_scores): {error}."
        ) from None
    add_to_table("model", MODELS, name, factory)
