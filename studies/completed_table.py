"""Table 1 of the AUC_mu paper with every entry computed, as it stands in docs/volumes.md.

    python studies/completed_table.py [--quick]

Time grows like the power of n that is printed: from the best of several runs at two numbers of rows of three classes,
one four times the other. Then the time for more classes; HUM is drawn there, to a standard error of 0.001.
`tests/core/test_table_one.py` checks all entries but the time.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "core"))

from table_one import MEASURES, Measure, change_with_skew, ferri, on_constant_scores, on_separable_rows

CLASSES = (3, 4, 6, 10)
# Beyond, a linear programme has so many rates that a minute is not enough.
MOST_CLASSES_OF_FERRI = 6


def sample(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of a plausible classifier."""
    rng = np.random.default_rng(0)
    codes = np.arange(n) % n_classes
    return codes, rng.dirichlet(np.ones(n_classes), size=n) * 0.7 + 0.3 * np.eye(n_classes)[codes]


def seconds(measure: Measure, n: int, n_classes: int, runs: int) -> float:
    """The best of some runs."""
    codes, scores = sample(n, n_classes)
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        measure(codes, scores)
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows: numbers without meaning, to see that it runs")
    quick = parser.parse_args().quick
    small, runs = (200, 1) if quick else (4000, 5)
    print(
        "| measure | argmax always right | no information | change with skew | ms at n, at 4n | grows like n to the |"
    )
    print("|---|---|---|---|---|---|")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, measure in MEASURES.items():
            properties = [f"{of(measure):.4f}" for of in (on_separable_rows, on_constant_scores, change_with_skew)]
            first, second = (seconds(measure, n, 3, runs) for n in (small, 4 * small))
            power = math.log(second / first) / math.log(4.0)
            print(f"| {name} | {' | '.join(properties)} | {1e3 * first:.1f}, {1e3 * second:.1f} | {power:.1f} |")
        print(f"\n| ms at n = {small // 2:,} | {' | '.join(f'K = {k}' for k in CLASSES)} |")
        print(f"|---|{len(CLASSES) * '---|'}")
        for name, measure in MEASURES.items():
            most = MOST_CLASSES_OF_FERRI if measure is ferri else max(CLASSES)
            times = [f"{1e3 * seconds(measure, small // 2, k, 2):.1f}" if k <= most else "" for k in CLASSES]
            print(f"| {name} | {' | '.join(times)} |")


if __name__ == "__main__":
    main()
