"""The table of methods: what each learns from, by which risk, with which correction, and who proposed it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from confdiff.companions import Companion, PcompTeacher
from confdiff.corrections import Correction, absolute, identity, relu
from confdiff.losses import MarginLoss, logistic
from confdiff.pairs import Supervision
from confdiff.risks import confdiff_terms, pcomp_teacher_terms, pcomp_terms, supervised_terms
from confdiff.validation import check_choice, prior_missing


@dataclass(frozen=True)
class Method:
    """A row of the table.

    learns_from: which supervision of the pairs it reads.
    terms: (g, g_prime, *targets, prior=, weight=, loss=) -> its partial risks; ``prior`` only if it needs one.
    term_names: what the partial risks are called in messages.
    correction: applied to every partial risk before the sum.
    needs_prior: whether it needs the class prior.
    reference: paper and equation it comes from; :data:`REFERENCES` has the papers.
    companion: (model, items, rows, prior, strategy=) -> what it keeps beside the network while that is trained.
    """

    name: str
    learns_from: Supervision
    terms: Callable[..., Tensor]
    term_names: tuple[str, ...]
    correction: Correction
    needs_prior: bool
    reference: str
    companion: Callable[..., Companion] | None = None

    @property
    def needs_exchangeable_pairs(self) -> bool:
        """Whether the answer depends on which item of a pair comes first, so that the order must carry no meaning.

        A sum of uncorrected terms is symmetric under (x, x', c) -> (x', x, -c); corrected terms one by one are not.
        """
        return self.learns_from == "differences" and self.correction is not identity

    def partial_risks(
        self,
        g: Tensor,
        g_prime: Tensor,
        *targets: Tensor | float,
        prior: float | Tensor | None = None,
        weight: Tensor | None = None,
        loss: MarginLoss = logistic,
    ) -> Tensor:
        """The partial risks before correction, shape (k,)."""
        if not self.needs_prior or self.companion is not None:  # a companion knows the prior already
            return self.terms(g, g_prime, *targets, weight=weight, loss=loss)
        if prior is None:
            raise prior_missing(self.name)
        return self.terms(g, g_prime, *targets, prior=prior, weight=weight, loss=loss)

    def risk(self, g: Tensor, g_prime: Tensor, *targets: Tensor, **options: Any) -> Tensor:
        """What is minimised: the sum of the corrected partial risks, shape (). Options as in ``partial_risks``."""
        return self.correction(self.partial_risks(g, g_prime, *targets, **options)).sum()


REFERENCES = {
    "Wang et al. 2023": "Binary Classification with Confidence Difference. NeurIPS 36.",
    "Feng et al. 2021": "Pointwise Binary Classification with Pairwise Confidence Comparisons. ICML 38.",
}
"""Short name of a paper, as the rows of the table have it -> the paper."""


def _confdiff(name: str, correction: Correction, equation: int) -> Method:
    return Method(
        name=name,
        learns_from="differences",
        terms=confdiff_terms,
        term_names=("A", "B", "C", "D"),
        correction=correction,
        needs_prior=True,
        reference=f"Wang et al. 2023 ({equation})",
    )


def _pcomp(name: str, correction: Correction) -> Method:
    return Method(
        name=name,
        learns_from="order",
        terms=pcomp_terms,
        term_names=("positives", "negatives"),
        correction=correction,
        needs_prior=True,
        reference="Feng et al. 2021 (risk correction)" if correction is not identity else "Feng et al. 2021 (unbiased)",
    )


_PCOMP_TEACHER = Method(
    name="pcomp-teacher",
    learns_from="order",
    terms=pcomp_teacher_terms,
    term_names=("first items", "second items", "consistency"),
    correction=identity,
    needs_prior=True,
    reference="Feng et al. 2021 (Pcomp-Teacher)",
    companion=PcompTeacher,
)


def _oracle(name: str, learns_from: Supervision, equation: int) -> Method:
    return Method(
        name=name,
        learns_from=learns_from,
        terms=supervised_terms,
        term_names=("first items", "second items"),
        correction=identity,
        needs_prior=False,
        reference=f"Wang et al. 2023 ({equation})",
    )


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _confdiff("confdiff-unbiased", identity, 8),
        _confdiff("confdiff-relu", relu, 12),
        _confdiff("confdiff-abs", absolute, 12),
        _pcomp("pcomp-unbiased", identity),
        _pcomp("pcomp-relu", relu),
        _pcomp("pcomp-abs", absolute),
        _PCOMP_TEACHER,
        _oracle("oracle-hard", "labels", 1),
        _oracle("oracle-soft", "posteriors", 4),
    )
}
"""Name -> method."""


def find_method(name: str) -> Method:
    """The row called ``name``; an unknown name is answered with the nearest one."""
    return METHODS[check_choice("method", name, METHODS)]
