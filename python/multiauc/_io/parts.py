"""Several files as one data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.wording import counted, listing
from multiauc._io.formats import open_file
from multiauc._io.paths import data_files
from multiauc._io.problems import NoRowsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from multiauc._io.column_rules import Columns
    from multiauc._io.content import Content
    from multiauc._io.formats import DataFile


def open_data(path: str, chosen: str | None, delimiter: str | None, spelled: Callable[..., str]) -> DataSet:
    """The data set at `path`: a file, or all files of a pattern or folder, one below the other."""
    files = [open_file(name, chosen, delimiter, spelled) for name in data_files(path)]
    first = files[0]
    for file in files[1:]:
        refuse_other_columns(file, first)
    return DataSet(first.path if len(files) == 1 else path, files)


def refuse_other_columns(file: Columns, first: Columns) -> None:
    """Raise unless a file has the same columns as the first one of its data set."""
    if sorted(file.names) != sorted(first.names):
        odd = next((name for name in first.names if name not in file.names), None)
        what = f"no column {odd!r}, which {first.path} has"
        if odd is None:
            more = [name for name in file.names if name not in first.names] or file.names
            what = f"it has columns that {first.path} does not have: {listing(more)}"
        raise ValueError(f"{file.path}: {what}; the files of one data set have the same columns")


class DataSet:
    """One or more files with the same columns. Files without rows add nothing, but some file must have rows.

    Attributes
    ----------
    path
        What messages call it.
    names
        Its columns.
    """

    def __init__(self, path: str, files: list[DataFile]) -> None:
        self.path = path
        self.names = files[0].names
        self._files = files
        self._sizes = [0] * len(files)

    def texts(self, name: str) -> tuple[NDArray[Any], list[str]]:
        """As in `DataFile`; none may be missing."""
        codes, texts = self.labels(name, may_be_missing=False)
        return codes, [text for text in texts if text is not None]

    def labels(self, name: str, *, may_be_missing: bool = True) -> tuple[NDArray[Any], list[str | None]]:
        """As `texts` in `DataFile`."""
        place: dict[str | None, int] = {}
        codes = []
        for k, file in enumerate(self._files):
            try:
                found, texts = file.texts(name, may_be_missing=may_be_missing)
            except NoRowsError:
                continue
            self._sizes[k] = len(found)
            here = np.array([place.setdefault(text, len(place)) for text in texts], dtype=np.intp)
            codes.append(here[found])
        if not codes:
            raise self._no_rows()
        return np.concatenate(codes), list(place)

    def numbers(self, names: list[str]) -> NDArray[Any]:
        """As in `DataFile`."""
        found: list[NDArray[Any]] = []
        for file, size in zip(self._files, self._sizes, strict=True):
            try:
                values = file.numbers(names)
            except NoRowsError:
                if size == 0:
                    continue
                raise
            if len(values) != size:
                raise ValueError(f"{file.path}: {counted(len(values), 'row')} of scores for {counted(size, 'label')}")
            if found and values.shape[1] != found[0].shape[1]:
                shapes = f"{values.shape[1]} columns of scores, the files before it have {found[0].shape[1]}"
                raise ValueError(f"{file.path}: {shapes}")
            found.append(values)
        return found[0] if len(found) == 1 else np.concatenate(found)

    def at(self, row: int) -> tuple[str, int]:
        """The file and the number, counted from 1, of a row of the data set whose labels have been read."""
        for file, size in zip(self._files, self._sizes, strict=True):
            if row < size:
                return file.path, row + 1
            row -= size
        raise IndexError(row)

    def contents(self) -> list[tuple[Content, int]]:
        """The bytes of each file, and its number of rows once labels have been read."""
        return [(file.content, size) for file, size in zip(self._files, self._sizes, strict=True)]

    def _no_rows(self) -> NoRowsError:
        return NoRowsError(f"{self.path}: there are no rows")
