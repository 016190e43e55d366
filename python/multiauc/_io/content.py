"""Where bytes come from: a file, or a pipe, which can be read only once; and which format they are in."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from multiauc._io.output import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable

#: Formats by the ends of names.
ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".csv.gz": "csv",
    ".tsv.gz": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".npz": "npz",
}
FORMATS = tuple(dict.fromkeys(ENDINGS.values()))

GZIP = b"\x1f\x8b"
ARROW_FILE = b"ARROW1"
# What the formats of pipes, which may have no telling name, begin with. The third is an Arrow stream.
BEGINNINGS = {b"PAR1": "parquet", ARROW_FILE: "arrow", b"\xff\xff\xff\xff": "arrow", b"PK\x03\x04": "npz", GZIP: "csv"}
LOOKED_AT = 4096


class Content(NamedTuple):
    """The bytes of a file or a pipe.

    Attributes
    ----------
    path
        As it was given, "-" for standard input.
    data
        What came through a pipe; None for a file, which is read where it is.
    store
        The file system of pyarrow that has the file, where `path` is a place in it; None for that of this machine.
    prefix
        What makes the address of a file in a store of its path, such as "s3://".
    """

    path: str
    data: bytes | None = None
    store: Any = None
    prefix: str = ""

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STANDARD else self.prefix + self.path

    def source(self) -> Any:
        """A path, or a file in memory: what libraries read from."""
        return self.path if self.data is None and self.store is None else self.open()

    def open(self) -> Any:
        """The bytes as a file."""
        if self.store is not None:
            return self.store.open_input_file(self.path)
        return Path(self.path).open("rb") if self.data is None else io.BytesIO(self.data)

    def arrow_file(self) -> Any:
        """The bytes as a file of Arrow, which needs no lock of the interpreter to read on."""
        import pyarrow as pa  # noqa: PLC0415 - words about files need no Arrow

        if self.store is not None:
            return self.store.open_input_file(self.path)
        return pa.OSFile(self.path) if self.data is None else pa.BufferReader(self.data)

    def beginning(self, size: int = LOOKED_AT) -> bytes:
        """The first bytes."""
        with self.open() as file:
            return bytes(file.read(size))

    def facts(self) -> dict[str, Any]:
        """Name, size and SHA-256."""
        with self.open() as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return {"name": self.path, "size": file.seek(0, os.SEEK_END), "sha256": digest}


def content_of(path: str) -> Content:
    """The content of a file or a pipe; a pipe is read now, because it cannot be read again."""
    try:
        if path == STANDARD:
            return Content(path, sys.stdin.buffer.read())
        kind = os.stat(path).st_mode  # noqa: PTH116 - an empty path is no folder here
        # Arrow opens no file whose name is not text; that is read into memory, too.
        if stat.S_ISREG(kind) and _is_unicode(path):
            return Content(path)
        return Content(path, Path(path).read_bytes())
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except (OSError, AttributeError) as error:  # AttributeError: standard input is closed
        name = "standard input" if path == STANDARD else path
        raise ValueError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or 'it is closed'}") from None


def format_of(content: Content, chosen: str | None, spelled: Callable[..., str]) -> str:
    """The format: the chosen one, or told by the name, or (of pipes and names without an ending) by how it begins."""
    if chosen is not None:
        return chosen
    told = format_by_name(content.path)
    if told is not None:
        return told
    option = spelled("format_in")
    if content.data is None and Path(content.path).suffix:
        raise ValueError(
            f"{content.name}: not a known kind of file; names may end in {', '.join(ENDINGS)} ({option} names the kind)"
        )
    start = content.beginning()
    if not start:
        raise ValueError(f"{content.name}: there is nothing in it")
    begun = next((kind for beginning, kind in BEGINNINGS.items() if start.startswith(beginning)), None)
    if begun is None and not _is_text(start):
        raise ValueError(f"{content.name}: its format cannot be told; name it with {option}: {', '.join(FORMATS)}")
    return begun or "csv"


def format_by_name(path: str) -> str | None:
    """The format that a name tells."""
    name = Path(path).name.lower()
    return next((kind for ending, kind in ENDINGS.items() if name.endswith(ending)), None)


def _is_unicode(text: str) -> bool:
    """Whether a text has no halves of surrogate pairs, which stand for bytes that are no letters."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def _is_text(start: bytes) -> bool:
    try:
        # Of more than what was looked at, the last character may be cut in two.
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < LOOKED_AT)
    except UnicodeDecodeError:
        return False
    return b"\0" not in start
