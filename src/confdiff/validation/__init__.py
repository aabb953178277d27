"""Validate user input, with clear error messages.

A message states what was expected, what was passed and where, and what to do about it. Messages name Python
arguments. Every check raises ``ValueError``, as scikit-learn and NumPy do, so that callers need one ``except``.
"""

from confdiff.validation.arrays import (
    as_array,
    as_float32,
    as_tensor,
    check_finite,
    check_items,
    check_matrix,
    check_range,
    check_size,
    check_sparse_items,
    check_vector,
    column_names,
    is_sparse,
)
from confdiff.validation.judgements import (
    check_class_priors,
    check_difference,
    check_difference_vectors,
    check_groups,
    check_item_mask,
    check_labels,
    check_posteriors,
    check_rows,
    check_weight,
)
from confdiff.validation.messages import (
    companion_missing,
    no_pairs,
    no_probabilities,
    no_weight,
    not_for_streams,
    one_prior_only,
    prior_missing,
    two_classes_only,
)
from confdiff.validation.scores import check_same_matrix, check_same_shape, check_scores, non_finite_risk
from confdiff.validation.values import check_choice, check_count, check_fraction, check_number, check_prior
from confdiff.validation.warn import similar_warnings_once, warn_user

__all__ = [
    "as_array",
    "as_float32",
    "as_tensor",
    "check_choice",
    "check_class_priors",
    "check_count",
    "check_difference",
    "check_difference_vectors",
    "check_finite",
    "check_fraction",
    "check_groups",
    "check_item_mask",
    "check_items",
    "check_labels",
    "check_matrix",
    "check_number",
    "check_posteriors",
    "check_prior",
    "check_range",
    "check_rows",
    "check_same_matrix",
    "check_same_shape",
    "check_scores",
    "check_size",
    "check_sparse_items",
    "check_vector",
    "check_weight",
    "column_names",
    "companion_missing",
    "is_sparse",
    "no_pairs",
    "no_probabilities",
    "no_weight",
    "non_finite_risk",
    "not_for_streams",
    "one_prior_only",
    "prior_missing",
    "similar_warnings_once",
    "two_classes_only",
    "warn_user",
]
