"""Exact metrics of rows that can be gone through several times, but do not fit into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multiauc import _rust

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multiauc.streaming.accumulator import Accumulator
    from multiauc.streaming.certified import CertifiedEvaluation


def evaluate_exactly(
    open_batches: Callable[[], Iterable[_rust.Sample]], accumulator: Accumulator, memory_limit: int, absent: str
) -> CertifiedEvaluation:
    """The exact metrics of the rows that an accumulator has seen.

    The accumulator says how many rows of each class lie in which range of scores. Rows of different ranges are in a
    known order; those of the same range are gathered and compared, as many ranges at a time as fit into memory.

    Parameters
    ----------
    open_batches
        Called for every pass: the same rows again, as `Accumulator.read` gives them, in any order and in batches of any
        size.
    accumulator
        What has seen all of them. Without weights.
    memory_limit
        About how many bytes to use for what is gathered.
    absent
        As in `Accumulator.evaluate`.
    """
    lattice = accumulator.state().lattice
    if lattice is not None:
        # Whether float32 scores are multiples of one fraction is known only when all have been seen, and decides which
        # differences tie: they are sorted into ranges again.
        again = accumulator.on_lattice(lattice)
        for batch in open_batches():
            again.add(batch)
        accumulator = again
    state = accumulator.state()
    counter = _rust.RangeCounter(state, memory_limit)
    while counter.begin_pass(memory_limit):
        for batch in open_batches():
            counter.update(batch)
        counter.end_pass()
    return accumulator.results(counter.answers(state), absent)
