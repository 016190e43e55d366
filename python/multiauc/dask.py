"""Multi-class AUC of Dask DataFrames, exact or with guaranteed bounds.

Needs Dask (``pip install 'dask[dataframe,distributed]' pyarrow``). Every partition becomes a
`multiauc.streaming.Accumulator` where it lies, and the accumulators, never the rows, are merged in a tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._common.hints import needs, with_hints
from multiauc._common.wording import describe_type
from multiauc._input.columns import Header
from multiauc.streaming import DEFAULT_MEMORY, DEFAULT_METRICS

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from dask.delayed import Delayed

    from multiauc._common.types import Absent, Outputs
    from multiauc._io.partitions import Question
    from multiauc.streaming import Accumulator

__all__ = ["evaluate"]

THE_FRAME = "the data frame"


@with_hints
def evaluate(  # noqa: PLR0913
    ddf: Any,
    *,
    label: str,
    scores: str | Sequence[str] | None = None,
    sample_weight: str | None = None,
    labels: Sequence[Hashable] | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    absent: Absent = "raise",
    outputs: Outputs = None,
    memory_limit: int = DEFAULT_MEMORY,
) -> Delayed:
    """AUC_mu, Hand & Till's M and one-vs-rest AUC of a Dask DataFrame, lazily.

    Nothing is read before ``.compute()``, and then only the columns that are needed.

    Parameters
    ----------
    ddf : dask.dataframe.DataFrame
        A row per prediction. Partitions may be empty, and need not hold every class.
    label : str
        The column with the class of each row. Labels are compared as text.
    scores : str or sequence of str, optional
        The columns with the scores: a pattern whose star stands for the class, such as ``"p_*"``, or names. By default
        ``"p_*"`` or ``"y_score"``. One column holds either lists, a score per class, or the score of the second of two
        classes; `labels` then names the classes.
    sample_weight : str, optional
        The column with the weight of each row.
    labels : sequence of labels, optional
        The classes in the order of the scores; columns named after the classes may be in any order. Default: the
        classes in the column names, as text.
    metrics : sequence of str, default ("auc_mu", "hand_till", "one_vs_rest")
        What to compute. ``"one_vs_rest_prevalence"`` comes with ``"one_vs_rest"``.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do about classes without rows in all of the data frame, as in `multiauc.evaluate`.
    outputs : {"logits"} or None, default None
        "logits" if the scores are logits; the softmax is applied to each row, as in `multiauc.evaluate`.
    memory_limit : int, default 64 MiB
        About how many bytes the accumulator of a partition may use. More memory gives narrower bounds.

    Returns
    -------
    dask.delayed.Delayed
        ``evaluate(...).compute()`` is a `multiauc.streaming.BoundedEvaluation`: for each metric `value`, `low` and
        `high` (the exact value lies between), `exact`, `standard_error` and `confidence_interval()`.

    See Also
    --------
    multiauc.evaluate_dataset : Files larger than memory, on one machine; with ``exact=True`` in several passes.
    multiauc.spark.evaluate : Exact values of any number of rows, in two passes.

    Notes
    -----
    Values are exact, and those of `multiauc.evaluate` bit for bit, while the distinct scores of all rows fit into
    `memory_limit`. The result does not depend on the partitions (with weights, up to 1e-12).

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import numpy as np
    >>> import pandas as pd
    >>> import multiauc.dask
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["cat", "dog", "eel"], size=300)
    >>> p = rng.random((300, 3)) + 0.5 * (y[:, None] == ["cat", "dog", "eel"])
    >>> frame = pd.DataFrame(p, columns=["p_cat", "p_dog", "p_eel"]).assign(y=y)
    >>> result = multiauc.dask.evaluate(dd.from_pandas(frame, npartitions=4), label="y")
    >>> result.compute().auc_mu
    Estimate(AUC_mu 0.9584, exact, standard error 0.0077, 95% interval 0.9385 to 0.9720)
    """
    delayed = _require_dask(ddf)
    from multiauc._io import partitions  # noqa: PLC0415 - needs pyarrow

    header = Header(THE_FRAME, [name for name in ddf.columns if isinstance(name, str)])
    question = partitions.ask(header, label, scores, sample_weight, labels, metrics, memory_limit, outputs, absent)
    parts = ddf[question.columns].to_delayed()
    states = [delayed(count_partition)(question, part, number) for number, part in enumerate(parts)]
    return delayed(question.answer)(partitions.merge_in_tree(states, delayed(partitions.merge_states)))


def count_partition(question: Question, frame: Any, number: int) -> Accumulator | None:
    """The state of the rows of a partition, which is a pandas data frame."""
    import pyarrow as pa  # noqa: PLC0415

    from multiauc._io.sources import reading  # noqa: PLC0415

    place = f"partition {number} of {THE_FRAME}"
    with reading(place, "a table"):
        table = pa.Table.from_pandas(frame, preserve_index=False)
    return question.state(table, place)


def _require_dask(ddf: Any) -> Any:
    """`dask.delayed`, if there is Dask, and a data frame of it."""
    with needs("multiauc.dask needs Dask DataFrame", "'dask[dataframe,distributed]' pyarrow"):
        import dask.dataframe as dd  # noqa: PLC0415
        from dask import delayed  # noqa: PLC0415
    if not isinstance(ddf, dd.DataFrame):
        raise TypeError(
            f"ddf must be a data frame of Dask; got {describe_type(ddf)}. dask.dataframe.from_pandas makes one of a "
            "pandas data frame, and multiauc.evaluate takes that as it is"
        )
    return delayed
