"""From labels to codes: the distinct labels of `y_true`, and the score column that each of its rows belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._input.arrays import as_labels
from multiauc._input.containers import label_codes
from multiauc._wording import counted, described

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]

# Of dense scores; labels beyond what any column could stand for are refused while they are numbered.
MAX_CLASSES = 65_536


class LabelColumn:
    """The labels of all rows as numbers.

    Attributes
    ----------
    distinct
        The distinct labels, none of them missing (0.0 and -0.0, which are equal, may both be listed).
    codes
        The position of each row's label in `distinct`.
    counts
        The number of rows of each distinct label.
    """

    __slots__ = ("codes", "counts", "distinct")

    def __init__(self, distinct: list[Any], codes: Codes, counts: NDArray[np.int64]) -> None:
        self.distinct = distinct
        self.codes = codes
        self.counts = counts

    def row_of(self, position: int) -> int:
        """The first row that holds the distinct label at `position`."""
        return int(np.argmax(self.codes == position))

    def to_columns(self, columns: list[int], n_columns: int) -> tuple[Codes, NDArray[np.int64]]:
        """(codes, counts), when the distinct label at position k belongs to column `columns[k]`."""
        in_order = columns == list(range(len(columns)))
        if in_order and len(columns) == n_columns:
            return self.codes, self.counts
        counts = [0] * n_columns
        for column, count in zip(columns, self.counts.tolist(), strict=True):
            counts[column] += count
        dtype = code_dtype(n_columns)
        codes = self.codes
        if not in_order or codes.dtype != dtype:
            codes = _look_up(columns, codes, dtype)
        return codes, np.array(counts, dtype=np.int64)


class _Numbering(dict[Any, int]):
    """Gives every new key the next number."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


def code_dtype(n_classes: int) -> np.dtype[Any]:
    """The integer type that the core expects for the codes of this many classes."""
    narrowest = np.uint8 if n_classes <= 256 else np.uint16 if n_classes <= 65_536 else np.uint32
    return np.dtype(narrowest)


def read_label_column(y_true: Any, n_rows: int, n_columns: int) -> LabelColumn:
    """Check the shape of `y_true` and number its labels. No label of the result is missing."""
    if type(y_true) is not np.ndarray:
        return _read_other_container(y_true, n_rows, n_columns)
    _check_shape(y_true, y_true, n_rows)
    return _number_array(y_true, max(n_columns, MAX_CLASSES))


def _read_other_container(y_true: Any, n_rows: int, n_columns: int) -> LabelColumn:
    limit = max(n_columns, MAX_CLASSES)
    coded = label_codes(y_true)
    if coded is not None:
        _check_shape(y_true, coded[0], n_rows)
        return _number_codes(*coded, limit)
    is_list = isinstance(y_true, (list, tuple))
    # A list of strings is numbered as it is: in an array every label would take as much room as the longest.
    if is_list and y_true and isinstance(y_true[0], str):
        _check_length(len(y_true), n_rows)
        return _number_objects(y_true, limit)
    array = as_labels("y_true", y_true)
    _check_shape(y_true, array, n_rows)
    if is_list and array.dtype.kind in "US":
        # NumPy turned a mixture such as [1, "a"] or [nan, "a"] into strings: keep the labels that were given.
        return _number_objects(y_true, limit)
    return _number_array(array, limit)


def _number_array(labels: NDArray[Any], limit: int) -> LabelColumn:
    kind, itemsize = labels.dtype.kind, labels.dtype.itemsize
    if kind in "iubf" and itemsize <= 8:
        # Equal bits are equal labels: bools and floats are numbered as integers of their size and put in order later.
        plain_labels = _contiguous(labels)
        integers = plain_labels if kind in "iu" else plain_labels.view(f"u{itemsize}")
        codes, first_rows, counts = _rust.code_integers(integers, limit)
        column = LabelColumn(labels[first_rows].tolist(), codes, counts)
        if kind == "f":
            _refuse_missing(column)
        return column
    if kind in "US" and itemsize > 0:
        records = np.ascontiguousarray(labels).view(np.uint8).reshape(len(labels), itemsize)
        codes, first_rows, counts = _rust.code_bytes(records, limit)
        return LabelColumn(labels[first_rows].tolist(), codes, counts)
    # Times keep their unit as NumPy scalars; tolist would turn some of them into bare integers.
    return _number_objects(list(labels) if kind in "mM" else labels.tolist(), limit)


def _contiguous(labels: NDArray[Any]) -> NDArray[Any]:
    """The labels themselves if the core can read them, otherwise a copy."""
    flags = labels.flags
    if flags.c_contiguous and flags.aligned and labels.dtype.isnative:
        return labels
    return labels.astype(labels.dtype.newbyteorder("="), order="C")


def _number_codes(given: NDArray[Any], labels_of: Callable[[NDArray[np.int64]], list[Any]], limit: int) -> LabelColumn:
    codes, first_rows, counts = _rust.code_integers(_contiguous(given), limit)
    if given[first_rows[0]] < 0:
        raise _missing_label(None, int(first_rows[0]))
    return LabelColumn(labels_of(first_rows), codes, counts)


def _number_objects(labels: Sequence[Any], limit: int) -> LabelColumn:
    numbers = _Numbering()
    try:
        try:
            # For up to 256 labels, and twice as fast as np.fromiter.
            wide = np.frombuffer(bytes(map(numbers.__getitem__, labels)), dtype=np.uint8)
        except ValueError:
            wide = np.fromiter(map(numbers.__getitem__, labels), dtype=np.int64, count=len(labels))
    except TypeError as error:
        raise TypeError(f"y_true must hold hashable labels such as numbers or strings; {error}") from None
    column = LabelColumn([plain(label) for label in numbers], wide, np.bincount(wide).astype(np.int64, copy=False))
    _refuse_missing(column)
    if len(numbers) > limit:
        raise ValueError(f"y_true must have at most {limit} distinct labels; got {len(numbers)}")
    column.codes = wide.astype(code_dtype(len(numbers)), copy=False)
    return column


def _look_up(columns: list[int], codes: Codes, dtype: np.dtype[Any]) -> Codes:
    """columns[codes], without the index array, eight times as large, that NumPy would make of one-byte codes."""
    if codes.dtype == dtype == np.uint8:
        return np.frombuffer(codes.tobytes().translate(bytes(columns).ljust(256, b"\0")), dtype=np.uint8)
    found: Codes = np.array(columns, dtype=dtype)[codes]
    return found


def _refuse_missing(column: LabelColumn) -> None:
    for position, label in enumerate(column.distinct):
        if is_missing(label):
            raise _missing_label(label, column.row_of(position))


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


def _check_shape(given: Any, labels: NDArray[Any], n_rows: int) -> None:
    if labels.ndim == 1:
        _check_length(len(labels), n_rows)
        return
    found = f"shape {labels.shape}" if labels.ndim else described(given)
    problem = f"y_true must be one-dimensional with one label per row; got {found}"
    if labels.ndim == 2 and labels.shape[1] == 1:
        raise ValueError(f"{problem}: pass np.asarray(y_true).ravel()")
    if labels.ndim == 2 and labels.size and labels.dtype.kind in "iubf" and ((labels == 0) | (labels == 1)).all():
        raise ValueError(f"{problem}, {_advice_on_indicators(labels)}")
    raise ValueError(problem)


def _advice_on_indicators(indicators: NDArray[Any]) -> str:
    """What to do with a column of zeros and ones for each class."""
    sums = indicators.sum(axis=1, dtype=np.int64)
    if (sums == 1).all():
        return "which looks one-hot: pass np.asarray(y_true).argmax(axis=1), the column number of each row's class"
    return (
        f"which looks multi-label: rows have from {sums.min()} to {sums.max()} labels, not one class each. "
        "multiauc.sklearn.roc_auc_score(y_true, y_score, average=None) has the AUC of each label"
    )


def _check_length(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(
            f"y_true and y_score must have the same number of rows; got {n_labels} labels and "
            f"{counted(n_rows, 'row')} of scores"
        )
