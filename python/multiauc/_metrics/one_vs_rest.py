"""Each class against all the others together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc import _rust
from multiauc._common.hints import with_hints
from multiauc._common.wording import one_of
from multiauc._input.arrays import is_sparse
from multiauc._input.sample import read_sample
from multiauc._input.sparse import read_sparse_sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from multiauc._common.types import Absent, Average, Labels, Outputs, SparseMatrix
    from multiauc._input.sample import ClassedRows, Sample

AVERAGES = ("macro", "prevalence", "prevalence_equal_rest", "micro")


@with_hints
def one_vs_rest_score(
    y_true: ArrayLike,
    y_score: ArrayLike | SparseMatrix,
    *,
    average: Average = "macro",
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""One-vs-rest AUC: each class against all the others by its own score, averaged over the classes.

    With :math:`A(c|d)` the AUC of column c for class c against class d (see `hand_till_matrix`), n rows and K classes,

    .. math::
        A(c) = \sum_{d \ne c} \frac{n_d}{n - n_c} A(c|d)

    is the AUC of class c against the pooled rest.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like or sparse matrix of shape (n, K)
        The score of each row for each class: probabilities, or other finite scores that compare between rows (for
        logits see `outputs`), float32 or float64, in any memory layout. With two classes also of shape (n,) or (n, 1),
        the score of the second of `labels`. Of a ``scipy.sparse`` matrix or array, what is not stored is a score of 0,
        and several numbers stored for one cell are added; time and memory grow with what is stored, also for 100,000
        classes.
    average : {"macro", "prevalence", "prevalence_equal_rest", "micro"}, default "macro"
        ``"macro"``: the mean of the A(c). ``"prevalence"``: their mean weighted by the class sizes, :math:`\sum_c (n_c
        / n) A(c)`, which Provost and Domingos [1]_ proposed (scikit-learn's ``multi_class="ovr"`` with
        ``average="weighted"``). ``"prevalence_equal_rest"``: :math:`\sum_c (n_c / n) \frac{1}{K-1} \sum_{d \ne c}
        A(c|d)`, in which the classes of the rest count alike whatever their sizes. ``"micro"``: the AUC of all n K
        cells of `y_score` in one ranking, a cell being positive if it stands in the column of its row's class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights take the place of all counts, so that a row of weight 2 counts
        like two rows and a row of weight 0 not at all.
    labels : sequence of K labels, optional
        The classes in the order of the columns; of a data frame whose columns are named by these classes, the names say
        which column is which. By default the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out (``"micro"`` leaves out its
        column), or return nan.
    outputs : {"logits"} or None, default None
        What the columns are: None takes them as they are; ``"logits"`` takes the softmax of each row first (of one
        score per row, the logistic function). Scores of different rows are compared, so logits and the probabilities
        made of them have different values.

    Returns
    -------
    float
        The value, between 0 and 1.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be used; the message says which, what was found and what is accepted.

    See Also
    --------
    one_vs_rest_per_class : The A(c) themselves.

    Notes
    -----
    Two rows tie, and count one half, if the scores compared are equal as they are stored; no tolerance is applied.

    A one-dimensional score is a single column, so every average, ``"micro"`` included, is its AUC.

    References
    ----------
    .. [1] F. Provost and P. Domingos, "Well-trained PETs: improving probability estimation trees", CeDER working paper
       IS-00-04, Stern School of Business, New York University, 2000.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.one_vs_rest_score(y_true, y_score), 4)
    0.9167
    >>> round(multiauc.one_vs_rest_score(y_true, y_score, average="prevalence"), 4)
    0.9
    """
    if is_sparse(y_score):
        stored = read_sparse_sample(y_true, y_score, sample_weight, labels, absent, outputs)
        kind = one_of("average", average, AVERAGES)
        return stored.nan_if_absent(_rust.sparse_one_vs_rest(stored.arguments(), kind))
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    return one_vs_rest_of(sample, one_of("average", average, AVERAGES))


def one_vs_rest_of(sample: Sample, average: str) -> float:
    """The average AUC of the classes against the rest."""
    return sample.nan_if_absent(_rust.one_vs_rest(sample.arguments(), average))


@with_hints
def one_vs_rest_per_class(
    y_true: ArrayLike,
    y_score: ArrayLike | SparseMatrix,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> dict[Any, float]:
    r"""The AUC of each class against all the others together, by its own score.

    .. math::
        A(c) = \frac{1}{n_c (n - n_c)} \sum_{a \in c} \sum_{b \notin c} \psi\bigl(p_c(a) - p_c(b)\bigr)

    with :math:`\psi(u)` = 1, 1/2 or 0 for u > 0, u = 0 or u < 0.

    Parameters
    ----------
    y_true, y_score, sample_weight, labels, outputs
        As in `one_vs_rest_score`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out of the result, or give it nan.

    Returns
    -------
    dict
        The value of each class by its label, in the order of the columns.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> per_class = multiauc.one_vs_rest_per_class(y_true, y_score)
    >>> {label: round(value, 4) for label, value in per_class.items()}
    {'cat': 0.8333, 'dog': 0.9167, 'eel': 1.0}
    """
    sample: ClassedRows
    if is_sparse(y_score):
        sample = stored = read_sparse_sample(y_true, y_score, sample_weight, labels, absent, outputs)
        values = _rust.sparse_one_vs_rest_per_class(stored.arguments()).tolist()
    else:
        sample = dense = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
        values = _rust.one_vs_rest_per_class(dense.arguments()).tolist()
    return {sample.labels[c]: values[c] for c in sample.reported_classes()}
