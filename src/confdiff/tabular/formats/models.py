"""Files that name the two models of a comparison, besides or instead of their answers."""

from typing import Any

from confdiff.tabular.formats.comparison_format import FormatOptions
from confdiff.tabular.formats.judgement import Item, answer
from confdiff.tabular.formats.rows import FileRow

_Two = tuple[str, str]
_COLUMNS = ("left_model", "right_model")


def sides_of_models(row: FileRow, texts: _Two, models: _Two, options: FormatOptions) -> tuple[Item, Item]:
    """Return the two items of a row: answers, or models if that was asked or the row has no answers."""
    if options.item_kind == "models" or (options.item_kind is None and not any(texts)):
        if not all(models):
            raise row.error("the name of a model is empty")
        return Item(id=models[0]), Item(id=models[1])
    return answer(texts[0]), answer(texts[1])


def model_columns(models: _Two, side: Item) -> dict[str, str | None]:
    """Return the names of the models as columns of the pairs, unless the models are the items."""
    if side.id is not None:
        return {}
    return {name: model or None for name, model in zip(_COLUMNS, models, strict=True)}


def model_of(item: Item, columns: dict[str, Any], name: str) -> Any:
    """Return the model of a side, and remove it from the columns; the id of the item if it has no such column."""
    return columns.pop(name, None) or item.id
