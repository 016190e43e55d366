"""Tables of results as data frames, of whichever library is there."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Literal, TypeAlias

from multiauc._wording import names_as_text, one_of

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
