"""From rows and column names to labels, scores, weights and groups: batch by batch, or all at once."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from multiauc._common.progress import RowProgress
from multiauc._common.wording import listing, pluralize, printable
from multiauc._input import columns
from multiauc._input.columns import ColumnRequest
from multiauc._input.probabilities import sum_to_one
from multiauc._io import columns as arrays
from multiauc._io import readers, sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from multiauc._common.types import Outputs

    # What is called with the rows done, and their share if that is known.
    Reached = Callable[[int, float | None], object]

# Rows of a batch: enough to keep all threads busy, however many columns there are, and no more than pay.
FEWEST_ROWS = 2**10
MOST_ROWS = 2**18
# Characters of a name beside the bar of progress.
LONGEST_NAME = 24


class Source(NamedTuple):
    """Where the scores of a model are: files (see `find_files`), and a pattern of columns (the usual ones if empty)."""

    path: str
    scores: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Request(ColumnRequest):
    """What to read from files.

    Attributes
    ----------
    sources
        Where the scores are, by the name of the model; at least one for `read_predictions`.
    absent
        What to do about classes without rows.
    outputs
        What the scores are: "logits", or None to take them as they are.
    format_in, delimiter
        The format of the files, and the delimiter of text files, if they should not be inferred.
    """

    sources: dict[str, Source] = field(default_factory=dict)
    absent: str = "raise"
    outputs: Outputs = None
    format_in: str | None = None
    delimiter: str | None = None


class Position(NamedTuple):
    """A place between rows: the number of the file, and the number of its rows before the place."""

    file: int = 0
    row: int = 0


BEGINNING = Position()


class Batch(NamedTuple):
    """Some rows.

    Attributes
    ----------
    scores
        (n, K) scores, or (n, 1) scores of the second of two classes.
    codes
        The place of each row's class among the labels.
    weights
        The weight of each row, or None.
    end
        The place behind these rows.
    share
        How much of the data set has been read with them, from 0 to 1; None where that is not known.
    """

    scores: NDArray[Any]
    codes: NDArray[Any]
    weights: NDArray[Any] | None
    end: Position
    share: float | None


@dataclass(frozen=True, slots=True, eq=False)
class RowReader:
    """Reads classes, scores and weights of Arrow tables; it may go to other processes.

    Attributes
    ----------
    request
        The columns of labels and weights.
    scores
        The columns of scores.
    labels
        The classes as text, in the order of the scores.
    width
        How many scores a row has.
    is_single
        Whether scores are kept as float32.
    are_predicted
        Whether the one column holds predicted labels: the score is then 1 for that class and 0 for the others.
    """

    request: ColumnRequest
    scores: list[str]
    labels: list[str]
    width: int
    is_single: bool
    are_predicted: bool = False

    def read(self, piece: arrays.Piece) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
        """Scores, classes as places among the labels, and weights."""
        codes, scores = self._read_codes(piece.column(self.request.label)), self._read_scores(piece)
        if self.request.sample_weight is None:
            return scores, codes, None
        weights = piece.stack_numbers([self.request.sample_weight])[:, 0]
        if (weights < 0).any():
            row = int(np.argmax(weights < 0))
            where = piece.column(self.request.sample_weight).at(row)
            raise ValueError(f"{where}: the weight {weights[row]} is negative")
        return scores, codes, weights

    def _read_codes(self, column: arrays.Column) -> NDArray[Any]:
        found, texts = column.encode()
        place = {label: code for code, label in enumerate(self.labels)}
        known = [place.get(text, -1) for text in columns.spell_like(_all_there(texts), self.labels)]
        if -1 in known:
            unknown = known.index(-1)
            where = column.at(int(np.argmax(found == unknown)))
            if column.name != self.request.label:
                problem = f"the class {texts[unknown]!r} is predicted, and the labels are {listing(self.labels)}"
                raise ValueError(f"{where}: {problem}")
            raise columns.unknown_label(where, str(texts[unknown]), self.labels, self.request)
        # As the core takes codes.
        codes: NDArray[Any] = np.array(known, dtype=np.uint8 if len(self.labels) <= 256 else np.uint16)
        return codes.take(found)

    def _read_scores(self, piece: arrays.Piece) -> NDArray[Any]:
        scores = list(map(piece.column, self.scores))
        if self.are_predicted:
            return np.eye(len(self.labels)).take(self._read_codes(scores[0]), axis=0)
        wider = next((one for one in scores if self.is_single and not arrays.is_single(one.cells.type)), None)
        if wider is not None:  # of an iterator: the types of files are known before
            raise ValueError(f"{wider.at(0)}: {wider.cells.type}, and the rows before have single precision")
        if arrays.holds_lists(scores[0].cells.type):
            scores = scores[0].spread(self.width)
        return arrays.stack_numbers(scores, single=self.is_single)


class RowStream:
    """The rows of one or more files with the same columns, to be read batch by batch, as often as one likes.

    Attributes
    ----------
    path
        What messages call the data set.
    names
        Its columns.
    scores
        Those that hold scores.
    predicted
        The one column, if it holds predicted labels, otherwise None.
    contents
        The files that it is made of; none of what is in memory.
    """

    def __init__(
        self, path: str, files: list[readers.RowFile], wanted: str | Sequence[str], request: ColumnRequest
    ) -> None:
        for file in files[1:]:
            readers.refuse_other_columns(file, files[0])
        self.path = path
        self.names = files[0].names
        self._files = files
        self._request = request
        self.contents = [content for file in files for content in file.contents]
        columns.require_columns(self, [request.label], request.option("label"))
        wanted = wanted or columns.find_usual_scores(self, request) or self._choose_scores()
        self._columns = columns.find_score_columns(self, wanted, request)
        self.scores = self._columns.names
        may_predict = request.may_predict and len(self.scores) == 1
        self.predicted = self.scores[0] if may_predict and self._are_labels(self.scores[0]) else None
        self._weights = [] if request.sample_weight is None else [request.sample_weight]
        columns.require_columns(self, self._weights, request.option("sample_weight"))
        self._is_single = all(readers.are_single(file, self.scores) for file in files)
        self._width = None if self.predicted else self._find_width()
        if self.predicted:
            self._width = len(self.labels())

    def _choose_scores(self) -> list[str]:
        """The columns that hold the scores, where none has a usual name, by the labels and what the cells hold."""
        names = [name for name in self.names if name not in self._request.taken and self.names.count(name) == 1]
        if not names:
            return []
        head = self._head(names, FEWEST_ROWS)
        lists = [name for name in names if arrays.holds_lists(head.column(name).cells.type)]
        cells = columns.Cells([name for name in names if head.column(name).holds_numbers()], lists)
        texts = list(self._request.labels or (self._first_texts() if self.is_once else self._all_texts()))
        chosen = columns.choose_scores(
            self, self._request, texts, cells, lambda names: sum_to_one(head.stack_numbers(names))
        )
        if len(chosen) == 1 and chosen == cells.numbers:
            score = head.stack_numbers(chosen)
            # The only column of numbers may be anything, such as row numbers: it is taken for a probability alone.
            chosen = chosen if np.all((score >= 0) & (score <= 1)) else []
        if chosen or not self._request.may_predict:
            return chosen
        predicted = [name for name in names if self._are_labels(name)]
        return predicted if len(predicted) == 1 else []

    def _are_labels(self, name: str) -> bool:
        """Whether a column holds labels: integers that are, or texts of which some are and that are not numbers."""
        kind = self._files[0].type_of(name)
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or arrays.holds_lists(kind):
            return False
        column = self._head([name], FEWEST_ROWS).column(name)
        texts = set(_all_there(column.encode(may_be_missing=True)[1]))
        labels = set(self._request.labels or self._first_texts())
        return texts <= labels or (not labels.isdisjoint(texts) and not column.holds_numbers())

    def _find_width(self) -> int | None:
        """How many scores a row has; None where they are lists of any length, of which the labels tell."""
        widths: list[int | None] = []
        for file in self._files:
            kinds = {name: arrays.stored_type(file.type_of(name)) for name in self.scores}
            lists = next((name for name, kind in kinds.items() if arrays.holds_lists(kind)), None)
            if lists is not None and len(kinds) > 1:
                raise ValueError(f"{file.path}: column {lists!r} holds {kinds[lists]}, beside other columns of scores")
            if lists is None:
                widths.append(len(kinds))
            else:
                widths.append(kinds[lists].list_size if pa.types.is_fixed_size_list(kinds[lists]) else None)
            if widths[-1] != widths[0]:
                found, before = (width or "any number of" for width in (widths[-1], widths[0]))
                raise ValueError(f"{file.path}: {found} columns of scores, the files before it have {before}")
        return widths[0]

    @property
    def is_once(self) -> bool:
        """Whether the rows can be read only once."""
        return any(file.is_once for file in self._files)

    def identity(self) -> dict[str, object] | None:
        """What tells the rows from others, as JSON has it; None if nothing does."""
        if not self.contents:
            return None
        return {"files": [content.fingerprint() for content in self.contents], "filter": self._files[0].filter}

    def batch_rows(self, n_bytes: int) -> int:
        """How many rows there are in a batch whose scores take up about so many bytes."""
        cell = 4 if self._is_single else 8
        return min(MOST_ROWS, max(FEWEST_ROWS, n_bytes // (cell * ((self._width or len(self.scores)) + 2))))

    def labels(self) -> list[str]:
        """The classes in the order of the columns.

        Where the names of columns and the first rows leave a choice, that takes a pass over the column of labels.
        """
        given = self._request.labels
        if given is not None:
            return columns.check_label_count(self, self._width or len(given), self._request)
        if len(self.scores) == 1:
            texts = self._all_texts()
            return columns.sort_labels(self, texts, self._width or len(texts), self._request)
        readings, option = self._columns.readings, self._request.option("labels")
        return columns.choose_reading(self.path, readings, self._first_texts(), option, self._all_texts)

    def refuse_absent(self, labels: list[str], counts: NDArray[np.int64]) -> None:
        """Raise if one of the classes has no rows; `counts` are the rows of each."""
        columns.refuse_absent(self, labels, counts.tolist(), self._request)

    def _head(self, names: list[str], size: int) -> arrays.Piece:
        """Columns of the first rows."""
        for file in self._files:
            if isinstance(file, readers.BatchRows):
                return arrays.Piece(file.path, file.head.select(names))
            for piece in file.pieces(names, [], 0, size):
                if piece.table.num_rows:
                    return piece
        raise self.no_rows()

    def _first_texts(self) -> list[str]:
        label = self._request.label
        return _all_there(self._head([label], MOST_ROWS).column(label).encode()[1])

    def _all_texts(self) -> list[str]:
        if self.is_once:
            raise ValueError(
                f"{self.path}: the classes must be named in column order with {self._request.option('labels')}, "
                "because rows that can be read only once cannot be searched for labels beforehand"
            )
        found = dict.fromkeys(text for _, texts in self._encode(self._request.label) for text in texts)
        if not found:
            raise self.no_rows()
        return _all_there(found)

    def no_rows(self) -> sources.NoRowsError:
        """The error of a data set that has none."""
        return sources.NoRowsError(f"{self.path}: there are no rows")

    def _encode(self, name: str, *, may_be_missing: bool = False) -> Iterator[tuple[NDArray[Any], list[str | None]]]:
        """The distinct texts of a column and the place of each row's among them, piece by piece."""
        for file in self._files:
            for piece in file.pieces([name], [], 0, MOST_ROWS):
                if piece.table.num_rows:
                    yield piece.column(name).encode(may_be_missing=may_be_missing)

    def texts(self, name: str, *, may_be_missing: bool = False) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """The place of each row's text among the distinct texts of a column, and these; None for a missing one."""
        place: dict[str | None, int] = {}
        codes = []
        for found, texts in self._encode(name, may_be_missing=may_be_missing):
            here = np.array([place.setdefault(text, len(place)) for text in texts], dtype=np.intp)
            codes.append(here[found])
        if not codes:
            raise self.no_rows()
        return np.concatenate(codes), np.array([*place, None], dtype=object)[:-1]

    def batches(self, labels: list[str], size: int, start: Position) -> Iterator[Batch]:
        """The rows from a place on, in batches of `size`, which only the last of a file falls short of.

        Where batches begin and end depends on the files and `size` alone, not on `start` if that is the end of one.
        """
        sizes = [content.size for content in self.contents] if len(self._files) > 1 else [1]
        before = np.cumsum([0, *sizes]) / max(sum(sizes), 1)
        width, are_predicted = self._width or len(labels), self.predicted is not None
        reader = RowReader(self._request, self.scores, labels, width, self._is_single, are_predicted)
        texts, numbers = [self._request.label], list(dict.fromkeys([*self.scores, *self._weights]))
        if are_predicted:
            texts, numbers = [*texts, *self.scores], self._weights
        for number, file in enumerate(self._files[start.file :], start.file):
            first = start.row if number == start.file else 0
            for piece in cut(file.pieces(texts, numbers, first, size), first, size):
                end = Position(number, piece.first + piece.table.num_rows)
                share = None
                if piece.share is not None:
                    share = float(before[number] + piece.share * (before[number + 1] - before[number]))
                scores, codes, weights = reader.read(piece)
                arrays.warn_of_odd_row(piece.path, scores, piece.first)
                yield Batch(scores, codes, weights, end, share)


def _all_there(texts: Iterable[str | None]) -> list[str]:
    """The texts of a column of which none may be missing, which has been checked."""
    return [text for text in texts if text is not None]


def cut(pieces: Iterator[arrays.Piece], start: int, size: int) -> Iterator[arrays.Piece]:
    """The rows from `start` on in pieces of exactly `size` rows, the last perhaps shorter."""
    held: list[Any] = []
    first, n_held = start, 0
    for piece in pieces:
        table = piece.table.slice(max(0, start - piece.first))
        held += [table] if table.num_rows else []
        n_held += table.num_rows
        while n_held >= size:
            whole = _concatenate(held)
            yield piece._replace(table=whole.slice(0, size), first=first)
            first, n_held = first + size, n_held - size
            held = [whole.slice(size)] if n_held else []
    if held:
        yield piece._replace(table=_concatenate(held), first=first)


def _concatenate(tables: list[Any]) -> Any:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")


@contextmanager
def show_reading(name: str, *, wanted: bool | Reached | None = None) -> Iterator[Reached]:
    """What to call with the rows of a data set that were read, and their share if that is known.

    It is `wanted` if that can be called; otherwise it shows them, on terminals unless `wanted` says more.
    """
    if callable(wanted):
        yield wanted
        return
    end = printable(name).rstrip("/").rpartition("/")[2]
    shown = end if len(end) <= LONGEST_NAME else f"...{end[3 - LONGEST_NAME :]}"
    with RowProgress(f"reading {shown}", is_wanted=wanted) as progress:
        yield progress.reached


def open_stream(source: Any, scores: str | Sequence[str], request: Request, filesystem: Any = None) -> RowStream:
    """The rows of a source: path or paths, a data set or table of pyarrow, or an iterator of record batches."""
    paths = sources.read_paths(source)
    if paths is None:
        found = readers.wrap_rows(source)
        return RowStream(found.path, [found], scores, request)
    contents = [content for path in paths for content in sources.find_files(path, filesystem)]
    name = contents[0].name if len(contents) == 1 else paths[0] if len(paths) == 1 else f"{paths[0]} and others"
    return _open_files(name, contents, scores, request, whole=False)


def _open_files(
    name: str, contents: list[sources.Content], scores: str | Sequence[str], request: Request, *, whole: bool
) -> RowStream:
    files = [readers.open_rows(content, request, whole=whole) for content in contents]
    return RowStream(name, files, scores, request)


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
    weights, groups, folds
        A number and codes for each row, or None.
    by
        The texts of each column of slices, None where one is missing; with `runs`, of that column and of `row_id`.
    files
        The files that were read, each with its number of rows.
    predicted
        The column whose predicted labels the scores of the first model stand for, or None.
    """

    y_true: NDArray[Any]
    models: dict[str, NDArray[Any]]
    labels: list[str]
    weights: NDArray[Any] | None
    groups: NDArray[Any] | None
    folds: NDArray[Any] | None
    by: dict[str, NDArray[Any]]
    files: list[tuple[sources.Content, int]]
    predicted: str | None = None


def read_predictions(request: Request) -> Predictions:
    """Read all rows of the files."""
    first: _Rows | None = None
    models: dict[str, NDArray[Any]] = {}
    files: list[tuple[sources.Content, int]] = []
    for path, same in groupby(request.sources.items(), key=lambda item: item[1].path):
        contents = sources.find_files(path, whole=True)
        order = None
        for k, (model, source) in enumerate(same):
            name = contents[0].name if len(contents) == 1 else path
            stream = _open_files(name, contents, source.scores, request, whole=True)
            rows = _Rows(stream, request)
            if k == 0:
                files += zip(contents, rows.sizes.tolist(), strict=True)
            first = first or rows
            rows.refuse_other_labels(first)
            if k == 0 and rows is not first:
                order = rows.align(first)
            scores = rows.scores if order is None else rows.scores[order]
            models[model] = scores[:, 0] if scores.shape[1] == 1 else scores
    if first is None:
        raise ValueError("no file to read was given")
    if request.absent == "raise":
        first.stream.refuse_absent(first.labels, np.bincount(first.codes, minlength=len(first.labels)))
    codes_of = {
        option: None if name is None else first.read_texts(option, name)[0]
        for option, name in (("groups", request.groups), ("folds", request.folds))
    }
    keys = [] if request.runs is None else [("runs", request.runs), ("row_id", request.row_id)]
    by = {}
    for option, name in [*(("by", name) for name in request.by), *keys]:
        if name is not None:
            codes, texts = first.read_texts(option, name)
            by[name] = texts[codes]
    y_true = np.array(first.labels, dtype=object)[first.codes]
    return Predictions(
        y_true, models, first.labels, first.weights, **codes_of, by=by, files=files, predicted=first.stream.predicted
    )


class _Rows:
    """All rows of some files: those of a stream, one below the other."""

    def __init__(self, stream: RowStream, request: Request) -> None:
        self.stream = stream
        self._request = request
        self.labels = stream.labels()
        self.sizes = np.zeros(len(stream.contents), dtype=np.int64)
        batches = []
        with show_reading(stream.path) as reached:
            reached(0, 0.0)
            for batch in stream.batches(self.labels, MOST_ROWS, BEGINNING):
                batches.append(batch)
                self.sizes[batch.end.file] = batch.end.row
                reached(int(self.sizes.sum()), batch.share)
        if not batches:
            raise stream.no_rows()
        self.codes = np.concatenate([batch.codes for batch in batches])
        self.scores = np.concatenate([batch.scores for batch in batches])
        weights = [batch.weights for batch in batches if batch.weights is not None]
        self.weights = np.concatenate(weights) if weights else None
        self._ids: list[str] | None = None
        if request.row_id is not None and request.runs is None:  # each run has all ids
            codes, texts = self.read_texts("row_id", request.row_id)
            self._ids = np.array([columns.drop_zeros(text) for text in texts], dtype=object)[codes].tolist()
            seen: set[str] = set()
            for row, key in enumerate(self._ids):
                if key in seen:
                    raise ValueError(f"{self._place(row, request.row_id)}: {key!r} is there twice")
                seen.add(key)

    def read_texts(self, option: str, name: str) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """The texts of the column of an option, as `RowStream.texts` has them; only slices may lack one."""
        columns.require_columns(self.stream, [name], self._request.option(option))
        return self.stream.texts(name, may_be_missing=option == "by")

    def _place(self, row: int, column: str) -> str:
        """Where a cell is, in words."""
        ends = np.cumsum(self.sizes)
        file = int(np.searchsorted(ends, row, side="right"))
        row -= int(ends[file] - self.sizes[file])
        return f"{self.stream.contents[file].name}: column {column!r}, row {row + 1}"

    def align(self, first: _Rows) -> NDArray[np.intp] | None:
        """The order that makes these the rows of the first file; None if they are in that order."""
        order = None
        if self._ids is not None and first._ids is not None:
            place = {key: row for row, key in enumerate(self._ids)}
            missing = next((key for key in first._ids if key not in place), None)
            if missing is not None or len(place) != len(first._ids):
                absent = missing if missing is not None else next(iter(set(place).difference(first._ids)))
                lacks, has = (self, first) if missing is not None else (first, self)
                key = f"{self._request.option('row_id')} {absent!r}"
                raise ValueError(f"{lacks.stream.path}: no row with {key}, which {has.stream.path} has")
            order = np.array([place[key] for key in first._ids], dtype=np.intp)
        rule = f"models are compared on the same rows ({self._request.option('row_id')} matches them)"
        if len(self.codes) != len(first.codes):
            sizes = f"{pluralize(len(self.codes), 'row')}, {first.stream.path} has {len(first.codes)}"
            raise ValueError(f"{self.stream.path}: {sizes}; {rule}")
        codes = self.codes if order is None else self.codes[order]
        differs = codes != first.codes
        if differs.any():
            row = int(np.argmax(differs))
            place_of_row = self._place(row if order is None else int(order[row]), self._request.label)
            own, other = self.labels[codes[row]], first.labels[first.codes[row]]
            raise ValueError(f"{place_of_row}: {own!r}, but {first.stream.path} has {other!r}; {rule}")
        return order

    def refuse_other_labels(self, first: _Rows) -> None:
        """Raise unless the columns are for the same classes as those of the first model."""
        if self.labels != first.labels:
            raise ValueError(
                f"{self.stream.path}: the score columns are for {listing(self.labels)}, those of {first.stream.path} "
                f"for {listing(first.labels)}; models are compared on the same classes in the same order"
            )
