"""The scale of an average annotator from labels and same-class answers."""

import numpy as np
import pytest

from confdiff.annotators import ScaleEvidence, determine_scale

_NONE = np.zeros(0)


def _evidence(scale, n, *, kind, seed=0):
    rng = np.random.default_rng(seed)
    r = rng.beta(0.5, 0.8, (n, 2))
    scores = scale * (r - 0.5 / 1.3)
    y = rng.uniform(size=r.shape) < r
    if kind == "labels":
        return ScaleEvidence(
            scores=scores[:, 0], labels=y[:, 0].astype(float), first=_NONE, second=_NONE, same=_NONE, weight=_NONE
        )
    same = (y[:, 0] == y[:, 1]).astype(float)
    return ScaleEvidence(
        scores=_NONE, labels=_NONE, first=scores[:, 0], second=scores[:, 1], same=same, weight=np.ones(n)
    )


@pytest.mark.parametrize("kind", ["labels", "same"])
@pytest.mark.parametrize("scale", [0.6, 1.0, 1.5])
def test_the_scale_is_recovered_from_many_answers(scale, kind):
    mean, error = determine_scale([_evidence(scale, 2_000, kind=kind)])
    assert mean == pytest.approx(scale, rel=0.1)
    assert error < 0.1


@pytest.mark.parametrize(("kind", "n"), [("labels", 40), ("same", 100)])
def test_few_answers_improve_on_the_assumption(kind, n):
    means = np.array([determine_scale([_evidence(0.7, n, kind=kind, seed=seed)])[0] for seed in range(40)])
    error_of_assumption = 1 - 0.7
    assert np.sqrt(np.mean(np.square(means - 0.7))) < 0.6 * error_of_assumption
    covered = [
        abs(mean - 0.7) < 2 * error
        for mean, error in (determine_scale([_evidence(0.7, n, kind=kind, seed=seed)]) for seed in range(40))
    ]
    assert np.mean(covered) > 0.85


def test_the_source_is_named():
    labels = _evidence(1.0, 5, kind="labels")
    answers = _evidence(1.0, 5, kind="same")
    assert labels.source == "labelled items"
    assert answers.source == "same-class answers"
