"""Proper scores of probabilities: log loss and the Brier score. Smaller is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multiauc._common.hints import with_hints
from multiauc._common.registry import BRIER, LOG_LOSS
from multiauc._input.options import read_metric_options
from multiauc._input.sample import read_sample
from multiauc._metrics.scoring import score_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from multiauc._common.types import Absent, Labels, Outputs


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
        What to do if a class has no rows (or no weight): raise an error, compute the mean over the rows there are, or
        return nan.
    outputs : {"logits"} or None, default None
        What the columns are: None takes them as they are; ``"logits"`` takes the softmax of each row first (of one
        score per row, the logistic function). Scores of different rows are compared, so logits and the probabilities
        made of them have different values.

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
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    return score_of(sample, LOG_LOSS, read_metric_options(sample, clip=clip))


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
    return score_of(read_sample(y_true, y_score, sample_weight, labels, absent, outputs), BRIER, {})
