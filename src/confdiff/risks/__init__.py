"""Risk estimators as pure functions of scores and supervision, one file per family."""

from confdiff.risks.baselines import crcr_like_terms, glws_targets, glws_terms
from confdiff.risks.confdiff import confdiff_risk, confdiff_terms
from confdiff.risks.differences import (
    Projection,
    combined_terms,
    euclidean_projection,
    information_projection,
    projected_targets,
    regression_terms,
)
from confdiff.risks.links import preference_terms, score_terms
from confdiff.risks.multiclass import (
    cross_entropy,
    multiclass_projection,
    multiclass_regression_terms,
    multiclass_supervised_terms,
    multiclass_targets,
    multiclass_targets_of,
    multiclass_terms,
)
from confdiff.risks.pcomp import pcomp_risk, pcomp_teacher_terms, pcomp_terms
from confdiff.risks.ranking import bpr_terms, mrl_terms
from confdiff.risks.similarity import (
    sconf_confdiff_terms,
    sconf_risk,
    sconf_terms,
    sd_pcomp_terms,
    sd_terms,
    similarity_regression_terms,
)
from confdiff.risks.supervised import supervised_risk, supervised_terms

__all__ = [
    "Projection",
    "bpr_terms",
    "combined_terms",
    "confdiff_risk",
    "confdiff_terms",
    "crcr_like_terms",
    "cross_entropy",
    "euclidean_projection",
    "glws_targets",
    "glws_terms",
    "information_projection",
    "mrl_terms",
    "multiclass_projection",
    "multiclass_regression_terms",
    "multiclass_supervised_terms",
    "multiclass_targets",
    "multiclass_targets_of",
    "multiclass_terms",
    "pcomp_risk",
    "pcomp_teacher_terms",
    "pcomp_terms",
    "preference_terms",
    "projected_targets",
    "regression_terms",
    "sconf_confdiff_terms",
    "sconf_risk",
    "sconf_terms",
    "score_terms",
    "sd_pcomp_terms",
    "sd_terms",
    "similarity_regression_terms",
    "supervised_risk",
    "supervised_terms",
]
