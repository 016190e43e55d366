"""What fitted decisions cost on other rows: `python studies/decisions.py` prints the tables behind docs/costs.md.

A rule is fitted to one half of a sample and judged on the other, beside the rule of Bayes and the largest probability:
in 50 samples, and in 50 splits of one sample. t is the mean difference in paired standard errors: above 2 the fitted
rule costs more.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import multiauc

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "core"))
from decision_data import COSTS, calibrated_sample, distorted, paired_t

KINDS = (
    "calibrated",
    "slightly too sure",
    "too sure",
    "too unsure",
    "wrong prevalences",
    "unlike scales",
    "nearly hard",
)
MATRICES = {
    "a rare class ten times": COSTS,
    "all errors alike": 1.0 - np.eye(3),
    "nearly alike": np.array([[0.0, 1.0, 1.3], [1.0, 0.0, 1.0], [1.2, 1.0, 0.0]]),
    "up to fifty times": np.array([[0.0, 5.0, 50.0], [1.0, 0.0, 20.0], [2.0, 1.0, 0.0]]),
    "right answers cost, too": np.array([[1.0, 1.0, 10.0], [2.0, 0.5, 10.0], [2.0, 2.0, 1.0]]),
}
REPEATS = 50


class Row(NamedTuple):
    """One setting: mean costs of the three rules, t of the differences, and how often each rule was taken."""

    fitted: float
    bayes: float
    argmax: float
    t_bayes: float
    t_argmax: float
    rules: Counter[str]


def study(drawn: str, n: int, matrix: str, kind: str) -> Row:
    """Fit to one half of each sample, judge on the other."""
    costs, rules = [], Counter[str]()
    for repeat in range(REPEATS):
        codes, probabilities = calibrated_sample(np.random.default_rng([repeat if drawn == "samples" else 0, n]), n)
        scores = distorted(kind, probabilities)
        first, second = np.split(np.random.default_rng(repeat).permutation(n), 2)
        decisions = multiauc.fit_decisions(codes[first], scores[first], MATRICES[matrix])
        values = decisions.compare(codes[second], scores[second]).values
        costs.append([values[rule] for rule in ("fitted", "bayes", "argmax")])
        rules[decisions.rule] += 1
    fitted, bayes, argmax = np.array(costs).T
    t_bayes, t_argmax = paired_t(fitted, bayes), paired_t(fitted, argmax)
    return Row(fitted.mean(), bayes.mean(), argmax.mean(), t_bayes, t_argmax, rules)


def lines(sizes: list[int]) -> Iterator[str]:
    """The table as Markdown, a row for each setting, and the largest t of all."""
    yield "| 50 | fitted to | costs | probabilities | fitted | Bayes | argmax | t (Bayes) | t (argmax) | rules taken |"
    yield "|---|---:|---|---|---:|---:|---:|---:|---:|---|"
    settings = list(product(("samples", "splits"), sizes, MATRICES, KINDS))
    largest = []
    with ProcessPoolExecutor(2) as pool:
        for (drawn, n, matrix, kind), row in zip(settings, pool.map(study, *zip(*settings, strict=True)), strict=True):
            numbers = [f"{value:.4f}" for value in row[:3]] + [f"{value:+.1f}" for value in row[3:5]]
            rules = ", ".join(f"{rule} {count}" for rule, count in row.rules.most_common())
            largest.append(max(row[3:5]))
            yield f"| {drawn} | {n // 2} | {matrix} | {kind} | {' | '.join(numbers)} | {rules} |"
    yield f"\nThe largest t is {max(largest):+.1f}; above 2 are {sum(t > 2.0 for t in largest)} of {len(largest)}."


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1000], help="rows of a sample")
    for line in lines(parser.parse_args().sizes):
        print(line, flush=True)


if __name__ == "__main__":
    main()
