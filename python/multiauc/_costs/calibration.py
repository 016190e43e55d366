"""Probabilities corrected on labelled rows, and means over rows with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from multiauc import _rust
from multiauc._input.arrays import as_scores
from multiauc._input.probabilities import as_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

BLOCK = 65_536
# How far a sum of probabilities may be from 1.
TOLERANCES = {8: 1e-6, 4: 1e-3}


def read_probabilities(y_score: Any, n_classes: int, outputs: Any = None) -> NDArray[np.float32] | NDArray[np.float64]:
    """(n, K) probabilities, or (n, 1) of the second of two classes; raises unless they are, or are made of logits."""
    scores = as_scores("y_score", y_score)
    if scores.ndim == 1:
        scores = scores[:, np.newaxis]
    if scores.ndim != 2 or scores.shape[1] not in ({1, 2} if n_classes == 2 else {n_classes}):
        raise ValueError(f"y_score must have a column for each of the {n_classes} classes; got shape {scores.shape}")
    scores = as_outputs("y_score", scores, outputs)
    tolerance = TOLERANCES[scores.itemsize]
    for rows, block in probability_blocks(scores):
        sums = block.sum(axis=1)
        # Written so that nan is wrong.
        wrong = ~((np.abs(sums - 1.0) <= tolerance) & (block.min(axis=1) >= -tolerance))
        if wrong.any():
            first = int(np.argmax(wrong))
            found = scores[rows.start + first].tolist()
            shown = ", ".join(f"{value:.6g}" for value in found[:8]) + (", ..." if len(found) > 8 else "")
            raise ValueError(
                "y_score must be probabilities, none negative and the sum of a row 1, to weigh costs with; "
                f"got {shown} in row {rows.start + first}: for logits pass outputs='logits'"
            )
    return scores


def probability_blocks(
    scores: NDArray[np.float32] | NDArray[np.float64],
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Rows, and their probabilities for all classes as float64."""
    for start in range(0, len(scores), BLOCK):
        rows = slice(start, min(start + BLOCK, len(scores)))
        yield rows, all_columns(scores[rows])


def all_columns(scores: NDArray[np.float32] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities of all classes as float64, where a single one is that of the second of two."""
    block = scores.astype(np.float64)
    return block if block.shape[1] > 1 else np.column_stack([1.0 - block[:, 0], block[:, 0]])


class RowMean(NamedTuple):
    """A mean, its variance, and how well that is known; nan where there is a single row or group."""

    value: float
    variance: float
    degrees_of_freedom: float


def row_mean(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None, groups: NDArray[np.uint32] | None
) -> RowMean:
    r"""The weighted mean of rows, of which whole groups are independent if there are any.

    A unit u (a row or a group) adds :math:`\psi_u = \sum_{i \in u} w_i (x_i - \bar{x}) / W` to the error, and the
    variance is :math:`c \sum \psi_u^2` with :math:`c = 1 / (1 - \sum (W_u/W)^2)`: for single rows of equal weight
    :math:`s^2 / n`. The degrees of freedom are the smaller of e - 1, e being the effective number of units, and
    :math:`2 V^2 / (\sum \psi^4 - V^2 / n)`, what the fourth moments allow.
    """
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
    if groups is not None:
        groups = np.ascontiguousarray(groups, dtype=np.uint32)
    return RowMean(*_rust.row_mean(np.ascontiguousarray(values, dtype=np.float64), weights, groups))


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
        return take_logs(self.probabilities)

    def effective_weights(self) -> NDArray[np.float64]:
        """Weights whose sum is the effective number of rows (Kish)."""
        if self.weights is None:
            return np.ones(len(self.codes))
        return np.asarray(self.weights * (self.weights.sum() / float(np.dot(self.weights, self.weights))))

    def own_probabilities(self) -> NDArray[np.float64]:
        """That of the true class of each row."""
        found: NDArray[np.float64] = self.probabilities[np.arange(len(self.codes)), self.codes]
        return found


def take_logs(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms, finite for zeros."""
    return np.asarray(np.log(np.maximum(probabilities, SMALLEST)))


def correct(logs: NDArray[np.float64], scale: float, offsets: NDArray[np.float64] | float) -> NDArray[np.float64]:
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
        q = correct(logs, float(at[0]), at[1:])
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
    slopes = _slopes(rows, logs, weights, correct(logs, scale, offsets))
    sums = np.zeros((int(rows.groups.max()) + 1, slopes.shape[1]))
    np.add.at(sums, rows.groups, slopes)
    single, grouped = (slopes**2).sum(axis=0), (sums**2).sum(axis=0)
    return max(1.0, float(np.mean(grouped[single > 0.0] / single[single > 0.0])))


def spreads(rows: LabelledRows, scale: float, offsets: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the sample leaves open about scale and offsets: independent deviations of one standard error, a row each."""
    logs = rows.logs()
    bend = _information(logs, rows.effective_weights(), correct(logs, scale, offsets))
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
    q = correct(logs, scale, offsets)
    gain = float(np.dot(rows.effective_weights(), take_logs(q)[own] - logs[own]))
    if gain <= 0.0:
        return 1.0
    gain /= design_effect(rows, scale, offsets)
    return _rust.chi_squared_tail(2.0 * gain, n_classes)
