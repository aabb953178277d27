"""Run mutation tests: make formulas wrong one at a time (a sign, a factor, an absolute value); a test must fail.

Each mutation changes one place in a copy of the sources and runs the tests of that part. The command exits with
status 1 if all tests pass with any of the mutations. Each takes about ten seconds.

    python benchmarks/mutations.py --files theory/bounds.py
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

RISKS = ("tests/risks", "tests/test_methods.py")
TESTS = {
    "theory": ("tests/theory",),
    "theory/regression_bounds.py": ("tests/theory/test_regression_bounds.py",),
    "theory/regression_risks.py": ("tests/theory/test_regression_risks.py",),
    "theory/regression_checks.py": ("tests/theory/test_regression_checks.py",),
    "theory/efficiency.py": ("tests/theory/test_efficiency.py",),
    "risks": RISKS,
    "risks/pcomp.py": (*RISKS, "tests/test_companions.py"),
    "corrections.py": ("tests/test_corrections.py", *RISKS),
    "losses.py": ("tests/test_losses.py",),
}
"""Folder or file -> the tests of which one must fail."""

MUTATIONS: dict[str, list[tuple[str, str]]] = {
    "theory/bounds.py": [
        ('/ (2 * check_count("n", n)))', '/ check_count("n", n))'),
        ("math.log(2 / check_delta(delta))", "math.log(1 / check_delta(delta))"),
        ('return 2 * check_number("lipschitz"', 'return check_number("lipschitz"'),
        ("rate = 2 * lemma_4_complexity_of_the_risk(", "rate = lemma_4_complexity_of_the_risk("),
        ("return rate + 2 * loss.bound * mcdiarmid", "return rate + loss.bound * mcdiarmid"),
        ("return 2 * lemma_5_uniform_deviation(", "return lemma_5_uniform_deviation("),
        (
            "noise = 4 * loss.bound * (abs(mean_error) + abs(prior_error))",
            "noise = 2 * loss.bound * (abs(mean_error) + abs(prior_error))",
        ),
        ("(abs(mean_error) + abs(prior_error))", "(mean_error + prior_error)"),
        (
            "return 2 * theorem_3_estimation_error(n, complexity, delta=delta, loss=loss) + noise",
            "return theorem_3_estimation_error(n, complexity, delta=delta, loss=loss) + noise",
        ),
        ("loss=loss) + noise", "loss=loss) - noise"),
        ("math.exp(-2 * z**2", "math.exp(-1 * z**2"),
        ("math.exp(-2 * z**2", "math.exp(-2 * z"),
        ("above=0) ** 2) for z", "above=0)) for z"),
        (
            "bound: float, correction_lipschitz: float = 1.0) -> float:",
            "bound: float, correction_lipschitz: float = 0.0) -> float:",
        ),
        ("return 2 * (correction_lipschitz + 1) * bound", "return (correction_lipschitz + 1) * bound"),
        ("return 2 * (correction_lipschitz + 1) * bound", "return 2 * (correction_lipschitz - 1) * bound"),
        ("LARGEST_CHANGE = 4", "LARGEST_CHANGE = 2"),
        ("return spread + theorem_5_bias(", "return spread - theorem_5_bias("),
        ("spread = change * bound * correction_lipschitz * mcdiarmid", "spread = change * bound * mcdiarmid"),
        ("twice_deviation = 2 * theorem_5_deviation(", "twice_deviation = theorem_5_deviation("),
        ("change: int = LARGEST_CHANGE", "change: int = PAPER_CHANGE"),
        ("return twice_deviation + theorem_3", "return twice_deviation - theorem_3"),
        ("rate = 12 * loss.lipschitz", "rate = 8 * loss.lipschitz"),
        ("rate + 8 * loss.bound", "rate + 4 * loss.bound"),
        ("check_delta(delta) / 4)", "check_delta(delta))"),
    ],
    "theory/complexity.py": [
        (
            "math.sqrt(float((x.astype(np.float64) ** 2).sum())) / len(x)",
            "math.sqrt(float((x.astype(np.float64) ** 2).sum()) / len(x))",
        ),
        ("sizes = np.abs(sums).max(axis=1)", "sizes = sums.max(axis=1)"),
        ("* sizes / len(x)", "* sizes / len(x) / 2"),
        (".max(axis=1) / table.shape[1]", ".mean(axis=1) / table.shape[1]"),
        ("math.sqrt(2 * math.log(2) * depth) + 1", "math.sqrt(math.log(2) * depth) + 1"),
        ("return math.sqrt(float((x**2).sum())) / len(x)", "return math.sqrt(float((x**2).sum()) / len(x))"),
        ("/ math.sqrt(draws)) if draws > 1", ") if draws > 1"),
        (".norm()))", ".norm() / 2))"),
        ("(x**2).sum(axis=1).max()", "(x**2).sum(axis=1).min()"),
    ],
    "theory/simulation.py": [
        ("(positive, sample.left, pi - c)", "(positive, sample.left, pi + c)"),
        ("(negative, sample.right, 1 - pi - c)", "(negative, sample.right, 1 - pi + c)"),
        ("(positive, sample.right, pi + c)", "(positive, sample.right, pi - c)"),
        ("(negative, sample.left, 1 - pi + c)", "(negative, sample.left, 1 - pi - c)"),
        ("/ (2 * n)", "/ n"),
        ("for loss, rows, weight in terms]).sum(axis=0) / 2", "for loss, rows, weight in terms]).sum(axis=0)"),
        (
            "of_positives = positive @ (self.mass * self.posteriors) / 2",
            "of_positives = positive @ (self.mass * self.posteriors)",
        ),
        ("world.posteriors[right] - world.posteriors[left]", "world.posteriors[left] - world.posteriors[right]"),
    ],
    "theory/monte_carlo.py": [
        ("float(np.abs(terms[:, function]).sum() - ", "float(np.abs(terms[:, function].sum()) - "),
        ("np.abs(terms).sum(1) - terms.sum(1)", "np.abs(terms.sum(1)) - terms.sum(1)"),
        ("float(np.abs(terms.sum(0) - world.true_risks).max())", "float((terms.sum(0) - world.true_risks).max())"),
        ("(1 - alpha) * second", "(1 + alpha) * second"),
        ("first = 2 * terms", "first = terms"),
        ("[np.abs(terms).sum(0).argmin()]", "[np.abs(terms.sum(0)).argmin()]"),
        ("sample.c - np.sign(sample.c) * noise", "sample.c + np.sign(sample.c) * noise"),
        ("world.prior + shift", "world.prior - shift"),
        ("mean_error=mean_errors[-1]", "mean_error=0.0"),
        ("prior_error=shift", "prior_error=0.0"),
        ("[2 * world.constants.bound * bounds.mcdiarmid", "[world.constants.bound * bounds.mcdiarmid"),
        ("least = world.expected_terms.min(axis=1)", "least = world.expected_terms.max(axis=1)"),
        (
            "least = world.expected_terms[:, function].tolist()",
            "least = (2 * world.expected_terms[:, function]).tolist()",
        ),
        ("(terms_at(mild, function, n, settings, 20) <= 0)", "(terms_at(mild, function, n, settings, 20) >= 0)"),
    ],
    "theory/measuring.py": [
        ("ratios = [b / m", "ratios = [m / b"),
        ("return min(ratios)", "return max(ratios)"),
        ("values.std(ddof=1) / np.sqrt(len(values))", "values.std(ddof=1) / len(values)"),
        ("np.quantile(np.abs(table), 1 - DELTA, axis=1)", "np.quantile(table, 1 - DELTA, axis=1)"),
        ("<= b - bound[0]", "<= b + bound[0]"),
    ],
    "theory/regression_bounds.py": [
        ('return (1 + check_number("largest"', 'return (check_number("largest"'),
        ("spread = ((1 + largest) ** 2 + 2 * kappa)", "spread = ((1 + largest) ** 2 + kappa)"),
        ("largest=largest) + kappa * complexity + spread", "largest=largest) - kappa * complexity + spread"),
        ("spread = (2 * (1 + largest) ** 2 + 4 * kappa)", "spread = ((1 + largest) ** 2 + 4 * kappa)"),
        ("+ 2 * kappa * complexity + spread", "+ kappa * complexity + spread"),
        ("math.sqrt(2 * noise_shift**2 + prior_error**2)", "math.sqrt(noise_shift**2 + prior_error**2)"),
        ("least=0)) + 2 * shift", "least=0)) + shift"),
        ('/ (2 * check_count("n", n))', '/ check_count("n", n)'),
        ("** 2 + 2 * _kappa(prior)) * mcdiarmid", "** 2 + _kappa(prior)) * mcdiarmid"),
        ("mcdiarmid(n, delta) + bias", "mcdiarmid(n, delta)"),
        ("(1 - check_fraction", "(check_fraction"),
        ("return 28 / 3 * size", "return 14 / 3 * size"),
        ("(32 / 3 * size + 2)", "(32 / 3 * size)"),
        ("(logarithm + math.log(4))", "logarithm"),
        ("max(check_prior(prior), 1 - prior)", "min(check_prior(prior), 1 - prior)"),
        ("(1 if prior is None else 2)", "(2 if prior is None else 1)"),
    ],
    "theory/regression_risks.py": [
        ("- 2 * p @ pull", "+ 2 * p @ pull"),
        ("- 2 * ((p @ counts) * p)", "- ((p @ counts) * p)"),
        ("means = p @ occurrences / (2 * n)", "means = p @ occurrences / n"),
        ("np.stack([2 * variances, offsets**2])", "np.stack([variances, offsets**2])"),
        ("offsets = means + world.prior -", "offsets = means - world.prior +"),
        ("second.astype(np.float64) - first", "first.astype(np.float64) - second"),
        ("(mass @ bias - bias @ mass) / 2", "(mass @ bias - bias @ mass)"),
        ("2 * shift - prior_error", "shift - prior_error"),
    ],
    "theory/regression_checks.py": [
        ("(1 - amount) * sample.c", "(1 + amount) * sample.c"),
        ("noise_shift=amount * spread", "noise_shift=amount"),
        ("prior = right.prior + shift", "prior = right.prior - shift"),
        ("excess = expected - expected.min()", "excess = expected"),
        ("np.abs(risk - expected).max()", "(risk - expected).max()"),
        ("np.clip(world.posteriors + shifts[:, None], 0, 1)", "np.clip(world.posteriors - shifts[:, None], 0, 1)"),
        ("mass=min(low, high, 1.0)", "mass=max(low, high)"),
    ],
    "theory/efficiency.py": [
        ("prior_weight**2 * world.posterior_variance / 2", "prior_weight * world.posterior_variance / 2"),
        ("prior_weight**2 * world.posterior_variance / 2", "prior_weight**2 * world.posterior_variance"),
        ("differences) + prior_weight * from_prior", "differences)"),
        ("_second_moment(pairs, exact) / 4", "_second_moment(pairs, exact) / 2"),
        ("(pairs * noise, phi[None] - phi[:, None]) / 4", "(pairs * noise, phi[None] - phi[:, None])"),
        ("centred[None, :, None] * phi[:, None] + centred", "centred[None, :, None] * phi[:, None] - centred"),
        ("return 2 * noise_variance /", "return noise_variance /"),
        ("prior_weight * offset * per_item", "offset * per_item"),
        ("world.prior * occurrences + pull", "world.prior * occurrences - pull"),
    ],
    "risks/pcomp.py": [
        ("loss(g) - (1 - prior) * loss(g_prime)", "loss(g) + (1 - prior) * loss(g_prime)"),
        ("loss(g) - (1 - prior) * loss(g_prime)", "loss(g) - prior * loss(g_prime)"),
        ("loss(-g_prime) - prior * loss(-g)", "loss(g_prime) - prior * loss(-g)"),
        ("loss(-g_prime) - prior * loss(-g)", "loss(-g_prime) - prior * loss(g)"),
        ("return prior / 2, (1 - prior) / 2", "return prior, (1 - prior)"),
        (
            "return prior / (1 + prior), (1 - prior) / (2 - prior)",
            "return prior / (1 - prior), (1 - prior) / (2 - prior)",
        ),
        ("1 - prior * (1 - prior)", "1 - 2 * prior * (1 - prior)"),
        ("mean_over_pairs(risks if weight is None else risks * weight) / 2", "mean_over_pairs(risks)"),
        ("w_prime * loss(-g_prime), consistency", "w_prime * loss(g_prime), consistency"),
    ],
    "risks/differences.py": [
        ("(p_prime - p - c).square()", "(p_prime - p + c).square()"),
        ("((p + p_prime) / 2 - prior)", "(p + p_prime - prior)"),
        ("torch.clamp((p + p_prime - c) / 2,", "torch.clamp((p + p_prime + c) / 2,"),
        ("(p + p_prime - c) / 2", "(p + p_prime - c)"),
        ("half = d + k * (2 - d)", "half = d + k * (1 - d)"),
        ("4 * (1 - k) * k * (1 - d)", "2 * (1 - k) * k * (1 - d)"),
        ("t = torch.where(s > 0, 1 - d - solution, solution)", "t = torch.where(s > 0, 1 + d - solution, solution)"),
        ("k = torch.exp(-s.abs())", "k = torch.exp(-s)"),
        ("(prior - t - d / 2)", "(prior - t - d)"),
        ("fraction * supervised_terms", "2 * fraction * supervised_terms"),
    ],
    "risks/ranking.py": [
        ("loss(s * (g_prime - g)) * s.abs()", "loss(s * (g - g_prime)) * s.abs()"),
        ("loss(s * (g_prime - g)) * s.abs()", "loss(s * (g_prime - g))"),
        ("weight=weight, loss=hinge)", "weight=weight, loss=loss)"),
    ],
    "corrections.py": [
        ("return z.abs()", "return z.relu()"),
        ("return z.relu()", "return z.abs()"),
    ],
    "losses.py": [
        ("((1 + g) / 2).clamp(0, 1)", "((1 + g) / 2)"),
        ("return torch.sigmoid(-z)", "return torch.sigmoid(z)"),
        ("lambda C: 2 * (1 + C)", "lambda C: (1 + C)"),
        ("lambda C: math.log1p(math.exp(-C)) + C", "lambda C: math.log1p(math.exp(-C))"),
        ("torch.sigmoid(2 * g)", "torch.sigmoid(g)"),
    ],
    "risks/confdiff.py": [
        (
            "[prior - c, 1 - prior - c, prior + c, 1 - prior + c]",
            "[prior + c, 1 - prior - c, prior + c, 1 - prior + c]",
        ),
        (
            "[prior - c, 1 - prior - c, prior + c, 1 - prior + c]",
            "[prior - c, 1 - prior + c, prior + c, 1 - prior + c]",
        ),
        (
            "[prior - c, 1 - prior - c, prior + c, 1 - prior + c]",
            "[prior - c, 1 - prior - c, prior - c, 1 - prior + c]",
        ),
        (
            "[prior - c, 1 - prior - c, prior + c, 1 - prior + c]",
            "[prior - c, 1 - prior - c, prior + c, 1 - prior - c]",
        ),
        ("[g, -g_prime, g_prime, -g]", "[g, g_prime, g_prime, -g]"),
        ("(0.5 if alpha == 0.5", "(1.0 if alpha == 0.5"),
        ("[[alpha], [alpha], [1 - alpha], [1 - alpha]]", "[[alpha], [1 - alpha], [1 - alpha], [alpha]]"),
    ],
    "risks/supervised.py": [
        ("(1 - targets) * loss(-scores)", "(1 - targets) * loss(scores)"),
        ("return mean_over_pairs(risks) / 2", "return mean_over_pairs(risks)"),
    ],
    "risks/multiclass.py": [
        ("shares = torch.stack([prior - c, prior + c])", "shares = torch.stack([prior + c, prior - c])"),
        ("1).reshape(-1) / 2", "1).reshape(-1)"),
        ("(p_prime - p - c).square()", "(p_prime - p + c).square()"),
    ],
}
"""File -> (source text, replacement) of each mutation."""


def mutated(file: str, old: str, new: str) -> str:
    """Return the source of a file with the last occurrence of ``old`` replaced; formulas occur in docstrings too."""
    before, match, after = (ROOT / "src" / "confdiff" / file).read_text().rpartition(old)
    if not match:
        raise ValueError(f"{file} does not contain {old!r}: update MUTATIONS.")
    return before + new + after


def survives(file: str, old: str, new: str) -> bool:
    """Return whether all tests of the part pass with the mutation."""
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "src"
        shutil.copytree(ROOT / "src", sources)
        (sources / "confdiff" / file).write_text(mutated(file, old, new))
        tests = TESTS.get(file) or TESTS[file.split("/")[0]]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        environment = os.environ | {"PYTHONPATH": str(sources), "OMP_NUM_THREADS": "1"}
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if run.returncode not in (0, 1):  # 1: tests ran, and at least one failed
            raise RuntimeError(f"{file}, {new!r}: the tests did not run.\n{run.stdout[-2000:]}")
        return run.returncode == 0


def main() -> None:
    """Try all mutations and print one line per mutation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="*", choices=list(MUTATIONS), default=list(MUTATIONS), help="files to mutate")
    n_tried = 0
    n_survived = 0
    for file in parser.parse_args().files:
        for old, new in MUTATIONS[file]:
            survived = survives(file, old, new)
            n_tried += 1
            n_survived += survived
            print("SURVIVES" if survived else "fails", f"{file}: {old}  ->  {new}", sep="  ", flush=True)
    print(f"{n_tried} mutations, {n_survived} survived")
    sys.exit(n_survived > 0)


if __name__ == "__main__":
    main()
