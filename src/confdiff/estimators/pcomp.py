"""The classifier of single items that learns from ordered pairs: the more positive item of each pair comes first."""

import os
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike

from confdiff.estimators.pair_classifier import PairClassifier
from confdiff.pairs import Pairs, Supervision
from confdiff.pairs.forms import as_pairs
from confdiff.threads import follow_policy


class PcompClassifier(PairClassifier):
    """A neural network that learns to classify single items from ordered pairs.

    The first item of each pair is at least as positive as the second. Pairs come in the forms that
    :class:`~confdiff.ConfDiffClassifier` takes, without differences.

    Parameters
    ----------
    method : str, default=None
        A method that learns from the order of pairs. By default ``"pcomp-teacher"``.
    prior, model, hidden, dropout, n_networks, standardise, loss, classes, epochs, batch_size, learning_rate, \
weight_decay, optimizer, early_stopping, calibrated, validation_fraction, target_prior, device, random_state, verbose
        See :class:`~confdiff.ConfDiffClassifier`.
    link : {"probability"}, default="probability"
        The order of pairs has this link only.
    schedule : str, default=None
        Schedule of the learning rate. By default ``"constant"``.

    Attributes
    ----------
    model_, history_, n_iter_, prior_, classes_, n_features_in_, feature_names_in_
        See :class:`~confdiff.ConfDiffClassifier`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2, 3))
    >>> y = rng.random((300, 2)) < 1 / (1 + np.exp(-3 * X[..., 0]))  # labels, not given to the model
    >>> X = np.where((y[:, 0] < y[:, 1])[:, None, None], X[:, ::-1], X)  # the positive item comes first
    >>> model = PcompClassifier(prior=0.5, model="linear", epochs=100, learning_rate=0.05).fit(X)
    >>> model.score(X) > 0.6
    True
    """

    learns_from: ClassVar[tuple[Supervision, ...]] = ("order", "order and same")
    default_methods: ClassVar[dict[str, str]] = {"probability": "pcomp-teacher"}
    default_schedule: ClassVar[str] = "constant"  # with one-cycle, the average would consist of early weights

    @follow_policy
    def fit(
        self,
        pairs: Any,
        y: None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> "PcompClassifier":
        """Learn from ordered pairs.

        Parameters
        ----------
        pairs : array of shape (n, 2, d) or (n, 2), or Pairs
            The pairs, the more positive item first.
        y : None
            Not used; present for scikit-learn.
        items, sample_weight, groups, checkpoint
            See :meth:`confdiff.ConfDiffClassifier.fit`.

        Returns
        -------
        PcompClassifier
            The fitted estimator.
        """
        if y is not None:
            raise ValueError("ordered pairs have no differences: pass y=None, or use ConfDiffClassifier.")
        self._fit(as_pairs(pairs, items=items, weight=sample_weight, group=groups), checkpoint)
        return self

    @follow_policy
    def score(self, pairs: Any, y: None = None, *, items: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the pairwise accuracy: the fraction of pairs whose first item scores higher; ties count half.

        It needs no labels. Pairs of one class have a random order, so even a perfect classifier does not reach 1.

        Parameters
        ----------
        pairs, items, sample_weight
            Held-out pairs, as in :meth:`fit`.
        y : None
            Not used; present for scikit-learn.

        Returns
        -------
        float
            Between 0 and 1.
        """
        data = as_pairs(pairs, items=items, weight=sample_weight)
        return self._agreement(*self._pair_scores(data), data, self.loss_)

    def _agreement(self, g: torch.Tensor, g_prime: torch.Tensor, pairs: Pairs, loss: str) -> float:
        correct = (g > g_prime).double() + 0.5 * (g == g_prime).double()
        return float(np.average(correct.numpy(), weights=None if pairs.weight is None else pairs.weight.numpy()))
