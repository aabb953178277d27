"""Measure how many same-class answers determine the offset that differences leave open, and the worth of an answer.

All posteriors lie in [.05, .5], so differences leave an interval of .55 for the prior open. There are three kinds of
items. ``symmetric`` and ``skewed`` have five normal features, and posteriors that are a sigmoid of a linear score.
Their priors are .275, which looks like a prior of 1/2, and .19. ``spambase`` are real items: r = .05 + .45 q, where q
are cross-fitted probabilities of boosted trees (needs CONFDIFF_DATA).

Random pairs have differences, with noise of a given standard deviation. Other random pairs have an answer, 0 or 1,
whether both items are of the same class, drawn from the posteriors. Other items have a drawn label. For each number of
answers or labels, the table has the accuracy on new items minus that with the true prior: its mean with a 95 % t
interval over seeds, and the worst seed. Expected labels of the new items count, not drawn ones. ``RMSE of prior`` and
``|p - r|`` are errors of the mean probability and of probabilities.

``worth`` is the number of answers that give the RMSE of the prior that labels give, by interpolation of logarithms,
divided by the number of labels. Its interval is a bootstrap over seeds. The ratio of Fisher informations about a
constant that is added to all posteriors is what an efficient estimate has.

The last lines estimate an absolute scale: for scores d = kappa (r - prior), the coefficient of s on d d' is 2/kappa^2.
"""

import argparse
import csv
import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

from confdiff import ConfDiffBoosting, ConfDiffLogisticRegression, Pairs
from confdiff.display.figures import add_grid, new_figure, save_figure
from confdiff.display.palette import MEASURED, NEUTRAL, RANDOM
from confdiff.io.atomic import atomic_file, write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Vector = NDArray[np.float64]
DIRECTION = np.array([1.0, 0.7, -0.5, 0.3, 0.0]) / np.linalg.norm([1.0, 0.7, -0.5, 0.3, 0.0])
OFFSETS = {"symmetric": 0.0, "skewed": -1.8}
KINDS = (*OFFSETS, "spambase")
ANSWERS = (0, 5, 10, 20, 40, 80, 160, 320)
LABELS = (5, 10, 20, 40, 80)
LEARNERS: dict[str, Callable[..., Any]] = {
    "linear": lambda **options: ConfDiffLogisticRegression(standardise=True, **options),
    "boosting": ConfDiffBoosting,
}
WITHIN = 0.02
KAPPA = 1.5


@dataclass(frozen=True)
class Setting:
    """Items, noise of the differences, learner and number of pairs with a difference."""

    kind: str
    noise: float
    learner: str
    n_pairs: int


@dataclass(frozen=True)
class Outcome:
    """One fit: its supervision (``prior``, ``answers`` or ``labels``), their number, and measures on new items."""

    seed: int
    supervision: str
    count: int
    accuracy: float
    gap: float
    prior_error: float
    probability_error: float


@dataclass(frozen=True, eq=False)
class Population:
    """Items in random order with their posteriors, and the prior."""

    items: Vector
    posteriors: Vector
    prior: float

    def take(self, start: int, count: int) -> tuple[Vector, Vector]:
        """Return ``count`` items from ``start`` on, and their posteriors."""
        return self.items[start : start + count], self.posteriors[start : start + count]


def main() -> None:
    """Print a curve for each setting, the worth of an answer, and the estimated scale; write them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--noise", type=_floats, default=(0.0,), help="standard deviations, such as 0,0.1")
    parser.add_argument("--learners", type=_words, default=("boosting",), help="linear,boosting")
    parser.add_argument("--kinds", type=_words, default=("symmetric", "skewed"), help=",".join(KINDS))
    parser.add_argument("--output", type=Path, help="folder for trials.csv, summary.json and curves.png")
    options = parser.parse_args()
    summaries = []
    trials: list[dict[str, Any]] = []
    for learner, noise, kind in product(options.learners, options.noise, options.kinds):
        setting = Setting(kind=kind, noise=noise, learner=learner, n_pairs=options.pairs)
        outcomes = [outcome for seed in range(options.seeds) for outcome in run_seed(setting, seed)]
        trials += [asdict(setting) | asdict(outcome) for outcome in outcomes]
        summaries.append(summarise(setting, outcomes))
        print_summary(summaries[-1])
        if options.output is not None:
            write_results(options.output, trials, summaries)
    print_scale(options.seeds)


def _floats(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def population(kind: str, seed: int) -> Population:
    """Return the items of a seed."""
    rng = np.random.default_rng([seed, 1])
    if kind == "spambase":
        items, posteriors = _spambase()
        order = rng.permutation(len(items))
        return Population(items=items[order], posteriors=posteriors[order], prior=float(posteriors.mean()))
    items = rng.normal(size=(23_000, 5))
    prior = float(_sigmoid(np.random.default_rng(0).normal(size=(1_000_000, 5)), kind).mean())
    return Population(items=items, posteriors=_sigmoid(items, kind), prior=prior)


def _sigmoid(items: Vector, kind: str) -> Vector:
    posteriors: Vector = 0.05 + 0.45 * expit(3 * items @ DIRECTION + OFFSETS[kind])
    return posteriors


@cache
def _spambase() -> tuple[Vector, Vector]:
    """Return the items of spambase, and cross-fitted probabilities of trees, mapped to [.05, .5]."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import cross_val_predict

    from confdiff.datasets import load

    data = load("spambase")
    items = data.items.astype(np.float64)
    is_positive = data.labels > 0
    model = HistGradientBoostingClassifier(random_state=0)
    q = cross_val_predict(model, items, is_positive, method="predict_proba", cv=5)[:, 1]
    return items, 0.05 + 0.45 * q


def run_seed(setting: Setting, seed: int) -> list[Outcome]:
    """Fit with the true prior, and with each number of answers and of labels."""
    rng = np.random.default_rng(seed)
    people = population(setting.kind, seed)
    n_pairs = setting.n_pairs
    items, r = people.take(0, 2 * n_pairs)
    c = np.clip(r[n_pairs:] - r[:n_pairs] + setting.noise * rng.normal(size=n_pairs), -1, 1)
    asked, asked_r = people.take(2 * n_pairs, 2 * max(ANSWERS))
    drawn = rng.random(len(asked)) < asked_r
    same = drawn[: max(ANSWERS)] == drawn[max(ANSWERS) :]
    labelled, labelled_r = people.take(2 * n_pairs + len(asked), max(LABELS))
    labels = rng.random(len(labelled)) < labelled_r
    test, truth = people.take(2 * n_pairs + len(asked) + len(labelled), 20_000)
    expected_prior = people.prior if setting.kind in OFFSETS else float(truth.mean())

    def fitted(n_answers: int = 0, n_labels: int = 0, **parameters: Any) -> tuple[float, float, float]:
        rows = len(items) + np.arange(n_answers)
        pairs = Pairs(
            np.concatenate([items, asked[:n_answers], asked[max(ANSWERS) : max(ANSWERS) + n_answers]]),
            np.concatenate([np.arange(n_pairs), rows]),
            np.concatenate([np.arange(n_pairs, 2 * n_pairs), rows + n_answers]),
            np.concatenate([c, np.full(n_answers, np.nan)]),
            same=np.concatenate([np.full(n_pairs, np.nan), same[:n_answers]]) if n_answers else None,
        )
        model = LEARNERS[setting.learner](random_state=seed, **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an open prior, which is what is measured
            model.fit(pairs, labelled=(labelled[:n_labels], labels[:n_labels]) if n_labels else None)
        p = model.predict_proba(test)[:, 1]
        accuracy = float(np.where(p >= 0.5, truth, 1 - truth).mean())
        return accuracy, float(p.mean()) - expected_prior, float(np.abs(p - truth).mean())

    results = {("prior", 0): fitted(prior=people.prior)}
    results |= {("answers", n): fitted(n) for n in ANSWERS}
    results |= {("labels", n): fitted(n_labels=n) for n in LABELS}
    best = results["prior", 0][0]
    return [
        Outcome(
            seed=seed,
            supervision=supervision,
            count=count,
            accuracy=accuracy,
            gap=accuracy - best,
            prior_error=prior_error,
            probability_error=error,
        )
        for (supervision, count), (accuracy, prior_error, error) in results.items()
    ]


def summarise(setting: Setting, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the means over seeds, the answers that suffice, and the worth of an answer, as JSON values."""
    rows = []
    for supervision, count in dict.fromkeys((outcome.supervision, outcome.count) for outcome in outcomes):
        chosen = _select(outcomes, supervision, count)
        gaps = np.array([outcome.gap for outcome in chosen])
        half = _half_width(gaps)
        rows.append(
            {
                "supervision": supervision,
                "count": count,
                "accuracy": float(np.mean([outcome.accuracy for outcome in chosen])),
                "gap": float(gaps.mean()),
                "gap_low": float(gaps.mean() - half),
                "gap_high": float(gaps.mean() + half),
                "worst_gap": float(gaps.min()),
                "fraction_within": float(np.mean(gaps >= -WITHIN)),
                "rmse_of_prior": _rmse(chosen),
                "probability_error": float(np.mean([outcome.probability_error for outcome in chosen])),
            }
        )
    answered = [row for row in rows if row["supervision"] == "answers"]
    label, answer = information(setting.kind)
    return {
        **asdict(setting),
        "seeds": len({outcome.seed for outcome in outcomes}),
        "rows": rows,
        "answers_for_the_mean": _first(answered, lambda row: row["gap_low"] >= -WITHIN),
        "answers_for_nine_of_ten_seeds": _first(answered, lambda row: row["fraction_within"] >= 0.9),
        "worth": {str(n): worth_of(outcomes, n) for n in LABELS if n >= 20},
        "information_ratio": label / answer,
    }


def _select(outcomes: Iterable[Outcome], supervision: str, count: int) -> list[Outcome]:
    return [outcome for outcome in outcomes if (outcome.supervision, outcome.count) == (supervision, count)]


def _half_width(values: Vector) -> float:
    """Return half of the width of the 95 % t interval of a mean."""
    n = len(values)
    return float(stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def _rmse(outcomes: Iterable[Outcome]) -> float:
    return float(np.sqrt(np.mean([outcome.prior_error**2 for outcome in outcomes])))


def _first(rows: list[dict[str, Any]], suffices: Callable[[dict[str, Any]], bool]) -> int | None:
    """Return the least number of answers from which on all rows suffice; None if the last one does not."""
    numbers = [row["count"] for row in rows]
    failing = [index for index, row in enumerate(rows) if not suffices(row)]
    start = failing[-1] + 1 if failing else 0
    return int(numbers[start]) if start < len(numbers) else None


def worth_of(outcomes: Sequence[Outcome], n_labels: int, draws: int = 1_000) -> dict[str, float | None]:
    """Return the answers per label of equal RMSE of the prior, with a bootstrap interval; None beyond the curve."""
    counts = [n for n in ANSWERS if n]
    by_answers = np.array([[o.prior_error**2 for o in _select(outcomes, "answers", n)] for n in counts])
    by_labels = np.array([o.prior_error**2 for o in _select(outcomes, "labels", n_labels)])
    rng = np.random.default_rng(0)
    samples = [np.arange(len(by_labels)), *rng.integers(0, len(by_labels), (draws, len(by_labels)))]
    values = np.array([_equal_answers(counts, by_answers[:, s].mean(1), by_labels[s].mean()) for s in samples])
    low, high = np.quantile(values[1:], [0.025, 0.975]) / n_labels
    limit = max(counts) / n_labels
    value = values[0] / n_labels
    return {
        "value": None if value >= limit else float(value),
        "low": float(low),
        "high": None if high >= limit else float(high),
    }


def _equal_answers(counts: Sequence[int], errors: Vector, error: float) -> float:
    """Return the number of answers with a mean squared error, by a line through the logarithms of both."""
    slope, intercept = np.polyfit(np.log(counts[2:]), np.log(errors[2:]), 1)  # few answers leave the prior uniform
    if slope >= 0:
        return float(max(counts))
    return float(np.clip(np.exp((np.log(error) - intercept) / slope), 1, max(counts)))


def information(kind: str) -> tuple[float, float]:
    """Return the Fisher information of one label and of one answer about a constant that is added to posteriors."""
    people = population(kind, 0)
    r, r_prime = people.posteriors[: len(people.posteriors) // 2 * 2].reshape(2, -1)
    s = r * r_prime + (1 - r) * (1 - r_prime)
    label = (1 / (people.posteriors * (1 - people.posteriors))).mean()
    return float(label), float((4 * (r + r_prime - 1) ** 2 / (s * (1 - s))).mean())


def print_summary(summary: dict[str, Any]) -> None:
    """Print the table of a setting."""
    title = "{learner}, {kind}, noise {noise}, {n_pairs} pairs, {seeds} seeds".format(**summary)
    print(f"{title}\n{'supervision':>12} {'accuracy':>9} {'minus true prior':>24} {'worst':>7} ", end="")
    print(f"{'RMSE of prior':>14} {'|p - r|':>8}")
    for row in summary["rows"]:
        name = "true prior" if row["supervision"] == "prior" else f"{row['count']} {row['supervision']}"
        gap = f"{row['gap']:+.3f} [{row['gap_low']:+.3f}, {row['gap_high']:+.3f}]"
        print(f"{name:>12} {row['accuracy']:>9.3f} {gap:>24} {row['worst_gap']:>+7.3f} ", end="")
        print(f"{row['rmse_of_prior']:>14.3f} {row['probability_error']:>8.3f}")
    print(f"answers for the mean (interval above -{WITHIN}): {summary['answers_for_the_mean']}; ", end="")
    print(f"for nine of ten seeds: {summary['answers_for_nine_of_ten_seeds']}")
    for n, worth in summary["worth"].items():
        ends = " to ".join("beyond" if worth[end] is None else f"{worth[end]:.1f}" for end in ("low", "high"))
        value = "beyond the curve" if worth["value"] is None else f"{worth['value']:.1f}"
        print(f"one of {n} labels is worth {value} answers ({ends})")
    print(f"ratio of Fisher informations: {summary['information_ratio']:.2f}\n", flush=True)


def print_scale(seeds: int) -> None:
    """Print the absolute scale that answers determine."""
    for n in (400, 2_000, 10_000):
        scales = np.array([_scale(n, seed) for seed in range(20 * seeds)])
        low, high = np.nanquantile(scales, [0.025, 0.975])
        print(f"scale from {n:,} answers: median {np.nanmedian(scales):.2f} (true {KAPPA}), ", end="")
        print(f"middle 95 % {low:.2f} to {high:.2f}, undefined in {np.isnan(scales).mean():.0%}")


def _scale(n_answers: int, seed: int) -> float:
    """Estimate kappa by least squares of answers on 1, d + d' and d d'; NaN if the coefficient is negative."""
    rng = np.random.default_rng(seed)
    r = _sigmoid(rng.normal(size=(2, n_answers, 5)), "symmetric")
    drawn = rng.random((2, n_answers)) < r
    d, d_prime = KAPPA * (r - r.mean())
    design = np.stack([np.ones(n_answers), d + d_prime, d * d_prime], axis=1)
    coefficient = np.linalg.lstsq(design, (drawn[0] == drawn[1]).astype(float), rcond=None)[0][2]
    return float(np.sqrt(2 / coefficient)) if coefficient > 0 else float("nan")


def write_results(folder: Path, trials: list[dict[str, Any]], summaries: list[dict[str, Any]]) -> None:
    """Write all fits, the summaries and the curves."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / "trials.csv") as path, path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(trials[0]))
        writer.writeheader()
        writer.writerows(trials)
    write_text(folder / "summary.json", json.dumps(summaries, indent=1) + "\n")
    draw_curves(folder / "curves.png", summaries)


def draw_curves(path: Path, summaries: list[dict[str, Any]]) -> None:
    """Draw the loss of accuracy over the number of answers or labels, one panel per setting, at most three in a row."""
    n_rows = -(-len(summaries) // 3)
    n_columns = min(3, len(summaries))
    options: dict[str, Any] = {"sharex": True, "sharey": True, "squeeze": False}
    figure, grid = new_figure(3.3 * n_columns, 2.6 * n_rows, n_rows, n_columns, **options)
    panels = grid.reshape(-1)
    for axes, summary in zip(panels, summaries, strict=False):
        for supervision, colour in (("answers", MEASURED), ("labels", RANDOM)):
            _draw_curve(axes, [row for row in summary["rows"] if row["supervision"] == supervision], colour)
        axes.axhline(-WITHIN, color=NEUTRAL, linewidth=0.8, linestyle=":")
        axes.set_xscale("symlog", linthresh=5)
        axes.set_title(f"{summary['kind']}, noise {summary['noise']:g}, {summary['learner']}", fontsize=9)
        add_grid(axes)
    for axes in panels[len(summaries) :]:
        axes.set_axis_off()
    for axes in grid[-1]:
        axes.set_xlabel("same-class answers, or labels")
    for axes in grid[:, 0]:
        axes.set_ylabel("loss of accuracy")
    panels[0].legend(frameon=False, fontsize=8, loc="lower right")
    save_figure(figure, path)


def _draw_curve(axes: "Axes", rows: list[dict[str, Any]], colour: str) -> None:
    """Draw the means of rows with their intervals."""
    low, mean, high = (np.array([row[name] for row in rows]) for name in ("gap_low", "gap", "gap_high"))
    counts = [row["count"] for row in rows]
    axes.fill_between(counts, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(counts, mean, marker="o", markersize=3, color=colour, label=rows[0]["supervision"])


if __name__ == "__main__":
    main()
