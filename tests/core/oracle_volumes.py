"""The definitions of numbers about one row of every class, in plain Python: tuple by tuple, with exact fractions."""

from fractions import Fraction
from itertools import groupby, pairwise, permutations, product
from math import factorial, prod

import numpy as np


def tuples_of(codes, n_classes):
    """All tuples of rows, one of each class."""
    return product(*(np.flatnonzero(codes == k).tolist() for k in range(n_classes)))


def pdi_credit(scores, rows, k):
    """1 / (1 + ties) if the row of class k has the highest score of column k, otherwise 0."""
    column = [scores[row, k] for row in rows]
    return Fraction(int(column[k] == max(column)), column.count(column[k]))


def pdi_per_class(codes, scores, weights=None):
    """PDI_k of every class: the weighted mean credit of all tuples."""
    n_classes = scores.shape[1]
    mass = [Fraction(1)] * len(codes) if weights is None else [Fraction(float(w)) for w in weights]
    won, total = [Fraction(0)] * n_classes, Fraction(0)
    for rows in tuples_of(codes, n_classes):
        weight = prod(mass[row] for row in rows)
        total += weight
        for k in range(n_classes):
            won[k] += weight * pdi_credit(scores, rows, k)
    return [part / total for part in won]


def pdi(codes, scores, weights=None):
    """The mean over classes."""
    values = pdi_per_class(codes, scores, weights)
    return sum(values) / len(values)


def pdi_components(codes, scores, weights=None):
    """T(i): the mean credit of the tuples through each row, the other rows of a tuple counting by their weight."""
    n_classes = scores.shape[1]
    mass = [Fraction(1)] * len(codes) if weights is None else [Fraction(float(w)) for w in weights]
    won, total = [Fraction(0)] * len(codes), [Fraction(0)] * len(codes)
    for rows in tuples_of(codes, n_classes):
        credit = sum(pdi_credit(scores, rows, k) for k in range(n_classes)) / n_classes
        for row in rows:
            weight = prod(mass[other] for other in rows if other != row)
            won[row] += weight * credit
            total[row] += weight
    return np.array([float(part / whole) for part, whole in zip(won, total, strict=True)])


# --- assignments of rows to classes -----------------------------------------------------------------------------------


def sum_key(scores):
    """The sum of the scores of an assignment, as exact fractions."""
    return sum(scores, Fraction(0))


def product_key(scores):
    """Their product, in which a zero counts as a number smaller than all others: fewer zeros win."""
    return -sum(score == 0 for score in scores), prod((score for score in scores if score), start=Fraction(1))


def hum_credit(table, rows, key):
    """1 / (number of best assignments) if giving every row its own class is one of them, otherwise 0."""
    n_classes = len(rows)
    values = [
        key([table[row][k] for row, k in zip(rows, order, strict=True)]) for order in permutations(range(n_classes))
    ]
    return Fraction(int(values[0] == max(values)), values.count(max(values)))


def hum_components(codes, table, key):
    """(value, T): the mean credit of all tuples, and of those through each row. `table` has scores that add exactly."""
    n_classes = len(table[0])
    won, count = [Fraction(0)] * len(codes), [0] * len(codes)
    total, tuples = Fraction(0), 0
    for rows in tuples_of(codes, n_classes):
        credit = hum_credit(table, rows, key)
        total, tuples = total + credit, tuples + 1
        for row in rows:
            won[row] += credit
            count[row] += 1
    return total / tuples, np.array([float(part / whole) for part, whole in zip(won, count, strict=True)])


def surface_volume(codes, scores, factors):
    """Landgrebe and Duin's volume of three classes: under the surface of argmax with all factors of a grid."""
    rates = []
    for factor in factors:
        answers = (scores * factor).argmax(axis=1)
        rates.append([(answers[codes == k] == k).mean() for k in range(3)])
    rates = np.array(rates)
    # The volume of the union of boxes [0, r1] x [0, r2] x [0, r3], slab by slab.
    volume, first = 0.0, np.unique(np.append(rates[:, 0], 0.0))
    for low, high in pairwise(first):
        reached = rates[rates[:, 0] >= high]
        second = np.unique(np.append(reached[:, 1], 0.0))
        area = sum((b - a) * reached[reached[:, 1] >= b, 2].max() for a, b in pairwise(second))
        volume += (high - low) * area
    return volume


# --- ordered classes --------------------------------------------------------------------------------------------------


def ordered_credit(values):
    """1 / t! for every run of t equal values in a row that never falls, otherwise 0."""
    if any(a > b for a, b in pairwise(values)):
        return Fraction(0)
    return prod((Fraction(1, factorial(len(list(run)))) for _, run in groupby(values)), start=Fraction(1))


def ordered_components(codes, scores, n_classes, weights=None):
    """(value, T) of one score per row, the other rows of a tuple counting by their weight."""
    mass = [Fraction(1)] * len(codes) if weights is None else [Fraction(float(w)) for w in weights]
    won, count = [Fraction(0)] * len(codes), [Fraction(0)] * len(codes)
    total, whole = Fraction(0), Fraction(0)
    for rows in tuples_of(codes, n_classes):
        credit = ordered_credit([scores[row] for row in rows])
        weight = prod(mass[row] for row in rows)
        total, whole = total + weight * credit, whole + weight
        for row in rows:
            others = prod(mass[other] for other in rows if other != row)
            won[row] += others * credit
            count[row] += others
    return total / whole, np.array([float(part / all_) for part, all_ in zip(won, count, strict=True)])
