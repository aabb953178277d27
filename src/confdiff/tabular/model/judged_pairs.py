"""Read judged pairs of items for a fitted model, with the columns, the scale and the encoding of its training."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from confdiff.config import optional_config
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.pairs import Pairs
from confdiff.tabular.comparisons import compare, require_differences
from confdiff.tabular.roles import ROLES, check_roles
from confdiff.tabular.scales import Scale, parse_scale
from confdiff.tabular.tables import read_comparisons

if TYPE_CHECKING:
    from confdiff.tabular.model.model import ComparisonModel

_Columns = dict[str, str | None]


@takes_encoding
def read_judged_pairs(
    model: "ComparisonModel",
    items: Any,
    pairs: Any,
    *,
    id: str | None = None,
    scale: Scale | str | tuple[float, float] | None = None,
    encoding: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **columns: str | None,
) -> Pairs:
    """Return judged pairs over the encoded items of a model.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items, pairs : path or data frame
        The items with the training columns, and the judged pairs.
    id, scale, encoding, config, **columns
        As in :func:`~confdiff.tabular.model.evaluation.evaluate_pairs`.

    Raises
    ------
    ValueError
        A role is unknown, or the tables cannot be used.
    """
    id, parsed_scale, columns = configured_columns(config, id=id, scale=scale, columns=columns)
    parsed_scale = parsed_scale or training_scale(model)
    table, judged = read_comparisons(items, pairs, id=id, columns=columns, first=model.id_name, scale=parsed_scale)
    compared = compare(table, judged, parsed_scale)
    require_differences(judged, compared)
    if model.knows_ids:
        table = table.with_ids(model.id_name)
    return Pairs(
        model.features.encode(table),
        left=compared.left,
        right=compared.right,
        difference=grade_values(model, compared.difference),
        weight=compared.weight,
        group=compared.group,
    )


def configured_columns(
    config: str | os.PathLike[str] | None, *, id: str | None, scale: Any, columns: Mapping[str, str | None]
) -> tuple[str | None, Scale | None, _Columns]:
    """Return the column of ids, the scale and the columns of the pairs: as given, else as a configuration names them.

    Raises
    ------
    ValueError
        A role of a column is unknown.
    """
    check_roles(columns)
    settings = optional_config(config)
    filled = settings.fill(id=id, scale=scale, **{role: columns.get(role) for role in ROLES})
    parsed_scale = None if filled["scale"] is None else parse_scale(filled["scale"])
    return filled["id"], parsed_scale, {role: filled[role] for role in ROLES}


def grade_values(model: "ComparisonModel", difference: NDArray[Any]) -> NDArray[Any]:
    """Return the differences of judgements with the values of grades that a model learned."""
    spacing = model.about.spacing
    return difference if spacing is None else spacing.differences(difference).astype(difference.dtype)


def training_scale(model: "ComparisonModel") -> Scale | None:
    """Return the scale of the judgements that a model was fitted to."""
    option = model.about.data.scale_option
    return None if option is None else parse_scale(option)
