"""Checks that every estimator of pairs must pass; scikit-learn's common checks do not support pairs.

    >>> from confdiff import ConfDiffClassifier
    >>> check_pair_estimator(ConfDiffClassifier(prior=0.5, model="linear", epochs=30, learning_rate=0.05))

Each check takes an estimator, clones it and raises ``AssertionError`` if the clone fails.
"""

import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from confdiff.pairs import Pairs

PairEstimatorCheck = Callable[[Any], None]
"""A function that raises ``AssertionError`` if an estimator fails a check."""


def check_pair_estimator(estimator: Any) -> None:
    """Run every check on clones of an estimator.

    Parameters
    ----------
    estimator : estimator
        An estimator of pairs with differences.

    Raises
    ------
    AssertionError
        The estimator fails a check.
    """
    for _, check in pair_estimator_checks():
        check(estimator)


def pair_estimator_checks() -> Iterator[tuple[str, PairEstimatorCheck]]:
    """Yield the name and the function of every check, for test runners that report them one by one."""
    for name, value in globals().items():
        if name.startswith("_check_"):
            yield name.removeprefix("_check_"), value


def _data(n_items: int = 60, n_pairs: int = 80, n_features: int = 3) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return items, pairs of row numbers, and differences of a posterior that is easy to learn."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(n_items, n_features)).astype(np.float32)
    rows = rng.integers(0, n_items, size=(n_pairs, 2))
    r = 1 / (1 + np.exp(-2 * items[:, 0]))
    return items, rows, r[rows[:, 1]] - r[rows[:, 0]]


def _fitted(estimator: Any) -> Any:
    items, rows, c = _data()
    return clone(estimator).fit(items[rows], c)


def _raises(error: type[Exception], call: Callable[[], Any], description: str) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"{description} must raise {error.__name__}.")


def _check_fit_returns_self_and_keeps_parameters(estimator: Any) -> None:
    items, rows, c = _data()
    fresh = clone(estimator)
    before = fresh.get_params()
    assert fresh.fit(items[rows], c) is fresh, "fit must return the estimator"
    assert fresh.get_params() == before, "fit must not change parameters"
    assert fresh.n_features_in_ == items.shape[1]
    assert len(fresh.classes_) == 2


def _check_predictions(estimator: Any) -> None:
    items, _, _ = _data()
    fitted = _fitted(estimator)
    scores = fitted.decision_function(items)
    labels = fitted.predict(items)
    probabilities = fitted.predict_proba(items)
    assert scores.shape == labels.shape == (len(items),)
    assert probabilities.shape == (len(items), 2)
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    assert (probabilities >= 0).all()
    assert set(labels) <= set(fitted.classes_)
    assert ((labels == fitted.classes_[1]) == (scores >= 0)).all(), "predict must follow the sign of the score"
    assert ((probabilities[:, 1] >= 0.5) == (scores >= 0)).all(), "probabilities must follow the score"


def _check_learns(estimator: Any) -> None:
    items, rows, c = _data()
    assert _fitted(estimator).score(items[rows], c) > 0.5, "the R² of easy differences must be above 0.5"


def _check_score_is_r2(estimator: Any) -> None:
    items, rows, c = _data()
    fitted = _fitted(estimator)
    p = fitted.predict_proba(items)[:, 1]
    expected = 1 - ((p[rows[:, 1]] - p[rows[:, 0]] - c) ** 2).sum() / (c**2).sum()
    assert abs(fitted.score(items[rows], c) - expected) < 1e-5


def _check_single_pair(estimator: Any) -> None:
    items, rows, c = _data()
    fitted = _fitted(estimator)
    differences = fitted.predict_difference(items[rows])
    assert fitted.predict_difference(items[rows[:1]]).shape == (1,), "one pair must give one difference"
    assert np.allclose(fitted.predict_difference(items[rows[:1]]), differences[:1], atol=1e-6)
    assert np.isfinite(fitted.score(items[rows[:1]], c[:1]))


def _check_forms_agree(estimator: Any) -> None:
    items, rows, c = _data()
    by_features = _fitted(estimator).decision_function(items)
    by_rows = clone(estimator).fit(rows, c, items=items).decision_function(items)
    by_pairs = clone(estimator).fit(Pairs.from_rows(rows, items), c).decision_function(items)
    assert (by_features == by_rows).all(), "row numbers and features must give the same result"
    assert (by_features == by_pairs).all(), "Pairs and features must give the same result"


def _check_orientation_carries_no_meaning(estimator: Any) -> None:
    items, rows, c = _data()
    swapped = clone(estimator).fit(items[rows[:, ::-1]], -c).predict_proba(items)
    assert np.allclose(swapped, _fitted(estimator).predict_proba(items), atol=1e-3)


def _check_same_seed_same_result(estimator: Any) -> None:
    items, _, _ = _data()
    assert (_fitted(estimator).decision_function(items) == _fitted(estimator).decision_function(items)).all()


def _check_refit_forgets(estimator: Any) -> None:
    items, rows, c = _data()
    fitted = _fitted(estimator)
    before = fitted.decision_function(items)
    fitted.fit(items[rows][:, :, :2], c)
    assert fitted.n_features_in_ == 2
    after = fitted.fit(items[rows], c).decision_function(items)
    assert (after == before).all(), "a second fit must not depend on the first"


def _check_input_is_unchanged(estimator: Any) -> None:
    items, rows, c = _data()
    copies = (items.copy(), rows.copy(), c.copy())
    clone(estimator).fit(rows, c, items=items).predict_proba(items)
    for array, copy in zip((items, rows, c), copies, strict=True):
        assert (array == copy).all(), "fit and predict must not change their input"


def _check_pickles(estimator: Any) -> None:
    items, _, _ = _data()
    fitted = _fitted(estimator)
    unpickled = pickle.loads(pickle.dumps(fitted))
    assert (unpickled.decision_function(items) == fitted.decision_function(items)).all()


def _check_unfitted_raises(estimator: Any) -> None:
    items, rows, c = _data()
    _raises(NotFittedError, lambda: clone(estimator).predict(items), "predict before fit")
    _raises(NotFittedError, lambda: clone(estimator).score(items[rows], c), "score before fit")


def _check_weights(estimator: Any) -> None:
    items, rows, c = _data()
    plain = _fitted(estimator).decision_function(items)
    equal = clone(estimator).fit(items[rows], c, sample_weight=np.full(len(c), 3.0)).decision_function(items)
    assert np.allclose(plain, equal, atol=1e-4), "equal weights must give the same result as no weights"
    uneven = np.where(np.arange(len(c)) < len(c) // 4, 1.0, 0.0)
    other = clone(estimator).fit(items[rows], c, sample_weight=uneven).decision_function(items)
    assert not np.allclose(plain, other, atol=1e-4), "weights must have an effect"


def _check_missing_values(estimator: Any) -> None:
    if not get_tags(estimator).input_tags.allow_nan:
        return
    items, rows, c = _data()
    items[::3, 2] = np.nan
    fitted = clone(estimator).fit(items[rows], c)
    assert np.isfinite(fitted.predict_proba(items)).all(), "probabilities of items with missing values must be finite"
    by_rows = clone(estimator).fit(rows, c, items=items)
    assert (by_rows.decision_function(items) == fitted.decision_function(items)).all(), "the forms must agree"
    assert fitted.score(items[rows], c) == by_rows.score(rows, c, items=items)
    infinite = np.where(np.isnan(items), np.inf, items)
    _raises(ValueError, lambda: fitted.predict(infinite), "infinite features")


def _check_bad_input(estimator: Any) -> None:
    items, rows, c = _data()
    pairs = items[rows]
    with_nan = pairs.copy()
    with_nan[3, 1, 2] = np.nan
    bad: dict[str, tuple[Any, Any]] = {
        "c above 1": (pairs, np.where(np.arange(len(c)) == 5, 1.5, c)),
        "c with nan": (pairs, np.where(np.arange(len(c)) == 5, np.nan, c)),
        "c too short": (pairs, c[:-1]),
        "c as a column": (pairs, c[:, None]),
        "features with nan": (with_nan, c),
        "three items per pair": (np.concatenate([pairs, pairs[:, :1]], axis=1), c),
        "a matrix": (items, c),
        "no pairs": (pairs[:0], c[:0]),
        "row numbers without items": (rows, c),
    }
    if get_tags(estimator).input_tags.allow_nan:
        del bad["features with nan"]
    for name, (x, y) in bad.items():
        _raises(ValueError, partial(clone(estimator).fit, x, y), name)
    fitted = _fitted(estimator)
    _raises(ValueError, lambda: fitted.predict(items[:, :2]), "fewer features than at fit")
    _raises(ValueError, lambda: fitted.predict(items[0]), "a single item as a vector")
    _raises(ValueError, lambda: clone(estimator).fit(rows + len(items), c, items=items), "rows outside the items")
