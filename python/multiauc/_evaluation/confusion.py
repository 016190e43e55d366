"""The confusion matrix, with intervals for its entries and for precision, recall and F1 of every class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from multiauc._common import result, wording
from multiauc._common.hints import with_hints
from multiauc._inference.intervals import ConfidenceInterval, Wilson, WorstCase
from multiauc._input.options import read_groups, read_level
from multiauc._input.sample import read_predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Absent, Labels
    from multiauc._input.sample import Sample
    from multiauc.plotting import ConfusionMatrixDisplay

#: What the entries of a normalised matrix sum to one over: nothing, a true class, a predicted class, all rows.
NORMALISATIONS = ("all", "true", "predicted")

# With so many failures seen, the data and the worst case count the same.
FAILURES = 0.25


class Rates(NamedTuple):
    """Shares of rows, with what their intervals need: arrays of one shape."""

    values: NDArray[np.float64]
    variances: NDArray[np.float64]
    #: How many independent rows (or groups) the denominators are worth.
    units: NDArray[np.float64]

    def limits(self, tail: float, *, has_units: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wilson's limits with the effective numbers of rows; nan where there are no rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = np.maximum(1.0, self.units - 1.0) if has_units else np.full_like(self.units, np.inf)
            wilson = Wilson.of(self.values, self.variances, freedom, WorstCase(1.0 / self.units, FAILURES))
            return wilson.limits_beyond(tail)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rate(result.Number, result.Tabular):
    """A share of rows with its uncertainty, such as the recall of a class.

    Attributes
    ----------
    name : str
        What it is.
    value : float
        The share; nan if it is a share of no rows.
    standard_error : float
        By the delta method, over rows or over groups.
    effective_rows : float
        How many independent rows the share rests on: fewer than there are with weights or groups.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "cat", "dog", "dog", "eel"]
    >>> matrix = multiauc.confusion_matrix(y_true, ["cat", "cat", "dog", "dog", "dog", "eel"])
    >>> round(matrix.recall["cat"].value, 4)
    0.6667
    """

    name: str
    value: float
    standard_error: float
    effective_rows: float
    _has_units: bool = False

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """Wilson's interval; with weights or groups, that of the effective number of rows."""
        known = (np.array([one]) for one in (self.value, self.standard_error**2, self.effective_rows))
        limits = Rates(*known).limits(read_level(level), has_units=self._has_units)
        return ConfidenceInterval(*(float(one[0]) for one in limits))

    def to_dict(self, level: float = 0.95) -> result.Record:
        """Value, standard error and the limits of the interval by name; nan if they are missing."""
        return self._pick("value", "standard_error") | self.confidence_interval(level)._asdict()

    def _rows(self, level: float) -> list[result.Record]:
        return [{"name": self.name, **self.to_dict(level)}]

    def __repr__(self) -> str:
        limits = wording.format_interval(*self.confidence_interval())
        return f"Rate({wording.printable(self.name)} {wording.decimals(self.value)}, 95% interval {limits})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfusionMatrix(result.Tabular):
    """How often rows of each true class (rows) are predicted to be of each class (columns).

    Attributes
    ----------
    counts : ndarray of shape (K, K)
        Rows, or sums of weights; ``counts[i, j]`` of class i that are predicted to be of class j. Read-only.
    labels : tuple
        The classes.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "cat", "dog", "dog", "eel"]
    >>> matrix = multiauc.confusion_matrix(y_true, ["cat", "cat", "dog", "dog", "dog", "eel"])
    >>> matrix.counts
    array([[2., 1., 0.],
           [0., 2., 0.],
           [0., 0., 1.]])
    >>> matrix.recall["cat"]
    Rate(recall of cat 0.6667, 95% interval 0.2077 to 0.9385)
    """

    counts: NDArray[np.float64]
    labels: tuple[Any, ...]
    _of_entries: dict[str, Rates]
    _of_classes: dict[str, Rates]
    _has_units: bool

    def normalized(self, by: Literal["all", "true", "predicted"] = "true") -> NDArray[np.float64]:
        """The entries as shares.

        Parameters
        ----------
        by : {"all", "true", "predicted"}, default "true"
            Shares of all rows, of the rows of the true class (a row of the matrix sums to 1, and the diagonal has the
            recalls), or of the rows that are predicted to be of the class (a column sums to 1, and the diagonal has
            the precisions).
        """
        return self._of_entries[wording.one_of("by", by, NORMALISATIONS)].values.copy()

    def standard_errors(self, by: Literal["all", "true", "predicted"] = "true") -> NDArray[np.float64]:
        """The standard errors of the shares; rows are independent, or groups."""
        return np.asarray(np.sqrt(self._of_entries[wording.one_of("by", by, NORMALISATIONS)].variances))

    def confidence_interval(
        self, level: float = 0.95, by: Literal["all", "true", "predicted"] = "true"
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wilson's limits of every share, each by itself: two arrays (low, high) of shape (K, K)."""
        return self._of_entries[wording.one_of("by", by, NORMALISATIONS)].limits(
            read_level(level), has_units=self._has_units
        )

    @property
    def recall(self) -> dict[Any, Rate]:
        """By class, the share of its rows that are predicted to be of it."""
        return self._rates("recall")

    @property
    def precision(self) -> dict[Any, Rate]:
        """By class, the share of the rows predicted to be of it that are; nan if there are none."""
        return self._rates("precision")

    @property
    def f1(self) -> dict[Any, Rate]:
        """By class, the harmonic mean of precision and recall."""
        return self._rates("f1")

    @property
    def accuracy(self) -> float:
        """The share of rows whose prediction is right."""
        return float(np.trace(self.counts) / self.counts.sum())

    def plot(self, ax: Axes | None = None, *, by: Any = "true", **image: Any) -> ConfusionMatrixDisplay:
        """Draw the matrix. Needs matplotlib (``pip install matplotlib``).

        `ax` is a matplotlib Axes, a new one by default; `by` is what the shares are shares of, as in `normalized`;
        `image` is passed on to ``ax.imshow``.
        """
        from multiauc.plotting import ConfusionMatrixDisplay  # noqa: PLC0415

        return ConfusionMatrixDisplay(self).plot(ax, by=by, **image)

    def to_dict(self, level: float = 0.95) -> result.Record:
        """All numbers as plain Python objects, with intervals at this level; nan if a number is missing."""
        low, high = self.confidence_interval(level)
        arrays = {"rates": self.normalized(), "low": low, "high": high}
        shares = {name: shares.tolist() for name, shares in arrays.items()}
        return self._pick("labels", "counts") | shares | {"per_class": self._rows(level)}

    def _rows(self, level: float) -> list[result.Record]:
        found = [("precision", self.precision), ("recall", self.recall), ("f1", self.f1)]
        return [
            {"label": label, "rate": name, **rates[label].to_dict(level)}
            for label in self.labels
            for name, rates in found
        ]

    def _rates(self, kind: str) -> dict[Any, Rate]:
        rates, title = self._of_classes[kind], {"f1": "F1"}.get(kind, kind)
        return {
            label: Rate(f"{title} of {wording.shown_name(label)}", value, math.sqrt(variance), units, self._has_units)
            for label, value, variance, units in zip(self.labels, *(one.tolist() for one in rates), strict=True)
        }

    def __repr__(self) -> str:
        accuracy = wording.decimals(self.accuracy)
        return f"ConfusionMatrix({self.counts.sum():g} rows, {len(self.labels)} classes, accuracy {accuracy})"


@with_hints
def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
) -> ConfusionMatrix:
    r"""The confusion matrix of predicted classes, with intervals for its entries and for every class.

    Entry (i, j) counts the rows of true class i that are predicted to be of class j. Shares of rows have the standard
    errors of the delta method and Wilson's intervals with the effective number of rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_pred : array-like of shape (n,) or (n, K)
        The predicted class of each row, or a score for every class: then the class of the highest score is predicted,
        and of equal ones that of the first column.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows.
    groups : array-like of shape (n,), optional
        The group of each row (patient, user, document), if rows of one group are similar: standard errors then treat
        groups, not rows, as independent.
    labels : sequence of K labels, optional
        The classes, in the order of rows and columns; by default the sorted labels of `y_true` and `y_pred`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows in `y_true`: raise an error, or keep it, with rates of nan where they are
        shares of no rows (``"ignore"`` and ``"nan"``).

    Returns
    -------
    ConfusionMatrix
        With `counts`, `normalized`, `confidence_interval`, and `precision`, `recall` and `f1` of every class.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> matrix = multiauc.confusion_matrix(y_true, y_score)
    >>> matrix
    ConfusionMatrix(5 rows, 3 classes, accuracy 0.8000)
    >>> matrix.normalized()
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    sample = read_predictions(y_true, y_pred, sample_weight, labels, absent, argument="y_pred")
    return count_confusions(sample, read_groups(groups, len(sample.codes)))


def count_confusions(sample: Sample, of_rows: NDArray[Any] | None) -> ConfusionMatrix:
    """The same for a sample, with the group of each row or None."""
    size = sample.n_classes
    truth, predicted = sample.codes.astype(np.int64), np.argmax(sample.scores, axis=1)
    if sample.has_one_score:
        predicted = (sample.scores[:, 0] > 0.5).astype(np.int64)
    weights = np.ones(len(truth)) if sample.weights is None else sample.weights
    units = np.arange(len(truth)) if of_rows is None else of_rows.astype(np.int64)
    entries = _Masses(truth * size + predicted, weights, units)
    rows, columns = np.divmod(np.arange(size * size), size)
    bases = [(np.zeros_like(truth), np.zeros_like(rows)), (truth, rows), (predicted, columns)]
    of_entries = {}
    for name, (of_row, of_entry) in zip(NORMALISATIONS, bases, strict=True):
        found = _divide(entries, _Masses(of_row, weights, units), of_entry, is_grouped=of_rows is not None)
        of_entries[name] = Rates(*(one.reshape(size, size) for one in found))
    recall, precision = (Rates(*(np.diag(one).copy() for one in of_entries[name])) for name in NORMALISATIONS[1:])
    # F1 = right rows over the mean of the class's rows and of those predicted to be of it.
    is_right = truth == predicted
    right = _Masses(truth[is_right], weights[is_right], units[is_right])
    halves = _Masses(np.concatenate([truth, predicted]), np.tile(0.5 * weights, 2), np.tile(units, 2))
    f1 = _divide(right, halves, np.arange(size), is_grouped=of_rows is not None)
    of_classes = {"recall": recall, "precision": precision, "f1": f1}
    counts = _add(truth * size + predicted, weights, size * size).reshape(size, size)
    has_units = of_rows is not None or sample.weights is not None
    return ConfusionMatrix(counts, tuple(sample.labels), of_entries, of_classes, has_units)


def _add(keys: NDArray[np.int64], weights: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Sums of weights by key."""
    return np.bincount(keys, weights=weights, minlength=size).astype(np.float64)


class _Masses:
    """Sums of weights by key and by unit, a row or a group, where there are any."""

    def __init__(self, keys: NDArray[np.int64], weights: NDArray[np.float64], units: NDArray[np.int64]) -> None:
        counts = weights > 0.0
        stride = int(units.max(initial=0)) + 1
        self.pairs, inverse = np.unique(keys[counts] * stride + units[counts], return_inverse=True)
        self.sums = _add(inverse, weights[counts], len(self.pairs))
        self.keys, self.units = np.divmod(self.pairs, stride)

    def total(self, size: int, factors: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Sums over units, of the masses or of their products with others."""
        return _add(self.keys, self.sums if factors is None else self.sums * factors, size)


def _divide(parts: _Masses, wholes: _Masses, whole_of: NDArray[np.int64], *, is_grouped: bool) -> Rates:
    """Shares of sums in other sums: by key the value, its variance over units, and the effective number of units.

    The variance of A/B is the sum over units of (a - A/B b)^2, over B^2.
    """
    size, n_wholes = len(whole_of), int(whole_of.max()) + 1
    part, whole = parts.total(size), wholes.total(n_wholes)
    stride = max(int(parts.units.max(initial=0)), int(wholes.units.max(initial=0))) + 1
    # What the unit of each part has of the whole that it is a part of.
    keys = wholes.keys * stride + wholes.units
    places = np.searchsorted(keys, whole_of[parts.keys] * stride + parts.units)
    beside = wholes.sums[np.minimum(places, len(keys) - 1)] if len(keys) else np.zeros(0)
    squares = wholes.total(n_wholes, wholes.sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = part / whole[whole_of]
        units = (whole**2 / squares)[whole_of]
        spread = (
            parts.total(size, parts.sums) - 2.0 * values * parts.total(size, beside) + values**2 * squares[whole_of]
        )
        variances = np.maximum(spread, 0.0) / whole[whole_of] ** 2
        if is_grouped:
            variances *= units / (units - 1.0)
    return Rates(values, variances, units)
