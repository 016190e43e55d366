"""How often the intervals of `multiclass_roc` cover the population's D.

    python studies/coverage_multiclass_roc.py [--repeats 1000] [--resamples 200] [--seconds 600] [--output FILE]

Samples of n rows are drawn from the paper's simulation (p = 10 covariates, labels drawn from the multinomial model,
scores from a model that sees the first five), and D of the population is that of a million rows. Each sample gets the
row bootstrap's interval by all methods, and the two parametric bootstraps' logit interval.
"""

import argparse
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

import multiauc

SETTINGS = [(k, n) for k in (3, 5) for n in (75, 150, 600)]
POPULATION = 1_000_000
INTERVALS: Final = ("logit", "percentile", "basic")
PARAMETRIC: Final = ("binomial_class_size", "binomial")


class Population:
    """The paper's simulation with fixed coefficients."""

    def __init__(self, k: int, seed: int = 11, seen: int = 5) -> None:
        self.k = k
        self.seen = seen
        self.coefficients = np.random.default_rng(seed).normal(1.0, 1.0, size=(10, k - 1))

    def sample(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """(codes, scores) of n rows, at least two of every class."""
        while True:
            x = rng.normal(size=(n, 10))
            probabilities = self._softmax(x, 10)
            codes = (probabilities.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
            if np.bincount(codes, minlength=self.k).min() >= 2:
                return codes, self._softmax(x, self.seen)

    def _softmax(self, x: np.ndarray, seen: int) -> np.ndarray:
        z = np.c_[np.ones(len(x)), x[:, :seen] @ self.coefficients[:seen]]
        e = np.exp(z - z.max(axis=1, keepdims=True))
        softmax: np.ndarray = e / e.sum(axis=1, keepdims=True)
        return softmax

    def area(self, **options: Any) -> float:
        """D of the population."""
        return multiauc.multiclass_roc(*self.sample(np.random.default_rng(0), POPULATION), **options).auc


def coverage(
    k: int, n: int, repeats: int, resamples: int, seconds: float, seed: int, **options: Any
) -> dict[str, float]:
    """Shares of covering intervals, and the bias of D in units of its standard error."""
    population = Population(k)
    truth = population.area(**options)
    rng = np.random.default_rng([k, n, seed])
    areas, errors = [], []
    covered: dict[str, list[bool]] = {name: [] for name in (*INTERVALS, *PARAMETRIC)}
    end = time.monotonic() + seconds
    for repeat in range(repeats):
        roc = multiauc.multiclass_roc(*population.sample(rng, n), **options)
        rows = roc.bootstrap(resamples, rng=repeat)
        areas.append(roc.auc)
        errors.append(rows.standard_error)
        for name in INTERVALS:
            low, high = rows.confidence_interval(method=name)
            covered[name].append(low <= truth <= high)
        for method in PARAMETRIC:
            low, high = roc.bootstrap(resamples // 4, rng=repeat, method=method).confidence_interval()
            covered[method].append(low <= truth <= high)
        if time.monotonic() > end:
            break
    spread = float(np.std(areas, ddof=1))
    return {
        "k": k,
        "n": n,
        "repeats": len(areas),
        "D": truth,
        "mean": float(np.mean(areas)),
        "sd": spread,
        "se": float(np.mean(errors)),
        "bias": (float(np.mean(areas)) - truth) / spread,
        **{name: float(np.mean(values)) for name, values in covered.items()},
    }


def table(results: list[dict[str, float]]) -> str:
    """The results in Markdown."""
    head = "k, n, samples, D, mean of D̂, sd of D̂, mean SE, bias / sd, logit, percentile, basic"
    names = [*head.split(", "), "binomial (class sizes)", "binomial (n_c n_d)"]
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    for r in results:
        shares = [
            f"{r[name]:.3f} ± {np.sqrt(r[name] * (1 - r[name]) / r['repeats']):.3f}"
            for name in (*INTERVALS, *PARAMETRIC)
        ]
        lines.append(
            f"| {r['k']} | {r['n']} | {r['repeats']} | {r['D']:.4f} | {r['mean']:.4f} | {r['sd']:.4f} | {r['se']:.4f} "
            f"| {r['bias']:+.2f} | " + " | ".join(shares) + " |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run all settings and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600.0, help="most seconds for a setting")
    parser.add_argument("--continuity", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    results = []
    for k, n in SETTINGS:
        limits = arguments.repeats, arguments.resamples, arguments.seconds, arguments.seed
        results.append(coverage(k, n, *limits, continuity=arguments.continuity))
        print(table(results[-1:]).splitlines()[-1], flush=True)
    if arguments.output:
        arguments.output.write_text(table(results) + "\n")


if __name__ == "__main__":
    main()
