"""Choose which pairs to ask, in which order, and of which annotator."""

from confdiff.labelling.design.planning import design_pairs as design_pairs
from confdiff.labelling.design.questions import PairDesign as PairDesign
from confdiff.labelling.design.questions import PlannedQuestion as PlannedQuestion
