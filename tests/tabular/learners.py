"""Models of every learner and link, fitted by hand to the same tables."""

import numpy as np

from confdiff import ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.fitting import _background, _importance, _outputs, _validation
from confdiff.tabular.model.about import About
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.training_data import in_memory_data
from tabular.people import FRAME, JUDGED

LEARNERS = {
    "boosting": lambda **options: ConfDiffBoosting(max_iter=20, n_folds=3, **options),
    "linear": lambda **options: ConfDiffLogisticRegression(C="auto", **options),
    "network": lambda **options: ConfDiffClassifier(model="linear", epochs=10, **options),
}
"""Kind of classifier -> a function that makes one of it, unfitted."""


def fitted_model(kind, link, *, frame=FRAME, judged=JUDGED, scale=None, **settings):
    """Encode, split, fit and describe, as ``fit_comparisons`` does."""
    prior = 0.5 if link == "probability" else None
    options = FitOptions(link=link, prior=prior)
    roles = ("left", "right", "difference", "weight", "group")
    columns = dict.fromkeys(roles)
    data = in_memory_data(frame, judged, options, labels=None, id=None, ignore=(), scale=scale, columns=columns)
    sets = data.split(options)
    classifier = LEARNERS[kind](link=link, prior=prior, **settings)
    classifier.fit(sets.train, validation=sets.validation)
    summary = data.summary()
    about = About(
        data=summary,
        options=options,
        validation=_validation(classifier, sets),
        outputs=_outputs(classifier, data, summary.unit),
        link=link,
        importance=_importance(classifier, data, sets, options),
    )
    background = _background(classifier, data, sets, options)
    return ComparisonModel(features=data.features, classifier=classifier, about=about, background=background)


def graded(low, high):
    """The judgements of people as grades from low to high."""
    middle = (low + high) / 2
    return JUDGED.assign(difference=np.round(middle + JUDGED["difference"] * (high - low) / 2, 3))
