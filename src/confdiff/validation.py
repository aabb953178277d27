"""Every check of what a user hands in, and every message about it.

A message says what was expected, what came and where, and what to do about it. All checks raise ``ValueError``
(the classes of scikit-learn and NumPy would do the same), so that one ``except`` is enough for a caller.
"""

import math
import warnings
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def check_choice(what: str, value: object, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``choices``; otherwise suggest the nearest one.

    >>> check_choice("method", "confdif-abs", ["confdiff-abs", "confdiff-relu"])
    Traceback (most recent call last):
    ...
    ValueError: unknown method 'confdif-abs'. Did you mean 'confdiff-abs'? Known: confdiff-abs, confdiff-relu.
    """
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    near = get_close_matches(str(value).lower(), known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"unknown {what} {value!r}.{hint} Known: {', '.join(known)}.")


def check_count(what: str, value: object, *, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{what} must be a whole number of at least {least}; got {value!r}.")
    return int(value)


def check_number(what: str, value: object, *, above: float | None = None, least: float | None = None) -> float:
    """A finite real number, above ``above`` or at least ``least`` where these are given."""
    bound = f" above {above:g}" if above is not None else f" of at least {least:g}" if least is not None else ""
    message = f"{what} must be a finite number{bound}; got {value!r}."
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(message)
    number = float(value)
    if (above is not None and number <= above) or (least is not None and number < least):
        raise ValueError(message)
    return number


def check_prior(prior: object) -> float:
    """The class prior p(y = +1): a number strictly between 0 and 1.

    >>> check_prior(20)
    Traceback (most recent call last):
    ...
    ValueError: prior must be a probability strictly between 0 and 1, such as 0.2; got 20.
    """
    if isinstance(prior, bool) or not isinstance(prior, Real) or not 0 < float(prior) < 1:
        raise ValueError(f"prior must be a probability strictly between 0 and 1, such as 0.2; got {prior!r}.")
    return float(prior)


def check_share(what: str, value: object) -> float:
    """A share: a number above 0 and at most 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ValueError(f"{what} must be a number above 0 and at most 1, such as 0.1; got {value!r}.")
    return float(value)


def prior_missing(method: str) -> ValueError:
    """The error for a method that needs the class prior when none was given."""
    return ValueError(
        f"method {method!r} needs the class prior p(y = +1), and none was given. "
        "Pass prior=..., the share of positives among the items (a rough figure is better than none); an estimator "
        'also takes prior="estimate" and a few labelled items.'
    )


def as_array(what: str, values: Any, columns: Iterable[str] | None = None) -> NDArray[Any]:
    """Anything array-like (list, NumPy, pandas, torch) as a dense numeric NumPy array, without a copy if possible."""
    if isinstance(values, Tensor):
        values = values.detach().cpu()
        values = values.float().numpy() if values.dtype == torch.bfloat16 else values.numpy()
    if hasattr(values, "toarray"):
        raise ValueError(f"{what} must be dense; got a sparse matrix. Use {what}.toarray() if it fits in memory.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{what} must be a regular array; the rows have different lengths.") from error
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{what} must be numeric; got {_first_non_number(array, columns)}.") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} must be numeric; got values of type {array.dtype}.")
    return array


def as_tensor(array: NDArray[Any]) -> Tensor:
    """A tensor that shares the memory of an array, also of a read-only one (pandas, memory-mapped files)."""
    with warnings.catch_warnings():  # torch warns of writing to a read-only array, and nothing here writes
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


def column_names(items: Any) -> tuple[str, ...] | None:
    """The column names of a data frame if all are text, as scikit-learn has it; otherwise ``None``."""
    columns = list(getattr(items, "columns", []))
    if not columns or not all(isinstance(name, str) for name in columns):
        return None
    if len(set(columns)) < len(columns):
        twice = next(name for name, count in Counter(columns).items() if count > 1)
        raise ValueError(f"the columns of the items must have different names; {twice!r} stands there more than once.")
    return tuple(columns)


def _first_non_number(array: NDArray[Any], columns: Iterable[str] | None) -> str:
    for place, value in np.ndenumerate(array):
        if not isinstance(value, Real):
            return f"{value!r} at {_place(place, columns)}"
    return "values that are not numbers"


def _place(index: tuple[int, ...], columns: Iterable[str] | None = None) -> str:
    """Where an entry stands, in words: ``row 3``, ``row 3, column 5``, ``row 3, column 'age'``."""
    if len(index) == 1 or columns is None:
        names: list[object] = list(index[1:])
    else:
        names = [repr(list(columns)[index[1]])]
    return ", ".join([f"row {index[0]}"] + [f"column {name}" for name in names])


def _more(count: int, of: str = "rows") -> str:
    """How many other places have the fault that a message names the first place of."""
    return f" ({count} such {of})" if count > 1 else ""


def check_finite(what: str, array: NDArray[Any], columns: Iterable[str] | None = None, *, start: int = 0) -> None:
    """No NaN and no infinity; the message names the first bad entry, counting rows from ``start``.

    >>> check_finite("X", np.array([[1.0, 2.0], [np.nan, 3.0]]), columns=["age", "weight"])
    Traceback (most recent call last):
    ...
    ValueError: X must be finite, without NaN or infinity; found nan at row 1, column 'age'. Impute or drop it first.
    """
    # The sum of a finite array is finite or overflows: only then is every single entry worth a look.
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype.kind != "f" or np.isfinite(array.sum()):
            return
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        place = _place((index[0] + start, *index[1:]), columns) + _more(len(bad), "entries")
        expected = f"{what} must be finite, without NaN or infinity"
        raise ValueError(f"{expected}; found {array[index]} at {place}. Impute or drop it first.")


def check_class_priors(values: Any, n_classes: int) -> NDArray[Any]:
    """The priors of K classes: each above 0, adding up to 1."""
    array = check_vector("prior", values, n_classes, of="class")
    if array.min() <= 0 or abs(array.sum() - 1) > 1e-4:
        raise ValueError(f"prior must be one number above 0 for each class, adding up to 1; got {array.tolist()}.")
    return array


def check_items(what: str, values: Any) -> NDArray[Any]:
    """A matrix of features, one item a row: 2-D, not empty, finite.

    32-bit floats stay what they are; all else becomes 64-bit, so that a transformer sees what the user has.
    """
    columns = column_names(values)
    array = as_array(what, values, columns)
    if array.ndim != 2:
        hint = " Reshape your data with x.reshape(1, -1) if it is a single item." if array.ndim == 1 else ""
        raise ValueError(f"{what} must be a matrix with one item a row, shape (m, d); got shape {array.shape}.{hint}")
    if 0 in array.shape:
        raise ValueError(f"{what} must hold at least one item and one feature; got shape {array.shape}.")
    check_finite(what, array, columns)
    return np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)


def as_float32(what: str, array: NDArray[Any]) -> NDArray[np.float32]:
    """Finite features as the 32-bit floats that networks take; a number out of their reach is named."""
    with np.errstate(over="ignore"):
        features: NDArray[np.float32] = array.astype(np.float32, copy=False)
    if features is not array:
        check_finite(f"{what}, as 32-bit floats,", features)
    return features


def check_vector(
    what: str, values: Any, length: int | None = None, *, of: str = "pair", start: int = 0
) -> NDArray[Any]:
    """A finite numeric vector, with one entry for each of ``length`` pairs (or items)."""
    array = as_array(what, values)
    if array.ndim != 1:
        raise ValueError(f"{what} must be one number for each {of}, shape (n,); got shape {array.shape}.")
    if length is not None and len(array) != length:
        raise ValueError(f"{what} must have one entry for each {of}: expected {length}, got {len(array)}.")
    check_finite(what, array, start=start)
    return array


def check_range(what: str, array: NDArray[Any], low: float, high: float, hint: str, *, start: int = 0) -> None:
    """All entries in [low, high]; the message names the first that is not."""
    outside = np.flatnonzero((array < low) | (array > high))
    if len(outside):
        row = int(outside[0])
        place = f"row {start + row}" + _more(len(outside))
        raise ValueError(f"{what} must lie in [{low:g}, {high:g}]; got {array[row]:.10g} at {place}. {hint}")


def check_difference(
    values: Any, length: int | None = None, *, what: str = "c (the confidence difference)", start: int = 0
) -> NDArray[np.float32]:
    """Confidence differences c = p(+|x') - p(+|x): one for each pair, in [-1, 1]."""
    array = check_vector(what, values, length, start=start)
    if array.dtype.kind == "b":
        raise ValueError(f"{what} must be numbers in [-1, 1]; got true/false. Who is higher is not yet by how much.")
    rounding = 1e-6  # differences of rounded posteriors may stick out by that much
    hint = "Divide percentages by 100; map a scale to -1..1."
    check_range(what, array, -1 - rounding, 1 + rounding, hint, start=start)
    return array.clip(-1, 1).astype(np.float32)


def _rounding(array: NDArray[Any]) -> float:
    """How far sums over the classes may be off: numbers of 16 bits are rounded in the fourth digit."""
    return 1e-4 if array.dtype.itemsize > 2 else 1e-3 * array.shape[1]


def check_difference_vectors(array: NDArray[Any], length: int) -> NDArray[np.float32]:
    """Confidence differences of K classes, c_k = p(k|x') - p(k|x): in [-1, 1], and adding up to 0 for each pair."""
    what = "c (the confidence differences)"
    if len(array) != length:
        raise ValueError(f"{what} must have one row for each pair: expected {length}, got {len(array)}.")
    check_finite(what, array)
    for column in range(array.shape[1]):
        check_range(f"{what}, class {column},", array[:, column], -1 - 1e-6, 1 + 1e-6, "Divide percentages by 100.")
    sums, rounding = array.sum(axis=1, dtype=np.float64), _rounding(array)
    hint = "What one class gains the others lose."
    check_range(f"{what}, added up over the classes,", sums, -rounding, rounding, hint)
    return array.clip(-1, 1).astype(np.float32)


def check_weight(values: Any, length: int) -> NDArray[np.float32]:
    """Weights of the pairs: not negative, not all zero; scaled to a mean of 1."""
    array = check_vector("weight", values, length)
    check_range("weight", array, 0, math.inf, "Drop pairs that should not count.")
    if not array.any():
        raise no_weight()
    scaled = array / array.max()  # first, as a sum of very large weights would overflow
    weight: NDArray[np.float32] = (scaled / scaled.mean(dtype=np.float64)).astype(np.float32)
    return weight


def no_weight() -> ValueError:
    """The error for pairs of which none counts."""
    return ValueError("weight must be above 0 for at least one pair; all are 0.")


def no_probabilities(loss: str) -> ValueError:
    """The error for a loss whose scores are no probabilities where such are needed."""
    return ValueError(f"the {loss} loss gives no probabilities; logistic, squared and exponential do.")


def one_prior_only(method: str) -> ValueError:
    """The error for a prior that differs from pair to pair and a method that knows one."""
    return ValueError(f"method {method!r} takes one prior for all pairs; got one for each.")


def two_classes_only(method: str) -> ValueError:
    """The error for vectors of differences and a method that knows two classes."""
    return ValueError(f"method {method!r} knows two classes only; confdiff-regression and others know more.")


def not_for_streams(what: str, remedy: str) -> ValueError:
    """The error for what needs all pairs in memory."""
    return ValueError(f"{what} needs its pairs in memory, and these are streamed. {remedy}")


def no_pairs() -> ValueError:
    """The error for a set of pairs that is empty."""
    return ValueError("there must be at least one pair; got none.")


def check_posteriors(values: Any, length: int) -> NDArray[np.float32]:
    """Posteriors r = p(y = +1 | x), one for each item, in [0, 1]; or (N, K), those of K classes, which add up to 1."""
    array = as_array("posteriors", values)
    if array.ndim != 2:
        array = check_vector("posteriors", array, length, of="item")
    check_finite("posteriors", array)
    if len(array) != length:
        raise ValueError(f"posteriors must have one row for each item: expected {length}, got {len(array)}.")
    for column in array.reshape(length, -1).T:
        check_range("posteriors", column, 0, 1, "Posteriors are probabilities.")
    if array.ndim == 2:
        sums, rounding = array.sum(axis=1, dtype=np.float64), _rounding(array)
        what = "posteriors, added up over the classes,"
        check_range(what, sums, 1 - rounding, 1 + rounding, "Divide by the sum.")
    return array.astype(np.float32)


def check_labels(values: Any, length: int, n_classes: int = 2) -> NDArray[np.float32]:
    """Class labels of the items: 0/1 or -1/+1, returned as 0/1; or 0 to K - 1 where there are K classes."""
    array = check_vector("labels", values, length, of="item")
    found = np.unique(array)
    if n_classes > 2:
        if not np.isin(found, np.arange(n_classes)).all():
            expected = f"whole numbers from 0 to {n_classes - 1}"
            raise ValueError(f"labels must be {expected}; got numbers from {found[0]:g} to {found[-1]:g}.")
        return array.astype(np.float32)
    if not (np.isin(found, (0, 1)).all() or np.isin(found, (-1, 1)).all()):
        shown = ", ".join(f"{value:g}" for value in found[:5])
        raise ValueError(f"labels must be 0/1 or -1/+1; got the values {shown}.")
    positive: NDArray[np.float32] = (array == 1).astype(np.float32)
    return positive


def check_rows(what: str, values: Any, n_items: int, length: int | None = None, *, start: int = 0) -> NDArray[np.int64]:
    """Row numbers into the items, one for each pair."""
    array = check_vector(what, values, length, start=start)
    if array.dtype.kind == "f" and (array % 1).any():
        row = int(np.flatnonzero(array % 1)[0])
        raise ValueError(f"{what} must be whole row numbers into the items; got {array[row]:g} at row {start + row}.")
    if array.dtype.kind == "b":
        raise ValueError(f"{what} must be row numbers into the items; got true/false values.")
    outside = np.flatnonzero((array < 0) | (array >= n_items))
    if len(outside):
        row = int(outside[0])
        place = f"row {start + row}" + _more(len(outside))
        raise ValueError(f"{what} must point into the items, 0 to {n_items - 1}; got {array[row]:g} at {place}.")
    return array.astype(np.int64)


def check_item_mask(what: str, values: Any, n_items: int) -> NDArray[np.bool_]:
    """A choice of items: true or false for each of them."""
    mask = as_array(what, values)
    if mask.dtype != bool or mask.shape != (n_items,):
        expected = f"true or false for each item, shape ({n_items},)"
        raise ValueError(f"{what} must be {expected}; got values of type {mask.dtype}, shape {mask.shape}.")
    return mask


def check_groups(values: Any, length: int) -> NDArray[np.int64]:
    """Group names of any kind, one for each pair, as whole numbers."""
    names = np.asarray(values)
    if names.shape != (length,):
        raise ValueError(f"group must have one entry for each pair: expected shape ({length},), got {names.shape}.")
    if names.dtype.kind == "f":
        check_finite("group", names)
    if names.dtype != object:
        return np.unique(names, return_inverse=True)[1].astype(np.int64)
    codes: dict[Any, int] = {}
    for row, name in enumerate(names.tolist()):
        if name is None or name != name:  # None, NaN and NA are missing, not a group
            raise ValueError(f"group must name a group for each pair; it is missing at row {row}.")
        codes.setdefault(name, len(codes))
    return np.array([codes[name] for name in names.tolist()], dtype=np.int64)


def check_known_ids(what: str, ids: NDArray[Any], rows: NDArray[np.int64]) -> None:
    """Every id was found in the index of the items (``rows`` holds -1 where it was not)."""
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        first = int(unknown[0])
        name = ids[first : first + 1].tolist()[0]
        place = f"row {first}" + _more(len(unknown))
        raise ValueError(f"{what}: the id {name!r} at {place} is not in the index of the items.")


def check_same_shape(**tensors: Any) -> None:
    """Vectors of one length: nothing may broadcast silently.

    >>> import torch
    >>> check_same_shape(g=torch.zeros(3), c=torch.zeros(3, 1))
    Traceback (most recent call last):
    ...
    ValueError: g, c must be vectors of one length; got g (3,), c (3, 1).
    """
    shape = next(iter(tensors.values())).shape
    if len(shape) == 1 and all(tensor is None or tensor.shape == shape for tensor in tensors.values()):
        return
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    shapes = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in given.items())
    raise ValueError(f"{', '.join(given)} must be vectors of one length; got {shapes}.")


def check_same_matrix(weight: Tensor | None, **tensors: Tensor) -> None:
    """Matrices of one shape (n, K), and a weight (n,) or none: nothing may broadcast silently."""
    shape = next(iter(tensors.values())).shape
    if len(shape) != 2 or any(tensor.shape != shape for tensor in tensors.values()):
        shapes = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(f"{', '.join(tensors)} must be matrices of one shape (n, K); got {shapes}.")
    if weight is not None and weight.shape != shape[:1]:
        raise ValueError(f"weight must be one number for each pair, ({shape[0]},); got {tuple(weight.shape)}.")


def check_scores(output: Any, rows: int, n_classes: int | None = None) -> Tensor:
    """A model's output as a vector with one score for each item, or a matrix with one for each of K classes."""
    expected = [(rows,), (rows, 1)] if n_classes is None else [(rows, n_classes)]
    if not isinstance(output, Tensor) or tuple(output.shape) not in expected:
        got = f"shape {tuple(output.shape)}" if isinstance(output, Tensor) else type(output).__name__
        shapes = " or ".join(map(str, expected))
        each = "" if n_classes is None else " and class"
        raise ValueError(f"the model must give one score an item{each}, shape {shapes}; got {got}.")
    return output.reshape(expected[0])


def non_finite_risk(terms: Tensor, names: Iterable[str], epoch: int, step: int) -> FloatingPointError:
    """The error for a risk that is NaN or infinite: which partial risk, when, and what usually helps."""
    bad = [f"{name} = {value:g}" for name, value in zip(names, terms.tolist(), strict=True) if not math.isfinite(value)]
    return FloatingPointError(
        f"the risk is not finite at epoch {epoch + 1}, step {step + 1}: partial risk {', '.join(bad) or 'sum'}. "
        "A smaller learning rate or scaled features usually help."
    )
