"""From items and judged pairs to a model, with figures from items that it was not trained on."""

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import listed
from confdiff.estimators import ConfDiffClassifier
from confdiff.pairs import Pairs
from confdiff.tabular.comparisons import Comparisons, Split, Unit, compare, split_pairs
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.model.agreement import agreement, difference_reliability
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.scales import Scale, parse_scale
from confdiff.tabular.tables import ItemTable, read_items, read_judged
from confdiff.tabular.values import is_missing
from confdiff.tabular.weight_decay import CRITERIA, best_weight_decay, try_weight_decays
from confdiff.validation import as_array, check_choice, check_labels, warn_user

Matrix = NDArray[np.float32]
Labelled = tuple[Matrix, NDArray[Any]] | None


@dataclass(frozen=True)
class FitOptions:
    """How to fit. What is None is decided by the data.

    method, model, epochs, batch_size, learning_rate: as in :class:`~confdiff.ConfDiffClassifier`.
    prior: the share of positives, ``"estimate"``, or None.
    valid: about which share of the pairs is held out, half to stop by and half to judge by; 0 holds out none.
    valid_by_group: hold out whole groups, not single items.
    with_id: let the model know items by their id; held out are then pairs, not items.
    weight_decay: the penalty on large weights; ``"auto"`` chooses it by folds of the pairs that are trained on, so
        that most of the differences is explained, and ``"auto-order"`` so that most pairs are in order.
    kinds: column -> what it holds. most_words: how many words of a text are used.
    seed: decides everything that is drawn by chance.
    """

    method: str = "confdiff-regression"
    model: str = "mlp"
    prior: float | str | None = None
    valid: float = 0.2
    valid_by_group: bool = False
    with_id: bool = False
    epochs: int | None = None
    batch_size: int = 256
    learning_rate: float | None = None
    weight_decay: float | str = 1e-5
    kinds: Mapping[str, str] | None = None
    most_words: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.weight_decay, str):
            check_choice("weight decay", self.weight_decay, CRITERIA)
        if self.with_id and self.valid_by_group:
            raise ValueError("what is known by its id cannot be held out by group: leave out one of the two.")

    @property
    def held_out_by(self) -> Unit:
        """What is held out whole."""
        return "pair" if self.with_id else "group" if self.valid_by_group else "item"


def fit_comparisons(
    items: Any,
    pairs: Any,
    options: FitOptions | None = None,
    *,
    id: str | None = None,
    ignore: tuple[str, ...] = (),
    labels: str | None = None,
    scale: Scale | str | tuple[float, float] | None = None,
    columns: Mapping[str, str | None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: int = 0,
    **changes: Any,
) -> ComparisonModel:
    """Learn to score items from judged pairs, as ``confdiff fit`` does.

    items, pairs: files or data frames. The ids of the items are the column that ``id`` names, else the index of a
    frame, else a column that is called so. ignore: columns of the items to leave out. labels: a column that is 0/1 or
    -1/1 for a few items, and empty for others; it tells the prior. scale: of the differences, such as ``(1, 7)``;
    recognised if not given. columns: which column of the pairs is what, such as ``{"left": "arg1"}``.
    checkpoint: a file to keep while training and to go on from. changes: of the options, such as ``prior=0.3``.
    """
    scale = scale if scale is None or isinstance(scale, Scale) else parse_scale(scale)
    options = replace(options or FitOptions(), **changes)
    table = read_items(items, id=id, ignore=ignore)
    table, labelled = _without_labels(table, labels)
    table, kinds = _with_ids(table, options)
    compared = compare(table, read_judged(pairs, **(columns or {})), scale)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        features = ItemFeatures(kinds=kinds, most_words=options.most_words)
        features.fit(table, rows=compared.items)
        encoded = features.transform(table)
        _warn_of_many_features(encoded, compared, options)
        split = _split(compared, options)
        known = None if labelled is None else _labelled(encoded, labelled)
        options, decays = _with_weight_decay(encoded, compared, split, options, known, verbose)
        classifier = _fitted(encoded, compared, split, options, known, checkpoint, verbose)
    about = {
        "data": _data(table, features, compared) | {"id": table.id_name if options.with_id else None},
        "options": asdict(options) | {"kinds": dict(options.kinds or {})},
        **decays,
        "validation": None if split is None else _judged(classifier, encoded, compared, split),
        "probabilities": np.histogram(classifier.predict_proba(encoded)[:, 1], 20, (0, 1))[0].tolist(),
        "warnings": [str(warning.message) for warning in caught if warning.category is UserWarning],
    }
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return ComparisonModel(features, classifier, about)


def _without_labels(table: ItemTable, labels: str | None) -> tuple[ItemTable, NDArray[Any] | None]:
    """The items without the column of labels, and that column."""
    if labels is None:
        return table, None
    if labels not in table.columns:
        raise ValueError(
            f"no column of {table.source} is named {labels!r} (labels={labels!r}); "
            f"the columns are {listed(table.columns)}."
        )
    rest = {name: column for name, column in table.columns.items() if name != labels}
    return replace(table, columns=rest), table.columns[labels]


def _with_ids(table: ItemTable, options: FitOptions) -> tuple[ItemTable, Mapping[str, str] | None]:
    """The items with their ids as a category, where these are to be known, and the kinds of the columns."""
    if not options.with_id:
        return table, options.kinds
    return table.with_ids(), {**(options.kinds or {}), table.id_name: "category"}


def _warn_of_many_features(encoded: Matrix, compared: Comparisons, options: FitOptions) -> None:
    """A network with more columns than items learns them by heart: on arguments as texts it was worse than a line."""
    items, columns = len(compared.items), encoded.shape[1]
    if columns > items and options.model != "linear" and not isinstance(options.weight_decay, str):
        warn_user(
            f"there are {columns:,} features and only {items:,} compared items: a linear model with a penalty that is "
            "chosen by folds (--model linear --weight-decay auto) may well do better."
        )


def _split(compared: Comparisons, options: FitOptions) -> Split | None:
    if not options.valid:
        return None
    return split_pairs(compared, options.valid, options.seed, by=options.held_out_by)


def _with_weight_decay(
    encoded: Matrix,
    compared: Comparisons,
    split: Split | None,
    options: FitOptions,
    known: Labelled,
    verbose: int,
) -> tuple[FitOptions, dict[str, Any]]:
    """The options with a number for the weight decay, and, if it was to be chosen, what was tried and by what."""
    by = options.weight_decay
    if not isinstance(by, str):
        return options, {"weight decays": None, "weight decay by": None}
    rows = np.arange(len(compared)) if split is None else np.union1d(split.train, split.validation)
    units, pairs = compared.units(options.held_out_by), _pairs(encoded, compared)[rows]
    whole = None if units is None else units[rows]
    tried = try_weight_decays(new_classifier(options, verbose), pairs, whole, options.seed, by=by, labelled=known)
    chosen = replace(options, weight_decay=best_weight_decay(tried))
    return chosen, {"weight decays": tried, "weight decay by": CRITERIA[by].words}


def _pairs(encoded: Matrix, compared: Comparisons) -> Pairs:
    return Pairs(
        encoded, compared.left, compared.right, compared.difference, weight=compared.weight, group=compared.group
    )


def new_classifier(options: FitOptions, verbose: int) -> ConfDiffClassifier:
    """The classifier that these options ask for; a weight decay that is to be chosen is none yet."""
    return ConfDiffClassifier(
        options.method,
        prior=options.prior,
        model=options.model,
        epochs=options.epochs,
        batch_size=options.batch_size,
        learning_rate=options.learning_rate,
        weight_decay=0.0 if isinstance(options.weight_decay, str) else options.weight_decay,
        early_stopping=bool(options.valid),
        calibrated=bool(options.valid),
        random_state=options.seed,
        verbose=verbose,
    )


def _fitted(
    encoded: Matrix,
    compared: Comparisons,
    split: Split | None,
    options: FitOptions,
    known: Labelled,
    checkpoint: str | os.PathLike[str] | None,
    verbose: int,
) -> ConfDiffClassifier:
    classifier, everything = new_classifier(options, verbose), _pairs(encoded, compared)
    if split is None:
        return classifier.fit(everything, labelled=known, checkpoint=checkpoint)
    return classifier.fit(
        everything[split.train], validation=everything[split.validation], labelled=known, checkpoint=checkpoint
    )


def _labelled(encoded: Matrix, labels: NDArray[Any]) -> tuple[Matrix, NDArray[Any]]:
    there = np.flatnonzero(~is_missing(labels))
    if not len(there):
        raise ValueError("the column of labels is empty.")
    return encoded[there], check_labels(as_array("labels", labels[there]), len(there))


def _data(table: ItemTable, features: ItemFeatures, compared: Comparisons) -> dict[str, Any]:
    return {
        "items": len(table),
        "compared items": len(compared.items),
        "pairs": len(compared),
        "columns": features.kinds_,
        "features": len(features.get_feature_names_out()),
        "scale": compared.scale.name,
        "weighted": compared.weight is not None,
        "groups": None if compared.group is None else len(set(compared.group.tolist())),
    }


def _judged(classifier: ConfDiffClassifier, encoded: Matrix, compared: Comparisons, split: Split) -> dict[str, Any]:
    """Figures from the pairs that were neither trained on nor stopped by."""
    p = classifier.predict_proba(encoded)[:, 1]
    rows = split.test
    trained = np.zeros(len(encoded), dtype=bool)
    trained[compared.left[split.train]] = trained[compared.right[split.train]] = True
    new = rows[~trained[compared.left[rows]] & ~trained[compared.right[rows]]]
    c = compared.difference
    found = {
        "pairs trained on": len(split.train),
        "pairs stopped by": len(split.validation),
        "judged": agreement(p[compared.left[rows]], p[compared.right[rows]], c[rows]).as_dict(),
        "reliability": difference_reliability(p[compared.left[rows]], p[compared.right[rows]], c[rows]),
    }
    if 0 < len(new) < len(rows):
        found["both items new"] = agreement(p[compared.left[new]], p[compared.right[new]], c[new]).as_dict()
    return {name: without_nan(value) for name, value in found.items()}


def without_nan(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, dict):
        return {name: without_nan(entry) for name, entry in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value
