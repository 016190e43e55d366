"""Rows that lie in parts on several machines: what is asked of each part, and how the answers come together.

Knows Arrow tables and states, and no engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from multiauc._common.wording import listing, one_of
from multiauc._input import columns
from multiauc._input.sample import ABSENT_POLICIES
from multiauc._io.columns import holds_lists
from multiauc._io.predictions import BEGINNING, MOST_ROWS, RowStream
from multiauc._io.readers import TableRows
from multiauc._io.sources import NoRowsError
from multiauc.streaming import Accumulator

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from multiauc._common.types import Outputs
    from multiauc.streaming import BoundedEvaluation

#: How many summaries are merged at a time, because one machine may not hold all of them.
MERGED_AT_ONCE = 8


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
    metrics, memory_limit, outputs
        Those of the states.
    absent
        What to do about classes without rows in all parts.
    path
        What messages call all parts.
    """

    request: columns.ColumnRequest
    scores: str | list[str]
    found: list[str]
    labels: tuple[Hashable, ...] | None
    metrics: tuple[str, ...]
    memory_limit: int
    outputs: Outputs
    absent: str
    path: str

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        weights = [] if self.request.sample_weight is None else [self.request.sample_weight]
        return list(dict.fromkeys([self.request.label, *self.found, *weights]))

    def state(self, table: Any, place: str) -> Accumulator | None:
        """The state of the rows of a part, which messages call `place`; None if it has no rows."""
        if table.num_rows == 0:
            return None
        name, n_classes = self.found[0], len(self.request.labels or ())
        kind = table.schema.field(name).type
        if len(self.found) == 1 and n_classes != 2 and not holds_lists(kind):
            wanted = f"lists of {n_classes} scores, one for each of labels"
            raise ValueError(f"{place}: column {name!r} holds {kind}, not {wanted}")
        stream = RowStream(place, [TableRows(place, table)], self.scores, self.request)
        texts = stream.labels()
        labels = texts if self.labels is None else self.labels
        state = Accumulator(labels, metrics=self.metrics, memory_limit=self.memory_limit, outputs=self.outputs)
        for batch in stream.batches(texts, MOST_ROWS, BEGINNING):
            state.add(state.read_coded(*batch[:3]))
        return state

    def answer(self, states: Iterable[Accumulator | None]) -> BoundedEvaluation:
        """What is asked for in the end."""
        whole = merge_states(states)
        if whole is None:
            raise NoRowsError(f"{self.path}: there are no rows")
        return whole.evaluate(absent=self.absent)


def ask(  # noqa: PLR0913, PLR0917
    header: columns.Header,
    label: Any,
    scores: Any,
    sample_weight: Any,
    labels: Sequence[Hashable] | None,
    metrics: Sequence[str],
    memory_limit: int,
    outputs: Outputs = None,
    absent: Any = "raise",
) -> Question:
    """What users ask for, if the columns are there and the state can be made."""
    request = columns.read_request(label, sample_weight, labels)
    wanted = columns.read_wanted_scores(scores)
    columns.require_columns(header, [request.label], "label")
    found = columns.find_score_columns(header, wanted, request).names
    if request.sample_weight is not None:
        columns.require_columns(header, [request.sample_weight], "sample_weight")
    if len(found) == 1 and request.labels is None:
        raise ValueError(
            f"{header.path}: labels must name the classes in the order of the scores, which the one column of scores, "
            f"{found[0]!r}, does not"
        )
    if len(found) > 1 and request.labels is not None:
        columns.check_label_count(header, len(found), request)
    n_classes = len(found) if request.labels is None else len(request.labels)
    like = Accumulator(range(n_classes), metrics=metrics, memory_limit=memory_limit, outputs=outputs)
    known = None if labels is None else tuple(labels)
    policy = one_of("absent", absent, ABSENT_POLICIES)
    return Question(request, wanted, found, known, like.metrics, like.memory_limit, outputs, policy, header.path)


def merge_in_tree(states: list[Any], merge: Callable[[list[Any]], Any]) -> list[Any]:
    """States, or what stands for them, merged some at a time until they are few."""
    while len(states) > MERGED_AT_ONCE:
        states = [merge(states[start : start + MERGED_AT_ONCE]) for start in range(0, len(states), MERGED_AT_ONCE)]
    return states


def merge_states(states: Iterable[Accumulator | None]) -> Accumulator | None:
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
