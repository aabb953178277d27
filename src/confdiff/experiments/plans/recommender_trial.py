"""The recommender experiment of the paper: a specification in, a record out."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter, process_time
from typing import ClassVar

import torch

from confdiff import __version__
from confdiff.datasets import DATASETS, find_interactions, load_interactions, names_of_kind
from confdiff.experiments.rankings import ITEM_MEANS
from confdiff.experiments.trials.run import Record
from confdiff.methods import METHODS
from confdiff.recommender.confidence import Graded, grade_interactions
from confdiff.recommender.learning import Learning, build_recommender, scores_of, train_recommender, training_pairs
from confdiff.recommender.protocol import RankingSplit, evaluate, item_means, leave_one_out
from confdiff.validation import check_choice


@dataclass(frozen=True, kw_only=True)
class RecommenderSpec(Learning):
    """Everything that decides a trial. source: the file of the data set, as there may be a part of it or all."""

    methods: ClassVar[tuple[str, ...]] = (*METHODS, ITEM_MEANS)

    dataset: str
    source: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("data set of interactions", self.dataset, names_of_kind("interactions"))
        check_choice(f"file of {self.dataset}", self.source, DATASETS[self.dataset].files)

    @property
    def key(self) -> str:
        """A name for the trial."""
        told = {name: value for name, value in asdict(self).items() if value is not None}
        says = {"version": 1, "kind": "recommender", **told}
        return hashlib.sha256(json.dumps(says, sort_keys=True).encode()).hexdigest()[:20]


def run_recommender_trial(spec: RecommenderSpec, *, folder: Path | None = None) -> Record:
    """Hold out, pair, train, rank. The same specification gives the same numbers."""
    if (found := find_interactions(spec.dataset, folder)).name != spec.source:
        raise ValueError(f"the trial is to learn from {spec.source}; {found} would be read in its place.")
    graded, split = _task(spec.dataset, spec.seed, spec.n_negatives, folder)
    pairs, kept_back = training_pairs(graded, split.train, spec)
    start, wall = process_time(), perf_counter()
    if spec.method == ITEM_MEANS:
        score = item_means(graded, split.train)
    else:
        model = build_recommender(spec.model, graded, spec.seed)
        train_recommender(model, pairs, spec, validation=kept_back)
        score = partial(scores_of, model)
    seconds, wall = process_time() - start, perf_counter() - wall
    measured = evaluate(score, split)
    return {
        "key": spec.key,
        "dataset": spec.dataset,
        "source": spec.source,
        "protocol": "paper",
        "method": spec.method,
        "prior": spec.prior,
        "seed": spec.seed,
        "epochs": spec.epochs,
        "model": spec.model,
        "partners": spec.partners,
        "patience": spec.patience,
        **{name: round(value, 6) for name, value in measured.items()},
        "evaluated": len(split.users),
        "candidates": int(split.candidates.shape[1]),
        "pairs": len(pairs),
        "seconds": round(wall, 2),
        "processor_seconds": round(seconds, 2),
        "versions": {"confdiff": __version__, "torch": torch.__version__},
    }


@lru_cache(maxsize=1)
def _task(dataset: str, seed: int, n_negatives: int, folder: Path | None) -> tuple[Graded, RankingSplit]:
    setting = DATASETS[dataset].ranking
    assert setting is not None  # interactions have one
    interactions = load_interactions(dataset, folder=folder, n_users=setting.n_users)
    graded = grade_interactions(interactions, setting.confidence, setting.threshold)
    return graded, leave_one_out(graded, n_negatives=n_negatives, negatives=setting.negatives, seed=seed)
