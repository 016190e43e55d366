"""The speed of the bootstrap, against scikit-learn's score of resampled rows; written to benches/RESULTS-bootstrap.md.

    python benches/bootstrap_speed.py [--quick] [--output FILE]

Runs take turns within one process and the best of several counts. Ratios carry over to other machines; absolute times
do not. A thousand calls of scikit-learn would take ten minutes: ten are measured and scaled.
"""

import argparse
import platform
from collections.abc import Callable
from pathlib import Path

import numpy as np
from comparison.timing import seconds
from sklearn.metrics import roc_auc_score

import multiauc

TARGET = 100
RESAMPLES = 1000
CALLS = 10


def simulate(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Softmax of class-shifted normal logits."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(k), rng.integers(k, size=n - k)]
    z = rng.normal(size=(n, k))
    z[np.arange(n), codes] += 1.0
    e = np.exp(z)
    return codes, e / e.sum(axis=1, keepdims=True)


def resampled_calls(codes: np.ndarray, scores: np.ndarray) -> Callable[[], None]:
    """Calls of scikit-learn's ovo score on rows drawn within classes; the drawing counts, as it does in ours."""
    rng = np.random.default_rng(1)
    classes = [np.flatnonzero(codes == c) for c in range(scores.shape[1])]

    def run() -> None:
        for _ in range(CALLS):
            rows = np.concatenate([rng.choice(of_class, len(of_class)) for of_class in classes])
            roc_auc_score(codes[rows], scores[rows], multi_class="ovo")

    return run


def compare(n: int, k: int, runs: int) -> tuple[float, float, float]:
    """Seconds of a thousand replicates by scikit-learn, of AUC_mu and of all four metrics."""
    codes, scores = simulate(n, k)
    theirs = resampled_calls(codes, scores)
    result = multiauc.evaluate(codes, scores)
    times = [
        (
            seconds(theirs) * RESAMPLES / CALLS,
            seconds(lambda: result.bootstrap(RESAMPLES, rng=0, metrics=["auc_mu"])),
            seconds(lambda: result.bootstrap(RESAMPLES, rng=0)),
        )
        for _ in range(runs)
    ]
    best = [min(column) for column in zip(*times, strict=True)]
    return best[0], best[1], best[2]


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one small size, printed only")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("RESULTS-bootstrap.md"))
    options = parser.parse_args()
    sizes = [(10_000, 5)] if options.quick else [(10_000, 5), (100_000, 10)]
    threads, python = multiauc.get_num_threads(), platform.python_version()
    lines = [
        "# Bootstrap",
        "",
        f"Written by `make bench`: {platform.machine()}, {threads} threads, Python {python}.",
        f"Seconds for {RESAMPLES:,} stratified resamples, presorting included. scikit-learn: `roc_auc_score` with",
        f'`multi_class="ovo"` on the rows drawn, {CALLS} calls measured and scaled.',
        "Ratios carry over to other machines; absolute times do not.",
        "",
        "| n x K | scikit-learn | AUC_mu | times faster | AUC_mu, M and both one-vs-rest | target |",
        "|---|---:|---:|---:|---:|---|",
    ]
    print("\n".join(lines))
    for n, k in sizes:
        theirs, one, four = compare(n, k, runs=3)
        target = f"at least {TARGET} times: {'met' if theirs >= TARGET * one else '**not met**'}"
        target = target if (n, k) == (100_000, 10) else ""
        lines.append(f"| {n:,} x {k} | {theirs:,.0f} | {one:.2f} | {theirs / one:.0f} | {four:.2f} | {target} |")
        print(lines[-1], flush=True)
    if not options.quick:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
