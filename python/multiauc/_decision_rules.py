r"""Rules that turn probabilities into decisions under a matrix of costs.

A rule predicts the class i of the smallest expected cost :math:`\sum_j C_{ij} q_j`, where

* "bayes" takes the probabilities as they are, q = p;
* "calibrated" and "offsets" correct them first, :math:`q_j \propto p_j^s \exp(b_j)`: by likelihood, or by cost;
* "argmax" looks at no costs and predicts the class of the largest probability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from multiauc._calibration import corrected, logs_of, most_likely

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc._calibration import LabelledRows

BAYES: Final = "bayes"
ARGMAX: Final = "argmax"
CALIBRATED: Final = "calibrated"
OFFSETS: Final = "offsets"

# Relative to the largest cost: expected costs that are equal but for rounding.
TIED = 1e-13
SEARCH_SPANS = (2.0, 1.0, 0.5, 0.25)
SEARCH_STEPS = np.linspace(-1.0, 1.0, 9)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule, and what it multiplies and adds to the logarithms of the probabilities first."""

    name: str
    scale: float
    offsets: NDArray[np.float64]

    def decide(self, probabilities: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.intp]:
        """The class predicted for each row; of equally good ones the first."""
        if self.name == ARGMAX:
            return np.asarray(probabilities.argmax(axis=1))
        if self.name != BAYES:
            probabilities = corrected(logs_of(probabilities), self.scale, self.offsets)
        above = regrets(costs)
        expected = probabilities @ above.T
        # What differs by rounding alone is a tie, so that errors that cost the same lead to the decisions of argmax.
        return np.asarray((expected <= expected.min(axis=1, keepdims=True) + TIED * above.max()).argmax(axis=1))


def label_order(labels: Sequence[Any]) -> NDArray[np.intp]:
    """The columns sorted by their labels: rules are fitted and ties broken in this order, whatever that of columns."""
    places = range(len(labels))
    try:
        found = sorted(places, key=labels.__getitem__)
    except TypeError:  # labels of several types
        found = sorted(places, key=lambda place: (type(labels[place]).__name__, repr(labels[place])))
    return np.array(found, dtype=np.intp)


def plain_rule(name: str, n_classes: int) -> Rule:
    """A rule that nothing is fitted for."""
    return Rule(name, 1.0, np.zeros(n_classes))


def regrets(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Costs above the least possible for the true class, which lead to the same decisions."""
    found: NDArray[np.float64] = costs - costs.min(axis=0)
    return found


def calibrated(rows: LabelledRows) -> Rule:
    """Bayes' rule with the correction of the highest likelihood."""
    scale, offsets = most_likely(rows)
    return Rule(CALIBRATED, scale, offsets - offsets.mean())


def row_costs_of(rows: LabelledRows, rule: Rule, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the decision on each row costs."""
    found: NDArray[np.float64] = costs[rule.decide(rows.probabilities, costs), rows.codes]
    return found


def searched(rows: LabelledRows, costs: NDArray[np.float64], start: Rule) -> Rule:
    """Offsets that cost least on these rows, one class at a time, in ever smaller steps from where others left off."""
    logs = rows.logs()
    above = regrets(costs)
    of_truth = above[:, rows.codes].T if rows.weights is None else above[:, rows.codes].T * rows.weights[:, None]
    offsets = start.offsets.copy()
    everything = np.arange(len(logs))
    for span in SEARCH_SPANS:
        for j in range(len(offsets)):
            q = corrected(logs, start.scale, offsets)
            expected = q @ above.T
            added = q[:, [j]] * above[:, j]
            shifts = span * SEARCH_STEPS
            totals = [
                float(of_truth[everything, (expected + math.expm1(shift) * added).argmin(axis=1)].sum())
                for shift in shifts.tolist()
            ]
            least = np.flatnonzero(np.array(totals) <= min(totals) * (1.0 + 1e-12))
            # Of equally good shifts the smallest.
            offsets[j] += shifts[least[np.abs(shifts[least]).argmin()]]
    return Rule(OFFSETS, start.scale, offsets - offsets.mean())
