"""Figure 2 of the paper: ReLU, ABS and our method with a fraction of the pairs, Pcomp-Teacher with all."""

from confdiff.experiments.plans.figure_section import figure_experiment
from confdiff.experiments.plans.figures import OUR_METHODS, Claim, FigurePlan, Place
from confdiff.experiments.plans.paper_tables import PAPER_TABLES
from confdiff.experiments.report.style import label_of

FRACTIONS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
_PANEL = "fraction of the pairs"
_TEACHER = Place(_PANEL, "pcomp-teacher", "pcomp-teacher", 1.0)


def _place(method: str, fraction: float) -> Place:
    options = () if fraction == 1 else (("fraction", fraction),)
    return Place(_PANEL, method, method, fraction, options)


def _claim(method: str) -> Claim:
    return Claim(
        text=f"{label_of(method)} with 10 % of the pairs at or above Pcomp-Teacher with all",
        panel=_PANEL,
        first=(method, FRACTIONS[0]),
        second=(_TEACHER.curve, _TEACHER.x),
        expected=("above", "similar"),
    )


_METHODS = ("confdiff-relu", "confdiff-abs", *OUR_METHODS)

FIGURE2_PLAN = FigurePlan(
    name="figure2",
    title="Figure 2: fewer pairs",
    datasets=PAPER_TABLES["table2"],
    places=(*(_place(method, fraction) for method in _METHODS for fraction in FRACTIONS), _TEACHER),
    claims=(_claim("confdiff-abs"), _claim("confdiff-relu")),
    optional_datasets=PAPER_TABLES["table1"],
)
FIGURE2 = figure_experiment(FIGURE2_PLAN)
