"""How error messages name what they found."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

SHOWN_AT_MOST = 8


def listing(labels: Collection[Hashable]) -> str:
    """Labels separated by commas; the tail of a long list is only counted."""
    shown = ", ".join(repr(label) for label in islice(labels, SHOWN_AT_MOST))
    hidden = len(labels) - SHOWN_AT_MOST
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Number and noun: "1 row", "3 rows"."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def described(value: Any) -> str:
    """A short description of any argument: its type, and its shape if it has one."""
    if value is None or isinstance(value, (str, int, float)):
        return repr(value)
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    return f"{kind} of shape {shape}" if isinstance(shape, tuple) else kind


def one_of(argument: str, value: object, accepted: tuple[str, ...]) -> str:
    """Return `value` if it is one of the accepted words, otherwise raise."""
    if isinstance(value, str) and value in accepted:
        return value
    words = ", ".join(repr(word) for word in accepted)
    raise ValueError(f"{argument} must be one of {words}; got {value!r}")
