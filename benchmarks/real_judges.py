"""Compare models of annotators on real judgements: held-out answers, one score per item.

======================  ===========================  =====================================================
data                    held out                     standard errors over
======================  ===========================  =====================================================
voice-likability-lab    a tenth of the answers       13 listeners
voice-likability-crowd  a tenth of the answers       77 workers
wmt23-sxs-mqm           a tenth of the blocks        1,443 blocks (a rater and a segment: 45 pairs that are
                                                     differences of ten penalties)
======================  ===========================  =====================================================

Items have a score each, by ridge regression; out-of-fold differences choose its penalty. The parameters of annotators
are estimated from out-of-fold differences of the training answers, then scores are fitted to adjusted answers with
precision weights; three rounds. ``auto`` is chosen from training answers. Printed are the fraction of the squared
answers explained and the pairwise accuracy of the predicted answers, with bootstrap standard errors (1,000 resamples),
and the gain over ``pooled`` with its 95 % interval. Needs CONFDIFF_DATA.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.linalg import spsolve

from confdiff.annotators import AnswerSums, choose_model, estimate_annotators
from confdiff.datasets import ComparisonDataset, load

DATA = ("voice-likability-lab", "voice-likability-crowd", "wmt23-sxs-mqm")
MODELS = ("pooled", "scale", "full", "auto")
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
N_FOLDS = 10
N_INNER = 5
N_ROUNDS = 3
N_RESAMPLES = 1_000
Numbers = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers with the matrix of differences of items, and the blocks that are held out as a whole."""

    design: csr_array
    c: Numbers
    annotator: Rows
    side: Rows | None
    block: Rows

    def of(self, rows: Rows) -> "Answers":
        """Return some answers."""
        side = None if self.side is None else self.side[rows]
        return Answers(self.design[rows], self.c[rows], self.annotator[rows], side, self.block[rows])


def answers_of(data: ComparisonDataset) -> Answers:
    """Return the answers of a data set; each is a block of its own unless the data set has blocks."""
    assert data.annotator is not None
    n = len(data)
    signs = np.tile([-1.0, 1.0], n)
    ends = np.stack([data.left, data.right], axis=1).ravel()
    design = csr_array((signs, ends, np.arange(0, 2 * n + 1, 2)), shape=(n, len(data.ids)))
    block = np.arange(n) if data.block is None else data.block
    return Answers(design, data.difference, data.annotator, data.side, block)


def folds_of(block: Rows, n_folds: int, rng: np.random.Generator) -> Rows:
    """Return the fold of each answer; whole blocks are in one fold."""
    names, codes = np.unique(block, return_inverse=True)
    fold: Rows = rng.permutation(np.arange(len(names)) % n_folds)[codes]
    return fold


def scores(design: csr_array, target: Numbers, weight: Numbers, penalty: float) -> Numbers:
    """Return the score of each item by ridge regression on the differences."""
    weighted = diags_array(weight) @ design
    normal = design.T @ weighted + penalty * eye_array(design.shape[1])
    solution: Numbers = spsolve(normal.tocsc(), weighted.T @ target)
    return solution


def out_of_fold(answers: Answers, target: Numbers, weight: Numbers, penalty: float, fold: Rows) -> Numbers:
    """Return differences by scores of the other folds."""
    d = np.empty(len(target))
    for k in range(N_INNER):
        train = fold != k
        d[~train] = answers.design[~train] @ scores(answers.design[train], target[train], weight[train], penalty)
    return d


def chosen_penalty(answers: Answers, fold: Rows) -> float:
    """Return the penalty with the smallest out-of-fold error of the answers."""
    one = np.ones(len(answers.c))
    errors = [np.mean((answers.c - out_of_fold(answers, answers.c, one, x, fold)) ** 2) for x in PENALTIES]
    return PENALTIES[int(np.argmin(errors))]


def predicted(train: Answers, test: Answers, seed: int) -> tuple[dict[str, Numbers], str]:
    """Return the predicted test answers by each model, and the model that ``auto`` chose."""
    fold = folds_of(train.block, N_INNER, np.random.default_rng(seed))
    penalty = chosen_penalty(train, fold)
    one = np.ones(len(train.c))
    pooled = out_of_fold(train, train.c, one, penalty, fold)
    auto = choose_model(pooled, train.c, train.annotator, side=train.side, seed=seed).model
    predictions = {model: _predicted(train, test, model, pooled, penalty, fold) for model in MODELS if model != "auto"}
    return predictions | {"auto": predictions[auto]}, auto


def _predicted(train: Answers, test: Answers, model: str, pooled: Numbers, penalty: float, fold: Rows) -> Numbers:
    target = train.c
    weight = np.ones(len(target))
    if model == "pooled":
        return np.asarray(test.design @ scores(train.design, target, weight, penalty))
    d = pooled
    for _ in range(N_ROUNDS):
        sums = AnswerSums.of(d, train.c, train.annotator, side=train.side)
        estimates = estimate_annotators(sums, model)
        target, weight = estimates.adjusted(train.c, train.annotator, train.side)
        d = out_of_fold(train, target, weight, penalty, fold)
    d = np.asarray(test.design @ scores(train.design, target, weight, penalty))
    return np.asarray(estimates.predict(d, test.annotator, test.side))


def held_out(answers: Answers, n_splits: int) -> tuple[dict[str, Numbers], list[str]]:
    """Return the predictions of all answers, (splits, n), by each model, and the choices of ``auto``."""
    predictions = {model: np.empty((n_splits, len(answers.c))) for model in MODELS}
    choices = []
    for split in range(n_splits):
        fold = folds_of(answers.block, N_FOLDS, np.random.default_rng(split))
        for k in range(N_FOLDS):
            test = np.flatnonzero(fold == k)
            by_model, auto = predicted(answers.of(np.flatnonzero(fold != k)), answers.of(test), split)
            choices.append(auto)
            for model, values in by_model.items():
                predictions[model][split, test] = values
    return predictions, choices


def measures(c: Numbers, predictions: Numbers, unit: Rows, counts: Numbers) -> Numbers:
    """Return the explained fraction and the pairwise accuracy for each resample of units, (resamples, 2)."""
    is_right = np.where(predictions == 0, 0.5, np.sign(predictions) == np.sign(c)).mean(axis=0)
    columns = (((c - predictions) ** 2).mean(axis=0), c**2, is_right * (c != 0), c != 0)
    sums = np.stack([np.bincount(unit, weights=column) for column in columns], axis=1)
    error, square, right, decided = (counts @ sums).T
    return np.stack([1 - error / square, right / decided], axis=1)


def main() -> None:
    """Print one line per data set and model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--splits", type=int, default=6, help="splits into ten folds, with seeds 0, 1, ...")
    options = parser.parse_args()
    for name in options.data:
        start = time.process_time()
        data = load(name)
        answers = answers_of(data)
        predictions, choices = held_out(answers, options.splits)
        unit = answers.annotator if data.block is None else answers.block
        n_units = unit.max() + 1
        draws = np.random.default_rng(0).multinomial(n_units, np.full(n_units, 1 / n_units), N_RESAMPLES)
        counts = np.concatenate([np.ones((1, n_units)), draws])  # the first one is the data itself
        by_model = {model: measures(answers.c, values, unit, counts) for model, values in predictions.items()}
        print(
            f"{name}: {len(data):,} answers, {options.splits} splits, {time.process_time() - start:.0f} s", flush=True
        )
        for model, values in by_model.items():
            error = values[1:].std(axis=0, ddof=1)
            gain = values - by_model["pooled"]
            low, high = np.quantile(gain[1:], [0.025, 0.975], axis=0)
            figures = [
                f"{values[0, k]:.3f} +- {error[k]:.3f}, gain {gain[0, k]:+.3f} [{low[k]:+.3f}, {high[k]:+.3f}]"
                for k in range(2)
            ]
            print(f"  {model:7s} explained {figures[0]}; accuracy {figures[1]}")
        print(f"  auto chose {', '.join(f'{model} {choices.count(model)}' for model in dict.fromkeys(choices))}")


if __name__ == "__main__":
    main()
