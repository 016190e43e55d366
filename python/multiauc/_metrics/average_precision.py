"""Average precision: the mean precision of each class against the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from multiauc._common.hints import with_hints
from multiauc._common.registry import AVERAGE_PRECISION, AVERAGE_PRECISION_PREVALENCE
from multiauc._common.wording import one_of
from multiauc._input.sample import read_sample
from multiauc._metrics.scoring import score_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from multiauc._common.types import Absent, Labels, Outputs

#: The metric of each average.
AVERAGES = {"macro": AVERAGE_PRECISION, "prevalence": AVERAGE_PRECISION_PREVALENCE}


@with_hints
def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: Literal["macro", "prevalence"] = "macro",
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""Average precision of each class against the rest, averaged over the classes.

    For class c, precision at a threshold t is the share of class c among the rows with :math:`p_c \ge t`. Average
    precision is its mean over the rows of class c, each taken at its own score:

    .. math::
        AP_c = \frac{1}{n_c} \sum_{i \in c} \frac{\#\{a \in c : p_c(a) \ge p_c(i)\}}{\#\{b : p_c(b) \ge p_c(i)\}},

    which equals :math:`\sum_t (R_t - R_{t-1}) P_t` over the distinct scores t, scikit-learn's sum without
    interpolation, ties included. Chance is the prevalence of the class, so values of different samples, classes or
    slices are only comparable if their prevalences are.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`: the value is then that of the second class alone, as in
        scikit-learn.
    average : {"macro", "prevalence"}, default "macro"
        Whether every class has the same weight, or its share of the rows.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace all counts, so a row of weight 2 counts like two rows
        and a row of weight 0 not at all.
    labels : sequence of K labels, optional
        The classes in the order of the columns, as in `auc_mu_score`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out, or return nan.
    outputs : {"logits"} or None, default None
        What the columns are: None takes them as they are; ``"logits"`` takes the softmax of each row first (of one
        score per row, the logistic function). Scores of different rows are compared, so logits and the probabilities
        made of them have different values.

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    evaluate : With a standard error, as the metrics ``"average_precision"`` and ``"average_precision_prevalence"``.
    precision_recall_curves : The curve of every class, with its own average precision.

    Notes
    -----
    Average precision weights mistakes by how high they rank, and so favours getting the groups of rows right that have
    high scores because the class is frequent among them [1]_. A model can gain average precision by serving such a
    group better while it serves the others worse. It is not "the AUC for rare classes": where you want every pair of
    rows to count the same, use an AUC; where the precision of the top of a ranked list is what matters, use this.

    References
    ----------
    .. [1] M. B. A. McDermott, H. Zhang, L. H. Hansen, G. Angelotti and J. Gallifant, "A closer look at AUROC and AUPRC
       under class imbalance", Advances in Neural Information Processing Systems 37 (2024).

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.average_precision_score(y_true, y_score), 4)
    0.8889
    """
    metric = AVERAGES[one_of("average", average, tuple(AVERAGES))]
    return score_of(read_sample(y_true, y_score, sample_weight, labels, absent, outputs), metric, {})
