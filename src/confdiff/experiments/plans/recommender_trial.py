"""A trial of Table 3: a specification in, a record out."""

from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter, process_time
from typing import ClassVar

import torch

from confdiff import __version__
from confdiff.datasets import DATASETS, find_interactions, load_interactions, names_of_kind
from confdiff.experiments.trials.record import RankingRecord
from confdiff.experiments.trials.spec import hash_fields
from confdiff.methods import BUILT_IN_METHODS
from confdiff.recommender.confidence import Graded, grade_interactions
from confdiff.recommender.learning import Learning, build_recommender, scores_of, train_recommender, training_pairs
from confdiff.recommender.protocol import RankingSplit, evaluate, item_means, leave_one_out
from confdiff.validation import check_choice

ITEM_MEANS = "item-means"
"""Used instead of a method: the mean of each item, for every user."""


@dataclass(frozen=True, kw_only=True)
class RecommenderSpec(Learning):
    """Everything that determines a trial.

    Parameters
    ----------
    dataset : str
        A data set of interactions.
    source : str
        The file of the data set, which may be complete or a subset.
    """

    methods: ClassVar[tuple[str, ...]] = (*BUILT_IN_METHODS, ITEM_MEANS)

    dataset: str
    source: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("data set of interactions", self.dataset, names_of_kind("interactions"))
        check_choice(f"file of {self.dataset}", self.source, DATASETS[self.dataset].files)

    @property
    def key(self) -> str:
        """A name for the trial. Options that are None do not enter it."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        return hash_fields({"version": 1, "kind": "recommender", **values})


def run_recommender_trial(spec: RecommenderSpec, *, folder: Path | None = None) -> RankingRecord:
    """Hold out positives, make pairs, train, and rank. The same specification gives the same numbers.

    Parameters
    ----------
    spec : RecommenderSpec
        The trial.
    folder : Path, optional
        Folder to search first for the data set.

    Raises
    ------
    ValueError
        If the file of the data set is not the one in the specification.
    """
    path = find_interactions(spec.dataset, folder)
    if path.name != spec.source:
        raise ValueError(f"the trial needs the file {spec.source}, but {path} would be read instead.")
    graded, split = _task(spec.dataset, spec.seed, spec.n_negatives, folder)
    pairs, validation_pairs = training_pairs(graded, split.train, spec)
    start = process_time()
    wall_start = perf_counter()
    if spec.method == ITEM_MEANS:
        score = item_means(graded, split.train)
    else:
        model = build_recommender(spec.model, graded, spec.seed)
        train_recommender(model, pairs, spec, validation=validation_pairs)
        score = partial(scores_of, model)
    processor_seconds = process_time() - start
    seconds = perf_counter() - wall_start
    metrics = evaluate(score, split)
    return RankingRecord(
        key=spec.key,
        dataset=spec.dataset,
        source=spec.source,
        protocol="paper",
        method=spec.method,
        prior=spec.prior,
        seed=spec.seed,
        epochs=spec.epochs,
        model=spec.model,
        partners=spec.partners,
        patience=spec.patience,
        metrics={name: round(value, 6) for name, value in metrics.items()},
        evaluated=len(split.users),
        candidates=int(split.candidates.shape[1]),
        pairs=len(pairs),
        seconds=round(seconds, 2),
        processor_seconds=round(processor_seconds, 2),
        versions={"confdiff": __version__, "torch": torch.__version__},
    )


@lru_cache(maxsize=1)
def _task(dataset: str, seed: int, n_negatives: int, folder: Path | None) -> tuple[Graded, RankingSplit]:
    """Grade the interactions and hold out; methods with one seed follow each other and share the result."""
    setting = DATASETS[dataset].ranking
    assert setting is not None  # interactions have one
    interactions = load_interactions(dataset, folder=folder, n_users=setting.n_users)
    graded = grade_interactions(interactions, setting.confidence, setting.threshold)
    return graded, leave_one_out(graded, n_negatives=n_negatives, negatives=setting.negatives, seed=seed)
