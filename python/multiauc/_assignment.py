"""The best way to pair the rows of a square table with its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def best_assignment(gains: NDArray[np.float64]) -> NDArray[np.intp]:
    """The permutation p with the largest sum of gains[i, p[i]]; O(K^3) at worst, little more than O(K^2) as a rule.

    Shortest augmenting paths: R. Jonker and A. Volgenant, "A shortest augmenting path algorithm for dense and sparse
    linear assignment problems", Computing 38 (1987), 325-340.
    """
    costs = gains.max() - gains
    of_rows = costs.min(axis=1)
    of_columns = (costs - of_rows[:, None]).min(axis=0)
    column_of, row_of = np.full((2, len(costs)), -1)
    for row, column in zip(*np.nonzero(costs - of_rows[:, None] == of_columns), strict=True):
        if column_of[row] < 0 and row_of[column] < 0:
            column_of[row], row_of[column] = column, row
    for row in np.flatnonzero(column_of < 0):
        _augment(row, costs, (of_rows, of_columns), (column_of, row_of))
    return column_of


def _augment(
    start: np.intp,
    costs: NDArray[np.float64],
    prices: tuple[NDArray[np.float64], NDArray[np.float64]],
    partners: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> None:
    """Give a row without a column one, by the cheapest chain of rows that each pass their column on (Dijkstra)."""
    (of_rows, of_columns), (column_of, row_of) = prices, partners
    distance, came_from = np.full(len(costs), np.inf), np.full(len(costs), -1)
    is_open = np.ones(len(costs), dtype=bool)
    row, reached = start, 0.0
    while True:
        through = reached + costs[row] - of_rows[row] - of_columns
        closer = is_open & (through < distance)
        distance[closer], came_from[closer] = through[closer], row
        column = np.where(is_open, distance, np.inf).argmin()
        reached, is_open[column] = distance[column], False
        if row_of[column] < 0:
            break
        row = row_of[column]
    is_open[column] = True  # the end of the path keeps its price
    passed = np.flatnonzero(~is_open)
    of_rows[start] += reached
    of_rows[row_of[passed]] += reached - distance[passed]
    of_columns[passed] -= reached - distance[passed]
    while True:
        row = came_from[column]
        row_of[column] = row
        column_of[row], column = column, column_of[row]
        if row == start:
            return
