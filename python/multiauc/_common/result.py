"""What all results share: equality, pickling, tables, frames, JSON."""

from __future__ import annotations

import json
import math
import platform
import sys
from copy import deepcopy
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar

import numpy as np

from multiauc._common.wording import counted, names_as_text, one_of, printable, shown_name
from multiauc._rust import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    PairErrors: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


#: What a result refers to, and does not consist of: the data, and what was or will be computed from them. Copies share
#: it, and results are equal without it.
REFERENCES = ("_errors", "_inputs", "_model", "_options")


class Result:
    """The base of all results, which are frozen dataclasses."""

    __slots__ = ()

    def to_frame(self, *, library: Library | None = None) -> Any:
        """The result as a data frame: pandas or polars, whichever is loaded or installed."""
        return frame_of([self.to_dict()], library)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python objects."""
        return {name: _plain(getattr(self, name)) for name in _names(self) if not name.startswith("_")}

    def to_json(self) -> str:
        """The same as JSON; null where a number is missing or infinite, labels that JSON does not have as text."""
        return to_json(self.to_dict())

    def __eq__(self, other: object) -> bool:
        """Whether both have the same values, bit for bit (nan equals nan), whatever data they refer to."""
        if type(other) is not type(self):
            return NotImplemented
        return all(_are_equal(getattr(self, name), getattr(other, name)) for name in _names(self))

    def __hash__(self) -> int:
        numbers_and_words = (getattr(self, name) for name in _names(self))
        return hash((type(self), *(value for value in numbers_and_words if _is_simple(value))))

    def __copy__(self) -> Self:
        return self._rebuilt({field.name: getattr(self, field.name) for field in fields(self)})  # type: ignore[arg-type]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        entries = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return self._rebuilt(
            {name: value if name in REFERENCES else deepcopy(value, memo) for name, value in entries.items()}
        )

    def _rebuilt(self, entries: dict[str, Any]) -> Self:
        """Another one of these entries; not through pickle, which leaves the data behind."""
        again = object.__new__(type(self))
        for name, value in entries.items():
            object.__setattr__(again, name, value)
        if hasattr(again, "__post_init__"):
            again.__post_init__()
        return again


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
        return frame_of(self._rows(level), library)

    def _rows(self, level: float) -> list[dict[str, Any]]:
        raise NotImplementedError


def _names(result: Result) -> list[str]:
    """The fields that a result consists of."""
    return [field.name for field in fields(result) if field.name not in REFERENCES]  # type: ignore[arg-type]


def _is_simple(value: Any) -> bool:
    """Whether equal values have equal hashes: numbers and words, but not nan."""
    return isinstance(value, (str, int)) or (isinstance(value, float) and not math.isnan(value))


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


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, (tuple, list)) else value


#: The header of a table of estimates.
ESTIMATE_HEADER = ["", "value", "std. error", "95% interval"]
# A table of more classes than this is printed without its middle.
TABLE_AT_MOST = 10
TABLE_EDGE = 4
LABEL_WIDTH = 14


def text_table(rows: list[list[str]]) -> list[str]:
    """Lines of text: names to the left, cells to the right."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip() for name, *cells in rows]


def html_table(caption: str, rows: list[list[str]], notes: list[str] | None = None) -> str:
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


def shortened(label: Any) -> str:
    """A label as text that fits a column."""
    text = printable(shown_name(label))
    return text if len(text) <= LABEL_WIDTH else text[: LABEL_WIDTH - 3] + "..."


def sizes_in_words(labels: tuple[Any, ...], counts: NDArray[np.int64]) -> str:
    """The rows in total and per class; the tail of a long list is only counted."""
    sizes = [f"{shortened(label)} {count}" for label, count in zip(labels, counts.tolist(), strict=True)]
    if len(sizes) > TABLE_AT_MOST:
        sizes[TABLE_AT_MOST:] = [f"and {len(sizes) - TABLE_AT_MOST} more"]
    n_rows, n_classes = counted(int(counts.sum()), "row"), counted(len(labels), "class", "classes")
    return f"{n_rows}, {n_classes} ({', '.join(sizes)})"


def notes_in_words(notes: Iterable[str]) -> list[str]:
    """Notes as lines below a table."""
    return [printable(f"Note: {note}.") for note in notes]


Library: TypeAlias = Literal["pandas", "polars"]

LIBRARIES = ("pandas", "polars")


def frame_of(rows: list[dict[str, Any]], library: Library | None) -> Any:
    """A pandas or polars data frame with these rows, which all have the same columns."""
    return frame_of_columns({name: [row[name] for row in rows] for name in rows[0]}, library)


def frame_of_columns(columns: dict[str, Any], library: Library | None) -> Any:
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


def document(kind: str, level: float, content: dict[str, Any], origin: dict[str, Any]) -> dict[str, Any]:
    """A result that says what it is, in which version of the layout, and where it came from."""
    return {"version": VERSION, "kind": kind, "level": level, **content, "provenance": origin}


def provenance(options: dict[str, Any], files: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Where a result came from: files, options, versions."""
    return {"files": files or [], "options": options, "versions": versions()}


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
