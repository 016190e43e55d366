"""What all results can do: be compared, copied, and turned into dicts, JSON and data frames."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from multiauc._frames import frame_of
from multiauc._json import to_json

if TYPE_CHECKING:
    from multiauc._frames import Library

#: What a result refers to, and does not consist of: the data, and what was or will be computed from them. Copies share
#: it, and results are equal without it.
REFERENCES = ("_errors", "_inputs", "_model", "_options")


class Result:
    """The base of all results, which are frozen dataclasses."""

    __slots__ = ()

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
