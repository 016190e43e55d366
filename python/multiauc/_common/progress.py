"""Progress messages of long computations, on terminals only."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

# Seconds until the first line, between two lines, and of a step of work.
PATIENCE = 0.5
PAUSE = 0.5
STEP = 0.2
WIDTH = 30
# Where more stands beside the bar: a terminal has 80 characters.
NARROW = 12


class Stage:
    """Show what is being computed and for how long, after the first half second.

    A separate thread writes the line, so it also updates while the core computes.
    """

    def __init__(self, title: str, *, is_wanted: bool | None = None) -> None:
        """`is_wanted` is None for terminals only."""
        self._title = title
        self._is_wanted = is_wanted
        self._started = time.monotonic()
        self._shown = 0
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        is_wanted = self._is_wanted
        if sys.stderr is not None and (sys.stderr.isatty() if is_wanted is None else is_wanted):
            self._thread = threading.Thread(target=self._tell, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is None:
            return
        self._done.set()
        self._thread.join()
        if self._shown:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _tell(self) -> None:
        pause = PATIENCE
        while not self._done.wait(pause):
            self._write(self._line(time.monotonic() - self._started))
            pause = PAUSE

    def _line(self, elapsed: float) -> str:
        return f"{self._title}: {elapsed:.0f} s"

    def _write(self, line: str) -> None:
        # A line that wraps could not be written over.
        line = line[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write(f"\r{line.ljust(self._shown)}")
        sys.stderr.flush()
        self._shown = len(line)


class Progress(Stage):
    """Split work into steps of about a fifth of a second, and show a progress bar."""

    def __init__(self, size: int, title: str) -> None:
        super().__init__(title)
        self._size = size
        self._reached = 0

    def steps(self, first: int = 2, unit: int = 1) -> Iterator[int]:
        """0, ..., `size`: the caller does the work from one number to the next, in steps of whole units."""
        step = first
        yield 0
        while self._reached < self._size:
            started = time.monotonic()
            done = min(self._size, self._reached + step)
            yield done
            self._reached = done
            seconds = time.monotonic() - started
            wanted = min(4 * step, int(step * STEP / max(seconds, 1e-6)))
            step = max(1, wanted // unit) * unit

    def _line(self, elapsed: float) -> str:
        done = self._reached
        left = f"{elapsed * (self._size - done) / done:.0f} s left" if done else f"{elapsed:.0f} s"
        return f"{self._title} {_bar(done / self._size)} {done}/{self._size}, {left}"


class RowProgress(Stage):
    """Show how much of a data set has been read, the speed and the time left."""

    _begun: tuple[int, float | None] | None = None
    _rows = 0
    _share: float | None = None

    def reached(self, rows: int, share: float | None) -> None:
        """Report the rows done, and their share of all; the first call sets the starting point."""
        if self._begun is None:
            self._begun = (rows, share)
            self._started = time.monotonic()
        self._rows, self._share = rows, share

    def _line(self, elapsed: float) -> str:
        rows, share = self._begun or (0, 0.0)
        done = self._rows - rows
        pace = f"{_short(done / elapsed)} rows/s" if done and elapsed else _duration(elapsed)
        line = f"{_short(self._rows)} rows, {pace}"
        if self._share is None:
            return f"{self._title}: {line}"
        progress = self._share - (share or 0.0)
        left = f", {_duration(elapsed * (1.0 - self._share) / progress)} left" if progress > 0.0 else ""
        return f"{self._title} {_bar(self._share, NARROW)} {line}{left}"


def _bar(share: float, width: int = WIDTH) -> str:
    filled = int(width * share)
    return f"[{'#' * filled}{'-' * (width - filled)}]"


def _short(number: float) -> str:
    """A number in a few characters: 44.1M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
