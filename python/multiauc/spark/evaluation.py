"""The metrics of a data frame of Spark."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from multiauc._common.hints import with_hints
from multiauc._common.wording import one_of
from multiauc._input.options import positive_integer, read_metrics
from multiauc._input.sample import ABSENT_POLICIES
from multiauc.spark._columns import ONLY, read_columns
from multiauc.spark._passes import collected_states, exact_evaluations
from multiauc.spark.slices import SliceEvaluations
from multiauc.streaming import Accumulator
from multiauc.streaming.accumulator import DEFAULT_MEMORY, DEFAULT_METRICS, STREAMED_METRICS

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from multiauc._common.types import Absent, Outputs
    from multiauc.spark._columns import Layout
    from multiauc.spark._paired import PairedSample
    from multiauc.streaming import CertifiedEvaluation

#: States that only say where to split, and have the standard errors.
EXACT_MEMORY = 16 * 2**20
#: Those of slices, of which there may be many.
SLICE_MEMORY = 4 * 2**20


@with_hints
def evaluate(  # noqa: PLR0913
    df: DataFrame,
    *,
    label: str,
    scores: str | Sequence[str],
    weight: str | None = None,
    exact: bool = True,
    metrics: Sequence[str] | None = None,
    labels: Sequence[Hashable] | None = None,
    by: str | Sequence[str] | None = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    memory: int | None = None,
) -> CertifiedEvaluation | SliceEvaluations:
    r"""AUC_mu, Hand & Till's M and one-vs-rest of the rows of a Spark data frame, without collecting them.

    The first pass counts the rows into states of bounded size (`multiauc.streaming.Accumulator`), which are merged in
    a tree. They have certain bounds, standard errors, and say how many rows of each class lie in which range of scores.
    With `exact` a second pass packs the keys of the rows by range, each range is counted by one task, and

    .. math:: U_{cd} = \sum_r \Bigl( U_{cd}^{(r)} + n_c^{(r)} \sum_{q < r} n_d^{(q)} \Bigr)

    adds up what is won within and between ranges: the values are those of `multiauc.evaluate`, bit for bit.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Its rows are read twice with `exact`, so they must be the same each time: use ``df.persist()`` if they are
        random, or take long to compute.
    label : str
        The column with the class of each row: strings, or numbers such as the indices of ``StringIndexer``.
    scores : str or sequence of str
        The scores: one column of arrays or of vectors (``"probability"`` of Spark's classifiers), a pattern of columns
        whose star stands for the class (``"p_*"``), or names of columns. One column of numbers is the score of the
        second of two classes.
    weight : str, optional
        The column with the weight of each row. There is no second pass with weights: exact values need a state that
        holds all distinct scores.
    exact : bool, default True
        Whether to go through the rows again until the values are exact. Otherwise they lie between certain bounds.
    metrics : sequence of str, default ("auc_mu", "hand_till", "one_vs_rest")
        What to compute; fewer take less time and send less between machines.
    labels : sequence of labels, optional
        The classes in the order of the scores. By default what the star of a pattern stands for, or the names of the
        columns, or 0, 1, ... for arrays, vectors and labels that are numbers.
    by : str or sequence of str, optional
        Columns whose values are slices; each slice is evaluated apart.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do about classes without rows, as in `multiauc.evaluate`.
    outputs : {"logits"} or None, default None
        "logits" if the scores are logits, whose softmax is then taken row by row, as in `multiauc.evaluate`.
    memory : int, optional
        About how many bytes a state may take: 64 MiB by default, 16 MiB where a second pass counts, 4 MiB with `by`.

    Returns
    -------
    CertifiedEvaluation or SliceEvaluations
        The metrics with bounds, standard errors and intervals; with `by`, those of each slice.

    Raises
    ------
    ValueError
        If rows have no label, score or weight, or one that cannot be: the message names the column.

    See Also
    --------
    compare : Several models on the same rows.
    MulticlassAucEvaluator : The same for Spark's ``CrossValidator``.

    Notes
    -----
    The Python of the workers needs multiauc. Where ``PYSPARK_PYTHON`` is not set, importing this module sets it to the
    interpreter in use.

    References
    ----------
    .. [1] R. Kleiman and D. Page, "AUC_mu: A performance metric for multi-class machine learning models", ICML 2019.
    .. [2] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for multiple class
       classification problems", Machine Learning 45 (2001), 171-186.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> import multiauc.spark
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [("ant", 0.7, 0.2, 0.1), ("bee", 0.2, 0.5, 0.3), ("cow", 0.3, 0.3, 0.4), ("ant", 0.4, 0.5, 0.1)]
    >>> df = spark.createDataFrame(rows, "label string, p_ant double, p_bee double, p_cow double")
    >>> multiauc.spark.evaluate(df, label="label", scores="p_*", metrics=["hand_till"]).hand_till.value
    0.9583333333333334
    """
    rows, layout = read_columns(df, label, {ONLY: scores}, weight, labels, by, outputs)
    found, _ = evaluated(rows, layout, metrics, absent, memory, exact=exact)
    if by is None:
        return found[ONLY, ()]
    return SliceEvaluations(layout.by, {values: result for (_, values), result in found.items()})


def evaluated(
    rows: DataFrame,
    layout: Layout,
    metrics: Sequence[str] | None,
    absent: str,
    memory: int | None,
    *,
    exact: bool,
) -> tuple[Mapping[tuple[str, tuple[str | None, ...]], CertifiedEvaluation], PairedSample | None]:
    """The evaluation of every model on every slice, and a sample of the rows if there are several models."""
    policy = one_of("absent", absent, ABSENT_POLICIES)
    wanted = read_metrics(DEFAULT_METRICS if metrics is None else metrics, STREAMED_METRICS)
    counts_ranges = exact and layout.weight is None
    if memory is None:
        memory = SLICE_MEMORY if layout.by else EXACT_MEMORY if counts_ranges else DEFAULT_MEMORY
        memory = max(memory, _least_memory(len(layout.labels), wanted))
    empty = Accumulator(layout.labels, metrics=wanted, memory=positive_integer("memory", memory))
    states, sample = collected_states(rows, layout, empty)
    if not states:
        raise ValueError("df has no rows")
    if layout.by:
        states = {unit: state for unit, state in states.items() if (state.counts > 0).sum() > 1}
    if counts_ranges:
        results = exact_evaluations(rows, layout, states, policy)
    else:
        results = {unit: state.evaluate(absent=policy) for unit, state in states.items()}
    if exact and not all(result.exact for result in results.values()):
        raise ValueError(
            f"exact=True with weight={layout.weight!r} needs states that hold all distinct scores, and memory={memory} "
            "is too little for that: give them more, or take certain bounds with exact=False"
        )
    return {_read_unit(unit): result for unit, result in sorted(results.items())}, sample


def _least_memory(n_classes: int, metrics: tuple[str, ...]) -> int:
    from multiauc import _rust  # noqa: PLC0415

    return _rust.StreamState.least_memory(n_classes, list(metrics))


def _read_unit(unit: str) -> tuple[str, tuple[str | None, ...]]:
    model, *values = json.loads(unit)
    return model, tuple(values)
