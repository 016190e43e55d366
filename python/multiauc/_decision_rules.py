r"""Rules that turn probabilities into decisions under a matrix of costs, and how the best of them is found.

A rule predicts the class i of the smallest expected cost :math:`\sum_j C_{ij} q_j`, where

* "bayes" takes the probabilities as they are, q = p;
* "calibrated" and "offsets" correct them first, :math:`q_j \propto p_j^s \exp(b_j)`: by likelihood, or by cost;
* "argmax" looks at no costs and predicts the class of the largest probability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from multiauc._row_means import RowMean, row_mean
from multiauc._student import f_tails, upper_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

BAYES: Final = "bayes"
ARGMAX: Final = "argmax"
CALIBRATED: Final = "calibrated"
OFFSETS: Final = "offsets"

# Probabilities below this count as this much where their logarithm is taken.
SMALLEST = 1e-15
FOLDS = 5
# More rows than this are thinned out for fitting, evenly over the classes and their probabilities.
FIT_ROWS = 10_000
# With more classes the offsets are found by likelihood alone.
SEARCH_UP_TO_CLASSES = 30
SEARCH_SPANS = (2.0, 1.0, 0.5, 0.25)
SEARCH_STEPS = np.linspace(-1.0, 1.0, 9)
# Calibration is corrected where a test says at this level that it is needed.
CALIBRATION_LEVEL = 0.01
# How rarely a rule may seem cheaper by chance to be preferred: argmax to Bayes' rule where nothing is wrong with the
# probabilities, corrected probabilities to both where something is, and offsets to any other rule.
ARGMAX_TAIL = 0.16
CALIBRATED_TAIL = 0.3
OFFSETS_TAIL = 0.003


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
            probabilities = corrected(np.log(np.maximum(probabilities, SMALLEST)), self.scale, self.offsets)
        return np.asarray((probabilities @ regrets(costs).T).argmin(axis=1))


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

    def costs_of(self, rule: Rule, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the decision on each row costs."""
        found: NDArray[np.float64] = costs[rule.decide(self.probabilities, costs), self.codes]
        return found

    def mean(self, values: NDArray[np.float64]) -> RowMean:
        """The mean of a number of each row, with its variance."""
        return row_mean(values, self.weights, self.groups)

    def effective_weights(self) -> NDArray[np.float64]:
        """Weights whose sum is the effective number of rows (Kish)."""
        if self.weights is None:
            return np.ones(len(self.codes))
        return np.asarray(self.weights * (self.weights.sum() / float(np.dot(self.weights, self.weights))))

    def own_probabilities(self) -> NDArray[np.float64]:
        """That of the true class of each row."""
        found: NDArray[np.float64] = self.probabilities[np.arange(len(self.codes)), self.codes]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The rule that was chosen, and why.

    Attributes
    ----------
    rule
        The rule.
    calibration_p_value
        Of the test whether probabilities are calibrated; nan where there are too few rows for it.
    row_costs
        What each of the rows that the choice was made by costs under each rule, fitted to other rows.
    rows
        These rows.
    """

    rule: Rule
    calibration_p_value: float
    row_costs: dict[str, NDArray[np.float64]]
    rows: LabelledRows


def plain_rule(name: str, n_classes: int) -> Rule:
    """A rule that nothing is fitted for."""
    return Rule(name, 1.0, np.zeros(n_classes))


def regrets(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Costs above the least possible for the true class, which lead to the same decisions."""
    found: NDArray[np.float64] = costs - costs.min(axis=0)
    return found


def corrected(logs: NDArray[np.float64], scale: float, offsets: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities in proportion to exp(scale logs + offsets)."""
    powers = scale * logs + offsets
    powers -= powers.max(axis=1, keepdims=True)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def choose(rows: LabelledRows, costs: NDArray[np.float64]) -> Chosen:
    """The rule that is likely to cost least on other rows than these, which are in the order of `rows_to_fit`.

    Bayes' rule, if a test finds nothing wrong with the calibration of the probabilities, or otherwise the same with
    corrected ones. Another rule takes its place if a cross-validation shows that it costs less by so many standard
    errors that this is not by chance: what is fitted to few rows is not better than nothing by default.
    """
    n_classes = rows.probabilities.shape[1]
    fitted = calibrated(rows)
    p_value = calibration_p_value(rows, fitted)
    start = CALIBRATED if p_value < CALIBRATION_LEVEL else BAYES
    fits: dict[str, Callable[[LabelledRows], Rule]] = {
        BAYES: lambda _: plain_rule(BAYES, n_classes),
        ARGMAX: lambda _: plain_rule(ARGMAX, n_classes),
    }
    if start == CALIBRATED:
        fits[CALIBRATED] = calibrated
    if n_classes <= SEARCH_UP_TO_CLASSES:
        fits[OFFSETS] = lambda some: searched(some, costs, fits[start](some))
    row_costs = {name: np.empty(len(rows.codes)) for name in fits}
    for fold in _folds(rows):
        for name, fit in fits.items():
            row_costs[name][fold] = rows.at(fold).costs_of(fit(rows.at(~fold)), costs)
    if start == BAYES:
        chosen = ARGMAX if _is_cheaper(rows, row_costs, ARGMAX, BAYES, ARGMAX_TAIL) else BAYES
    else:
        means = {name: rows.mean(row_costs[name]).value for name in (BAYES, ARGMAX)}
        plain = min(means, key=means.__getitem__)
        chosen = CALIBRATED if _is_cheaper(rows, row_costs, CALIBRATED, plain, CALIBRATED_TAIL) else plain
    if OFFSETS in fits and _is_cheaper(rows, row_costs, OFFSETS, chosen, OFFSETS_TAIL):
        chosen = OFFSETS
    return Chosen(fits[chosen](rows), p_value, row_costs, rows)


def _is_cheaper(
    rows: LabelledRows, row_costs: dict[str, NDArray[np.float64]], first: str, second: str, tail: float
) -> bool:
    """Whether the first rule costs less than the second by more than chance would have it once in 1 / `tail` times."""
    found = rows.mean(row_costs[first] - row_costs[second])
    if not (found.value < 0.0 < found.variance):
        return False
    return found.value < -upper_quantile(tail, found.degrees_of_freedom) * math.sqrt(found.variance)


def calibration_p_value(rows: LabelledRows, fitted: Rule) -> float:
    r"""Whether corrected probabilities fit the rows better than those that were given, by the ratio of likelihoods.

    Twice the gain in log-likelihood has a chi-squared distribution with K degrees of freedom, a scale and K - 1
    offsets, if the probabilities are calibrated. Weights are scaled to the effective number of rows; where rows are
    in groups the gain is divided by how much more the slopes of the likelihood vary than those of single rows would.
    """
    logs = np.log(np.maximum(rows.probabilities, SMALLEST))
    n, n_classes = logs.shape
    weights = rows.effective_weights()
    own = np.arange(n), rows.codes
    q = corrected(logs, fitted.scale, fitted.offsets)
    gain = float(np.dot(weights, np.log(np.maximum(q[own], SMALLEST)) - logs[own]))
    if rows.groups is not None:
        missing = -q * weights[:, None]
        missing[own] += weights
        slopes = np.column_stack([(missing * logs).sum(axis=1), missing[:, 1:]])
        sums = np.zeros((int(rows.groups.max()) + 1, n_classes))
        np.add.at(sums, rows.groups, slopes)
        single, grouped = (slopes**2).sum(axis=0), (sums**2).sum(axis=0)
        gain /= max(1.0, float(np.mean(grouped[single > 0.0] / single[single > 0.0])))
    if gain <= 0.0:
        return 1.0
    # The F distribution with so many degrees of freedom is the chi-squared one.
    return float(f_tails(np.array([2.0 * gain / n_classes]), n_classes, 1e9)[0])


def calibrated(rows: LabelledRows) -> Rule:
    """The scale and the offsets of the highest likelihood, with a slight pull towards 1 and 0, by Newton's method."""
    logs = np.log(np.maximum(rows.probabilities, SMALLEST))
    scale, offsets = _most_likely(rows, logs, is_scale_free=True)
    if scale < 0.0:  # scores that say the opposite are left alone, not turned round
        scale, offsets = _most_likely(rows, logs, is_scale_free=False)
    return Rule(CALIBRATED, scale, offsets - offsets.mean())


def _most_likely(
    rows: LabelledRows, logs: NDArray[np.float64], *, is_scale_free: bool
) -> tuple[float, NDArray[np.float64]]:
    n, n_classes = logs.shape
    weights = rows.effective_weights()
    truth = np.zeros_like(logs)
    truth[np.arange(n), rows.codes] = 1.0
    prior = np.concatenate([[1.0 if is_scale_free else 0.0], np.zeros(n_classes)])

    def loss(at: NDArray[np.float64]) -> float:
        powers = at[0] * logs + at[1:]
        largest = powers.max(axis=1)
        norms = largest + np.log(np.exp(powers - largest[:, None]).sum(axis=1))
        likelihood = powers[np.arange(n), rows.codes] - norms
        return float(0.5 * ((at - prior) ** 2).sum() - np.dot(weights, likelihood))

    at = prior.copy()
    value = loss(at)
    for _ in range(100):
        q = corrected(logs, float(at[0]), at[1:])
        mean = (q * logs).sum(axis=1)
        missing = weights[:, None] * (truth - q)
        slope = at - prior - np.concatenate([[float((missing * logs).sum())], missing.sum(axis=0)])
        heavy = weights[:, None] * q
        bend = np.eye(n_classes + 1)
        bend[0, 0] += float((heavy * (logs - mean[:, None]) ** 2).sum())
        bend[0, 1:] = bend[1:, 0] = (heavy * (logs - mean[:, None])).sum(axis=0)
        bend[1:, 1:] += np.diag(heavy.sum(axis=0)) - heavy.T @ q
        if not is_scale_free:
            slope[0], bend[0, 1:], bend[1:, 0] = 0.0, 0.0, 0.0
        step = np.linalg.solve(bend, slope)
        length = 1.0
        while (tried := loss(at - length * step)) > value and length > 1e-6:
            length *= 0.5
        at = at - length * step
        if value - tried <= 1e-10 * (abs(value) + 1.0):
            break
        value = tried
    return float(at[0]), at[1:]


def searched(rows: LabelledRows, costs: NDArray[np.float64], start: Rule) -> Rule:
    """Offsets that cost least on these rows, one class at a time, in ever smaller steps from where others left off."""
    logs = np.log(np.maximum(rows.probabilities, SMALLEST))
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


def rows_to_fit(
    own: NDArray[np.floating],
    largest: NDArray[np.floating],
    codes: NDArray[np.integer],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.intp]:
    """Rows that count by class and by the probability of their class; of many those at even distances.

    The same for any order of rows and columns: `own` is the probability of the true class, `largest` that of any.
    """
    order = np.lexsort((largest, own, codes))
    if weights is not None:
        order = order[weights[order] > 0.0]
    n = len(order)
    return order if n <= FIT_ROWS else order[(np.arange(FIT_ROWS) * n) // FIT_ROWS]


def _folds(rows: LabelledRows) -> Iterator[NDArray[np.bool_]]:
    """Parts of the rows that are as alike as can be, as the rows of a class are sorted; groups stay whole."""
    if rows.groups is None:
        by_class = np.argsort(rows.codes, kind="stable")
        sizes = np.bincount(rows.codes)
        numbers = np.empty(len(by_class), dtype=np.intp)
        numbers[by_class] = (np.arange(len(by_class)) - np.repeat(np.cumsum(sizes) - sizes, sizes)) % FOLDS
        if not numbers.any():  # a single row of each class
            numbers = np.arange(len(by_class)) % FOLDS
    else:
        sizes = np.bincount(rows.groups)
        means = np.bincount(rows.groups, rows.own_probabilities()) / np.maximum(sizes, 1)
        rank = np.empty(len(sizes), dtype=np.intp)
        rank[np.lexsort((means, sizes))] = np.arange(len(sizes))
        numbers = rank[rows.groups] % FOLDS
    for fold in range(FOLDS):
        found = numbers == fold
        if found.any() and not found.all():
            yield found
