"""What all results share: read-only arrays, equality, copies, pickling, tables, frames, JSON, flat dicts."""

from __future__ import annotations

import json
import math
import platform
import re
import sys
from copy import deepcopy
from dataclasses import fields, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar

import numpy as np

from multiauc._common.wording import decimals, format_interval, names_as_text, one_of, pluralize, printable, shown_name
from multiauc._rust import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: A part of a JSON document, or a row of a data frame: plain values by name.
Record: TypeAlias = dict[str, Any]
#: The columns of a data frame by name: arrays or lists.
Columns: TypeAlias = dict[str, Any]
#: The cells of a printed table, row by row.
Cells: TypeAlias = list[list[str]]

#: Numbers that belong together, by name.
Numbers: TypeAlias = dict[str, float]

#: For ``field(default=None, metadata=HELD)`` of a result that refers to its data: copies share it, equality ignores it,
#: pickles leave it out.
HELD = {"held": True}
# What MLflow or file systems do not allow in a name; a slash would make a group of it.
_UNUSUAL = re.compile(r"[^\w\-. :]")


class Result:
    """The base of all results, which are frozen dataclasses.

    Fields with ``compare=False`` do not count for equality, nor do those that refer to the data (`HELD`).
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:  # type: ignore[attr-defined]
            value = getattr(self, name)
            if isinstance(value, (np.ndarray, tuple, dict)):
                object.__setattr__(self, name, _frozen(value))

    def to_frame(self, *, library: Library | None = None) -> Any:
        """The result as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            By default whichever is loaded or installed, pandas before polars.
        """
        return build_frame(self._columns(), library)

    def _columns(self) -> Columns:
        """The columns of the data frame."""
        return by_column([self.to_dict()])

    def to_dict(self) -> Record:
        """All numbers as plain Python objects."""
        return {name: plain(getattr(self, name)) for name in _names(self) if not name.startswith("_")}

    def _pick(self, *names: str) -> Record:
        """Some attributes by name."""
        return {name: plain(getattr(self, name)) for name in names}

    def to_json(self) -> str:
        """The same as JSON; null if a number is missing or infinite, text for labels without a JSON type."""
        return to_json(self.to_dict())

    def to_flat_dict(self, prefix: str = "") -> dict[str, float]:
        """All numbers by name, as ``mlflow.log_metrics`` and ``wandb.log`` accept them.

        A value is called after its metric, model or class; its standard error and the limits of its 95% interval end in
        ``_standard_error``, ``_low`` and ``_high``. Missing numbers are left out.

        Parameters
        ----------
        prefix : str, default ""
            A prefix for every name, such as ``"validation/"``.
        """
        flat: dict[str, float] = {}
        for name, numbers in self._numbers().items():
            for suffix, value in numbers.items():
                key = _UNUSUAL.sub("_", name if suffix == "value" else f"{name}_{suffix}")
                while prefix + key in flat:
                    key += "_"
                if not math.isnan(value):
                    flat[prefix + key] = float(value)
        return flat

    def _numbers(self) -> dict[str, Numbers]:
        """What `to_flat_dict` has, by name: a value, and what belongs to it by suffix."""
        return {name: {"value": value} for name, value in self.to_dict().items() if _is_number(value)}

    def __eq__(self, other: object) -> bool:
        """Whether both have the same values, bit for bit (nan equals nan), whatever data they refer to."""
        if type(other) is not type(self):
            return NotImplemented
        return all(_are_equal(getattr(self, name), getattr(other, name)) for name in _names(self))

    def __hash__(self) -> int:
        numbers_and_words = (getattr(self, name) for name in _names(self))
        return hash((type(self), *(value for value in numbers_and_words if _is_simple(value))))

    def __copy__(self) -> Self:
        return replace(self)  # type: ignore[type-var]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return replace(self, **{name: deepcopy(value, memo) for name, value in self._kept().items()})  # type: ignore[type-var]

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because an unpickled array is no longer read-only.
        return partial(type(self), **self._kept()), ()

    def _kept(self) -> dict[str, Any]:
        """The fields that go into a pickle: all but the data."""
        return {one.name: getattr(self, one.name) for one in fields(self) if "held" not in one.metadata}  # type: ignore[arg-type]


class Tabular(Result):
    """A result that is a table of numbers with intervals."""

    __slots__ = ()

    def to_frame(self, level: float = 0.95, *, library: Library | None = None) -> Any:
        """The result as a data frame, with the limits of intervals.

        Parameters
        ----------
        level : float, default 0.95
            The level of the intervals.
        library : {"pandas", "polars"}, optional
            By default whichever is loaded or installed, pandas before polars.
        """
        return build_frame(by_column(self._rows(level)), library)

    def to_dict(self, level: float = 0.95) -> Record:
        """All numbers as plain Python objects, with intervals at this level; nan if a number is missing."""
        raise NotImplementedError

    def to_json(self, level: float = 0.95) -> str:
        """The same as JSON; null if a number is missing, text for labels without a JSON type."""
        return to_json(self.to_dict(level))

    def _rows(self, level: float) -> list[Record]:
        return [self.to_dict(level)]


class Number:
    """A result that can stand for a number, its `value`."""

    __slots__ = ()

    value: float

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        """The value in a number format: ``f"{result:.3f}"``."""
        return format(self.value, spec) if spec else str(self)


class Printed:
    """A result that prints a table, or several: as text, and in notebooks as HTML."""

    __slots__ = ()

    def _title(self) -> str:
        raise NotImplementedError

    def _table(self) -> Cells:
        raise NotImplementedError

    def _more_tables(self) -> dict[str, Cells]:
        """Further tables by their captions, which only HTML shows."""
        return {}

    def _below(self) -> list[str]:
        """Lines below the tables."""
        return []

    def to_text(self, title: str) -> str:
        """The title, and below it the tables."""
        parts = ["\n".join(text_table(table)) for table in (self._table(), *self._more_tables().values())]
        gap = "\n\n" if len(parts) > 1 else "\n"
        if below := self._below():
            parts.append("\n".join(below))
        return "\n".join([title, gap.join(parts)])

    def to_html(self, title: str) -> str:
        """The tables as HTML."""
        *others, (caption, last) = {title: self._table(), **self._more_tables()}.items()
        return "".join(html_table(*other) for other in others) + html_table(caption, last, self._below())

    def __repr__(self) -> str:
        return self.to_text(self._title())

    def _repr_html_(self) -> str:
        return self.to_html(self._title())


def table_of_numbers(header: list[str], rows: dict[str, Numbers]) -> Cells:
    """A table of values with standard errors and intervals, by name."""
    cells = (
        [name, decimals(one["value"]), decimals(one["standard_error"]), format_interval(one["low"], one["high"])]
        for name, one in rows.items()
    )
    return [header, *cells]


def pick_numbers(row: Record) -> Numbers:
    """The numbers of a table row that go into a flat dict."""
    return {name: row[name] for name in ("value", "standard_error", "low", "high", "p_value") if name in row}


def _names(result: Result) -> list[str]:
    """The fields that a result consists of."""
    return [one.name for one in fields(result) if one.compare and "held" not in one.metadata]  # type: ignore[arg-type]


def _is_simple(value: Any) -> bool:
    """Whether equal values have equal hashes: numbers and words, but not nan."""
    return isinstance(value, (str, int)) or (isinstance(value, float) and not math.isnan(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _frozen(value: Any) -> Any:
    """The same with read-only arrays, also in tuples and dicts."""
    if isinstance(value, np.ndarray):
        return read_only(value)
    if isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
        make = getattr(type(value), "_make", tuple)
        return make(map(_frozen, value))
    if isinstance(value, dict) and value and isinstance(next(iter(value.values())), (np.ndarray, tuple)):
        return {key: _frozen(entry) for key, entry in value.items()}
    return value


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_are_equal(value, b[key]) for key, value in a.items())
    if isinstance(a, (tuple, list)) and type(a) is type(b):
        return len(a) == len(b) and all(map(_are_equal, a, b))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def plain(value: Any) -> Any:
    """The same in plain Python objects."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, (tuple, list)) else value


#: The header of a table of estimates.
ESTIMATE_HEADER = ["", "value", "std. error", "95% interval"]
# A table of more classes than this is printed without its middle.
TABLE_AT_MOST = 10
TABLE_EDGE = 4
LABEL_WIDTH = 14
Row = TypeVar("Row")
Gap = TypeVar("Gap")


def without_middle(
    rows: list[Row], gap: Gap, at_most: int = TABLE_AT_MOST, first: int = TABLE_EDGE, last: int = TABLE_EDGE
) -> list[Row | Gap]:
    """The rows, or the first and the last of many with a gap between them."""
    return [*rows] if len(rows) <= at_most else [*rows[:first], gap, *rows[-last:]]


def text_table(rows: Cells) -> list[str]:
    """Lines of text: names left-aligned, numbers right-aligned."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip() for name, *cells in rows]


def html_table(caption: str, rows: Cells, notes: list[str] | None = None) -> str:
    """The same as an HTML table; every text is escaped."""
    from html import escape  # noqa: PLC0415 - only notebooks pay for it

    head, *body = [[escape(cell) for cell in row] for row in rows]
    header = "".join(f"<th>{cell}</th>" for cell in head)
    lines = "".join(
        f"<tr><th>{name}</th>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" for name, *cells in body
    )
    below = "".join(f"<p>{escape(note)}</p>" for note in notes or [])
    title = f"<caption>{escape(caption)}</caption>"
    return f"<table>{title}<thead><tr>{header}</tr></thead><tbody>{lines}</tbody></table>{below}"


def shorten(label: Any) -> str:
    """A label as text that fits a column."""
    text = printable(shown_name(label))
    return text if len(text) <= LABEL_WIDTH else text[: LABEL_WIDTH - 3] + "..."


def sizes_in_words(labels: tuple[Any, ...], counts: NDArray[np.int64], n_rows: int | None = None) -> str:
    """The rows in total and per class, or per label if `n_rows` says how many there are; a long list is cut."""
    sizes = [f"{shorten(label)} {count}" for label, count in zip(labels, counts.tolist(), strict=True)]
    if len(sizes) > TABLE_AT_MOST:
        sizes[TABLE_AT_MOST:] = [f"and {len(sizes) - TABLE_AT_MOST} more"]
    parts = pluralize(len(labels), "class", "classes") if n_rows is None else pluralize(len(labels), "label")
    total = pluralize(int(counts.sum()) if n_rows is None else n_rows, "row")
    return f"{total}, {parts} ({', '.join(sizes)})"


def notes_in_words(notes: Iterable[str]) -> list[str]:
    """Notes as lines below a table."""
    return [printable(f"Note: {note}.") for note in notes]


Library: TypeAlias = Literal["pandas", "polars"]

LIBRARIES = ("pandas", "polars")


def by_column(rows: list[Record]) -> dict[str, list[Any]]:
    """Rows that all have the same entries as columns."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def build_frame(columns: Columns, library: Library | None) -> Any:
    """A pandas or polars data frame with these columns."""
    module = _library(library)
    if module.__name__ == "pandas":
        return module.DataFrame(columns)
    return module.DataFrame({name: _of_one_type(column) for name, column in columns.items()})


def _library(library: Library | None) -> Any:
    """The library asked for; otherwise the one that is loaded, or installed, pandas before polars."""
    if library is not None:
        return import_module(one_of("library", library, LIBRARIES))
    for name in sorted(LIBRARIES, key=lambda name: sys.modules.get(name) is None):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise ImportError("to_frame needs pandas or polars; install one of them")


def _of_one_type(column: Any) -> Any:
    """A column as it is, or as text where it is a mixture of labels that polars has no type for."""
    if not isinstance(column, list):
        return column
    kinds = {type(entry) for entry in column if entry is not None}
    if len(kinds) < 2 or kinds <= {int, float}:
        return column
    distinct = list(dict.fromkeys((type(entry), entry) for entry in column if entry is not None))
    text = dict(zip(distinct, names_as_text([entry for _, entry in distinct]), strict=True))
    return [None if entry is None else text[type(entry), entry] for entry in column]


#: The version of the layout. A field that is renamed, removed or changed in meaning makes a new one; a new field that
#: may be missing does not.
VERSION = 1


def document(kind: str, level: float, content: Record, origin: Record) -> Record:
    """A result that says what it is, in which version of the layout, and where it came from."""
    return {"version": VERSION, "kind": kind, "level": level, **content, "provenance": origin}


def provenance(options: Record, files: list[Record] | None = None) -> Record:
    """Where a result came from: files, options, versions."""
    return {"files": files or [], "options": plain(options), "versions": versions()}


def versions() -> dict[str, str]:
    """What computed the numbers."""
    return {"multiauc": __version__, "NumPy": np.__version__, "Python": platform.python_version()}


def without_nan(value: Any) -> Any:
    """The same structure with None for nan and infinity, and text for keys: what JSON has."""
    if isinstance(value, dict):
        return {key: without_nan(entry) for key, entry in zip(names_as_text(value), value.values(), strict=True)}
    if isinstance(value, (list, tuple)):
        return [without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_json(value: Any) -> str:
    """`value` as JSON: null for a missing number, text for a label that JSON does not have."""
    return json.dumps(without_nan(value), default=str)


_Number = TypeVar("_Number", bound=np.generic)


def read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    """The same memory as an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
