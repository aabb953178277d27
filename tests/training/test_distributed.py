"""Several workers with a part of each batch compute what one process computes with the whole batch."""

from dataclasses import replace
from functools import cache

import pytest
import torch

from confdiff.engines import start_gang
from confdiff.methods import METHODS
from shared_batches import Case, naive_gradients, train_case, train_cases

EXACT = ("confdiff-unbiased", "confdiff-relu", "confdiff-abs", "confdiff-regression", "confdiff-projection")
EXACT += ("pcomp-unbiased", "pcomp-relu", "pcomp-abs")
SINGLE = [
    Case(method, network, weighted) for method in EXACT for network, weighted in (("mlp", True), ("plain", False))
]
OTHERS = [
    *(Case(method) for method in METHODS),
    *(
        Case(name, data="classes")
        for name, row in METHODS.items()
        if row.multiclass and row.learns_from == "differences"
    ),
    Case("confdiff-abs", "batch-norm-modules"),
    Case("confdiff-relu", "convolution"),
    Case("confdiff-abs", forward_passes=2),
    Case("confdiff-abs", data="group priors"),
    Case("confdiff-abs", data="precision"),
    Case("confdiff-regression", data="precision"),
    Case("preference", data="precision"),
    Case("confdiff-abs", data="sparse"),
    Case("confdiff-abs", data="stream"),
    Case("confdiff-regression", batch_size=2, n_pairs=21),  # of 3 workers, one has no pairs
    Case("confdiff-abs", "batch-norm-modules", batch_size=2, n_pairs=21),
    Case("confdiff-projection", "plain", batch_size=1, n_pairs=7),
]
DOUBLE = [replace(case, double=True, steps=8) for case in OTHERS]  # without the rounding that training amplifies
CASES = [*SINGLE, *DOUBLE]


@cache
def outcomes(workers):
    """Train all cases in one gang: its processes start once."""
    return start_gang(train_cases, (CASES,), workers)


def largest_difference(state, other):
    return max(float((state[name].double() - other[name].double()).abs().max()) for name in state)


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_workers_compute_what_one_process_computes(case, workers):
    alone = train_case(case)
    together = outcomes(workers)[CASES.index(case)]
    assert torch.allclose(together.terms, alone.terms, rtol=0, atol=1e-6 * max(1, float(alone.terms.abs().max())))
    scale = max(1, float(alone.gradients.abs().max()))
    assert torch.allclose(together.gradients, alone.gradients, rtol=0, atol=1e-5 * scale)
    assert largest_difference(alone.state, together.state) < (1e-8 if case.double else 1e-4)


def test_correcting_before_the_sum_is_wrong():
    methods = ("confdiff-relu", "confdiff-abs", "confdiff-regression", "confdiff-projection")
    cases = [Case(method, "plain", batch_size=10) for method in methods]
    for case, naive in zip(cases, start_gang(naive_gradients, (cases,), 2), strict=True):
        gradients = train_case(replace(case, steps=1)).gradients
        error = (naive - gradients).abs().max()
        assert error > 1e-3  # a hundred times the bound above
        assert error / gradients.abs().max() > 0.01
