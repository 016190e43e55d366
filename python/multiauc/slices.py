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
from multiauc._intervals import is_at_chance
from multiauc._min_p import MinP
from multiauc._progress import Stage
from multiauc._registry import CLOSED_FORM_METRICS, DEFAULT_METRIC, METRICS, ONE_SCORE_METRICS
from multiauc._slice_tests import Side, SliceDifferences
from multiauc._wording import listing, one_of
from multiauc.estimates import estimate_of, estimate_without_error
from multiauc.slice_results import Slices, value_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray

    from multiauc._input.sample import Sample
    from multiauc._registry import MetricName
    from multiauc._types import Absent, Labels, Outputs, PairWeights, Sampling

REFERENCES = ("rest", "all")
# Numbers of rows of classes in slices that are counted at once.
COUNTS_AT_ONCE = 1 << 22


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
    outputs: Outputs = None,
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
    partition, pair_weights, sample_weight, groups, sampling, labels, outputs
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
    watch    197  0.8853  0.8401 to 0.9189     -0.1053  -0.1598 to -0.0667        <0.0001
    tablet   563  0.9881  0.9807 to 0.9927     +0.0127  +0.0016 to +0.0228         0.0232
    phone   1240  0.9917  0.9883 to 0.9941     +0.0342  +0.0215 to +0.0509        <0.0001
    Of 3 slices compared with the rest, 1 is worse and 2 are better (corrected p < 0.05).
    closed form, class sizes fixed; Wilson intervals with Student's t
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
    sample = read(y_true, y_score, sample_weight, labels, absent, outputs)
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


def slices_of(inputs: HeldInputs, columns: SliceColumns, reference: str | None, notes: tuple[str, ...] = ()) -> Slices:
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
    slices = _side(
        metric, sample, found.values + nothing, found.variances, found.degrees_of_freedom, found.smallest, found.worst
    )
    references = _side(
        metric,
        sample,
        found.reference_values + nothing,
        found.reference_variances,
        found.reference_degrees_of_freedom,
        found.reference_smallest,
        found.reference_worst,
    )
    differences = SliceDifferences(slices, references, found.covariances, METRICS[metric].smallest)
    t, p_values = differences.statistics()
    tested = np.isfinite(p_values)
    compared, correlations = _known_correlations(None if undefined else found.joint, tested, slices.variances)
    family = MinP(int(tested.sum()), correlations)
    order = _order(differences, t, p_values, reference)
    if correlations is not None:
        in_order = np.argsort(np.argsort(order)[compared])
        correlations = correlations[np.ix_(in_order, in_order)]
    reasons = _reasons(inputs, columns, differences, reference)
    counted_codes = columns.codes if sample.weights is None else columns.codes[sample.weights > 0.0]
    given = inputs.given()
    return Slices(
        metric=metric,
        reference=reference,
        columns=columns.columns,
        names=tuple(columns.names[place] for place in order.tolist()),
        rows=np.bincount(counted_codes, minlength=count)[order],
        overall=whole,
        labels=tuple(sample.labels),
        counts=sample.rows,
        reasons=tuple(reasons[place] for place in order.tolist()),
        method=inputs.method(),
        t=t[order],
        p_values=p_values[order],
        corrected_p_values=np.array([family.corrected(p) for p in p_values[order].tolist()]),
        _slices=slices.taken(order),
        _references=references.taken(order),
        _covariances=found.covariances[order],
        _correlations=correlations,
        _options={"metric": metric, "by": list(columns.columns), "reference": reference}
        | {name: value for name, value in given.items() if name != "metrics"},
        notes=notes,
    )


def _side(
    metric: str,
    sample: Sample,
    values: NDArray[np.float64],
    variances: NDArray[np.float64],
    freedoms: NDArray[np.float64],
    smallest: NDArray[np.int64],
    worst: Sequence[NDArray[np.float64]],
) -> Side:
    """What the core found of slices, or of what they are compared with; no worst case where nothing is told apart."""
    effects, failures = worst
    chance = METRICS[metric].chance_of(int((sample.rows > 0).sum()))
    effects = np.where(is_at_chance(values, variances, chance), np.nan, effects)
    return Side(values, variances, freedoms, smallest, effects, failures)


def _order(
    differences: SliceDifferences, t: NDArray[np.float64], p_values: NDArray[np.float64], reference: str | None
) -> NDArray[np.intp]:
    """The slices that are most surely worse first; those that have no test last, by their values."""
    if reference is None:
        _, certainty = value_limits(differences.slices, 0.025, differences.smallest)
    else:
        # Twice the probability of a t as low as this one.
        certainty = np.where(t < 0.0, p_values, 2.0 - p_values)
    return np.lexsort((np.where(np.isnan(t), differences.slices.values, t), certainty))


def _known_correlations(
    joint: tuple[list[int], NDArray[np.float64]] | None, tested: NDArray[np.bool_], variances: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
    """The slices that are tested, and the correlations of their differences, if these are known."""
    compared = np.flatnonzero(tested)
    if joint is None:
        return compared, None
    numbers, matrix = np.array(joint[0], dtype=np.intp), joint[1]
    kept = np.isin(numbers, compared)
    correlations = matrix[np.ix_(kept, kept)].copy()
    # A slice that is perfectly separated does not show how it varies: it counts as independent of the others.
    alone = variances[numbers[kept]] == 0.0
    correlations[alone, :] = correlations[:, alone] = 0.0
    np.fill_diagonal(correlations, 1.0)
    return numbers[kept], correlations


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
    present = sample.rows > 0
    # Many slices lack the same classes.
    known: dict[tuple[bytes, bool], str] = {}
    for place, of_classes in zip(wanting.tolist(), _class_counts(sample, columns, wanting), strict=True):
        side = (float(slices.values[place]), float(slices.variances[place]))
        here = of_classes > 0
        kind = (here.tobytes(), math.isnan(side[0]))
        if kind in known:
            reasons[place] = known[kind]
            continue
        reason = _reason(inputs, of_classes, present, side)
        if not here[present].all():
            known[kind] = reason
        reasons[place] = reason or _reason_of_reference(sample, of_classes, differences, place)
    return reasons


def _class_counts(sample: Sample, columns: SliceColumns, wanting: NDArray[np.intp]) -> Iterator[NDArray[np.int64]]:
    """Rows of positive weight of each class in some slices, slice by slice."""
    place = np.full(len(columns.names), -1, dtype=np.int64)
    place[wanting] = np.arange(len(wanting))
    of_rows = place[columns.codes]
    counted_rows = of_rows >= 0
    if sample.weights is not None:
        counted_rows &= sample.weights > 0.0
    of_rows, codes = of_rows[counted_rows], sample.codes[counted_rows].astype(np.int64)
    # Some slices at a time, as there may be as many as rows, and as many classes.
    some = max(1, COUNTS_AT_ONCE // sample.n_classes)
    if len(wanting) > some:
        order = np.argsort(of_rows, kind="stable")
        of_rows, codes = of_rows[order], codes[order]
    for first in range(0, len(wanting), some):
        last = min(first + some, len(wanting))
        rows = slice(*np.searchsorted(of_rows, [first, last])) if len(wanting) > some else slice(None)
        cells = (of_rows[rows] - first) * sample.n_classes + codes[rows]
        shape = (last - first, sample.n_classes)
        yield from np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


def _reason(
    inputs: HeldInputs, counts: NDArray[np.int64], present: NDArray[np.bool_], side: tuple[float, float]
) -> str:
    """What is wrong with a slice itself."""
    labels = inputs.sample.labels
    lacking = [labels[k] for k in np.flatnonzero(present & (counts == 0))]
    having = [labels[k] for k in np.flatnonzero(counts)]
    if not having:
        return "no rows of positive weight"
    if len(having) == 1:
        return f"rows of {having[0]!r} only"
    if lacking:
        rest = "" if math.isnan(side[0]) else "; the value is that of the other classes, and is not compared"
        return f"no rows of {listing(lacking)}{rest}"
    return _reason_of_numbers(inputs, counts, *side)


def _reason_of_numbers(inputs: HeldInputs, counts: NDArray[np.int64], value: float, variance: float) -> str:
    """What is wrong with a slice that has rows of all classes."""
    reason = ""
    if math.isnan(value):
        reason = "the weights of a class are too small, or no pair of classes counts"
    elif math.isnan(variance):
        single = [inputs.sample.labels[k] for k in np.flatnonzero(counts == 1)]
        unit = "row" if inputs.groups is None else "group"
        what = f"a single row of {listing(single)}" if single else f"a class has all its weight on one {unit}"
        reason = f"{what}: no standard error"
    elif variance == 0.0:
        reason = "the rows of each class do not vary: no standard error"
    return reason


def _reason_of_reference(sample: Sample, counts: NDArray[np.int64], differences: SliceDifferences, place: int) -> str:
    """What is wrong with what the slice is compared with."""
    gone = [sample.labels[k] for k in np.flatnonzero((sample.rows > 0) & (counts == sample.rows))]
    if gone and math.isnan(differences.references.values[place]):
        what = (
            "all rows are in this slice"
            if len(gone) == int((sample.rows > 0).sum())
            else (f"all rows of {listing(gone)} are in this slice")
        )
        return f"{what}: there is no rest to compare it with"
    return "the rows it is compared with have no standard error"
