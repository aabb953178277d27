"""The kinds of classifiers that a model folder may hold, and the files of each."""

import re
from pathlib import Path
from typing import Any

from confdiff.estimators import ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression
from confdiff.estimators.items import DifferenceScored
from confdiff.io.atomic import write_text
from confdiff.io.decoding import check_object
from confdiff.io.documents import inside, open_regular
from confdiff.io.tensors import load_tree, save_tree
from confdiff.tabular.model.manifest import REMEDY
from confdiff.validation import check_choice

WEIGHTS = "weights.safetensors"
"""The file of tensors of a model folder."""

CLASSIFIERS: dict[str, Any] = {
    "network": ConfDiffClassifier,
    "linear": ConfDiffLogisticRegression,
    "boosting": ConfDiffBoosting,
}
"""Kind of classifier, as the manifest names it -> its class."""

_TEXT_FILE = re.compile(r"[a-z][a-z0-9-]*\.txt")


def classifier_kind(classifier: DifferenceScored) -> str:
    """Return the kind of a classifier, as the manifest names it.

    Raises
    ------
    ValueError
        Classifiers of this class cannot be saved.
    """
    for kind, kind_class in CLASSIFIERS.items():
        if type(classifier) is kind_class:
            return kind
    names = ", ".join(kind_class.__name__ for kind_class in CLASSIFIERS.values())
    raise ValueError(f"only a {names} can be saved; got {type(classifier).__name__}.")


def write_classifier(folder: Path, classifier: DifferenceScored) -> dict[str, Any]:
    """Write the tensors and texts of a classifier to a model folder, and return all else as JSON values.

    Parameters
    ----------
    folder : Path
        The folder, which is not yet complete.
    classifier : DifferenceScored
        A fitted classifier of one of :data:`CLASSIFIERS`.
    """
    kind = classifier_kind(classifier)
    state = classifier.to_state()
    weights = state.pop("weights", {})
    if weights:
        save_tree(folder / WEIGHTS, {"weights": weights})
    for name, text in state.pop("texts", {}).items():
        if not _TEXT_FILE.fullmatch(name):
            raise ValueError(f"a text of a classifier must be named such as 'trees.txt'; got {name!r}.")
        write_text(folder / name, text)
    return {"kind": kind, **state}


def read_classifier(folder: Path, state: Any, files: list[str]) -> DifferenceScored:
    """Return the classifier that :func:`write_classifier` wrote.

    Parameters
    ----------
    folder : Path
        The model folder.
    state : dict
        What :func:`write_classifier` returned, through JSON.
    files : list of str
        The names of the files that the manifest lists.

    Raises
    ------
    ValueError
        A value is not one that a classifier of its kind writes.
    """
    state = dict(check_object("classifier", state))
    kind = check_choice("kind of classifier", state.pop("kind"), CLASSIFIERS)
    state["weights"] = load_tree(inside(folder, WEIGHTS), remedy=REMEDY)["weights"] if WEIGHTS in files else {}
    texts = {name: _read_text(inside(folder, name)) for name in files if _TEXT_FILE.fullmatch(name)}
    if texts:
        state["texts"] = texts
    classifier: DifferenceScored = CLASSIFIERS[kind].from_state(state)
    return classifier


def _read_text(path: Path) -> str:
    with open_regular(path) as file:
        return file.read().decode("utf-8")
