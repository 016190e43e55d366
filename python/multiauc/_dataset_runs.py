"""The work of `multiauc.evaluate_dataset` and of ``multiauc evaluate`` on files that are read in pieces."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multiauc._checkpoints import Checkpoint, held_back
from multiauc._files.problems import NoRowsError
from multiauc._files.row_stream import BEGINNING, Position
from multiauc._progress import RowProgress
from multiauc._wording import counted, listing, printable
from multiauc.streaming import Accumulator
from multiauc.streaming.passes import exact_evaluation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from multiauc._checkpoints import Saved
    from multiauc._files.predictions import Request
    from multiauc._files.row_stream import Batch, RowStream
    from multiauc._input.sample import SampleArguments
    from multiauc._types import Outputs
    from multiauc.streaming import CertifiedEvaluation

# Of the limit, the share of the state and that of the scores of a batch, which exists several times while it is read.
STATE_SHARE = 8
BATCH_SHARE = 32
# That of the rows that a pass of exact counting gathers.
PASS_SHARE = 8
# Characters of a name beside the bar of progress.
LONGEST_NAME = 24


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How to evaluate rows that are read in pieces.

    Attributes
    ----------
    labels
        The classes as the result has them, or None for their texts.
    metrics
        What to compute.
    memory_limit
        In bytes, of the whole process.
    absent
        What to do about classes without rows.
    exact
        Whether to read the rows again until nothing is left uncertain.
    progress
        Whether to show how far it is (None for terminals only), or what to call with the rows and the share done.
    on_resume
        What to call with the number of rows that a checkpoint has kept, if the work goes on from one.
    outputs
        What the scores are: "logits", or None to take them as they are.
    """

    labels: tuple[Hashable, ...] | None
    metrics: tuple[str, ...]
    memory_limit: int
    absent: str = "raise"
    exact: bool = False
    progress: bool | Callable[[int, float | None], object] | None = None
    on_resume: Callable[[int], object] | None = None
    outputs: Outputs = None


def evaluated(stream: RowStream, plan: Plan, checkpoint: Checkpoint | None) -> CertifiedEvaluation:
    """Read all rows, or those that a checkpoint has not seen, and evaluate them."""
    run = _begun(stream, plan) if checkpoint is None else _resumed(stream, plan, checkpoint)
    start = run.position
    size = stream.batch_rows(plan.memory_limit // BATCH_SHARE)
    with _telling(plan, stream.path) as reached:
        reached(run.n_rows, run.share)
        batches = stream.batches(run.labels, size, start)
        if checkpoint is None:
            for batch in batches:
                run.take(batch)
                reached(run.n_rows, run.share)
        else:
            _read_keeping(run, batches, checkpoint, reached)
    if run.n_rows == 0:
        raise NoRowsError(f"{stream.path}: there are no rows")
    if checkpoint is not None and run.position != start:
        checkpoint.save(run.place(), run.accumulator.to_bytes())
        checkpoint.finish()
    if plan.absent == "raise":
        stream.refuse_absent(run.labels, run.accumulator.counts)
    if not plan.exact:
        return run.accumulator.evaluate(absent=plan.absent)
    return _exact_passes(lambda: stream.batches(run.labels, size, BEGINNING), run.accumulator, plan, stream.path)


def _read_keeping(
    run: _Run, batches: Iterator[Batch], checkpoint: Checkpoint, reached: Callable[[int, float | None], object]
) -> None:
    """Read all rows and keep what was found, every now and then and when Ctrl-C stops it."""
    n_kept, begun = run.n_rows, time.monotonic()
    try:
        for batch in batches:
            with held_back():  # a batch of which only some rows were counted could not be kept
                run.take(batch)
            reached(run.n_rows, run.share)
            # Also if it would be due before the next batch has been read, which takes about as long as this one.
            if checkpoint.is_due(within=time.monotonic() - begun):
                checkpoint.save(run.place(), run.accumulator.to_bytes())
                n_kept = run.n_rows
            begun = time.monotonic()
    except KeyboardInterrupt:
        if run.n_rows > n_kept:
            checkpoint.save(run.place(), run.accumulator.to_bytes())
        if not run.n_rows:
            raise KeyboardInterrupt("interrupted before the first rows were counted, so none are kept") from None
        kept = f"interrupted after {counted(run.n_rows, 'row')}, kept in {checkpoint.path}"
        raise KeyboardInterrupt(f"{kept}: the same call goes on from there") from None


def refuse_exact(stream: RowStream, request: Request) -> None:
    """Raise if the rows cannot be counted exactly in several passes."""
    exact = request.spelled("exact", "True")
    if stream.is_once:
        raise ValueError(
            f"{exact} goes through the rows several times, and record batches of an iterator can be read only once; "
            "give paths, or a table or data set of pyarrow"
        )
    if request.weights is not None:
        weights = request.spelled("weights", request.weights)
        raise ValueError(
            f"{exact} counts rows, and {weights} gives them weights, whose sums are rounded: drop one of them"
        )


@dataclass(slots=True, eq=False)
class _Run:
    """How far the reading is.

    Attributes
    ----------
    accumulator
        What has been found.
    labels
        The classes as text, in the order of the columns.
    position
        The place behind the rows that have been read.
    n_rows, share
        How many they are, also as a share of all.
    """

    accumulator: Accumulator
    labels: list[str]
    position: Position = BEGINNING
    n_rows: int = 0
    share: float | None = 0.0

    def take(self, batch: Batch) -> None:
        """Add the rows that come next."""
        self.accumulator.add(self.accumulator.read_coded(batch.scores, batch.codes, batch.weights))
        if batch.weights is not None:
            self.accumulator.settle()  # at the same places whether a checkpoint is written there or not
        self.position, self.share = batch.end, batch.share
        self.n_rows += len(batch.codes)

    def place(self) -> dict[str, Any]:
        """What a checkpoint keeps beside the state."""
        return {"labels": self.labels, "position": list(self.position), "rows": self.n_rows, "share": self.share}


def _begun(stream: RowStream, plan: Plan) -> _Run:
    texts = stream.labels()
    labels = texts if plan.labels is None else plan.labels
    memory = plan.memory_limit // STATE_SHARE
    return _Run(Accumulator(labels, metrics=plan.metrics, memory=memory, outputs=plan.outputs), texts)


def _resumed(stream: RowStream, plan: Plan, checkpoint: Checkpoint) -> _Run:
    saved = checkpoint.load()
    if saved is None:
        return _begun(stream, plan)
    try:
        run = _run_of(saved)
        fits = run.accumulator.metrics == plan.metrics and run.accumulator.memory == plan.memory_limit // STATE_SHARE
    except (KeyError, TypeError, ValueError) as error:
        problem = f"what it holds cannot be used ({error})"
    else:
        if fits:
            if plan.on_resume is not None:
                plan.on_resume(run.n_rows)
            return run
        problem = "its state was made with other options"
    raise ValueError(f"{checkpoint.path}: this checkpoint is damaged: {problem}; delete it to begin anew")


def _run_of(saved: Saved) -> _Run:
    """How far the reading was; an error if the checkpoint holds something else."""
    place, state = saved.place, Accumulator.from_bytes(saved.state)
    labels, position, n_rows, share = (place[name] for name in ("labels", "position", "rows", "share"))
    are_whole = all(type(number) is int and number >= 0 for number in (*position, n_rows))
    if not are_whole or n_rows < state.n_rows or not (share is None or 0 <= share <= 1):
        raise ValueError("the place that it names is none")
    if not all(type(label) is str for label in labels) or len(labels) != len(state.labels):
        raise ValueError("its labels are not those of its state")
    return _Run(state, labels, Position(*position), n_rows, share)


def _exact_passes(
    open_batches: Callable[[], Iterator[Batch]], accumulator: Accumulator, plan: Plan, name: str
) -> CertifiedEvaluation:
    """Read the rows again, range of scores by range of scores, until nothing is uncertain."""
    found = accumulator.evaluate(absent=plan.absent)
    if found.exact:
        return found
    passes = count(2)

    def shown() -> Iterator[SampleArguments]:
        with _telling(plan, f"{name}, pass {next(passes)}") as reached:
            n_rows = 0
            reached(0, 0.0)
            for batch in open_batches():
                yield accumulator.read_coded(batch.scores, batch.codes, batch.weights)
                n_rows += len(batch.codes)
                reached(n_rows, batch.share)

    return exact_evaluation_of(shown, accumulator, plan.memory_limit // PASS_SHARE, plan.absent)


@contextmanager
def _telling(plan: Plan, name: str) -> Iterator[Callable[[int, float | None], object]]:
    """What to call with the rows and the share done, while the work goes on."""
    if callable(plan.progress):
        yield plan.progress
    else:
        with RowProgress(f"reading {_end_of(printable(name))}", is_wanted=plan.progress) as progress:
            yield progress.reached


def _end_of(name: str) -> str:
    """The end of a path, short enough for a line."""
    end = name.rstrip("/").rpartition("/")[2]
    return end if len(end) <= LONGEST_NAME else f"...{end[3 - LONGEST_NAME :]}"


def checkpoint_of(
    path: str | os.PathLike[str], stream: RowStream, request: Request, plan: Plan, identity: dict[str, Any]
) -> Checkpoint:
    """The checkpoint of an evaluation; `identity` tells its source from others."""
    options = {
        "label": request.label,
        "scores": list(stream.scores),
        "weights": request.weights,
        "classes": None if request.classes is None else list(request.classes),
        "metrics": list(plan.metrics),
        "memory_limit": plan.memory_limit,
        "outputs": plan.outputs,
    }

    def why_not(name: str, theirs: Any, ours: Any) -> str:
        if name == "files":
            return _why_other_files(theirs, ours)
        return f"was made with {request.spelled(name)} {_in_words(theirs)}, not {_in_words(ours)}"

    return Checkpoint(Path(os.path.realpath(path)), identity | options, why_not)


def _why_other_files(theirs: list[list[Any]], ours: list[list[Any]]) -> str:
    names = [[str(file[0]) for file in files] for files in (theirs, ours)]
    if names[0] != names[1]:
        return f"was made from {_some(names[0])}, not from {_some(names[1])}"
    changed = next(str(file[0]) for file, before in zip(ours, theirs, strict=True) if file != before)
    return f"was made before {changed} was changed"


def _some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {counted(len(names) - 1, 'other file')}"


def _in_words(value: Any) -> str:
    if value is None:
        return "not given"
    return listing(value) if isinstance(value, list) else repr(value)
