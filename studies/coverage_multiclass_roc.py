"""How often the intervals of `multiclass_roc` cover the population's D.

    python studies/coverage_multiclass_roc.py [--repeats 1000] [--resamples 200] [--seconds 600] [--parametric]
        [--output FILE]

Two kinds of populations. "paper": the paper's simulation (ten covariates, labels drawn from the multinomial model,
scores from a model that sees the first five), class sizes random. "alike" and "unlike": class sizes fixed, scores
softmax(signal * one-hot + normal noise), the same for all classes or with means that differ from pair to pair. D of the
population is that of a large sample. Each sample gets the row bootstrap's interval by all methods, and with
``--parametric`` the default interval of the two parametric bootstraps.
"""

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

import multiauc

POPULATION = 1_000_000
INTERVALS: Final = ("logit", "percentile", "basic")
PARAMETRIC: Final[tuple[Literal["binomial_class_size", "binomial"], ...]] = ("binomial_class_size", "binomial")
# What is added to the logit of class j (column) in rows of class i (row), where classes are unlike.
UNLIKE: Final = np.array([[0.0, 0.8, -0.5, 0.2], [-0.3, 0.0, 0.6, -0.6], [0.9, -0.2, 0.0, 0.3], [-0.1, 0.5, -0.7, 0.0]])


def softmax(logits: np.ndarray) -> np.ndarray:
    """Rows that sum to one."""
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: np.ndarray = odds / odds.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True)
class PaperPopulation:
    """The paper's simulation with fixed coefficients."""

    k: int
    n: int
    seen: int = 5

    @property
    def name(self) -> str:
        """For the table."""
        return f"paper, K = {self.k} | {self.n} in all"

    def sample(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(codes, scores), at least two rows of every class."""
        return self._draw(rng, self.n)

    def area(self) -> float:
        """D of the population."""
        return multiauc.multiclass_roc(*self._draw(np.random.default_rng(0), POPULATION)).auc

    def _draw(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        coefficients = np.random.default_rng(11).normal(1.0, 1.0, size=(10, self.k - 1))
        while True:
            x = rng.normal(size=(n, 10))
            full, seen = (softmax(np.c_[np.ones(n), x[:, :d] @ coefficients[:d]]) for d in (10, self.seen))
            codes = (full.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
            if np.bincount(codes, minlength=self.k).min() >= 2:
                return codes, seen


@dataclass(frozen=True)
class NormalPopulation:
    """Normal logits, raised by a signal for the row's own class."""

    sizes: tuple[int, ...]
    signal: float
    is_alike: bool

    @property
    def name(self) -> str:
        """For the table."""
        kind = "alike" if self.is_alike else "unlike"
        return f"{kind}, K = {len(self.sizes)} | {', '.join(map(str, self.sizes))}"

    def sample(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(codes, scores) with these class sizes."""
        return self._draw(rng, np.array(self.sizes))

    def area(self) -> float:
        """D of the population."""
        sizes = np.array(self.sizes)
        return multiauc.multiclass_roc(*self._draw(np.random.default_rng(0), POPULATION * sizes // sizes.sum())).auc

    def _draw(self, rng: np.random.Generator, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        k = len(sizes)
        codes = np.repeat(np.arange(k), sizes)
        means = self.signal * np.eye(k) + (0.0 if self.is_alike else UNLIKE[:k, :k])
        return codes, softmax(rng.normal(size=(len(codes), k)) + means[codes])


SETTINGS: Final[list[PaperPopulation | NormalPopulation]] = [
    *(PaperPopulation(k, n) for k in (3, 5) for n in (75, 150, 600)),
    NormalPopulation((25,) * 3, 1.0, is_alike=True),
    NormalPopulation((50,) * 4, 2.1, is_alike=True),
    NormalPopulation((120, 50, 20, 10), 2.1, is_alike=True),
    NormalPopulation((25,) * 3, 2.7, is_alike=True),
    NormalPopulation((50,) * 3, 3.3, is_alike=True),
    NormalPopulation((25,) * 3, 2.0, is_alike=False),
    NormalPopulation((50,) * 4, 2.0, is_alike=False),
    NormalPopulation((80, 30, 15), 2.5, is_alike=False),
    NormalPopulation((120, 50, 20, 10), 3.2, is_alike=False),
]


@dataclass(frozen=True)
class Outcome:
    """What was found for one population."""

    name: str
    truth: float
    areas: np.ndarray
    errors: np.ndarray
    covered: dict[str, list[bool]]

    def row(self) -> str:
        """A row of the table."""
        spread = float(np.std(self.areas, ddof=1))
        bias = (float(np.mean(self.areas)) - self.truth) / spread
        cells = [self.name, str(len(self.areas)), f"{self.truth:.4f}", f"{np.mean(self.areas):.4f}", f"{spread:.4f}"]
        cells += [f"{np.mean(self.errors):.4f}", f"{bias:+.2f}", *(_share(values) for values in self.covered.values())]
        return "| " + " | ".join(cells) + " |"


HEAD = (
    "| population | class sizes | samples | D | mean of D̂ | sd of D̂ | mean SE | bias / sd "
    "| logit | percentile | basic |"
)
PARAMETRIC_HEAD = " binomial (class sizes) | binomial (n_c n_d) |"


def _share(values: list[bool]) -> str:
    """A share with its Monte-Carlo standard error."""
    share = float(np.mean(values))
    return f"{share:.3f} ± {np.sqrt(share * (1 - share) / len(values)):.3f}"


def coverage(population: PaperPopulation | NormalPopulation, arguments: argparse.Namespace) -> Outcome:
    """Draw samples of a population until there are enough or the time is up."""
    truth = population.area()
    rng = np.random.default_rng([arguments.seed, *population.name.encode()])
    parametric = PARAMETRIC if arguments.parametric else ()
    covered: dict[str, list[bool]] = {name: [] for name in (*INTERVALS, *parametric)}
    areas: list[float] = []
    errors: list[float] = []
    end = time.monotonic() + arguments.seconds
    while len(areas) < arguments.repeats and (not areas or time.monotonic() < end):
        seed = len(areas)
        roc = multiauc.multiclass_roc(*population.sample(rng))
        rows = roc.bootstrap(arguments.resamples, rng=seed)
        areas.append(roc.auc)
        errors.append(rows.standard_error)
        for name in INTERVALS:
            low, high = rows.confidence_interval(method=name)
            covered[name].append(low <= truth <= high)
        for method in parametric:
            low, high = roc.bootstrap(arguments.resamples // 4, rng=seed, method=method).confidence_interval()
            covered[method].append(low <= truth <= high)
    return Outcome(population.name, truth, np.array(areas), np.array(errors), covered)


def main() -> None:
    """Run all settings and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600.0, help="most seconds for a population")
    parser.add_argument("--parametric", action="store_true", help="the parametric bootstraps too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # replicates that are all alike, in a few of the samples
    head = HEAD + (PARAMETRIC_HEAD if arguments.parametric else "")
    lines = [head, "|---" * (head.count("|") - 1) + "|"]
    print("\n".join(lines), flush=True)
    for population in SETTINGS:
        lines.append(coverage(population, arguments).row())
        print(lines[-1], flush=True)
        if arguments.output:
            arguments.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
