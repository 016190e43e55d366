"""From components to standard errors, degrees of freedom and intervals, written as it reads on paper.

A sample is the class of each row, its weight, its component T, and its group; every row has a positive weight. Nothing
here imports multiauc.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from oracle_intervals import freedom_alike


@dataclass(frozen=True)
class Rows:
    """Rows with their components; `slopes` of the value in the shares of the classes, where these are random."""

    codes: np.ndarray
    weights: np.ndarray
    t: np.ndarray
    groups: np.ndarray
    slopes: np.ndarray | None = None

    @property
    def classes(self) -> list[int]:
        return np.unique(self.codes).tolist()

    def of(self, k: int) -> np.ndarray:
        return np.flatnonzero(self.codes == k)

    def unit_weights(self, k: int) -> np.ndarray:
        """Weights of the independent units of a class: its groups."""
        rows = self.of(k)
        return np.array([self.weights[rows][self.groups[rows] == g].sum() for g in np.unique(self.groups[rows])])

    def effective(self, k: int) -> float:
        """Kish's number of units: W^2 / sum of squares."""
        w = self.unit_weights(k)
        return float(w.sum() ** 2 / (w**2).sum())

    def added(self) -> np.ndarray:
        """What each row adds to the error: sqrt(c) (w / W_k) (T - mean of T) + (w / W) (g_k - mean of g)."""
        psi = np.zeros(len(self.codes))
        total = self.weights.sum()
        g = np.zeros(max(self.classes) + 1) if self.slopes is None else self.slopes
        mean_slope = sum(self.weights[self.of(k)].sum() / total * g[k] for k in self.classes)
        for k in self.classes:
            rows = self.of(k)
            u = self.weights[rows] / self.weights[rows].sum()
            e = self.effective(k)
            psi[rows] = np.sqrt(e / (e - 1)) * u * (self.t[rows] - u @ self.t[rows])
            psi[rows] += self.weights[rows] / total * (g[k] - mean_slope)
        return psi

    def sums(self, values: np.ndarray, k: int | None = None) -> np.ndarray:
        """Sums over the groups, of all rows or of those of a class."""
        rows = np.arange(len(self.codes)) if k is None else self.of(k)
        return np.array([values[rows][self.groups[rows] == g].sum() for g in np.unique(self.groups[rows])])

    def variance(self) -> float:
        return float((self.sums(self.added()) ** 2).sum())

    def degrees_of_freedom(self) -> float:
        psi, v = self.added(), self.variance()
        within = [(self.sums(psi, k), self.effective(k)) for k in self.classes]
        terms = [((s**2).sum(), (s**4).sum(), len(s), e) for s, e in within]
        simple = [v_k**2 / (e - 1) for v_k, _, _, e in terms]
        nu_s = v**2 / sum(simple)
        if len(np.unique(self.groups)) < sum(len(s) for s, _ in within):  # groups that span classes
            totals = self.sums(psi)
            bracket = (totals**4).sum() - v**2 / len(totals)
            nu_4 = nu_s if bracket <= 1e-12 * (totals**4).sum() else 2 * v**2 / bracket
        else:
            brackets = [(q - v_k**2 / n, q) for v_k, q, n, _ in terms]
            parts = [2 * s if b <= 1e-12 * q else b for (b, q), s in zip(brackets, simple, strict=True)]
            nu_4 = 2 * v**2 / sum(parts)
        return float(max(1.0, min(nu_s, nu_4)))

    def freedom_of_difference(self, chances: np.ndarray) -> float:
        """Those of a difference: at most what class sizes alone would give."""
        most = freedom_alike(2 * chances[self.classes], np.array([self.effective(k) for k in self.classes]))
        return min(self.degrees_of_freedom(), max(1.0, most))

    def longer(self, chances: np.ndarray) -> "Rows":
        """One more group (or row) in each class, of the mean weight of the class's."""
        new = len(self.codes) + np.arange(len(self.classes)) + int(self.groups.max()) + 1
        return replace(
            self,
            codes=np.r_[self.codes, self.classes],
            weights=np.r_[self.weights, [self.mean_weight(k) for k in self.classes]],
            t=np.r_[self.t, [chances[k] for k in self.classes]],
            groups=np.r_[self.groups, new],
        )

    def mean_weight(self, k: int) -> float:
        rows = self.of(k)
        return float(self.weights[rows].sum() / len(np.unique(self.groups[rows])))

    def mean(self, k: int) -> float:
        rows = self.of(k)
        return float(np.average(self.t[rows], weights=self.weights[rows]))


def logit_interval(value: float, variance: float, freedom: float, level: float) -> tuple[float, float]:
    middle = np.log(value / (1 - value))
    reach = stats.t.isf((1 - level) / 2, freedom) * np.sqrt(variance) / (value * (1 - value))
    return tuple((1 / (1 + np.exp(-x))).item() for x in (middle - reach, middle + reach))


def cautious_interval(
    value: float, rows: Rows, chances: np.ndarray, level: float, at_bound: Any
) -> tuple[float, float]:
    """The union of the plain interval (at 0 and 1 the fallback `at_bound`) and that of the longer lists."""
    longer = rows.longer(chances)
    moved = value + sum(longer.mean(k) - rows.mean(k) for k in rows.classes)
    low, high = logit_interval(moved, longer.variance(), longer.degrees_of_freedom(), level)
    if value in (0.0, 1.0):
        plain = at_bound
    else:
        plain = logit_interval(value, rows.variance(), rows.degrees_of_freedom(), level)
    return min(low, plain[0]), max(high, plain[1])
