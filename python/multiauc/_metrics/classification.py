"""How good predicted classes and probabilities are: Matthews, kappa, top-k accuracy, log loss, the Brier score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multiauc._common import registry
from multiauc._common.hints import with_hints
from multiauc._input.sample import read_predictions
from multiauc._metrics.scoring import compute_score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from multiauc._common.types import Absent, Labels, Outputs


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
