"""Labels as codes of columns, and which column stands for which class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.wording import counted, described, listing
from multiauc._input.arrays import as_labels, frame_columns, label_codes
from multiauc._input.columns import (
    closest_reading,
    fit_readings,
    list_readings,
    order_columns,
    refuse_ambiguity,
    spell_like,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]


# Of dense scores; labels beyond what any column could stand for are refused while they are numbered.
MAX_CLASSES = 65_536
COLUMN_NAMES = "the column names of y_score"


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
        f"which looks multi-label: rows have from {sums.min()} to {sums.max()} labels, not one class each; pass "
        'task="multilabel" to evaluate or compare'
    )


def _check_length(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(
            f"y_true and y_score must have the same number of rows; got {n_labels} labels and "
            f"{counted(n_rows, 'row')} of scores"
        )


def match_classes(
    column: LabelColumn, labels: Any, names: list[Any] | None, n_columns: int
) -> tuple[list[Any], list[int]]:
    """(classes, columns): the class of each score column, and the column of each distinct label of `column`.

    Without `labels`, the classes are `names`, what the names of the score columns say (see `read_names`); otherwise the
    sorted labels, if there are as many of them as columns. With `labels` the columns are in their order, unless
    `order_of_names` finds another.
    """
    if labels is not None:
        classes = read_labels(labels, n_columns)
        return classes, _columns_of(column, classes, "labels")
    if names is not None:
        return names, _columns_of(column, names, COLUMN_NAMES)
    classes = sorted_labels(column.distinct)
    if len(classes) != n_columns:
        raise _wrong_number_of_labels(classes, n_columns)
    if classes == column.distinct:  # as integers nearly always are: what remains takes time in small calls
        return classes, list(range(n_columns))
    return classes, _columns_of(column, classes, "labels")


def column_names(y_score: Any, n_columns: int) -> list[Any] | None:
    """The names of the score columns, None if they have none of their own."""
    names = frame_columns(y_score)
    return None if names is None or len(names) != n_columns else [plain(name) for name in names]


def read_names(names: list[Any] | None, column: LabelColumn) -> list[Any] | None:
    """The classes that the score columns are named after; None if they are not named after classes.

    Names that are strings always are, perhaps with a prefix (see `columns.list_readings`), and the labels of the rows
    need only have the same text. Other names are classes if every label is among them.
    """
    if names is None:
        return None
    if not all(isinstance(name, str) for name in names):
        try:
            are_classes = set(names).issuperset(column.distinct)
        except TypeError:  # names that cannot be hashed cannot be labels
            are_classes = False
        if are_classes:
            _check_distinct(names, COLUMN_NAMES)
        return names if are_classes else None
    _check_distinct(names, COLUMN_NAMES)
    texts = [to_text(label) for label in column.distinct]
    fitting = fit_readings(list_readings(names), texts)
    refuse_ambiguity("y_score", fitting, "labels=")
    reading = fitting[0] if fitting else closest_reading(list_readings(names)[::-1], texts)
    own = dict(zip(spell_like(texts, reading), column.distinct, strict=True))
    return [own[name] if name in own else _as_label(name, column.distinct) for name in reading]


def _as_label(name: str, others: list[Any]) -> Any:
    """The class without rows that a column is named after, of the type of the other labels if these are numbers."""
    kind = next((kind for kind in (int, float) if all(type(label) is kind for label in others)), None)
    try:
        return name if kind is None else kind(name)
    except ValueError:
        return name


def order_of_names(names: list[Any] | None, classes: list[Any]) -> list[int] | None:
    """The column of each class, if the columns are named after the classes, in whatever order; None otherwise."""
    if names is None:
        return None
    try:
        order = order_columns([names], classes)
    except TypeError:  # names that cannot be hashed
        return None
    if order is not None or not all(isinstance(name, str) for name in names):
        return order
    return order_columns(list_readings(names), [to_text(label) for label in classes])


def read_labels(labels: Any, n_columns: int | None = None) -> list[Any]:
    """The classes in column order: as many as there are columns, if these are known, and all distinct."""
    if isinstance(labels, (str, bytes, set, frozenset)) or not hasattr(labels, "__iter__"):
        raise TypeError(f"labels must be a sequence of the classes in column order; got {described(labels)}")
    classes = [plain(label) for label in labels]
    if n_columns is not None and len(classes) != n_columns:
        raise ValueError(
            f"labels must name the class of each of the {n_columns} columns of y_score; "
            f"got {counted(len(classes), 'label')}: {listing(classes)}"
        )
    for position, label in enumerate(classes):
        if is_missing(label):
            raise ValueError(
                f"labels has a missing entry ({label!r}) at position {position}; name every column's class"
            )
    _check_distinct(classes, "labels")
    return classes


def _check_distinct(classes: list[Any], where: str) -> None:
    seen = set()
    for label in classes:
        try:
            if label in seen:
                raise ValueError(f"{where} must be distinct; {label!r} is there more than once")
            seen.add(label)
        except TypeError:
            raise TypeError(f"{where} must be hashable, such as numbers or strings; got {label!r}") from None


def _columns_of(column: LabelColumn, classes: list[Any], where: str) -> list[int]:
    column_of = {label: position for position, label in enumerate(classes)}
    try:
        return [column_of[label] for label in column.distinct]
    except KeyError:
        raise _unknown_label(column, classes, where) from None


def sorted_labels(labels: Collection[Any]) -> list[Any]:
    """The distinct labels in their order."""
    try:
        return sorted(set(labels))
    except TypeError as error:
        raise ValueError(
            f"the labels of y_true cannot be sorted ({error}): {listing(labels)}; "
            "pass labels= with the classes in column order"
        ) from None


def _wrong_number_of_labels(classes: list[Any], n_columns: int) -> ValueError:
    found = f"y_true has {counted(len(classes), 'distinct label')} ({listing(classes)})"
    if len(classes) == 1:
        return ValueError(f"{found}, but an AUC needs rows of at least two classes; y_score is for {n_columns} classes")
    return ValueError(
        f"{found} but y_score is for {n_columns} classes; pass labels= with the {n_columns} classes in column order"
    )


def _unknown_label(column: LabelColumn, classes: list[Any], where: str) -> ValueError:
    known = set(classes)
    position, label = next((k, label) for k, label in enumerate(column.distinct) if label not in known)
    found = f"y_true has the label {label!r} at row {column.row_of(position)}"
    message = f"{found}, which is not among {where}: {listing(classes)}"
    alike = next((other for other in classes if str(other) == str(label)), None)
    if alike is not None:
        message += f" ({label!r} is of type {type(label).__name__}, {alike!r} of type {type(alike).__name__})"
    if where != "labels":
        message += "; pass labels= with the classes in column order"
    return ValueError(message)
