"""Labels of rows as numbers: which column stands for the class of a row, and which slice the row is in."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from multiauc import _rust
from multiauc._common.wording import describe_type, listing, pluralize
from multiauc._input import columns as column_rules
from multiauc._input.arrays import as_labels, frame_columns, label_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from multiauc._input.arrays import LabelCodes

    Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]


# Of dense scores; labels beyond what any column could stand for are refused while they are numbered.
MAX_CLASSES = 65_536
COLUMN_NAMES = "the column names of y_score"
#: What the column of slices is called if it has no name.
UNNAMED = "slice"


class LabelColumn(NamedTuple):
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

    distinct: list[Any]
    codes: Codes
    counts: NDArray[np.int64]

    def row_of(self, position: int) -> int:
        """The first row that holds the distinct label at `position`."""
        return int(np.argmax(self.codes == position))

    def to_columns(self, columns: list[int], n_columns: int) -> tuple[Codes, NDArray[np.int64]]:
        """(codes, counts), when the distinct label at position k belongs to column `columns[k]`."""
        if columns == list(range(n_columns)):
            return self.codes, self.counts
        counts = np.bincount(columns, self.counts, n_columns).astype(np.int64)
        return _rust.recode(self.codes, columns, n_columns), counts


def code_dtype(n_classes: int) -> np.dtype[Any]:
    """The integer type that the core expects for the codes of this many classes."""
    narrowest = np.uint8 if n_classes <= 256 else np.uint16 if n_classes <= 65_536 else np.uint32
    return np.dtype(narrowest)


def read_label_column(y_true: Any, n_rows: int, n_columns: int) -> LabelColumn:
    """Check the shape of `y_true` and number its labels. No label of the result is missing."""
    entries, labels_of = _open_column("y_true", y_true)
    _check_shape(y_true, entries, n_rows)
    column = _number_column("y_true", entries, labels_of, max(n_columns, MAX_CLASSES))
    for position, label in enumerate(column.distinct):
        if type(label) is not int and is_missing(label):
            where = f"({label!r}) at row {column.row_of(position)}"
            raise ValueError(f"y_true has a missing label {where}; drop such rows, or give them a label")
    return column


def _open_column(argument: str, values: Any) -> LabelCodes:
    """What can be numbered, an array or a list, and of codes what gives the labels of rows (otherwise None)."""
    if type(values) is np.ndarray:
        return values, None
    coded = label_codes(values)
    if coded is not None:
        return coded
    is_list = isinstance(values, (list, tuple))
    # A list of strings is numbered as it is: in an array every label would use as much memory as the longest.
    if is_list and values and isinstance(values[0], str):
        return values, None
    array = as_labels(argument, values)
    # NumPy turns a mixture such as [1, "a"] or [nan, "a"] into strings: keep the labels that were given.
    return values if is_list and array.ndim == 1 and array.dtype.kind in "US" else array, None


def _number_column(
    argument: str, entries: Any, labels_of: Callable[[NDArray[np.intp]], list[Any]] | None, limit: int
) -> LabelColumn:
    """The labels of all rows as numbers, missing ones included: code -1, if there are codes, stands for None."""
    kind, itemsize = ("O", 0) if isinstance(entries, (list, tuple)) else (entries.dtype.kind, entries.dtype.itemsize)
    if kind in "iubf" and itemsize <= 8:
        # Equal bits are equal labels: bools and floats are numbered as integers of their size and put in order later.
        readable = as_readable(entries)
        integers = readable if kind in "iu" else readable.view(f"u{itemsize}")
        codes, first_rows, counts = _rust.code_integers(integers, limit)
        if labels_of is None:
            return LabelColumn(entries[first_rows].tolist(), codes, counts)
        missing = int(entries[first_rows[0]] < 0)
        return LabelColumn([*[None] * missing, *map(plain, labels_of(first_rows[missing:]))], codes, counts)
    if kind in "US" and itemsize > 0:
        records = np.ascontiguousarray(entries).view(np.uint8).reshape(len(entries), itemsize)
        codes, first_rows, counts = _rust.code_bytes(records, limit)
        return LabelColumn(entries[first_rows].tolist(), codes, counts)
    if isinstance(entries, np.ndarray):
        # Times keep their unit as NumPy scalars; tolist would turn some of them into bare integers.
        entries = list(entries) if kind in "mM" else entries.tolist()
    column = number_objects(argument, entries)
    if len(column.distinct) > limit:
        raise ValueError(f"{argument} must have at most {limit} distinct labels; got {len(column.distinct)}")
    return column


def as_readable(labels: NDArray[Any]) -> NDArray[Any]:
    """The labels themselves if the core can read them, otherwise a copy."""
    flags = labels.flags
    if flags.c_contiguous and flags.aligned and labels.dtype.isnative:
        return labels
    return labels.astype(labels.dtype.newbyteorder("="), order="C")


def number_objects(argument: str, labels: Sequence[Any]) -> LabelColumn:
    """The labels as numbers in the order of their first rows."""
    try:
        codes, distinct, counts = _rust.code_objects(labels)
    except TypeError as error:
        raise TypeError(f"{argument} must hold hashable labels such as numbers or strings; {error}") from None
    return LabelColumn([plain(label) for label in distinct], codes, counts)


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


def _check_shape(given: Any, labels: Any, n_rows: int) -> None:
    shape: tuple[int, ...] = (len(labels),) if isinstance(labels, (list, tuple)) else labels.shape
    if shape == (n_rows,):
        return
    if len(shape) == 1:
        raise ValueError(
            f"y_true and y_score must have the same number of rows; got {shape[0]} labels and "
            f"{pluralize(n_rows, 'row')} of scores"
        )
    found = f"shape {shape}" if shape else describe_type(given)
    problem = f"y_true must be one-dimensional with one label per row; got {found}"
    if len(shape) == 2 and shape[1] == 1:
        raise ValueError(f"{problem}: pass np.asarray(y_true).ravel()")
    if len(shape) == 2 and labels.size and labels.dtype.kind in "iubf" and ((labels == 0) | (labels == 1)).all():
        sums = labels.sum(axis=1, dtype=np.int64)
        one_hot = "which looks one-hot: pass np.asarray(y_true).argmax(axis=1), the column number of each row's class"
        several = (
            f"which looks multi-label: rows have from {sums.min()} to {sums.max()} labels, not one class each; pass "
            'task="multilabel" to evaluate or compare'
        )
        problem = f"{problem}, {one_hot if (sums == 1).all() else several}"
    raise ValueError(problem)


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
        found = f"y_true has {pluralize(len(classes), 'distinct label')} ({listing(classes)})"
        advice = f" but y_score is for {n_columns} classes; pass labels= with the {n_columns} classes in column order"
        alone = f", but an AUC needs rows of at least two classes; y_score is for {n_columns} classes"
        raise ValueError(found + (alone if len(classes) == 1 else advice))
    if classes == column.distinct:  # as integers nearly always are: what remains takes time in small calls
        return classes, list(range(n_columns))
    return classes, _columns_of(column, classes, "labels")


def column_names(y_score: Any, n_columns: int) -> list[Any] | None:
    """The names of the score columns, None if they have none of their own."""
    names = frame_columns(y_score)
    return None if names is None or len(names) != n_columns else [plain(name) for name in names]


def read_names(names: list[Any], column: LabelColumn) -> list[Any] | None:
    """The classes that the score columns are named after; None if they are not named after classes.

    Names that are strings always are, perhaps with a prefix (see `columns.list_readings`), and the labels of the rows
    need only have the same text. Other names are classes if every label is among them.
    """
    if not all(isinstance(name, str) for name in names):
        with suppress(TypeError):  # names that cannot be hashed cannot be labels
            if set(names).issuperset(column.distinct):
                _check_distinct(names, COLUMN_NAMES)
                return names
        return None
    _check_distinct(names, COLUMN_NAMES)
    texts = [column_rules.to_text(label) for label in column.distinct]
    reading = column_rules.choose_reading("y_score", column_rules.list_readings(names), texts, "labels=")
    own = dict(zip(column_rules.spell_like(texts, reading), column.distinct, strict=True))
    # A class without rows is of the type of the other labels, if these are numbers.
    kinds = set(map(type, column.distinct))
    kind = kinds.pop() if kinds in ({int}, {float}) else str
    return [own[name] if name in own else _convert(name, kind) for name in reading]


def _convert(name: str, kind: Callable[[str], Any]) -> Any:
    try:
        return kind(name)
    except ValueError:
        return name


def order_of_names(names: list[Any] | None, classes: list[Any]) -> list[int] | None:
    """The column of each class, if the columns are named after the classes, in whatever order; None otherwise."""
    if names is None:
        return None
    try:
        order = column_rules.order_columns([names], classes)
    except TypeError:  # names that cannot be hashed
        return None
    if order is not None or not all(isinstance(name, str) for name in names):
        return order
    return column_rules.order_columns(
        column_rules.list_readings(names), [column_rules.to_text(label) for label in classes]
    )


def read_labels(labels: Any, n_columns: int | None = None) -> list[Any]:
    """The classes in column order: as many as there are columns, if these are known, and all distinct."""
    if isinstance(labels, (str, bytes, set, frozenset)) or not hasattr(labels, "__iter__"):
        raise TypeError(f"labels must be a sequence of the classes in column order; got {describe_type(labels)}")
    classes = [plain(label) for label in labels]
    if n_columns is not None and len(classes) != n_columns:
        raise ValueError(
            f"labels must name the class of each of the {n_columns} columns of y_score; "
            f"got {pluralize(len(classes), 'label')}: {listing(classes)}"
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


class SliceColumns(NamedTuple):
    """The slices of all rows.

    Attributes
    ----------
    columns
        The names of the columns whose values make up a slice.
    names
        The values of each slice, in the order of its first row: one, or a tuple if there are several columns. None
        stands for a missing value.
    codes
        The slice of each row, as a position in `names`.
    """

    columns: tuple[str, ...]
    names: list[Any]
    codes: NDArray[np.uint32]


def read_slices(by: Any, n_rows: int) -> SliceColumns:
    """Number the slices of rows; missing values are a slice of their own."""
    named = _name_columns(by, n_rows)
    if not named:
        raise ValueError("by must name at least one column of slices; got none")
    numbered = [_number_slices(argument, values, n_rows) for _, argument, values in named]
    records = np.stack([codes for codes, _ in numbered], axis=1).view(np.uint8)
    combined, first_rows, _ = _rust.code_bytes(records, n_rows)
    values = [[labels[code] for code in codes[first_rows].tolist()] for codes, labels in numbered]
    names = values[0] if len(values) == 1 else list(zip(*values, strict=True))
    return SliceColumns(tuple(name for name, _, _ in named), names, combined.astype(np.uint32))


def _name_columns(by: Any, n_rows: int) -> list[tuple[str, str, Any]]:
    """(name, what messages call it, values) of each column."""
    names = list(by) if isinstance(by, Mapping) else frame_columns(by)
    if names is None and hasattr(by, "columns"):  # a frame whose columns are numbered
        names = list(by.columns)
    if names is not None:
        take = by.column if hasattr(by, "column_names") else by.__getitem__
        return [(str(name), f"by[{name!r}]", take(name)) for name in names]
    if isinstance(by, np.ndarray) and by.ndim == 2:
        by = list(by.T)
    if isinstance(by, (list, tuple)) and by and all(map(_is_column, by)):
        places = [f" {place + 1}" for place in range(len(by))] if len(by) > 1 else [""]
        named = [_own_name(values) or f"{UNNAMED}{place}" for place, values in zip(places, by, strict=True)]
        return [(name, f"by[{k}]", values) for k, (name, values) in enumerate(zip(named, by, strict=True))]
    if isinstance(by, (str, bytes)) or not (hasattr(by, "__len__") or hasattr(by, "__array__")):
        raise TypeError(
            f"by must have a label of its slice for each of {pluralize(n_rows, 'row')}, or be a list, a dict or a data "
            f"frame of such columns; got {describe_type(by)}"
        )
    return [(_own_name(by) or UNNAMED, "by", by)]


def _is_column(value: Any) -> bool:
    """Whether an entry of a list is a column, not the label of a row (which may be a tuple)."""
    has_entries = hasattr(value, "__len__") and getattr(value, "ndim", 0) != 0
    return isinstance(value, list) or has_entries or hasattr(value, "to_pylist")


def _own_name(values: Any) -> str | None:
    name = getattr(values, "name", None)
    return None if name is None or callable(name) else str(name)


def _number_slices(argument: str, values: Any, n_rows: int) -> tuple[NDArray[Any], list[Any]]:
    """The codes of a column and what they stand for, None for everything that is missing."""
    # A list is numbered entry by entry: its entries may be tuples, or a mixture that an array would turn into text.
    entries, labels_of = (values, None) if isinstance(values, (list, tuple)) else _open_column(argument, values)
    shape = (len(entries),) if isinstance(entries, (list, tuple)) else entries.shape
    if shape != (n_rows,):
        found = describe_type(values) if not shape else f"shape {shape}" if shape[1:] else pluralize(shape[0], "label")
        raise ValueError(f"{argument} must have one label per row, {pluralize(n_rows, 'row')}; got {found}")
    column = _number_column(argument, entries, labels_of, n_rows)
    places = number_objects(argument, [None if is_missing(label) else label for label in column.distinct])
    return places.codes.astype(np.uint32)[column.codes], places.distinct
