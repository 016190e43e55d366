"""Which class each column of the scores stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._input.containers import frame_columns
from multiauc._input.labels import is_missing, plain
from multiauc._wording import counted, described, listing

if TYPE_CHECKING:
    from multiauc._input.labels import LabelColumn


def match_classes(
    column: LabelColumn, labels: Any, names: list[Any] | None, n_columns: int
) -> tuple[list[Any], list[int]]:
    """(classes, columns): the class of each score column, and the column of each distinct label of `column`.

    Without `labels`, the names of the score columns are the classes if they are strings or contain every label;
    otherwise the sorted labels are, if there are as many of them as columns. With `labels` the columns are in their
    order, unless `order_of_names` finds another.
    """
    if labels is not None:
        classes = read_labels(labels, n_columns)
        return classes, _columns_of(column, classes, "labels")
    if names is not None and _are_class_names(names, column):
        _check_distinct(names, "the column names of y_score")
        return names, _columns_of(column, names, "the column names of y_score")
    classes = _sorted_labels(column)
    if len(classes) != n_columns:
        raise _wrong_number_of_labels(classes, n_columns)
    if classes == column.distinct:  # as integers nearly always are: what remains takes time in small calls
        return classes, list(range(n_columns))
    return classes, _columns_of(column, classes, "labels")


def column_names(y_score: Any, n_columns: int) -> list[Any] | None:
    """The names of the score columns, None if they have none of their own."""
    names = frame_columns(y_score)
    return None if names is None or len(names) != n_columns else [plain(name) for name in names]


def order_of_names(names: list[Any] | None, classes: list[Any]) -> list[int] | None:
    """The column of each class, if the columns are named by the classes, in whatever order; None otherwise."""
    if names is None:
        return None
    try:
        place = {name: k for k, name in enumerate(names)}
        return [place[label] for label in classes] if len(place) == len(classes) else None
    except (KeyError, TypeError):  # other names, or names that cannot be hashed
        return None


def _are_class_names(names: list[Any], column: LabelColumn) -> bool:
    if all(isinstance(name, str) for name in names):
        return True
    try:
        return set(names).issuperset(column.distinct)
    except TypeError:  # names that cannot be hashed cannot be labels
        return False


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


def _sorted_labels(column: LabelColumn) -> list[Any]:
    try:
        return sorted(set(column.distinct))
    except TypeError as error:
        raise ValueError(
            f"the labels of y_true cannot be sorted ({error}): {listing(column.distinct)}; "
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
