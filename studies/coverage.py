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
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import RepeatedStratifiedKFold

import multiauc
from multiauc.sklearn import cross_validate_comparison

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

    @property
    def samples(self) -> int:
        """More where a test is most likely to err."""
        is_hard = self.study == "tests" and min(self.sizes) <= 10 and self.signal < 1
        return 10 * SAMPLES if is_hard else SAMPLES

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
    for _ in range(scenario.samples):
        models = {name: scenario.draw(rng, codes) for name in range(n_models)}
        compared = multiauc.compare(codes, models, labels=range(classes))
        tallies["two models"].add_p_value(compared.differences[0].p_value)
        tallies[family].add_p_value(min(one.corrected_p_value for one in compared.differences))
        if len(tallies["two samples"].covered) < SAMPLES:
            pair = ((codes, models[0]), (smaller, scenario.draw(rng, smaller)))
            found = [multiauc.evaluate(*one, metrics=["auc_mu"], labels=range(classes)) for one in pair]
            tallies["two samples"].add(multiauc.compare_samples(*found), 0.0)
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


def recalls(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Balanced accuracy with weights, in groups, or as the mean over five folds."""
    classes, is_grouped = len(scenario.sizes), scenario.rows.startswith("groups")

    def draw(rng: np.random.Generator, codes: Codes) -> tuple[Codes, Array, dict[str, Any]]:
        own, options = np.eye(classes), dict[str, Any]()
        noise = rng.normal(size=(len(codes), classes))
        if is_grouped:
            # Groups of two rows that share most of their noise; of one class, or of any.
            order = rng.permutation(len(codes)) if "across" in scenario.rows else np.arange(len(codes))
            options["groups"] = order // 2
            noise = 0.9 * rng.normal(size=(len(codes), classes))[options["groups"]] + 0.4 * noise
        elif scenario.rows == "weights":
            options["sample_weight"] = rng.lognormal(sigma=1.0, size=len(codes))
        elif scenario.rows == "folds":
            options["folds"] = np.arange(len(codes)) % 5
        return codes, softmax(scenario.signal * own[codes] + noise), options

    metrics = ("balanced_accuracy",)
    codes, scores, _ = draw(scenario.generator("population"), np.repeat(np.arange(classes), POPULATION))
    truth = multiauc.evaluate(codes, scores, metrics=metrics).metrics["balanced_accuracy"].value
    rng, tally = scenario.generator("samples"), Tally()
    for _ in range(SAMPLES):
        codes, scores, options = draw(rng, scenario.codes(rng))
        found = multiauc.evaluate(codes, scores, metrics=metrics, labels=range(classes), **options)
        tally.add(found.metrics["balanced_accuracy"], truth)
    yield tally.line(scenario, "balanced_accuracy", truth)


class Discriminant(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fisher's linear discriminant on some of the features."""

    def __init__(self, features: tuple[int, ...]) -> None:
        self.features = features

    def fit(self, rows: Array, y: Codes) -> Self:
        """Means of the classes, and the inverse of their common covariance."""
        kept, sizes = rows[:, self.features], np.bincount(y)
        self.classes_ = np.arange(len(sizes))
        self.means_ = (np.eye(len(sizes))[y].T @ kept) / sizes[:, None]
        left = kept - self.means_[y]
        self.slopes_ = np.linalg.inv(left.T @ left / len(y)) @ self.means_.T
        self.offsets_ = np.log(sizes) - 0.5 * (self.means_.T * self.slopes_).sum(axis=0)
        return self

    def predict_proba(self, rows: Array) -> Array:
        """Probabilities of the classes."""
        return softmax(rows[:, self.features] @ self.slopes_ + self.offsets_)


def repeats(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Linear discriminants in five-fold cross-validation, repeated five times: how they do on new rows."""
    classes, width = len(scenario.sizes), len(scenario.sizes) + 4

    def draw(rng: np.random.Generator, codes: Codes) -> Array:
        features: Array = scenario.signal * np.eye(classes, width)[codes] + rng.normal(size=(len(codes), width))
        return features

    # Both have all features that matter, and two of their own that do not.
    own = {"a": (classes, classes + 1), "b": (classes + 2, classes + 3)}
    models: dict[Hashable, Discriminant] = {name: Discriminant((*range(classes), *two)) for name, two in own.items()}
    rng, large = scenario.generator("population"), np.repeat(np.arange(classes), 1000)
    # Four folds of five train a model.
    trained = np.repeat(np.arange(classes), [size * 4 // 5 for size in scenario.sizes])
    fits = (models["a"].fit(draw(rng, trained), trained) for _ in range(500))
    values = [multiauc.auc_mu_score(large, one.predict_proba(draw(rng, large))) for one in fits]
    truth, codes = float(np.mean(values)), scenario.codes(rng)
    rng, mean, difference = scenario.generator("samples"), Tally(), Tally()
    for seed in range(SAMPLES // 2):
        cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=seed)
        found = cross_validate_comparison(models, draw(rng, codes), codes, cv=cv)
        mean.add(found.estimates["a"], truth)
        difference.add(found.difference("a", "b"), 0.0)
    yield mean.line(scenario, "mean of repeats", truth)
    yield difference.line(scenario, "difference of repeats", 0.0)


STUDIES: Final[dict[str, Callable[[Scenario], Iterator[dict[str, Any]]]]] = {
    "rankings": rankings,
    "groups": groups,
    "classifications": classifications,
    "tests": tests,
    "runs": runs,
    "recalls": recalls,
    "repeats": repeats,
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
    # Where tests would err most if degrees of freedom were those that the sample shows.
    few = ((60, 6), (100, 30, 6), (160, 30, 10), (120, 60, 30, 15, 8))
    compared += [Scenario("tests", "overconfident", sizes, 0.7, "five models") for sizes in few]
    trained = [
        Scenario("runs", "logistic-normal", sizes, 1.5, f"{count} runs, spread {spread}")
        for sizes, count, spread in product(((60, 60, 60), (160, 30, 10)), (3, 5, 10), (0.05, 0.3))
    ]
    balanced = [
        Scenario("recalls", "logistic-normal", *given)
        for given in product(
            ((160, 30, 10), (60, 60, 60)), (0.7, 2.0), ("weights", "groups", "groups across classes", "folds")
        )
    ]
    repeated = [
        Scenario("repeats", "linear discriminant", *given)
        for given in product(((100, 30, 15), (30, 30, 30)), (1.0, 2.0))
    ]
    return [*compared, *random, *grouped, *weighted, *trained, *plain, *balanced, *repeated]


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
