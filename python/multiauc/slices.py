"""Slices of the data: how a model does on each region, device or age group, and whether that differs from the rest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from multiauc import _rust
from multiauc._column_order import column_order_note, warn_of_order
from multiauc._hints import refuse_unknown
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import (
    SAMPLINGS,
    read_groups,
    read_metric_options,
    refuse_idle_options,
    refuse_weights,
    take_one_score,
)
from multiauc._input.sample import read_ordered_sample, read_sample
from multiauc._input.slices import SliceColumns, read_slices
from multiauc._progress import Stage
from multiauc._registry import CLOSED_FORM_METRICS, DEFAULT_METRIC, METRICS, ONE_SCORE_METRICS
from multiauc._slice_tests import Side, SliceDifferences
from multiauc._wording import listing, one_of
from multiauc.estimates import estimate_of, estimate_without_error
from multiauc.slice_results import Slices, slices_in_order

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray

    from multiauc._input.sample import Sample
    from multiauc._registry import MetricName
    from multiauc._types import Absent, Labels, PairWeights, Sampling

REFERENCES = ("rest", "all")


def evaluate_slices(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike,
    by: Any,
    *,
    metric: MetricName = DEFAULT_METRIC,
    reference: Literal["rest", "all"] | None = "rest",
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sampling: Sampling = "stratified",
    labels: Labels = None,
    absent: Absent = "raise",
    **unknown: Never,
) -> Slices:
    r"""A metric on every slice of the rows, with intervals, and how much each slice differs from the rest.

    Every slice has the value, the standard error and the interval that `evaluate` gives to its rows alone. The
    difference :math:`d = \theta_s - \theta_r` from the rest of the rows, which has no row in common with it, has the
    variance :math:`V_s + V_r`; groups of rows that lie in both add :math:`-2 C`, C being the sum over groups of what
    the group adds to the error of the one times what it adds to the other. Its interval puts the logit intervals of
    both together [1]_, and the test inverts it. p-values are corrected for the number of slices, and agree with
    intervals that hold for all slices at once.

    Parameters
    ----------
    y_true, y_score
        As in `evaluate`.
    by : array-like of shape (n,), or a list, dict or data frame of several
        The slice of each row: strings, numbers, a categorical, anything hashable. Several columns cross: a slice is a
        combination of their values that occurs. Missing values (None, nan) are a slice of their own, called None.
    metric : str, default "auc_mu"
        What to compute: any metric of `evaluate`.
    reference : {"rest", "all"} or None, default "rest"
        What slices are compared with: the rows outside the slice, all rows (the slice included), or nothing.
    partition, pair_weights, sample_weight, groups, sampling, labels
        As in `evaluate`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows at all, as in `evaluate`. A slice without rows of some class is listed without
        a value, and with the reason; with "ignore" it has the value of the classes it has, and is not compared.

    Returns
    -------
    Slices
        With a row per slice, the one that is most surely worse first; `to_frame`, `plot`, `to_json`.

    See Also
    --------
    evaluate : The rows of one slice, with all that can be known of them.
    compare_samples : Two samples.

    Notes
    -----
    Values are those of `evaluate` on the rows of the slice, and on the rows of the rest, bit for bit (with weights to
    1e-12). The variance of the rest is exact where there are up to ten slices, and for the (up to 32) slices that have
    more than 1/32 of the rows of some class. For smaller ones it is made of what each row contributes to the metric on
    all rows: its standard error is then off by about as much as the slice's share of a class, that of the difference by
    about the square of it. The metrics "pdi", "hum", "landgrebe_duin" and "ordered_vus" are evaluated on the rest of
    every slice one by one, which takes the time of one evaluation for each.

    References
    ----------
    .. [1] R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven
       methods", Statistics in Medicine 17 (1998), 873-890.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.choice(["cat", "dog", "eel"], size=2000)
    >>> device = rng.choice(["phone", "tablet", "watch"], size=2000, p=[0.6, 0.3, 0.1])
    >>> noise = np.where(device == "watch", 3.0, 1.5)[:, None]
    >>> y_score = noise * rng.random((2000, 3)) + (y_true[:, None] == ["cat", "dog", "eel"])
    >>> slices = multiauc.evaluate_slices(y_true, y_score, {"device": device})
    >>> slices
    AUC_mu of 2000 rows by device: 0.9788 overall
            rows   value      95% interval  difference   95%, simultaneous  p (corrected)
    watch    197  0.8853  0.8410 to 0.9184     -0.1053  -0.1589 to -0.0672        <0.0001
    tablet   563  0.9881  0.9824 to 0.9919     +0.0127  +0.0034 to +0.0221         0.0061
    phone   1240  0.9917  0.9890 to 0.9937     +0.0342  +0.0219 to +0.0506        <0.0001
    Of 3 slices compared with the rest, 1 is worse and 2 are better (corrected p < 0.05).
    closed form, class sizes fixed; logit intervals with Student's t
    >>> slices.worse()
    ['watch']
    """
    refuse_unknown(evaluate_slices, unknown)
    name = one_of("metric", metric, (*CLOSED_FORM_METRICS, *ONE_SCORE_METRICS))
    if reference is not None:
        one_of("reference", reference, REFERENCES)
    refuse_idle_options((name,), partition=partition, pair_weights=pair_weights)
    refuse_weights((name,), sample_weight)
    is_ordered = take_one_score((name,))
    read = read_ordered_sample if is_ordered else read_sample
    sample = read(y_true, y_score, sample_weight, labels, absent)
    inputs = HeldInputs(
        sample,
        (name,),
        read_metric_options(sample, partition=partition, pair_weights=pair_weights),
        groups=read_groups(groups, len(sample.codes)),
        sampling=one_of("sampling", sampling, SAMPLINGS),
    )
    columns = read_slices(by, len(sample.codes))
    note = None if is_ordered else column_order_note(sample, inputs.groups, None, None)
    result = slices_of(inputs, columns, reference, () if note is None else (note,))
    warn_of_order(note, stacklevel=2)
    return result


def slices_of(
    inputs: HeldInputs, columns: SliceColumns, reference: str | None, notes: tuple[str, ...] = ()
) -> Slices:
    """The slices of data that were read, by the one metric that is asked for."""
    sample, (metric,) = inputs.sample, inputs.metrics
    count = len(columns.names)
    with Stage("evaluating the slices"):
        found = _rust.evaluate_slices(
            inputs.arguments(),
            columns.codes,
            count,
            metric,
            inputs.options,
            inputs.sampling == "iid",
            reference,
            sample.absent == "ignore",
        )
    title, undefined = METRICS[metric].title, sample.is_undefined
    nothing = math.nan if undefined else 0.0
    whole = (
        estimate_without_error(math.nan, title, found.whole_smallest, metric, inputs)
        if undefined
        else estimate_of(found.whole, title, found.whole_smallest, metric, inputs)
    )
    slices = Side(found.values + nothing, found.variances, found.degrees_of_freedom, found.smallest)
    references = Side(
        found.reference_values + nothing,
        found.reference_variances,
        found.reference_degrees_of_freedom,
        found.reference_smallest,
    )
    differences = SliceDifferences(slices, references, found.covariances, METRICS[metric].smallest)
    counts = columns.codes if sample.weights is None else columns.codes[sample.weights > 0.0]
    return slices_in_order(
        metric=metric,
        reference=reference,
        columns=columns,
        rows=np.bincount(counts, minlength=count),
        whole=whole,
        differences=differences,
        joint=None if undefined else found.joint,
        reasons=_reasons(inputs, columns, differences, reference),
        method=inputs.method(),
        notes=notes,
        inputs=inputs,
    )


def _reasons(
    inputs: HeldInputs, columns: SliceColumns, differences: SliceDifferences, reference: str | None
) -> list[str]:
    """Why a slice has no value, no standard error or no test; empty for one that has all."""
    sample, slices = inputs.sample, differences.slices
    reasons = [""] * len(columns.names)
    if sample.is_undefined:
        absent = [label for label, rows in zip(sample.labels, sample.rows.tolist(), strict=True) if not rows]
        return [f"no rows of {listing(absent)} in any slice"] * len(reasons)
    has_test = differences.are_testable() if reference is not None else slices.known(differences.smallest)
    wanting = np.flatnonzero(~has_test)
    if not len(wanting):
        return reasons
    counts = _class_counts(sample, columns, wanting)
    present = sample.rows > 0
    for place, of_classes in zip(wanting.tolist(), counts, strict=True):
        side = (slices.values[place], slices.variances[place])
        reasons[place] = _reason(inputs, of_classes, present, side) or _reason_of_reference(
            sample, of_classes, differences, place
        )
    return reasons


def _class_counts(sample: Sample, columns: SliceColumns, wanting: NDArray[np.intp]) -> NDArray[np.int64]:
    """Rows of positive weight of each class in some slices."""
    place = np.full(len(columns.names), -1, dtype=np.int64)
    place[wanting] = np.arange(len(wanting))
    of_rows = place[columns.codes]
    counted_rows = of_rows >= 0
    if sample.weights is not None:
        counted_rows &= sample.weights > 0.0
    cells = of_rows[counted_rows] * sample.n_classes + sample.codes[counted_rows]
    return np.bincount(cells, minlength=len(wanting) * sample.n_classes).reshape(-1, sample.n_classes)


def _reason(
    inputs: HeldInputs, counts: NDArray[np.int64], present: NDArray[np.bool_], side: tuple[float, float]
) -> str:
    """What is wrong with a slice itself."""
    labels = inputs.sample.labels
    value, variance = side
    lacking = [labels[k] for k in np.flatnonzero(present & (counts == 0))]
    having = [labels[k] for k in np.flatnonzero(counts)]
    if not having:
        return "no rows of positive weight"
    if len(having) == 1:
        return f"rows of {having[0]!r} only"
    if lacking:
        rest = "" if math.isnan(value) else "; the value is that of the other classes, and is not compared"
        return f"no rows of {listing(lacking)}{rest}"
    if math.isnan(value):
        return "the weights of a class are too small, or no pair of classes counts"
    if math.isnan(variance):
        single = [labels[k] for k in np.flatnonzero(counts == 1)]
        if single:
            return f"a single row of {listing(single)}: no standard error"
        what = "row" if inputs.groups is None else "group"
        return f"a class has all its weight on one {what}: no standard error"
    if variance == 0.0 and not (value in (1.0, METRICS[inputs.metrics[0]].smallest)):
        return "the rows of each class do not vary: no standard error"
    return ""


def _reason_of_reference(
    sample: Sample, counts: NDArray[np.int64], differences: SliceDifferences, place: int
) -> str:
    """What is wrong with what the slice is compared with."""
    gone = [sample.labels[k] for k in np.flatnonzero((sample.rows > 0) & (counts == sample.rows))]
    if gone and math.isnan(differences.references.values[place]):
        what = "all rows are in this slice" if len(gone) == int((sample.rows > 0).sum()) else (
            f"all rows of {listing(gone)} are in this slice"
        )
        return f"{what}: there is no rest to compare it with"
    return "the rows it is compared with have no standard error"
