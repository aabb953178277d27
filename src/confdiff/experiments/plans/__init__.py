"""The table of experiments. Each is one module of this package and one row here, in the order of the report.

The module of an experiment defines a constant of its name in capitals, such as ``STUDY`` in ``study.py``: an
:class:`~confdiff.experiments.plans.experiment.Experiment`. Modules are imported when they are needed: the command
line lists experiments without loading PyTorch.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confdiff.experiments.plans.experiment import Experiment


@dataclass(frozen=True)
class ExperimentRow:
    """A row of the table.

    Attributes
    ----------
    description : str
        Short description, for the help of ``confdiff reproduce``.
    has_trials : bool
        Whether it has trials of its own. Other experiments only show these trials in another arrangement.
    """

    description: str
    has_trials: bool = True


EXPERIMENTS: dict[str, ExperimentRow] = {
    "overview": ExperimentRow("verdicts on Tables 1 and 2 at a glance", has_trials=False),
    "table1": ExperimentRow("images"),
    "table2": ExperimentRow("UCI data sets"),
    "other_data": ExperimentRow("data sets and subsets that the paper does not have", has_trials=False),
    "table3": ExperimentRow("recommenders"),
    "figure1": ExperimentRow("discarding or reversing (-, +) pairs"),
    "figure2": ExperimentRow("fewer pairs"),
    "figure3": ExperimentRow("an inaccurate prior, noisy differences"),
    "without_prior": ExperimentRow("methods without the class prior, next to the oracle", has_trials=False),
    "study": ExperimentRow("our methods and ConfDiff-ABS under noise"),
    "real_tables": ExperimentRow("learners and their automatic choice on real tables under noise"),
    "plugin_trials": ExperimentRow("plug-ins of the trials, loaded and not loaded", has_trials=False),
}
"""Name -> row."""

REPRODUCIBLE = tuple(name for name, row in EXPERIMENTS.items() if row.has_trials)
"""The experiments that ``confdiff reproduce`` runs."""


def find_experiment(name: str) -> "Experiment":
    """Return an experiment.

    Parameters
    ----------
    name : str
        A name in :data:`EXPERIMENTS`.

    Examples
    --------
    >>> find_experiment("table3").options[:2]
    ('datasets', 'methods')
    """
    from confdiff.validation import check_choice

    check_choice("experiment", name, EXPERIMENTS)
    module = import_module(f"confdiff.experiments.plans.{name}")
    experiment: Experiment = getattr(module, name.upper())
    return experiment
