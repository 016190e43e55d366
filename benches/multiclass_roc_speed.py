"""The speed of `multiclass_roc`: its sweep against NumPy, the whole call against `hand_till_score`, its bootstrap.

    python benches/multiclass_roc_speed.py [--quick] [--output FILE]

Runs alternate within one process and the best of several counts. Ratios carry over to other machines;
absolute times do not.
"""

import argparse
import platform
import warnings
from pathlib import Path

import numpy as np
from comparison.timing import seconds
from scipy.special import expit

import multiauc


def simulate(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Softmax of class-shifted normal logits."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(k), rng.integers(k, size=n - k)]
    z = rng.normal(size=(n, k)) + rng.normal(scale=0.5, size=k)
    z[np.arange(n), codes] += 1.5
    e = np.exp(z)
    return codes, e / e.sum(axis=1, keepdims=True)


class NumpySweeps:
    """The same alternating Newton steps, vectorised."""

    def __init__(self, rates: np.ndarray) -> None:
        self.x = np.ascontiguousarray(rates)
        self.w = np.ones_like(rates)
        logits = np.log(rates / (1 - rates))
        self.intercept = logits.mean(axis=1)
        _, _, vt = np.linalg.svd((logits - self.intercept[:, None])[:, :2000], full_matrices=False)
        self.v = np.resize(vt[0], rates.shape[1])
        self.v -= self.v.mean()
        self.v /= np.linalg.norm(self.v)
        self.slope = (logits - self.intercept[:, None]) @ self.v

    def sweep(self) -> float:
        """Rows, then columns, then the deviance (up to a constant)."""
        x, w, v = self.x, self.w, self.v
        mu = expit(self.intercept[:, None] + np.outer(self.slope, v))
        r = w * (x - mu)
        s = w * mu * (1 - mu)
        g0, g1, h00, h01, h11 = r.sum(axis=1), r @ v, s.sum(axis=1), s @ v, s @ (v * v)
        determinant = h00 * h11 - h01 * h01
        self.intercept = self.intercept + (h11 * g0 - h01 * g1) / determinant
        self.slope = self.slope + (h00 * g1 - h01 * g0) / determinant
        eta = self.intercept[:, None] + np.outer(self.slope, v)
        mu = expit(eta)
        r = w * (x - mu)
        s = w * mu * (1 - mu)
        v = v + (self.slope @ r) / ((self.slope * self.slope) @ s)
        mean = v.mean()
        length = np.linalg.norm(v - mean)
        self.intercept = self.intercept + self.slope * mean
        self.slope, self.v = self.slope * length, (v - mean) / length
        return float(2 * np.sum(w * (np.logaddexp(0, eta) - x * eta)))


def sweep_ratio(k: int, threads: int, runs: int) -> tuple[float, float]:
    """Nanoseconds per cell and sweep: NumPy's and ours."""
    codes, scores = simulate(30 * k, k)
    rates = multiauc.multiclass_roc(codes, scores, max_iter=1)
    x = np.clip(np.vstack([rates.tp_rates, rates.fp_rates]), 1e-3, 1 - 1e-3)
    reference = NumpySweeps(x)
    multiauc.set_num_threads(threads)
    # All sweeps: joint steps come after the sixteenth. What else a call does cancels in the difference.
    short, long = (
        (lambda: multiauc.multiclass_roc(codes, scores, tol=0.0, max_iter=4)),
        (lambda: multiauc.multiclass_roc(codes, scores, tol=0.0, max_iter=16)),
    )
    times: dict[str, list[float]] = {"numpy": [], "short": [], "long": []}
    for _ in range(runs):
        times["numpy"].append(seconds(reference.sweep))
        times["short"].append(seconds(short))
        times["long"].append(seconds(long))
    ours = (min(times["long"]) - min(times["short"])) / 12
    return min(times["numpy"]) / x.size * 1e9, ours / x.size * 1e9


def call_times(n: int, runs: int) -> tuple[float, float]:
    """Seconds of `multiclass_roc` and of `hand_till_score` on n rows of ten classes."""
    codes, scores = simulate(n, 10)
    times = [
        (
            seconds(lambda: multiauc.multiclass_roc(codes, scores)),
            seconds(lambda: multiauc.hand_till_score(codes, scores)),
        )
        for _ in range(runs)
    ]
    call, hand_till = (min(column) for column in zip(*times, strict=True))
    return call, hand_till


def bootstrap_times(n: int, runs: int) -> tuple[float, float]:
    """Seconds of 200 replicates and of one call, on n rows of ten classes."""
    codes, scores = simulate(n, 10)
    roc = multiauc.multiclass_roc(codes, scores)
    call = min(seconds(lambda: multiauc.multiclass_roc(codes, scores)) for _ in range(runs))
    return min(seconds(lambda: roc.bootstrap(200, rng=0)) for _ in range(2)), call


def verdict(ratio: float, required: float, *, at_least: bool) -> str:
    """The last two cells of a row."""
    is_met = ratio >= required if at_least else ratio <= required
    return f"{ratio:.1f} | at {'least' if at_least else 'most'} {required}: {'met' if is_met else '**not met**'} |"


def report(*, quick: bool) -> list[str]:
    """Everything measured, as lines of Markdown that are printed as they come."""
    lines: list[str] = []

    def say(*new: str) -> None:
        lines.extend(new)
        print(*new, sep="\n", flush=True)

    threads, python = multiauc.get_num_threads(), platform.python_version()
    say(
        "# Multi-class ROC curve",
        "",
        f"Written by `make bench`: {platform.machine()}, {threads} threads, Python {python}, NumPy {np.__version__}.",
        "Runs alternate within one process and the best of several counts; ratios carry over to other machines, "
        "absolute times do not.",
        "",
        "One sweep of the fit at T = 100 against the same steps in NumPy (scipy's `expit`): nanoseconds per cell.",
        "",
        "| classes | threads | NumPy | multiauc | ratio | target |",
        "|---:|---:|---:|---:|---:|---|",
    )
    for k, threads, target in ((10, 1, 3), (100, 1, 5), (100, 2, 9)):
        theirs, ours = sweep_ratio(k, threads, 3 if quick or k == 100 else 40)
        say(f"| {k} | {threads} | {theirs:.1f} | {ours:.1f} | {verdict(theirs / ours, target, at_least=True)}")
    multiauc.set_num_threads(0)
    runs = 2 if quick else 5
    say(
        "",
        "Whole calls, all threads; milliseconds.",
        "",
        "| n x K | this | against | ratio | target |",
        "|---|---|---|---:|---|",
    )
    n = 100_000 if quick else 1_000_000
    call, hand_till = call_times(n, runs)
    say(
        f"| {n:,} x 10 | `multiclass_roc` {call * 1e3:.0f} | `hand_till_score` {hand_till * 1e3:.0f} "
        f"| {verdict(call / hand_till, 5, at_least=False)}"
    )
    n = 20_000 if quick else 100_000
    bootstrap, call = bootstrap_times(n, runs)
    say(
        f"| {n:,} x 10 | 200 replicates {bootstrap * 1e3:.0f} | `multiclass_roc` {call * 1e3:.0f} "
        f"| {verdict(bootstrap / call, 40, at_least=False)}"
    )
    return lines


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller data, fewer runs, printed only")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("RESULTS-multiclass-roc.md"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    lines = report(quick=options.quick)
    if not options.quick:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
