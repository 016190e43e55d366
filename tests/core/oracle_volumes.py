"""The definitions of numbers about one row of every class, in plain Python: tuple by tuple, with exact fractions."""

from fractions import Fraction
from itertools import product
from math import prod

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
