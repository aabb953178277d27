"""Learn the values of ordered grades for a ranking, by ridge regression on the items."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from confdiff.ranking.design import ComparisonDesign
from confdiff.ranking.judging import ridge_scores
from confdiff.ranking.scoring import fit_scores
from confdiff.spacing import Spacing, can_be_learned, learn_spacing, out_of_fold

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]


def spaced_design(
    design: ComparisonDesign, component: _Rows, *, spacing: str, ridge: float | None = None, seed: int = 0
) -> tuple[ComparisonDesign, Spacing | None]:
    """Return the comparisons with the values of their grades as differences, and these values.

    Parameters
    ----------
    design, component, ridge, seed
        As in :func:`~confdiff.ranking.scoring.fit_scores`. A ridge that is not given is that of equal spacing.
    spacing : {"equal", "learned", "auto"}
        ``"auto"`` keeps equal spacing unless learned values agree better with held-out answers by more than a standard
        error. At the ends of the scale, the difference that is predicted out of fold is used where it is larger.

    Returns
    -------
    design : ComparisonDesign
        The comparisons; unchanged with equal spacing.
    spacing : Spacing or None
        None if the values were not to be learned.
    """
    if not can_be_learned(design.c, spacing):
        return design, None
    if ridge is None:
        ridge = fit_scores(design, component, seed=seed).estimates.ridge

    def fit_predict(training: _Rows, targets: _Floats, test: _Rows) -> _Floats:
        is_training = np.zeros(len(design), dtype=bool)
        is_training[training] = True
        c = design.c.copy()
        c[training] = targets
        score = ridge_scores(replace(design, c=c), is_training, ridge)
        predicted: _Floats = score[design.right[test]] - score[design.left[test]]
        return predicted

    learned = learn_spacing(design.c, fit_predict, spacing=spacing, seed=seed)
    if learned.name == "equal":
        return design, learned
    predicted = out_of_fold(learned.differences(design.c), np.arange(len(design)), fit_predict, seed)
    return replace(design, c=learned.targets(design.c, predicted)), learned
