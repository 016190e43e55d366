"""Curves of every class against the rest: precision-recall and reliability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multiauc import _rust
from multiauc._common import hints, result, wording
from multiauc._inference.intervals import wilson_limits
from multiauc._input import options, probabilities
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
        found = f"{len(self.recall)} points, average precision {wording.decimals(self.average_precision)}"
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
    return find_precision_recall(read_sample(y_true, y_score, sample_weight, labels, absent, outputs))


def find_precision_recall(sample: Sample) -> dict[Any, PrecisionRecallCurve]:
    """The curves of a sample, by class."""
    classes, shares = sample.reported_classes(), sample.shares()
    rows = sample.arguments()
    values, points = _rust.average_precision_per_class(rows), _rust.precision_recall_points(rows, classes)
    curves = {}
    for c, of_class in zip(classes, points, strict=True):
        label = sample.labels[c]
        curves[label] = PrecisionRecallCurve(*of_class, label, float(values[c]), float(shares[c]))
    return curves


STRATEGIES = ("quantile", "uniform")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReliabilityCurve(result.Tabular):
    """Observed frequencies of a class, by its predicted probability.

    Attributes
    ----------
    predicted : ndarray
        The mean predicted probability of the class in each bin, rising.
    observed : ndarray
        The frequency of the class in each bin: about `predicted` if the probabilities are calibrated.
    rows : ndarray of int
        The rows in each bin.
    sizes : ndarray
        The same; with weights, Kish's effective numbers of rows.
    positive : hashable
        The class.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], size=600)
    >>> y_true = (rng.random(600)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    >>> curve = multiauc.reliability_curves(y_true, p, n_bins=5)[0]
    >>> curve
    ReliabilityCurve(0: 5 bins of 120 rows)
    >>> curve.predicted.round(2), curve.observed.round(2)
    (array([0.05, 0.15, 0.28, 0.44, 0.66]), array([0.02, 0.15, 0.32, 0.43, 0.68]))
    >>> low, high = curve.band()
    >>> bool(np.all((low < curve.predicted) & (curve.predicted < high)))
    True
    """

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    rows: NDArray[np.int64]
    sizes: NDArray[np.float64]
    positive: Any

    def band(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Pointwise Wilson limits of the observed frequency in each bin: two arrays (low, high).

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage. Rows are assumed to be independent.
        """
        fixed = np.zeros_like(self.observed)
        return wilson_limits(self.observed, fixed, fixed, 1.0 / self.sizes, 1.0, options.read_level(level))

    def plot(self, ax: Axes | None = None, **line: Any) -> plotting.ReliabilityDisplay:
        """Draw the curve. Needs matplotlib (``pip install matplotlib``).

        `ax` is a matplotlib Axes, a new one by default; `line` is passed on to ``ax.plot``. Several classes are drawn
        together by `multiauc.plotting.ReliabilityDisplay`.
        """
        from multiauc import plotting  # noqa: PLC0415

        return plotting.ReliabilityDisplay({self.positive: self}).plot(ax, **line)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Everything in plain Python objects, with the limits of the bins."""
        low, high = self.band(level)
        return result.Result.to_dict(self) | {"low": low.tolist(), "high": high.tolist()}

    def _rows(self, level: float) -> list[result.Record]:
        found = self.to_dict(level)
        names = ("predicted", "observed", "low", "high", "rows")
        return [dict(zip(names, row, strict=True)) for row in zip(*(found[name] for name in names), strict=True)]

    def __repr__(self) -> str:
        fewest, most = int(self.rows.min()), int(self.rows.max())
        rows = wording.pluralize(most, "row") if fewest == most else f"{fewest} to {most} rows"
        return f"ReliabilityCurve({self.positive!r}: {wording.pluralize(len(self.rows), 'bin')} of {rows})"


@hints.with_hints
def reliability_curves(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: Literal["quantile", "uniform"] = "quantile",
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> dict[Any, ReliabilityCurve]:
    """The reliability curve of every class: observed frequencies against predicted probabilities.

    Rows are binned by the predicted probability of the class. If the probabilities are calibrated, the frequency of the
    class in a bin is about its mean prediction, and the curve follows the diagonal. Each class is checked separately:
    probabilities may be calibrated for every class and still be wrong about combinations of them.

    The expected calibration error (ECE) is not available on purpose. It is biased upwards, the more so the fewer rows
    per bin, and depends on the bins, so values are not comparable between data sets or with a threshold. To compare
    models by one number use `log_loss_score` or `brier_score`; to test whether probabilities need a correction see
    `CostDecisions.calibration_p_value`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The probability of each class, float32 or float64; every row must sum to 1 (within 1e-6, or 1e-3 in float32).
        With two classes also of shape (n,) or (n, 1), the probability of the second of `labels`.
    n_bins : int, default 10
        The number of bins. Bins without rows are left out, so there may be fewer.
    strategy : {"quantile", "uniform"}, default "quantile"
        Bins that hold the same number of rows (equal probabilities stay together), or bins of the same width.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its curve out, or return a curve with a
        single point, nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row).

    Returns
    -------
    dict
        A `ReliabilityCurve` by label, with `band()` and `plot()`.

    References
    ----------
    J. Bröcker and L. A. Smith, *Increasing the Reliability of Reliability Diagrams*, Weather and Forecasting 22, 2007.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["a", "b", "a", "b", "b", "b"]
    >>> curves = multiauc.reliability_curves(y_true, [0.1, 0.3, 0.4, 0.6, 0.8, 0.9], n_bins=2)
    >>> curves["b"].predicted.round(3), curves["b"].observed.round(3)
    (array([0.267, 0.767]), array([0.333, 1.   ]))
    """
    count = options.positive_integer("n_bins", n_bins)
    how = wording.one_of("strategy", strategy, STRATEGIES)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    probabilities.check_probabilities(sample.scores, "to be compared with shares of rows")
    return fit_reliability(sample, count, how)


def fit_reliability(sample: Sample, count: int = 10, how: str = "quantile") -> dict[Any, ReliabilityCurve]:
    """The same for a sample whose scores are probabilities."""
    classes = sample.reported_classes()
    found = _rust.reliability_points(sample.arguments(), classes, count, how == "uniform")
    labels = [sample.labels[c] for c in classes]
    return {label: ReliabilityCurve(*points, label) for label, points in zip(labels, found, strict=True)}
