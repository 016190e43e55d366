"""The partition matrix from a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from multiauc._files.cells import plain_number
from multiauc._wording import listing

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_costs(path: str, labels: list[str]) -> NDArray[np.float64]:
    """The cost of predicting the class of the row when the truth is the class of the column, in the order of `labels`.

    The file has a header of true classes and a first column of predicted ones, in any order, or K rows of K numbers in
    the order of the score columns.
    """
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            lines = [[cell.strip() for cell in line] for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else reason
        raise ValueError(f"{path}: cannot be read: {reason}") from None
    n_classes = len(labels)
    if len(lines) == n_classes + 1:
        return _named_costs(path, lines, labels)
    if len(lines) == n_classes:
        return _numbers(path, lines, n_classes, header=0)
    raise ValueError(
        f"{path}: {len(lines)} lines; a partition of {n_classes} classes has a header and {n_classes} rows with names, "
        f"or {n_classes} rows of numbers"
    )


def _named_costs(path: str, lines: list[list[str]], labels: list[str]) -> NDArray[np.float64]:
    truths, predictions = lines[0][1:], [line[0] for line in lines[1:]]
    for found, where in ((truths, "header"), (predictions, "first column")):
        if sorted(found) != sorted(labels):
            raise ValueError(f"{path}: the {where} names {listing(found)}; the classes are {listing(labels)}")
    costs = _numbers(path, [line[1:] for line in lines[1:]], len(labels), header=1)
    return costs[np.ix_([predictions.index(c) for c in labels], [truths.index(c) for c in labels])]


def _numbers(path: str, lines: list[list[str]], n_classes: int, *, header: int) -> NDArray[np.float64]:
    costs = np.empty((n_classes, n_classes))
    for row, line in enumerate(lines):
        if len(line) != n_classes:
            raise ValueError(f"{path}: row {row + 1} has {len(line)} costs; there are {n_classes} classes")
        for column, text in enumerate(line):
            try:
                costs[row, column] = plain_number(text)
            except ValueError:
                where = f"row {row + 1}, column {column + 1 + header}"
                raise ValueError(f"{path}: {where}: {text!r} is not a number") from None
    return costs
