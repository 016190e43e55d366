"""From files and column names to labels, scores, weights and groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from multiauc._common.wording import counted, listing
from multiauc._io.cells import as_whole, spelled_like
from multiauc._io.column_rules import (
    fitting_names,
    given_classes,
    no_score_column,
    refuse_absent,
    require,
    score_columns,
    sorted_classes,
)
from multiauc._io.damage import odd_row, warn_of_odd_row
from multiauc._io.parts import open_data
from multiauc._io.problems import as_argument

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from multiauc._common.types import Outputs
    from multiauc._io.column_rules import ScoreColumns
    from multiauc._io.content import Content
    from multiauc._io.parts import DataSet


class Source(NamedTuple):
    """Where the scores of a model are: files (see `data_files`), and a pattern of columns (`USUAL_SCORES` if empty)."""

    path: str
    scores: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What to read.

    Attributes
    ----------
    sources
        Where the scores are, by the name of the model; at least one.
    label, weights, groups, row_id
        Columns, the last three perhaps None.
    by
        The columns whose values are slices of the rows; perhaps none.
    classes
        The classes in the order of the score columns, or None.
    absent
        What to do about classes without rows.
    outputs
        What the scores are: "logits", or None to take them as they are.
    format_in, delimiter
        The format of the files, and the sign between the cells of texts, if they are not to be told from the files.
    spelled
        How messages name the options above and ``scores``, perhaps with a value, to whoever chose them.
    """

    sources: dict[str, Source]
    label: str
    classes: tuple[str, ...] | None = None
    weights: str | None = None
    groups: str | None = None
    by: tuple[str, ...] = ()
    row_id: str | None = None
    absent: str = "raise"
    outputs: Outputs = None
    format_in: str | None = None
    delimiter: str | None = None
    spelled: Callable[..., str] = as_argument


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """The predictions of one or more models for the same rows.

    Attributes
    ----------
    y_true
        The class of each row, as text.
    models
        (n, K) scores by the name of the model, or (n,) scores of the second of two classes.
    labels
        The classes in the order of the columns.
    weights, groups
        A number and a code for each row, or None.
    by
        The texts of each column of slices, None where one is missing.
    files
        The files that were read, each with its number of rows.
    """

    y_true: NDArray[Any]
    models: dict[str, NDArray[Any]]
    labels: list[str]
    weights: NDArray[Any] | None
    groups: NDArray[Any] | None
    by: dict[str, NDArray[Any]]
    files: list[tuple[Content, int]]


def read_predictions(request: Request) -> Predictions:
    """Read the files, each once for all of its models that follow one another."""
    first: _Rows | None = None
    models: dict[str, NDArray[Any]] = {}
    files: list[tuple[Content, int]] = []
    for path, sources in groupby(request.sources.items(), key=lambda item: item[1].path):
        rows = _Rows(open_data(path, request.format_in, request.delimiter, request.spelled), request)
        files += rows.file.contents()
        if first is None:
            first = rows
        else:
            rows.align(first)
        for name, source in sources:
            columns = score_columns(rows.file, source.scores, request)
            models[name], labels = rows.scores(columns)
            rows.check_labels(labels, first)
    if first is None:
        raise ValueError("no file to read was given")
    if request.absent == "raise":
        first.refuse_absent()
    return Predictions(first.y_true(), models, first.labels, first.weights(), first.groups(), first.slices(), files)


class _Rows:
    """The rows of one file: labels, and the order in which they are taken."""

    def __init__(self, file: DataSet, request: Request) -> None:
        self.file = file
        self._request = request
        require(file, [request.label], request.spelled("label"))
        self._codes, self._texts = file.texts(request.label)
        self._order: NDArray[np.intp] | None = None
        self._ids: list[str] | None = None  # as `as_whole` has them
        self.labels: list[str] = []
        if request.row_id is not None:
            require(file, [request.row_id], request.spelled("row_id"))
            codes, texts = file.texts(request.row_id)
            keys = [as_whole(text) for text in texts]
            self._ids = [keys[code] for code in codes.tolist()]
            if len(set(keys)) < len(codes):
                row = _first_repeated(self._ids)
                raise ValueError(f"{self._at(row, request.row_id)}: {self._ids[row]!r} is there twice")

    def align(self, first: _Rows) -> None:
        """Bring the rows into the order of the first file, and make sure that they are the same rows."""
        if self._ids is not None and first._ids is not None:
            place = {key: row for row, key in enumerate(self._ids)}
            missing = next((key for key in first._ids if key not in place), None)
            if missing is not None or len(place) != len(first._ids):
                absent = missing if missing is not None else next(iter(set(place).difference(first._ids)))
                lacks, has = (self, first) if missing is not None else (first, self)
                key = f"{self._request.spelled('row_id')} {absent!r}"
                raise ValueError(f"{lacks.file.path}: no row with {key}, which {has.file.path} has")
            self._order = np.array([place[key] for key in first._ids], dtype=np.intp)
        rule = f"models are compared on the same rows ({self._request.spelled('row_id')} matches them)"
        if len(self._codes) != len(first._codes):
            sizes = f"{counted(len(self._codes), 'row')}, {first.file.path} has {len(first._codes)}"
            raise ValueError(f"{self.file.path}: {sizes}; {rule}")
        differs = self._labels([as_whole(text) for text in self._texts]) != first._labels(
            [as_whole(text) for text in first._texts]
        )
        if differs.any():
            row = int(np.argmax(differs))
            own_row = row if self._order is None else int(self._order[row])
            raise ValueError(
                f"{self._at(own_row, self._request.label)}: {self.y_true()[row]!r}, but "
                f"{first.file.path} has {first.y_true()[row]!r}; {rule}"
            )

    def y_true(self) -> NDArray[Any]:
        """The label of each row."""
        return self._labels(self._texts)

    def _labels(self, texts: list[str]) -> NDArray[Any]:
        labels: NDArray[Any] = np.array(texts, dtype=object)[self._codes]
        return labels if self._order is None else labels[self._order]

    def _at(self, row: int, column: str) -> str:
        """Where a cell is, in words."""
        path, number = self.file.at(row)
        return f"{path}: column {column!r}, row {number}"

    def scores(self, columns: ScoreColumns) -> tuple[NDArray[Any], list[str]]:
        """The scores and the class of each of their columns."""
        values = self.file.numbers(columns.names)
        odd = odd_row(values)
        if odd is not None:
            row, n_odd = odd
            path, number = self.file.at(row)
            warn_of_odd_row(f"{path}: row {number}", values[row], n_odd)
        labels = self._classes(columns, values.shape[1])
        scores = values[:, 0] if values.shape[1] == 1 else values
        return (scores if self._order is None else scores[self._order]), labels

    def _classes(self, columns: ScoreColumns, n_columns: int) -> list[str]:
        if self._request.classes is not None:
            return given_classes(self.file, n_columns, self._request)
        if n_columns == 1 or n_columns != len(columns.names):
            return sorted_classes(self.file, self._texts, n_columns, self._request)
        return next(iter(fitting_names(columns, self._texts)), columns.class_names[0])

    def check_labels(self, labels: list[str], first: _Rows) -> None:
        """Make sure that every label has its column, in every file the same; labels are spelled like columns now."""
        self._texts = spelled_like(self._texts, labels)
        known = set(labels)
        unknown = next((k for k, text in enumerate(self._texts) if text not in known), None)
        if unknown is not None:
            row = int(np.argmax(self._codes == unknown))
            raise no_score_column(self._at(row, self._request.label), self._texts[unknown], labels, self._request)
        if not first.labels:
            first.labels = labels
        if labels != first.labels:
            raise ValueError(
                f"{self.file.path}: the score columns are for {listing(labels)}, those of {first.file.path} for "
                f"{listing(first.labels)}; models are compared on the same classes in the same order"
            )

    def refuse_absent(self) -> None:
        """Raise if a class has no rows."""
        refuse_absent(self.file, self.labels, set(self._texts), self._request)

    def weights(self) -> NDArray[Any] | None:
        """The weight of each row."""
        name = self._request.weights
        if name is None:
            return None
        require(self.file, [name], self._request.spelled("weights"))
        weights = self.file.numbers([name])[:, 0]
        if (weights < 0).any():
            row = int(np.argmax(weights < 0))
            raise ValueError(f"{self._at(row, name)}: the weight {weights[row]} is negative")
        return weights

    def groups(self) -> NDArray[Any] | None:
        """The group of each row as a number."""
        if self._request.groups is None:
            return None
        require(self.file, [self._request.groups], self._request.spelled("groups"))
        return self.file.texts(self._request.groups)[0]

    def slices(self) -> dict[str, NDArray[Any]]:
        """The columns whose values are slices of the rows."""
        require(self.file, self._request.by, self._request.spelled("by"))
        found: dict[str, NDArray[Any]] = {}
        for name in self._request.by:
            codes, texts = self.file.labels(name)
            if len(codes) != len(self._codes):
                sizes = f"{counted(len(codes), 'row')} of column {name!r} for {counted(len(self._codes), 'label')}"
                raise ValueError(f"{self.file.path}: {sizes}")
            found[name] = np.array([*texts, None], dtype=object)[:-1][codes]
        return found


def _first_repeated(keys: list[str]) -> int:
    """The place of the first key that was there before."""
    seen: set[str] = set()
    for place, key in enumerate(keys):
        if key in seen:
            return place
        seen.add(key)
    raise ValueError("no key is repeated")
