"""A classifier of single items, learned from pairs with confidence differences."""

import os
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from confdiff.estimators.inputs import as_pairs
from confdiff.estimators.pair_classifier import PairClassifier, has_probabilities
from confdiff.metrics import difference_score
from confdiff.pairs import Supervision


class ConfDiffClassifier(PairClassifier):
    """Learns a classifier of single items from pairs with confidence differences.

    ``fit`` takes pairs and ``c = p(+|x') - p(+|x)``, where the pairs are

    - an (n, 2, d) array: the features of both items of every pair;
    - an (n, 2) table of row numbers into ``items=`` (an array), or of ids in the index of ``items=`` (a data frame);
    - a :class:`~confdiff.Pairs`, which shares its items between the parts of a cross-validation.

    ``predict``, ``predict_proba`` and ``decision_function`` take single items, (m, d). ``score`` takes pairs again,
    and needs neither labels nor the class prior, but a loss that gives probabilities.

    Parameters
    ----------
    method : a name from the table of methods (``confdiff methods`` lists them); ``"confdiff-abs"`` if not given.
    prior : the class prior p(y = +1), for the methods that need it.
    model : ``"mlp"``, ``"linear"``, ``"authors-mlp"``, a ``torch.nn.Module`` (copied, never changed), or a factory
        that is called with the number of features.
    loss : a name from ``confdiff.LOSSES``; probabilities come from the proper ones.
    classes : what ``predict`` calls the negative and the positive class.
    epochs, batch_size, learning_rate, weight_decay, optimizer, schedule, device : see :class:`~confdiff.Recipe`.
    random_state : the seed that decides everything; ``None`` or a ``RandomState`` draws one.
    verbose : 1 shows a progress bar.

    Attributes
    ----------
    model_ : the trained network. history_ : one record an epoch. classes_, n_features_in_, n_iter_, and
    feature_names_in_ where the items had column names.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2, 3))                          # 200 pairs of items with 3 features
    >>> risk = 1 / (1 + np.exp(-X[..., 0]))                       # never seen by the learner ...
    >>> c = risk[:, 1] - risk[:, 0]                               # ... who is only told differences
    >>> model = ConfDiffClassifier(prior=0.5, model="linear", epochs=100, learning_rate=0.05).fit(X, c)
    >>> model.score(X, c) > 0.95
    True
    """

    learns_from: ClassVar[tuple[Supervision, ...]] = ("differences", "labels", "posteriors")
    default_method: ClassVar[str] = "confdiff-abs"

    def fit(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> "ConfDiffClassifier":
        """Learn from pairs and their confidence differences.

        items: what row numbers or ids in ``pairs`` point to.
        sample_weight: (n,) how much each pair counts.
        groups: (n,) which group each pair was drawn inside.
        checkpoint: a file to keep while training and to go on from, see :func:`confdiff.train`.
        """
        self._fit(as_pairs(pairs, c, items=items, weight=sample_weight, group=groups), checkpoint)
        return self

    @available_if(has_probabilities)
    def score(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """How much of the differences of held-out pairs the model explains: 1 is perfect, 0 what a constant gets.

        ``1 - sum((p' - p - c)^2) / sum(c^2)`` with p, p' the predicted probabilities. Takes pairs as ``fit`` does.
        """
        data = as_pairs(pairs, c, items=items, weight=sample_weight)
        check_is_fitted(self)
        if data.difference is None:
            raise ValueError("score needs the differences of the pairs: pass c.")
        p, p_prime = (self._probability(g) for g in self._pair_scores(data))
        return difference_score(p_prime - p, data.difference, data.weight)
