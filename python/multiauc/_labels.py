"""From labels to codes: the distinct labels of `y_true`, and the score column that each of its rows belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from multiauc import _rust
from multiauc._arrays import as_array
from multiauc._wording import counted, described

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.uint8] | NDArray[np.uint16]

MAX_CLASSES = 65_536


class LabelColumn(Protocol):
    """The labels of all rows, and the distinct ones among them (0.0 and -0.0 may both be listed)."""

    distinct: list[Any]

    def __len__(self) -> int:
        """Return the number of rows."""

    def row_of(self, position: int) -> int:
        """A row that holds the distinct label at `position`."""

    def to_columns(self, columns: list[int], n_columns: int) -> tuple[Codes, NDArray[np.int64]]:
        """(codes, counts), when the distinct label at position k belongs to column `columns[k]`."""


class CodedLabels:
    """Labels that the compiled core has numbered already."""

    __slots__ = ("_codes", "_counts", "_first_rows", "distinct")

    def __init__(
        self,
        distinct: list[Any],
        codes: Codes,
        first_rows: NDArray[np.intp],
        counts: NDArray[np.int64],
    ) -> None:
        self.distinct = distinct
        self._codes = codes
        self._first_rows = first_rows
        self._counts = counts

    def __len__(self) -> int:
        return len(self._codes)

    def row_of(self, position: int) -> int:
        return int(self._first_rows[position])

    def to_columns(self, columns: list[int], n_columns: int) -> tuple[Codes, NDArray[np.int64]]:
        in_order = columns == list(range(len(columns)))
        if in_order and len(columns) == n_columns:
            return self._codes, self._counts
        counts = np.zeros(n_columns, dtype=np.int64)
        np.add.at(counts, columns, self._counts)
        dtype = code_dtype(n_columns)
        if in_order and self._codes.dtype == dtype:
            return self._codes, counts
        return _look_up(np.array(columns, dtype=dtype), self._codes), counts


class ListedLabels:
    """Labels that are Python objects, numbered through a dictionary."""

    __slots__ = ("_keys", "_rows", "distinct")

    def __init__(self, rows: Sequence[Hashable]) -> None:
        try:
            self._keys = list(dict.fromkeys(rows))
        except TypeError as error:
            raise TypeError(f"y_true must hold hashable labels such as numbers or strings; {error}") from None
        self._rows = rows
        self.distinct = [plain(label) for label in self._keys]

    def __len__(self) -> int:
        return len(self._rows)

    def row_of(self, position: int) -> int:
        return self._rows.index(self._keys[position])

    def to_columns(self, columns: list[int], n_columns: int) -> tuple[Codes, NDArray[np.int64]]:
        column_of = dict(zip(self._keys, columns, strict=True))
        row_columns = map(column_of.__getitem__, self._rows)
        codes: Codes
        if code_dtype(n_columns) == np.uint8:
            codes = np.frombuffer(bytes(row_columns), dtype=np.uint8)  # twice as fast as np.fromiter
        else:
            codes = np.fromiter(row_columns, dtype=np.uint16, count=len(self._rows))
        return codes, np.bincount(codes, minlength=n_columns).astype(np.int64, copy=False)


def code_dtype(n_classes: int) -> np.dtype[Any]:
    """The integer type that the core expects for the codes of so many classes."""
    return np.dtype(np.uint8) if n_classes <= 256 else np.dtype(np.uint16)


def read_label_column(y_true: Any, n_rows: int, n_columns: int) -> LabelColumn:
    """Check the shape of `y_true` and number its labels. No label of the result is missing."""
    if type(y_true) is not np.ndarray:
        return _read_other_container(y_true, n_rows, n_columns)
    _check_shape(y_true, y_true, n_rows, n_columns)
    return _number_array(y_true)


def _read_other_container(y_true: Any, n_rows: int, n_columns: int) -> LabelColumn:
    categorical = _categorical_parts(y_true)
    if categorical is not None:
        codes, categories = categorical
        _check_shape(y_true, codes, n_rows, n_columns)
        return _number_categorical(codes, categories)
    is_list = isinstance(y_true, (list, tuple))
    # A list of strings is numbered as it stands: as an array every label would take the room of the longest.
    if is_list and y_true and isinstance(y_true[0], str):
        _check_length(len(y_true), n_rows)
        return _without_missing(ListedLabels(y_true))
    array = as_array("y_true", y_true)
    _check_shape(y_true, array, n_rows, n_columns)
    if is_list and array.dtype.kind in "US":
        # NumPy turned a mixture such as [1, "a"] or [nan, "a"] into strings: keep the labels that were given.
        return _without_missing(ListedLabels(y_true))
    return _number_array(array)


def _number_array(labels: NDArray[Any]) -> LabelColumn:
    kind, itemsize = labels.dtype.kind, labels.dtype.itemsize
    if kind in "iubf" and itemsize <= 8:
        native = labels
        if not (labels.dtype.isnative and labels.flags.aligned):
            native = labels.astype(labels.dtype.newbyteorder("="))
        # Equal bits are equal labels: bools and floats are numbered as integers of their size and put in order later.
        integers = native if kind in "iu" else native.view(f"u{itemsize}")
        codes, first_rows, counts = _rust.code_integers(integers)
        column = CodedLabels(labels[first_rows].tolist(), codes, first_rows, counts)
        return _without_missing(column) if kind == "f" else column
    if kind in "US" and itemsize > 0:
        records = np.ascontiguousarray(labels).view(np.uint8).reshape(len(labels), itemsize)
        codes, first_rows, counts = _rust.code_bytes(records)
        return CodedLabels(labels[first_rows].tolist(), codes, first_rows, counts)
    # Times keep their unit as NumPy scalars; tolist would turn some of them into bare integers.
    return _without_missing(ListedLabels(list(labels) if kind in "mM" else labels.tolist()))


def _categorical_parts(y_true: Any) -> tuple[NDArray[Any], Any] | None:
    """Codes and categories of a pandas categorical (series, index or array), None for anything else."""
    if getattr(getattr(y_true, "dtype", None), "categories", None) is None:
        return None
    source: Any = y_true if hasattr(y_true, "codes") else getattr(y_true, "cat", None)
    codes = getattr(source, "codes", None)
    return None if codes is None else (np.asarray(codes), source.categories)


def _number_categorical(category_codes: NDArray[Any], categories: Any) -> LabelColumn:
    codes, first_rows, counts = _rust.code_integers(category_codes)
    used = category_codes[first_rows].tolist()
    if used[0] < 0:
        raise _missing_label(None, int(first_rows[0]))
    names = categories.tolist()
    return CodedLabels([names[category] for category in used], codes, first_rows, counts)


def _look_up(table: Codes, codes: Codes) -> Codes:
    """table[codes], without the eightfold index array that NumPy would make of one-byte codes."""
    if table.dtype == codes.dtype == np.uint8:
        translation = bytes(table).ljust(256, b"\0")
        return np.frombuffer(codes.tobytes().translate(translation), dtype=np.uint8)
    found: Codes = table[codes]
    return found


def _without_missing(column: LabelColumn) -> LabelColumn:
    for position, label in enumerate(column.distinct):
        if is_missing(label):
            raise _missing_label(label, column.row_of(position))
    return column


def _missing_label(label: object, row: int) -> ValueError:
    return ValueError(f"y_true has a missing label ({label!r}) at row {row}; drop such rows, or give them a label")


def is_missing(label: Any) -> bool:
    """Whether a label is None, nan, NaT or pandas.NA."""
    if label is None:
        return True
    try:
        return bool(label != label)  # noqa: PLR0124 - only nan and NaT differ from themselves
    except TypeError:  # pandas.NA has no truth value
        return True


def plain(label: Any) -> Any:
    """A NumPy number, bool or string as the Python object that it equals."""
    return label.item() if isinstance(label, (np.number, np.bool_, np.character)) else label


def _check_shape(given: Any, labels: NDArray[Any], n_rows: int, n_columns: int) -> None:
    if labels.ndim == 1:
        _check_length(len(labels), n_rows)
        return
    found = f"shape {labels.shape}" if labels.ndim else described(given)
    problem = f"y_true must be one-dimensional with one label per row; got {found}"
    if labels.ndim == 2 and labels.shape[1] == 1:
        raise ValueError(f"{problem}: pass np.asarray(y_true).ravel()")
    if labels.ndim == 2 and labels.shape[1] == n_columns:
        raise ValueError(
            f"{problem}, which looks one-hot: pass np.asarray(y_true).argmax(axis=1), "
            "the column number of each row's class"
        )
    raise ValueError(problem)


def _check_length(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(
            f"y_true and y_score must have the same number of rows; got {n_labels} labels and "
            f"{counted(n_rows, 'row')} of scores"
        )
