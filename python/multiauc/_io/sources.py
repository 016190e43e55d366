"""Where bytes come from, in which format: paths, patterns, folders, pipes, object stores.

A folder stands for its data files. Where there are none, it stands for those of its subfolders, and a subfolder called
``day=3`` is a column ``day`` that is ``3`` in all rows below it. `pyarrow.fs` lists the files; `pyarrow.dataset` would
guess the types of such columns, and labels are compared as text.
"""

from __future__ import annotations

import codecs
import glob
import hashlib
import os
import re
import stat
import sys
from contextlib import contextmanager
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from multiauc import _rust
from multiauc._common.wording import listing
from multiauc._io.output import STANDARD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: How names end, by format.
FORMATS = {
    "csv": (".csv", ".csv.gz"),
    "tsv": (".tsv", ".tsv.gz"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".feather", ".arrow", ".ipc"),
    "npz": (".npz",),
}
ENDINGS = tuple(ending for endings in FORMATS.values() for ending in endings)

GZIP = b"\x1f\x8b"
ARROW_FILE = b"ARROW1"
# What the formats of pipes, which may have no telling name, begin with. The third is an Arrow stream.
BEGINNINGS = {b"PAR1": "parquet", ARROW_FILE: "arrow", b"\xff\xff\xff\xff": "arrow", b"PK\x03\x04": "npz", GZIP: "csv"}
LOOKED_AT = 4096
# Of files on this machine, so much of the beginning and of the end is part of their fingerprint.
FINGERPRINTED = 2**16

#: What may stand between cells; of signs that fit equally well the first is taken.
DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|"}
# How much of a file is looked at to infer its delimiter.
SEEN_CHARACTERS = 2**20

# A star, a question mark, or one sign out of several in brackets.
PATTERN = re.compile(r"[*?]|\[[^\]]+\]")
ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+://)")
# How partitioned data sets write a value that is missing.
MISSING = "__HIVE_DEFAULT_PARTITION__"


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
        raise ValueError(f"{name}: cannot be read as {kind}: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    """What is wrong, in one line."""
    return str(error).split("\n", 1)[0] or type(error).__name__


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
    folders
        The columns that the names of its folders are, and their value.
    """

    path: str
    data: bytes | None = None
    store: Any = None
    prefix: str = ""
    folders: Mapping[str, str | None] = {}

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STANDARD else self.prefix + self.path

    @property
    def size(self) -> int:
        """In bytes; 0 where that is not known."""
        if self.data is not None:
            return len(self.data)
        if self.store is not None:
            return int(self.store.get_file_info(self.path).size or 0)
        return os.stat(self.path).st_size  # noqa: PTH116 - an empty path is no folder here

    def open(self) -> Any:
        """The bytes as a file of Arrow, which needs no lock of the interpreter to read on."""
        if self.store is not None:
            return self.store.open_input_file(self.path)
        return pa.OSFile(self.path) if self.data is None else pa.BufferReader(self.data)

    def beginning(self, size: int = LOOKED_AT) -> bytes:
        """The first bytes."""
        with self.open() as file:
            return bytes(file.read(size))

    def facts(self) -> dict[str, Any]:
        """Name, size and SHA-256; without that for files in a store, which would have to come here once more."""
        if self.store is not None:
            return {"name": self.name, "size": self.size, "sha256": None}
        with self.open() as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return {"name": self.path, "size": self.size, "sha256": digest}

    def fingerprint(self) -> list[Any]:
        """What tells it from other files, and from itself before it was changed, without reading all of it.

        Name, size, time of the last change, and a digest of both ends; of a stored file without the last.
        """
        try:
            if self.store is not None:
                found = self.store.get_file_info(self.path)
                return [self.name, found.size, found.mtime_ns, None]
            with self.open() as file:
                status = os.stat(self.path)  # noqa: PTH116 - an empty path is no folder here
                digest = hashlib.sha256(file.read(FINGERPRINTED))
                file.seek(max(0, status.st_size - FINGERPRINTED))
                digest.update(file.read(FINGERPRINTED))
        except OSError as error:
            raise ValueError(f"{self.name}: cannot be read: {first_line(error)}") from None
        return [os.path.abspath(self.path), status.st_size, status.st_mtime_ns, digest.hexdigest()]  # noqa: PTH100


def open_content(path: str, *, whole: bool = True) -> Content:
    """The content of a file or a pipe; a pipe is read now, because it cannot be read again: only if `whole`."""
    name = "standard input" if path == STANDARD else path
    if path == STANDARD and not whole:
        raise ValueError(f"{name} can be read only once, and not in pieces")
    try:
        if path == STANDARD:
            return Content(path, sys.stdin.buffer.read())
        is_file = stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - an empty path is no folder here
        # Arrow opens no file whose name is not text; that is read into memory, too.
        if is_file and (not whole or _is_unicode(path)):
            return Content(path)
        if whole:
            return Content(path, Path(path).read_bytes())
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except (OSError, AttributeError) as error:  # AttributeError: standard input is closed
        raise ValueError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or 'it is closed'}") from None
    raise ValueError(f"{path}: this is a pipe or a device, which cannot be read in pieces")


def detect_format(content: Content, chosen: str | None, option: str) -> str:
    """The format: as chosen, or inferred from the name or (for pipes and names without an extension) the first bytes.

    `option` is what messages call the option that chooses it.
    """
    told = chosen or format_by_name(content.path)
    if told is not None:
        return told
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


def detect_delimiter(beginning: str, *, usual: str = ",") -> str:
    """The sign between the cells of a text: the one that cuts its first lines into most cells, all of them alike.

    Where no sign does, the one that cuts the header into most cells; `usual` if that has one cell only.
    """
    signs = "".join(dict.fromkeys([usual, *DELIMITERS.values()]))
    return _rust.detect_delimiter(beginning, signs, len(beginning) == SEEN_CHARACTERS) or usual


def format_by_name(path: str) -> str | None:
    """The format that a name tells."""
    name = Path(path).name.lower()
    return next((kind for kind, endings in FORMATS.items() if name.endswith(endings)), None)


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


def is_there(path: str) -> bool:
    """Whether a path stands for anything."""
    return path == STANDARD or Path(path).exists() or bool(PATTERN.search(path) and _glob(path))


def is_address(path: str) -> bool:
    """Whether a path is that of a file in an object store."""
    return ADDRESS.match(path) is not None


def is_partitioned(path: str) -> bool:
    """Whether a path is a folder of this machine that has data files in subfolders only."""
    return Path(path).is_dir() and not _find_data(None, path, recursive=False)


def model_name(path: str) -> str:
    """What a model is called whose predictions are there, if nobody says."""
    if path == STANDARD:
        return "stdin"
    place = Path(path)
    if place.exists() or not PATTERN.search(path):
        return place.resolve().name.split(".")[0] if place.name in {"", "..", "."} else place.name.split(".")[0]
    # Of a pattern the beginning, or the folder.
    parts = [part for part in reversed(place.parts) if part not in {"/", "."}]
    stems = (part.split("*")[0].split("?")[0].split("[")[0].split(".")[0].strip("_- ") for part in parts)
    return next((stem for stem in stems if stem), path)


def _glob(pattern: str) -> list[str]:
    found = glob.glob(pattern, recursive=True)  # noqa: PTH207 - which takes absolute patterns too
    return sorted(name for name in found if not Path(name).is_dir())


def _is_data(name: str) -> bool:
    """Whether a file of this name in a folder is a part of its data; programs leave their notes there, too."""
    return format_by_name(name) is not None and not name.startswith((".", "_"))


def read_paths(source: Any) -> list[str] | None:
    """The paths that a source is, or None if it is something else."""
    paths = source if isinstance(source, (list, tuple)) else [source]
    are_paths = len(paths) > 0 and all(isinstance(one, (str, os.PathLike)) for one in paths)
    return list(map(os.fsdecode, paths)) if are_paths else None


def find_files(path: str, filesystem: Any = None, *, whole: bool = False) -> list[Content]:
    """The files that a path stands for: on this machine, at an address (``s3://...``), or in a file system.

    Pipes are among them if they are to be read whole.
    """
    store, prefix, place = None if filesystem is None else _arrow_filesystem(filesystem), "", path
    address = ADDRESS.match(path)
    if store is None and address is not None:
        # The part without signs of a pattern alone: a question mark is something else in an address.
        fixed, prefix = _fixed_part(path), address[1]
        try:
            store, base = fs.FileSystem.from_uri(fixed)
        except Exception as error:  # noqa: BLE001 - file systems raise anything
            raise ValueError(f"{path}: cannot be read: {first_line(error)}") from None
        place = base.rstrip("/") + path[len(fixed.rstrip("/")) :]
    if store is None:
        found = _list_files(None, path, path)
        return [open_content(file, whole=whole)._replace(folders=folders) for file, folders in found.items()]
    try:
        found = _list_files(store, place, prefix + place)
    except OSError as error:
        raise ValueError(f"{prefix + place}: cannot be read: {first_line(error)}") from None
    return [Content(file, store=store, prefix=prefix, folders=folders) for file, folders in found.items()]


def local_files(path: str) -> list[str]:
    """The files of this machine that a path stands for; none at an address."""
    return [] if is_address(path) else list(_list_files(None, path, path))


def _list_files(store: Any, path: str, shown: str) -> dict[str, dict[str, str | None]]:
    """The files that a path stands for in the order of their names, each with the columns that its folders are.

    A file that is there is itself, whatever signs are in its name. Hidden files, and those that begin with an
    underscore, are not part of a folder's data. `store` is None for this machine, `shown` what messages call the path.
    """
    if store is None and not path:
        raise ValueError("the name of a file is empty")
    if _is_folder(store, path):
        found = _find_data(store, path, recursive=False) or _find_data(store, path, recursive=True)
        _refuse_several_kinds(shown, list(found))
        return found
    is_pattern = PATTERN.search(path) is not None
    if path == STANDARD or _exists(store, path) or (store is None and not is_pattern):  # opening it says the rest
        return {path: {}}
    files = _match_pattern(store, path) if is_pattern else []
    if not files:
        more = ", nor any that fits it as a pattern" if is_pattern else ""
        raise ValueError(f"{shown}: there is no such file{more}")
    return {file: {} for file in files}


def _is_folder(store: Any, path: str) -> bool:
    if store is not None:
        return bool(store.get_file_info(path).type == fs.FileType.Directory)
    return path != STANDARD and Path(path).is_dir()


def _exists(store: Any, path: str) -> bool:
    return Path(path).exists() if store is None else store.get_file_info(path).type == fs.FileType.File


def _list_folder(store: Any, folder: str, *, recursive: bool) -> dict[str, tuple[str, ...]]:
    """The files in a folder, or anywhere below it, each with the parts of its path from there."""
    if store is None:
        walked = os.walk(folder) if recursive else islice(os.walk(folder), 1)
        files = [Path(parent) / name for parent, _, names in walked for name in names]
        return {str(file): file.relative_to(folder).parts for file in files}
    selector = fs.FileSelector(folder, recursive=recursive, allow_not_found=True)
    found = [one.path for one in store.get_file_info(selector) if one.type == fs.FileType.File]
    return {file: tuple(_relative(file, folder).split("/")) for file in found}


def _find_data(store: Any, folder: str, *, recursive: bool) -> dict[str, dict[str, str | None]]:
    """The data files in a folder, or anywhere below it, with the columns that the names of subfolders are."""
    found = {}
    for file, (*folders, name) in sorted(_list_folder(store, folder, recursive=recursive).items()):
        if _is_data(name) and not any(part.startswith((".", "_")) for part in folders):
            pairs = (part.partition("=") for part in folders)
            found[file] = {
                unquote(key): None if value == MISSING else unquote(value) for key, equals, value in pairs if equals
            }
    return found


def _refuse_several_kinds(folder: str, files: list[str]) -> None:
    """Raise unless a folder has data files, and all are of one kind."""
    if not files:
        raise ValueError(f"{folder}: there are no data files in this folder; names may end in {', '.join(ENDINGS)}")
    kinds = sorted({str(format_by_name(file)) for file in files})
    if len(kinds) > 1:
        example = f"{folder.rstrip('/')}/*{Path(files[0]).suffix}"
        raise ValueError(
            f"{folder}: the folder holds files of several kinds, {listing(kinds)}, which are not one data set; "
            f"name those you mean by a pattern, as in {example!r}"
        )


def _match_pattern(store: Any, pattern: str) -> list[str]:
    if store is None:
        return _glob(pattern)
    parts = pattern.split("/")
    below = _list_folder(store, _fixed_part(pattern), recursive=True)
    return sorted(file for file in below if _parts_fit(file.split("/"), parts))


def _relative(file: str, folder: str) -> str:
    return file[len(folder.rstrip("/")) :].lstrip("/") if folder not in {"", "/", "."} else file.lstrip("/")


def _fixed_part(pattern: str) -> str:
    """The folders of a path before the first that is a pattern; the path itself if none is."""
    sign = PATTERN.search(pattern)
    return pattern if sign is None else pattern[: sign.start()].rpartition("/")[0]


def _parts_fit(parts: list[str], patterns: list[str]) -> bool:
    """Whether the parts of a path fit those of a pattern, in which ``**`` is any number of folders."""
    if not patterns or not parts:
        return not patterns and not parts
    if patterns[0] == "**":
        return any(_parts_fit(parts[skipped:], patterns[1:]) for skipped in range(len(parts)))
    hidden = parts[0].startswith(".") and not patterns[0].startswith(".")
    return not hidden and fnmatchcase(parts[0], patterns[0]) and _parts_fit(parts[1:], patterns[1:])


def _arrow_filesystem(filesystem: Any) -> Any:
    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    if hasattr(filesystem, "open") and hasattr(filesystem, "find"):  # one of fsspec
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem))
    kind = type(filesystem).__name__
    raise TypeError(f"filesystem must be a file system of pyarrow or fsspec, or None; got {kind}")
