"""Risk estimators: pure functions of scores and supervision, one file per family."""

from confdiff.risks.confdiff import confdiff_risk, confdiff_terms
from confdiff.risks.pcomp import pcomp_risk, pcomp_teacher_terms, pcomp_terms
from confdiff.risks.supervised import supervised_risk, supervised_terms

__all__ = [
    "confdiff_risk",
    "confdiff_terms",
    "pcomp_risk",
    "pcomp_teacher_terms",
    "pcomp_terms",
    "supervised_risk",
    "supervised_terms",
]
