r"""The bounds of Wang et al. 2023, one function for each result, named after it.

Symbols, as in the paper: :math:`n` pairs, :math:`\delta` the probability that a bound fails,
:math:`C_\ell \ge \ell` on the scores that occur, :math:`L_\ell` its Lipschitz constant, :math:`L_f` that of the
correction, :math:`\mathfrak R_n(\mathcal G)` the Rademacher complexity of the model class, and :math:`a, b, c, d`
lower bounds of the expected partial risks :math:`A, B, C, D`.

Lemmas are numbered as in the paper: Lemma 1 is in its text, the others in its appendix. Lemmas 2 and 3 write
differences as densities and give the expectation of each partial risk.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confdiff.losses import LOSSES
from confdiff.validation import check_choice, check_count, check_number

PAPER_CHANGE = 2
r"""Change of a corrected risk if one pair is replaced, in :math:`C_\ell L_f / n`, by the paper's proof of Theorem 5."""

LARGEST_CHANGE = 4
r"""The largest such change, which some loss reaches.

Each of the four terms can change by :math:`C_\ell / n`, and if some of them are negative, ABS gives all changes the
same sign. A margin loss that is small for one label where it is large for the other changes less. For the logistic
loss, the factor is :math:`3 + \phi(C_g) / \phi(-C_g)`, which is more than 3.
"""


@dataclass(frozen=True)
class LossConstants:
    r"""Constants of a loss on scores in :math:`[-C_g, C_g]` that the bounds need.

    Attributes
    ----------
    bound : float
        The largest value of the loss, :math:`C_\ell`.
    lipschitz : float
        Its Lipschitz constant, :math:`L_\ell`.
    """

    bound: float
    lipschitz: float

    @classmethod
    def of(cls, loss: str, largest_score: float) -> "LossConstants":
        """Return the constants of a loss by its name, for scores of at most ``largest_score`` in absolute value.

        >>> LossConstants.of("logistic", 2.0)
        LossConstants(bound=2.1269280110429727, lipschitz=0.8807970779778823)
        """
        facts = LOSSES[check_choice("loss", loss, LOSSES)]
        size = check_number("largest_score", largest_score, above=0)
        return cls(bound=facts.bound(size), lipschitz=facts.lipschitz(size))


def mcdiarmid(n: int, delta: float) -> float:
    r"""Return :math:`\sqrt{\ln(2/\delta) / 2n}`, the two-sided bound of McDiarmid's inequality for changes of 1/n."""
    return math.sqrt(math.log(2 / check_delta(delta)) / (2 * check_count("n", n)))


def check_delta(delta: float) -> float:
    """Return the probability that a bound fails, strictly between 0 and 1."""
    if not 0 < check_number("delta", delta, above=0) < 1:
        raise ValueError(f"delta must be a probability strictly between 0 and 1; got {delta!r}.")
    return delta


def lemma_4_complexity_of_the_risk(complexity: float, *, lipschitz: float) -> float:
    r"""Return the bound of the Rademacher complexity of ConfDiff losses, :math:`2 L_\ell \mathfrak R_n(\mathcal G)`.

    This is the paper's constant, on which the later bounds rely. Contraction, applied to the losses of x and to those
    of x', proves it for :math:`\pi = 1/2`, and for the logistic loss if :math:`\max(\pi, 1 - \pi) \le L_\ell`. For
    other losses and priors it proves :math:`(1 + 2 \max(\pi, 1 - \pi)) L_\ell` instead of :math:`2 L_\ell`.

    Parameters
    ----------
    complexity : float
        Rademacher complexity of the class, :math:`\mathfrak R_n(\mathcal G)`.
    lipschitz : float
        Lipschitz constant of the loss, :math:`L_\ell`.

    Examples
    --------
    >>> lemma_4_complexity_of_the_risk(0.1, lipschitz=1.0)
    0.2
    """
    return 2 * check_number("lipschitz", lipschitz, least=0) * check_number("complexity", complexity, least=0)


def lemma_5_uniform_deviation(n: int, complexity: float, *, delta: float, loss: LossConstants) -> float:
    r"""Return a bound of :math:`\sup_g |R(g) - \hat R(g)|` that holds with probability :math:`1 - \delta`.

    .. math:: 4 L_\ell \mathfrak R_n(\mathcal G) + 2 C_\ell \sqrt{\ln(2/\delta) / 2n}

    Parameters
    ----------
    n : int
        Number of pairs.
    complexity : float
        Rademacher complexity of the class, :math:`\mathfrak R_n(\mathcal G)`.
    delta : float
        Probability that the bound fails.
    loss : LossConstants
        Constants of the loss.

    Examples
    --------
    >>> round(lemma_5_uniform_deviation(200, 0.1, delta=0.05, loss=LossConstants(1.0, 1.0)), 4)
    0.5921
    """
    rate = 2 * lemma_4_complexity_of_the_risk(complexity, lipschitz=loss.lipschitz)
    return rate + 2 * loss.bound * mcdiarmid(n, delta)


def theorem_3_estimation_error(n: int, complexity: float, *, delta: float, loss: LossConstants) -> float:
    r"""Return a bound of the excess risk of the minimiser of the unbiased risk.

    .. math:: R(\hat g) - R(g^*) \le 8 L_\ell \mathfrak R_n(\mathcal G) + 4 C_\ell \sqrt{\ln(2/\delta) / 2n}

    It holds with probability :math:`1 - \delta`. Parameters as in :func:`lemma_5_uniform_deviation`.

    >>> round(theorem_3_estimation_error(200, 0.1, delta=0.05, loss=LossConstants(1.0, 1.0)), 4)
    1.1841
    """
    return 2 * lemma_5_uniform_deviation(n, complexity, delta=delta, loss=loss)


def theorem_4_estimation_error_under_noise(
    n: int, complexity: float, *, delta: float, loss: LossConstants, mean_error: float = 0.0, prior_error: float = 0.0
) -> float:
    r"""Return a bound of the excess risk if the given differences :math:`\bar c_i` and prior :math:`\bar\pi` are wrong.

    .. math::
        R(\bar g) - R(g^*) \le 16 L_\ell \mathfrak R_n(\mathcal G) + 8 C_\ell \sqrt{\ln(2/\delta) / 2n}
        + 4 C_\ell \tfrac1n \textstyle\sum_i |\bar c_i - c_i| + 4 C_\ell |\bar\pi - \pi|

    It holds with probability :math:`1 - \delta`.

    Parameters
    ----------
    n, complexity, delta, loss
        As in :func:`lemma_5_uniform_deviation`.
    mean_error : float
        Mean of :math:`|\bar c_i - c_i|`.
    prior_error : float
        :math:`|\bar\pi - \pi|`.

    Examples
    --------
    >>> loss = LossConstants(1.0, 1.0)
    >>> round(theorem_4_estimation_error_under_noise(200, 0.1, delta=0.05, loss=loss, mean_error=0.1), 4)
    2.7683
    """
    noise = 4 * loss.bound * (abs(mean_error) + abs(prior_error))
    return 2 * theorem_3_estimation_error(n, complexity, delta=delta, loss=loss) + noise


def lemma_6_negative_terms(n: int, least: Sequence[float], *, bound: float) -> float:
    r"""Return the paper's :math:`\Delta`, a bound of the probability that a partial risk is not positive.

    .. math:: \Delta = \textstyle\sum_{z \in \{a, b, c, d\}} \exp(-2 z^2 n / C_\ell^2)

    The sum can exceed 1; then the bound is trivial.

    Parameters
    ----------
    n : int
        Number of pairs.
    least : sequence of four floats
        a, b, c, d, lower bounds of the expected partial risks.
    bound : float
        Largest value of the loss, :math:`C_\ell`.

    Examples
    --------
    >>> round(lemma_6_negative_terms(100, [0.1, 0.1, 0.2, 0.2], bound=1.0), 4)
    0.2713
    """
    if len(least) != 4:
        raise ValueError(f"least must have four values, one for each partial risk; got {len(least)}.")
    sizes = [check_number("least", z, least=0) for z in least]
    return sum(math.exp(-2 * z**2 * check_count("n", n) / check_number("bound", bound, above=0) ** 2) for z in sizes)


def theorem_5_bias(n: int, least: Sequence[float], *, bound: float, correction_lipschitz: float = 1.0) -> float:
    r"""Return a bound of the bias of the corrected risk.

    .. math:: 0 \le E \tilde R(g) - R(g) \le 2 (L_f + 1) C_\ell \Delta

    The correction must satisfy :math:`f(z) = z` for :math:`z \ge 0` and :math:`f(z) \ge z` below.

    Parameters
    ----------
    n, least, bound
        As in :func:`lemma_6_negative_terms`.
    correction_lipschitz : float
        Lipschitz constant of the correction, :math:`L_f`.

    Examples
    --------
    >>> round(theorem_5_bias(100, [0.1, 0.1, 0.2, 0.2], bound=1.0), 4)
    1.0854
    """
    return 2 * (correction_lipschitz + 1) * bound * lemma_6_negative_terms(n, least, bound=bound)


def theorem_5_deviation(
    n: int,
    least: Sequence[float],
    *,
    delta: float,
    bound: float,
    correction_lipschitz: float = 1.0,
    change: int = LARGEST_CHANGE,
) -> float:
    r"""Return a bound of :math:`|\tilde R(g) - R(g)|` that holds with probability :math:`1 - \delta`.

    .. math:: k\, C_\ell L_f \sqrt{\ln(2/\delta) / 2n} + 2 (L_f + 1) C_\ell \Delta

    Parameters
    ----------
    n, least, bound, correction_lipschitz
        As in :func:`theorem_5_bias`.
    delta : float
        Probability that the bound fails.
    change : int
        The constant k: :data:`LARGEST_CHANGE`, or :data:`PAPER_CHANGE` as in the paper.

    Examples
    --------
    >>> round(theorem_5_deviation(10_000, [0.1] * 4, delta=0.05, bound=1.0, change=PAPER_CHANGE), 4)
    0.0272
    """
    spread = change * bound * correction_lipschitz * mcdiarmid(n, delta)
    return spread + theorem_5_bias(n, least, bound=bound, correction_lipschitz=correction_lipschitz)


def theorem_6_estimation_error_of_the_corrected(
    n: int,
    complexity: float,
    least: Sequence[float],
    *,
    delta: float,
    loss: LossConstants,
    correction_lipschitz: float = 1.0,
    change: int = LARGEST_CHANGE,
) -> float:
    r"""Return a bound of the excess risk of the minimiser of the corrected risk.

    .. math::
        R(\tilde g) - R(g^*) \le 8 L_\ell \mathfrak R_n(\mathcal G) + (2 k L_f + 4)\, C_\ell \sqrt{\ln(2/\delta) / 2n}
        + 4 (L_f + 1) C_\ell \Delta

    With the paper's k = 2 the middle term is :math:`4 C_\ell (L_f + 1) \sqrt{\ln(2/\delta) / 2n}`. The proof in the
    paper has two gaps. It applies Theorem 5, which is about one function, to minimisers that depend on the sample. It
    also counts three events of probability :math:`1 - \delta` as one. The bound
    :func:`estimation_error_of_the_corrected` has no such gaps.

    Parameters
    ----------
    n, complexity, delta, loss
        As in :func:`lemma_5_uniform_deviation`.
    least : sequence of four floats
        Lower bounds of the expected partial risks of every function of the class.
    correction_lipschitz, change
        As in :func:`theorem_5_deviation`.

    Examples
    --------
    >>> loss = LossConstants(1.0, 1.0)
    >>> least = [0.1] * 4
    >>> round(theorem_6_estimation_error_of_the_corrected(10_000, 0.01, least, delta=0.05, loss=loss, change=2), 4)
    0.1886
    """
    twice_deviation = 2 * theorem_5_deviation(
        n, least, delta=delta, bound=loss.bound, correction_lipschitz=correction_lipschitz, change=change
    )
    return twice_deviation + theorem_3_estimation_error(n, complexity, delta=delta, loss=loss)


def estimation_error_of_the_corrected(
    n: int, complexity: float, *, delta: float, loss: LossConstants, correction_lipschitz: float = 1.0
) -> float:
    r"""Return a bound of the excess risk of the corrected minimiser by a proof of this library, without a, b, c, d.

    .. math::
        R(\tilde g) - R(g^*) \le L_f \left(12 L_\ell \mathfrak R_n(\mathcal G)
        + 8 C_\ell \sqrt{\ln(8/\delta) / 2n}\right)

    It holds with probability :math:`1 - \delta`. :math:`f(z) = z` for :math:`z \ge 0`, and expected partial risks are
    at least 0. So :math:`|\tilde R(g) - R(g)|` is at most :math:`L_f` times the sum of the four deviations of partial
    risks. Each deviation is bounded uniformly over the class and on both sides, which makes eight events. The steps are
    symmetrisation, contraction (the Lipschitz constants sum to :math:`3 L_\ell`) and McDiarmid's inequality (each term
    changes by at most :math:`C_\ell / n`). The excess risk is at most twice the sum.

    Parameters
    ----------
    n, complexity, delta, loss
        As in :func:`lemma_5_uniform_deviation`.
    correction_lipschitz : float
        Lipschitz constant of the correction, :math:`L_f`.

    Examples
    --------
    >>> round(estimation_error_of_the_corrected(10_000, 0.01, delta=0.05, loss=LossConstants(1.0, 1.0)), 4)
    0.2474
    """
    rate = 12 * loss.lipschitz * check_number("complexity", complexity, least=0)
    factor = check_number("correction_lipschitz", correction_lipschitz, above=0)
    return factor * (rate + 8 * loss.bound * mcdiarmid(n, check_delta(delta) / 4))
