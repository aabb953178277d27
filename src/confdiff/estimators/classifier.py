"""A classifier of single items, learned from pairs with confidence differences."""

import os
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from confdiff.estimators.inputs import as_pairs_or_stream
from confdiff.estimators.items import DifferenceScored
from confdiff.estimators.pair_classifier import PairClassifier, has_probabilities
from confdiff.pairs import Pairs, Supervision


class ConfDiffClassifier(DifferenceScored, PairClassifier):
    """Learns a classifier of single items from pairs with confidence differences.

    ``fit`` takes pairs and ``c = p(+|x') - p(+|x)``, where the pairs are

    - an (n, 2, d) array: the features of both items of every pair;
    - an (n, 2) table of row numbers into ``items=`` (an array), or of ids in the index of ``items=`` (a data frame);
    - a :class:`~confdiff.Pairs`, which shares its items between the parts of a cross-validation;
    - a :class:`~confdiff.StreamedPairs`, for more pairs than memory holds. Where the prior must be estimated, pairs are
      held out or probabilities are averaged, 100,000 pairs drawn from it stand for all.

    ``predict``, ``predict_proba`` and ``decision_function`` take single items, (m, d). ``score`` takes pairs again,
    and needs neither labels nor the class prior, but a loss that gives probabilities.

    With K classes, ``c`` is an (n, K) table: c_k = p(k|x') - p(k|x), a row adding up to 0.

    Parameters
    ----------
    method : a name from the table of methods (``confdiff methods`` lists them); ``"confdiff-regression"`` if not given.
    prior : the class prior p(y = +1), or those of K classes. ``None``: what the differences tell; of 50 pairs or more
        ``validation_fraction`` is then held out to judge that by, with a warning where they leave it open.
        ``"estimate"``: estimated first (:func:`confdiff.prior.estimate_prior`), then told.
    model : ``"mlp"``, ``"linear"``, ``"authors-mlp"``, a ``torch.nn.Module`` (copied, never changed), or a factory
        that is called with the number of features.
    loss : a name from ``confdiff.LOSSES``; probabilities come from the proper ones.
    classes : what ``predict`` calls the negative and the positive class, -1 and 1 if not given; 0 to K - 1 of K.
    epochs : passes over the pairs; if not given, 20, and with few pairs as many as make 500 steps.
    learning_rate : if not given, .003, and .1 for ``"linear"``.
    schedule : of the learning rate; ``"one-cycle"`` if not given.
    batch_size, weight_decay, optimizer, device : see :class:`~confdiff.Recipe`.
    early_stopping : hold out ``validation_fraction`` of the pairs, keep the weights that score best on them, and stop
        when a third of the epochs (at least 10) brought nothing better. Held out are all pairs that touch one of some
        items, so that no held-out pair is of items that were both trained on.
    calibrated : hold out ``validation_fraction`` of the pairs, and rescale the scores to fit their differences best.
    target_prior : the class prior where predictions are made, if it is another than in training; also after ``fit``.
    random_state : the seed that decides everything; ``None`` or a ``RandomState`` draws one.
    verbose : 1 shows a progress bar.

    Attributes
    ----------
    model_ : the trained network. history_ : one record an epoch. prior_ : the prior that was told, or that the
    probabilities of the items come to. prior_estimate_ : where it was estimated. temperature_, offset_ : of the scores.
    classes_, n_features_in_, n_iter_, and feature_names_in_ where the items had column names.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2, 3))                          # 200 pairs of items with 3 features
    >>> risk = 1 / (1 + np.exp(-X[..., 0]))                       # never seen by the learner ...
    >>> c = risk[:, 1] - risk[:, 0]                               # ... who is only told differences
    >>> model = ConfDiffClassifier(prior=0.5, model="linear").fit(X, c)
    >>> model.score(X, c) > 0.95
    True
    """

    learns_from: ClassVar[tuple[Supervision, ...]] = ("differences", "labels", "posteriors")
    default_method: ClassVar[str] = "confdiff-regression"
    default_schedule: ClassVar[str] = "one-cycle"

    def fit(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        labelled: tuple[Any, ArrayLike] | None = None,
        validation: Pairs | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> "ConfDiffClassifier":
        """Learn from pairs and their confidence differences.

        items: what row numbers or ids in ``pairs`` point to.
        sample_weight: (n,) how much each pair counts.
        groups: (n,) which group each pair was drawn inside.
        labelled: a few items (m, d) and their labels (0/1 or -1/+1), drawn as the items of the pairs were: they tell
            the class prior where the differences do not. They are taken as they are: in a pipeline, transform them.
        validation: held-out pairs, in place of those that would be drawn, to stop by, to calibrate by and to judge by
            what tells the prior. They are taken as they are, too.
        checkpoint: a file to keep while training and to go on from, see :func:`confdiff.train`.
        """
        data = as_pairs_or_stream(pairs, c, items=items, weight=sample_weight, group=groups)
        self._fit(data, checkpoint, labelled, validation)
        return self

    score = available_if(has_probabilities)(DifferenceScored.score)

    def _differences(self, pairs: Pairs) -> NDArray[Any]:
        p, p_prime = (self._probability(g) for g in self._pair_scores(pairs))
        return p_prime - p

    def _agreement(self, g: torch.Tensor, g_prime: torch.Tensor, pairs: Pairs, loss: str) -> float:
        assert pairs.difference is not None
        error = (self._probability(g_prime, loss) - self._probability(g, loss) - pairs.difference.numpy()) ** 2
        of_pairs = error.reshape(len(error), -1).sum(axis=1)
        return -float(np.average(of_pairs, weights=None if pairs.weight is None else pairs.weight.numpy()))
