"""Multi-class AUC of Ray data sets, exact or with guaranteed bounds.

Needs Ray Data (``pip install 'ray[data]' pyarrow``). Every block becomes a `multiauc.streaming.Accumulator` where it
lies, and the accumulators, never the rows, are merged in a tree of tasks.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from multiauc._common.hints import needs, with_hints
from multiauc._common.wording import describe_type
from multiauc._input.columns import Header
from multiauc.streaming import DEFAULT_MEMORY, DEFAULT_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from multiauc._common.types import Absent, Outputs
    from multiauc._io.partitions import Question
    from multiauc.streaming import Accumulator, BoundedEvaluation

__all__ = ["evaluate"]

THE_DATASET = "the data set"


@with_hints
def evaluate(  # noqa: PLR0913
    dataset: Any,
    *,
    label: str,
    scores: str | Sequence[str] | None = None,
    sample_weight: str | None = None,
    labels: Sequence[Hashable] | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    absent: Absent = "raise",
    outputs: Outputs = None,
    memory_limit: int = DEFAULT_MEMORY,
) -> BoundedEvaluation:
    """AUC_mu, Hand & Till's M and one-vs-rest AUC of a Ray Data dataset.

    The dataset is executed immediately, as by Ray's own aggregations, and streamed: blocks are released once they are
    counted.

    Parameters
    ----------
    dataset : ray.data.Dataset
        A row per prediction. Blocks may be empty, and need not hold every class.
    label : str
        The column with the class of each row. Labels are compared as text.
    scores : str or sequence of str, optional
        The columns with the scores: a pattern whose star stands for the class, such as ``"p_*"``, or names. By default
        ``"p_*"`` or ``"y_score"``. One column holds either tensors or lists, a score per class (such as batches of
        predictions of shape (n, K)), or the score of the second of two classes; `labels` then names the classes.
    sample_weight : str, optional
        The column with the weight of each row.
    labels : sequence of labels, optional
        The classes in the order of the scores; columns named after the classes may be in any order. Default: the
        classes in the column names, as text.
    metrics : sequence of str, default ("auc_mu", "hand_till", "one_vs_rest")
        What to compute. ``"one_vs_rest_prevalence"`` comes with ``"one_vs_rest"``.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do about classes without rows in all of the data set, as in `multiauc.evaluate`.
    outputs : {"logits"} or None, default None
        "logits" if the scores are logits; the softmax is applied to each row, as in `multiauc.evaluate`.
    memory_limit : int, default 64 MiB
        About how many bytes the accumulator of a block may use. More memory gives narrower bounds.

    Returns
    -------
    BoundedEvaluation
        For each metric `value`, `low` and `high` (the exact value lies between), `exact`, `standard_error` and
        `confidence_interval()`.

    See Also
    --------
    multiauc.evaluate_dataset : Files larger than memory, on one machine; with ``exact=True`` in several passes.
    multiauc.spark.evaluate : Exact values of any number of rows, in two passes.

    Notes
    -----
    Values are exact, and those of `multiauc.evaluate` bit for bit, while the distinct scores of all rows fit into
    `memory_limit`. The result does not depend on the blocks (with weights, up to 1e-12).

    Invalid rows raise a ValueError in this process once every block has been read, whatever
    ``DataContext.max_errored_blocks`` is: no block is ever skipped silently.

    Examples
    --------
    >>> import numpy as np
    >>> import ray
    >>> import multiauc.ray
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["cat", "dog", "eel"], size=300)
    >>> p = rng.random((300, 3)) + 0.5 * (y[:, None] == ["cat", "dog", "eel"])
    >>> dataset = ray.data.from_items([{"y": one, "p": row} for one, row in zip(y, p)], override_num_blocks=4)
    >>> result = multiauc.ray.evaluate(dataset, label="y", scores="p", labels=["cat", "dog", "eel"])
    >>> result.auc_mu
    Estimate(AUC_mu 0.9584, exact, standard error 0.0077, 95% interval 0.9385 to 0.9720)
    """
    ray = _require_ray(dataset)
    from multiauc._io import partitions, sources  # noqa: PLC0415 - need pyarrow

    schema = dataset.schema()
    if schema is None:
        raise sources.NoRowsError(f"{THE_DATASET}: there are no rows")
    header = Header(THE_DATASET, list(schema.names))
    question = partitions.ask(header, label, scores, sample_weight, labels, metrics, memory_limit, outputs, absent)
    counted = dataset.select_columns(question.columns).map_batches(
        count_block, batch_size=None, batch_format="pyarrow", fn_kwargs={"question": question}
    )
    merge = ray.remote(merge_answers)
    states = partitions.merge_in_tree(counted.to_arrow_refs(), lambda tables: merge.remote(*tables))
    return question.answer(_unpack(ray.get(states)))


def count_block(table: Any, question: Question) -> Any:
    """The state of the rows of a block, or what is wrong with them, as a table for Ray Data."""
    return _pack(lambda: question.state(table, f"a block of {THE_DATASET}"))


def merge_answers(*tables: Any) -> Any:
    """One state of the rows of all, or the first problem."""
    from multiauc._io.partitions import merge_states  # noqa: PLC0415 - needs pyarrow

    return _pack(lambda: merge_states(_unpack(tables)))


def _pack(find: Callable[[], Accumulator | None]) -> Any:
    """A table with one cell, a state or a problem.

    Problems are data: of an exception Ray would keep the text alone, or leave out the block if it was told to.
    """
    import pyarrow as pa  # noqa: PLC0415

    found: Accumulator | ValueError | None
    try:
        found = find()
    except ValueError as error:
        found = error
    return pa.table({"answer": pa.array([pickle.dumps(found)], pa.large_binary())})


def _unpack(tables: Iterable[Any]) -> Iterator[Accumulator | None]:
    """The states of tables; a problem is raised."""
    for table in tables:
        for cell in table["answer"] if len(table) else ():  # empty ones may have lost their column
            found = pickle.loads(cell.as_buffer())  # noqa: S301 - written by the tasks of this data set
            if isinstance(found, ValueError):
                raise found
            yield found


def _require_ray(dataset: Any) -> Any:
    """The module `ray`, if there is Ray Data, and a data set of it."""
    with needs("multiauc.ray needs Ray Data", "'ray[data]' pyarrow"):
        import ray  # noqa: PLC0415
        import ray.data  # noqa: PLC0415
    if not isinstance(dataset, ray.data.Dataset):
        raise TypeError(
            f"dataset must be a data set of Ray; got {describe_type(dataset)}. ray.data.from_pandas makes one of a "
            "pandas data frame, and multiauc.evaluate takes that as it is"
        )
    return ray
