"""How often the default intervals cover, and how often tests reject what is true.

    MULTIAUC_NUM_THREADS=1 python studies/coverage.py docs/coverage.csv

Half an hour on one core; the same command again goes on where it was. Every line of the table is one scenario and one
metric: samples are drawn from a population, and the line says in which share of them the interval holds the
population's value. Tests are read the same way, as intervals of a difference that is 0: their type I error is one less
the coverage. The population's value is that of a very large sample.
"""

import csv
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import multiauc

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
SAMPLES = 1000
#: Rows per class of the samples that stand for a population.
POPULATION = 40_000
LEVELS: Final = (0.9, 0.95, 0.99)
COLUMNS: Final = (
    *("study", "population", "sizes", "signal", "rows", "quantity", "truth", "samples"),
    *("coverage_90", "coverage_95", "coverage_99", "logit_95", "width", "logit_width"),
)
RANKINGS: Final = ("auc_mu", "hand_till", "one_vs_rest", "pdi")
CLASSIFICATIONS: Final = ("accuracy", "kappa", "matthews", "macro_f1", "top_k_accuracy")


def normalize(scores: Array) -> Array:
    """Rows that sum to 1."""
    shares: Array = scores / scores.sum(axis=1, keepdims=True)
    return shares


def softmax(logits: Array) -> Array:
    """Rows of positive numbers that sum to 1."""
    return normalize(np.exp(logits - logits.max(axis=1, keepdims=True)))


def beta(rng: np.random.Generator, own: Array, signal: float) -> Array:
    """Bounded scores, skewed in opposite directions."""
    scores = rng.beta(1.5 + signal * own, 1.5 + signal * (1 - own))
    return normalize(scores)


def lognormal(rng: np.random.Generator, own: Array, signal: float) -> Array:
    """Heavy tails, and one row in twelve that the model has not understood."""
    is_understood = rng.random((len(own), 1)) < 11 / 12
    scores = np.exp(1.2 * signal * own * is_understood + rng.normal(size=own.shape))
    return normalize(scores)


def logistic_normal(rng: np.random.Generator, own: Array, signal: float) -> Array:
    """Softmax of normal logits; half of the noise is shared by all classes but the first."""
    shared = rng.normal(size=(len(own), 1)) * (np.arange(own.shape[1]) > 0)
    return softmax(signal * own + rng.normal(size=own.shape) + shared)


def ordinal(rng: np.random.Generator, own: Array, signal: float) -> Array:
    """Ordered classes that leak into their neighbours."""
    places = np.arange(own.shape[1])
    found = own @ places + rng.normal(size=len(own)) * 2.0 / (0.5 + signal)
    return softmax(-0.5 * (found[:, None] - places) ** 2)


def forest(rng: np.random.Generator, own: Array, signal: float) -> Array:
    """Votes of 25 trees."""
    return rng.multinomial(25, softmax(1.3 * signal * own + rng.normal(size=own.shape))) / 25


def overconfident(rng: np.random.Generator, own: Array, signal: float) -> Array:
    """A network of temperature 0.2, with many ties at 0 and 1."""
    found = np.round(softmax((signal * own + rng.normal(size=own.shape)) / 0.2), 4)
    return normalize(found)


SHAPES: Final[dict[str, Callable[[np.random.Generator, Array, float], Array]]] = {
    "beta": beta,
    "lognormal mixture": lognormal,
    "logistic-normal": logistic_normal,
    "ordinal leak": ordinal,
    "forest of 25": forest,
    "overconfident": overconfident,
}
SIZES: Final = (
    *((60, 6), (80, 80)),
    *((100, 30, 6), (160, 30, 10), (60, 60, 60)),
    *((120, 60, 30, 15, 8), (40,) * 5),
    (60, 50, 40, 30, 30, 20, 20, 15, 10, 8),
)


@dataclass(frozen=True)
class Scenario:
    """What the samples of some lines have in common."""

    study: str
    population: str
    sizes: tuple[int, ...]
    signal: float
    rows: str = ""

    def draw(self, rng: np.random.Generator, codes: Codes, shift: float = 0.0) -> Array:
        """Scores of rows of these classes."""
        own = np.eye(len(self.sizes))[codes]
        return SHAPES[self.population](rng, own, self.signal + shift)

    def codes(self, rng: np.random.Generator) -> Codes:
        """The classes of a sample: of fixed sizes, or drawn at random with at least two rows of each."""
        if self.rows != "random sizes":
            return np.repeat(np.arange(len(self.sizes)), self.sizes)
        while True:
            counts = rng.multinomial(sum(self.sizes), np.array(self.sizes) / sum(self.sizes))
            if counts.min() >= 2:
                return np.repeat(np.arange(len(self.sizes)), counts)

    def generator(self, purpose: str) -> np.random.Generator:
        """Random numbers of its own."""
        return np.random.default_rng(zlib.crc32(f"{self}{purpose}".encode()))


def truths(scenario: Scenario, metrics: tuple[str, ...], **options: Any) -> list[float]:
    """The population's values."""
    classes = len(scenario.sizes)
    codes = np.repeat(np.arange(classes), POPULATION)
    scores = scenario.draw(scenario.generator("population"), codes)
    weight = np.array(scenario.sizes, dtype=float)[codes]
    found = multiauc.evaluate(codes, scores, metrics=metrics, sample_weight=weight, labels=range(classes), **options)
    return [found.metrics[name].value for name in metrics]


class Tally:
    """Counts of intervals that cover."""

    def __init__(self) -> None:
        self.covered: list[list[bool]] = []
        self.by_logit: list[bool] = []
        self.widths: list[float] = []
        self.logit_widths: list[float] = []

    def add_p_value(self, p_value: float) -> None:
        """Look at a test of what is true."""
        self.covered.append([p_value > 1 - level for level in LEVELS])

    def add(self, estimate: Any, truth: float) -> None:
        """Look at the intervals of one sample; none at all covers nothing."""
        limits = [estimate.confidence_interval(level) for level in LEVELS]
        self.covered.append([low <= truth <= high for low, high in limits])
        self.widths.append(limits[1].high - limits[1].low)
        if getattr(estimate, "interval_method", "") == "wilson":
            low, high = estimate.confidence_interval(0.95, "logit")
            self.by_logit.append(low <= truth <= high)
            self.logit_widths.append(high - low)

    def line(self, scenario: Scenario, quantity: str, truth: float) -> dict[str, Any]:
        """A line of the table."""
        sizes = " ".join(map(str, scenario.sizes))
        shares = np.mean(self.covered, axis=0)
        values = [scenario.study, scenario.population, sizes, scenario.signal, scenario.rows, quantity, f"{truth:.4f}"]
        logit = f"{np.mean(self.by_logit):.3f}" if self.by_logit else ""
        widths = [f"{np.nanmean(found):.4f}" if found else "" for found in (self.widths, self.logit_widths)]
        numbers = [len(self.covered), *(f"{share:.3f}" for share in shares), logit, *widths]
        return dict(zip(COLUMNS, [*values, *numbers], strict=True))


def rankings(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Metrics of ranking: rows of fixed class sizes, perhaps with weights or in groups."""
    metrics = (*RANKINGS, "average_precision", "balanced_accuracy") if not scenario.rows else RANKINGS[:3]
    known, tallies = truths(scenario, metrics), [Tally() for _ in metrics]
    rng, classes = scenario.generator("samples"), len(scenario.sizes)
    codes = scenario.codes(rng)
    for _ in range(SAMPLES):
        options: dict[str, Any] = {}
        if scenario.rows == "weights":
            options["sample_weight"] = rng.lognormal(sigma=1.0, size=len(codes))
        scores = scenario.draw(rng, codes)
        found = multiauc.evaluate(codes, scores, metrics=metrics, labels=range(classes), **options)
        for tally, name, truth in zip(tallies, metrics, known, strict=True):
            tally.add(found.metrics[name], truth)
    for tally, name, truth in zip(tallies, metrics, known, strict=True):
        yield tally.line(scenario, name, truth)


def groups(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Groups of one to nine rows that share most of their noise; of one class, or of any."""
    metrics, classes = RANKINGS[:3], len(scenario.sizes)

    def draw(rng: np.random.Generator, sizes: Array) -> tuple[Codes, Array, Codes]:
        of_groups = np.repeat(np.arange(classes), np.ceil(sizes / 5).astype(int))
        counts = rng.integers(1, 10, size=len(of_groups))
        names = np.repeat(np.arange(len(of_groups)), counts)
        codes = of_groups[names]
        if scenario.rows == "groups across classes":
            codes = rng.permutation(codes)
        shared = rng.normal(size=(len(of_groups), classes))[names]
        own = np.eye(classes)[codes]
        return codes, softmax(scenario.signal * own + 1.5 * shared + 0.7 * rng.normal(size=own.shape)), names

    codes, scores, _ = draw(scenario.generator("population"), np.array(scenario.sizes) * 2000.0)
    weight = (np.array(scenario.sizes) / np.bincount(codes))[codes]
    large = multiauc.evaluate(codes, scores, metrics=metrics, sample_weight=weight)
    rng, tallies = scenario.generator("samples"), [Tally() for _ in metrics]
    for _ in range(SAMPLES):
        codes, scores, names = draw(rng, np.array(scenario.sizes, dtype=float))
        found = multiauc.evaluate(codes, scores, metrics=metrics, groups=names, labels=range(classes))
        for tally, name in zip(tallies, metrics, strict=True):
            tally.add(found.metrics[name], large.metrics[name].value)
    for tally, name in zip(tallies, metrics, strict=True):
        yield tally.line(scenario, name, large.metrics[name].value)


def classifications(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Predicted classes and probabilities, of rows whose classes are drawn with them."""
    # The best two of two classes are never wrong.
    metrics = (*(CLASSIFICATIONS[:-1] if len(scenario.sizes) == 2 else CLASSIFICATIONS), "brier", "log_loss")
    options: dict[str, Any] = {"clip": 1e-4}
    known, tallies = truths(scenario, metrics, **options), [Tally() for _ in metrics]
    rng, classes = scenario.generator("samples"), len(scenario.sizes)
    for _ in range(SAMPLES):
        codes = scenario.codes(rng)
        scores = scenario.draw(rng, codes)
        found = multiauc.evaluate(codes, scores, metrics=metrics, labels=range(classes), **options)
        for tally, name, truth in zip(tallies, metrics, known, strict=True):
            tally.add(found.metrics[name], truth)
    for tally, name, truth in zip(tallies, metrics, known, strict=True):
        yield tally.line(scenario, name, truth)


def tests(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Two models, several models at once, and two samples of different rows, all of them equally good."""
    rng, classes = scenario.generator("samples"), len(scenario.sizes)
    codes = scenario.codes(rng)
    family = scenario.rows or "three models"
    tallies = {name: Tally() for name in ("two models", family, "two samples")}
    n_models = 5 if family == "five models" else 3
    smaller = np.repeat(np.arange(classes), [max(6, size // 4) for size in scenario.sizes])
    for _ in range(SAMPLES):
        models = {name: scenario.draw(rng, codes) for name in range(n_models)}
        found = multiauc.compare(codes, models, labels=range(classes))
        tallies["two models"].add_p_value(found.differences[0].p_value)
        tallies[family].add_p_value(min(one.corrected_p_value for one in found.differences))
        first = multiauc.evaluate(codes, models[0], metrics=["auc_mu"], labels=range(classes))
        second = multiauc.evaluate(smaller, scenario.draw(rng, smaller), metrics=["auc_mu"], labels=range(classes))
        tallies["two samples"].add(multiauc.compare_samples(first, second), 0.0)
    for name, tally in tallies.items():
        yield tally.line(scenario, name, 0.0)


def runs(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Trainings scored on the same rows: each has an offset per class and noise of its own."""
    classes, (n_runs, spread) = len(scenario.sizes), map(float, scenario.rows.split(" runs, spread "))

    def draw(rng: np.random.Generator, codes: Codes, count: int) -> list[Array]:
        own = np.eye(classes)[codes]
        rows = scenario.signal * own + rng.normal(size=own.shape)
        skill = np.maximum(0.1, 1 + spread * rng.normal(size=count))
        return [softmax(one * rows + 0.5 * rng.normal(size=own.shape)) for one in skill]

    large = np.repeat(np.arange(classes), 4000)
    rng = scenario.generator("population")
    values = [multiauc.auc_mu_score(large, one) for _ in range(40) for one in draw(rng, large, 10)]
    truth, codes = float(np.mean(values)), scenario.codes(rng)
    rng, mean, difference = scenario.generator("samples"), Tally(), Tally()
    for _ in range(SAMPLES // 2):
        models = {name: draw(rng, codes, int(n_runs)) for name in "ab"}
        found = multiauc.compare_runs(codes, models)
        mean.add(found.estimates["a"], truth)
        difference.add(found.difference("a", "b"), 0.0)
    yield mean.line(scenario, "mean of runs", truth)
    yield difference.line(scenario, "difference of runs", 0.0)


STUDIES: Final[dict[str, Callable[[Scenario], Iterator[dict[str, Any]]]]] = {
    "rankings": rankings,
    "groups": groups,
    "classifications": classifications,
    "tests": tests,
    "runs": runs,
}


def scenarios() -> list[Scenario]:
    """All of them, the plain ones first."""
    signals = (0.7, 1.5, 3.0)
    plain = [Scenario("rankings", *given) for given in product(SHAPES, SIZES, signals)]
    unequal = ((100, 30, 6), (160, 30, 10), (40,) * 5)
    weighted = [
        Scenario("rankings", *given, "weights") for given in product(("beta", "forest of 25"), unequal, signals)
    ]
    grouped = [
        Scenario("groups", "logistic-normal", *given)
        for given in product(((60, 60), (100, 60, 40), (80,) * 5), signals, ("groups", "groups across classes"))
    ]
    random = [
        Scenario("classifications", *given, "random sizes")
        for given in product(SHAPES, ((30, 30), (160, 30, 10), (40,) * 5, (400, 200, 100)), (0.7, 2.0))
    ]
    compared = [Scenario("tests", *given) for given in product(SHAPES, ((80, 80), *unequal), (0.7, 2.0))]
    compared += [Scenario("tests", "logistic-normal", (160, 30, 10), signal, "five models") for signal in (0.7, 2.0)]
    trained = [
        Scenario("runs", "logistic-normal", sizes, 1.5, f"{count} runs, spread {spread}")
        for sizes, count, spread in product(((60, 60, 60), (160, 30, 10)), (3, 5, 10), (0.05, 0.3))
    ]
    return [*compared, *random, *grouped, *weighted, *trained, *plain]


def main(path: Path) -> None:
    """Write what is missing in the table."""
    warnings.simplefilter("ignore")
    known: set[tuple[str, ...]] = set()
    if path.exists():
        with path.open(newline="") as stream:
            known = {tuple(line[name] for name in COLUMNS[:5]) for line in csv.DictReader(stream)}
    else:
        path.write_text(",".join(COLUMNS) + "\n")
    for scenario in scenarios():
        sizes = " ".join(map(str, scenario.sizes))
        name = (scenario.study, scenario.population, sizes, str(scenario.signal), scenario.rows)
        if name not in known:
            lines = list(STUDIES[scenario.study](scenario))
            with path.open("a", newline="") as stream:
                csv.DictWriter(stream, COLUMNS, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
