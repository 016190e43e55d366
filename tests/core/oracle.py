"""The definitions, written as they read on paper: exact rational arithmetic, every pair of rows compared.

Nothing here imports multiauc. All results are `Fraction`s, so `float(result)` is the correctly rounded value.
Throughout, `codes` holds the class of each row as a column number, `scores` is (n, K) in float32 or float64, and
`weights` is None or n non-negative numbers. A class without rows (or without weight) is left out.

The pairwise family:  U_cd = sum over a in c, b in d of w_a w_b psi(s(a) - s(b)) / (W_c W_d),
with psi(u) = 1, 1/2, 0 for u >, =, < 0, and every metric a weighted mean of such numbers.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

LARGEST_DENOMINATOR = 1000
MILLION = 10**6  # decimals have up to six digits: they are millionths
FRACTION_LIMIT = 2.0**22  # from here on two fractions can share their nearest double
LATTICE_LIMIT = 2.0**21  # of max|s| * m: beyond it every float32 lies on the lattice 1/m by accident

Pairs = dict[tuple[int, int], Fraction]
Separation = Callable[..., Fraction]


# --- The real number a score stands for -------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 18)
def real_value_of_double(score: float) -> Fraction:
    """a/b if `score` is the double nearest to it, b <= 1000 or b = 10**6, and |score| < 2**22; else its own value."""
    value = Fraction(score)
    if abs(score) < FRACTION_LIMIT:
        for fraction in (value.limit_denominator(LARGEST_DENOMINATOR), Fraction(round(value * MILLION), MILLION)):
            if float(fraction) == score:
                return fraction
    return value


def common_lattice(scores: np.ndarray) -> int | None:
    """The smallest m, up to 1000 or a power of ten up to 10**6, such that every float32 score is the nearest to a k/m.

    None also where the scores are too large to tell: max|s| * m > 2**21.
    """
    values = np.unique(scores).astype(np.float64)
    denominators = np.array([*range(1, LARGEST_DENOMINATOR + 1), 10**4, 10**5, 10**6])
    # Value by value, those that remain: after a few values of most samples none do.
    candidates = denominators[np.abs(values).max() * denominators <= LATTICE_LIMIT]
    for value in values:
        nearest = (np.rint(value * candidates) / candidates).astype(np.float32)
        candidates = candidates[nearest == np.float32(value)]
    return int(candidates[0]) if len(candidates) else None


def real_values(scores: np.ndarray) -> list[Fraction]:
    """The real number each cell stands for, in C order: decided per value in float64, per data set in float32."""
    cells = [float(cell) for cell in scores.ravel()]
    if scores.dtype == np.float64:
        return [real_value_of_double(cell) for cell in cells]
    m = common_lattice(scores)
    if m is None:
        return [Fraction(cell) for cell in cells]
    return [Fraction(round(Fraction(cell) * m), m) for cell in cells]


def exact_keys(scores: np.ndarray) -> np.ndarray:
    """`real_values` times their common denominator: an (n, K) array of Python integers, whose differences are exact."""
    values = real_values(scores)
    denominator = math.lcm(*{value.denominator for value in values})
    keys = np.empty(len(values), dtype=object)
    keys[:] = [value.numerator * (denominator // value.denominator) for value in values]
    return keys.reshape(scores.shape)


# --- One pair of classes ----------------------------------------------------------------------------------------------


def exact_weights(weights: Any, n: int) -> np.ndarray:
    """Integers in the exact proportions of the weights (ones without weights)."""
    if weights is None:
        return np.ones(n, dtype=np.int64)
    fractions = [Fraction(float(w)) for w in weights]
    denominator = math.lcm(*{w.denominator for w in fractions})
    integers = np.empty(n, dtype=object)
    integers[:] = [int(w * denominator) for w in fractions]
    return integers


def separation(first: np.ndarray, second: np.ndarray, w_first: np.ndarray, w_second: np.ndarray) -> Fraction:
    """Share of (a, b) pairs in which `first` is larger, ties counted half: the definition, all pairs compared."""
    _, ranks = np.unique(np.concatenate([first, second]), return_inverse=True)
    sign = np.sign(ranks[: len(first), None] - ranks[None, len(first) :])
    doubled = w_first @ (1 + sign).astype(w_first.dtype) @ w_second
    return Fraction(int(doubled), 2 * int(w_first.sum()) * int(w_second.sum()))


def separation_by_ranks(first: np.ndarray, second: np.ndarray, _w_first: Any = None, _w_second: Any = None) -> Fraction:
    """The same number by sorting, for large samples without weights."""
    ordered = np.sort(second)
    doubled = int(np.searchsorted(ordered, first, "left").sum()) + int(np.searchsorted(ordered, first, "right").sum())
    return Fraction(doubled, 2 * len(first) * len(second))


def difference_ranks(minuend: np.ndarray, subtrahend: np.ndarray) -> np.ndarray:
    """Ranks of minuend - subtrahend, compared exactly by the rounded difference and its rounding error.

    For scores that stand for themselves (no fractions) and neither overflow nor underflow.
    """
    x, y = minuend.astype(np.float64), subtrahend.astype(np.float64)
    high = x - y
    part = x - high
    low = (x - (high + part)) + (part - y)
    order = np.lexsort((low, high))
    steps = (np.diff(high[order]) != 0) | (np.diff(low[order]) != 0)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(steps)])
    return ranks


def repeated_difference_ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks of the exact differences of two columns, for large samples of few distinct rows."""
    rows, row_of = np.unique(scores, axis=0, return_inverse=True)
    keys = exact_keys(rows)
    _, ranks = np.unique(keys[:, 0] - keys[:, 1], return_inverse=True)
    return ranks[row_of.ravel()]


# --- Classes and weights ----------------------------------------------------------------------------------------------


class Classes:
    """Rows and total weight (in an arbitrary unit) of the classes that have any."""

    def __init__(self, codes: Any, n_classes: int, weights: Any = None) -> None:
        codes = np.asarray(codes)
        self.weights = exact_weights(weights, len(codes))
        self.exists = np.asarray(self.weights > 0, dtype=bool)
        self.rows = {c: np.flatnonzero((codes == c) & self.exists) for c in range(n_classes)}
        self.present = [c for c in range(n_classes) if len(self.rows[c])]
        self.size = {c: Fraction(int(self.weights[self.rows[c]].sum())) for c in self.present}

    def separate(self, c: int, d: int, key: np.ndarray, how: Separation = separation) -> Fraction:
        a, b = self.rows[c], self.rows[d]
        return how(key[a], key[b], self.weights[a], self.weights[b])

    def pair_weight(self, kind: Any, c: int, d: int) -> Fraction:
        if kind is None:
            return Fraction(1)
        if isinstance(kind, str):
            return {"size_product": self.size[c] * self.size[d], "size_sum": self.size[c] + self.size[d]}[kind]
        return Fraction(float(kind[c][d]))

    def mean(self, pairs: Pairs, kind: Any) -> Fraction:
        weights = {pair: self.pair_weight(kind, *pair) for pair in pairs}
        return weighted_mean((value, weights[pair]) for pair, value in pairs.items())


def weighted_mean(terms: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    terms = list(terms)
    return sum((value * weight for value, weight in terms), Fraction(0)) / sum(weight for _, weight in terms)


# --- AUC_mu -----------------------------------------------------------------------------------------------------------


def partition_direction(partition: np.ndarray, c: int, d: int) -> tuple[np.ndarray, int]:
    """(v, sigma): v the difference of the two cost rows, sigma the sign that makes class c score high."""
    v = partition[c] - partition[d]
    return v, int(np.sign(v[c] - v[d]))


def orientation(partition: np.ndarray, c: int, d: int, row_c: np.ndarray, row_d: np.ndarray) -> float:
    """The paper's orientation of two rows, one of each class: positive when the partition ranks them correctly."""
    v, _ = partition_direction(partition, c, d)
    return float((v[c] - v[d]) * (v @ (row_c - row_d)))


def partition_key(scores: np.ndarray, keys: np.ndarray, partition: np.ndarray, c: int, d: int) -> np.ndarray:
    """sigma * (v . p): exact for multiples of e_c - e_d, otherwise in doubles over the non-zero entries in order."""
    v, sigma = partition_direction(partition, c, d)
    entries = np.flatnonzero(v)
    if sigma == 0:
        return np.zeros(len(scores))
    if set(entries) == {c, d} and v[c] == -v[d]:
        return keys[:, c] - keys[:, d]
    total = np.zeros(len(scores))
    for k in entries:
        total = total + v[k] * scores[:, k].astype(np.float64)
    return sigma * total


def auc_mu_pairs(
    codes: Any, scores: np.ndarray, weights: Any = None, partition: Any = None, how: Separation = separation
) -> Pairs:
    """S(c, d) for c < d: how well p_c - p_d separates class c from class d."""
    classes = Classes(codes, scores.shape[1], weights)
    keys = np.zeros(scores.shape, dtype=object)
    keys[classes.exists] = exact_keys(scores[classes.exists])
    if partition is None:
        partition = 1.0 - np.eye(scores.shape[1])
    return {
        (c, d): classes.separate(c, d, partition_key(scores, keys, np.asarray(partition, dtype=float), c, d), how)
        for i, c in enumerate(classes.present)
        for d in classes.present[i + 1 :]
    }


def auc_mu(
    codes: Any, scores: np.ndarray, weights: Any = None, partition: Any = None, pair_weights: Any = None
) -> Fraction:
    pairs = auc_mu_pairs(codes, scores, weights, partition)
    return Classes(codes, scores.shape[1], weights).mean(pairs, pair_weights)


# --- Hand & Till ------------------------------------------------------------------------------------------------------


def hand_till_pairs(codes: Any, scores: np.ndarray, weights: Any = None, how: Separation = separation) -> Pairs:
    """A(c|d) at (c, d): how well the score of class c separates class c from class d."""
    classes = Classes(codes, scores.shape[1], weights)
    present = classes.present
    return {(c, d): classes.separate(c, d, scores[:, c], how) for c in present for d in present if c != d}


def hand_till(codes: Any, scores: np.ndarray, weights: Any = None, pair_weights: Any = None) -> Fraction:
    pairs = hand_till_pairs(codes, scores, weights)
    return Classes(codes, scores.shape[1], weights).mean(pairs, pair_weights)


# --- One versus rest --------------------------------------------------------------------------------------------------


def one_vs_rest_per_class(
    codes: Any, scores: np.ndarray, weights: Any = None, how: Separation = separation
) -> dict[int, Fraction]:
    """How well the score of each class separates it from all the others pooled."""
    codes = np.asarray(codes)
    classes = Classes(codes, scores.shape[1], weights)
    rest = {c: np.flatnonzero((codes != c) & classes.exists) for c in classes.present}
    w = classes.weights
    return {
        c: how(scores[classes.rows[c], c], scores[rest[c], c], w[classes.rows[c]], w[rest[c]]) for c in classes.present
    }


def one_vs_rest_micro(codes: Any, scores: np.ndarray, weights: Any = None) -> Fraction:
    """The AUC of all cells of the present classes' columns: does the cell belong to its row's class?"""
    classes = Classes(codes, scores.shape[1], weights)
    cells = scores[:, classes.present]
    own = np.asarray(codes)[:, None] == np.asarray(classes.present)[None, :]
    w = np.broadcast_to(classes.weights[:, None], cells.shape)
    return separation(cells[own], cells[~own], w[own], w[~own])


def one_vs_rest(codes: Any, scores: np.ndarray, weights: Any = None, average: str = "macro") -> Fraction:
    classes = Classes(codes, scores.shape[1], weights)
    if average == "micro":
        return one_vs_rest_micro(codes, scores, weights)
    if average == "prevalence_equal_rest":
        pairs = hand_till_pairs(codes, scores, weights)
        return weighted_mean((value, classes.size[c]) for (c, _), value in pairs.items())
    per_class = one_vs_rest_per_class(codes, scores, weights)
    share = {"macro": dict.fromkeys(classes.present, Fraction(1)), "prevalence": classes.size}[average]
    return weighted_mean((value, share[c]) for c, value in per_class.items())


# --- ROC curves -------------------------------------------------------------------------------------------------------


def rates_at(threshold: float, positives: np.ndarray, negatives: np.ndarray) -> tuple[Fraction, Fraction]:
    """(false, true) positive rate when rows with a score of at least `threshold` are called positive."""
    false = Fraction(int((negatives >= threshold).sum()), len(negatives))
    return false, Fraction(int((positives >= threshold).sum()), len(positives))


def trapezoid(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)


def partial_area(positives: np.ndarray, negatives: np.ndarray, limit: Fraction) -> Fraction:
    """Integral of TPR over FPR from 0 to `limit` along the curve's points, straight lines between them."""
    thresholds = sorted(set(positives.tolist()) | set(negatives.tolist()), reverse=True)
    points = [(Fraction(0), Fraction(0)), *(rates_at(t, positives, negatives) for t in thresholds)]
    area = Fraction(0)
    for (x, y), (x_next, y_next) in pairwise(points):
        end = min(x_next, limit)
        if end > x:
            y_end = y + (y_next - y) * (end - x) / (x_next - x)
            area += (end - x) * (y + y_end) / 2
    return area


def partial_auc(positives: np.ndarray, negatives: np.ndarray, max_fpr: Any = None, min_tpr: Any = None) -> Fraction:
    """The partial area standardised after McClish; `min_tpr` by exchanging the classes and the order of the scores."""
    if min_tpr is not None:
        return partial_auc(-negatives, -positives, max_fpr=1 - Fraction(min_tpr))
    limit = Fraction(max_fpr)
    least, most = limit**2 / 2, limit
    return Fraction(1, 2) * (1 + (partial_area(positives, negatives, limit) - least) / (most - least))


# --- Comparing a double with an exact number --------------------------------------------------------------------------


def matrix(pairs: Pairs, n_classes: int, symmetric: bool) -> np.ndarray:
    """The K x K matrix of a dictionary of pairs, nan where there is no pair."""
    values = np.full((n_classes, n_classes), np.nan)
    for (c, d), value in pairs.items():
        values[c, d] = float(value)
        if symmetric:
            values[d, c] = float(value)
    return values


def ulps(value: float, exact: Fraction) -> float:
    """Distance from the correctly rounded number, in units of its last place."""
    rounded = float(exact)
    return abs(value - rounded) / math.ulp(rounded)
