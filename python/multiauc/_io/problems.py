"""What is wrong with a file, as errors that name it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def as_argument(option: str, value: str | None = None) -> str:
    """How a message names an option, perhaps with a value, to someone who writes Python."""
    return option if value is None else f"{option}={value!r}"


class RowError(ValueError):
    """What is wrong in a row of a file, which is named."""


class NoRowsError(ValueError):
    """A file, which is named, has a header or arrays, but no rows."""


@contextmanager
def reading(name: str, kind: str) -> Iterator[None]:
    """Say which file it is that a library cannot read."""
    try:
        yield
    except RowError:
        raise
    except UnicodeDecodeError:
        raise ValueError(f"{name}: cannot be read as {kind}: it is not UTF-8 text") from None
    except Exception as error:  # noqa: BLE001 - about a damaged file the libraries raise anything
        raise ValueError(f"{name}: cannot be read as {kind}: {reason(error)}") from None


def reason(error: Exception) -> str:
    """What is wrong, in one line."""
    return str(error).split("\n", 1)[0] or type(error).__name__
