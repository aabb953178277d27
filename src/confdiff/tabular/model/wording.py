"""Describe a fitted model in words, for its card and the command line."""

from typing import Any

from confdiff.display.text import listed, plural
from confdiff.estimators.trees.table import methods_of_trees
from confdiff.links import find_link
from confdiff.tabular.model.classifiers import classifier_kind
from confdiff.tabular.model.model import ComparisonModel

_SENTENCES = {
    "probability": "The model gives single items the probability of the positive class.",
    "preference": "The model gives single items a score, and the probability to be preferred to a random item.",
    "score": "The model gives single items a score in the units of the judgements.",
}
"""Link -> what the model predicts."""


def prediction_sentence(model: ComparisonModel) -> str:
    """Return what a model predicts."""
    return _SENTENCES[model.link.name]


def meaning_source(model: ComparisonModel) -> str:
    """Return how the link of a model was decided."""
    options = model.about.options
    selection = model.about.selection
    if options.link == model.link.name:
        return "as declared"
    if selection is not None and len({row.link for row in selection.rows}) > 1:
        return "chosen by held-out pairs"
    return "the meaning of the method" if options.method is not None else "the meaning of a prior or labels"


def undecided_sentence(model: ComparisonModel) -> str | None:
    """Return that the held-out pairs do not distinguish some links; None if they do, or if the link is declared."""
    selection = model.about.selection
    others = () if selection is None else selection.equal_links
    if not others:
        return None
    return (
        f"The held-out pairs do not distinguish the link {model.link.name} from {listed(others)}: declare what was "
        "asked if you know it."
    )


def learner_words(model: ComparisonModel) -> str:
    """Return the classifier of a model, such as "network mlp by confdiff-regression, 20 epochs"."""
    return _LEARNERS[classifier_kind(model.classifier)](model.classifier)


def _network(classifier: Any) -> str:
    method = classifier.method or classifier.default_method
    return f"network {classifier.model} by {method}, {plural(classifier.n_iter_, 'epoch')}"


def _linear(classifier: Any) -> str:
    kind = "ridge regression" if classifier.link_ == "score" else "logistic regression"
    search = classifier.C_search_
    source = "" if search is None else ", chosen by held-out pairs"
    return f"linear model ({kind}) with the penalty C={classifier.C_:g}{source}"


def _boosting(classifier: Any) -> str:
    method = classifier.method or methods_of_trees(find_link(classifier.link_))[0]
    trees = plural(classifier.model_.n_trees, "tree")
    return f"boosted trees by {method}, {plural(classifier.n_iter_, 'round')} ({trees})"


_LEARNERS = {"network": _network, "linear": _linear, "boosting": _boosting}
"""Kind of classifier -> its description."""


def offset_sentence(model: ComparisonModel) -> str | None:
    """Return what an open offset means and what to do; None if decisions follow from the data, or the link has none."""
    if not model.link.has_classes or model.makes_decisions:
        return None
    interval: Any = model.classifier.prior_interval_
    low, high = interval
    return (
        f"The judgements determine the order of the items, not how many are positive: any fraction from {low:.2f} to "
        f"{high:.2f} fits. There are no decisions unless you fit with a prior or a few labels, or predict with a "
        "threshold or a target prior."
    )


def prior_words(model: ComparisonModel) -> str | None:
    """Return the class prior of a model and its source; None if the link has no classes."""
    if not model.link.has_classes:
        return None
    return f"{model.classifier.prior_:.3f}, {_PRIOR_SOURCES[model.classifier.prior_source_]}"


_PRIOR_SOURCES = {
    "given": "as given",
    "differences": "as far as the judgements determine it",
    "label differences": "from the differences of labels",
    "labelled items": "from labelled items",
    "same-class answers": "from same-class answers",
    None: "the mean probability of the compared items",
}
"""Source of the class prior of a classifier -> words."""
