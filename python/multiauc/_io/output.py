"""Writing files: whole or not at all, and never over what was read."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

#: Standard input among files that are read, standard output among files that are written.
STANDARD = "-"


@dataclass(frozen=True, slots=True)
class Output:
    """Where a result goes.

    Attributes
    ----------
    path
        A file, or "-" for standard output.
    inputs
        The files that the result is made from, "-" for standard input.
    force
        Whether a file that is there already, and is not an input, is replaced.
    """

    path: str
    inputs: tuple[str, ...] = ()
    force: bool = False

    def refuse(self) -> None:
        """Raise if the output would overwrite what it must not, or cannot be written; asked for before any work, too.

        A ``ValueError`` for the former, an ``OSError`` for the latter.
        """
        if not self.path:
            raise ValueError("the name of the output is empty")
        found = _status(self.path, standard=sys.stdout)
        if self.path.endswith("/") or (found is not None and stat.S_ISDIR(found.st_mode)):
            raise ValueError(f"{self.path}: this is a folder; the output must be a file")
        if found is not None and not stat.S_ISREG(found.st_mode):  # a pipe or a device, which has nothing to lose
            return
        if self.path != STANDARD:
            self._refuse_place(found)
        if found is None:
            return
        for path in self.inputs:
            read = _status(path, standard=sys.stdin)
            if read is not None and os.path.samestat(found, read):
                also = "" if path == self.path else f" ({path})"
                raise ValueError(f"{self._name()}: this is an input{also}, which an output never overwrites")
        if self.path != STANDARD and not self.force:
            raise ValueError(f"{self.path}: there is a file of this name already; --force replaces it")

    def write(self, content: str | bytes) -> Path:
        """Write a file (not standard output), and return where it is.

        It is written beside its target and renamed: a failure or Ctrl-C leaves the old file intact. Text is UTF-8;
        halves of surrogate pairs, which it does not have, are written as escapes.
        """
        self.refuse()
        data = content if isinstance(content, bytes) else content.encode("utf-8", errors="backslashreplace")
        place, found = Path(self.path), _status(self.path)
        try:
            if found is None or stat.S_ISREG(found.st_mode):
                # Through a symbolic link the file is replaced that it points to, not the link.
                _replace(Path(os.path.realpath(place)), data, found)
            else:
                with contextlib.suppress(BrokenPipeError):  # its reader has seen enough
                    place.write_bytes(data)
        except OSError as error:  # which may name the file beside the target
            raise OSError(error.errno, error.strerror, self.path) from None
        return place

    def _refuse_place(self, found: os.stat_result | None) -> None:
        """Raise if a file, new or old, cannot be put there."""
        target = Path(os.path.realpath(self.path))
        problem = find_obstacle(target)
        if problem is None and found is not None and not os.access(target, os.W_OK):
            problem = errno.EACCES
        if problem is not None:
            raise OSError(problem, os.strerror(problem), self.path)

    def _name(self) -> str:
        return "standard output" if self.path == STANDARD else self.path


def find_obstacle(target: Path) -> int | None:
    """Why no file can be put there, as a number of the system; None if one can."""
    if target.is_dir():
        return errno.EISDIR
    if not target.parent.is_dir():
        return errno.ENOENT
    return None if os.access(target.parent, os.W_OK) else errno.EACCES


def _status(path: str, standard: object = None) -> os.stat_result | None:
    """The file's status, or None if there is no such file."""
    try:
        if path == STANDARD and standard is not None:
            return os.fstat(standard.fileno())  # type: ignore[attr-defined]
        return os.stat(path)  # noqa: PTH116 - an empty path is no folder here
    except (OSError, ValueError, AttributeError):
        # Also where the standard streams are closed or not real files; what cannot be opened says so when it is.
        return None


def write_synced(path: Path, data: bytes) -> None:
    """Write a file, and wait until the disk has it."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _replace(target: Path, data: bytes, old: os.stat_result | None) -> None:
    """Put a file with these bytes in the place of `target`."""
    beside = target.with_name(f".multiauc-{secrets.token_hex(8)}.part")
    try:
        # Not by `tempfile`, whose files only their owner can read.
        write_synced(beside, data)
        if old is not None:
            beside.chmod(stat.S_IMODE(old.st_mode))
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
