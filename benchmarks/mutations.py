"""Formulas made wrong one at a time, a sign, a factor or an absolute value: a test must fail for each.

Each mutation changes one place of a copy of the sources and runs the tests of that part, which must fail; the command
ends with 1 if any mutation survives. About ten seconds each.

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
    "risks": RISKS,
    "risks/pcomp.py": (*RISKS, "tests/test_companions.py"),
    "corrections.py": ("tests/test_corrections.py", *RISKS),
    "losses.py": ("tests/test_losses.py",),
}
"""Folder or file -> the tests that must notice."""

MUTATIONS: dict[str, list[tuple[str, str]]] = {
    "theory/bounds.py": [
        ("math.log(2 / delta) / (2 * n)", "math.log(2 / delta) / n"),
        ("math.log(2 / delta) / (2 * n)", "math.log(1 / delta) / (2 * n)"),
        ("return 2 * lipschitz * complexity", "return lipschitz * complexity"),
        (
            "return 2 * lemma_4_complexity_of_the_risk(complexity, lipschitz=loss.lipschitz) + 2 * loss.bound",
            "return lemma_4_complexity_of_the_risk(complexity, lipschitz=loss.lipschitz) + 2 * loss.bound",
        ),
        (
            "lipschitz=loss.lipschitz) + 2 * loss.bound * mcdiarmid",
            "lipschitz=loss.lipschitz) + loss.bound * mcdiarmid",
        ),
        ("return 2 * lemma_5_uniform_deviation(", "return lemma_5_uniform_deviation("),
        (
            "wrong = 4 * loss.bound * (abs(mean_error) + abs(prior_error))",
            "wrong = 2 * loss.bound * (abs(mean_error) + abs(prior_error))",
        ),
        ("(abs(mean_error) + abs(prior_error))", "(mean_error + prior_error)"),
        (
            "return 2 * theorem_3_estimation_error(n, complexity, delta=delta, loss=loss) + wrong",
            "return theorem_3_estimation_error(n, complexity, delta=delta, loss=loss) + wrong",
        ),
        ("loss=loss) + wrong", "loss=loss) - wrong"),
        (
            'math.exp(-2 * z**2 * check_count("n", n) / bound**2)',
            'math.exp(-1 * z**2 * check_count("n", n) / bound**2)',
        ),
        ('check_count("n", n) / bound**2)', 'check_count("n", n) / bound)'),
        ("return 2 * (correction_lipschitz + 1) * bound", "return (correction_lipschitz + 1) * bound"),
        ("return 2 * (correction_lipschitz + 1) * bound", "return 2 * (correction_lipschitz - 1) * bound"),
        ("PAPER_CHANGE, TRUE_CHANGE = 2, 4", "PAPER_CHANGE, TRUE_CHANGE = 2, 2"),
        ("return spread + theorem_5_bias(", "return spread - theorem_5_bias("),
        ("spread = change * bound * correction_lipschitz * mcdiarmid", "spread = change * bound * mcdiarmid"),
        ("twice = 2 * theorem_5_deviation(", "twice = theorem_5_deviation("),
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
        ("longest / math.sqrt(len(x))", "longest / len(x)"),
    ],
    "theory/simulation.py": [
        ("(positive, sample.left, pi - c)", "(positive, sample.left, pi + c)"),
        ("(negative, sample.right, 1 - pi - c)", "(negative, sample.right, 1 - pi + c)"),
        ("(positive, sample.right, pi + c)", "(positive, sample.right, pi - c)"),
        ("(negative, sample.left, 1 - pi + c)", "(negative, sample.left, 1 - pi - c)"),
        ("/ (2 * n)", "/ n"),
        (
            "of_positives = positive @ (self.mass * self.posteriors) / 2",
            "of_positives = positive @ (self.mass * self.posteriors)",
        ),
        ("world.posteriors[right] - world.posteriors[left]", "world.posteriors[left] - world.posteriors[right]"),
    ],
    "theory/monte_carlo.py": [
        ("float(np.abs(terms[:, function]).sum() - ", "float(np.abs(terms[:, function].sum()) - "),
        ("np.abs(terms).sum(1) - terms.sum(1)", "np.abs(terms.sum(1)) - terms.sum(1)"),
        (
            "return float(np.abs(terms.sum(0) - world.true_risks).max())",
            "return float((terms.sum(0) - world.true_risks).max())",
        ),
        (
            "values = [float(np.var(alpha * first + (1 - alpha) * second, ddof=1))",
            "values = [float(np.var(alpha * first + (1 + alpha) * second, ddof=1))",
        ),
        ("world.true_risks[np.abs(terms).sum(0).argmin()]", "world.true_risks[np.abs(terms.sum(0)).argmax()]"),
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
        (".mean(-1) / 2", ".mean(-1)"),
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
        ("share * supervised_terms", "2 * share * supervised_terms"),
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
        ("return risks.mean(-1) / 2", "return risks.mean(-1)"),
    ],
    "risks/multiclass.py": [
        ("shares = torch.stack([prior - c, prior + c])", "shares = torch.stack([prior + c, prior - c])"),
        (".mean(1).reshape(-1) / 2", ".mean(1).reshape(-1)"),
        ("(p_prime - p - c).square()", "(p_prime - p + c).square()"),
    ],
}
"""File -> what stands there, and what takes its place."""


def survives(file: str, old: str, new: str) -> bool:
    """Whether all tests of the part still pass with the change."""
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "src"
        shutil.copytree(ROOT / "src", sources)
        path = sources / "confdiff" / file
        before, found, after = path.read_text().rpartition(old)  # the last place: formulas stand in docstrings too
        if not found:
            raise ValueError(f"{file} has no {old!r} any more: mend the table of mutations.")
        path.write_text(before + new + after)
        tests = TESTS.get(file) or TESTS[file.split("/")[0]]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        environment = os.environ | {"PYTHONPATH": str(sources), "OMP_NUM_THREADS": "1"}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode == 0


def main() -> None:
    """Try all mutations, a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="*", choices=list(MUTATIONS), default=list(MUTATIONS), help="only these")
    tried, survivors = 0, 0
    for file in parser.parse_args().files:
        for old, new in MUTATIONS[file]:
            alive = survives(file, old, new)
            tried, survivors = tried + 1, survivors + alive
            print("SURVIVES" if alive else "fails", f"{file}: {old}  ->  {new}", sep="  ", flush=True)
    print(f"{tried} mutations, {survivors} survived")
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main()
