"""Count how often ConfDiffAuto chooses the link that simulated judgements have, and what a choice costs.

The items have five normal features, and each is in one pair. The score of an item is linear, or a sum of a sine, a
square and an interaction (--surface curved). Judgements are differences of probabilities, strengths of preference or
differences of scores, with normal noise, or shares of five votes. Where differences are small (--scale 0.3), all three
links are alike, and the cost is what matters: the R² of the true differences of 2,000 new pairs with the right link,
minus that with the chosen one.
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


def main() -> None:
    """Print one line per kind of judgement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--scale", type=float, default=2.0, help="standard deviation of the scores")
    parser.add_argument("--noise", type=float, default=0.1, help="standard deviation; 0 stands for five votes")
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
    items, c = judged_pairs(kind, arguments.pairs, direction, arguments, rng)
    new_items, truth = judged_pairs(kind, N_NEW, direction, arguments, rng, exact=True)
    chosen, right = (fitted(link, items, c, arguments) for link in ("auto", kind))
    scores = [difference_r2(model.predict_difference(new_items), truth) for model in (right, chosen)]
    return chosen.link_ == kind, scores[0] - scores[1]


def judged_pairs(
    kind: str,
    count: int,
    direction: Vector,
    arguments: argparse.Namespace,
    rng: np.random.Generator,
    *,
    exact: bool = False,
) -> tuple[NDArray[np.float32], Vector]:
    """Return the features of pairs, and their judged or exact differences."""
    items = rng.normal(size=(count, 2, N_FEATURES)).astype(np.float32)
    g = arguments.scale * surface(items, direction, arguments.surface)
    c = LINKS[kind].difference(g[:, 0], g[:, 1])
    if kind == "score":
        c = c / (5 * arguments.scale)  # on a scale from -1 to 1
    if exact:
        return items, c
    if not arguments.noise and kind != "score":
        return items, 2 * rng.binomial(5, (1 + c) / 2) / 5 - 1
    return items, np.clip(c + rng.normal(0, arguments.noise or 0.15, count), -1, 1)


def surface(items: NDArray[np.float32], direction: Vector, name: str) -> Vector:
    """Return scores with a standard deviation of about 1."""
    if name == "linear":
        return np.asarray(items @ direction, dtype=np.float64)
    curved = np.sin(2 * items[..., 0]) + items[..., 1] ** 2 - 1 + items[..., 2] * (2 * expit(9 * items[..., 3]) - 1)
    return np.asarray(curved / 1.9, dtype=np.float64)


def fitted(link: str, items: NDArray[np.float32], c: Vector, arguments: argparse.Namespace) -> ConfDiffAuto:
    """Return the fitted estimator; it does not warn that the differences leave the prior open."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ConfDiffAuto(link, candidates=arguments.candidates.split(",")).fit(items, c)


if __name__ == "__main__":
    main()
