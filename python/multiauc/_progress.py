"""What long work is doing, on terminals only."""

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


class Stage:
    """Says what is being done and for how long, from half a second on, until it is done.

    A thread of its own writes the line, so that it also moves while the core is at work.
    """

    __slots__ = ("_done", "_shown", "_started", "_thread", "_title")

    def __init__(self, title: str) -> None:
        self._title = title
        self._started = time.monotonic()
        self._shown = 0
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        if sys.stderr is not None and sys.stderr.isatty():
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
    """Cuts work into steps of about a fifth of a second, and draws how much of it is done."""

    __slots__ = ("_reached", "_size")

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
        filled = WIDTH * done // self._size
        bar = "#" * filled + "-" * (WIDTH - filled)
        left = f"{elapsed * (self._size - done) / done:.0f} s left" if done else f"{elapsed:.0f} s"
        return f"{self._title} [{bar}] {done}/{self._size}, {left}"
