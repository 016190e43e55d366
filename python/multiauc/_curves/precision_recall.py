"""Precision-recall curves of every class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common import hints, result
from multiauc._common.wording import decimals
from multiauc._input.sample import Sample, read_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc import plotting
    from multiauc._common.types import Absent, Labels, Outputs


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrecisionRecallCurve(result.Result):
    """Points of the precision-recall curve of one class against all others.

    Attributes
    ----------
    precision, recall : ndarray
        The fraction of the rows at or above the threshold that belong to the class, and the fraction of the class that
        they include. Before the first row, precision is 1 by convention.
    thresholds : ndarray
        The thresholds, falling from +inf. scikit-learn lists the same points in the opposite order.
    positive : hashable
        The class whose score is read.
    average_precision : float
        The mean precision at the scores of the class's own rows; nan for a class without rows.
    prevalence : float
        The prevalence of the class: the precision at the chance level.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> curve = multiauc.precision_recall_curves(y_true, y_score)["a"]
    >>> curve
    PrecisionRecallCurve('a' against the rest: 7 points, average precision 0.8333)
    >>> curve.recall
    array([0. , 0.5, 0.5, 1. , 1. , 1. , 1. ])
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    positive: Any
    average_precision: float
    prevalence: float

    def plot(self, ax: Axes | None = None, **line: Any) -> plotting.PrecisionRecallCurvesDisplay:
        """Draw the curve. Needs matplotlib (``pip install matplotlib``).

        `ax` is a matplotlib Axes, a new one by default; `line` is passed on to ``ax.plot``. Several curves are drawn
        together by `multiauc.plotting.PrecisionRecallCurvesDisplay`.
        """
        from multiauc import plotting  # noqa: PLC0415

        return plotting.PrecisionRecallCurvesDisplay({self.positive: self}).plot(ax, **line)

    def _columns(self) -> result.Columns:
        return {"threshold": self.thresholds, "recall": self.recall, "precision": self.precision}

    def __repr__(self) -> str:
        found = f"{len(self.recall)} points, average precision {decimals(self.average_precision)}"
        return f"PrecisionRecallCurve({self.positive!r} against the rest: {found})"


@hints.with_hints
def precision_recall_curves(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> dict[Any, PrecisionRecallCurve]:
    r"""The precision-recall curve of every class against the rest.

    For class c and a threshold t, the rows with :math:`p_c \ge t` are predicted positive, and the curve runs through

    .. math::
        P(t) = \frac{\#\{a \in c : p_c(a) \ge t\}}{\#\{b : p_c(b) \ge t\}}, \qquad
        R(t) = \frac{\#\{a \in c : p_c(a) \ge t\}}{n_c}.

    Parameters
    ----------
    y_true, y_score, sample_weight, labels, outputs
        As in `average_precision_score`. With two classes and one score per row, the curve of the first class ranks the
        rows by the negative of the score.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its curve out, or return a curve with a
        single point, nan.

    Returns
    -------
    dict
        A `PrecisionRecallCurve` by label, with `average_precision` and `plot()`.

    See Also
    --------
    average_precision_score : The mean over classes, and when average precision misleads.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> curves = multiauc.precision_recall_curves(y_true, y_score)
    >>> curves["cat"]
    PrecisionRecallCurve('cat' against the rest: 6 points, average precision 0.8333)
    >>> curves["cat"].thresholds
    array([inf, 0.6, 0.5, 0.4, 0.2, 0.1])
    """
    return find_curves(read_sample(y_true, y_score, sample_weight, labels, absent, outputs))


def find_curves(sample: Sample) -> dict[Any, PrecisionRecallCurve]:
    """The curves of a sample, by class."""
    classes, shares = sample.reported_classes(), sample.shares()
    present = [c for c in classes if sample.rows[c]]
    values = _rust.average_precision_per_class(sample.arguments())
    points = dict(zip(present, _rust.precision_recall_points(sample.arguments(), present), strict=True))
    nan = np.array([math.nan])
    curves = {}
    for c in classes:
        precision, recall, thresholds = points.get(c, (nan, nan, nan))
        known = (sample.labels[c], float(values[c]), float(shares[c]))
        curves[sample.labels[c]] = PrecisionRecallCurve(precision, recall, thresholds, *known)
    return curves
