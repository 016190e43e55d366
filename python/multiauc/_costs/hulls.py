"""Convex hulls of ROC curves: optimal thresholds, cost curves, H-measure, LC index."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common import hints, registry, result, wording
from multiauc._curves import roc
from multiauc._input import options
from multiauc._input.sample import HeldInputs, Sample, read_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc import plotting
    from multiauc._common.types import Absent, Labels, Outputs, PartialAverage

# Relative to the largest terms of an expected cost.
TIED = 8.0 * np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocHull(roc.RocPoints):
    """The upper convex hull of the ROC curve of one class, against all others or against one other class.

    Attributes
    ----------
    fpr, tpr : ndarray
        False and true positive rate of the vertices, from (0, 0) to (1, 1).
    thresholds : ndarray
        Rows with a score at or above the threshold are predicted positive; falling from +inf.
    positive : hashable
        The class whose score is read.
    negative : hashable or None
        The class it is compared with; None for all others pooled.
    prevalence : float
        The prevalence of the positive class among the rows of both sides.

    Examples
    --------
    >>> import multiauc
    >>> y_true = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
    >>> score = [0.85, 0.10, 0.44, 0.46, 0.91, 0.79, 0.53, 0.14, 0.73, 0.23]
    >>> hull = multiauc.roc_hulls(y_true, score)[1]
    >>> hull
    RocHull(1 against the rest: 4 vertices, auc 0.7381)
    >>> hull.optimum(cost_fp=1, cost_fn=2)
    OperatingPoint(1 against the rest: always positive, tpr 1.0000, fpr 1.0000, expected cost 0.3000)
    >>> round(hull.h_measure(), 4)
    0.1889
    """

    negative: Any
    prevalence: float
    # For the curve below the hull in its plot.
    _inputs: HeldInputs | None = field(default=None, metadata=result.HELD)

    def optimum(self, cost_fp: float, cost_fn: float, prevalence: float | None = None) -> OperatingPoint:
        r"""The vertex with the least expected cost, and its threshold.

        .. math:: \pi_0 C_{FP} \mathrm{FPR} + \pi_1 C_{FN} (1 - \mathrm{TPR})

        is least where a line of slope :math:`\pi_0 C_{FP} / (\pi_1 C_{FN})` touches the hull.

        Parameters
        ----------
        cost_fp, cost_fn : float
            The cost of a false positive and of a false negative: not negative, and not both 0.
        prevalence : float, optional
            The prevalence of the positive class in use, between 0 and 1; default: that of the rows.

        Returns
        -------
        OperatingPoint
            Ties go to the vertex with the fewest positives.
        """
        false_positive = options.read_number("cost_fp", cost_fp, 0.0, ends="[)")
        false_negative = options.read_number("cost_fn", cost_fn, 0.0, ends="[)")
        if false_positive == 0.0 == false_negative:
            raise ValueError("cost_fp and cost_fn must not both be 0: then every threshold costs the same")
        share = self.prevalence if prevalence is None else options.read_number("prevalence", prevalence, 0.0, 1.0, "[]")
        costs = (1.0 - share) * false_positive * self.fpr + share * false_negative * (1.0 - self.tpr)
        # Costs that differ by the rounding of rates and of their products alone are equally good.
        tied = TIED * ((1.0 - share) * false_positive * self.fpr + share * false_negative)
        best = 0 if math.isnan(self.auc) else int(np.argmax(costs <= costs.min() + tied))
        threshold = -math.inf if best == len(self.fpr) - 1 > 0 else float(self.thresholds[best])
        found = (float(self.fpr[best]), float(self.tpr[best]), threshold, float(costs[best]))
        return OperatingPoint(*found, false_positive, false_negative, share, self.positive, self.negative)

    def cost_curve(self) -> CostCurve:
        """The expected cost for all costs and prevalences; see `CostCurve`."""
        x, cost = _rust.cost_curve(self.fpr, self.tpr) if len(self.fpr) > 1 else (self.fpr, self.tpr)
        return CostCurve(x, cost, self.fpr, self.tpr, self.positive, self.negative)

    def h_measure(self, severity_ratio: float | None = None) -> float:
        r"""Hand's H-measure: the fraction of the loss without scores that the scores save.

        .. math::
            H = 1 - \frac{\int L(c)\, u(c)\, dc}{\int L_0(c)\, u(c)\, dc}, \qquad
            L(c) = \min\, c\, \pi_0\, \mathrm{FPR} + (1 - c)\, \pi_1 (1 - \mathrm{TPR}),

        the minimum over the hull, :math:`L_0` that of calling all rows positive or none, and c the share of a false
        positive in the sum of both costs. Beliefs about c are u, the density of Beta(2, 1 + 1/SR), which peaks where
        :math:`c / (1 - c)` is the severity ratio SR [1]_. 0 is the chance level, 1 is perfect. Scores that rank in the
        wrong direction are not reversed.

        Parameters
        ----------
        severity_ratio : float, optional
            The most likely ratio of the cost of a false positive to that of a false negative; default: prevalence / (1
            - prevalence), which treats errors in the smaller class as more severe.

        References
        ----------
        .. [1] D. J. Hand and C. Anagnostopoulos, "A better Beta for the H measure of classification performance",
           Pattern Recognition Letters 40 (2014), 41-46.
        """
        ratio = self.prevalence / (1.0 - self.prevalence) if severity_ratio is None else read_severity(severity_ratio)
        return math.nan if math.isnan(self.auc) else _rust.h_measure(_rates(self), ratio)

    def plot(
        self, ax: Axes | None = None, *, optimum: OperatingPoint | None = None, **line: Any
    ) -> plotting.RocHullDisplay:
        """Draw the hull over its curve. Needs matplotlib (``pip install matplotlib``).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; default: new axes. ROC curves can share them.
        optimum : OperatingPoint, optional
            A point to mark, from `optimum`, with the line of equal costs through it.
        **line
            Passed on to ``ax.plot``.
        """
        from multiauc import plotting  # noqa: PLC0415

        return plotting.RocHullDisplay(self, optimum=optimum).plot(ax, **line)

    def __repr__(self) -> str:
        return f"RocHull({self._describe_sides()}: {len(self.fpr)} vertices, auc {wording.decimals(self.auc)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OperatingPoint(roc.Sided, result.Result):
    """The best threshold under given costs; see `RocHull.optimum`.

    Attributes
    ----------
    fpr, tpr : float
        The rates there.
    threshold : float
        Predict positive if the score is at least this: inf for none, -inf for all.
    expected_cost : float
        The mean cost of a row.
    cost_fp, cost_fn, prevalence : float
        The costs and the prevalence it is optimal for.
    positive, negative : hashable
        The class whose score is used, and the one it is compared with; None for all others pooled.

    Examples
    --------
    >>> import multiauc
    >>> point = multiauc.roc_hulls([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9])[1].optimum(cost_fp=2, cost_fn=1)
    >>> point.threshold, point.tpr, point.expected_cost
    (0.9, 0.5, 0.25)
    >>> point.slope
    2.0
    """

    fpr: float
    tpr: float
    threshold: float
    expected_cost: float
    cost_fp: float
    cost_fn: float
    prevalence: float
    positive: Any
    negative: Any

    @property
    def slope(self) -> float:
        """The slope of lines of equal cost in ROC space; inf if only false positives cost."""
        missed = self.prevalence * self.cost_fn
        return math.inf if missed == 0.0 else (1.0 - self.prevalence) * self.cost_fp / missed

    def __repr__(self) -> str:
        constant = {math.inf: "never positive", -math.inf: "always positive"}
        when = constant.get(self.threshold, f"positive from {self.threshold:.6g} on")
        tpr, fpr, cost = map(wording.decimals, (self.tpr, self.fpr, self.expected_cost))
        return f"OperatingPoint({self._describe_sides()}: {when}, tpr {tpr}, fpr {fpr}, expected cost {cost})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostCurve(roc.Sided, result.Result):
    r"""Drummond and Holte's cost curve: expected costs for all costs and prevalences, from a hull.

    With :math:`x = \pi_1 C_{FN} / (\pi_1 C_{FN} + \pi_0 C_{FP})`, a point of the ROC curve is the straight line

    .. math:: (1 - \mathrm{TPR})\, x + \mathrm{FPR}\, (1 - x),

    the expected cost in units of the largest possible one. The curve is the lower envelope of all these lines.

    Attributes
    ----------
    x, cost : ndarray
        The corners of the lower envelope, from x = 0 to x = 1.
    fpr, tpr : ndarray
        The points whose lines touch it, as in `RocHull`.
    positive, negative : hashable
        The class whose score is used, and the one it is compared with; None for all others pooled.

    References
    ----------
    C. Drummond and R. C. Holte, *Cost curves: An improved method for visualizing classifier performance*, Machine
    Learning 65, 2006.

    Examples
    --------
    >>> import multiauc
    >>> curve = multiauc.roc_hulls([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9])[1].cost_curve()
    >>> curve
    CostCurve(1 against the rest: area 0.1250, without scores 0.2500)
    >>> curve.at(0.5)
    0.25
    """

    x: NDArray[np.float64]
    cost: NDArray[np.float64]
    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    positive: Any
    negative: Any

    @property
    def area(self) -> float:
        """The area under the envelope: 1/4 without scores, 0 for perfect ones; nan for a class without rows."""
        whole = float(0.5 * np.dot(np.diff(self.x), self.cost[1:] + self.cost[:-1]))
        return math.nan if len(self.x) < 2 else whole

    def at(self, x: float) -> float:
        """The smallest expected cost at one x between 0 and 1."""
        at = options.read_number("x", x, 0.0, 1.0, "[]")
        return math.nan if len(self.x) < 2 else float(np.interp(at, self.x, self.cost))

    def plot(self, ax: Axes | None = None, **line: Any) -> plotting.CostCurveDisplay:
        """Draw the lines and their lower envelope. Needs matplotlib (``pip install matplotlib``)."""
        from multiauc import plotting  # noqa: PLC0415

        return plotting.CostCurveDisplay(self).plot(ax, **line)

    def _columns(self) -> result.Columns:
        return {"x": self.x, "cost": self.cost}

    def __repr__(self) -> str:
        return f"CostCurve({self._describe_sides()}: area {wording.decimals(self.area)}, without scores 0.2500)"


def read_severity(severity_ratio: Any) -> float:
    """A ratio of costs, not so small that its inverse is infinite."""
    return options.read_number("severity_ratio", severity_ratio, float(np.finfo(np.float64).tiny), ends="[)")


@hints.with_hints
def roc_hulls(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    kind: registry.CurveKind = registry.DEFAULT_CURVE_KIND,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> dict[Any, RocHull]:
    """The convex hull of the ROC curve of every class, or of every ordered pair of classes.

    Whatever false positives and false negatives cost, a vertex of the upper convex hull has the least expected cost.
    `RocHull.optimum` finds it and its threshold, `RocHull.cost_curve` shows the least cost for all costs, and
    `RocHull.h_measure` averages over them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`; the first then gets the negated score.
    kind : {"one_vs_rest", "pairwise"}, default "one_vs_rest"
        One curve per class against all others, or per ordered pair of classes (c, d), by the score of c.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its hulls out, or return hulls with a
        single point, nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    dict
        A `RocHull` by label, or by pair (c, d) of labels, where c is the positive class whose score is used. For plots
        it keeps a reference to `y_score`, not a copy.

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
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    found = find_hulls(sample, roc.curve_pairs(sample, wording.one_of("kind", kind, registry.CURVE_KINDS)))
    return {hull.key: hull for hull in found}


@hints.with_hints
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
) -> float:
    """Hand's H-measure of each class against the rest, averaged; with two classes, that of the second.

    The fraction of the loss without scores that the scores save, averaged over a distribution of the two error costs;
    `RocHull.h_measure` has the formula. 0 is the chance level, 1 is perfect. Scores that rank in the wrong direction
    are not reversed.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row.
    y_score : array-like of shape (n, K)
        The score of each row for each class; with two classes also of shape (n,) or (n, 1), the score of the second of
        `labels`. Of two columns, the second is used.
    severity_ratio : float, optional
        The most likely ratio of the cost of a false positive to that of a false negative; default: the ratio of a
        class's rows to all others, class by class.
    average : {"macro", "prevalence"}, default "macro"
        The plain mean of the classes, or weighted by prevalence. Two classes need no average.
    sample_weight, labels
        As in `roc_hulls`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

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
    ratio = None if severity_ratio is None else read_severity(severity_ratio)
    kind_of_mean = wording.one_of("average", average, roc.AVERAGES)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    hulls = _against_rest(sample)
    return _average(sample, [hull.h_measure(ratio) for hull in hulls], hulls, kind_of_mean)


@hints.with_hints
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
) -> float:
    r"""Adams and Hand's LC index: how far beliefs about costs favour model A.

    .. math:: \int I(c)\, D(c)\, dc,

    where c is the share of a false positive in the sum of both costs, I(c) is 1 if A has the smaller minimum loss, -1
    if B has and 0 if both are equal, and D is a triangular density of beliefs about c. The index is 1 if A is better
    for all costs in the range, -1 if B is. It measures how likely A is better, not by how much.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row.
    scores_a, scores_b : array-like of shape (n, K)
        The scores of both models, as in `roc_hulls`. With two classes, the scores of the second are used; with more,
        each class is compared with the rest and the indices are averaged.
    cost_range : tuple of two floats
        The smallest and the largest plausible c, between 0 and 1. A false positive that costs r times as much as a
        false negative is c = r / (1 + r).
    most_likely : float
        The c with the highest density, within the range.
    average : {"macro", "prevalence"}, default "macro"
        The plain mean of the classes, or weighted by prevalence. Two classes need no average.
    sample_weight, labels, outputs
        As in `roc_hulls`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out, or return nan.

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
    if isinstance(cost_range, str) or np.shape(cost_range) != (2,):
        found = wording.describe_type(cost_range)
        raise ValueError(f"cost_range must be two numbers between 0 and 1, (low, high); got {found}")
    low, high = (options.read_number("cost_range", limit, 0.0, 1.0, "[]") for limit in cost_range)
    if not low < high:
        raise ValueError(f"cost_range must rise from low to high; got ({low:g}, {high:g})")
    peak = options.read_number("most_likely", most_likely, 0.0, 1.0, "[]")
    if not low <= peak <= high:
        raise ValueError(f"most_likely must lie within cost_range, {low:g} to {high:g}; got {peak:g}")
    kind_of_mean = wording.one_of("average", average, roc.AVERAGES)
    samples = []
    for name, scores in (("scores_a", scores_a), ("scores_b", scores_b)):
        try:
            samples.append(read_sample(y_true, scores, sample_weight, labels, absent, outputs))
        except (TypeError, ValueError) as error:
            raise type(error)(str(error).replace("y_score", name)) from None
    first, second = ({hull.positive: hull for hull in _against_rest(sample)} for sample in samples)
    if first.keys() != second.keys():
        a, b = (wording.listing(sample.labels) for sample in samples)
        raise ValueError(f"scores_a and scores_b must be scores of the same classes; got {a} and {b}")
    values = [math.nan] * len(first)
    for k, (label, hull) in enumerate(first.items()):
        if not math.isnan(hull.prevalence):
            values[k] = _rust.lc_index(_rates(hull), _rates(second[label]), (low, high), peak)
    return _average(samples[0], values, list(first.values()), kind_of_mean)


def find_hulls(sample: Sample, curves: list[roc.Sides]) -> list[RocHull]:
    """The hulls of some curves of a sample, (positive class, negative class or None for all others)."""
    _, weights = _rust.class_sizes(sample.codes, sample.weights, sample.n_classes)
    inputs, hulls = HeldInputs(sample, ()), []
    for (c, d), points in zip(curves, _rust.roc_hull_points(sample.arguments(), curves), strict=True):
        negative = weights.sum() - weights[c] if d is None else weights[d]
        prevalence = math.nan if math.isnan(points[0][0]) else float(weights[c] / (weights[c] + negative))
        hulls.append(RocHull(*points, *roc.name_sides(sample, (c, d)), prevalence, inputs))
    return hulls


def _against_rest(sample: Sample) -> list[RocHull]:
    """The hulls that an average is over: of two classes that of the second."""
    return find_hulls(sample, [(1, None)] if sample.n_classes == 2 else roc.curve_pairs(sample, registry.AGAINST_REST))


def _rates(hull: RocHull) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """A hull as the core takes it."""
    return hull.fpr, hull.tpr, hull.prevalence


def _average(sample: Sample, values: list[float], hulls: list[RocHull], average: str) -> float:
    if sample.is_undefined:
        return math.nan
    weights = [1.0 if average == "macro" else hull.prevalence for hull in hulls]
    return math.fsum(w * value for w, value in zip(weights, values, strict=True)) / math.fsum(weights)
