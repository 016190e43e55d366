"""The files that a source stands for, on this machine or in an object store: a path, a pattern, a folder, an address.

A folder stands for its data files. Where there are none, it stands for those of its subfolders, and a subfolder called
``day=3`` is a column ``day`` that is ``3`` in all rows below it.
"""

from __future__ import annotations

import os
import re
import stat
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from pyarrow import fs

from multiauc._io.content import Content
from multiauc._io.output import STANDARD
from multiauc._io.paths import PATTERN, data_files, is_data, is_note, of_one_kind
from multiauc._io.problems import reason

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+://)")
# How partitioned data sets write a value that is missing.
MISSING = "__HIVE_DEFAULT_PARTITION__"


class StoredFile(NamedTuple):
    """A file, and the columns that the names of its folders are."""

    content: Content
    folders: dict[str, str | None]


def stored_files(path: str, filesystem: Any = None) -> list[StoredFile]:
    """The files that a path stands for: on this machine, at an address (``s3://...``), or in a file system."""
    if filesystem is not None:
        return _in_store(_arrow_filesystem(filesystem), path, "")
    address = ADDRESS.match(path)
    if address is None:
        return _on_this_machine(path)
    # The part without signs of a pattern alone: a question mark is something else in an address.
    fixed = _fixed_part(path)
    try:
        store, base = fs.FileSystem.from_uri(fixed)
    except Exception as error:  # noqa: BLE001 - file systems raise anything
        raise ValueError(f"{path}: cannot be read: {reason(error)}") from None
    return _in_store(store, base.rstrip("/") + path[len(fixed.rstrip("/")) :], address[1])


def is_address(path: str) -> bool:
    """Whether a path is that of a file in an object store."""
    return ADDRESS.match(path) is not None


def is_partitioned(path: str) -> bool:
    """Whether a path is a folder that has data files in subfolders only."""
    place = Path(path)
    return place.is_dir() and not any(is_data(file.name) and not file.is_dir() for file in place.iterdir())


def _on_this_machine(path: str) -> list[StoredFile]:
    if path == STANDARD:
        raise ValueError("standard input can be read only once, and not in pieces")
    if is_partitioned(path):
        below = [Path(folder) / file for folder, _, files in os.walk(path) for file in files]
        return _in_subfolders(path, [str(file) for file in below], "", None)
    found = data_files(path)
    for file in found:
        try:
            kind = os.stat(file).st_mode  # noqa: PTH116 - an empty path is no folder here
        except FileNotFoundError:
            raise ValueError(f"{file}: there is no such file") from None
        except OSError as error:
            raise ValueError(f"{file}: cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(kind):
            raise ValueError(f"{file}: this is a pipe or a device, which cannot be read in pieces")
    return [StoredFile(Content(file), {}) for file in found]


def _in_store(store: Any, path: str, prefix: str) -> list[StoredFile]:
    shown = prefix + path
    try:
        found = store.get_file_info(path)
        if found.type == fs.FileType.File:
            return [StoredFile(Content(path, store=store, prefix=prefix), {})]
        if found.type == fs.FileType.Directory:
            return _in_stored_folder(store, path, prefix)
        if not PATTERN.search(path):
            raise ValueError(f"{shown}: there is no such file")
        fitting = [file for file in _files_below(store, _fixed_part(path)) if _fits(file, path)]
    except OSError as error:
        raise ValueError(f"{shown}: cannot be read: {reason(error)}") from None
    if not fitting:
        raise ValueError(f"{shown}: there is no such file, nor any that fits it as a pattern")
    return [StoredFile(Content(file, store=store, prefix=prefix), {}) for file in sorted(fitting)]


def _in_stored_folder(store: Any, path: str, prefix: str) -> list[StoredFile]:
    below = _files_below(store, path)
    own = [file for file in below if "/" not in _relative(file, path) and is_data(_relative(file, path))]
    if not own:
        return _in_subfolders(path, below, prefix, store)
    return [StoredFile(Content(file, store=store, prefix=prefix), {}) for file in of_one_kind(prefix + path, own)]


def _in_subfolders(folder: str, below: list[str], prefix: str, store: Any) -> list[StoredFile]:
    """The data files among all files below a folder, with the columns that the names of subfolders are."""
    found = {}
    for file in below:
        *folders, name = re.split(r"[/\\]" if store is None and os.sep == "\\" else "/", _relative(file, folder))
        if is_data(name) and not any(map(is_note, folders)):
            pairs = (part.partition("=") for part in folders)
            found[file] = {
                unquote(key): None if value == MISSING else unquote(value) for key, equals, value in pairs if equals
            }
    return [
        StoredFile(Content(file, store=store, prefix=prefix), found[file])
        for file in of_one_kind(prefix + folder, list(found))
    ]


def _files_below(store: Any, folder: str) -> list[str]:
    selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
    return [found.path for found in store.get_file_info(selector) if found.type == fs.FileType.File]


def _relative(file: str, folder: str) -> str:
    return file[len(folder.rstrip("/")) :].lstrip("/") if folder not in {"", "/", "."} else file.lstrip("/")


def _fixed_part(pattern: str) -> str:
    """The folders of a path before the first that is a pattern; the path itself if none is."""
    sign = PATTERN.search(pattern)
    return pattern if sign is None else pattern[: sign.start()].rpartition("/")[0]


def _fits(file: str, pattern: str) -> bool:
    return _parts_fit(file.split("/"), pattern.split("/"))


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


def source_paths(source: Any) -> list[str] | None:
    """The paths that a source is, or None if it is something else."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fsdecode(source)]
    if isinstance(source, (list, tuple)) and source and all(isinstance(one, (str, os.PathLike)) for one in source):
        return [os.fsdecode(one) for one in source]
    return None
