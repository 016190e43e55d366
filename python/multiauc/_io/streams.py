"""Opens what rows can be read from in pieces: paths, data sets of pyarrow, record batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyarrow import dataset as arrow_dataset

from multiauc._io.content import Content
from multiauc._io.fingerprints import file_size, fingerprint
from multiauc._io.row_files import arrow_rows, dataset_filter, open_rows
from multiauc._io.row_stream import RowStream
from multiauc._io.stored import source_paths, stored_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multiauc._io.predictions import Request


def open_stream(source: Any, scores: str | Sequence[str], request: Request, filesystem: Any = None) -> RowStream:
    """The rows of a source: path or paths, a data set or table of pyarrow, or an iterator of record batches.

    `scores` and the options of `request` are as for files that are read whole; the sources of `request` are not used.
    """
    paths = source_paths(source)
    if paths is not None:
        files = [file for path in paths for file in stored_files(path, filesystem)]
        rows = [open_rows(file, request.format_in, request.delimiter, request.spelled) for file in files]
        contents = [file.content for file in files]
        sizes = [file_size(content) for content in contents]
        name = rows[0].path if len(rows) == 1 else paths[0] if len(paths) == 1 else f"{paths[0]} and others"
        return RowStream(name, rows, scores, request, sizes)
    found = arrow_rows(source)
    if found is None:
        accepted = "a path, a sequence of paths, a data set of pyarrow, or an iterator of record batches"
        raise TypeError(f"source must be {accepted}; got {type(source).__name__}")
    return RowStream(found.path, [found], scores, request, [1])


def source_contents(source: Any, filesystem: Any = None) -> list[Content]:
    """The files of a source; none if it is not made of files."""
    paths = source_paths(source)
    if paths is not None:
        return [file.content for path in paths for file in stored_files(path, filesystem)]
    if isinstance(source, arrow_dataset.FileSystemDataset):
        return [Content(file, store=source.filesystem) for file in source.files]
    return []


def source_identity(source: Any, filesystem: Any = None) -> dict[str, Any] | None:
    """What tells a source from another, as JSON has it; None if nothing does."""
    contents = source_contents(source, filesystem)
    if not contents:
        return None
    chosen = dataset_filter(source)
    return {
        "files": [fingerprint(content) for content in contents],
        "filter": None if chosen is None else str(chosen),
    }
