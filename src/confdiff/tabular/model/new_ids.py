"""Count the items that a model with ids as a feature has not seen in a comparison."""

from typing import Any

import numpy as np

from confdiff.tabular.features.reading import FeatureColumns
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import ItemTable
from confdiff.validation import warn_user


def count_new_ids(model: ComparisonModel, ids: Any) -> int:
    """Return the number of ids that occur in no training comparison; 0 if ids are not a feature of the model.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    ids : column of N ids
        The ids of items, as they were read.
    """
    if not model.knows_ids:
        return 0
    (encoder,) = [encoder for encoder in model.features.encoders_ if encoder.columns == (model.id_name,)]
    table = ItemTable(source=TableSource("ids"), ids=np.arange(len(ids)), columns={model.id_name: ids})
    one_hot: Any = encoder.encode(FeatureColumns(table, model.features.types_))
    return len(ids) - int(one_hot.nnz)


def warn_of_new_ids(count: int, n_items: int) -> None:
    """Warn if the ids of some of the scored items are new to a model that uses ids."""
    if count:
        warn_user(
            f"{count:,} of {n_items:,} items have an id without training comparisons, and the id is a feature of "
            "this model. Their scores follow from the other columns, and are less accurate than the "
            "validation says."
        )
