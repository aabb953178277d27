"""The table of methods: what each learns from, by which risk, with which correction, and who proposed it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from confdiff.companions import Companion, PcompTeacher
from confdiff.corrections import Correction, absolute, identity, relu
from confdiff.losses import MarginLoss, logistic
from confdiff.pairs import Supervision
from confdiff.risks import (
    Projection,
    bpr_terms,
    combined_terms,
    confdiff_terms,
    cross_entropy,
    euclidean_projection,
    information_projection,
    mrl_terms,
    multiclass_regression_terms,
    multiclass_supervised_terms,
    multiclass_targets,
    multiclass_terms,
    pcomp_teacher_terms,
    pcomp_terms,
    projected_targets,
    regression_terms,
    supervised_terms,
)
from confdiff.validation import check_choice, companion_missing, one_prior_only, prior_missing, two_classes_only

PriorUse = Literal["needed", "optional", "unused"]
"""What a method does with the class prior; where it is optional, the differences tell what they can without it."""


@dataclass(frozen=True)
class Method:
    """A row of the table.

    learns_from: which supervision of the pairs it reads.
    terms: (g, g_prime, *targets, prior=, weight=, loss=) -> its partial risks; ``prior`` only if it uses one.
    term_names: what the partial risks are called in messages.
    correction: applied to every partial risk before the sum.
    prior: whether it needs the class prior, can use it, or has no use for it.
    reference: paper and equation it comes from; :data:`REFERENCES` has the papers.
    project: where its targets are posteriors that it makes itself: its predictions, projected on what c allows.
    companion: (model, items, rows, prior, strategy=) -> what it keeps beside the network while that is trained.
    classifies: whether the sign of a score tells the class; methods that only rank order scores, and say no more.
    multiclass: what ``terms`` are for K classes, where scores and targets are (n, K); None where it knows two only.
    """

    name: str
    learns_from: Supervision
    terms: Callable[..., Tensor]
    term_names: tuple[str, ...]
    correction: Correction
    prior: PriorUse
    reference: str
    project: Projection | None = None
    companion: Callable[..., Companion] | None = None
    classifies: bool = True
    multiclass: Callable[..., Tensor] | None = None

    @property
    def needs_prior(self) -> bool:
        """Whether it cannot do without the class prior."""
        return self.prior == "needed"

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
        loss: MarginLoss | None = None,
    ) -> Tensor:
        """The partial risks before correction, shape (k,). Scores (n, K) are those of K classes.

        loss: the logistic one if none is given; for K classes the cross-entropy.
        """
        if self.needs_prior and prior is None and self.companion is None:  # a companion knows the prior already
            raise prior_missing(self.name)
        if self.prior == "optional" and isinstance(prior, Tensor) and not _many(g):
            raise one_prior_only(self.name)
        if self.companion is not None and not targets and not _many(g):
            raise companion_missing(self.name, getattr(self.companion, "__name__", "companion"))
        options: dict[str, Any] = {"weight": weight, "loss": loss or (cross_entropy if _many(g) else logistic)}
        if self.project is not None:
            targets = _projected(self.project, g, g_prime, *targets, prior=prior, **options)
        elif self.prior != "unused" and self.companion is None:
            options["prior"] = prior
        return (self._multiclass_terms if _many(g) else self.terms)(g, g_prime, *targets, **options)

    @property
    def _multiclass_terms(self) -> Callable[..., Tensor]:
        if self.multiclass is None:
            raise two_classes_only(self.name)
        return self.multiclass

    def names_of(self, terms: Tensor, *, many: bool = False) -> tuple[str, ...]:
        """What partial risks are called; those of each of many classes have no letters of their own."""
        if not many or len(terms) == 2:
            return self.term_names
        return tuple(f"{item} items, class {k}" for item in ("first", "second") for k in range(len(terms) // 2))

    def risk(self, g: Tensor, g_prime: Tensor, *targets: Tensor, **options: Any) -> Tensor:
        """What is minimised: the sum of the corrected partial risks, shape (). Options as in ``partial_risks``."""
        return self.correction(self.partial_risks(g, g_prime, *targets, **options)).sum()


def _many(g: Tensor) -> bool:
    """Whether scores are those of K classes; a column is not."""
    return g.ndim == 2 and g.shape[1] > 1


def _projected(project: Projection, g: Tensor, g_prime: Tensor, c: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """The posteriors that the current scores and the differences of pairs give to learn from."""
    if _many(g):
        return multiclass_targets(g, g_prime, c, **options)
    return projected_targets(g, g_prime, c, project=project, **options)


REFERENCES = {
    "Wang et al. 2023": "Binary Classification with Confidence Difference. NeurIPS 36.",
    "Feng et al. 2021": "Pointwise Binary Classification with Pairwise Confidence Comparisons. ICML 38.",
    "Rendle et al. 2009": "BPR: Bayesian Personalized Ranking from Implicit Feedback. UAI 25.",
    "confdiff": "this library: docs/beyond-the-paper.md has the reasons and the proofs.",
}
"""Short name of a paper, as the rows of the table have it -> the paper."""


def _confdiff(name: str, correction: Correction, equation: int) -> Method:
    return Method(
        name=name,
        learns_from="differences",
        terms=confdiff_terms,
        term_names=("A", "B", "C", "D"),
        correction=correction,
        prior="needed",
        reference=f"Wang et al. 2023 ({equation})",
        multiclass=multiclass_terms,
    )


def _regression(
    name: str, terms: Callable[..., Tensor], names: tuple[str, ...], kind: str, multiclass: Callable[..., Tensor] | None
) -> Method:
    return Method(
        name=name,
        learns_from="differences",
        terms=terms,
        term_names=names,
        correction=identity,
        prior="optional",
        reference=f"confdiff ({kind})",
        multiclass=multiclass,
    )


def _projection(name: str, project: Projection, kind: str, multiclass: Callable[..., Tensor] | None = None) -> Method:
    return Method(
        name=name,
        learns_from="differences",
        terms=supervised_terms,
        term_names=("first items", "second items"),
        correction=identity,
        prior="optional",
        reference=f"confdiff ({kind} projection)",
        project=project,
        multiclass=multiclass,
    )


def _pcomp(name: str, correction: Correction) -> Method:
    return Method(
        name=name,
        learns_from="order",
        terms=pcomp_terms,
        term_names=("positives", "negatives"),
        correction=correction,
        prior="needed",
        reference="Feng et al. 2021 (risk correction)" if correction is not identity else "Feng et al. 2021 (unbiased)",
    )


_PCOMP_TEACHER = Method(
    name="pcomp-teacher",
    learns_from="order",
    terms=pcomp_teacher_terms,
    term_names=("first items", "second items", "consistency"),
    correction=identity,
    prior="needed",
    reference="Feng et al. 2021 (Pcomp-Teacher)",
    companion=PcompTeacher,
)


def _ranking(name: str, terms: Callable[..., Tensor], reference: str) -> Method:
    return Method(
        name=name,
        learns_from="differences",
        terms=terms,
        term_names=("pairs",),
        correction=identity,
        prior="unused",
        reference=reference,
        classifies=False,
    )


def _oracle(name: str, learns_from: Supervision, equation: int) -> Method:
    return Method(
        name=name,
        learns_from=learns_from,
        terms=supervised_terms,
        term_names=("first items", "second items"),
        correction=identity,
        prior="unused",
        reference=f"Wang et al. 2023 ({equation})",
        multiclass=multiclass_supervised_terms,
    )


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _confdiff("confdiff-unbiased", identity, 8),
        _confdiff("confdiff-relu", relu, 12),
        _confdiff("confdiff-abs", absolute, 12),
        _regression(
            "confdiff-regression",
            regression_terms,
            ("difference", "mean"),
            "difference regression",
            multiclass_regression_terms,
        ),
        _regression(
            "confdiff-combined",
            combined_terms,
            ("difference", "mean", "first items", "second items"),
            "regression and projection",
            None,
        ),
        _projection("confdiff-projection", euclidean_projection, "Euclidean", multiclass_supervised_terms),
        _projection("confdiff-information", information_projection, "information"),
        _pcomp("pcomp-unbiased", identity),
        _pcomp("pcomp-relu", relu),
        _pcomp("pcomp-abs", absolute),
        _PCOMP_TEACHER,
        _ranking("bpr", bpr_terms, "Rendle et al. 2009 (BPR-Opt)"),
        _ranking("mrl", mrl_terms, "Wang et al. 2023 (Table 3, margin ranking loss)"),
        _oracle("oracle-hard", "labels", 1),
        _oracle("oracle-soft", "posteriors", 4),
    )
}
"""Name -> method."""


def find_method(name: str) -> Method:
    """The row called ``name``; an unknown name is answered with the nearest one."""
    return METHODS[check_choice("method", name, METHODS)]
