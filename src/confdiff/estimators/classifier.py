"""The classifier of single items that learns from pairs with confidence differences."""

import os
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from confdiff.estimators.inputs import as_pairs_or_stream
from confdiff.estimators.items import DifferenceScored
from confdiff.estimators.pair_classifier import PairClassifier
from confdiff.estimators.settings import has_differences
from confdiff.links import Link, find_link
from confdiff.pairs import Pairs, Supervision
from confdiff.threads import follow_policy

REGULARISED: dict[str, Any] = {"hidden": (128,), "dropout": 0.5, "n_networks": 3}
"""Parameters of a network for few or noisy differences; see :meth:`ConfDiffClassifier.regularised`."""


class ConfDiffClassifier(DifferenceScored, PairClassifier):
    """A neural network that learns to classify single items from pairs with confidence differences.

    ``fit`` takes pairs and ``c = p(+|x') - p(+|x)``, where the pairs are one of:

    - an (n, 2, d) array: the features of both items of every pair;
    - an (n, 2) array of row numbers into ``items`` (an array), or of ids in the index of ``items`` (a DataFrame);
    - a :class:`~confdiff.Pairs`, which shares its items between the folds of a cross-validation;
    - a :class:`~confdiff.StreamedPairs`, for more pairs than fit into memory. The prior is then estimated from 100,000
      sampled pairs, at most 100,000 are held out, and probabilities are averaged over the sample.

    ``predict``, ``predict_proba`` and ``decision_function`` take single items, (m, d). ``score`` takes pairs. It needs
    neither labels nor the class prior, but a loss that determines probabilities. Items may be a SciPy sparse matrix;
    only the rows of a batch are made dense.

    With K classes, ``c`` is an (n, K) array with c_k = p(k|x') - p(k|x); each row has sum 0.

    Parameters
    ----------
    method : str, default=None
        A name from the table of methods (``confdiff methods`` lists them). By default ``"confdiff-regression"``, or
        the method of another link.
    link : {"probability", "preference", "score"}, default="probability"
        What the differences mean, see :mod:`confdiff.links`. Only the probability link has classes: with another one,
        there is no ``predict`` or ``predict_proba``, and no prior, labelled items, calibration or several classes.
    prior : float, "estimate", array of shape (K,) or None, default=None
        The class prior p(y = +1), or the priors of K classes. ``"estimate"`` estimates it before training
        (:func:`confdiff.prior.estimate_prior`). With ``None``, methods that do not need a prior let the differences
        determine it. From 50 pairs on, ``validation_fraction`` of them is then held out to check this. A warning is
        issued if the differences do not determine the prior.
    differences : {"graded", "labels"}, default="graded"
        ``"labels"`` declares that the differences are y' - y for labels y of 0 and 1 of independent items. Their mean
        square then determines the prior up to its reflection, see :func:`confdiff.estimate_prior`.
    positives : {"rarer", "commoner"} or None, default=None
        Whether the positive class is the rarer or the commoner one, if that is known and the prior is not.
    model : str, torch.nn.Module or callable, default="mlp"
        ``"mlp"``, ``"linear"``, ``"authors-mlp"``, a module (which is copied and never changed), or a factory that is
        called with the number of features.
    hidden : tuple of int, default=None
        The widths of the hidden layers of ``model="mlp"``. By default three layers of 300, as in the paper.
    dropout : float, default=0.0
        The fraction of the outputs of each hidden layer of ``model="mlp"`` that are set to 0 in training.
    n_networks : int, default=1
        The number of networks, trained one after the other from different seeds, whose scores are averaged.
    standardise : bool, default=True
        Whether the features are standardised before the network: to mean 0 and standard deviation 1 over the items of
        the training pairs (of a stream: of 100,000 sampled pairs). Sparse features are scaled but not centred, and
        constant features are ignored. Tensors of integers, such as pixels, and ``"resnet32"`` and ``"resnet34"`` are
        left as they are.
    loss : str, default="logistic"
        A name from ``confdiff.LOSSES``. Proper losses determine probabilities.
    classes : sequence, default=None
        The names of the negative and the positive class, or of K classes. By default -1 and 1, or 0 to K - 1.
    epochs : int, default=None
        Passes over the pairs. By default 20, or more if 20 epochs have fewer than 500 steps.
    batch_size : int, default=256
        Pairs per step.
    learning_rate : float, default=None
        Peak learning rate. By default 0.003, and 0.1 for ``model="linear"``.
    weight_decay : float, default=0.00001
        Weight decay of the optimiser.
    optimizer : str or callable, default="adam"
        ``"adam"``, ``"adamw"``, ``"sgd"``, or a callable such as ``torch.optim.Adagrad``.
    schedule : str, default=None
        Schedule of the learning rate, ``"constant"`` or ``"one-cycle"``. By default ``"one-cycle"``.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the pairs and keep the weights with the lowest error on them. Training
        stops after a third of the epochs (at least 10) without improvement. Held out are all pairs that touch
        some of the items, so no held-out pair consists of two training items.
    calibrated : bool, default=False
        Hold out ``validation_fraction`` of the pairs, and rescale the scores to fit their differences best.
    validation_fraction : float, default=0.1
        The fraction of pairs to hold out.
    annotator_model : {"auto", "pooled", "scale", "full"}, default="auto"
        The model of annotators, if ``fit`` gets them: all are the same, each has a scale, or each has a scale, a side
        bias and noise. ``"auto"`` chooses by held-out answers. See :mod:`confdiff.annotators`.
    target_prior : float, array of shape (K,) or None, default=None
        The class prior of the items to predict for, if it differs from the training prior. May be set after ``fit``.
    device : str, default="auto"
        ``"cpu"``, ``"cuda"``, ``"mps"`` or another device of PyTorch; ``"auto"`` uses a GPU if one is available.
    workers : int, default=1
        Number of processes that train each network together, see :func:`confdiff.train`.
    engine : str, default="local"
        Where the workers run: ``"local"`` is this machine.
    address : str, default=None
        The address of the cluster, for ``engine="ray"``.
    random_state : int, RandomState or None, default=0
        Seed of all random draws; ``None`` or a ``RandomState`` draws a seed.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    model_ : torch.nn.Module
        The trained network. It takes features as they are: the scaling is a part of it.
    history_ : list of dict
        One record per epoch, with the keys ``epoch``, ``risk`` and ``seconds``, and ``agreement`` with early stopping.
        With several networks, ``network`` is the number of the network.
    n_iter_ : int
        The number of epochs; the largest of several networks.
    annotators_ : AnnotatorEstimates or None
        Scale, side bias and noise of each annotator, with intervals; None without annotators.
    link_ : str
        The link.
    reference_scores_ : array of shape (k,)
        Scores that represent those of the training items; only with the preference and score links.
    architecture_ : Architecture
        The layers, the number of networks, and whether features are standardised.
    prior_ : float or array of shape (K,)
        The training prior, or the mean probability of the items if no prior was given.
    prior_estimate_ : PriorEstimate
        The estimated prior; present only if it was estimated.
    prior_interval_ : tuple (low, high) or None
        The class priors that the data leave open, with 95 % confidence; for K classes a tuple of K such tuples.
        ``None`` if the prior was given.
    prior_source_ : str or None
        ``"given"``, ``"differences"``, ``"label differences"``, ``"labelled items"`` or ``"same-class answers"``.
    is_offset_determined_ : bool
        Whether the prior was given or the differences determine it. If not, scores and ranks are meaningful, but
        probabilities may be off by a constant, and decisions are arbitrary near the threshold.
    temperature_, offset_ : float
        Calibration of the scores: ``(score + offset_) / temperature_``.
    classes_ : array of shape (K,)
        The names of the classes; with the probability link only.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features; present only if the items had column names.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2, 3))  # 200 pairs of items with 3 features
    >>> risk = 1 / (1 + np.exp(-X[..., 0]))  # not given to the model
    >>> c = risk[:, 1] - risk[:, 0]
    >>> model = ConfDiffClassifier(prior=0.5, model="linear").fit(X, c)
    >>> model.score(X, c) > 0.95
    True
    """

    learns_from: ClassVar[tuple[Supervision, ...]] = (
        "differences",
        "differences and same",
        "same",
        "labels",
        "posteriors",
    )
    default_methods: ClassVar[dict[str, str]] = {
        "probability": "confdiff-regression",
        "preference": "preference",
        "score": "score",
    }
    default_schedule: ClassVar[str] = "one-cycle"

    @classmethod
    def regularised(cls, method: str | None = None, **parameters: Any) -> "ConfDiffClassifier":
        """Return a classifier for few or noisy differences of tables: a small network, dropout, the mean of three.

        The network of the paper overfits such data. On image-like data with exact differences it is better.
        ``docs/quick-start.md`` compares the two.

        Parameters
        ----------
        method : str, default=None
            See :class:`~confdiff.ConfDiffClassifier`.
        **parameters
            Other parameters, also those of :data:`REGULARISED` with other values.

        Examples
        --------
        >>> ConfDiffClassifier.regularised(prior=0.2)
        ConfDiffClassifier(dropout=0.5, hidden=(128,), n_networks=3, prior=0.2)
        """
        return cls(method, **(REGULARISED | parameters))

    @follow_policy
    def fit(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        annotators: ArrayLike | None = None,
        side: ArrayLike | None = None,
        labelled: tuple[Any, ArrayLike] | None = None,
        validation: Pairs | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> "ConfDiffClassifier":
        """Learn from pairs and their confidence differences.

        Parameters
        ----------
        pairs : array of shape (n, 2, d) or (n, 2), Pairs or StreamedPairs
            The pairs, see above.
        c : array of shape (n,) or (n, K), default=None
            Their confidence differences; not needed if ``pairs`` has them.
        items : array of shape (N, d) or DataFrame, default=None
            The items that row numbers or ids in ``pairs`` refer to.
        sample_weight : array of shape (n,), default=None
            Weights of the pairs.
        groups : array of shape (n,), default=None
            The group of each pair, if pairs were drawn inside groups.
        annotators : array of shape (n,), default=None
            The annotator of each pair, by name or number; see ``annotator_model``.
        side : array of shape (n,), default=None
            Which item of each pair was shown first: 1 the first one, -1 the second one, 0 not known. Annotators get a
            side bias only if this is given.
        labelled : tuple (X, y), default=None
            A few items (m, d) and their labels (0/1 or -1/+1), drawn as the items of the pairs were. They determine
            the class prior if the differences do not. In a pipeline, transform them first.
        validation : Pairs, default=None
            Held-out pairs for early stopping, calibration and the check of the prior, instead of pairs that are drawn.
            In a pipeline, transform them first.
        checkpoint : path, default=None
            A file to save while training and to resume from, see :func:`confdiff.train`. Of several networks, each has
            a file: ``checkpoint``, then with ``.2``, ``.3``, ... appended until all networks are trained.

        Returns
        -------
        ConfDiffClassifier
            The fitted estimator.
        """
        columns = {"weight": sample_weight, "group": groups, "annotator": annotators, "side": side}
        data = as_pairs_or_stream(pairs, c, items=items, **columns)
        self._fit(data, checkpoint, labelled, validation)
        return self

    score = available_if(has_differences)(DifferenceScored.score)
    predict_difference = available_if(has_differences)(DifferenceScored.predict_difference)

    def _differences(self, pairs: Pairs) -> NDArray[Any]:
        check_is_fitted(self)
        return self._score_differences(*self._pair_scores(pairs), find_link(self.link_), self.loss_)

    def _score_differences(self, g: torch.Tensor, g_prime: torch.Tensor, link: Link, loss: str) -> NDArray[Any]:
        """Return the differences of scores under a link: (n,), or (n, K) for K classes."""
        if not link.has_classes:
            return link.difference(g.numpy(), g_prime.numpy())
        differences: NDArray[Any] = self._probability(g_prime, loss) - self._probability(g, loss)
        return differences

    def _agreement(self, g: torch.Tensor, g_prime: torch.Tensor, pairs: Pairs, loss: str) -> float:
        if pairs.difference is None:
            return -self._similarity_error(g, g_prime, pairs, loss)
        predicted = self._score_differences(g, g_prime, find_link(self.link), loss)
        error = (predicted - pairs.difference.numpy()) ** 2
        error_of_pairs = error.reshape(len(error), -1).sum(axis=1)
        return -float(np.average(error_of_pairs, weights=None if pairs.weight is None else pairs.weight.numpy()))

    def _similarity_error(self, g: torch.Tensor, g_prime: torch.Tensor, pairs: Pairs, loss: str) -> float:
        """Return the mean squared error of the predicted probabilities that both items are of the same class."""
        assert pairs.same is not None
        p = self._probability(g, loss)
        p_prime = self._probability(g_prime, loss)
        error = (p * p_prime + (1 - p) * (1 - p_prime) - pairs.same.numpy()) ** 2
        return float(np.average(error, weights=None if pairs.weight is None else pairs.weight.numpy()))
