r"""Probabilities corrected to fit the classes of rows, by a scale s and an offset b of each class.

.. math:: q_j \propto p_j^s \exp(b_j)

With s below 1 probabilities become less sure of themselves, and offsets give classes other prevalences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from multiauc._row_means import RowMean, row_mean
from multiauc._student import f_tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Probabilities below this count as this much where their logarithm is taken.
SMALLEST = 1e-15
NEWTON_STEPS = 100
# Relative to the likelihood: a step that gains no more is the last.
GAIN = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Probabilities with the truth, and which rows belong together."""

    probabilities: NDArray[np.float64]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.uint32] | None

    def at(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> LabelledRows:
        """Some of the rows."""
        return LabelledRows(
            self.probabilities[rows],
            self.codes[rows],
            None if self.weights is None else self.weights[rows],
            None if self.groups is None else self.groups[rows],
        )

    def mean(self, values: NDArray[np.float64]) -> RowMean:
        """The mean of a number of each row, with its variance."""
        return row_mean(values, self.weights, self.groups)

    def logs(self) -> NDArray[np.float64]:
        """The logarithms of the probabilities, finite for zeros."""
        return logs_of(self.probabilities)

    def effective_weights(self) -> NDArray[np.float64]:
        """Weights whose sum is the effective number of rows (Kish)."""
        if self.weights is None:
            return np.ones(len(self.codes))
        return np.asarray(self.weights * (self.weights.sum() / float(np.dot(self.weights, self.weights))))

    def own_probabilities(self) -> NDArray[np.float64]:
        """That of the true class of each row."""
        found: NDArray[np.float64] = self.probabilities[np.arange(len(self.codes)), self.codes]
        return found


def logs_of(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms, finite for zeros."""
    return np.asarray(np.log(np.maximum(probabilities, SMALLEST)))


def corrected(logs: NDArray[np.float64], scale: float, offsets: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """The probabilities in proportion to exp(scale logs + offsets)."""
    powers = scale * logs + offsets
    powers -= powers.max(axis=1, keepdims=True)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def most_likely(rows: LabelledRows) -> tuple[float, NDArray[np.float64]]:
    """The scale and the offsets of the highest likelihood, with a slight pull towards 1 and 0.

    A scale below 0 would say that the scores mean the opposite; they are then given no weight, but not turned round.
    """
    scale, offsets = _climb(rows, is_scale_free=True)
    return (scale, offsets) if scale >= 0.0 else _climb(rows, is_scale_free=False)


def _climb(rows: LabelledRows, *, is_scale_free: bool) -> tuple[float, NDArray[np.float64]]:
    """Newton's method, with steps that are halved until the likelihood rises."""
    logs, weights = rows.logs(), rows.effective_weights()
    n, n_classes = logs.shape
    prior = np.concatenate([[1.0 if is_scale_free else 0.0], np.zeros(n_classes)])

    def loss(at: NDArray[np.float64]) -> float:
        powers = at[0] * logs + at[1:]
        largest = powers.max(axis=1)
        norms = largest + np.log(np.exp(powers - largest[:, None]).sum(axis=1))
        likelihood = powers[np.arange(n), rows.codes] - norms
        return float(0.5 * ((at - prior) ** 2).sum() - np.dot(weights, likelihood))

    at = prior.copy()
    value = loss(at)
    for _ in range(NEWTON_STEPS):
        q = corrected(logs, float(at[0]), at[1:])
        slope = at - prior - _slopes(rows, logs, weights, q).sum(axis=0)
        bend = _information(logs, weights, q)
        if not is_scale_free:
            slope[0], bend[0, 1:], bend[1:, 0] = 0.0, 0.0, 0.0
        step = np.linalg.solve(bend, slope)
        length = 1.0
        while (tried := loss(at - length * step)) > value and length > 1e-6:
            length *= 0.5
        at = at - length * step
        if value - tried <= GAIN * (abs(value) + 1.0):
            break
        value = tried
    return float(at[0]), at[1:]


def _slopes(
    rows: LabelledRows, logs: NDArray[np.float64], weights: NDArray[np.float64], q: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How the log-likelihood of each row rises with the scale and with each offset."""
    missing = -q * weights[:, None]
    missing[np.arange(len(q)), rows.codes] += weights
    return np.column_stack([(missing * logs).sum(axis=1), missing])


def _information(
    logs: NDArray[np.float64], weights: NDArray[np.float64], q: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How sharply the log-likelihood falls around its maximum, the slight pull included."""
    n_classes = logs.shape[1]
    heavy = weights[:, None] * q
    apart = logs - (q * logs).sum(axis=1)[:, None]
    bend = np.eye(n_classes + 1)
    bend[0, 0] += float((heavy * apart**2).sum())
    bend[0, 1:] = bend[1:, 0] = (heavy * apart).sum(axis=0)
    bend[1:, 1:] += np.diag(heavy.sum(axis=0)) - heavy.T @ q
    return bend


def design_effect(rows: LabelledRows, scale: float, offsets: NDArray[np.float64]) -> float:
    """How much more the slopes of the likelihood vary in groups than those of as many single rows would; 1 or more."""
    if rows.groups is None:
        return 1.0
    logs, weights = rows.logs(), rows.effective_weights()
    slopes = _slopes(rows, logs, weights, corrected(logs, scale, offsets))
    sums = np.zeros((int(rows.groups.max()) + 1, slopes.shape[1]))
    np.add.at(sums, rows.groups, slopes)
    single, grouped = (slopes**2).sum(axis=0), (sums**2).sum(axis=0)
    return max(1.0, float(np.mean(grouped[single > 0.0] / single[single > 0.0])))


def spreads(rows: LabelledRows, scale: float, offsets: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the sample leaves open about scale and offsets: independent deviations of one standard error, a row each."""
    logs = rows.logs()
    bend = _information(logs, rows.effective_weights(), corrected(logs, scale, offsets))
    values, axes = np.linalg.eigh(bend)
    size = np.sqrt(design_effect(rows, scale, offsets) / values)
    return np.asarray(axes.T * size[:, None])


def calibration_p_value(rows: LabelledRows, scale: float, offsets: NDArray[np.float64]) -> float:
    """Whether corrected probabilities fit the rows better than those that were given, by the ratio of likelihoods.

    Twice the gain in log-likelihood has a chi-squared distribution with K degrees of freedom, a scale and K - 1
    offsets, if the probabilities are calibrated. Weights are scaled to the effective number of rows, and where rows are
    in groups the gain is divided by their design effect.
    """
    logs = rows.logs()
    n, n_classes = logs.shape
    own = np.arange(n), rows.codes
    q = corrected(logs, scale, offsets)
    gain = float(np.dot(rows.effective_weights(), logs_of(q)[own] - logs[own]))
    if gain <= 0.0:
        return 1.0
    gain /= design_effect(rows, scale, offsets)
    # The F distribution with so many degrees of freedom is the chi-squared one.
    return float(f_tails(np.array([2.0 * gain / n_classes]), n_classes, 1e9)[0])
