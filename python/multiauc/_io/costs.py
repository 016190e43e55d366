"""The partition matrix from a CSV file."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np

from multiauc._common.wording import listing
from multiauc._input.columns import explain_no_number, parse_number, spell_like
from multiauc._io.sources import SEEN_CHARACTERS, detect_delimiter, open_content

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._io.sources import Content


def read_costs(source: str | Content, labels: list[str]) -> NDArray[np.float64]:
    """The cost of predicting the class of the row when the truth is the class of the column, in the order of `labels`.

    The file has a header of true classes and a first column of predicted ones, in any order, or K rows of K numbers in
    the order of the score columns. `source` is its path or, of a pipe that was read, its content.
    """
    content = open_content(source) if isinstance(source, str) else source
    path = content.name
    try:
        with content.open() as file:
            text = file.read().decode("utf-8-sig")
        sign = detect_delimiter(text[:SEEN_CHARACTERS])
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
        lines = [[cell.strip() for cell in line] for line in rows if line]
    except UnicodeDecodeError:
        raise ValueError(f"{path}: cannot be read: it is not UTF-8 text") from None
    except (OSError, csv.Error) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None
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
    truths, predictions = spell_like(truths, labels), spell_like(predictions, labels)
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
                costs[row, column] = parse_number(text)
            except ValueError:
                where = f"row {row + 1}, column {column + 1 + header}"
                raise ValueError(f"{path}: {where}: {explain_no_number(text)}") from None
    return costs
