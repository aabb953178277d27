r"""The bounds of Wang et al. 2023, one function for each result, named after it.

Symbols, as in the paper: :math:`n` pairs, :math:`\delta` the probability with which a bound may fail,
:math:`C_\ell \ge \ell` on the scores that occur, :math:`L_\ell` its Lipschitz constant, :math:`L_f` that of the
correction, :math:`\mathfrak R_n(\mathcal G)` the Rademacher complexity of the model class, and :math:`a, b, c, d`
lower bounds of the expected partial risks :math:`A, B, C, D`.

Lemmas are numbered as in the paper: Lemma 1 is in its text, 2 and 3 (differences as densities; what each partial risk
estimates) and 4, 5, 6 in its appendix.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confdiff.losses import LOSSES
from confdiff.validation import check_choice, check_count, check_number

PAPER_CHANGE, LARGEST_CHANGE = 2, 4
r"""By how many :math:`C_\ell L_f / n` a corrected risk can change when one pair is replaced: as the paper's proof of
Theorem 5 has it, and what is reached by some loss. Each of the four terms can change by :math:`C_\ell / n`, and where
some of them are negative ABS turns all changes the same way. A margin loss that is small for one label where it is
large for the other reaches less: the logistic one :math:`3 + \phi(C_g) / \phi(-C_g)`, so more than 3."""


@dataclass(frozen=True)
class LossConstants:
    r"""What a bound asks of a loss on scores in :math:`[-C_g, C_g]`: its largest value and its Lipschitz constant."""

    bound: float
    lipschitz: float

    @classmethod
    def of(cls, loss: str, largest_score: float) -> "LossConstants":
        """Those of a loss by its name.

        >>> LossConstants.of("logistic", 2.0)
        LossConstants(bound=2.1269280110429727, lipschitz=0.8807970779778823)
        """
        facts = LOSSES[check_choice("loss", loss, LOSSES)]
        size = check_number("the largest score", largest_score, above=0)
        return cls(facts.bound(size), facts.lipschitz(size))


def mcdiarmid(n: int, delta: float) -> float:
    r""":math:`\sqrt{\ln(2/\delta) / 2n}`, which McDiarmid's inequality gives for changes of 1/n, to both sides."""
    return math.sqrt(math.log(2 / _check_delta(delta)) / (2 * check_count("n", n)))


def _check_delta(delta: float) -> float:
    if not 0 < check_number("delta", delta, above=0) < 1:
        raise ValueError(f"delta must be a probability between 0 and 1; got {delta!r}.")
    return delta


def lemma_4_complexity_of_the_risk(complexity: float, *, lipschitz: float) -> float:
    r"""The Rademacher complexity of the ConfDiff losses of a class: at most :math:`2 L_\ell \mathfrak R_n(\mathcal G)`.

    So the paper, and all that follows from it here. Contraction, applied to the part of x and to that of x', gives this
    for :math:`\pi = 1/2`, and for the logistic loss where :math:`\max(\pi, 1 - \pi) \le L_\ell`; for other losses and
    priors it gives :math:`(1 + 2 \max(\pi, 1 - \pi)) L_\ell` in place of :math:`2 L_\ell`.

    >>> lemma_4_complexity_of_the_risk(0.1, lipschitz=1.0)
    0.2
    """
    return 2 * check_number("lipschitz", lipschitz, least=0) * check_number("complexity", complexity, least=0)


def lemma_5_uniform_deviation(n: int, complexity: float, *, delta: float, loss: LossConstants) -> float:
    r"""With probability :math:`1 - \delta`, a bound of :math:`\sup_g |R(g) - \hat R(g)|`.

    .. math:: 4 L_\ell \mathfrak R_n(\mathcal G) + 2 C_\ell \sqrt{\ln(2/\delta) / 2n}

    >>> round(lemma_5_uniform_deviation(200, 0.1, delta=0.05, loss=LossConstants(1.0, 1.0)), 4)
    0.5921
    """
    return 2 * lemma_4_complexity_of_the_risk(complexity, lipschitz=loss.lipschitz) + 2 * loss.bound * mcdiarmid(
        n, delta
    )


def theorem_3_estimation_error(n: int, complexity: float, *, delta: float, loss: LossConstants) -> float:
    r"""With probability :math:`1 - \delta`, a bound of the excess risk of the minimiser of the unbiased risk.

    .. math:: R(\hat g) - R(g^*) \le 8 L_\ell \mathfrak R_n(\mathcal G) + 4 C_\ell \sqrt{\ln(2/\delta) / 2n}

    >>> round(theorem_3_estimation_error(200, 0.1, delta=0.05, loss=LossConstants(1.0, 1.0)), 4)
    1.1841
    """
    return 2 * lemma_5_uniform_deviation(n, complexity, delta=delta, loss=loss)


def theorem_4_estimation_error_under_noise(
    n: int, complexity: float, *, delta: float, loss: LossConstants, mean_error: float = 0.0, prior_error: float = 0.0
) -> float:
    r"""The same where differences and the prior are wrong: :math:`\bar c_i` and :math:`\bar\pi` are what is told.

    .. math::
        R(\bar g) - R(g^*) \le 16 L_\ell \mathfrak R_n(\mathcal G) + 8 C_\ell \sqrt{\ln(2/\delta) / 2n}
        + 4 C_\ell \tfrac1n \textstyle\sum_i |\bar c_i - c_i| + 4 C_\ell |\bar\pi - \pi|

    mean_error: the mean of abs(c_bar - c). prior_error: abs(pi_bar - pi).

    >>> loss = LossConstants(1.0, 1.0)
    >>> round(theorem_4_estimation_error_under_noise(200, 0.1, delta=0.05, loss=loss, mean_error=0.1), 4)
    2.7683
    """
    wrong = 4 * loss.bound * (abs(mean_error) + abs(prior_error))
    return 2 * theorem_3_estimation_error(n, complexity, delta=delta, loss=loss) + wrong


def lemma_6_negative_terms(n: int, least: Sequence[float], *, bound: float) -> float:
    r"""The paper's :math:`\Delta`: a bound of the probability that one of the four partial risks is not positive.

    .. math:: \Delta = \textstyle\sum_{z \in \{a, b, c, d\}} \exp(-2 z^2 n / C_\ell^2)

    least: a, b, c, d, lower bounds of the expected partial risks. The sum can exceed 1, and then says nothing.

    >>> round(lemma_6_negative_terms(100, [0.1, 0.1, 0.2, 0.2], bound=1.0), 4)
    0.2713
    """
    if len(least) != 4:
        raise ValueError(f"least must have four values, one for each partial risk; got {len(least)}.")
    sizes = [check_number("least", z, least=0) for z in least]
    return sum(math.exp(-2 * z**2 * check_count("n", n) / check_number("bound", bound, above=0) ** 2) for z in sizes)


def theorem_5_bias(n: int, least: Sequence[float], *, bound: float, correction_lipschitz: float = 1.0) -> float:
    r"""A bound of the bias of the corrected risk, :math:`0 \le E \tilde R(g) - R(g) \le 2 (L_f + 1) C_\ell \Delta`.

    A correction is taken to have :math:`f(z) = z` for :math:`z \ge 0` and :math:`f(z) \ge z` below.

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
    r"""With probability :math:`1 - \delta`, a bound of :math:`|\tilde R(g) - R(g)|`.

    .. math:: k\, C_\ell L_f \sqrt{\ln(2/\delta) / 2n} + 2 (L_f + 1) C_\ell \Delta

    change: k, 4 if not said otherwise; the paper has 2 (see :data:`PAPER_CHANGE`).

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
    r"""With probability :math:`1 - \delta`, a bound of the excess risk of the minimiser of the corrected risk.

    .. math::
        R(\tilde g) - R(g^*) \le 8 L_\ell \mathfrak R_n(\mathcal G) + (2 k L_f + 4)\, C_\ell \sqrt{\ln(2/\delta) / 2n}
        + 4 (L_f + 1) C_\ell \Delta

    With the paper's k = 2 the middle term is :math:`4 C_\ell (L_f + 1) \sqrt{\ln(2/\delta) / 2n}`. Its proof has two
    gaps: it takes Theorem 5, which is about one function, at minimisers that depend on the sample, and it counts three
    events of probability :math:`1 - \delta` as one. :func:`estimation_error_of_the_corrected` has neither.

    least: lower bounds of the expected partial risks of every function of the class.

    >>> loss = LossConstants(1.0, 1.0)
    >>> least = [0.1] * 4
    >>> round(theorem_6_estimation_error_of_the_corrected(10_000, 0.01, least, delta=0.05, loss=loss, change=2), 4)
    0.1886
    """
    twice = 2 * theorem_5_deviation(
        n, least, delta=delta, bound=loss.bound, correction_lipschitz=correction_lipschitz, change=change
    )
    return twice + theorem_3_estimation_error(n, complexity, delta=delta, loss=loss)


def estimation_error_of_the_corrected(
    n: int, complexity: float, *, delta: float, loss: LossConstants, correction_lipschitz: float = 1.0
) -> float:
    r"""With probability :math:`1 - \delta`, a bound of the same excess risk by a proof of ours, without a, b, c, d.

    .. math::
        R(\tilde g) - R(g^*) \le L_f \left(12 L_\ell \mathfrak R_n(\mathcal G)
        + 8 C_\ell \sqrt{\ln(8/\delta) / 2n}\right)

    As :math:`f(z) = z` where :math:`z \ge 0` and expected partial risks are at least 0, :math:`|\tilde R(g) - R(g)|` is
    at most :math:`L_f` times the sum of the four deviations of partial risks. Each is bounded uniformly over the class,
    to both sides: symmetrisation, contraction (their Lipschitz constants sum to :math:`3 L_\ell`) and McDiarmid's
    inequality (each changes by at most :math:`C_\ell / n`), eight events in all. The excess risk is at most twice that.

    >>> round(estimation_error_of_the_corrected(10_000, 0.01, delta=0.05, loss=LossConstants(1.0, 1.0)), 4)
    0.2474
    """
    rate = 12 * loss.lipschitz * check_number("complexity", complexity, least=0)
    return check_number("correction_lipschitz", correction_lipschitz, above=0) * (
        rate + 8 * loss.bound * mcdiarmid(n, _check_delta(delta) / 4)
    )
