"""How good predicted classes and probabilities are: Matthews, kappa, top-k accuracy, losses, the confusion matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from multiauc import _rust
from multiauc._common import registry, result, wording
from multiauc._common.hints import with_hints
from multiauc._inference.intervals import ConfidenceInterval, wilson_limits
from multiauc._input.options import read_groups, read_level
from multiauc._input.sample import read_predictions
from multiauc._metrics.scoring import compute_score

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from multiauc._common.types import Absent, Labels, Outputs
    from multiauc._input.sample import Sample
    from multiauc.plotting import ConfusionMatrixDisplay


@with_hints
def matthews_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    partition: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""Gorodkin's R_K: Matthews' correlation coefficient for any number of classes.

    With n rows, :math:`t_k` of them in class k, :math:`p_k` predicted as class k, and c predicted correctly,

    .. math::
        R_K = \frac{c\,n - \sum_k p_k t_k}{\sqrt{(n^2 - \sum_k p_k^2)(n^2 - \sum_k t_k^2)}},

    and 0 if all rows get the same prediction. 1 is perfect, 0 is the chance level; it can be negative.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K) or (n,)
        The score of each row for each class, float32 or float64, in any memory layout. The prediction is the class with
        the highest score; of tied classes the first column wins, as in ``numpy.argmax``. An array of shape (n,) holds
        predicted classes or, with two classes, the probability of the second of `labels`: whole numbers are classes,
        numbers between 0 and 1 probabilities.
    partition : array-like of shape (K, K), optional
        ``partition[i, j]`` is the cost of predicting class i when the truth is j: the prediction is then the class with
        the least expected cost.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes in the order of the columns, as in `auc_mu_score`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, keep it as a class that can only be predicted
        wrongly, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    float
        The value, between -1 and 1.

    See Also
    --------
    evaluate : With a standard error, as the metric ``"matthews"``; also ``"kappa"``, ``"accuracy"``,
        ``"balanced_accuracy"`` and ``"macro_f1"``.

    References
    ----------
    .. [1] J. Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient", Computational
       Biology and Chemistry 28 (2004), 367-374.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.matthews_score(y_true, y_score), 4)
    0.735
    """
    shared = (y_true, y_score, sample_weight, labels, absent, outputs)
    return compute_score("matthews", *shared, read=read_predictions, partition=partition)


@with_hints
def kappa_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    partition: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""Cohen's kappa: accuracy, rescaled so chance agreement is 0 and a perfect prediction 1.

    .. math::
        \kappa = \frac{p_o - p_e}{1 - p_e}, \qquad p_o = \frac{c}{n}, \quad p_e = \sum_k \frac{p_k}{n} \frac{t_k}{n},

    in the notation of `matthews_score`.

    Parameters
    ----------
    y_true, y_score, partition, sample_weight, labels, absent, outputs
        As in `matthews_score`, which explains how scores become predictions.

    Returns
    -------
    float
        The value, between -1 and 1.

    References
    ----------
    .. [1] J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
       (1960), 37-46.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.kappa_score(y_true, y_score), 4)
    0.6875
    """
    shared = (y_true, y_score, sample_weight, labels, absent, outputs)
    return compute_score("kappa", *shared, read=read_predictions, partition=partition)


@with_hints
def top_k_accuracy_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int = registry.DEFAULT_K,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""Top-k accuracy: the share of rows whose class is among the k classes with the highest scores.

    A row counts 1 if fewer than k scores are larger than that of its class and none ties with it for the last place. If
    scores tie for the last places, it counts the fraction of the tied classes that fit in: the expected value if ties
    are broken at random. (scikit-learn breaks them by column order.)

    Parameters
    ----------
    y_true, y_score, sample_weight, labels, outputs
        As in `matthews_score`, with a score for every class or, with two classes, the probability of the second.
    k : int, default 2
        How many of the highest scores count.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, ignore it, or return nan.

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    evaluate : With a standard error, as the metric ``"top_k_accuracy"``.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.2, 0.4, 0.4], [0.5, 0.4, 0.1], [0.4, 0.2, 0.4], [0.1, 0.2, 0.7]]
    >>> multiauc.top_k_accuracy_score(y_true, y_score, k=2)
    0.6
    >>> multiauc.top_k_accuracy_score(y_true, y_score, k=1)
    0.4
    """
    return compute_score("top_k_accuracy", y_true, y_score, sample_weight, labels, absent, outputs, k=k)


@with_hints
def log_loss_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    clip: float | None = None,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""Log loss (cross-entropy): minus the mean logarithm of the probability of the true class.

    .. math::
        L = -\frac{1}{n} \sum_i \ln p_{y_i}(i).

    0 is perfect, and smaller is better; a model that gives every class the same probability has :math:`\ln K`. It is
    scikit-learn's ``log_loss``, except that a probability of 0 for the true class is an error here.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The probability of each class, float32 or float64; every row must sum to 1 (within 1e-6, or 1e-3 in float32).
        With two classes also of shape (n,) or (n, 1), the probability of the second of `labels`.
    clip : float, optional
        Count smaller probabilities of the true class as this one. Without it, a probability of 0 for the true class
        raises an error, because one such row makes the mean infinite. scikit-learn clips at 2.2e-16 (float64).
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows.
    labels : sequence of K labels, optional
        The classes in the order of the columns, as in `auc_mu_score`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, ignore it, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    float
        The value, 0 or larger.

    See Also
    --------
    evaluate : With a standard error, as the metric ``"log_loss"``.
    brier_score : Bounded, and less sensitive to single rows.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.log_loss_score(y_true, y_score), 4)
    0.6114
    """
    return compute_score("log_loss", y_true, y_score, sample_weight, labels, absent, outputs, clip=clip)


@with_hints
def brier_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""The Brier score: the mean squared distance of the probabilities from the true class.

    .. math::
        B = \frac{1}{n} \sum_i \sum_k \bigl(p_k(i) - [y_i = k]\bigr)^2,

    and half of it for two classes, where it is the mean of :math:`(p - y)^2`. 0 is perfect, and smaller is better; the
    largest value is 2, or 1 for two classes, and a model that gives every class the same probability has
    :math:`1 - 1/K` (1/4 for two classes). It is scikit-learn's ``brier_score_loss`` with its default
    ``scale_by_half="auto"``.

    Parameters
    ----------
    y_true, y_score, sample_weight, labels, absent, outputs
        As in `log_loss_score`.

    Returns
    -------
    float
        The value, 0 or larger.

    See Also
    --------
    evaluate : With a standard error, as the metric ``"brier"``.

    References
    ----------
    .. [1] G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950),
       1-3.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.brier_score(y_true, y_score), 4)
    0.344
    """
    return compute_score("brier", y_true, y_score, sample_weight, labels, absent, outputs)


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
        freedom = np.maximum(1.0, self.units - 1.0) if has_units else np.full_like(self.units, np.inf)
        with np.errstate(divide="ignore"):
            return wilson_limits(self.values, self.variances, freedom, 1.0 / self.units, FAILURES, tail)


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
class ConfusionMatrix(result.Printed, result.Tabular):
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
        return self._shares(by).values.copy()

    def standard_errors(self, by: Literal["all", "true", "predicted"] = "true") -> NDArray[np.float64]:
        """The standard errors of the shares; rows are independent, or groups."""
        return np.asarray(np.sqrt(self._shares(by).variances))

    def confidence_interval(
        self, level: float = 0.95, by: Literal["all", "true", "predicted"] = "true"
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wilson's limits of every share, each by itself: two arrays (low, high) of shape (K, K)."""
        return self._shares(by).limits(read_level(level), has_units=self._has_units)

    def _shares(self, by: Any) -> Rates:
        return self._of_entries[wording.one_of("by", by, NORMALISATIONS)]

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
        shares: result.Record = result.plain({"rates": self.normalized(), "low": low, "high": high})
        return self._pick("labels", "counts") | shares | {"per_class": self._rows(level)}

    def _rows(self, level: float) -> list[result.Record]:
        found = {name: self._rates(name) for name in ("precision", "recall", "f1")}
        pairs = product(self.labels, found)
        return [{"label": label, "rate": name, **found[name][label].to_dict(level)} for label, name in pairs]

    def _rates(self, kind: str) -> dict[Any, Rate]:
        rates, title = self._of_classes[kind], {"f1": "F1"}.get(kind, kind)
        return {
            label: Rate(f"{title} of {wording.shown_name(label)}", value, math.sqrt(variance), units, self._has_units)
            for label, value, variance, units in zip(self.labels, *(one.tolist() for one in rates), strict=True)
        }

    def _title(self) -> str:
        size = f"{self.counts.sum():g} rows, {len(self.labels)} classes, accuracy {wording.decimals(self.accuracy)}"
        return f"Confusion matrix of {size}; true classes down, predicted across"

    def _table(self) -> result.Cells:
        shown = self.labels[: result.TABLE_AT_MOST]
        table = [["", *map(result.shorten, shown), "recall", "95% interval"]]
        for label, counts, recall in zip(shown, self.counts.tolist(), self.recall.values(), strict=False):
            limits = wording.format_interval(*recall.confidence_interval())
            cells = [f"{count:g}" for count in counts[: len(shown)]]
            table.append([result.shorten(label), *cells, wording.decimals(recall.value), limits])
        return table

    def _below(self) -> list[str]:
        left_out = len(self.labels) - result.TABLE_AT_MOST
        return [f"and {wording.pluralize(left_out, 'more class', 'more classes')}"] if left_out > 0 else []


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
    Confusion matrix of 5 rows, 3 classes, accuracy 0.8000; true classes down, predicted across
         cat  dog  eel  recall      95% interval
    cat    2    0    0  1.0000  0.3424 to 1.0000
    dog    1    1    0  0.5000  0.0945 to 0.9055
    eel    0    0    1  1.0000  0.2065 to 1.0000
    >>> matrix.normalized()
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    sample = read_predictions(y_true, y_pred, sample_weight, labels, absent, argument="y_pred")
    return count_confusions(sample, read_groups(groups, len(sample.codes)))


def count_confusions(sample: Sample, groups: NDArray[np.uint32] | None) -> ConfusionMatrix:
    """The same for a sample, with the group of each row or None."""
    size, scores = sample.n_classes, sample.scores
    predicted = scores[:, 0] > 0.5 if sample.has_one_score else np.argmax(scores, axis=1)
    rows = (sample.codes.astype(np.uint32), predicted.astype(np.uint32))
    counts, found, f1 = _rust.confusion(*rows, size, sample.weights, groups)
    of_entries = {
        name: Rates(*(one.reshape(size, size) for one in shares))
        for name, shares in zip(NORMALISATIONS, found, strict=True)
    }
    recall, precision = (Rates(*(np.diag(one).copy() for one in of_entries[name])) for name in NORMALISATIONS[1:])
    of_classes = {"recall": recall, "precision": precision, "f1": Rates(*f1)}
    has_units = groups is not None or sample.weights is not None
    return ConfusionMatrix(counts, tuple(sample.labels), of_entries, of_classes, has_units)
