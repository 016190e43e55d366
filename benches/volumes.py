"""The speed of volumes: HUM of three classes against all tuples in NumPy, the ordered volume against a sort, PDI.

    python benches/volumes.py [--smoke] [--output FILE]

Runs alternate within one process and the best of several counts, so that only ratios travel to other machines.
"""

from __future__ import annotations

import argparse
import math
import platform
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from comparison.timing import seconds

import multiauc
from multiauc import _rust

if TYPE_CHECKING:
    from collections.abc import Callable

# Growth of HUM's time with the number of rows must stay below this power.
MOST_GROWTH = 2.3


def sample(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of a plausible classifier, the classes alike in size."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % k
    return codes, rng.dirichlet(np.ones(k), size=n) * 0.7 + 0.3 * np.eye(k)[codes]


def all_tuples(codes: np.ndarray, scores: np.ndarray) -> float:
    """HUM of three classes without ties by its definition, a row of the first class at a time."""
    first, second, third = (scores[codes == k] for k in range(3))
    right = 0
    for row in first:
        best = row[0] + second[:, 1][:, None] + third[:, 2]
        rivals = (
            row[1] + second[:, 0][:, None] + third[:, 2],
            row[2] + second[:, 1][:, None] + third[:, 0],
            row[0] + second[:, 2][:, None] + third[:, 1],
            row[1] + second[:, 2][:, None] + third[:, 0],
            row[2] + second[:, 0][:, None] + third[:, 1],
        )
        right += int(np.logical_and.reduce([best > rival for rival in rivals]).sum())
    return right / (len(first) * len(second) * len(third))


def best(*calls: Callable[[], Any], runs: int) -> list[float]:
    """The best of several alternating runs of each."""
    times = [[seconds(call) for call in calls] for _ in range(runs)]
    return [min(column) for column in zip(*times, strict=True)]


def hum_lines(sizes: tuple[int, int, int], runs: int) -> list[str]:
    """The definition at the smallest size, ours at all three, and how it grows from the second to the third."""
    brute, small, large = sizes
    data = sample(brute, 3)
    if abs(all_tuples(*data) - multiauc.hum_score(*data)) > 1e-9:
        raise SystemExit("HUM differs from its definition")
    by_tuples, ours = best(lambda: all_tuples(*data), lambda: multiauc.hum_score(*data), runs=1)
    lines = [
        f"| HUM, K = 3, n = {brute:,} | {by_tuples:.3g} (all tuples, NumPy) | {ours:.3g} | {by_tuples / ours:.0f} |"
    ]
    times = []
    for n in (small, large):
        codes, scores = sample(n, 3)
        value, with_error = best(
            partial(multiauc.hum_score, codes, scores), partial(multiauc.hum, codes, scores), runs=runs
        )
        times.append(value)
        lines.append(f"| HUM, K = 3, n = {n:,} | | {value:.3g}; with its standard error {with_error:.3g} | |")
    power = math.log(times[1] / times[0]) / math.log(large / small)
    verdict = "" if power <= MOST_GROWTH else f" (more than {MOST_GROWTH})"
    return [*lines, f"| growth from {small:,} to {large:,} rows | | n^{power:.2f}{verdict} | |"]


def drawn_line(n: int, seeds: int) -> str:
    """The spread of the drawn value, rows used equally often and drawn independently, for the same tuples."""
    codes, scores = sample(n, 5)
    rows = _rust.Sample(scores, codes.astype(np.uint8))
    spread = [
        np.std([_rust.hum_score(rows, "sum", 1.0, seed, is_latin=how)[0] for seed in range(seeds)], ddof=1)
        for how in (False, True)
    ]
    return (
        f"| error of drawing, K = 5, n = {n:,} | {spread[0]:.2g} (independent tuples) | {spread[1]:.2g} "
        f"(each row equally often) | {(spread[0] / spread[1]) ** 2:.2f} times fewer tuples |"
    )


def ordered_line(n: int, runs: int) -> str:
    """The ordered volume against sorting the scores."""
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=n)
    score = codes + rng.normal(size=n)
    sort, ours = best(lambda: np.argsort(score), lambda: multiauc.ordered_vus_score(codes, score), runs=runs)
    return f"| ordered VUS, K = 3, n = {n:,} | {sort:.3g} (np.argsort) | {ours:.3g} | {sort / ours:.2f} |"


def pdi_line(n: int, k: int, runs: int) -> str:
    """PDI of many classes."""
    data = sample(n, k)
    (ours,) = best(lambda: multiauc.pdi_score(*data), runs=runs)
    return f"| PDI, {n:,} x {k} | | {ours:.3g} | |"


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="tiny data: numbers without meaning, to see that it runs")
    parser.add_argument("--output", type=Path, help="where to write the table; printed otherwise")
    arguments = parser.parse_args()
    if arguments.smoke:
        lines = [*hum_lines((30, 60, 120), 1), drawn_line(250, 3), ordered_line(1000, 1), pdi_line(500, 5, 1)]
    else:
        lines = [
            *hum_lines((900, 3000, 20_000), 3),
            drawn_line(1000, 100),
            ordered_line(1_000_000, 7),
            pdi_line(100_000, 100, 3),
        ]
    head = [
        "# Volumes",
        "",
        f"Seconds, the best of several runs; {platform.machine()}, {multiauc.get_num_threads()} threads.",
        "`python benches/volumes.py`",
        "",
        "| what | others | multiauc | ratio |",
        "|---|---|---|---|",
    ]
    text = "\n".join([*head, *lines]) + "\n"
    if arguments.output is None:
        print(text)
    else:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
