"""The table of methods: the supervision, risk, correction and reference of each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from confdiff.companions import Companion, PcompTeacher
from confdiff.corrections import Correction, absolute, identity, relu
from confdiff.links import LinkName
from confdiff.losses import MarginLoss, logistic
from confdiff.pairs import Pairs, Supervision
from confdiff.plugins import look_up
from confdiff.risks import (
    Projection,
    bpr_terms,
    combined_terms,
    confdiff_terms,
    crcr_like_terms,
    cross_entropy,
    euclidean_projection,
    glws_terms,
    information_projection,
    mrl_terms,
    multiclass_regression_terms,
    multiclass_supervised_terms,
    multiclass_targets,
    multiclass_terms,
    pcomp_teacher_terms,
    pcomp_terms,
    preference_terms,
    projected_targets,
    regression_terms,
    sconf_confdiff_terms,
    sconf_terms,
    score_terms,
    sd_pcomp_terms,
    sd_terms,
    similarity_regression_terms,
    supervised_terms,
)
from confdiff.validation import companion_missing, one_prior_only, prior_missing, two_classes_only

PriorUse = Literal["needed", "optional", "unused"]
"""Whether a method needs the class prior, can use it, or ignores it. Without an optional prior, the differences alone
determine the scores as far as they can."""


PrecisionUse = Literal["differences", "errors", "weights"]
"""How the precision of differences enters a risk: risks that are linear in c multiply c by it, regression weighs the
squared errors but not the mean, and risks without a prior multiply the weights."""


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes
    ----------
    name : str
        The name that users type.
    label : str
        The label in reports and plots.
    family : str
        Methods of one family share a range of colours: ``confdiff``, ``similarity``, ``pcomp``, ``link``, ``ranking``,
        ``baseline`` or ``oracle``; ``plugin`` if it is none of these.
    learns_from : str
        The supervision of the pairs that it reads.
    terms : callable
        ``(g, g_prime, *targets, prior=, weight=, loss=)`` -> partial risks; ``prior`` only if the method uses one.
    term_names : tuple of str
        Names of the partial risks in messages.
    correction : callable
        Applied to every partial risk before the sum.
    prior : {"needed", "optional", "unused"}
        Use of the class prior.
    reference : str
        Paper and equation that it comes from; :data:`REFERENCES` has the papers.
    project : callable, optional
        Projects predictions on the posteriors that c allows, for methods that make their own targets.
    companion : callable, optional
        ``(model, items, rows, prior, strategy=)`` -> state that is kept next to the network during training.
    classifies : bool
        Whether the sign of a score determines the class; the scores of other methods only rank.
    multiclass : callable, optional
        The ``terms`` for K classes, where scores and targets are (n, K); None for methods of two classes only.
    link : {"probability", "preference", "score"}
        The meaning of the differences, a name from :data:`confdiff.links.LINKS`.
    pools_pairs : bool
        Whether the risk combines means of several pairs, so that one prior holds for all of them.
    precision : {"differences", "errors", "weights"} or None
        How rescaled answers of annotators enter, which exceed [-1, 1] and differ in precision. None for methods that
        cannot take them.
    """

    name: str
    label: str
    family: str
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
    link: LinkName = "probability"
    precision: PrecisionUse | None = None
    pools_pairs: bool = False

    @property
    def takes_one_prior(self) -> bool:
        """Whether the prior must be one number for all pairs."""
        return self.prior == "optional" or self.pools_pairs

    @property
    def needs_prior(self) -> bool:
        """Whether it requires the class prior."""
        return self.prior == "needed"

    @property
    def needs_exchangeable_pairs(self) -> bool:
        """Whether the risk depends on which item of a pair comes first, so that the order must carry no meaning.

        A sum of uncorrected terms is symmetric under (x, x', c) -> (x', x, -c); corrected terms one by one are not.
        """
        return self.learns_from in ("differences", "differences and same") and self.correction is not identity

    def partial_risks(
        self,
        g: Tensor,
        g_prime: Tensor,
        *targets: Tensor | float,
        prior: float | Tensor | None = None,
        weight: Tensor | None = None,
        loss: MarginLoss | None = None,
    ) -> Tensor:
        """Return the partial risks before correction.

        Parameters
        ----------
        g, g_prime : Tensor of shape (n,) or (n, K)
            Scores of the first and the second items, for two or for K classes.
        *targets : Tensor
            Supervision of the method, such as differences of shape (n,) or (n, K).
        prior : float or Tensor, optional
            The class prior.
        weight : Tensor of shape (n,), optional
            Weights of the pairs.
        loss : callable, optional
            By default the logistic loss; for K classes the cross-entropy.

        Returns
        -------
        Tensor of shape (k,)
            The partial risks.
        """
        is_multiclass = _has_several_classes(g)
        self._check_supervision(targets, prior, is_multiclass)
        default_loss = cross_entropy if is_multiclass else logistic
        options: dict[str, Any] = {"weight": weight, "loss": loss or default_loss}
        if self.project is not None:
            targets = _projected(self.project, g, g_prime, *targets, prior=prior, **options)
        elif self._terms_take_prior:
            options["prior"] = prior
        terms = self._multiclass_terms if is_multiclass else self.terms
        return terms(g, g_prime, *targets, **options)

    def _check_supervision(
        self, targets: tuple[Tensor | float, ...], prior: float | Tensor | None, is_multiclass: bool
    ) -> None:
        """Refuse a missing prior, a prior for each pair that the method cannot use, or a missing companion."""
        if self.needs_prior and prior is None and self.companion is None:  # the companion already has the prior
            raise prior_missing(self.name)
        if is_multiclass:
            return
        if self.takes_one_prior and isinstance(prior, Tensor):
            raise one_prior_only(self.name)
        if self.companion is not None and not targets:
            raise companion_missing(self.name, getattr(self.companion, "__name__", "companion"))

    @property
    def _terms_take_prior(self) -> bool:
        """Whether the prior is an argument of the terms; a companion has put it into the targets."""
        return self.prior != "unused" and self.companion is None

    @property
    def _multiclass_terms(self) -> Callable[..., Tensor]:
        if self.multiclass is None:
            raise two_classes_only(self.name)
        return self.multiclass

    def prepare(self, pairs: Pairs) -> Pairs:
        """Return pairs whose precision is in their differences or weights, unless the risk takes it as an argument."""
        if self.precision == "differences":
            return pairs.with_precision_in_differences()
        return pairs if self.precision == "errors" else pairs.with_precision_in_weights()

    def names_of(self, terms: Tensor, *, many: bool = False) -> tuple[str, ...]:
        """Return the names of partial risks; those of K classes are numbered."""
        if not many or len(terms) == 2:
            return self.term_names
        return tuple(f"{item} items, class {k}" for item in ("first", "second") for k in range(len(terms) // 2))

    def risk(self, g: Tensor, g_prime: Tensor, *targets: Tensor, **options: Any) -> Tensor:
        """Return the objective of training, shape (): the sum of the corrected partial risks.

        Parameters are those of :meth:`partial_risks`.
        """
        return self.correction(self.partial_risks(g, g_prime, *targets, **options)).sum()


def _has_several_classes(g: Tensor) -> bool:
    """Return whether scores are those of K classes; a single column is not."""
    return g.ndim == 2 and g.shape[1] > 1


def _projected(project: Projection, g: Tensor, g_prime: Tensor, c: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Return the posteriors to learn from: the current predictions, projected on the differences."""
    if _has_several_classes(g):
        return multiclass_targets(g, g_prime, c, **options)
    return projected_targets(g, g_prime, c, project=project, **options)


REFERENCES = {
    "Wang et al. 2023": "Binary Classification with Confidence Difference. NeurIPS 36.",
    "Feng et al. 2021": "Pointwise Binary Classification with Pairwise Confidence Comparisons. ICML 38.",
    "Cao et al. 2021": "Learning from Similarity-Confidence Data. ICML 38.",
    "Tate et al. 2025": "Learning from Similarity-Confidence and Confidence-Difference. arXiv 2508.05108.",
    "Shimada et al. 2021": "Classification from Pairwise Similarities/Dissimilarities and Unlabeled Data via Empirical "
    "Risk Minimization. Neural Computation 33.",
    "Chen et al. 2024": "A General Framework for Learning from Weak Supervision. ICML 41.",
    "Bradley and Terry 1952": "Rank Analysis of Incomplete Block Designs. Biometrika 39.",
    "Massey 1997": "Statistical Models Applied to the Rating of Sports Teams. Bluefield College.",
    "Rendle et al. 2009": "BPR: Bayesian Personalized Ranking from Implicit Feedback. UAI 25.",
    "confdiff": "this library: docs/beyond-the-paper.md has the reasons and the proofs.",
}
"""Short name of a paper, as the rows of the table have it -> the paper."""


def _confdiff(name: str, label: str, correction: Correction, equation: int) -> Method:
    return Method(
        name=name,
        label=label,
        family="confdiff",
        learns_from="differences",
        terms=confdiff_terms,
        term_names=("A", "B", "C", "D"),
        correction=correction,
        prior="needed",
        reference=f"Wang et al. 2023 ({equation})",
        multiclass=multiclass_terms,
        precision="differences",
    )


def _projection(
    name: str, label: str, project: Projection, kind: str, multiclass: Callable[..., Tensor] | None = None
) -> Method:
    return Method(
        name=name,
        label=label,
        family="confdiff",
        learns_from="differences",
        terms=supervised_terms,
        term_names=("first items", "second items"),
        correction=identity,
        prior="optional",
        reference=f"confdiff ({kind})",
        project=project,
        multiclass=multiclass,
    )


def _pcomp(name: str, label: str, correction: Correction) -> Method:
    kind = "unbiased" if correction is identity else "risk correction"
    return Method(
        name=name,
        label=label,
        family="pcomp",
        learns_from="order",
        terms=pcomp_terms,
        term_names=("positives", "negatives"),
        correction=correction,
        prior="needed",
        reference=f"Feng et al. 2021 ({kind})",
    )


def _sconf(name: str, label: str, correction: Correction) -> Method:
    kind = "unbiased" if correction is identity else "risk correction"
    return Method(
        name=name,
        label=label,
        family="similarity",
        learns_from="same",
        terms=sconf_terms,
        term_names=("positives", "negatives"),
        correction=correction,
        prior="needed",
        reference=f"Cao et al. 2021 ({kind})",
    )


def _sconf_confdiff(name: str, label: str, correction: Correction) -> Method:
    return Method(
        name=name,
        label=label,
        family="similarity",
        learns_from="differences and same",
        terms=sconf_confdiff_terms,
        term_names=("A", "B", "C", "D"),
        correction=correction,
        prior="needed",
        reference="Tate et al. 2025 (combined)",
        pools_pairs=True,
    )


def _sd(name: str, label: str, correction: Correction) -> Method:
    kind = "unbiased" if correction is identity else "risk correction"
    return Method(
        name=name,
        label=label,
        family="similarity",
        learns_from="same",
        terms=sd_terms,
        term_names=("positives", "negatives"),
        correction=correction,
        prior="needed",
        reference=f"Shimada et al. 2021 ({kind})",
        pools_pairs=True,
    )


def _sd_pcomp(name: str, label: str, correction: Correction) -> Method:
    return Method(
        name=name,
        label=label,
        family="similarity",
        learns_from="order and same",
        terms=sd_pcomp_terms,
        term_names=("positives", "negatives"),
        correction=correction,
        prior="needed",
        reference="confdiff (SD and Pcomp combined)",
        pools_pairs=True,
    )


def _ranking(name: str, label: str, terms: Callable[..., Tensor], reference: str) -> Method:
    return Method(
        name=name,
        label=label,
        family="ranking",
        learns_from="differences",
        terms=terms,
        term_names=("pairs",),
        correction=identity,
        prior="unused",
        reference=reference,
        classifies=False,
    )


def _linked(name: LinkName, label: str, terms: Callable[..., Tensor], reference: str) -> Method:
    return Method(
        name=name,
        label=label,
        family="link",
        learns_from="differences",
        terms=terms,
        term_names=("pairs",),
        correction=identity,
        prior="unused",
        reference=reference,
        classifies=False,
        link=name,
        precision="weights",
    )


def _oracle(name: str, label: str, learns_from: Supervision, equation: int) -> Method:
    return Method(
        name=name,
        label=label,
        family="oracle",
        learns_from=learns_from,
        terms=supervised_terms,
        term_names=("first items", "second items"),
        correction=identity,
        prior="unused",
        reference=f"Wang et al. 2023 ({equation})",
        multiclass=multiclass_supervised_terms,
    )


_REGRESSION = Method(
    name="confdiff-regression",
    label="ConfDiff-Regression",
    family="confdiff",
    learns_from="differences",
    terms=regression_terms,
    term_names=("difference", "mean"),
    correction=identity,
    prior="optional",
    reference="confdiff (difference regression)",
    multiclass=multiclass_regression_terms,
    precision="errors",
)
_COMBINED = Method(
    name="confdiff-combined",
    label="ConfDiff-Combined",
    family="confdiff",
    learns_from="differences",
    terms=combined_terms,
    term_names=("difference", "mean", "first items", "second items"),
    correction=identity,
    prior="optional",
    reference="confdiff (regression and projection)",
)
_SIMILARITY = Method(
    name="confdiff-similarity",
    label="ConfDiff-Similarity",
    family="confdiff",
    learns_from="differences and same",
    terms=similarity_regression_terms,
    term_names=("difference", "mean", "similarity"),
    correction=identity,
    prior="optional",
    reference="confdiff (regression of both)",
)
_GLWS = Method(
    name="glws",
    label="GLWS",
    family="baseline",
    learns_from="differences",
    terms=glws_terms,
    term_names=("first items", "second items"),
    correction=identity,
    prior="unused",
    reference="Chen et al. 2024 (difference loss)",
)
_CRCR_LIKE = Method(
    name="crcr-like",
    label="CRCR-like",
    family="baseline",
    learns_from="differences",
    terms=crcr_like_terms,
    term_names=("A", "B", "C", "D", "consistency"),
    correction=absolute,
    prior="needed",
    reference="confdiff (ablation: consistency of similar pairs)",
)
_PCOMP_TEACHER = Method(
    name="pcomp-teacher",
    label="Pcomp-Teacher",
    family="pcomp",
    learns_from="order",
    terms=pcomp_teacher_terms,
    term_names=("first items", "second items", "consistency"),
    correction=identity,
    prior="needed",
    reference="Feng et al. 2021 (teacher)",
    companion=PcompTeacher,
)

_TABLE = (
    _confdiff("confdiff-unbiased", "ConfDiff-Unbiased", identity, 8),
    _confdiff("confdiff-relu", "ConfDiff-ReLU", relu, 12),
    _confdiff("confdiff-abs", "ConfDiff-ABS", absolute, 12),
    _REGRESSION,
    _COMBINED,
    _projection(
        "confdiff-projection",
        "ConfDiff-Projection",
        euclidean_projection,
        "Euclidean projection",
        multiclass_supervised_terms,
    ),
    _projection("confdiff-information", "ConfDiff-Information", information_projection, "relative entropy"),
    _SIMILARITY,
    _sconf("sconf-unbiased", "Sconf-Unbiased", identity),
    _sconf("sconf-relu", "Sconf-ReLU", relu),
    _sconf("sconf-abs", "Sconf-ABS", absolute),
    _sconf_confdiff("sconf-confdiff-unbiased", "SconfConfDiff-Unbiased", identity),
    _sconf_confdiff("sconf-confdiff-relu", "SconfConfDiff-ReLU", relu),
    _sconf_confdiff("sconf-confdiff-abs", "SconfConfDiff-ABS", absolute),
    _sd("sd-unbiased", "SD-Unbiased", identity),
    _sd("sd-relu", "SD-ReLU", relu),
    _sd("sd-abs", "SD-ABS", absolute),
    _sd_pcomp("sd-pcomp-unbiased", "SDPcomp-Unbiased", identity),
    _sd_pcomp("sd-pcomp-relu", "SDPcomp-ReLU", relu),
    _sd_pcomp("sd-pcomp-abs", "SDPcomp-ABS", absolute),
    _GLWS,
    _CRCR_LIKE,
    _pcomp("pcomp-unbiased", "Pcomp-Unbiased", identity),
    _pcomp("pcomp-relu", "Pcomp-ReLU", relu),
    _pcomp("pcomp-abs", "Pcomp-ABS", absolute),
    _PCOMP_TEACHER,
    _linked("preference", "Preference", preference_terms, "Bradley and Terry 1952 (soft outcomes)"),
    _linked("score", "Score", score_terms, "Massey 1997 (least squares)"),
    _ranking("bpr", "BPR", bpr_terms, "Rendle et al. 2009 (BPR-Opt)"),
    _ranking("mrl", "MRL", mrl_terms, "Wang et al. 2023 (Table 3, margin ranking loss)"),
    _oracle("oracle-hard", "Oracle-Hard", "labels", 1),
    _oracle("oracle-soft", "Oracle-Soft", "posteriors", 4),
)

METHODS: dict[str, Method] = {method.name: method for method in _TABLE}
"""Name -> method. Plug-ins add theirs by :func:`confdiff.register_method`."""
BUILT_IN_METHODS = tuple(METHODS)
"""The names of the methods of this package, without those of plug-ins."""


def find_method(name: str) -> Method:
    """Return the method of a name; for an unknown name, the error suggests the nearest one."""
    return _EXPECTED[name] if name in _EXPECTED and name not in METHODS else look_up("method", METHODS, name)


_EXPECTED: dict[str, Method] = {}
"""Methods of plug-ins that are not loaded, which models have by name."""


def expect_method(name: str, link: LinkName, reason: str) -> None:
    """Let :func:`find_method` find a method of a plug-in that is not loaded; training with it is an error.

    Parameters
    ----------
    name : str
        The name.
    link : str
        Its link, which predictions depend on.
    reason : str
        The message of the error of training.
    """

    def refuse(*arguments: Any, **options: Any) -> Tensor:
        raise ValueError(reason)

    _EXPECTED[name] = Method(
        name=name,
        label=name,
        family="plugin",
        learns_from="differences",
        terms=refuse,
        term_names=(),
        correction=identity,
        prior="optional",
        reference="a plug-in",
        link=link,
    )
