r"""Bounds for difference regression, one function for each proposition of ``docs/theory.md`` that states a bound.

Proposition k answers Theorem k of the paper for k = 1, ..., 5; the others have no counterpart there.

Symbols: :math:`n` independent pairs of independent items, :math:`\delta` the probability that a bound fails, :math:`p`
the probability that a score represents by the logistic function, :math:`r` the posterior, :math:`B` the largest
absolute value of the given differences :math:`\bar c`, :math:`\mathfrak R_n(\mathcal G)` the Rademacher complexity of
the scores, and :math:`\bar\pi` the given class prior. The risk is

.. math:: J(p) = E (p' - p - \bar c)^2 + (E p - \bar\pi)^2

and :math:`\hat J` its value on a sample. ``prior=None`` leaves out the second term. Let
:math:`\kappa = \max(\bar\pi, 1 - \bar\pi)`, and :math:`\kappa = 0` without a prior.
"""

import math

from confdiff.theory.bounds import check_delta, mcdiarmid
from confdiff.validation import check_count, check_fraction, check_number, check_prior


def proposition_3_complexity(complexity: float, *, largest: float = 1.0) -> float:
    r"""Return a bound of the Rademacher complexity of the squared errors of pairs, :math:`(1 + B) \mathfrak R_n`.

    The logistic function has the Lipschitz constant 1/4, and a pair has two scores. The square has the Lipschitz
    constant :math:`2 (1 + B)`, because predicted differences lie in [-1, 1].

    Parameters
    ----------
    complexity : float
        Rademacher complexity of the scores, :math:`\mathfrak R_n(\mathcal G)`.
    largest : float
        Largest absolute value of the given differences, B.

    Examples
    --------
    >>> proposition_3_complexity(0.1)
    0.2
    """
    return (1 + check_number("largest", largest, least=0)) * check_number("complexity", complexity, least=0)


def proposition_3_uniform_deviation(
    n: int, complexity: float, *, delta: float, prior: float | None = None, largest: float = 1.0
) -> float:
    r"""Return a bound of :math:`\sup_g |J(p) - \hat J(p)|` that holds with probability :math:`1 - \delta`.

    .. math:: (2 (1 + B) + \kappa) \mathfrak R_n(\mathcal G) + ((1 + B)^2 + 2 \kappa) \varepsilon

    Here :math:`\varepsilon = \sqrt{\ln(4/\delta) / 2n}`, and :math:`\sqrt{\ln(2/\delta) / 2n}` without a prior.

    Parameters
    ----------
    n : int
        Number of pairs.
    complexity : float
        Rademacher complexity of the scores, :math:`\mathfrak R_n(\mathcal G)`.
    delta : float
        Probability that the bound fails.
    prior : float or None
        Given class prior; ``None`` for the risk without a prior.
    largest : float
        Largest absolute value of the given differences, B.

    Examples
    --------
    >>> round(proposition_3_uniform_deviation(200, 0.1, delta=0.05), 4)
    0.7841
    """
    kappa = _kappa(prior)
    spread = ((1 + largest) ** 2 + 2 * kappa) * _epsilon(n, delta, prior)
    return 2 * proposition_3_complexity(complexity, largest=largest) + kappa * complexity + spread


def proposition_3_estimation_error(
    n: int, complexity: float, *, delta: float, prior: float | None = None, largest: float = 1.0
) -> float:
    r"""Return a bound of the excess risk of the minimiser of :math:`\hat J` over the class.

    .. math::
        J(\hat p) - \min_g J(p) \le
        (2 (1 + B) + 2 \kappa) \mathfrak R_n(\mathcal G) + (2 (1 + B)^2 + 4 \kappa) \varepsilon

    It holds with probability :math:`1 - \delta`. Parameters and :math:`\varepsilon` as in
    :func:`proposition_3_uniform_deviation`.

    >>> round(proposition_3_estimation_error(200, 0.1, delta=0.05), 4)
    1.1683
    """
    kappa = _kappa(prior)
    spread = (2 * (1 + largest) ** 2 + 4 * kappa) * _epsilon(n, delta, prior)
    return 2 * proposition_3_complexity(complexity, largest=largest) + 2 * kappa * complexity + spread


def proposition_4_posterior_error(
    estimation_error: float, *, noise_shift: float = 0.0, prior_error: float = 0.0
) -> float:
    r"""Return a bound of :math:`\sqrt{E (\hat p - r)^2}` if the given differences and prior are wrong.

    .. math:: \sqrt{T} + 2 \sqrt{2 E h^2 + (\bar\pi - \pi)^2}

    The class contains r. Noise of mean zero has :math:`h = 0`.

    Parameters
    ----------
    estimation_error : float
        A bound T of the excess risk, such as :func:`proposition_3_estimation_error`.
    noise_shift : float
        Root of the mean square of the shift h, see :func:`confdiff.theory.regression_risks.noise_shift`.
    prior_error : float
        :math:`\bar\pi - \pi`.

    Examples
    --------
    >>> round(proposition_4_posterior_error(0.04, prior_error=-0.1), 4)
    0.4
    """
    shift = math.sqrt(2 * noise_shift**2 + prior_error**2)
    return math.sqrt(check_number("estimation_error", estimation_error, least=0)) + 2 * shift


def proposition_5_bias(n: int, variance: float) -> float:
    r"""Return the bias :math:`E \hat J(p) - J(p) = \mathrm{Var}(p) / 2n`, which comes from the term of the prior.

    Parameters
    ----------
    n : int
        Number of pairs.
    variance : float
        Variance of p over items; at most 1/4.

    Examples
    --------
    >>> proposition_5_bias(100, 0.2)
    0.001
    """
    return check_number("variance", variance, least=0) / (2 * check_count("n", n))


def proposition_5_deviation(n: int, *, delta: float, prior: float | None = None, largest: float = 1.0) -> float:
    r"""Return a bound of :math:`|\hat J(p) - J(p)|` at one function that holds with probability :math:`1 - \delta`.

    .. math:: ((1 + B)^2 + 2 \kappa) \sqrt{\ln(2/\delta) / 2n} + 1 / 8n

    The last term is left out without a prior. Parameters as in :func:`proposition_3_uniform_deviation`.

    >>> round(proposition_5_deviation(200, delta=0.05), 4)
    0.3841
    """
    bias = 0.0 if prior is None else proposition_5_bias(n, 1 / 4)
    return ((1 + check_number("largest", largest, least=0)) ** 2 + 2 * _kappa(prior)) * mcdiarmid(n, delta) + bias


def proposition_6_offset_error(variance: float, *, margin: float, mass: float) -> float:
    r"""Return a bound of :math:`|E(p - r)|` from certain items alone, for any p with values in [0, 1].

    .. math:: a + \sqrt{\tfrac{1 - q}{q} \mathrm{Var}(p - r)}

    Posteriors are at most a with probability q or more, and at least 1 - a with probability q or more.

    Parameters
    ----------
    variance : float
        Variance of p - r over items: half the excess risk without a prior.
    margin : float
        The distance a from certainty.
    mass : float
        The probability q.

    Examples
    --------
    >>> proposition_6_offset_error(0.01, margin=0.05, mass=0.2)
    0.25
    """
    odds = (1 - check_fraction("mass", mass)) / mass
    spread = math.sqrt(odds * check_number("variance", variance, least=0))
    return check_number("margin", margin, least=0) + spread


def proposition_7_finite_class(
    n: int, functions: int, *, delta: float, prior: float | None = None, largest: float = 1.0
) -> float:
    r"""Return a bound of the excess risk for a finite class that contains the posterior: it falls as 1/n.

    .. math:: \tfrac{28}{3} (1 + B)^2 \frac{\ln(M / \delta)}{n}, \qquad
        \left(\tfrac{32}{3} (1 + B)^2 + 2\right) \frac{\ln(4 M / \delta)}{n}

    without and with the true prior. It holds with probability :math:`1 - \delta`, for noise of mean zero.

    Parameters
    ----------
    n : int
        Number of pairs.
    functions : int
        Number of functions, M.
    delta, prior, largest
        As in :func:`proposition_3_uniform_deviation`.

    Examples
    --------
    >>> round(proposition_7_finite_class(1000, 100, delta=0.05), 4)
    0.2838
    """
    size = (1 + check_number("largest", largest, least=0)) ** 2
    logarithm = math.log(check_count("functions", functions) / check_delta(delta))
    if prior is None:
        return 28 / 3 * size * logarithm / check_count("n", n)
    check_prior(prior)
    return (32 / 3 * size + 2) * (logarithm + math.log(4)) / check_count("n", n)


def _kappa(prior: float | None) -> float:
    """Return the largest distance of a probability from the given prior; 0 without one."""
    return 0.0 if prior is None else max(check_prior(prior), 1 - prior)


def _epsilon(n: int, delta: float, prior: float | None) -> float:
    """Return the deviation of a mean of values in [0, 1]: two events of it must not occur, with a prior four."""
    return mcdiarmid(n, check_delta(delta) / (1 if prior is None else 2))
