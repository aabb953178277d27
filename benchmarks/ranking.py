"""Rank without features: football against other models, coverage of intervals, and one million comparisons.

football   international matches from 2014, goals / 5 as the difference, test from 2024. Pairwise accuracy and R² with
           and without the home side, for `rank_items`, for ridge regression on the same design (scikit-learn, penalty
           by cross-validation on the training matches), and for Bradley-Terry (choix; skipped if it is not installed).
           Bradley-Terry learns from decided matches, without the side. It predicts 2 P(right wins) - 1, times the slope
           of the differences on it in the last tenth of the training matches, so that the units agree.
coverage   the fraction of true scores within their 95 % intervals, and of true ranks within theirs, over simulations.
speed      the time to rank 100,000 items by 1,000,000 comparisons, with the side bias.

Standard errors of football are over 1,000 bootstrap samples of the test matches.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confdiff import rank_items
from confdiff.datasets import load
from confdiff.metrics import difference_r2, pairwise_accuracy

Floats = NDArray[np.float64]
SIMULATIONS: dict[str, dict[str, Any]] = {
    "100 items, 400 pairs": {},
    "100 items, 150 pairs": {"n_pairs": 150},
    "20 items, 40 pairs": {"n_items": 20, "n_pairs": 40},
    "1,500 items, 6,000 pairs": {"n_items": 1500, "n_pairs": 6000},
    "noise .6": {"noise": 0.6},
    "noise .05": {"noise": 0.05},
    "no spread": {"spread": 0.0},
    "scores uniform": {"scores": "uniform"},
    "heavy tails (t, 3 df)": {"tails": "t"},
    "five grades": {"grades": 2},
}


def football(start: str = "2014-01-01", test: str = "2024-01-01") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the training and the test matches."""
    data = load("football")
    assert data.date is not None
    assert data.side is not None
    frame = pd.DataFrame({"left": data.left, "right": data.right, "difference": data.difference})
    frame["shown_first"] = np.where(data.side > 0, "left", "")
    frame["side"] = data.side
    recent = data.date >= np.datetime64(start)
    is_test = data.date >= np.datetime64(test)
    train, held_out = frame[recent & ~is_test], frame[is_test]
    seen = set(train.left) | set(train.right)
    test_matches = held_out[held_out.left.isin(seen) & held_out.right.isin(seen)]
    print(f"test matches with a team that has no training match, dropped: {len(held_out) - len(test_matches):,}")
    return train, test_matches


def by_ranking(train: pd.DataFrame, test: pd.DataFrame, *, has_side: bool) -> Floats:
    """Return the differences that `rank_items` predicts; between connected components 0, plus the side bias."""
    columns = ["left", "right", "difference", *(["shown_first"] if has_side else [])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ranking = rank_items(train[columns])
    predicted = ranking.differences(test.left, test.right)
    side = 0.0 if ranking.side_bias is None else ranking.side_bias.value * test.side.to_numpy()
    return np.nan_to_num(predicted) + side


def by_ridge(train: pd.DataFrame, test: pd.DataFrame, *, has_side: bool) -> Floats:
    """Return the differences that ridge regression on one-hot teams predicts."""
    from sklearn.linear_model import RidgeCV

    teams = np.unique([train.left, train.right])

    def matrix(frame: pd.DataFrame) -> Floats:
        one_hot = (frame.right.to_numpy()[:, None] == teams).astype(float)
        one_hot -= frame.left.to_numpy()[:, None] == teams
        return np.column_stack([one_hot, frame.side * 10.0]) if has_side else one_hot  # the side is hardly penalised

    model = RidgeCV(np.logspace(-1, 2, 13), fit_intercept=False).fit(matrix(train), train.difference)
    predicted: Floats = model.predict(matrix(test))
    return predicted


def by_bradley_terry(train: pd.DataFrame, test: pd.DataFrame, *, has_side: bool) -> Floats:
    """Return 2 P(right wins) - 1 by choix, with the penalty chosen on the last tenth of the training matches."""
    import choix

    if has_side:
        raise NotImplementedError("choix has no side")
    codes = {team: code for code, team in enumerate(np.unique([train.left, train.right]))}
    n_last = len(train) // 10

    def predict(frame: pd.DataFrame, strength: float, target: pd.DataFrame) -> Floats:
        decided = frame[frame.difference != 0]
        winner = np.where(decided.difference > 0, decided.right, decided.left)
        loser = np.where(decided.difference > 0, decided.left, decided.right)
        wins = [(codes[first], codes[second]) for first, second in zip(winner, loser, strict=True)]
        score = choix.opt_pairwise(len(codes), wins, alpha=strength)
        margin = score[target.right.map(codes)] - score[target.left.map(codes)]
        preference: Floats = np.tanh(margin / 2)
        return preference

    first, last = train.iloc[:-n_last], train.iloc[-n_last:]
    c = last.difference.to_numpy()
    errors = {}
    for strength in (0.01, 0.1, 1.0, 10.0):
        predicted = predict(first, strength, last)
        slope = float(predicted @ c / (predicted @ predicted))
        errors[float(np.mean((slope * predicted - c) ** 2))] = (strength, slope)
    strength, slope = errors[min(errors)]
    return slope * predict(train, strength, test)


def bootstrap(predicted: Floats, c: Floats) -> tuple[float, float]:
    """Return the standard errors of the accuracy and of R²."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(1000):
        rows = rng.integers(0, len(c), len(c))
        values.append((pairwise_accuracy(predicted[rows], c[rows]), difference_r2(predicted[rows], c[rows])))
    accuracy, r2 = np.std(values, axis=0)
    return float(accuracy), float(r2)


def print_football() -> None:
    """Print the table of models."""
    train, test = football()
    c = test.difference.to_numpy()
    print(f"football: {len(train):,} training matches, {len(test):,} test matches")
    print("| model | side | accuracy | R² | seconds |\n|---|---|---|---|---|")
    models: dict[str, Callable[..., Floats]] = {"rank_items": by_ranking, "ridge": by_ridge, "choix": by_bradley_terry}
    for name, model in models.items():
        for has_side in (True, False):
            begin = time.perf_counter()
            try:
                predicted = model(train, test, has_side=has_side)
            except (ImportError, NotImplementedError) as reason:
                print(f"| {name} | {'home' if has_side else 'none'} | skipped: {reason} | | |")
                continue
            seconds = time.perf_counter() - begin
            accuracy, r2 = pairwise_accuracy(predicted, c), difference_r2(predicted, c)
            errors = bootstrap(predicted, c)
            side = "home" if has_side else "none"
            print(
                f"| {name} | {side} | {accuracy:.3f} ± {errors[0]:.3f} | {r2:.3f} ± {errors[1]:.3f} | {seconds:.1f} |"
            )


def simulate(
    rng: np.random.Generator,
    *,
    n_items: int = 100,
    n_pairs: int = 400,
    spread: float = 0.3,
    noise: float = 0.2,
    scores: str = "normal",
    tails: str = "normal",
    grades: int | None = None,
) -> tuple[dict[str, Any], Floats]:
    """Return a connected random table of pairs with a side bias of .1, and the true scores."""
    score = spread * (rng.normal(size=n_items) if scores == "normal" else rng.uniform(-1.73, 1.73, n_items))
    chain = rng.permutation(n_items)
    left = np.concatenate([chain[:-1], rng.integers(0, n_items, n_pairs - n_items + 1)])
    others = (left[n_items - 1 :] + rng.integers(1, n_items, n_pairs - n_items + 1)) % n_items
    right = np.concatenate([chain[1:], others])
    side = rng.choice([-1, 1], n_pairs)
    error = rng.normal(size=n_pairs) if tails == "normal" else rng.standard_t(3, n_pairs) / np.sqrt(3)
    c = (score[right] - score[left] + 0.1 * side + noise * error) / 4  # the differences stay within [-1, 1]
    if grades is not None:
        c = np.round(c * 4 * grades).clip(-grades, grades) / grades / 4
    table = {"left": left, "right": right, "difference": c.clip(-1, 1)}
    return {**table, "shown_first": np.where(side > 0, "left", "right")}, score / 4


def print_coverage(n_runs: int) -> None:
    """Print the coverage of intervals by setting."""
    print("| setting | scores covered | ranks covered | mean width |\n|---|---|---|---|")
    for name, setting in SIMULATIONS.items():
        rng = np.random.default_rng(0)
        covered, ranked, width = [], [], []
        for run in range(n_runs):
            table, truth = simulate(rng, **setting)
            ranking = rank_items(table, n_proposals=0, scale=(-1, 1), seed=run)
            true_score = (truth - truth.mean())[ranking.id]
            covered.append(np.mean((ranking.low <= true_score) & (true_score <= ranking.high)))
            true_rank = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)[ranking.id]
            ranked.append(np.mean((ranking.rank_low <= true_rank) & (true_rank <= ranking.rank_high)))
            width.append(4 * np.mean(ranking.high - ranking.low))
        error = np.std(covered) / np.sqrt(n_runs)
        ranks = "-" if setting.get("spread") == 0 else f"{np.mean(ranked):.3f}"
        print(f"| {name} | {np.mean(covered):.3f} ± {error:.3f} | {ranks} | {np.mean(width):.2f} |", flush=True)


def print_speed(n_items: int, n_pairs: int) -> None:
    """Print the time of one ranking."""
    table, truth = simulate(np.random.default_rng(0), n_items=n_items, n_pairs=n_pairs)
    begin = (time.perf_counter(), time.process_time())
    ranking = rank_items(table, scale=(-1, 1))
    seconds = time.perf_counter() - begin[0]
    processor = time.process_time() - begin[1]
    correlation = np.corrcoef(ranking.score, truth[ranking.id])[0, 1]
    print(f"{n_pairs:,} comparisons of {n_items:,} items: {seconds:.1f} s, {processor:.1f} s of processor time")
    print(f"correlation with the truth {correlation:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=["football", "coverage", "speed"])
    parser.add_argument("--runs", type=int, default=40, help="simulations per setting")
    options = parser.parse_args()
    parts = options.parts or ["football", "coverage", "speed"]
    if "football" in parts:
        print_football()
    if "coverage" in parts:
        print_coverage(options.runs)
    if "speed" in parts:
        print_speed(100_000, 1_000_000)


if __name__ == "__main__":
    main()
