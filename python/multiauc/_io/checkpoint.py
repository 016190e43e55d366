"""Checkpoints: the progress of long work in a file, to resume from if it is stopped.

A checkpoint is written beside its file and renamed, and the one before it is kept until the next: whatever happens, one
of the two is whole. A checksum tells. What it was made from and how is written into it; work on something else refuses
it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from multiauc._common.hints import warn
from multiauc._io.output import find_obstacle, write_synced
from multiauc.streaming import seal, unseal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

VERSION = b"3\n"
MAGIC = b"multiauc checkpoint " + VERSION
# Seconds between two checkpoints, and how many times longer than writing one that must be.
SECONDS = 10.0
TIMES_LONGER = 20.0


class Saved(NamedTuple):
    """What a checkpoint holds.

    Attributes
    ----------
    identity
        What the work is about, and its options, as JSON has them.
    place
        Where it stands, as JSON has it.
    state
        What it has found so far.
    """

    identity: dict[str, object]
    place: dict[str, Any]
    state: bytes


class DamagedError(ValueError):
    """A file is a checkpoint, but not a whole one."""


def encode(saved: Saved) -> bytes:
    """The bytes of a checkpoint."""
    return seal(MAGIC, {"identity": saved.identity, "place": saved.place}, saved.state)


def decode(name: str, data: bytes) -> Saved:
    """What a checkpoint holds; `name` is what messages call it."""
    if not data.startswith(MAGIC) and not MAGIC.startswith(data):
        if data.startswith(MAGIC[: -len(VERSION)]):
            raise ValueError(
                f"{name}: this checkpoint was written by another version of multiauc; delete it to begin anew"
            )
        raise ValueError(f"{name}: this is not a checkpoint of multiauc, and is left as it is")
    try:
        header, state = unseal(MAGIC, data)
    except ValueError:
        raise DamagedError(f"{name}: this checkpoint is damaged or cut off") from None
    identity, place = header.get("identity"), header.get("place")
    if not isinstance(identity, dict) or not isinstance(place, dict):
        raise DamagedError(f"{name}: this checkpoint is damaged: what it is about cannot be read")
    return Saved(identity, place, state)


@contextmanager
def hold_back_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait until the end of what must not be done by halves. A second one does not wait."""
    before = signal.getsignal(signal.SIGINT)
    # Signals reach the main thread alone, and only handlers of Python can be called later.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    caught: list[tuple[int, Any]] = []

    def catch(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, before)
        caught.append((number, frame))

    signal.signal(signal.SIGINT, catch)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    for number, frame in caught:
        before(number, frame)


@dataclass(slots=True, eq=False)
class Checkpoint:
    """A checkpoint of some work.

    Attributes
    ----------
    path
        Its file. The one before it has the same name with ``.previous`` behind.
    identity
        What the work is about, and its options: values that JSON has, by name.
    why_not
        Says in a sentence why a checkpoint with another identity cannot be used, given the name of the first entry
        that differs, what the checkpoint has there, and what this work has.
    """

    path: Path
    identity: dict[str, object]
    why_not: Callable[[str, Any, Any], str]
    _next: float = 0.0
    # Whether there is a file at `path`, and a whole one.
    _is_whole: bool = False

    @property
    def previous(self) -> Path:
        """The checkpoint before."""
        return self.path.with_name(f"{self.path.name}.previous")

    def load(self) -> Saved | None:
        """The last checkpoint that is whole, or None if there is none; an error if it belongs to other work."""
        damages = []
        for place in (self.path, self.previous):
            try:
                saved = decode(str(place), place.read_bytes())
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                continue
            except DamagedError as damage:
                damages.append(str(damage))
                continue
            except OSError as error:
                raise ValueError(f"{place}: cannot be read: {error.strerror}") from None
            self._refuse_other(place, saved.identity)
            self._is_whole = place == self.path
            if damages:
                warn(f"{'; '.join(damages)}; going on from {place}", RuntimeWarning)
            self._wait(0.0)
            return saved
        if damages:
            warn(f"{'; '.join(damages)}; beginning anew", RuntimeWarning)
        # Better before any work than after it.
        problem = find_obstacle(self.path)
        if problem is not None:
            raise ValueError(f"{self.path}: cannot be written: {os.strerror(problem)}")
        self._wait(0.0)
        return None

    def is_due(self, within: float = 0.0) -> bool:
        """Whether it is time for the next one, or will be before so many seconds have passed."""
        return time.monotonic() + within >= self._next

    def save(self, place: dict[str, Any], state: bytes) -> None:
        """Write the checkpoint, and keep the one before it."""
        started = time.monotonic()
        # Always the same name: killed processes leave at most one of them.
        beside = self.path.with_name(f"{self.path.name}.part")
        try:
            write_synced(beside, encode(Saved(self.identity, place, state)))
            # Between the two renamings there is the previous one only, which `load` then finds.
            if self._is_whole:
                self.path.replace(self.previous)
            beside.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise ValueError(f"{self.path}: cannot be written: {error.strerror}") from None
        self._is_whole = True
        self._wait(time.monotonic() - started)

    def finish(self) -> None:
        """Remove the checkpoint before the last, which is the result."""
        with suppress(OSError):
            self.previous.unlink(missing_ok=True)

    def _wait(self, seconds: float) -> None:
        self._next = time.monotonic() + max(SECONDS, TIMES_LONGER * seconds)

    def _refuse_other(self, place: Path, identity: dict[str, object]) -> None:
        for name, ours in self.identity.items():
            theirs = identity.get(name)
            if theirs != ours:
                advice = "name another file for the checkpoint, or delete this one to begin anew"
                raise ValueError(f"{place}: this checkpoint {self.why_not(name, theirs, ours)}; {advice}")
