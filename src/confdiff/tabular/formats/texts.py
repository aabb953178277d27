"""The text of an item in files that have one text per item."""

from typing import Any

from confdiff.tabular.formats.judgement import PROMPT, TEXT, Item


def text_of(item: Item) -> Any:
    """Return the text of an item: its column ``text``, else its only column, else its id; empty if it is missing.

    >>> text_of(Item(values={"text": "Because.", "prompt": "Why?"}, id="t1"))
    'Because.'
    """
    values = {name: value for name, value in item.values.items() if name != PROMPT}
    if not values:
        return item.id
    if len(values) > 1 and TEXT not in values:
        raise ValueError(
            f"this format has one text per item, but the items have the columns {', '.join(values)}. "
            f"Name the column of the texts {TEXT!r}."
        )
    text = values.get(TEXT, next(iter(values.values())))
    return "" if text is None else str(text)
