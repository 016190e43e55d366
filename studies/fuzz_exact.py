"""The definitions in whole numbers, many times as fast as tests/core/oracle.py, against which they are tested.

Nothing here imports multiauc. Rows of weight zero do not exist, and classes without rows are left out.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

import oracle

Pairs = dict[tuple[int, int], Fraction]

DENOMINATORS = np.arange(1.0, oracle.LARGEST_DENOMINATOR + 1)


class Exact:
    """Pairwise counts of a sample, and what follows from them."""

    def __init__(self, codes: Any, scores: Any, weights: Any = None) -> None:
        masses = _whole_weights(weights, len(codes))
        exists = [i for i, mass in enumerate(masses) if mass]
        self.mass = [masses[i] for i in exists]
        self.scores: list[list[float]] = scores[exists].tolist()
        self.keys = whole_keys(scores[exists])
        rows: dict[int, list[int]] = {}
        for row, code in enumerate(np.asarray(codes)[exists].tolist()):
            rows.setdefault(code, []).append(row)
        self.rows = dict(sorted(rows.items()))
        self.size = {c: sum(self.mass[i] for i in rows) for c, rows in self.rows.items()}

    def auc_mu_pairs(self) -> Pairs:
        """S(c, d) for c < d."""
        keys = self.keys
        pairs = {}
        for c, d in combinations(self.rows, 2):
            first = [keys[i][c] - keys[i][d] for i in self.rows[c]]
            second = [keys[i][c] - keys[i][d] for i in self.rows[d]]
            pairs[c, d] = Fraction(self._wins(c, d, first, second), 2 * self.size[c] * self.size[d])
        return pairs

    def hand_till_pairs(self) -> Pairs:
        """A(c|d) at (c, d)."""
        return {(c, d): Fraction(won, 2 * self.size[c] * self.size[d]) for (c, d), won in self._column_wins.items()}

    def one_vs_rest_per_class(self) -> dict[int, Fraction]:
        """Each class against all others."""
        won = dict.fromkeys(self.rows, 0)
        for (c, _), count in self._column_wins.items():
            won[c] += count
        total = sum(self.size.values())
        return {c: Fraction(won[c], 2 * self.size[c] * (total - self.size[c])) for c in self.rows}

    def one_vs_rest(self, average: str) -> Fraction:
        """The mean over classes by an average of `one_vs_rest_score`."""
        if average == "micro":
            return self._micro()
        if average == "prevalence_equal_rest":
            return _mean((value, self.size[c]) for (c, _), value in self.hand_till_pairs().items())
        equal = average == "macro"
        return _mean((value, 1 if equal else self.size[c]) for c, value in self.one_vs_rest_per_class().items())

    def mean(self, pairs: Pairs, pair_weights: Any) -> Fraction:
        """The mean over pairs by a weighting of `auc_mu_score`."""
        return _mean((value, self._pair_weight(pair_weights, c, d)) for (c, d), value in pairs.items())

    def pdi_per_class(self) -> dict[int, Fraction]:
        """The mean credit of each class over all tuples of one row of each class."""
        share = math.lcm(*range(1, len(self.rows) + 1))  # a credit is a whole number of these
        won, total = dict.fromkeys(self.rows, 0), 0
        for rows in product(*self.rows.values()):
            mass = math.prod(self.mass[i] for i in rows)
            total += mass
            for own, c in zip(rows, self.rows, strict=True):
                column = [self.scores[i][c] for i in rows]
                best = self.scores[own][c]
                if best == max(column):
                    won[c] += mass * (share // column.count(best))
        return {c: Fraction(count, total * share) for c, count in won.items()}

    @cached_property
    def _column_wins(self) -> dict[tuple[int, int], int]:
        found = {}
        for c, d in permutations(self.rows, 2):
            first, second = ([self.scores[i][c] for i in self.rows[each]] for each in (c, d))
            found[c, d] = self._wins(c, d, first, second)
        return found

    def _wins(self, c: int, d: int, first: list[Any], second: list[Any]) -> int:
        """Twice the weight of the pairs of rows of c and d in which the first is larger, plus that of ties."""
        mass = self.mass
        others = [(key, mass[i]) for key, i in zip(second, self.rows[d], strict=True)]
        won = 0
        for key, i in zip(first, self.rows[c], strict=True):
            won += mass[i] * sum(2 * w if key > other else w for other, w in others if key >= other)
        return won

    def _micro(self) -> Fraction:
        cells = [
            (self.scores[i][d], self.mass[i], c == d) for c, rows in self.rows.items() for i in rows for d in self.rows
        ]
        own = [(score, w) for score, w, is_own in cells if is_own]
        others = [(score, w) for score, w, is_own in cells if not is_own]
        won = sum(v * sum(2 * w if x > y else w for y, w in others if x >= y) for x, v in own)
        return Fraction(won, 2 * sum(w for _, w in own) * sum(w for _, w in others))

    def _pair_weight(self, kind: Any, c: int, d: int) -> Any:
        if kind is None:
            return 1
        if isinstance(kind, str):
            return self.size[c] * self.size[d] if kind == "size_product" else self.size[c] + self.size[d]
        return Fraction(float(kind[c][d]))


def _mean(terms: Any) -> Fraction:
    """Of (value, weight)."""
    won, total = Fraction(0), Fraction(0)
    for value, weight in terms:
        won += value * weight
        total += weight
    return won / total


def _whole_weights(weights: Any, n_rows: int) -> list[int]:
    """Whole numbers in the proportions of the weights."""
    if weights is None:
        return [1] * n_rows
    ratios = [float(w).as_integer_ratio() for w in weights]
    largest = max(below for _, below in ratios)  # all of them are powers of two
    return [above * (largest // below) for above, below in ratios]


def whole_keys(scores: Any) -> list[list[int]]:
    """Whole numbers in the proportions of the real numbers that the scores stand for."""
    cells = scores.ravel()
    if scores.dtype == np.float64:
        ratios = _ratios_of_doubles(cells)
    else:
        m = oracle.common_lattice(scores)
        ratios = [_ratio_on(m, float(cell)) for cell in cells]
    denominator = math.lcm(*{below for _, below in ratios})
    whole = [above * (denominator // below) for above, below in ratios]
    width = scores.shape[1]
    return [whole[start : start + width] for start in range(0, len(whole), width)]


def _ratio_on(m: int | None, score: float) -> tuple[int, int]:
    return score.as_integer_ratio() if m is None else (round(score * m), m)


def _ratios_of_doubles(cells: Any) -> list[tuple[int, int]]:
    """For each of the doubles (a, b): the fraction that it stands for, or itself.

    For all denominators at once: a double divided by a whole number is the double nearest to the quotient, so that
    ``rint(score * b) / b == score`` is the definition.
    """
    found = [score.as_integer_ratio() for score in cells.tolist()]
    within = np.flatnonzero(np.abs(cells) < oracle.FRACTION_LIMIT)
    small = cells[within]
    for denominators in (DENOMINATORS, np.array([float(oracle.MILLION)])):
        numerators = np.rint(small[:, None] * denominators)
        fits = numerators / denominators == small[:, None]
        for row in np.flatnonzero(fits.any(axis=1)).tolist():
            first = int(fits[row].argmax())
            found[within[row]] = (int(numerators[row, first]), int(denominators[first]))
    return found
