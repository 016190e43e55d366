"""How often the intervals of `multiclass_roc` cover the population's D.

    MULTIAUC_NUM_THREADS=1 python studies/coverage_multiclass_roc.py --processes 2 --state target/coverage-d.json
        --output table.md [--resamples 150] [--parametric]

An hour at most; the same command again goes on where it was. Two kinds of populations. "paper": the paper's simulation
(ten covariates, labels drawn from the multinomial model, scores from a model that sees the first five), class sizes
random. "alike" and "unlike": class sizes fixed, scores softmax(signal * one-hot + normal noise), the same for all
classes or with means that differ from pair to pair. D of the population is that of a large sample. Each sample gets the
row bootstrap's interval by all methods, and with ``--parametric`` the default interval of the parametric bootstraps.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from rounds import Found, Study, Tally, arguments_of, go_on, markdown, write

import multiauc

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs" / "papers"))
from redrawn_rates import redraw_rates

POPULATION = 1_000_000
INTERVALS: Final = ("logit", "percentile", "basic")
# The paper's bootstrap with n_c or n_d trials for each rate, and with n_c n_d.
PARAMETRIC: Final = ("binomial_class_size", "binomial")
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
    def key(self) -> str:
        """By which the file of sums knows it."""
        return f"paper, K = {self.k}, {self.n} rows"

    @property
    def name(self) -> tuple[str, str]:
        """For the table."""
        return f"paper, K = {self.k}", f"{self.n} in all"

    def sample(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(codes, scores), at least two rows of every class."""
        return self._draw(rng, self.n)

    def large_sample(self) -> tuple[np.ndarray, np.ndarray]:
        """(codes, scores) of as many rows as stand for the population."""
        return self._draw(np.random.default_rng(0), POPULATION)

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
    def key(self) -> str:
        """By which the file of sums knows it."""
        return f"{self.name}, signal {self.signal}"

    @property
    def name(self) -> tuple[str, str]:
        """For the table."""
        kind = "alike" if self.is_alike else "unlike"
        return f"{kind}, K = {len(self.sizes)}", ", ".join(map(str, self.sizes))

    def sample(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(codes, scores) with these class sizes."""
        return self._draw(rng, np.array(self.sizes))

    def large_sample(self) -> tuple[np.ndarray, np.ndarray]:
        """(codes, scores) of as many rows as stand for the population."""
        sizes = np.array(self.sizes)
        return self._draw(np.random.default_rng(0), POPULATION * sizes // sizes.sum())

    def _draw(self, rng: np.random.Generator, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        k = len(sizes)
        codes = np.repeat(np.arange(k), sizes)
        means = self.signal * np.eye(k) + (0.0 if self.is_alike else UNLIKE[:k, :k])
        return codes, softmax(rng.normal(size=(len(codes), k)) + means[codes])


Population = PaperPopulation | NormalPopulation
SETTINGS: Final[list[Population]] = [
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


def area(population: Population) -> Found:
    """D of the population."""
    return {"area": multiauc.multiclass_roc(*population.large_sample()).auc}


def study(resamples: int, *, has_parametric: bool) -> Study:
    """The whole table, with so many resamples of each sample."""
    parametric = PARAMETRIC if has_parametric else ()

    def sample(population: Population, true: Found, rng: np.random.Generator) -> Found:
        truth = true["area"]
        roc = multiauc.multiclass_roc(*population.sample(rng))
        rows = roc.bootstrap(resamples, rng=rng)
        found: Found = {"area": roc.auc, "error": rows.standard_error}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of replicates that are all alike
            for name in INTERVALS:
                low, high = rows.confidence_interval(method=name)
                found[name] = float(low <= truth <= high)
            for method in parametric:
                low, high = redraw_rates(roc, resamples // 4, rng, by_pair=method == "binomial").confidence_interval()
                found[method] = float(low <= truth <= high)
        return found

    about = {"study": "multi-class ROC", "resamples": resamples, "parametric": has_parametric}
    return Study({population.key: population for population in SETTINGS}, sample, area, about)


def table(found: dict[str, Tally]) -> str:
    """A row for each population, every share with its Monte-Carlo standard error."""
    head = ["population", "class sizes", "samples", "D", "mean of D̂", "sd of D̂", "mean SE", "bias / sd", *INTERVALS]
    parametric = [name for name in PARAMETRIC if name in next(iter(found.values())).sums]
    rows = []
    for population in SETTINGS:
        tally = found[population.key]
        if tally.samples < 2:
            continue
        truth, mean, spread = tally.truth["area"], tally.mean("area"), tally.deviation("area")
        row = [*population.name, str(tally.samples), f"{truth:.4f}", f"{mean:.4f}", f"{spread:.4f}"]
        row += [f"{tally.mean('error'):.4f}", f"{(mean - truth) / spread:+.2f}"]
        rows.append([*row, *(tally.share(name) for name in (*INTERVALS, *parametric))])
    return markdown([*head, *parametric], rows)


def main() -> None:
    """Go on with the simulation and write the table."""
    parser = arguments_of(__doc__, samples=400, size=10, seconds=3600.0)
    parser.add_argument("--resamples", type=int, default=150)
    parser.add_argument("--parametric", action="store_true", help="the parametric bootstraps too")
    arguments = parser.parse_args()
    write(table(go_on(study(arguments.resamples, has_parametric=arguments.parametric), arguments)), arguments)


if __name__ == "__main__":
    main()
