"""Rows that lie in parts on several machines: what is asked of each part, and how the answers come together.

Knows Arrow tables and states, and no engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from multiauc._common.wording import listing
from multiauc._io.column_rules import given_classes, require, score_columns
from multiauc._io.columns import is_single
from multiauc._io.dataset import read_request, score_names
from multiauc._io.list_columns import holds_lists, spread
from multiauc._io.problems import NoRowsError
from multiauc._io.row_files import Piece
from multiauc._io.row_stream import BEGINNING, MOST_ROWS, RowStream
from multiauc.streaming import Accumulator

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from multiauc._common.types import Outputs
    from multiauc._io.predictions import Request

#: How many states are merged at a time, so that no machine holds all of them.
MERGED_AT_ONCE = 8


class Header(NamedTuple):
    """What has columns: what messages call it, and their names."""

    path: str
    names: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked of every part; it goes to other processes.

    Attributes
    ----------
    request
        The columns of labels and weights, and the classes if they were given.
    scores
        The pattern or the names of the columns of scores.
    found
        The columns of scores.
    labels
        The classes as the result has them, or None for their texts.
    metrics, memory, outputs
        Those of the states.
    """

    request: Request
    scores: str | list[str]
    found: list[str]
    labels: tuple[Hashable, ...] | None
    metrics: tuple[str, ...]
    memory: int
    outputs: Outputs

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        weights = [] if self.request.weights is None else [self.request.weights]
        return list(dict.fromkeys([self.request.label, *self.found, *weights]))

    def state(self, table: Any, place: str) -> Accumulator | None:
        """The state of the rows of a part, which messages call `place`; None if it has no rows."""
        if table.num_rows == 0:
            return None
        scores = self.scores
        if len(self.found) == 1:
            name, n_classes = self.found[0], len(self.request.classes or ())
            kind = table.schema.field(name).type
            if holds_lists(kind):
                table, scores = spread(place, table, name, n_classes)
            elif n_classes != 2:
                wanted = f"lists of {n_classes} scores, one for each of labels"
                raise ValueError(f"{place}: column {name!r} holds {kind}, not {wanted}")
        stream = RowStream(place, [TableRows(place, table)], scores, self.request, [1])
        texts = stream.labels()
        labels = texts if self.labels is None else self.labels
        state = Accumulator(labels, metrics=self.metrics, memory=self.memory, outputs=self.outputs)
        for batch in stream.batches(texts, MOST_ROWS, BEGINNING):
            state.add(state.read_coded(batch.scores, batch.codes, batch.weights))
        return state


class TableRows:
    """The rows of an Arrow table as those of a file; see `RowFile`."""

    is_once = False

    def __init__(self, path: str, table: Any) -> None:
        self.path = path
        self.names = list(table.schema.names)
        self._table = table

    def is_single(self, names: list[str]) -> bool:
        """Whether all of these columns are of single precision."""
        return all(is_single(self._table.schema.field(name).type) for name in names)

    def pieces(self, texts: list[str], numbers: list[str], start: int, size: int) -> Iterator[Piece]:  # noqa: ARG002
        """The columns that are asked for, as one piece."""
        yield Piece(0, self._table.select(list(dict.fromkeys([*texts, *numbers]))), 1.0)


def asked(
    header: Header,
    *,
    label: Any,
    scores: Any,
    weight: Any,
    labels: Sequence[Hashable] | None,
    metrics: Sequence[str],
    memory: int,
    outputs: Outputs = None,
) -> Question:
    """What users ask for, if the columns are there and the state can be made."""
    request = read_request(label, weight, labels)
    pattern = score_names(scores)
    require(header, [request.label], "label")
    found = score_columns(header, pattern, request).names
    if request.weights is not None:
        require(header, [request.weights], "weight")
    if len(found) == 1 and request.classes is None:
        raise ValueError(
            f"{header.path}: labels must name the classes in the order of the scores, which the one column of scores, "
            f"{found[0]!r}, does not"
        )
    if len(found) > 1 and request.classes is not None:
        given_classes(header, len(found), request)
    n_classes = len(found) if request.classes is None else len(request.classes)
    like = Accumulator(range(n_classes), metrics=metrics, memory=memory, outputs=outputs)
    known = None if labels is None else tuple(labels)
    return Question(request, pattern, found, known, like.metrics, like.memory, outputs)


def bundles(states: list[Any]) -> list[list[Any]]:
    """States, or what stands for them, as many together as are merged at a time."""
    return [states[start : start + MERGED_AT_ONCE] for start in range(0, len(states), MERGED_AT_ONCE)]


def merged(states: Iterable[Accumulator | None]) -> Accumulator | None:
    """One state of the rows of all, which stay as they are; None if none has rows."""
    whole: Accumulator | None = None
    for state in states:
        if state is None:
            continue
        if whole is None:
            whole = state.copy()
            continue
        if state.labels != whole.labels:
            raise ValueError(
                f"the names of the columns of scores can be read as the classes {listing(whole.labels)} or "
                f"{listing(state.labels)}, and some parts of the rows have the former, others the latter; name the "
                "classes in the order of the columns with labels"
            )
        whole.merge(state)
    return whole


def rows_of(state: Accumulator | None, path: str) -> Accumulator:
    """A state that has rows."""
    if state is None:
        raise NoRowsError(f"{path}: there are no rows")
    return state
