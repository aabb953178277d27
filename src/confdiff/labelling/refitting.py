"""Refit a model of the items while answers come in, and plan pairs of uncertain items (the design ``uncertain``)."""

import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from confdiff.labelling.design.uncertain import replanned
from confdiff.randomness import derived_seed

if TYPE_CHECKING:
    from confdiff.labelling.design import PlannedQuestion
    from confdiff.labelling.study import Study

_Floats = NDArray[np.float64]
_BALANCED = 0.5  # fraction of the questions before the first model
_BETWEEN = 0.1  # fraction of the questions between two models
_FEWEST_ANSWERS = 20
_SECONDS = 10.0
_MEDIA = ("image", "audio")


class Refitter:
    """Plans the free questions of a study again when enough new answers came.

    Parameters
    ----------
    study : Study
        A study. Nothing is ever planned again unless its design is ``uncertain``.
    """

    def __init__(self, study: "Study") -> None:
        self.study = study
        self._n_questions = len(study.plan())
        self._refits_at = max(_FEWEST_ANSWERS, round(_BALANCED * self._n_questions))

    def refit(self) -> bool:
        """Fit a model and plan again if enough answers came since the last time; return whether it was done."""
        if self.study.settings.design != "uncertain" or self.study.state != "open":
            return False
        answers = self.study.answers()
        n_answers = int(np.isfinite(np.asarray(answers["difference"], dtype=np.float64)).sum())
        if n_answers < self._refits_at:
            return False
        self._refits_at = n_answers + max(1, round(_BETWEEN * self._n_questions))
        uncertainty = uncertainty_of(self.study)
        if uncertainty is None:
            return False
        seed = derived_seed(self.study.settings.seed, "uncertain pairs", n_answers)

        def choose(asked: "list[PlannedQuestion]", free: "list[PlannedQuestion]") -> "list[PlannedQuestion]":
            return replanned(asked, free, uncertainty, seed)

        self.study.replan_free(choose)
        return True


def uncertainty_of(study: "Study") -> _Floats | None:
    """Return p (1 - p) of each item under a linear model that is fitted to the answers.

    Parameters
    ----------
    study : Study
        A study with graded answers. Columns of texts, numbers and categories are the features.

    Returns
    -------
    ndarray, shape (n_items,), or None
        None if the items have no features, or the answers do not determine a model.
    """
    from confdiff.estimators import ConfDiffLogisticRegression
    from confdiff.pairs import Pairs
    from confdiff.tabular.features.item_features import ItemFeatures

    kinds = study.settings.kinds
    columns = {name: values for name, values in study.items().items() if name != study.id_column}
    usable = {name: values for name, values in columns.items() if kinds.get(name) not in _MEDIA}
    if not usable:
        return None
    left, right, difference = _graded(study)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they advise is for the final model
        try:
            items = ItemFeatures().fit(usable).encode(usable)
            model = ConfDiffLogisticRegression(C="auto", standardise=True)
            p = model.fit(Pairs(items, left, right, difference)).predict_proba(items)[:, 1]
        except (ValueError, FloatingPointError):
            return None
    uncertainty: _Floats = p * (1 - p)
    return uncertainty


def _graded(study: "Study") -> tuple[NDArray[np.int64], NDArray[np.int64], _Floats]:
    """Return the item numbers and differences of the graded answers, without the reserve."""
    answers = study.answers()
    difference = np.asarray(answers["difference"], dtype=np.float64)
    is_used = np.isfinite(difference) & (np.asarray(answers["kind"]) != "random")
    numbers = {name: number for number, name in enumerate(study.item_ids())}
    left = np.array([numbers[str(name)] for name in np.asarray(answers["left"])[is_used]], dtype=np.int64)
    right = np.array([numbers[str(name)] for name in np.asarray(answers["right"])[is_used]], dtype=np.int64)
    return left, right, difference[is_used]


@contextmanager
def background_refits(studies: "Iterable[Study]", *, seconds: float = _SECONDS) -> Iterator[None]:
    """Refit the models of studies in a thread while the block runs.

    Parameters
    ----------
    studies : iterable of Study
        The studies; those whose design is not ``uncertain`` are ignored.
    seconds : float, default=10
        Pause between two looks at the answers.
    """
    refitters = [Refitter(study) for study in studies if study.settings.design == "uncertain"]
    if not refitters:
        yield
        return
    stopped = threading.Event()

    def work() -> None:
        while not stopped.wait(seconds):
            for refitter in refitters:
                _refit_safely(refitter)

    thread = threading.Thread(target=work, name="refits", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _refit_safely(refitter: Refitter) -> None:
    """Refit once; the plan remains as it is if the database or the fit fails."""
    try:
        refitter.refit()
    except Exception as error:
        warnings.warn(f"pairs of uncertain items were not planned: {error}", RuntimeWarning, stacklevel=2)
