"""From the columns of a Spark DataFrame to what tasks read, by the rules of `multiauc._input.columns`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions
from pyspark.sql import types as sql

from multiauc._common.wording import describe_type
from multiauc._input import columns, labels, probabilities
from multiauc._io.predictions import RowReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

#: The one model of `evaluate`.
ONLY = "scores"
#: Rows whose labels are looked at before all labels are.
FIRST_ROWS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What tasks read.

    Attributes
    ----------
    readers
        What reads the rows for each model.
    labels
        The classes as the result has them.
    sample_weight
        The column of weights, or None.
    by
        The columns whose values are slices.
    columns
        What the columns of the rows are called for the readers, then those of slices. Spark has them by their places,
        because it cannot find a column again whose name has a dot.
    outputs
        What the scores are: "logits", or None to take them as they are.
    """

    readers: dict[str, RowReader]
    labels: tuple[Any, ...]
    sample_weight: str | None
    by: tuple[str, ...]
    columns: tuple[str, ...]
    outputs: Any = None

    @property
    def slices(self) -> tuple[str, ...]:
        """The columns of slices, as text."""
        return self.columns[len(self.columns) - len(self.by) :]


def read_columns(
    df: DataFrame, label: Any, models: Mapping[str, Any], sample_weight: Any, classes: Any, by: Any, outputs: Any
) -> tuple[DataFrame, Layout]:
    """The columns that tasks read, and what they are; `classes` are given in the order of the scores, or None."""
    if not hasattr(df, "mapInArrow"):
        raise TypeError(f"df must be a data frame of Spark; got {describe_type(df)}")
    shown = None if classes is None else tuple(labels.read_labels(classes))
    by = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    request = replace(columns.read_request(label, sample_weight, shown), by=by)
    header = columns.Header("df", list(df.columns))
    columns.require_columns(header, [request.label], "label")
    columns.require_columns(header, [] if sample_weight is None else [sample_weight], "sample_weight")
    columns.require_columns(header, by, "by")
    options = {model: "scores" if tuple(models) == (ONLY,) else f"models[{model!r}]" for model in models}
    wanted = {model: columns.read_wanted_scores(models[model], option) for model, option in options.items()}
    if request.labels is None:
        found = [columns.find_score_columns(header, one, request) for one in wanted.values()]
        texts = _find_labels(df, request.label, next((one for one in found if len(one.names) > 1), found[0]))
        request = replace(request, labels=tuple(texts))
        shown = tuple(_restore_label(text, df.schema[label].dataType) for text in texts)
    readers: dict[str, RowReader] = {}
    for model, one in wanted.items():
        place = header if options[model] == "scores" else header._replace(path=f"df ({options[model]})")
        names = columns.find_score_columns(place, one, request).names
        kinds = [_read_type(df, name) for name in names]
        if not isinstance(kinds[0], sql.ArrayType):
            columns.check_label_count(place, len(names), request)
        width = len(names) if not isinstance(kinds[0], sql.ArrayType) else len(request.labels or ())
        numbers = [kind.elementType if isinstance(kind, sql.ArrayType) else kind for kind in kinds]
        is_single = all(isinstance(kind, sql.FloatType) for kind in numbers)
        readers[model] = RowReader(request, names, list(request.labels or ()), width, is_single)
    read = dict.fromkeys([label, *([] if sample_weight is None else [sample_weight])])
    read |= dict.fromkeys(name for reader in readers.values() for name in reader.scores)
    found_columns = [*(_flatten(df, name) for name in read), *(_column(name).cast("string") for name in by)]
    names_for_readers = (*read, *(f"multiauc slices {place}" for place in range(len(by))))
    layout = Layout(readers, shown or (), sample_weight, by, names_for_readers, probabilities.read_outputs(outputs))
    return df.select(*(column.alias(f"c{place}") for place, column in enumerate(found_columns))), layout


def _column(name: str) -> Column:
    escaped = name.replace("`", "``")
    return functions.col(f"`{escaped}`")


def _read_type(df: DataFrame, name: str) -> Any:
    """The type of a column of scores; a vector is an array."""
    found = df.schema[name].dataType
    return sql.ArrayType(sql.DoubleType()) if type(found).__name__ == "VectorUDT" else found


def _flatten(df: DataFrame, name: str) -> Column:
    """A column as Arrow has it: vectors as arrays."""
    if type(df.schema[name].dataType).__name__ != "VectorUDT":
        return _column(name)
    from pyspark.ml.functions import vector_to_array  # noqa: PLC0415 - needs pandas, and is not always needed

    return vector_to_array(_column(name))


def _find_labels(df: DataFrame, label: str, scores: columns.ScoreColumns) -> list[str]:
    """The classes by the names of columns, as far as the labels of rows fit them; those without names are numbered."""
    if len(scores.names) == 1:
        return _number_classes(df, label, scores.names[0])
    column = df.select(_column(label))

    def find_all() -> list[str]:
        return _read_texts(column.distinct().head(labels.MAX_CLASSES))

    return columns.choose_reading("df", scores.readings, _read_texts(column.head(FIRST_ROWS)), "labels", find_all)


def _read_texts(rows: list[Any]) -> list[str]:
    """Labels as text; those that are missing are refused by the tasks, which see all of them."""
    if not rows:
        raise ValueError("df has no rows")
    return [columns.to_text(row[0]) for row in rows if row[0] is not None]


def _number_classes(df: DataFrame, label: str, name: str) -> list[str]:
    """The classes of scores that have no names: 0, 1, ..., unless labels are something else than numbers."""
    width = 2
    if isinstance(_read_type(df, name), sql.ArrayType):
        first = df.select(functions.size(_flatten(df, name))).head()
        if first is None:
            raise ValueError("df has no rows")
        if first[0] is None or first[0] < 1:
            raise ValueError(f"column {name!r} (scores) contains null, or an empty array, in the first row")
        width = int(first[0])
    kind = df.schema[label].dataType
    if isinstance(kind, sql.StringType):
        raise ValueError(  # noqa: TRY004 - the type of a column, not of an argument
            f"labels is needed: the column {label!r} holds strings, and nothing says in which order the scores "
            "stand for them"
        )
    return ["False", "True"] if isinstance(kind, sql.BooleanType) and width == 2 else list(map(str, range(width)))


def _restore_label(text: str, kind: Any) -> Any:
    """A class as the column of labels has it; whole numbers are integers."""
    if isinstance(kind, sql.BooleanType):
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        number = float(text) if isinstance(kind, sql.NumericType) else None
    except ValueError:
        return text
    return text if number is None else int(number) if number.is_integer() else number
