"""From the columns of a data frame to what tasks read: a few columns of known names, checked by their types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions
from pyspark.sql import types as sql

from multiauc._common.wording import described, listing
from multiauc._input.columns import (
    Header,
    closest_reading,
    find_score_columns,
    fit_readings,
    order_columns,
    read_request,
    read_wanted_scores,
    refuse_ambiguity,
    to_text,
)
from multiauc._input.labels import MAX_CLASSES, read_labels
from multiauc._input.probabilities import read_outputs

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from multiauc._input.columns import ColumnRequest

#: The one model of `evaluate`.
ONLY = "scores"
#: Rows whose labels are looked at before all labels are.
FIRST_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a model.

    Attributes
    ----------
    columns
        Their names in what tasks read.
    names
        Their names in the data frame.
    is_array
        Whether one column has all scores of a row.
    is_single
        Whether they are float32.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    is_array: bool
    is_single: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """What tasks read.

    Attributes
    ----------
    label
        The name of the column of labels.
    values
        The labels as that column has them, in the order of the scores.
    labels
        The labels as the result has them.
    models
        Where the scores are.
    sample_weight
        The name of the column of weights, or None.
    by
        The names of the columns whose values are slices.
    outputs
        What the scores are: "logits", or None to take them as they are.
    """

    label: str
    values: tuple[Any, ...]
    labels: tuple[Any, ...]
    models: dict[str, Scores]
    sample_weight: str | None
    by: tuple[str, ...]
    outputs: str | None = None


def read_columns(
    df: DataFrame,
    label: Any,
    models: Mapping[str, Any],
    sample_weight: Any,
    labels: Sequence[Hashable] | None,
    by: Any,
    outputs: Any = None,
) -> tuple[DataFrame, Layout]:
    """The columns that tasks read, and what they are, by the rules of `multiauc._input.columns`."""
    _require_data_frame(df)
    classes = None if labels is None else read_labels(labels)
    by_names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    request = replace(read_request(label, sample_weight, classes), by=by_names)
    label_type = _type_of(df, "label", label)
    selected = [_label_column(label, label_type).alias("label")]
    found: dict[str, Scores] = {}
    width, names = None, None if request.labels is None else list(request.labels)
    for place, (model, wanted) in enumerate(models.items()):
        option = "scores" if model == ONLY and len(models) == 1 else f"models[{model!r}]"
        columns, scores, readings = _find_scores(df, option, wanted, place, request)
        selected += columns
        if names is None and readings is not None:
            names = _choose_reading(df, label, readings)
        found[model] = _sort_columns(scores, readings, names)
        own_width = len(scores.columns) if not scores.is_array else _array_width(df, columns[0], scores, labels)
        if width is not None and own_width != width:
            raise ValueError(f"{option} has {own_width} scores per row, and the model before it {width}")
        width = own_width
    n_classes = max(2, width or 0)
    if classes is None:
        classes = list(names) if names is not None else _number_classes(label, label_type, n_classes)
    elif len(classes) != n_classes:
        raise ValueError(f"labels names {len(classes)} classes, and there are {n_classes} scores per row")
    if sample_weight is not None:
        _require_number(df, "sample_weight", sample_weight)
        selected.append(_column(sample_weight).cast("double").alias("weight"))
    for place, name in enumerate(by_names):
        _type_of(df, "by", name)
        selected.append(_column(name).cast("string").alias(f"by_{place}"))
    values = tuple(_as_cell(one, label, label_type) for one in classes)
    shown = tuple(classes)
    if labels is None:
        shown = tuple(int(one) if isinstance(one, float) and one.is_integer() else one for one in values)
    return df.select(*selected), Layout(label, values, shown, found, sample_weight, by_names, read_outputs(outputs))


def _choose_reading(df: DataFrame, label: str, readings: list[list[str]]) -> list[str]:
    """What the names of the columns say about the classes: what fits the first labels, or, if need be, all of them."""
    column = df.select(_column(label))
    rows = column.head(FIRST_ROWS)
    if not rows:
        raise ValueError("df has no rows")
    first = _texts(rows)
    fitting = fit_readings(readings, first)
    if len(fitting) > 1:
        fitting = fit_readings(fitting, _texts(column.distinct().head(MAX_CLASSES)))
        refuse_ambiguity("df", fitting, "labels")
    return fitting[0] if fitting else closest_reading(readings, first)


def _texts(rows: list[Any]) -> list[str]:
    """Labels as text; those that are missing are refused by the tasks, which see all of them."""
    return [to_text(row[0]) for row in rows if row[0] is not None]


def _sort_columns(scores: Scores, readings: list[list[str]] | None, names: list[str] | None) -> Scores:
    """The scores in the order of the classes, if their columns are called after these."""
    order = None if readings is None or names is None else order_columns(readings, names)
    if order is None:
        return scores
    columns, called = (tuple(all_of[k] for k in order) for all_of in (scores.columns, scores.names))
    return replace(scores, columns=columns, names=called)


def _require_data_frame(df: Any) -> None:
    if not hasattr(df, "mapInArrow"):
        raise TypeError(f"df must be a data frame of Spark; got {described(df)}")


def _column(name: str) -> Column:
    escaped = name.replace("`", "``")
    return functions.col(f"`{escaped}`")


def _type_of(df: DataFrame, option: str, name: Any) -> sql.DataType:
    if not isinstance(name, str):
        raise TypeError(f"{option} must be the name of a column; got {described(name)}")
    if name not in df.columns:
        raise ValueError(f"{option}={name!r} is not a column of df; it has {listing(df.columns)}")
    return df.schema[name].dataType


def _require_number(df: DataFrame, option: str, name: Any) -> sql.DataType:
    found = _type_of(df, option, name)
    if not isinstance(found, sql.NumericType):
        raise TypeError(f"{option}: the column {name!r} must hold numbers; it is {found.simpleString()}")
    return found


def _label_column(name: str, found: sql.DataType) -> Column:
    if isinstance(found, (sql.StringType, sql.BooleanType)):
        return _column(name)
    if isinstance(found, sql.IntegralType):
        return _column(name).cast("long")
    if isinstance(found, sql.NumericType):
        return _column(name).cast("double")
    raise TypeError(f"label: the column {name!r} must hold strings or numbers; it is {found.simpleString()}")


def _find_scores(
    df: DataFrame, option: str, wanted: Any, place: int, request: ColumnRequest
) -> tuple[list[Column], Scores, list[list[str]] | None]:
    """The columns of a model, what they are, and what their names may say about the classes, if there are several."""
    header = Header("df" if option == "scores" else f"df ({option})", list(df.columns))
    names, readings = find_score_columns(header, read_wanted_scores(wanted, option), request)
    if len(names) > 1:
        return *_number_columns(df, option, names, place), readings
    (name,) = names
    found = _type_of(df, option, name)
    alias = f"scores_{place}"
    if type(found).__name__ == "VectorUDT":
        from pyspark.ml.functions import vector_to_array  # noqa: PLC0415 - needs pandas, and is not always needed

        column = vector_to_array(_column(name))
        return [column.alias(alias)], Scores((alias,), (name,), is_array=True, is_single=False), None
    if isinstance(found, sql.ArrayType) and isinstance(found.elementType, sql.NumericType):
        is_single = isinstance(found.elementType, sql.FloatType)
        column = _column(name).cast("array<float>" if is_single else "array<double>")
        return [column.alias(alias)], Scores((alias,), (name,), is_array=True, is_single=is_single), None
    if isinstance(found, sql.NumericType):
        return *_number_columns(df, option, [name], place), None
    raise TypeError(
        f"{option}: the column {name!r} must hold numbers, arrays of numbers or vectors; it is {found.simpleString()}"
    )


def _number_columns(df: DataFrame, option: str, names: list[str], place: int) -> tuple[list[Column], Scores]:
    types = [_require_number(df, option, name) for name in names]
    is_single = all(isinstance(found, sql.FloatType) for found in types)
    aliases = tuple(f"scores_{place}_{k}" for k in range(len(names)))
    cast = "float" if is_single else "double"
    columns = [_column(name).cast(cast).alias(alias) for name, alias in zip(names, aliases, strict=True)]
    return columns, Scores(aliases, tuple(names), is_array=False, is_single=is_single)


def _array_width(df: DataFrame, column: Column, scores: Scores, labels: Sequence[Hashable] | None) -> int:
    if labels is not None:
        return len(list(labels))
    first = df.select(functions.size(column)).head()
    if first is None:
        raise ValueError("df has no rows")
    if first[0] is None or first[0] < 1:
        raise ValueError(f"column {scores.names[0]!r} (scores) contains null, or an empty array, in the first row")
    return int(first[0])


def _number_classes(label: str, label_type: sql.DataType, width: int) -> list[Any]:
    """The classes of scores that have no names: 0, 1, ..., unless labels are something else than numbers."""
    if isinstance(label_type, sql.BooleanType) and width == 2:
        return [False, True]
    if isinstance(label_type, sql.StringType):
        raise ValueError(  # noqa: TRY004 - the type of a column, not of an argument
            f"labels is needed: the column {label!r} holds strings, and nothing says in which order the scores "
            "stand for them"
        )
    return list(range(width))


def _as_cell(one: Any, label: str, label_type: sql.DataType) -> Any:
    """A class as the column of labels has it."""
    one = one.item() if hasattr(one, "item") else one
    if isinstance(label_type, sql.StringType):
        return str(one)
    found: Any
    if isinstance(label_type, sql.BooleanType):
        found = {"true": True, "false": False, "1": True, "0": False}.get(to_text(one).lower())
    else:
        wanted = int if isinstance(label_type, sql.IntegralType) else float
        try:
            found = wanted(one)
        except (TypeError, ValueError):
            found = None
    if found is None or (not isinstance(one, str) and found != one):
        raise ValueError(
            f"{one!r} is a class by labels or the names of columns, and the column {label!r} is "
            f"{label_type.simpleString()}: no row can have that label; name the classes with labels"
        )
    return found
