"""From the columns of a data frame to what tasks read: a few columns of known names, checked by their types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions
from pyspark.sql import types as sql

from multiauc._common.wording import described, listing
from multiauc._input.labels import read_labels
from multiauc._input.probabilities import read_outputs

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame

#: The one model of `evaluate`.
ONLY = "scores"


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
    weight
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
    weight: str | None
    by: tuple[str, ...]
    outputs: str | None = None


def read_columns(
    df: DataFrame,
    label: Any,
    models: Mapping[str, Any],
    weight: Any,
    labels: Sequence[Hashable] | None,
    by: Any,
    outputs: Any = None,
) -> tuple[DataFrame, Layout]:
    """The columns that tasks read, and what they are."""
    _require_data_frame(df)
    label_type = _type_of(df, "label", label)
    selected = [_label_column(label, label_type).alias("label")]
    found, width, names = {}, None, None
    for place, (model, wanted) in enumerate(models.items()):
        option = "scores" if model == ONLY and len(models) == 1 else f"models[{model!r}]"
        columns, scores, own_names = _scores(df, option, wanted, place)
        selected += columns
        names = names or (own_names if labels is None else [str(one) for one in labels])
        found[model] = _in_order_of(scores, own_names, names)
        own_width = len(scores.columns) if not scores.is_array else _array_width(df, columns[0], scores, labels)
        if width is not None and own_width != width:
            raise ValueError(f"{option} has {own_width} scores per row, and the model before it {width}")
        width = own_width
    named = names if labels is None and (width or 0) > 1 else None
    classes = _classes(label, label_type, labels, max(2, width or 0), named)
    if weight is not None:
        _require_number(df, "weight", weight)
        selected.append(_column(weight).cast("double").alias("weight"))
    by_names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    for place, name in enumerate(by_names):
        _type_of(df, "by", name)
        selected.append(_column(name).cast("string").alias(f"by_{place}"))
    values = tuple(_as_cell(one, label, label_type) for one in classes)
    return df.select(*selected), Layout(label, values, tuple(classes), found, weight, by_names, read_outputs(outputs))


def _in_order_of(scores: Scores, own_names: list[str] | None, names: list[str] | None) -> Scores:
    """The scores in the order of the classes that are named, if these are what their columns are called."""
    if own_names is None or names is None or len(set(names)) < len(names) or sorted(own_names) != sorted(names):
        return scores
    order = [own_names.index(name) for name in names]
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


def _scores(df: DataFrame, option: str, wanted: Any, place: int) -> tuple[list[Column], Scores, list[str] | None]:
    """The columns of a model, what they are, and the names of the classes where a pattern or the columns tell them."""
    if isinstance(wanted, str) and wanted not in df.columns and wanted.count("*") == 1:
        names = [name for name in df.columns if fnmatchcase(name, wanted)]
        if not names:
            raise ValueError(f"{option}={wanted!r} fits no column of df; it has {listing(df.columns)}")
        before, _, after = wanted.partition("*")
        return *_number_columns(df, option, names, place), [one[len(before) : len(one) - len(after)] for one in names]
    if not isinstance(wanted, str):
        names = list(wanted) if hasattr(wanted, "__iter__") else []
        if not names or not all(isinstance(name, str) for name in names):
            accepted = "a column, a pattern such as 'p_*' or a sequence of names of columns"
            raise TypeError(f"{option} must be {accepted}; got {described(wanted)}")
        return *_number_columns(df, option, names, place), names
    found = _type_of(df, option, wanted)
    alias = f"scores_{place}"
    if type(found).__name__ == "VectorUDT":
        from pyspark.ml.functions import vector_to_array  # noqa: PLC0415 - needs pandas, and is not always needed

        column = vector_to_array(_column(wanted))
        return [column.alias(alias)], Scores((alias,), (wanted,), is_array=True, is_single=False), None
    if isinstance(found, sql.ArrayType) and isinstance(found.elementType, sql.NumericType):
        is_single = isinstance(found.elementType, sql.FloatType)
        column = _column(wanted).cast("array<float>" if is_single else "array<double>")
        return [column.alias(alias)], Scores((alias,), (wanted,), is_array=True, is_single=is_single), None
    if isinstance(found, sql.NumericType):
        return *_number_columns(df, option, [wanted], place), None
    raise TypeError(
        f"{option}: the column {wanted!r} must hold numbers, arrays of numbers or vectors; it is {found.simpleString()}"
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


def _classes(
    label: str, label_type: sql.DataType, labels: Sequence[Hashable] | None, width: int, names: list[str] | None
) -> list[Any]:
    if labels is not None:
        classes = read_labels(labels)
        if len(classes) != width:
            raise ValueError(f"labels names {len(classes)} classes, and there are {width} scores per row")
        return classes
    if isinstance(label_type, sql.BooleanType) and width == 2:
        return [False, True]
    if isinstance(label_type, sql.StringType):
        if names is None:
            raise ValueError(
                f"labels is needed: the column {label!r} holds strings, and nothing says in which order the scores "
                "stand for them"
            )
        return names
    if names is not None and all(_is_number(name) for name in names):
        return [int(name) if name.lstrip("-").isdigit() else float(name) for name in names]
    return list(range(width))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _as_cell(one: Any, label: str, label_type: sql.DataType) -> Any:
    """A label as the column of labels has it."""
    if hasattr(one, "item"):
        one = one.item()
    if isinstance(label_type, sql.StringType):
        return str(one)
    if isinstance(label_type, sql.BooleanType):
        wanted: Any = bool
    else:
        wanted = int if isinstance(label_type, sql.IntegralType) else float
    try:
        found = wanted(one)
    except (TypeError, ValueError):
        found = None
    if found is None or (not isinstance(one, str) and found != one):
        raise ValueError(
            f"labels has {one!r}, and the column {label!r} is {label_type.simpleString()}: no row can have that label"
        )
    return found
