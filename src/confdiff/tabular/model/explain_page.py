"""Write a page about explanations: the importance of the columns, and the contributions to the scores of some items."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confdiff.display.html import as_data_uri, render
from confdiff.io.atomic import atomic_file, write_text
from confdiff.io.outputs import check_new_report
from confdiff.tabular.model.explain import BASE, Explanation
from confdiff.tabular.model.explain_figures import contributions_figure, importance_figure
from confdiff.tabular.model.importance import Importance
from confdiff.tabular.model.model import ComparisonModel

_TOP = 10  # columns in the picture of an item
_MAX_CELL = 30  # characters of a value in a label
SCORE_MEANINGS = {
    "probability": "log-odds of the positive class",
    "preference": "log-odds of being preferred to an item of score 0",
    "score": "units of the judgements",
}
"""Link -> what scores and contributions are measured in."""
METHODS_OF_DIVISION = {
    "network": "Shapley values by sampling: an item is compared with background items made of training values",
    "linear": "exactly: the weight of a feature times its distance from the training mean",
    "boosting": "exactly: the Shapley values of the trees",
}
"""Kind of classifier -> how a score is divided among the columns."""


@dataclass(frozen=True)
class _ItemSection:
    """An item on the page: its id, score and picture, and the words of its texts."""

    id: Any
    score: float
    picture: str
    words: dict[str, Any]


def write_explanation_page(
    path: Path,
    model: ComparisonModel,
    explanation: Explanation,
    importance: Importance | None,
    title: str,
    *,
    overwrite: bool = False,
) -> None:
    """Write an HTML page with pictures of the importance of columns and of some items.

    Parameters
    ----------
    path : Path
        The page to write. A page of confdiff is replaced, another file only with ``overwrite``.
    model : ComparisonModel
        The model.
    explanation : Explanation
        The items to show.
    importance : Importance or None
        The importance of the columns, if it was measured.
    title : str
        Heading of the page.
    overwrite : bool
        Replace a file that confdiff did not write.
    """
    from confdiff.tabular.model.classifiers import classifier_kind

    check_new_report({"page": path}, overwrite=overwrite)
    page = render(
        "confdiff.tabular.model",
        "explain.html",
        title=title,
        base=explanation.base,
        meaning=SCORE_MEANINGS[model.link.name],
        method=METHODS_OF_DIVISION[classifier_kind(model.classifier)],
        importance=importance,
        importance_picture=None if importance is None else as_data_uri(importance_figure(importance)),
        items=[_section(explanation, row) for row in range(len(explanation))],
    )
    with atomic_file(path) as temporary:
        write_text(temporary, page)


def _section(explanation: Explanation, row: int) -> _ItemSection:
    columns = explanation.to_long(_TOP)
    is_shown = (columns["row"] == row) & (columns["column"] != BASE)
    names = columns["column"][is_shown]
    values = columns["value"][is_shown]
    labels = [_label(name, value) for name, value in zip(names, values, strict=True)]
    picture = as_data_uri(contributions_figure(labels, columns["contribution"][is_shown].tolist()))
    return _ItemSection(
        id=explanation.ids[row],
        score=float(explanation.scores[row]),
        picture=picture,
        words=explanation.words[row] if explanation.words else {},
    )


def _label(column: str, value: str) -> str:
    """Return a column with its value.

    >>> _label("age", "63"), _label("(other columns)", "")
    ('age = 63', '(other columns)')
    """
    cell = value if len(value) <= _MAX_CELL else value[: _MAX_CELL - 1] + "…"
    return f"{column} = {cell}" if cell else column
