"""From files and column names to labels, scores, weights and groups."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from multiauc._files.cells import as_whole, plain_number, spelled_like
from multiauc._files.parts import open_data
from multiauc._files.problems import as_argument
from multiauc._wording import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from multiauc._files.content import Content
    from multiauc._files.parts import DataSet

# Where scores are looked for unless a pattern is given.
USUAL_SCORES = ("p_*", "y_score")


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


class ScoreColumns(NamedTuple):
    """Columns of scores, and what their names say about the classes: the first of `class_names` that fits."""

    names: list[str]
    class_names: list[list[str]]


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
            columns = _score_columns(rows.file, source.scores, request)
            models[name], labels = rows.scores(columns, request.classes)
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
        _require(file, [request.label], request.spelled("label"))
        self._codes, self._texts = file.texts(request.label)
        self._order: NDArray[np.intp] | None = None
        self._ids: list[str] | None = None  # as `as_whole` has them
        self.labels: list[str] = []
        if request.row_id is not None:
            _require(file, [request.row_id], request.spelled("row_id"))
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

    def scores(self, columns: ScoreColumns, classes: tuple[str, ...] | None) -> tuple[NDArray[Any], list[str]]:
        """The scores and the class of each of their columns."""
        values = self.file.numbers(columns.names)
        labels = self._classes(columns, values.shape[1], classes)
        scores = values[:, 0] if values.shape[1] == 1 else values
        return (scores if self._order is None else scores[self._order]), labels

    def _classes(self, columns: ScoreColumns, n_columns: int, classes: tuple[str, ...] | None) -> list[str]:
        expected = max(2, n_columns)
        if classes is not None:
            if len(classes) != expected:
                named = f"{self._request.spelled('classes')} names {len(classes)} classes"
                raise ValueError(f"{named}, but {self.file.path} has scores for {expected}")
            return list(classes)
        seen = set(self._texts)
        if n_columns == 1 or n_columns != len(columns.names):
            # One column of a two-class problem, or the columns of a matrix, which have no names: sorted labels.
            found = sorted(seen, key=_number_or_text)
            if len(found) != expected:
                problem = f"{counted(len(found), 'label')} ({listing(found)}) for scores of {expected} classes"
                advice = f"name the classes in column order with {self._request.spelled('classes')}"
                raise ValueError(f"{self.file.path}: {problem}; {advice}")
            return found
        fitting = (names for names in columns.class_names if set(spelled_like(self._texts, names)) <= set(names))
        return next(fitting, columns.class_names[0])

    def check_labels(self, labels: list[str], first: _Rows) -> None:
        """Make sure that every label has its column, in every file the same; labels are spelled like columns now."""
        self._texts = spelled_like(self._texts, labels)
        known = set(labels)
        unknown = next((k for k, text in enumerate(self._texts) if text not in known), None)
        if unknown is not None:
            row = int(np.argmax(self._codes == unknown))
            spelled = self._request.spelled
            raise ValueError(
                f"{self._at(row, self._request.label)}: the class {self._texts[unknown]!r} "
                f"has no score column; there are scores for {listing(labels)} "
                f"(see {spelled('scores')} and {spelled('classes')})"
            )
        if not first.labels:
            first.labels = labels
        if labels != first.labels:
            raise ValueError(
                f"{self.file.path}: the score columns are for {listing(labels)}, those of {first.file.path} for "
                f"{listing(first.labels)}; models are compared on the same classes in the same order"
            )

    def refuse_absent(self) -> None:
        """Raise if a class has no rows."""
        absent = [label for label in self.labels if label not in set(self._texts)]
        if absent:
            spelled = self._request.spelled
            raise ValueError(
                f"{self.file.path}: column {self._request.label!r} has no rows of "
                f"{counted(len(absent), 'class', 'classes')}: {listing(absent)}; {spelled('absent', 'ignore')} leaves "
                f"it out, {spelled('absent', 'nan')} gives no value to what needs it"
            )

    def weights(self) -> NDArray[Any] | None:
        """The weight of each row."""
        name = self._request.weights
        if name is None:
            return None
        _require(self.file, [name], self._request.spelled("weights"))
        weights = self.file.numbers([name])[:, 0]
        if (weights < 0).any():
            row = int(np.argmax(weights < 0))
            raise ValueError(f"{self._at(row, name)}: the weight {weights[row]} is negative")
        return weights

    def groups(self) -> NDArray[Any] | None:
        """The group of each row as a number."""
        if self._request.groups is None:
            return None
        _require(self.file, [self._request.groups], self._request.spelled("groups"))
        return self.file.texts(self._request.groups)[0]

    def slices(self) -> dict[str, NDArray[Any]]:
        """The columns whose values are slices of the rows."""
        _require(self.file, self._request.by, self._request.spelled("by"))
        found: dict[str, NDArray[Any]] = {}
        for name in self._request.by:
            codes, texts = self.file.labels(name)
            if len(codes) != len(self._codes):
                sizes = f"{counted(len(codes), 'row')} of column {name!r} for {counted(len(self._codes), 'label')}"
                raise ValueError(f"{self.file.path}: {sizes}")
            found[name] = np.array([*texts, None], dtype=object)[:-1][codes]
        return found


def _require(file: DataSet, names: Iterable[str], option: str) -> None:
    """Raise unless the file has all columns, each once."""
    for name in names:
        if name not in file.names:
            raise ValueError(f"{file.path}: no column {name!r} ({option}); it has {listing(file.names)}")
        if file.names.count(name) > 1:
            raise ValueError(f"{file.path}: there are {file.names.count(name)} columns {name!r} ({option})")


def _score_columns(file: DataSet, pattern: str, request: Request) -> ScoreColumns:
    """The columns that a pattern asks for: one with a star, or names separated by commas."""
    taken = {request.label, request.weights, request.groups, request.row_id, *request.by}
    if not pattern:
        usual = next((usual for usual in USUAL_SCORES if _matching(file.names, usual, taken)), None)
        if usual is None:
            missing = f"{file.path}: no columns {' or '.join(map(repr, USUAL_SCORES))}"
            others = [name for name in file.names if name not in taken]
            if not others:
                raise ValueError(f"{missing}; beside {listing(file.names)} there are none that could hold scores")
            raise ValueError(f"{missing}; name the scores with {request.spelled('scores')}, out of {listing(others)}")
        pattern = usual
    if "*" not in pattern:
        names = [name.strip() for name in pattern.split(",")]
        _require(file, names, request.spelled("scores"))
        return ScoreColumns(names, [_without_prefix(names), names])
    names = _matching(file.names, pattern, taken)
    _require(file, names, request.spelled("scores"))
    if len(names) < 2:
        raise ValueError(
            f"{file.path}: {request.spelled('scores', pattern)} fits {counted(len(names), 'column')}, and two classes "
            f"or more are needed; it has {listing(file.names)}"
        )
    before, after = pattern.split("*", 1)
    return ScoreColumns(names, [[name[len(before) : len(name) - len(after)] for name in names], names])


def _matching(names: list[str], pattern: str, taken: set[str | None]) -> list[str]:
    return [name for name in names if fnmatchcase(name, pattern) and name not in taken]


def _without_prefix(columns: list[str]) -> list[str]:
    """Column names without the beginning that they share, up to a separator: p_cat, p_dog to cat, dog."""
    prefix = os.path.commonprefix(columns)  # noqa: RUF071 - of names, character by character
    start = max((k + 1 for k, sign in enumerate(prefix) if not sign.isalnum()), default=0)
    return [name[start:] for name in columns]


def _number_or_text(text: str) -> tuple[bool, float, str]:
    """Sorts numbers by size and before text."""
    try:
        number = plain_number(text)
    except ValueError:
        number = math.nan
    return (True, 0.0, text) if math.isnan(number) else (False, number, text)


def _first_repeated(keys: list[str]) -> int:
    """The place of the first key that was there before."""
    seen: set[str] = set()
    for place, key in enumerate(keys):
        if key in seen:
            return place
        seen.add(key)
    raise ValueError("no key is repeated")
