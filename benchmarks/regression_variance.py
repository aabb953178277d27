"""Print asymptotic variances and gradient noise of difference regression and of the unbiased risk, by enumeration.

A distribution of 60 points with logistic posteriors; nothing is drawn but the points (seed 0). The first table has the
limit of n E(p - r)^2. The second has the number of pairs whose mean gradient has as much noise as size. The third has
n E(p - r)^2 of fits to samples in Example 6 of docs/theory.md, with standard errors, because its limit is far.

    python benchmarks/regression_variance.py
"""

import numpy as np
import torch
from torch.autograd.functional import jacobian

from confdiff.risks import confdiff_terms, regression_terms
from confdiff.theory import efficiency
from confdiff.theory.regression_risks import label_differences
from confdiff.theory.simulation import FloatArray, World, draw

MODELS = {"moderate": (-1.0, 2.0, -0.5), "near 0 and 1": (-4.0, 8.0, -2.0), "rare": (-4.0, 1.5, -0.5)}
WEIGHTS = np.logspace(-4, 4, 161)


def kinds(world: World) -> dict[str, FloatArray]:
    """Return the variance of the noise of each pair of points, for each kind of differences."""
    shape = (len(world.mass),) * 2
    return {"exact": np.zeros(shape), "N(0, .3^2)": np.full(shape, 0.09), "labels": efficiency.label_noise(world)}


def variances() -> None:
    """Print the first table."""
    for name, weights in MODELS.items():
        world = efficiency.logistic_world(World.make(), weights)
        print(f"\n{name}: prior {world.prior:.3f}, Var(r) {world.posterior_variance:.4f}")
        print("differences | unbiased | no prior | weight 1 | best weight")
        for kind, noise in kinds(world).items():
            unbiased = efficiency.limiting_error(world, efficiency.unbiased_covariance(world, noise))
            without, library, *others = (
                efficiency.limiting_error(world, efficiency.regression_covariance(world, noise, prior_weight=w))
                for w in (0.0, 1.0, *WEIGHTS)
            )
            best = "0" if kind == "exact" else f"{WEIGHTS[int(np.argmin(others))]:.1f}"
            least = without if kind == "exact" else min(others)
            print(f"{kind} | {unbiased:.3f} | {without:.3f} | {library:.3f} | {least:.3f} at {best}")


def pairs_of_noise(world: World, weights: FloatArray, noise: FloatArray) -> tuple[float, float]:
    """Return E |gradient of a pair|^2 / |mean gradient|^2 - 1 of both risks at some weights.

    Noise is two values with its variance. The squared offset is linearised in the mean probability.
    """
    k = len(world.mass)
    left, right = (np.concatenate([rows.ravel()] * 2) for rows in np.indices((k, k)))
    probability = world.mass[left] * world.mass[right] / 2
    size = np.sqrt(noise[left, right]) * np.repeat([-1.0, 1.0], k * k)
    c = torch.from_numpy(world.posteriors[right] - world.posteriors[left] + size)
    phi = torch.from_numpy(efficiency.features(world))
    mass = torch.from_numpy(world.mass)
    start = torch.from_numpy(weights)
    mean = float(mass @ torch.sigmoid(phi @ start))

    def unbiased(theta: torch.Tensor) -> torch.Tensor:
        g = phi @ theta
        a, b = g[left], g[right]
        prior = world.prior
        loss = torch.nn.functional.softplus
        terms = (prior - c) * loss(-a) + (1 - prior - c) * loss(b) + (prior + c) * loss(-b) + (1 - prior + c) * loss(a)
        return terms / 2

    def regression(theta: torch.Tensor) -> torch.Tensor:
        p = torch.sigmoid(phi @ theta)
        halves = (p[left] + p[right]) / 2
        offset = 2 * (mean - world.prior) * halves + 2 * (halves.detach() - mean) * (mass @ p)
        return (p[right] - p[left] - c) ** 2 + offset

    weight = torch.from_numpy(probability * len(probability))
    check = start.clone().requires_grad_()
    scores = phi @ check
    totals = (
        confdiff_terms(scores[left], scores[right], c, prior=world.prior, weight=weight).sum(),
        regression_terms(scores[left], scores[right], c, prior=world.prior, weight=weight).sum(),
    )
    ratios = []
    for function, total in zip((unbiased, regression), totals, strict=True):
        gradients = jacobian(function, start).numpy()  # type: ignore[no-untyped-call]
        average = probability @ gradients
        (expected,) = torch.autograd.grad(total, check, retain_graph=True)
        np.testing.assert_allclose(average, expected.numpy(), atol=1e-10)
        ratios.append(float(probability @ (gradients**2).sum(axis=1) / (average @ average)) - 1)
    return ratios[0], ratios[1]


def gradients() -> None:
    """Print the second table."""
    print("\nmodel | differences | at zero weights: unbiased, regression | at nine tenths of the true weights")
    for name, true in MODELS.items():
        world = efficiency.logistic_world(World.make(), true)
        for kind, noise in kinds(world).items():
            places = [pairs_of_noise(world, fraction * np.array(true), noise) for fraction in (0.0, 0.9)]
            print(f"{name} | {kind} | " + " | ".join(f"{u:.1f}, {r:.1f}" for u, r in places))


def example_6(samples: int = 300) -> None:
    """Print the third table: label differences of rare positives, three methods."""
    points = np.array([[-0.4, 0.4], [-0.8, 1.0], [2.2, 0.6], [1.8, 0.6]])
    mass = np.array([0.7, 0.16, 0.02, 0.12])
    world = World(points=points, mass=mass, posteriors=np.full(4, 0.5), scores=np.zeros((1, 4)))
    world = efficiency.logistic_world(world, (-6.0, 1.5, 1.5))
    print("\npairs | unbiased | weight 1 | weight 50")
    for n in (20_000, 100_000, 500_000):
        errors = []
        for seed in range(samples):
            rng = np.random.default_rng(seed)
            sample = label_differences(world, draw(world, n, rng), rng)
            fits = (
                efficiency.fit_unbiased(world, sample),
                efficiency.fit_regression(world, sample),
                efficiency.fit_regression(world, sample, prior_weight=50.0),
            )
            errors.append([n * mass @ (p - world.posteriors) ** 2 for p in fits])
        means = np.mean(errors, axis=0)
        standard_errors = np.std(errors, axis=0, ddof=1) / np.sqrt(samples)
        print(f"{n} | " + " | ".join(f"{m:.3f} +- {e:.3f}" for m, e in zip(means, standard_errors, strict=True)))


if __name__ == "__main__":
    variances()
    gradients()
    example_6()
