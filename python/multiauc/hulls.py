"""Convex hulls of ROC curves, and what follows from them: the H-measure and the LC index."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from multiauc import _rust
from multiauc._hints import refuse_unknown
from multiauc._hull_costs import Hull
from multiauc._hull_costs import lc_index as lc_index_of
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.options import read_share
from multiauc._input.sample import read_sample
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._registry import AGAINST_REST, CURVE_KINDS, DEFAULT_CURVE_KIND
from multiauc._wording import described, listing, one_of
from multiauc.curves import curve_pairs, present_curves
from multiauc.hull_results import RocHull, read_severity
from multiauc.partial_areas import AVERAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from multiauc._input.sample import Sample
    from multiauc._registry import CurveKind
    from multiauc._types import Absent, Labels, Outputs, PartialAverage


@shares_parameter_texts
def roc_hulls(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    kind: CurveKind = DEFAULT_CURVE_KIND,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> dict[Any, RocHull]:
    """The convex hull of the ROC curve of every class, or of every ordered pair of classes.

    Whatever false positives and false negatives cost, a vertex of the upper convex hull has the least expected cost.
    A hull says which (`RocHull.optimum`, with the threshold to use), how low the cost is for all costs at once
    (`RocHull.cost_curve`), and how good that is on average (`RocHull.h_measure`).

    Parameters
    ----------
    {y_true}
    {y_score_of_curves}
    kind : {"one_vs_rest", "pairwise"}, default "one_vs_rest"
        A curve of each class against all the others, or of each ordered pair of classes (c, d), by the score of c.
    {sample_weight}
    {labels}
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its hulls out, or have hulls of a
        single point nan.
    {outputs}

    Returns
    -------
    dict
        A `RocHull` by label, or by pair (c, d) of labels, c being the positive class whose score is read. It refers to
        `y_score` for its picture and does not copy it.

    References
    ----------
    F. Provost and T. Fawcett, *Robust Classification for Imprecise Environments*, Machine Learning 42, 2001.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> hulls = multiauc.roc_hulls(y_true, y_score)
    >>> hulls["cat"]
    RocHull('cat' against the rest: 4 vertices, auc 0.9167)
    >>> hulls["cat"].optimum(cost_fp=1, cost_fn=5).threshold
    0.4
    >>> multiauc.roc_hulls(y_true, y_score, kind="pairwise")["cat", "eel"].auc
    1.0
    """
    refuse_unknown(roc_hulls, unknown)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    found = hulls_of(sample, curve_pairs(sample, one_of("kind", kind, CURVE_KINDS)))
    return {hull.positive if hull.negative is None else (hull.positive, hull.negative): hull for hull in found}


@shares_parameter_texts
def h_measure_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    severity_ratio: float | None = None,
    average: PartialAverage = "macro",
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> float:
    """Hand's H-measure of each class against the rest, averaged; with two classes, that of the second.

    How much of the loss of decisions without scores the scores save, on average over beliefs about the costs of both
    kinds of errors; `RocHull.h_measure` has the formula. 0 for useless scores and 1 for perfect ones. Scores that rank
    the wrong way round are not turned round.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row.
    y_score : array-like of shape (n, K)
        The score of each row for each class; with two classes also of shape (n,) or (n, 1), the score of the second of
        `labels`. Of two columns the second is read.
    severity_ratio : float, optional
        The most likely ratio of the cost of a false positive to that of a false negative; by default the ratio of a
        class's rows to all others, class by class.
    average : {"macro", "prevalence"}, default "macro"
        All classes alike, or weighted by their share of the rows. Two classes need no average.
    sample_weight, labels
        As in `roc_hulls`.
    {absent}
    {outputs}

    Returns
    -------
    float

    References
    ----------
    D. J. Hand, *Measuring classifier performance: a coherent alternative to the area under the ROC curve*, Machine
    Learning 77, 2009.

    Examples
    --------
    >>> import multiauc
    >>> y_true = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
    >>> score = [0.85, 0.10, 0.44, 0.46, 0.91, 0.79, 0.53, 0.14, 0.73, 0.23]
    >>> round(multiauc.h_measure_score(y_true, score), 6)
    0.188896
    >>> round(multiauc.h_measure_score(y_true, score, severity_ratio=0.5), 6)
    0.107501
    """
    refuse_unknown(h_measure_score, unknown)
    ratio = read_severity(severity_ratio)
    kind_of_mean = one_of("average", average, AVERAGES)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    hulls = _against_rest(sample)
    return _average(sample, [hull.h_measure(ratio) for hull in hulls], hulls, kind_of_mean)


@shares_parameter_texts
def lc_index(  # noqa: PLR0913 - keyword-only options
    y_true: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    cost_range: tuple[float, float],
    most_likely: float,
    average: PartialAverage = "macro",
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> float:
    r"""Adams and Hand's LC index: how much of what is believed about costs is in favour of model A.

    .. math:: \int I(c)\, D(c)\, dc,

    where c is the share of a false positive in the sum of both costs, I(c) is 1 where A has the smaller minimum loss,
    -1 where B has and 0 where both are equal, and D is a triangular density of beliefs about c. 1 if A is better under
    all costs in question, -1 if B is. It says how likely A is better, not by how much.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row.
    scores_a, scores_b : array-like of shape (n, K)
        The scores of both models, as in `roc_hulls`. With two classes those of the second are read; with more, each
        class is told from the rest and the indices are averaged.
    cost_range : tuple of two floats
        The smallest and the largest c that is thought possible, between 0 and 1. A false positive that costs r times as
        much as a false negative is c = r / (1 + r).
    most_likely : float
        The c with the highest density, within the range.
    average : {"macro", "prevalence"}, default "macro"
        All classes alike, or weighted by their share of the rows. Two classes need no average.
    sample_weight, labels, outputs
        As in `roc_hulls`.
    {absent}

    Returns
    -------
    float
        Between -1 and 1.

    References
    ----------
    N. M. Adams and D. J. Hand, *Comparing classifiers when the misallocation costs are uncertain*, Pattern Recognition
    32, 1999.

    Examples
    --------
    >>> import multiauc
    >>> y_true = [0, 0, 0, 1, 1, 1]
    >>> a, b = [0.1, 0.2, 0.6, 0.5, 0.8, 0.9], [0.1, 0.4, 0.3, 0.2, 0.5, 0.9]
    >>> multiauc.lc_index(y_true, a, b, cost_range=(0.1, 0.5), most_likely=0.3)
    1.0
    >>> multiauc.lc_index(y_true, a, a, cost_range=(0.1, 0.5), most_likely=0.3)
    0.0
    """
    refuse_unknown(lc_index, unknown)
    costs, peak = _read_beliefs(cost_range, most_likely)
    kind_of_mean = one_of("average", average, AVERAGES)
    samples = [
        _named(name, lambda: read_sample(y_true, scores, sample_weight, labels, absent, outputs))  # noqa: B023 - called at once
        for name, scores in (("scores_a", scores_a), ("scores_b", scores_b))
    ]
    first, second = ({hull.positive: hull for hull in _against_rest(sample)} for sample in samples)
    if first.keys() != second.keys():
        a, b = (listing(sample.labels) for sample in samples)
        raise ValueError(f"scores_a and scores_b must be scores of the same classes; got {a} and {b}")
    values = [_index(hull, second[label], costs, peak) for label, hull in first.items()]
    return _average(samples[0], values, list(first.values()), kind_of_mean)


def hulls_of(sample: Sample, curves: list[tuple[int, int | None]]) -> list[RocHull]:
    """The hulls of some curves of a sample, (positive class, negative class or None for all others)."""
    present = present_curves(sample, curves)
    points = dict(zip(present, _rust.roc_hull_points(sample.arguments(), present), strict=True))
    _, weights = _rust.class_sizes(sample.codes, sample.weights, sample.n_classes)
    inputs = HeldInputs(sample, (), {})
    nan = np.array([np.nan])
    hulls = []
    for c, d in curves:
        negative = weights.sum() - weights[c] if d is None else weights[d]
        has_rows = (c, d) in points
        prevalence = float(weights[c] / (weights[c] + negative)) if has_rows else math.nan
        name = None if d is None else sample.labels[d]
        fpr, tpr, thresholds = points.get((c, d), (nan, nan, nan))
        hulls.append(RocHull(fpr, tpr, thresholds, sample.labels[c], name, prevalence, inputs))
    return hulls


def _against_rest(sample: Sample) -> list[RocHull]:
    """The hulls that an average is over: of two classes that of the second."""
    return hulls_of(sample, [(1, None)] if sample.n_classes == 2 else curve_pairs(sample, AGAINST_REST))


def _average(sample: Sample, values: list[float], hulls: list[RocHull], average: str) -> float:
    if sample.is_undefined:
        return math.nan
    weights = [1.0 if average == "macro" else hull.prevalence for hull in hulls]
    return math.fsum(w * value for w, value in zip(weights, values, strict=True)) / math.fsum(weights)


def _index(a: RocHull, b: RocHull, costs: tuple[float, float], peak: float) -> float:
    if math.isnan(a.prevalence):
        return math.nan
    first, second = (Hull(hull.fpr, hull.tpr, hull.prevalence) for hull in (a, b))
    return lc_index_of(first, second, costs, peak)


def _read_beliefs(cost_range: Any, most_likely: Any) -> tuple[tuple[float, float], float]:
    """The range of c and its peak."""
    if isinstance(cost_range, str) or np.shape(cost_range) != (2,):
        raise ValueError(f"cost_range must be two numbers between 0 and 1, (low, high); got {described(cost_range)}")
    low, high = (read_share("cost_range", limit) for limit in cost_range)
    if not low < high:
        raise ValueError(f"cost_range must rise from low to high; got ({low:g}, {high:g})")
    peak = read_share("most_likely", most_likely)
    if not low <= peak <= high:
        raise ValueError(f"most_likely must lie within cost_range, {low:g} to {high:g}; got {peak:g}")
    return (low, high), peak


def _named(name: str, read: Callable[[], Sample]) -> Sample:
    """What was read, or its error with the name of the argument in question."""
    try:
        return read()
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("y_score", name)) from None
