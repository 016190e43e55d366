"""Files larger than memory: read in pieces, with answers that are exact or certified."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Never

from multiauc._hints import refuse_unknown
from multiauc._input.options import read_metrics
from multiauc._input.probabilities import read_outputs
from multiauc._input.sample import ABSENT_POLICIES
from multiauc._wording import described, one_of
from multiauc.streaming.accumulator import DEFAULT_METRICS, STREAMED_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from os import PathLike

    from multiauc._files.predictions import Request
    from multiauc._types import Absent, Outputs
    from multiauc.streaming import CertifiedEvaluation

MEMORY_LIMIT = 2**30
# The interpreter with NumPy and Arrow alone takes up about half of this.
LEAST_MEMORY = 2**28


def evaluate_dataset(  # noqa: PLR0913
    source: Any,
    *,
    label: str,
    scores: str | Sequence[str] | None = None,
    weight: str | None = None,
    labels: Sequence[Hashable] | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    absent: Absent = "raise",
    outputs: Outputs = None,
    exact: bool = False,
    memory_limit: int = MEMORY_LIMIT,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Callable[[int, float | None], object] | None = None,
    filesystem: Any = None,
    **unknown: Never,
) -> CertifiedEvaluation:
    r"""AUC_mu, Hand & Till's M and one-vs-rest of predictions in files of any size, in bounded memory.

    Rows are read in pieces, only the columns that are needed, and counted into a state of bounded size (see
    `multiauc.streaming.Accumulator`). While that has room for all distinct scores the answer is exact, and says so.
    Afterwards scores that are close share a bin, and every metric comes with limits between which its exact value lies,
    always: only the order of rows within a bin is not known,

    .. math::
        U_{cd}^{\text{low}} = \frac{\text{pairs of rows in the right order for certain}}{n_c n_d}, \qquad
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
        ``"p_*"`` or ``"y_score"``. One column is the score of the second of two classes.
    weight : str, optional
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
    CertifiedEvaluation
        For each metric `value`, `low` and `high` (the exact value lies between), `exact`, `standard_error` and
        `confidence_interval()`.

    See Also
    --------
    evaluate : Rows that fit into memory.
    multiauc.streaming.Accumulator : Rows that come one batch after the other, on one machine or many.

    Notes
    -----
    Needs pyarrow (``pip install multiauc[arrow]``). Labels are text in the result unless `labels` says otherwise. Of a
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
                                  value  certain bounds  std. error      95% interval
    AUC_mu                       0.9584           exact      0.0077  0.9385 to 0.9720
    Hand & Till's M              0.8817           exact      0.0114  0.8563 to 0.9032
    one-vs-rest (macro)          0.8817           exact      0.0115  0.8565 to 0.9029
    one-vs-rest (prevalence)     0.8800           exact      0.0116  0.8546 to 0.9015
    each class against the rest
      cat                        0.8938           exact      0.0194  0.8482 to 0.9268
      dog                        0.8909           exact      0.0191  0.8465 to 0.9237
      eel                        0.8603           exact      0.0207  0.8141 to 0.8964
    """
    refuse_unknown(evaluate_dataset, unknown)
    _require_pyarrow()
    from multiauc._dataset_runs import Plan, checkpoint_of, evaluated, refuse_exact  # noqa: PLC0415 - needs pyarrow
    from multiauc._files.streams import open_stream, source_identity  # noqa: PLC0415

    request = read_request(label, weight, labels)
    plan = Plan(
        labels=None if labels is None else tuple(labels),
        metrics=read_metrics(metrics, STREAMED_METRICS),
        memory_limit=read_memory_limit(memory_limit),
        absent=one_of("absent", absent, ABSENT_POLICIES),
        exact=bool(exact),
        progress=_read_progress(progress),
        outputs=read_outputs(outputs),
    )
    stream = open_stream(source, score_names(scores), request, filesystem)
    if exact:
        refuse_exact(stream, request)
    kept = None
    if checkpoint is not None:
        identity = source_identity(source, filesystem)
        if identity is None:
            raise ValueError(
                "checkpoint needs a source that can be told from others and read again: files, or a data set of "
                f"pyarrow that is made of files; source is {described(source)}"
            )
        kept = checkpoint_of(checkpoint, stream, request, plan, identity)
    return evaluated(stream, plan, kept)


def as_dataset_argument(option: str, value: str | None = None) -> str:
    """How messages about files name the arguments of `evaluate_dataset`, perhaps with a value."""
    name = {"classes": "labels", "weights": "weight"}.get(option, option)
    return name if value is None else f"{name}={value if option == 'exact' else repr(value)}"


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


def _require_pyarrow() -> None:
    try:
        import pyarrow as pa  # noqa: F401, PLC0415
    except ImportError:
        raise ImportError("evaluate_dataset needs pyarrow; install it with: pip install multiauc[arrow]") from None


def read_request(label: Any, weight: Any, labels: Sequence[Hashable] | None) -> Request:
    """The columns of labels and weights, and the classes if they are given."""
    from multiauc._files.predictions import Request  # noqa: PLC0415 - needs pyarrow

    return Request(
        sources={},
        label=read_column("label", label),
        classes=None if labels is None else label_texts(labels),
        weights=None if weight is None else read_column("weight", weight),
        spelled=as_dataset_argument,
    )


def read_column(option: str, name: Any) -> str:
    """The name of a column."""
    if not isinstance(name, str):
        raise TypeError(f"{option} must be the name of a column; got {described(name)}")
    return name


def score_names(scores: Any) -> str | list[str]:
    """A pattern or names of columns; an empty pattern for the usual ones."""
    if scores is None or isinstance(scores, str):
        return scores or ""
    try:
        names = list(scores)
    except TypeError:
        names = []
    if not names or not all(isinstance(name, str) for name in names):
        accepted = "a pattern such as 'p_*' or a sequence of names of columns"
        raise TypeError(f"scores must be {accepted}; got {described(scores)}")
    return names


def label_texts(labels: Sequence[Hashable]) -> tuple[str, ...]:
    """The classes as text, which is how labels of files are compared."""
    from multiauc._files.columns import as_text  # noqa: PLC0415 - needs pyarrow

    if isinstance(labels, str):
        raise TypeError(f"labels must be a sequence of classes; got {labels!r}")
    texts = tuple(as_text(getattr(label, "item", lambda label=label: label)()) for label in labels)
    twice = next((text for k, text in enumerate(texts) if text in texts[:k]), None)
    if twice is not None:
        raise ValueError(f"labels must differ as text, which is how labels of files are compared; two read {twice!r}")
    return texts


def _read_progress(progress: Any) -> Any:
    if progress is None or isinstance(progress, bool) or callable(progress):
        return progress
    raise TypeError(f"progress must be None, True, False or a callable; got {described(progress)}")
