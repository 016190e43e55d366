"""Files and batches larger than memory: `evaluate_dataset`."""

from __future__ import annotations

import operator
import os
import time
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import pyarrow as pa  # noqa: F401 - readers need it
except ImportError:
    raise ImportError("evaluate_dataset needs pyarrow; install it with: pip install pyarrow") from None

from multiauc._common.hints import warn, with_hints
from multiauc._common.wording import describe_type, listing, one_of, pluralize
from multiauc._input.columns import read_request, read_wanted_scores
from multiauc._input.options import read_metrics
from multiauc._input.probabilities import NOT_PROBABILITIES, read_outputs, sum_to_one
from multiauc._input.sample import ABSENT_POLICIES
from multiauc._io.checkpoint import Checkpoint, hold_back_interrupts
from multiauc._io.predictions import BEGINNING, Position, Request, open_stream, show_reading
from multiauc.streaming import DEFAULT_METRICS, STREAMED_METRICS, Accumulator, evaluate_exactly

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from os import PathLike

    from multiauc import _rust
    from multiauc._common.types import Absent, Outputs
    from multiauc._io.checkpoint import Saved
    from multiauc._io.predictions import Batch, Reached, RowStream
    from multiauc.streaming import BoundedEvaluation

MEMORY_LIMIT = 2**30
# The interpreter with NumPy and Arrow alone takes up about half of this.
LEAST_MEMORY = 2**28
# What predicted labels suffice for in pieces.
STREAMED_DECISIONS = ("accuracy",)


@with_hints
def evaluate_dataset(  # noqa: PLR0913
    source: Any,
    *,
    label: str,
    scores: str | Sequence[str] | None = None,
    sample_weight: str | None = None,
    labels: Sequence[Hashable] | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    absent: Absent = "raise",
    outputs: Outputs = None,
    clip: float | None = None,
    k: int | None = None,
    exact: bool = False,
    memory_limit: int = MEMORY_LIMIT,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Callable[[int, float | None], object] | None = None,
    filesystem: Any = None,
) -> BoundedEvaluation:
    r"""AUC_mu, Hand & Till's M and one-vs-rest of predictions in files of any size, in bounded memory.

    Rows are read in pieces, only the columns that are needed, and counted into a state of bounded size (see
    `multiauc.streaming.Accumulator`). If it can hold all distinct scores, the result is exact, and says so. Afterwards
    scores that are close share a bin, and every metric comes with limits between which its exact value lies, always:
    only the order of rows within a bin is not known,

    .. math::
        U_{cd}^{\text{low}} = \frac{\text{pairs of rows in the right order for sure}}{n_c n_d}, \qquad
        U_{cd}^{\text{high}} = U_{cd}^{\text{low}} + \frac{\text{pairs of rows that share a bin}}{n_c n_d}.

    Parameters
    ----------
    source : path, sequence of paths, pyarrow data set or table, or iterator of record batches
        Parquet, Arrow/Feather, CSV or TSV files (also gzipped): a path, a pattern (``"parts/*.parquet"``), a folder, or
        the address of any of these in an object store (``"s3://bucket/predictions"``), which pyarrow opens. A folder
        stands for the data files in it; where there are none, for those of its subfolders, and a subfolder called
        ``day=3`` is then a column ``day``.
    label : str
        The column with the class of each row.
    scores : str or sequence of str, optional
        The columns with the scores: a pattern whose star stands for the class, such as ``"p_*"``, or names. By default
        ``"p_*"`` or ``"y_score"``, else the columns called after the classes, else the one column of lists, or of
        numbers: the score of the second of two classes. A column of labels holds predictions, and the result is then
        their accuracy and confusion matrix.
    sample_weight : str, optional
        The column with the weight of each row.
    labels : sequence of labels, optional
        The classes in the order of the columns, or of columns that are named by them in any order; labels are compared
        as text. By default the names of the columns, or
        the sorted labels of the rows for one column, which takes a pass over the column of labels.
    metrics : sequence of str, default ("auc_mu", "hand_till", "one_vs_rest")
        What to compute; fewer take less time, and leave more memory for each. ``"one_vs_rest_prevalence"`` comes with
        ``"one_vs_rest"``.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do about classes without rows, as in `evaluate`.
    outputs : {"logits"} or None, default None
        "logits" if the scores are logits, whose softmax is then taken row by row, as in `evaluate`.
    clip, k
        Options of log loss and top-k accuracy, as in `evaluate`.
    exact : bool, default False
        Whether to read the rows again, as often as it takes, until the values are those of `evaluate` bit for bit. Not
        with weights, whose sums are rounded.
    memory_limit : int, default 2**30
        How many bytes of memory the process may take up, about. More means narrower limits, or fewer passes.
    checkpoint : path, optional
        A file that keeps what has been found so far. If the work is stopped, at whatever moment, the same call goes on
        there and gives the identical answer; when it is done, the same call gives the answer at once. A damaged one is
        not used, but the one before it (``.previous``), with a warning.
    progress : bool or callable, optional
        Whether to draw how much has been read, the rows per second and the time left on standard error; by default if
        that is a terminal. A callable is called with the number of rows done and their share, or None where that is
        not known.
    filesystem : pyarrow or fsspec file system, optional
        Where paths are, if their addresses are not enough.

    Returns
    -------
    BoundedEvaluation
        For each metric `value`, `low` and `high` (the exact value lies between), `exact`, `standard_error` and
        `confidence_interval()`.

    See Also
    --------
    evaluate : Rows that fit into memory.
    multiauc.streaming.Accumulator : Rows that come one batch after the other, on one machine or many.

    Notes
    -----
    Needs pyarrow (``pip install pyarrow``). Labels are text in the result unless `labels` says otherwise. Of a
    Parquet file no more is in memory than a batch of rows; a record batch of an Arrow file is read as a whole.

    References
    ----------
    .. [1] R. Kleiman and D. Page, "AUC_mu: A performance metric for multi-class machine learning models", ICML 2019.
    .. [2] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for multiple class
       classification problems", Machine Learning 45 (2001), 171-186.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["cat", "dog", "eel"], size=300)
    >>> p = rng.random((300, 3)) + 0.5 * (y[:, None] == ["cat", "dog", "eel"])
    >>> table = pa.table({"y": y, "p_cat": p[:, 0], "p_dog": p[:, 1], "p_eel": p[:, 2]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parquet.write_table(table, f"{folder}/big.parquet")
    ...     result = multiauc.evaluate_dataset(f"{folder}/*.parquet", label="y", scores="p_*")
    >>> result
    Evaluation of 300 rows, 3 classes (cat 90, dog 95, eel 115)
                                  value  guaranteed bounds  std. error      95% interval
    AUC_mu                       0.9584              exact      0.0077  0.9385 to 0.9720
    Hand & Till's M              0.8817              exact      0.0114  0.8563 to 0.9032
    one-vs-rest (macro)          0.8817              exact      0.0115  0.8565 to 0.9029
    one-vs-rest (prevalence)     0.8800              exact      0.0116  0.8546 to 0.9015
    each class against the rest
      cat                        0.8938              exact      0.0194  0.8482 to 0.9268
      dog                        0.8909              exact      0.0191  0.8465 to 0.9237
      eel                        0.8603              exact      0.0207  0.8141 to 0.8964
    """
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress must be None, True, False or a callable; got {describe_type(progress)}")
    columns = read_request(label, sample_weight, labels)
    request = DatasetRequest(
        **{name: getattr(columns, name) for name in ("label", "labels", "sample_weight")},
        absent=one_of("absent", absent, ABSENT_POLICIES),
        outputs=read_outputs(outputs),
        may_predict=True,
        classes=None if labels is None else tuple(labels),
        metrics=read_metrics(metrics, STREAMED_METRICS),
        clip=clip,
        k=k,
        exact=bool(exact),
        memory_limit=read_memory_limit(memory_limit),
        checkpoint=checkpoint,
        progress=progress,
    )
    asked = () if metrics is DEFAULT_METRICS else request.metrics
    found, stream = evaluate_source(source, read_wanted_scores(scores), request, asked, filesystem)
    if stream.predicted is not None and not asked:
        warn(describe_predicted(stream.predicted), RuntimeWarning)
    return found


def read_decision_metrics(
    column: str, asked: Sequence[str], possible: Sequence[str], request: Request
) -> tuple[str, ...]:
    """The metrics of a column of predicted labels: those that are asked for, if they are possible, or all that are."""
    problem = next((request.option("metrics", metric) for metric in asked if metric not in possible), None)
    if request.absent != "raise":
        problem = request.option("absent", request.absent)
    if problem is not None:
        suffice = f"holds predicted labels, which suffice for {listing(possible)}"
        raise ValueError(f"{problem} needs scores, and column {column!r} {suffice}")
    return tuple(asked or possible)


def describe_predicted(column: str) -> str:
    """What to know about metrics of predicted labels."""
    return f"column {column!r} holds predicted labels: these are metrics of decisions; AUCs need a score for each class"


def read_memory_limit(memory_limit: Any) -> int:
    """A number of bytes that suffices."""
    try:
        found = operator.index(memory_limit)
    except TypeError:
        raise TypeError(f"memory_limit must be a number of bytes, such as 2**30; got {memory_limit!r}") from None
    if found < LEAST_MEMORY:
        least = f"{LEAST_MEMORY} (256 MiB), because Python with NumPy and Arrow takes up half of that"
        raise ValueError(f"memory_limit must be at least {least}; got {memory_limit!r}")
    return found


# Of the limit, the share of the state and that of the scores of a batch, which exists several times while it is read.
STATE_SHARE = 8
BATCH_SHARE = 32
# That of the rows that a pass of exact counting gathers.
PASS_SHARE = 8


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DatasetRequest(Request):
    """What to read in pieces, and how to evaluate it.

    Attributes
    ----------
    classes
        The classes as the result has them, or None for their texts.
    metrics, clip, k
        What to compute.
    exact
        Whether to read the rows again until nothing is left uncertain.
    memory_limit
        In bytes, of the whole process.
    checkpoint
        Where to keep what has been found, or None.
    progress
        Whether to show how far it is (None for terminals only), or what to call with the rows and the share done.
    on_resume
        What to call with the number of rows that a checkpoint has kept, if the work goes on from one.
    on_note
        What to call with what is to be known before the numbers are used.
    """

    classes: tuple[Hashable, ...] | None = None
    metrics: tuple[str, ...]
    clip: float | None = None
    k: int | None = None
    exact: bool = False
    memory_limit: int
    checkpoint: str | PathLike[str] | None = None
    progress: bool | Reached | None = None
    on_resume: Callable[[int], object] | None = None
    on_note: Callable[[str], object] | None = None


def evaluate_source(
    source: Any, scores: str | Sequence[str], request: DatasetRequest, asked: tuple[str, ...], filesystem: Any = None
) -> tuple[BoundedEvaluation, RowStream]:
    """Read and evaluate the rows of a source, and return these, too.

    `asked` are the metrics that users named: the others are computed if the rows have scores.
    """
    stream = open_stream(source, scores, request, filesystem)
    if stream.predicted is not None:
        request = replace(request, metrics=read_decision_metrics(stream.predicted, asked, STREAMED_DECISIONS, request))
    if request.exact:
        refuse_exact(stream, request)
    return _evaluate_stream(stream, request, _make_checkpoint(source, stream, request)), stream


def _evaluate_stream(stream: RowStream, request: DatasetRequest, checkpoint: Checkpoint | None) -> BoundedEvaluation:
    """Read all rows, or those that a checkpoint has not seen, and evaluate them."""
    run = _begin(stream, request, checkpoint)
    start = run.position
    size = stream.batch_rows(request.memory_limit // BATCH_SHARE)
    with show_reading(stream.path, wanted=request.progress) as reached:
        _read_rows(run, stream.batches(run.labels, size, start), request, checkpoint, reached)
    if run.n_rows == 0:
        raise stream.no_rows()
    if checkpoint is not None and run.position != start:
        run.save(checkpoint)
        checkpoint.finish()
    if request.absent == "raise":
        stream.refuse_absent(run.labels, run.accumulator.counts)
    found = run.accumulator.evaluate(absent=request.absent)
    if found.exact or not request.exact:
        return found
    passes = count(2)

    def read_again() -> Iterator[_rust.Sample]:
        with show_reading(f"{stream.path}, pass {next(passes)}", wanted=request.progress) as reached:
            n_rows = 0
            reached(0, 0.0)
            for batch in stream.batches(run.labels, size, BEGINNING):
                yield run.accumulator.read_coded(*batch[:3])
                n_rows += len(batch.codes)
                reached(n_rows, batch.share)

    return evaluate_exactly(read_again, run.accumulator, request.memory_limit // PASS_SHARE, request.absent)


def _read_rows(
    run: _Run, batches: Iterator[Batch], request: DatasetRequest, checkpoint: Checkpoint | None, reached: Reached
) -> None:
    """Count all rows; what was found is kept every now and then, and when Ctrl-C stops it."""
    n_kept, begun = run.n_rows, time.monotonic()
    note = None if request.outputs else request.on_note
    reached(run.n_rows, run.share)
    try:
        for batch in batches:
            if note is not None and len(batch.codes) and not sum_to_one(batch.scores):
                note(NOT_PROBABILITIES)
                note = None
            with hold_back_interrupts():  # a batch of which only some rows were counted could not be kept
                run.take(batch)
            reached(run.n_rows, run.share)
            # Also if it would be due before the next batch has been read, which takes about as long as this one.
            if checkpoint is not None and checkpoint.is_due(within=time.monotonic() - begun):
                run.save(checkpoint)
                n_kept = run.n_rows
            begun = time.monotonic()
    except KeyboardInterrupt:
        if checkpoint is None:
            raise
        if run.n_rows > n_kept:
            run.save(checkpoint)
        kept = f"after {pluralize(run.n_rows, 'row')}, kept in {checkpoint.path}: the same call goes on from there"
        none = "before the first rows were counted, so none are kept"
        raise KeyboardInterrupt(f"interrupted {kept if run.n_rows else none}") from None


def refuse_exact(stream: RowStream, request: Request) -> None:
    """Raise if the rows cannot be counted exactly in several passes."""
    exact = request.option("exact", value=True)
    if stream.is_once:
        raise ValueError(
            f"{exact} goes through the rows several times, and record batches of an iterator can be read only once; "
            "give paths, or a table or data set of pyarrow"
        )
    if request.sample_weight is not None:
        weights = request.option("sample_weight", request.sample_weight)
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
        self.accumulator.add(self.accumulator.read_coded(*batch[:3]))
        if batch.weights is not None:
            self.accumulator.settle()  # at the same places whether a checkpoint is written there or not
        self.position, self.share = batch.end, batch.share
        self.n_rows += len(batch.codes)

    def save(self, checkpoint: Checkpoint) -> None:
        """Keep what has been found."""
        settings, state = self.accumulator.to_parts()
        place = {"labels": self.labels, "position": list(self.position), "rows": self.n_rows, "share": self.share}
        checkpoint.save(place | {"settings": settings}, state)


def _begin(stream: RowStream, request: DatasetRequest, checkpoint: Checkpoint | None) -> _Run:
    """Where the reading begins: where a checkpoint says, or with the first row."""
    saved = None if checkpoint is None else checkpoint.load()
    settings = {name: getattr(request, name) for name in ("metrics", "outputs", "clip", "k")}
    settings["memory_limit"] = request.memory_limit // STATE_SHARE
    if checkpoint is None or saved is None:
        texts = stream.labels()
        return _Run(Accumulator(texts if request.classes is None else request.classes, **settings), texts)
    try:
        run = _read_run(saved)
        if any(getattr(run.accumulator, name) != value for name, value in settings.items()):
            raise ValueError("its state was made with other options")  # noqa: TRY301
    except (KeyError, TypeError, ValueError) as error:
        problem = f"this checkpoint is damaged: what it holds cannot be used ({error})"
        raise ValueError(f"{checkpoint.path}: {problem}; delete it to begin anew") from None
    if request.on_resume is not None:
        request.on_resume(run.n_rows)
    return run


def _read_run(saved: Saved) -> _Run:
    """How far the reading was; an error if the checkpoint holds something else."""
    place = saved.place
    state = Accumulator.from_parts(place["settings"], saved.state)
    labels, position, n_rows, share = (place[name] for name in ("labels", "position", "rows", "share"))
    are_whole = all(type(number) is int and number >= 0 for number in (*position, n_rows))
    if not saved.state or not are_whole or n_rows < state.n_rows or not (share is None or 0 <= share <= 1):
        raise ValueError("the place that it names is none")
    if not all(type(label) is str for label in labels) or len(labels) != len(state.labels):
        raise ValueError("its labels are not those of its state")
    return _Run(state, labels, Position(*position), n_rows, share)


def _make_checkpoint(source: Any, stream: RowStream, request: DatasetRequest) -> Checkpoint | None:
    """The checkpoint of an evaluation, if there is to be one."""
    if request.checkpoint is None:
        return None
    identity = stream.identity()
    if identity is None:
        raise ValueError(
            "checkpoint needs a source that can be identified and read again: files, or a data set of pyarrow that is "
            f"made of files; source is {describe_type(source)}"
        )
    names = ("label", "sample_weight", "labels", "metrics", "memory_limit", "outputs", "clip", "k")
    options = {"scores": stream.scores} | {name: getattr(request, name) for name in names}
    options = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}

    def why_not(name: str, theirs: Any, ours: Any) -> str:
        if name != "files":
            return f"was made with {request.option(name)} {_describe(theirs)}, not {_describe(ours)}"
        before, now = ([str(file[0]) for file in files] for files in (theirs, ours))
        if before != now:
            return f"was made from {_list_some(before)}, not from {_list_some(now)}"
        changed = next(str(file[0]) for file, old in zip(ours, theirs, strict=True) if file != old)
        return f"was made before {changed} was changed"

    return Checkpoint(Path(os.path.realpath(request.checkpoint)), identity | options, why_not)


def _list_some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {pluralize(len(names) - 1, 'other file')}"


def _describe(value: Any) -> str:
    if value is None:
        return "not given"
    return listing(value) if isinstance(value, list) else repr(value)
