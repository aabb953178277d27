"""Figure 1 of the paper, the pilot: Pcomp-Teacher whose (-, +) pairs are discarded or reversed, and ConfDiff-ABS."""

from confdiff.experiments.plans.figure_section import figure_experiment
from confdiff.experiments.plans.figures import Claim, FigurePlan, Place, Spot
from confdiff.experiments.plans.paper_tables import PAPER_TABLES

_PANEL = ""  # its points are side by side
_DISCARDED: Spot = ("Pcomp-Teacher, (-, +) discarded", 1.0)
_REVERSED: Spot = ("Pcomp-Teacher, (-, +) reversed", 2.0)
_ABS: Spot = ("confdiff-abs", 3.0)

FIGURE1_PLAN = FigurePlan(
    name="figure1",
    title="Figure 1: discarding or reversing (-, +) pairs",
    datasets=PAPER_TABLES["table2"],
    places=(
        Place(_PANEL, _DISCARDED[0], "pcomp-teacher", _DISCARDED[1], (("pcomp", "discard"),), hollow=True),
        Place(_PANEL, _REVERSED[0], "pcomp-teacher", _REVERSED[1]),
        Place(_PANEL, _ABS[0], "confdiff-abs", _ABS[1]),
    ),
    claims=(
        Claim("discarding and reversing perform similarly", _PANEL, _REVERSED, _DISCARDED, ("similar",)),
        Claim("(not in its text) ConfDiff-ABS above Pcomp-Teacher, discarding", _PANEL, _ABS, _DISCARDED, ("above",)),
        Claim("(not in its text) ConfDiff-ABS above Pcomp-Teacher, reversing", _PANEL, _ABS, _REVERSED, ("above",)),
    ),
)
FIGURE1 = figure_experiment(FIGURE1_PLAN)
