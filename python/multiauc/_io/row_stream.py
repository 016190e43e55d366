"""From rows in pieces and column names to class codes, scores and weights, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from multiauc._io.cells import spelled_like
from multiauc._io.column_rules import (
    fitting_names,
    given_classes,
    no_score_column,
    refuse_absent,
    require,
    score_columns,
    sorted_classes,
)
from multiauc._io.columns import codes_and_texts, is_single, side_by_side
from multiauc._io.damage import odd_row, warn_of_odd_row
from multiauc._io.parts import refuse_other_columns
from multiauc._io.problems import NoRowsError
from multiauc._io.row_files import BatchRows, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from multiauc._io.predictions import Request
    from multiauc._io.row_files import RowFile

# Rows of a batch: enough to keep all threads busy, however many columns there are, and no more than pay.
FEWEST_ROWS = 2**10
MOST_ROWS = 2**18


class Position(NamedTuple):
    """A place between rows: the number of the file, and the number of its rows before the place."""

    file: int = 0
    row: int = 0


BEGINNING = Position()


class Batch(NamedTuple):
    """Some rows.

    Attributes
    ----------
    codes
        The place of each row's class among the labels.
    scores
        (n, K) scores, or (n, 1) scores of the second of two classes.
    weights
        The weight of each row, or None.
    end
        The place behind these rows.
    share
        How much of the data set has been read with them, from 0 to 1; None where that is not known.
    """

    codes: NDArray[Any]
    scores: NDArray[Any]
    weights: NDArray[Any] | None
    end: Position
    share: float | None


class RowStream:
    """The rows of one or more files with the same columns, to be read batch by batch, as often as one likes.

    Attributes
    ----------
    path
        What messages call the data set.
    names
        Its columns.
    scores
        Those that hold scores.
    n_classes
        How many classes they are for.
    """

    def __init__(
        self, path: str, files: list[RowFile], pattern: str | Sequence[str], request: Request, sizes: list[int]
    ) -> None:
        for file in files[1:]:
            refuse_other_columns(file, files[0])
        self.path = path
        self.names = files[0].names
        self._files = files
        self._request = request
        self._sizes = np.array(sizes, dtype=np.float64)
        require(self, [request.label], request.spelled("label"))
        self._columns = score_columns(self, pattern, request)
        self.scores = self._columns.names
        self.n_classes = max(2, len(self.scores))
        if request.weights is not None:
            require(self, [request.weights], request.spelled("weights"))
        self._is_single = all(file.is_single(self.scores) for file in files)

    @property
    def is_once(self) -> bool:
        """Whether the rows can be read only once."""
        return any(file.is_once for file in self._files)

    def batch_rows(self, n_bytes: int) -> int:
        """How many rows there are in a batch whose scores take up about so many bytes."""
        cell = 4 if self._is_single else 8
        return min(MOST_ROWS, max(FEWEST_ROWS, n_bytes // (cell * (len(self.scores) + 2))))

    def labels(self) -> list[str]:
        """The classes in the order of the columns, by the rules that hold for files that are read whole.

        These look at all labels. Here that takes a pass over the column of labels only where the names of columns and
        the first rows leave a choice.
        """
        if self._request.classes is not None:
            return given_classes(self, len(self.scores), self._request)
        if len(self.scores) == 1:
            return sorted_classes(self, self._all_texts(), 1, self._request)
        fitting = fitting_names(self._columns, self._first_texts())
        if any(names != fitting[0] for names in fitting):
            fitting = fitting_names(self._columns, self._all_texts())
        return fitting[0] if fitting else self._columns.class_names[0]

    def refuse_absent(self, labels: list[str], counts: NDArray[np.int64]) -> None:
        """Raise if one of the classes has no rows; `counts` are the rows of each."""
        refuse_absent(
            self, labels, {label for label, count in zip(labels, counts, strict=True) if count}, self._request
        )

    def _first_texts(self) -> list[str]:
        for file in self._files:
            if isinstance(file, BatchRows):
                return self._codes_and_texts(file, file.head(), 0)[1]
            for texts in self._texts_of(file):
                return texts
        raise NoRowsError(f"{self.path}: there are no rows")

    def _all_texts(self) -> list[str]:
        if self.is_once:
            raise ValueError(
                f"{self.path}: the classes must be named in column order with {self._request.spelled('classes')}, "
                "because rows that can be read only once cannot be searched for labels beforehand"
            )
        found = dict.fromkeys(text for file in self._files for texts in self._texts_of(file) for text in texts)
        if not found:
            raise NoRowsError(f"{self.path}: there are no rows")
        return list(found)

    def _texts_of(self, file: RowFile) -> Iterator[list[str]]:
        label = self._request.label
        for piece in file.pieces([label], [], 0, MOST_ROWS):
            if piece.table.num_rows:
                yield self._codes_and_texts(file, piece.table, piece.first)[1]

    def _codes_and_texts(self, file: RowFile, table: Any, before: int) -> tuple[NDArray[Any], list[str]]:
        label = self._request.label
        codes, texts = codes_and_texts(file.path, label, table.column(label), before=before)
        return codes, [text for text in texts if text is not None]  # none is missing

    def batches(self, labels: list[str], size: int, start: Position) -> Iterator[Batch]:
        """The rows from a place on, in batches of `size`, which only the last of a file falls short of.

        Where batches begin and end depends on the files and `size` alone, not on `start` if that is the end of one.
        """
        codes = {label: code for code, label in enumerate(labels)}
        before = np.concatenate([[0.0], np.cumsum(self._sizes)]) / max(self._sizes.sum(), 1.0)
        texts = [self._request.label]
        numbers = list(dict.fromkeys([*self.scores, *self._weight_columns()]))
        for number, file in enumerate(self._files[start.file :], start.file):
            first = start.row if number == start.file else 0
            for piece in cut(file.pieces(texts, numbers, first, size), first, size):
                end = Position(number, piece.first + piece.table.num_rows)
                share = None
                if piece.share is not None:
                    share = float(before[number] + piece.share * (before[number + 1] - before[number]))
                yield self._read(file, piece, codes, labels)._replace(end=end, share=share)

    def _weight_columns(self) -> list[str]:
        return [] if self._request.weights is None else [self._request.weights]

    def _read(self, file: RowFile, piece: Piece, codes: dict[str, int], labels: list[str]) -> Batch:
        table, before = piece.table, piece.first
        found, texts = self._codes_and_texts(file, table, before)
        known = [codes.get(text, -1) for text in spelled_like(texts, labels)]
        if -1 in known:
            unknown = known.index(-1)
            row = before + int(np.argmax(found == unknown)) + 1
            place = f"{file.path}: column {self._request.label!r}, row {row}"
            raise no_score_column(place, texts[unknown], labels, self._request)
        scores = [(name, table.column(name)) for name in self.scores]
        if self._is_single:
            wider = next((name for name, column in scores if not is_single(column.type)), None)
            if wider is not None:  # of an iterator: the types of files are known before
                kind = f"{table.column(wider).type}, and the rows before have single precision"
                raise ValueError(f"{file.path}: column {wider!r}, row {before + 1}: {kind}")
        values = side_by_side(file.path, scores, before=before, single=self._is_single)
        odd = odd_row(values)
        if odd is not None:
            row, n_odd = odd
            warn_of_odd_row(f"{file.path}: row {before + row + 1}", values[row], n_odd)
        weights = self._weights(file, table, before)
        # As the core takes codes.
        places = np.array(known, dtype=np.uint8 if self.n_classes <= 256 else np.uint16)
        return Batch(places[found], values, weights, BEGINNING, None)

    def _weights(self, file: RowFile, table: Any, before: int) -> NDArray[Any] | None:
        name = self._request.weights
        if name is None:
            return None
        weights = side_by_side(file.path, [(name, table.column(name))], before=before, single=False)[:, 0]
        if (weights < 0).any():
            row = int(np.argmax(weights < 0))
            place = f"{file.path}: column {name!r}, row {before + row + 1}"
            raise ValueError(f"{place}: the weight {weights[row]} is negative")
        return weights


def cut(pieces: Iterator[Piece], start: int, size: int) -> Iterator[Piece]:
    """The rows from `start` on in pieces of exactly `size` rows, the last perhaps shorter."""
    held: list[Any] = []
    first, n_held, share = start, 0, None
    for piece in pieces:
        table, share = piece.table, piece.share
        if piece.first < start:
            table = table.slice(start - piece.first)
        if table.num_rows:
            held.append(table)
            n_held += table.num_rows
        while n_held >= size:
            whole = _one_below_the_other(held)
            yield piece._replace(first=first, table=whole.slice(0, size))
            first, n_held = first + size, n_held - size
            held = [whole.slice(size)] if n_held else []
    if held:
        yield Piece(first, _one_below_the_other(held), share)


def _one_below_the_other(tables: list[Any]) -> Any:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
