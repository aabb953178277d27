"""Figure 3 of the paper: an inaccurate prior and noisy differences, for the three ConfDiff methods and ours."""

from confdiff.experiments.plans.figure_section import figure_experiment
from confdiff.experiments.plans.figures import OUR_METHODS, Claim, FigurePlan, Place
from confdiff.experiments.report.style import label_of

CONFDIFF_METHODS = ("confdiff-unbiased", "confdiff-relu", "confdiff-abs")
EPSILONS = (0.8, 0.9, 1.0, 1.1, 1.2)
SIGMAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
_PRIOR_PANEL = "prior times epsilon"
_NOISE_PANEL = "c times N(1, sigma^2)"
_METHODS = (*CONFDIFF_METHODS, *OUR_METHODS)


def _prior_place(method: str, factor: float) -> Place:
    options = () if factor == 1 else (("prior_factor", factor),)
    return Place(_PRIOR_PANEL, method, method, factor, options)


def _noise_place(method: str, sigma: float) -> Place:
    options = () if sigma == 0 else (("noise", "multiplicative"), ("noise_amount", sigma))
    return Place(_NOISE_PANEL, method, method, sigma, options)


def _claim(method: str, factor: float) -> Claim:
    return Claim(
        text=f"{label_of(method)} degenerates at epsilon {factor:g} (on some data sets)",
        panel=_PRIOR_PANEL,
        first=(method, factor),
        second=(method, 1.0),
        expected=("below",),
    )


FIGURE3_PLAN = FigurePlan(
    name="figure3",
    title="Figure 3: an inaccurate prior, noisy differences",
    datasets=("mnist", "pendigits"),
    places=(
        *(_prior_place(method, factor) for method in _METHODS for factor in EPSILONS),
        *(_noise_place(method, sigma) for method in _METHODS for sigma in SIGMAS),
    ),
    claims=tuple(_claim(method, end) for method in CONFDIFF_METHODS for end in (EPSILONS[0], EPSILONS[-1])),
)
FIGURE3 = figure_experiment(FIGURE3_PLAN)
