"""Count how often ConfDiffAuto chooses the link that simulated judgements have, and what a choice costs.

The items have five normal features, and each is in one pair. The score of an item is linear, or a sum of a sine, a
cosine and an interaction (--surface curved). Judgements are differences of probabilities, strengths of preference or
differences of scores, the largest of which fills the scale. They are exact, have normal noise, are rounded to five
grades, or are shares of five votes. Where differences are small (--scale 0.3), all three links are alike, and the cost
is what matters: the R² of the true differences of 2,000 new pairs with the right link, minus that with the chosen one.
"""

import argparse
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from confdiff import LINKS, ConfDiffAuto
from confdiff.metrics import difference_r2

Vector = NDArray[np.float64]
N_FEATURES = 5
N_NEW = 2_000
NOISE = 0.1


def main() -> None:
    """Print one line per kind of judgement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--scale", type=float, default=2.0, help="standard deviation of the scores")
    parser.add_argument("--judgements", choices=["exact", "noisy", "rounded", "votes"], default="noisy")
    parser.add_argument("--surface", choices=["linear", "curved"], default="linear")
    parser.add_argument("--candidates", default="linear,boosting")
    arguments = parser.parse_args()
    print(f"{'judgements':12} right  mean cost  largest cost")
    for kind in LINKS:
        outcomes = [one_draw(kind, arguments, seed) for seed in range(arguments.draws)]
        right = sum(is_right for is_right, _ in outcomes)
        costs = np.array([cost for _, cost in outcomes])
        print(f"{kind:12} {right:2} / {len(outcomes):2}  {costs.mean():8.4f}  {costs.max():8.4f}", flush=True)


def one_draw(kind: str, arguments: argparse.Namespace, seed: int) -> tuple[bool, float]:
    """Return whether the right link was chosen, and the R² that the choice costs on new pairs."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=N_FEATURES)
    direction /= np.linalg.norm(direction)
    items, c = compared_items(kind, arguments.pairs + N_NEW, direction, arguments, rng)
    judged = judgements_of(c[: arguments.pairs], arguments.judgements, rng)
    chosen = fitted("auto", items[: arguments.pairs], judged, arguments)
    if chosen.link_ == kind:
        return True, 0.0
    right = fitted(kind, items[: arguments.pairs], judged, arguments)
    new_items, truth = items[arguments.pairs :], c[arguments.pairs :]
    scores = [difference_r2(model.predict_difference(new_items), truth) for model in (right, chosen)]
    return False, scores[0] - scores[1]


def compared_items(
    kind: str, count: int, direction: Vector, arguments: argparse.Namespace, rng: np.random.Generator
) -> tuple[NDArray[np.float32], Vector]:
    """Return the features of pairs, and their exact differences."""
    items = rng.normal(size=(count, 2, N_FEATURES)).astype(np.float32)
    g = arguments.scale * surface(items, direction, arguments.surface)
    c = LINKS[kind].difference(g[:, 0], g[:, 1])
    return items, c / np.abs(c).max() if kind == "score" else c


def judgements_of(c: Vector, judgements: str, rng: np.random.Generator) -> Vector:
    """Return differences as people would judge them."""
    if judgements == "noisy":
        return np.clip(c + rng.normal(0, NOISE, len(c)), -1, 1)
    if judgements == "rounded":
        return np.round(2 * c) / 2
    if judgements == "votes":
        return np.asarray(2 * rng.binomial(5, (1 + c) / 2) / 5 - 1, dtype=np.float64)
    return c


def surface(items: NDArray[np.float32], direction: Vector, name: str) -> Vector:
    """Return scores with a standard deviation of about 1."""
    if name == "linear":
        return np.asarray(items @ direction, dtype=np.float64)
    step = 2 * expit(9 * items[..., 3]) - 1
    curved = np.sin(2 * items[..., 0]) + np.cos(2 * items[..., 1]) + items[..., 2] * step
    return np.asarray(curved / 1.4, dtype=np.float64)


def fitted(link: str, items: NDArray[np.float32], c: Vector, arguments: argparse.Namespace) -> ConfDiffAuto:
    """Return the fitted estimator; it does not warn that the differences leave the prior open."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ConfDiffAuto(link, candidates=arguments.candidates.split(",")).fit(items, c)


if __name__ == "__main__":
    main()
