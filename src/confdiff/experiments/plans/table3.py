"""The trials of the paper's Table 3."""

from collections.abc import Sequence
from pathlib import Path

from confdiff.datasets import find_interactions, names_of_kind
from confdiff.experiments.plans.recommender_trial import RecommenderSpec
from confdiff.experiments.rankings import EPOCHS, ITEM_MEANS
from confdiff.recommender.learning import PATIENCE
from confdiff.validation import check_choice, check_count

METHODS_OF_TABLE_3 = ("bpr", "mrl", "oracle-hard", "oracle-soft", "pcomp-teacher", "confdiff-abs")
OURS = ("confdiff-regression", ITEM_MEANS)


def table3_grid(
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    trials: int = 5,
    epochs: int = EPOCHS,
    prior: str = "global",
    early_stopping: bool = False,
    folder: Path | None = None,
) -> list[RecommenderSpec]:
    """The paper's six methods, ours and the means of items, a round of all of them before the next seed.

    folder: where the files are looked for first, as which of them are there decides the trials.
    """
    interactions = names_of_kind("interactions")
    names = [check_choice("data set of table3", name, interactions) for name in datasets or interactions]
    patience = PATIENCE if early_stopping else None
    sources = {name: find_interactions(name, folder).name for name in names}
    return [
        RecommenderSpec(method, seed, epochs, prior=prior, patience=patience, dataset=name, source=source)
        for seed in range(check_count("trials", trials))
        for name, source in sources.items()
        for method in methods or (*METHODS_OF_TABLE_3, *OURS)
    ]
