"""How often the closed-form intervals cover, and how often the paired test errs.

    python studies/coverage.py [--repeats 2000] [--only K] [--processes 1] [--output FILE]

Samples have K classes of given sizes and scores softmax(signal * one-hot + normal noise); the signal is set so that
AUC_mu of the population is about the wanted value, and the population's values are those of a large sample. Every
sample gets the default (logit) and the Wald interval of three metrics, and the paired test of two of them between two
models that are equally good (the same signal, noise correlated by one half), so that every rejection is an error.

A cell is judged where the smallest class has enough errors to look at: n_min (1 - theta) at least 1 for intervals (they
must cover .925 to .975 of the time), at least 3 for the lower limit (.035) of the test's size; its upper limit (.06)
holds everywhere. All limits up to three Monte-Carlo standard errors.
"""

import argparse
import multiprocessing
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Final

import numpy as np

import multiauc

THETAS = (0.6, 0.8, 0.9, 0.97, 0.99)
SIZES = (100, 300, 1000)
CLASSES = (3, 5, 10)
POPULATION = 400_000
LEVEL = 0.95
METRICS: Final = ("auc_mu", "hand_till", "one_vs_rest_prevalence")
TESTED: Final = ("auc_mu", "hand_till")
COVERAGE = (0.925, 0.975)
SIZE = (0.035, 0.06)


@dataclass(frozen=True)
class Setting:
    """One cell of the table."""

    k: int
    n: int
    theta: float
    skewed: bool

    @property
    def sizes(self) -> np.ndarray:
        """Rows per class: all alike, or falling so that the first has about ten times as many as the last."""
        shares = np.geomspace(10.0, 1.0, self.k) if self.skewed else np.ones(self.k)
        rows: np.ndarray = np.maximum(2, np.round(self.n * shares / shares.sum())).astype(int)
        return rows

    @property
    def errors_to_see(self) -> float:
        """Rows of the smallest class times (1 - theta)."""
        return float(self.sizes.min() * (1.0 - self.theta))


@dataclass
class Outcome:
    """What was found in one cell."""

    setting: Setting
    repeats: int
    truth: dict[str, float]
    logit: dict[str, float] = field(default_factory=dict)
    wald: dict[str, float] = field(default_factory=dict)
    size: dict[str, float] = field(default_factory=dict)
    ratio: float = 0.0

    def noise(self, share: float) -> float:
        """Three Monte-Carlo standard errors of a share."""
        return 3.0 * float(np.sqrt(share * (1.0 - share) / self.repeats))

    def problems(self) -> list[str]:
        """The limits that are not kept."""
        found = []
        for metric in METRICS:
            covered = self.logit[metric]
            low, high = (COVERAGE[0] - self.noise(COVERAGE[0]), COVERAGE[1] + self.noise(COVERAGE[1]))
            if self.setting.errors_to_see >= 1.0 and not low <= covered <= high:
                found.append(f"{metric} covers {covered:.3f}")
        for metric, size in self.size.items():
            if size > SIZE[1] + self.noise(SIZE[1]):
                found.append(f"{metric} test errs {size:.3f}")
            if self.setting.errors_to_see >= 3.0 and size < SIZE[0] - self.noise(SIZE[0]):
                found.append(f"{metric} test errs only {size:.3f}")
        return found


def softmax(logits: np.ndarray) -> np.ndarray:
    """Rows that sum to one."""
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: np.ndarray = odds / odds.sum(axis=1, keepdims=True)
    return shares


def draw(rng: np.random.Generator, codes: np.ndarray, k: int, signal: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two equally good models whose noise is correlated."""
    shared, *own = rng.normal(size=(3, len(codes), k))
    target = signal * np.eye(k)[codes]
    first, second = (softmax(target + np.sqrt(0.5) * (shared + noise)) for noise in own)
    return first, second


def signal_for(theta: float) -> float:
    """The signal at which AUC_mu is about theta: differences of two logits are normal, variance 2 around +- signal."""
    return NormalDist().inv_cdf(theta)


def population(setting: Setting) -> dict[str, float]:
    """The metrics of a large sample with the same class shares."""
    rng = np.random.default_rng([setting.k, round(1000 * setting.theta), setting.skewed, 1])
    sizes = setting.sizes
    counts = np.round(POPULATION * sizes / sizes.sum()).astype(int)
    codes = np.repeat(np.arange(setting.k), counts)
    scores, _ = draw(rng, codes, setting.k, signal_for(setting.theta))
    return {
        "auc_mu": multiauc.auc_mu_score(codes, scores),
        "hand_till": multiauc.hand_till_score(codes, scores),
        "one_vs_rest_prevalence": multiauc.one_vs_rest_score(codes, scores, average="prevalence"),
    }


def run(task: tuple[Setting, int]) -> Outcome:
    """All samples of one cell."""
    setting, repeats = task
    warnings.simplefilter("ignore", RuntimeWarning)
    multiauc.set_num_threads(1)
    rng = np.random.default_rng([setting.k, setting.n, round(1000 * setting.theta), setting.skewed])
    codes = np.repeat(np.arange(setting.k), setting.sizes)
    signal = signal_for(setting.theta)
    outcome = Outcome(setting, repeats, population(setting))
    covered: dict[str, dict[str, list[bool]]] = {
        **{kind: {metric: [] for metric in METRICS} for kind in ("logit", "wald")},
        "test": {metric: [] for metric in TESTED},
    }
    values, errors = [], []
    for _ in range(repeats):
        first, second = draw(rng, codes, setting.k, signal)
        result = multiauc.evaluate(codes, first)
        for metric in METRICS:
            estimate, truth = result.metrics[metric], outcome.truth[metric]
            low, high = estimate.confidence_interval(LEVEL)
            covered["logit"][metric].append(low <= truth <= high)
            low, high = estimate.confidence_interval(LEVEL, method="wald")
            covered["wald"][metric].append(low <= truth <= high)
        for tested in TESTED:
            both = multiauc.compare(codes, {"first": first, "second": second}, metric=tested)
            covered["test"][tested].append(both.differences[0].p_value < 1.0 - LEVEL)
        values.append(result.auc_mu.value)
        errors.append(result.auc_mu.variance())
    outcome.logit, outcome.wald, outcome.size = (
        {metric: fmean(found) for metric, found in by_metric.items()} for by_metric in covered.values()
    )
    outcome.ratio = float(np.sqrt(np.mean(errors)) / np.std(values, ddof=1))
    return outcome


def table(outcomes: list[Outcome]) -> str:
    """The results in Markdown; cells that are not judged in brackets, limits that are not kept in bold."""
    head = [
        *("K", "class sizes", "n", "θ (AUC_mu)", "n_min(1 - θ)", "mean SE / sd"),
        *("AUC_mu", "M", "OvR", "AUC_mu, Wald", "test AUC_mu", "test M"),
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for o in outcomes:
        s = o.setting
        judged = s.errors_to_see >= 1.0
        shares = [f"{o.logit[m]:.3f}" if judged else f"({o.logit[m]:.3f})" for m in METRICS]
        tests = [f"{o.size[m]:.3f}" for m in TESTED]
        cells = [str(s.k), "skewed" if s.skewed else "balanced", str(s.n), f"{o.truth['auc_mu']:.3f}"]
        cells += [f"{s.errors_to_see:.1f}", f"{o.ratio:.3f}", *shares, f"{o.wald['auc_mu']:.3f}", *tests]
        lines.append("| " + " | ".join(cells) + " |" + (" **" + "; ".join(o.problems()) + "**" if o.problems() else ""))
    return "\n".join(lines)


def main() -> None:
    """Run all cells and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--only", type=int, choices=CLASSES, help="this number of classes only")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    settings = [
        Setting(k, n, theta, skewed)
        for k in CLASSES
        if arguments.only in (None, k)
        for skewed in (False, True)
        for n in SIZES
        for theta in THETAS
    ]
    outcomes = []
    with multiprocessing.Pool(arguments.processes) as pool:
        for outcome in pool.imap(run, [(setting, arguments.repeats) for setting in settings]):
            outcomes.append(outcome)
            print(table([outcome]).splitlines()[-1], flush=True)
    if arguments.output:
        arguments.output.write_text(table(outcomes) + "\n")
    problems = [f"{o.setting}: {problem}" for o in outcomes for problem in o.problems()]
    print("\n".join(problems) or f"all limits are kept in {len(outcomes)} cells of {arguments.repeats} samples")


if __name__ == "__main__":
    main()
