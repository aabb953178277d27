"""The rescaling of scores that fits held-out differences best."""

import numpy as np
import pytest
from scipy.special import expit

from confdiff.prior.out_of_fold import OutOfFold
from confdiff.prior.shape import fit_shape, offset_at


def _logistic(scale, shift, noise=0.1):
    """Return scores s of pairs with posteriors sigmoid(scale s + shift), and their mean."""
    rng = np.random.default_rng(0)
    s = 2 * rng.normal(size=(2, 600))
    r = expit(scale * s + shift)
    c = r[1] - r[0] + noise * rng.normal(size=600)
    rows = np.arange(1200).reshape(2, 600)
    return OutOfFold(scores=s, c=c, weight=np.ones(600), rows=rows), float(r.mean())


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (2.0, -4.0), (0.6, 1.5), (1.0, -3.0)])
def test_the_offset_is_found_far_from_the_start(scale, shift):
    data, prior = _logistic(scale, shift)
    rescaling = fit_shape(data, 0.0, 1.0)
    assert rescaling.prior == pytest.approx(prior, abs=0.03)
    assert rescaling.is_better == ((scale, shift) != (1.0, 0.0))
    p = expit(rescaling.scale * data.scores + rescaling.shift)
    assert p.mean() == pytest.approx(rescaling.prior, abs=1e-6)


def test_the_prior_stays_in_the_interval():
    data, prior = _logistic(1.0, -3.0)
    assert prior < 0.2
    assert 0.5 <= fit_shape(data, 0.5, 0.7).prior <= 0.7
    assert fit_shape(data, 0.612, 0.613).prior == pytest.approx(0.6125, abs=1e-3)


@pytest.mark.parametrize("prior", [0.001, 0.3, 0.999])
def test_an_offset_gives_the_prior(prior):
    scores = np.random.default_rng(0).normal(0, 30, 50)
    weight = np.arange(50.0)
    assert np.average(expit(scores + offset_at(scores, prior, weight)), weights=weight) == pytest.approx(prior)
