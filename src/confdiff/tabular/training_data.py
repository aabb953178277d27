"""The data of a fit: encoded items, and pairs divided into training, validation and test sets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs import Pairs, StreamedPairs
from confdiff.prior import SameAnswers
from confdiff.tabular.comparisons import Comparisons, compare, split_pairs
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.features.vocabulary import MAX_WORDS
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.model.about import DataSummary
from confdiff.tabular.roles import check_column
from confdiff.tabular.scales import Scale
from confdiff.tabular.tables import ItemTable, id_type, read_comparisons
from confdiff.tabular.values import is_missing
from confdiff.validation import as_array, check_labels

_Matrix = Any  # an array (m, k) of 32-bit floats, or a sparse matrix of SciPy
_Labelled = tuple[_Matrix, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class PairSets:
    """The pairs of a fit, divided.

    Attributes
    ----------
    train
        The training set.
    validation
        The pairs for early stopping and calibration; None if none are held out, or if candidates are compared.
    test
        The pairs for the reported measures; None if none are held out.
    both_new
        (test pairs,) whether neither item of a test pair occurs in a training pair; None if that is not known.
    every
        All pairs, to which the chosen candidate is fitted after its test; None if candidates are not compared.
    units
        (training pairs,) the unit of each that a fold of a comparison contains as a whole; None for items.
    """

    train: Pairs | StreamedPairs
    validation: Pairs | None = None
    test: Pairs | None = None
    both_new: NDArray[np.bool_] | None = None
    every: Pairs | None = None
    units: NDArray[np.int64] | None = None


class TrainingData(Protocol):
    """The interface of the data of a fit, in memory or streamed."""

    @property
    def features(self) -> ItemFeatures:
        """The fitted encoding of the items."""
        ...

    @property
    def labelled(self) -> _Labelled | None:
        """A few encoded items and their labels."""
        ...

    @property
    def answers(self) -> SameAnswers | None:
        """Answers whether two encoded items are of the same class."""
        ...

    def summary(self) -> DataSummary:
        """Return sizes and columns."""
        ...

    def split(self, options: FitOptions) -> PairSets:
        """Divide the pairs into training, validation and test sets."""
        ...

    def item_batches(self) -> Iterator[_Matrix]:
        """Yield the features of all items, in parts that fit into memory."""
        ...


@dataclass(frozen=True, eq=False)
class InMemoryData:
    """Items and pairs in memory.

    Attributes
    ----------
    features
        The fitted encoding of the items.
    encoded
        (N, k) features of the items, an array or a sparse matrix.
    compared
        The pairs.
    labelled
        A few encoded items and their labels, or None.
    id_name, id_type
        The column of ids, and the type of its values.
    """

    features: ItemFeatures
    encoded: _Matrix
    compared: Comparisons
    id_name: str
    id_type: str
    labelled: _Labelled | None = None

    @property
    def answers(self) -> SameAnswers | None:
        """Answers whether two encoded items are of the same class, besides the pairs with differences."""
        answered = self.compared.answers
        if answered is None or not self.compared.has_differences:
            return None
        pairs = Pairs(self.encoded, answered.left, answered.right, same=answered.same, weight=answered.weight)
        return SameAnswers.of_pairs(pairs)

    def summary(self) -> DataSummary:
        """Return sizes and columns."""
        group = self.compared.group
        annotator = self.compared.annotator
        return DataSummary(
            items=self.encoded.shape[0],
            compared_items=len(self.compared.items),
            pairs=len(self.compared),
            columns=self.features.kinds_,
            features=self.encoded.shape[1],
            scale=self.compared.scale.name if self.compared.has_differences else "same-class answers",
            answers_only=not self.compared.has_differences,
            scale_option=self.compared.scale.option,
            weighted=self.compared.weight is not None,
            groups=None if group is None else len(set(group.tolist())),
            annotators=None if annotator is None else len(set(annotator.tolist())),
            id_name=self.id_name,
            id_type=self.id_type,
        )

    def split(self, options: FitOptions) -> PairSets:
        """Divide the pairs into training, validation and test sets."""
        pairs = self._pairs()
        units = self.compared.units(options.held_out_by)
        if not options.validation_fraction:
            return PairSets(train=pairs, units=units)
        split = split_pairs(self.compared, options.validation_fraction, options.seed, by=options.held_out_by)
        is_compared = options.is_compared and self.compared.has_differences
        training = np.union1d(split.train, split.validation) if is_compared else split.train
        return PairSets(
            train=pairs[training],
            validation=None if is_compared else pairs[split.validation],
            test=pairs[split.test],
            both_new=self._both_new(training, split.test),
            every=pairs if is_compared else None,
            units=None if units is None else units[training],
        )

    def _pairs(self) -> Pairs:
        compared = self.compared
        has_differences = compared.has_differences
        return Pairs(
            self.encoded,
            left=compared.left,
            right=compared.right,
            difference=compared.difference if has_differences else None,
            same=None if has_differences or compared.answers is None else compared.answers.same,
            weight=compared.weight,
            group=compared.group,
            annotator=compared.annotator if has_differences else None,
            side=compared.side if has_differences and compared.annotator is not None else None,
        )

    def _both_new(self, training: NDArray[np.int64], test: NDArray[np.int64]) -> NDArray[np.bool_]:
        left = self.compared.left
        right = self.compared.right
        in_training = np.zeros(self.encoded.shape[0], dtype=bool)
        in_training[left[training]] = True
        in_training[right[training]] = True
        new: NDArray[np.bool_] = ~in_training[left[test]] & ~in_training[right[test]]
        return new

    def item_batches(self) -> Iterator[_Matrix]:
        """Yield the features of all items at once."""
        yield self.encoded


def in_memory_data(
    items: Any,
    pairs: Any,
    options: FitOptions,
    *,
    id: str | None = None,
    ignore: tuple[str, ...] = (),
    labels: str | None = None,
    scale: Scale | None = None,
    columns: Mapping[str, str | None] | None = None,
    encoders: Mapping[str, Any] | None = None,
) -> InMemoryData:
    """Read and encode items and pairs.

    Parameters
    ----------
    items, pairs : path or data frame
        The items and the pairs.
    options : FitOptions
        Options of the encoding, and whether ids are a feature.
    id, ignore, labels, scale, columns, encoders
        As in :func:`~confdiff.fit_comparisons`; ``columns`` maps roles to names.
    """
    table, judged = read_comparisons(items, pairs, id=id, ignore=ignore, columns=columns, scale=scale)
    table, label_column = _without_labels(table, labels)
    kinds = options.kinds
    if options.with_id:
        table = table.with_ids()
        kinds = {**(kinds or {}), table.id_name: "category"}
    compared = compare(table, judged, scale)
    max_features = MAX_WORDS if options.max_features is None else options.max_features
    features = ItemFeatures(
        kinds=kinds, max_features=max_features, text_encoder=options.text_encoder, encoders=encoders
    )
    features.fit(table, rows=compared.items)
    encoded = features.encode(table)
    return InMemoryData(
        features=features,
        encoded=encoded,
        compared=compared,
        labelled=None if label_column is None else _labelled(encoded, label_column),
        id_name=table.id_name,
        id_type=id_type(table.ids),
    )


def _without_labels(table: ItemTable, labels: str | None) -> tuple[ItemTable, NDArray[Any] | None]:
    """Return the items without the column of labels, and that column."""
    if labels is None:
        return table, None
    check_column(table.source, table.columns, labels, "labels")
    if table.columns[labels].ndim > 1:
        raise ValueError(f"{table.source}, column {labels!r}, must hold one value per row; got vectors.")
    features = {name: column for name, column in table.columns.items() if name != labels}
    return replace(table, columns=features), table.columns[labels]


def _labelled(encoded: _Matrix, labels: NDArray[Any]) -> _Labelled:
    rows = np.flatnonzero(~is_missing(labels))
    if not len(rows):
        raise ValueError("the column of labels is empty; it must hold at least one label.")
    return encoded[rows], check_labels(as_array("labels", labels[rows]), len(rows))
