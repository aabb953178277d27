"""Register a method: its partial risks are tried on a few numbers before it is added to the table."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

import torch
from torch import Tensor

from confdiff.corrections import Correction, identity
from confdiff.links import LINKS
from confdiff.methods import METHODS, Method, PriorUse
from confdiff.pairs import Supervision
from confdiff.plugins import RegistrationError, add_to_table, check_new_name

_TARGETS: dict[Supervision, tuple[str, ...]] = {
    "differences": ("c",),
    "order": (),
    "labels": ("r", "r_prime"),
    "posteriors": ("r", "r_prime"),
    "same": ("s",),
    "differences and same": ("c", "s"),
    "order and same": ("s",),
}
"""Supervision -> the arguments of the terms after the scores."""
_FIELDS = tuple(field.name for field in fields(Method))
_TRIED = 4  # pairs
_TRIED_PRIOR = 0.3


def register_method(
    name: str,
    terms: Callable[..., Tensor],
    *,
    learns_from: Supervision = "differences",
    prior: PriorUse = "needed",
    correction: Correction = identity,
    label: str | None = None,
    reference: str = "a plug-in",
    **options: Any,
) -> Method:
    """Add a method to the table of methods, under a name that all commands and workers know.

    Parameters
    ----------
    name : str
        The name that users type, in lower-case letters, digits, ``-``, ``_`` and ``.``.
    terms : callable
        ``terms(g, g_prime, c, *, prior, weight, loss)`` returns the partial risks of n pairs as a tensor (k,).
        ``g`` and ``g_prime`` are the scores of the first and second items, ``c`` the confidence differences, all of
        shape (n,). ``weight`` is None or of shape (n,), and ``loss`` maps a margin to its loss. ``prior`` is not passed
        if it is unused. Oracles take ``r, r_prime`` instead of ``c``: the labels or the posteriors of both items.
    learns_from : str, default="differences"
        The supervision of the pairs.
    prior : {"needed", "optional", "unused"}, default="needed"
        Use of the class prior.
    correction : callable, default=identity
        A row of :data:`confdiff.CORRECTIONS`, or another function that is applied to every partial risk.
    label : str, optional
        The label in reports; by default the name.
    reference : str
        The paper that it comes from.
    **options
        Other fields of :class:`confdiff.Method`, such as ``classifies``, ``link`` or ``multiclass``.

    Returns
    -------
    Method
        The row of the table.

    Raises
    ------
    ValueError
        The name is taken, or the terms cannot be called or do not return partial risks.

    Examples
    --------
    Inside a file ``mine.py``, which ``load_plugins("mine.py")`` loads::

        register_method("my-squares", my_terms, prior="unused", label="My squares")
    """
    check_new_name("method", METHODS, name)
    label = name if label is None else label
    _check_choice(name, "learns_from", learns_from, tuple(_TARGETS))
    _check_choice(name, "prior", prior, get_args(PriorUse))
    _check_choice(name, "link", options.get("link", "probability"), tuple(LINKS))
    for option in options:
        _check_choice(name, "option", option, _FIELDS)
    if not isinstance(label, str) or not label.strip() or any(label == row.label for row in METHODS.values()):
        raise RegistrationError(f"the label of the method {name!r} must be a new, non-empty text; got {label!r:.60}.")
    k = _number_of_terms(name, terms, learns_from, with_prior=prior != "unused", options=options)
    defaults = {"family": "plugin", "term_names": tuple(f"term {number + 1}" for number in range(k))}
    method = Method(
        name=name,
        label=label,
        learns_from=learns_from,
        terms=terms,
        correction=correction,
        prior=prior,
        reference=reference,
        **(defaults | options),
    )
    if not callable(correction) or not isinstance(correction(torch.zeros(k)), Tensor):
        raise RegistrationError(f"the correction of the method {name!r} must be a function of a tensor.")
    add_to_table("method", METHODS, name, method)
    return method


def _check_choice(name: str, option: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise RegistrationError(f"{option} of the method {name!r} must be one of {', '.join(choices)}; got {value!r}.")


def _number_of_terms(
    name: str,
    terms: Callable[..., Tensor],
    learns_from: Supervision,
    *,
    with_prior: bool,
    options: dict[str, Any],
) -> int:
    """Call the terms with a few numbers, as training does, and return the number of partial risks."""
    if not callable(terms):
        raise RegistrationError(f"the terms of the method {name!r} must be a function; got {terms!r:.60}.")
    targets = ("r", "r_prime") if options.get("project") is not None else _TARGETS[learns_from]
    if options.get("companion") is not None:  # its targets have shapes of their own
        return len(options.get("term_names", ("term 1",)))
    has_prior_argument = with_prior and options.get("project") is None
    keywords: dict[str, Any] = {"prior": _TRIED_PRIOR} if has_prior_argument else {}
    keywords |= {"weight": None, "loss": torch.nn.functional.softplus}
    positional = ("g", "g_prime", *targets)
    _check_signature(name, terms, positional, tuple(keywords))
    scores = torch.linspace(-1, 1, _TRIED)
    try:
        risks = terms(scores, -scores, *(torch.linspace(0, 0.5, _TRIED) for _ in targets), **keywords)
    except Exception as error:
        raise RegistrationError(
            f"the terms of the method {name!r} raised {type(error).__name__} for {_TRIED} pairs: {error}"
        ) from error
    if not isinstance(risks, Tensor) or risks.ndim != 1 or not len(risks):
        shape = tuple(risks.shape) if isinstance(risks, Tensor) else type(risks).__name__
        raise RegistrationError(
            f"the terms of the method {name!r} must return the partial risks as a tensor of shape (k,), such as "
            f"torch.stack([first, second]); got {shape}."
        )
    return len(risks)


def _check_signature(
    name: str, terms: Callable[..., Tensor], positional: tuple[str, ...], keywords: tuple[str, ...]
) -> None:
    try:
        inspect.signature(terms).bind(*positional, **dict.fromkeys(keywords))
    except TypeError as error:
        expected = f"({', '.join(positional)}, *, {', '.join(keywords)})"
        raise RegistrationError(f"the terms of the method {name!r} must accept {expected}: {error}.") from None
