"""What the answers of an LLM judge are worth: scores of models from few instructions (AlpacaEval).

A judge compared the answers of 57 models to 805 instructions with those of one reference model. So only differences
from the reference are determined. The measure of a model is its mean preference (1 + c) / 2 over the half of the
instructions that is held out. Scores are learned from 10, 50 or 400 instructions of the other half, in two designs:

same  all models answer the same instructions
own   each model answers instructions of its own, drawn at random

means               the mean preference of each model
Bradley-Terry       choix: decided comparisons (c != 0) only; one strength per model, and one of the reference
rank_items          one score per model, and one of the reference
... offset          the reference is declared as shown first, so that the mean difference is not penalised
... difficulties    the reference has a score for each instruction, which is the difficulty of the instruction
graded BT           cross-entropy of graded preferences (ConfDiffLogisticRegression, link "preference"); five folds of
                    the comparisons choose the penalty

Predictions with difficulties are means over all instructions that were used. Printed are Spearman's correlation with
the held-out means and the RMSE, as means over random halves with standard errors; and, for each method, its paired
difference to the means. The last line is for the means of all instructions of the training half. Needs CONFDIFF_DATA.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import eye_array
from scipy.special import expit
from scipy.stats import spearmanr

from confdiff import ConfDiffLogisticRegression, rank_items
from confdiff.tabular.formats.importing import import_judgements

Numbers = NDArray[np.float64]
Cells = NDArray[np.bool_]
FILE = "alpaca-eval-judge/preferences.csv"
COUNTS = (10, 50, 400)
DESIGNS = ("same", "own")
N_FOLDS = 5
PENALTIES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def preferences(path: Path) -> Numbers:
    """Return the preference for each model (rows) on each instruction (columns), from 0 to 1; NaN if not judged."""
    pairs = import_judgements(path, format="alpaca-eval", item_kind="models").pairs
    models, row = np.unique(pairs["right"].astype(str), return_inverse=True)
    instructions, column = np.unique(pairs["instruction_index"].astype(int), return_inverse=True)
    table = np.full((len(models), len(instructions)), np.nan)
    table[row, column] = (1 + pairs["difference"]) / 2
    return table


def chosen_cells(table: Numbers, train: NDArray[np.int64], count: int, design: str, rng: np.random.Generator) -> Cells:
    """Return a mask of the cells that are learned from: ``count`` instructions per model."""
    mask = np.zeros(table.shape, dtype=bool)
    shared = rng.choice(train, count, replace=False)
    for model in range(len(table)):
        mask[model, shared if design == "same" else rng.choice(train, count, replace=False)] = True
    return mask & ~np.isnan(table)


def means(table: Numbers, mask: Cells) -> Numbers:
    """Return the mean preference of each model."""
    preference: Numbers = np.nanmean(np.where(mask, table, np.nan), axis=1)
    return preference


def bradley_terry(table: Numbers, mask: Cells) -> Numbers:
    """Return the probability of each model to win, from decided comparisons, by choix."""
    import choix

    model, _ = np.nonzero(mask)
    preference = table[mask]
    reference = len(table)
    decided = preference != 0.5
    wins = preference > 0.5
    games = [(m, reference) if win else (reference, m) for m, win in zip(model[decided], wins[decided], strict=True)]
    strength = choix.opt_pairwise(reference + 1, games, alpha=1e-2)
    probability: Numbers = expit(strength[:-1] - strength[-1])
    return probability


def ends(mask: Cells, *, per_instruction: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the item numbers of the references and of the models of the cells; models come first."""
    model, instruction = np.nonzero(mask)
    reference = np.unique(instruction, return_inverse=True)[1] if per_instruction else np.zeros_like(instruction)
    return len(mask) + reference, model


def ranked(table: Numbers, mask: Cells, *, per_instruction: bool, has_offset: bool = True) -> Numbers:
    """Return predicted mean preferences by `rank_items`: the mean difference to all references.

    With an offset, the reference is declared as shown first: the side bias is then the mean difference, so that scores
    of models and of references are both shrunk to 0.
    """
    left, right = ends(mask, per_instruction=per_instruction)
    pairs = {"left": left, "right": right, "difference": 2 * table[mask] - 1}
    if has_offset:
        pairs["shown_first"] = left
    ranking = rank_items(pairs, scale=(-1, 1), n_proposals=0)
    score = np.empty(len(ranking))
    score[np.asarray(ranking.id, dtype=int)] = ranking.score
    offset = 0.0 if ranking.side_bias is None else ranking.side_bias.value
    preference: Numbers = (1 + score[: len(table)] - score[len(table) :].mean() + offset) / 2
    return preference


def graded(table: Numbers, mask: Cells, *, per_instruction: bool) -> Numbers:
    """Return predicted mean preferences by a graded Bradley-Terry model whose penalty is chosen by folds."""
    left, right = ends(mask, per_instruction=per_instruction)
    pairs = np.stack([left, right], axis=1)
    c = 2 * table[mask] - 1
    items = eye_array(int(left.max()) + 1, format="csr")
    fold = np.random.default_rng(0).permutation(len(c)) % N_FOLDS

    def scores(rows: Cells, penalty: float) -> Numbers:
        model = ConfDiffLogisticRegression(link="preference", C=penalty, random_state=0)
        return model.fit(pairs[rows], c[rows], items=items).decision_function(items)

    def error(penalty: float) -> float:
        errors = np.empty(len(c))
        for number in range(N_FOLDS):
            score = scores(fold != number, penalty)
            errors[fold == number] = (2 * expit(score[right] - score[left]) - 1 - c)[fold == number]
        return float(np.mean(errors**2))

    score = scores(np.ones(len(c), dtype=bool), min(PENALTIES, key=error))
    preference: Numbers = expit(score[: len(table), None] - score[len(table) :]).mean(axis=1)
    return preference


METHODS: dict[str, Callable[[Numbers, Cells], Numbers]] = {
    "means": means,
    "Bradley-Terry": bradley_terry,
    "rank_items": lambda table, mask: ranked(table, mask, per_instruction=False, has_offset=False),
    "rank_items, offset": lambda table, mask: ranked(table, mask, per_instruction=False),
    "rank_items, offset, difficulties": lambda table, mask: ranked(table, mask, per_instruction=True),
    "graded BT": lambda table, mask: graded(table, mask, per_instruction=False),
    "graded BT, difficulties": lambda table, mask: graded(table, mask, per_instruction=True),
}


def measures(predicted: Numbers, truth: Numbers) -> tuple[float, float]:
    """Return Spearman's correlation and the RMSE."""
    return float(spearmanr(predicted, truth).statistic), float(np.sqrt(np.mean((predicted - truth) ** 2)))


def with_error(values: Numbers, digits: int = 3) -> str:
    """Return a mean over splits with its standard error."""
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1) / np.sqrt(len(values)):.{digits}f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    arguments = parser.parse_args()
    table = preferences(Path(os.environ["CONFDIFF_DATA"]) / FILE)
    print(f"{len(table)} models, {table.shape[1]} instructions, {np.count_nonzero(~np.isnan(table)):,} preferences")
    print(f"ties {np.mean(table[~np.isnan(table)] == 0.5):.2%}; mean {np.nanmean(table):.3f}")
    spread = np.nanvar(np.nanmean(table, axis=1)), np.nanvar(np.nanmean(table, axis=0)), np.nanvar(table)
    print("variance between models {:.4f}, between instructions {:.4f}, of all preferences {:.4f}".format(*spread))
    weakest_first = np.argsort(np.nanmean(table, axis=1))
    thirds = [f"{np.nanstd(table[rows], axis=1).mean():.3f}" for rows in np.array_split(weakest_first, 3)]
    print(f"standard deviation of a model's preferences, weakest to strongest third: {', '.join(thirds)}")
    results: dict[tuple[str, int, str], list[tuple[float, float]]] = {}
    floors = []
    for split in range(arguments.splits):
        start = time.process_time()
        rng = np.random.default_rng(split)
        order = rng.permutation(table.shape[1])
        half = len(order) // 2
        truth = np.nanmean(table[:, order[half:]], axis=1)
        floors.append(measures(np.nanmean(table[:, order[:half]], axis=1), truth))
        for design in DESIGNS:
            for count in arguments.counts:
                mask = chosen_cells(table, order[:half], count, design, rng)
                for name in arguments.methods:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UserWarning)
                        predicted = METHODS[name](table, mask)
                    results.setdefault((design, count, name), []).append(measures(predicted, truth))
        print(f"split {split}: {time.process_time() - start:.0f} s of processor time", flush=True)
    print_results(results, arguments.counts, arguments.methods, floors)


def print_results(
    results: dict[tuple[str, int, str], list[tuple[float, float]]],
    counts: list[int],
    methods: list[str],
    floors: list[tuple[float, float]],
) -> None:
    """Print a table per design, and the means of the whole training half."""
    for design in DESIGNS:
        for count in counts:
            print(f"\n{design} instructions, {count} per model")
            base = np.array(results[design, count, "means"]) if "means" in methods else None
            for name in methods:
                values = np.array(results[design, count, name])
                gain = "" if base is None else f"RMSE - means {with_error(values[:, 1] - base[:, 1], 4)}"
                print(f"{name:32} Spearman {with_error(values[:, 0])}  RMSE {with_error(values[:, 1], 4)}  {gain}")
    floor = np.array(floors)
    print(f"\nall instructions of the half: Spearman {with_error(floor[:, 0])}  RMSE {with_error(floor[:, 1], 4)}")


if __name__ == "__main__":
    main()
