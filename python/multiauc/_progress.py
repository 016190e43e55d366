"""A progress bar for work that takes longer than a second, on terminals only."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 1.0
STEP = 0.2
WIDTH = 30


class Progress:
    """Cuts work into steps of about a fifth of a second, and draws how much of it is done."""

    __slots__ = ("_drawn", "_size", "_started", "_title")

    def __init__(self, size: int, title: str) -> None:
        self._size = size
        self._title = title
        self._started = time.monotonic()
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * (WIDTH + len(self._title) + 30) + "\r")
            sys.stderr.flush()

    def steps(self, first: int = 16, unit: int = 1) -> Iterator[int]:
        """0, ..., `size`: the caller does the work from one number to the next, in steps of whole units."""
        done, step = 0, first
        yield 0
        while done < self._size:
            started = time.monotonic()
            done = min(self._size, done + step)
            yield done
            seconds = time.monotonic() - started
            wanted = min(4 * step, int(step * STEP / max(seconds, 1e-6)))
            step = max(1, wanted // unit) * unit
            self._draw(done)

    def _draw(self, done: int) -> None:
        elapsed = time.monotonic() - self._started
        if elapsed < PATIENCE or not sys.stderr.isatty():
            return
        filled = WIDTH * done // self._size
        left = elapsed * (self._size - done) / done
        bar = "#" * filled + "-" * (WIDTH - filled)
        sys.stderr.write(f"\r{self._title} [{bar}] {done}/{self._size}, {left:.0f} s left ")
        sys.stderr.flush()
        self._drawn = True
