"""The learners of the study on real tables, and what is measured of each.

All learners are given the class prior. Their other parameters are the defaults, except where a row says otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators import ConfDiffAuto, ConfDiffBoosting, ConfDiffClassifier
from confdiff.estimators.candidates import CANDIDATES, fit_candidate, resolve_candidates
from confdiff.pairs import Pairs


class Predictor(Protocol):
    """What a fitted learner offers."""

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of both classes, (m, 2)."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """A learner.

    Attributes
    ----------
    label : str
        Name in the report.
    fit : callable
        ``fit(pairs, prior, seed)`` returns the fitted model.
    role : {"baseline", "candidate", "choice", "oracle"}
        Whether it is one of the learners that are compared with, one of the candidates of the automatic choice, the
        choice itself, or learns from the posteriors or labels.
    stage : int
        Position in the order of trials: cheap learners come first.
    version : int
        Raise it with every change of the learner that changes its results: trials of an earlier version are ignored.
    """

    label: str
    fit: Callable[[Pairs, float, int], Predictor]
    role: Literal["baseline", "candidate", "choice", "oracle"]
    stage: int = 1
    version: int = 1


def _fit_network(method: str | None = None, **options: Any) -> Callable[[Pairs, float, int], Predictor]:
    def fit(pairs: Pairs, prior: float, seed: int) -> Predictor:
        return ConfDiffClassifier(method, prior=prior, random_state=seed, **options).fit(pairs)

    return fit


def _fit_candidate(name: str) -> Callable[[Pairs, float, int], Predictor]:
    """Return a candidate of the automatic choice, with the regularisation that it has there."""

    def fit(pairs: Pairs, prior: float, seed: int) -> Predictor:
        (candidate,) = resolve_candidates([name], pairs)
        estimator = candidate.new("probability", prior=prior, random_state=seed)
        fitted: Predictor = fit_candidate(estimator, pairs, None)
        return fitted

    return fit


def _fit_choice(pairs: Pairs, prior: float, seed: int) -> Predictor:
    return ConfDiffAuto(prior=prior, random_state=seed).fit(pairs)


def _fit_boosting(method: str) -> Callable[[Pairs, float, int], Predictor]:
    def fit(pairs: Pairs, prior: float, seed: int) -> Predictor:
        return ConfDiffBoosting(method, prior=prior, random_state=seed).fit(pairs)

    return fit


def _fit_linear_oracle(kind: Literal["labels", "posteriors"]) -> Callable[[Pairs, float, int], Predictor]:
    """Return logistic regression on labels or posteriors: an item with posterior r is positive with weight r."""

    def fit(pairs: Pairs, prior: float, seed: int) -> Predictor:
        from sklearn.linear_model import LogisticRegressionCV
        from sklearn.model_selection import GroupKFold
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        targets = pairs.labels if kind == "labels" else pairs.posteriors
        assert targets is not None
        positive = targets.double().numpy()
        items = np.concatenate([np.asarray(pairs.items)] * 2)
        labels = np.repeat([1, 0], len(positive))
        weight = np.concatenate([positive, 1 - positive])
        counts = weight > 0
        rows = np.tile(np.arange(len(positive)), 2)[counts]
        folds = list(GroupKFold(_ORACLE_FOLDS).split(rows, groups=rows))
        model = make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=_ORACLE_CS, cv=folds, max_iter=1000))
        fitted: Predictor = model.fit(items[counts], labels[counts], logisticregressioncv__sample_weight=weight[counts])
        return fitted

    return fit


_ORACLE_FOLDS = 3
_ORACLE_CS = [0.01, 0.1, 1.0, 10.0]

_LABELS = {"linear": "logistic", "boosting": "boosting", "mlp": "network, regularised", "paper-mlp": "network, plain"}
_STAGES = {"mlp": 2, "paper-mlp": 3}
_VERSIONS: dict[str, int] = {
    "linear": 3,
    "mlp": 2,
}  # of candidates; raise the version of the choice with that of a candidate

LEARNERS: dict[str, Learner] = {
    **{
        name: Learner(
            label=_LABELS.get(name, name),
            fit=_fit_candidate(name),
            role="candidate",
            stage=_STAGES.get(name, 1),
            version=_VERSIONS.get(name, 1),
        )
        for name in CANDIDATES
    },
    "auto": Learner(label="auto", fit=_fit_choice, role="choice", stage=2, version=5),
    "abs": Learner(label="ConfDiff-ABS", fit=_fit_network("confdiff-abs"), role="baseline", stage=2),
    "linear-soft": Learner(label="linear, soft labels", fit=_fit_linear_oracle("posteriors"), role="oracle"),
    "linear-hard": Learner(label="linear, hard labels", fit=_fit_linear_oracle("labels"), role="oracle"),
    "boosting-soft": Learner(label="boosting, soft labels", fit=_fit_boosting("oracle-soft"), role="oracle"),
    "boosting-hard": Learner(label="boosting, hard labels", fit=_fit_boosting("oracle-hard"), role="oracle"),
    "network-soft": Learner(label="network, soft labels", fit=_fit_network("oracle-soft"), role="oracle", stage=3),
    "network-hard": Learner(label="network, hard labels", fit=_fit_network("oracle-hard"), role="oracle", stage=3),
}
"""Name -> learner. Candidates have the names that they have in :data:`confdiff.estimators.candidates.CANDIDATES`."""
