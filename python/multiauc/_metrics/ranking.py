"""How well scores rank rows: pairs of classes (AUC_mu, Hand & Till's M), and each class against the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from multiauc import _rust
from multiauc._common.hints import with_hints
from multiauc._common.wording import one_of
from multiauc._inference.pair_matrix import PairMatrix
from multiauc._input.arrays import is_sparse
from multiauc._input.options import read_metric_options, read_pair_weights
from multiauc._input.sample import HeldInputs, read_sample, read_sparse_sample
from multiauc._metrics.scoring import AVERAGES, compute_score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from multiauc._common.types import Absent, Average, Labels, Outputs, PairWeights, SparseMatrix
    from multiauc._input.sample import ClassedRows, Sample


@with_hints
def auc_mu_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    partition: ArrayLike | None = None,
    pair_weights: PairWeights = None,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""AUC_mu: the mean AUC over pairs of classes, each pair ranked by the difference of its two scores.

    For classes c and d, rows are ranked by the difference of the two scores. S(c, d) is the fraction of pairs of rows,
    one of each class, in the right order (a tie counts one half):

    .. math::
        S(c, d) = \frac{1}{n_c n_d} \sum_{a \in c} \sum_{b \in d}
                  \psi\bigl((p_c - p_d)(a) - (p_c - p_d)(b)\bigr),
        \qquad
        \mathrm{AUC}_\mu = \frac{2}{K (K - 1)} \sum_{c < d} S(c, d)

    with :math:`\psi(u)` = 1, 1/2 or 0 for u > 0, u = 0 or u < 0. If argmax is always right the value is 1; the chance
    level is 1/2. With two classes this is the usual AUC.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class: probabilities, or other finite scores that compare between rows (for
        logits see `outputs`), float32 or float64, in any memory layout. With two classes also of shape (n,) or
        (n, 1), the score of the second of `labels`.
    partition : array-like of shape (K, K), optional
        ``partition[i, j]`` is the cost of predicting class i when the truth is j, classes in the order of `labels`:
        rows are predictions, which is the transpose of scikit-learn's confusion matrix. A pair is then ranked by
        :math:`\sigma\, v \cdot p`, where v is row c minus row d of the matrix and :math:`\sigma` the sign of
        :math:`v_c - v_d` (if that is 0, the matrix does not distinguish the two classes, and S(c, d) is 1/2).
        Default: all errors cost the same, which is the partition by argmax. If the rows of the matrix have different
        sums, the rows of `y_score` must sum to 1.
    pair_weights : {"size_product", "size_sum"} or array-like of shape (K, K), optional
        The weight of each pair in the mean: equal by default; ``"size_product"`` for n_c n_d (the paper's AUC_mu^S);
        ``"size_sum"`` for n_c + n_d; or a symmetric array of non-negative weights, whose diagonal is ignored.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave out its pairs and give their weight to
        the others, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    float
        The value, between 0 and 1.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid; the message names the argument, what was found and what to pass. Examples: nan or
        infinite scores, negative weights, labels that are not in `labels`, fewer than two classes with rows.

    See Also
    --------
    auc_mu_matrix : The S(c, d) of all pairs.
    hand_till_score : Ranks rows by one score at a time instead of a difference.

    Notes
    -----
    Ties do not depend on rounding. On paper 0.3 - 0.2 and 0.2 - 0.1 are equal; in floating point they are not. So a
    float64 score that is the nearest double to a decimal of up to six digits, or to a fraction with a denominator of at
    most 1000 (rounded scores, vote shares, tree leaves), counts as that fraction. All other scores count as exactly
    their floating-point value, and differences are not rounded. float32 scores count as fractions only if all of them
    are multiples of the same 1/m, with m at most 1000 or a power of ten up to a million, because a float32 number is
    often close to some fraction by accident. With a general `partition` matrix, rows are compared by their
    floating-point sums.

    A one-dimensional score s stands for the columns (1 - s, s), without computing them: the result is the AUC of s.

    References
    ----------
    .. [1] R. Kleiman and D. Page, "AUC_mu: a performance metric for multi-class machine learning models", ICML 2019,
       PMLR 97, 3439-3447.

    Examples
    --------
    A classifier whose argmax is always right, although no single column ranks its class first everywhere:

    >>> import multiauc
    >>> y_score = [[6 / 16, 5 / 16, 5 / 16], [7 / 16, 9 / 16, 0], [7 / 16, 0, 9 / 16]]
    >>> multiauc.auc_mu_score([0, 1, 2], y_score)
    1.0
    >>> round(multiauc.hand_till_score([0, 1, 2], y_score), 4)
    0.6667
    """
    shared = (y_true, y_score, sample_weight, labels, absent, outputs)
    return compute_score("auc_mu", *shared, partition=partition, pair_weights=pair_weights)


@with_hints
def auc_mu_matrix(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    partition: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> PairMatrix:
    r"""The S(c, d) behind AUC_mu: how well each pair of classes is separated.

    .. math::
        S(c, d) = \frac{1}{n_c n_d} \sum_{a \in c} \sum_{b \in d}
                  \psi\bigl((p_c - p_d)(a) - (p_c - p_d)(b)\bigr)

    with :math:`\psi(u)` = 1, 1/2 or 0 for u > 0, u = 0 or u < 0. Symmetric; the mean over all pairs is
    `auc_mu_score`, where ties and the partition matrix are explained.

    Parameters
    ----------
    y_true, y_score, partition, sample_weight, labels, outputs
        As in `auc_mu_score`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, or fill its row and column with nan (both
        ``"ignore"`` and ``"nan"``).

    Returns
    -------
    PairMatrix
        With ``.values`` (K x K, nan on the diagonal), ``.standard_error``, ``.labels``, ``.counts``, ``.between(c, d)``
        and ``.worst()``.

    References
    ----------
    .. [1] R. Kleiman and D. Page, "AUC_mu: a performance metric for multi-class machine learning models", ICML 2019,
       PMLR 97, 3439-3447.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> multiauc.auc_mu_matrix(y_true, y_score).worst(1)
    [('cat', 'dog', 0.75)]
    """
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    return _compute_pairs(sample, "auc_mu", partition)


@with_hints
def hand_till_score(
    y_true: ArrayLike,
    y_score: ArrayLike | SparseMatrix,
    *,
    pair_weights: PairWeights = None,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""Hand & Till's M (AU1U): the mean AUC of ordered pairs of classes, each ranked by the score of its first class.

    .. math::
        A(c|d) = \frac{1}{n_c n_d} \sum_{a \in c} \sum_{b \in d} \psi\bigl(p_c(a) - p_c(b)\bigr),
        \qquad
        M = \frac{1}{K (K - 1)} \sum_{c \ne d} A(c|d)

    with :math:`\psi(u)` = 1, 1/2 or 0 for u > 0, u = 0 or u < 0. The chance level is 1/2. M can be below 1 although
    argmax is always right; `auc_mu_score` cannot. With two classes whose scores sum to 1, M is the usual AUC.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like or sparse matrix of shape (n, K)
        The score of each row for each class: probabilities, or other finite scores that compare between rows (for
        logits see `outputs`), float32 or float64, in any memory layout. With two classes also of shape (n,) or (n, 1),
        the score of the second of `labels`. In a ``scipy.sparse`` matrix or array, entries that are not stored are
        scores of 0, and duplicate entries are added; time and memory grow with the number of stored entries, even for
        100,000 classes.
    pair_weights : {"size_product", "size_sum"} or array-like of shape (K, K), optional
        The weight of each pair, the same for A(c|d) and A(d|c): equal by default; ``"size_product"`` for n_c n_d;
        ``"size_sum"`` for n_c + n_d (scikit-learn's ``multi_class="ovo"`` with ``average="weighted"``); or a symmetric
        array of non-negative weights, whose diagonal is ignored.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave out its pairs and give their weight to
        the others, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    float
        The value, between 0 and 1.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid; the message names the argument, what was found and what to pass.

    See Also
    --------
    hand_till_matrix : The A(c|d) of all pairs.

    Notes
    -----
    Two rows tie, and count one half, if the scores compared are equal as they are stored; no tolerance is applied.

    References
    ----------
    .. [1] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for multiple class
       classification problems", Machine Learning 45 (2001), 171-186.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> multiauc.hand_till_score(y_true, y_score)
    0.9375
    """
    if is_sparse(y_score):
        stored = read_sparse_sample(y_true, y_score, sample_weight, labels, absent, outputs)
        weights = read_pair_weights(pair_weights, stored)
        return stored.nan_if_absent(_rust.sparse_hand_till(stored.core, weights))
    shared = (y_true, y_score, sample_weight, labels, absent, outputs)
    return compute_score("hand_till", *shared, pair_weights=pair_weights)


@with_hints
def hand_till_matrix(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> PairMatrix:
    r"""The A(c|d) behind Hand & Till's M: how well the score of class c separates it from class d.

    .. math::
        A(c|d) = \frac{1}{n_c n_d} \sum_{a \in c} \sum_{b \in d} \psi\bigl(p_c(a) - p_c(b)\bigr)

    with :math:`\psi(u)` = 1, 1/2 or 0 for u > 0, u = 0 or u < 0. Row c uses the score of class c, so the matrix is not
    symmetric; the mean over all ordered pairs is `hand_till_score`.

    Parameters
    ----------
    y_true, y_score, sample_weight, labels, outputs
        As in `hand_till_score`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, or fill its row and column with nan (both
        ``"ignore"`` and ``"nan"``).

    Returns
    -------
    PairMatrix
        With ``.values`` (K x K, nan on the diagonal), ``.standard_error``, ``.labels``, ``.counts``, ``.between(c, d)``
        and ``.worst()``.

    References
    ----------
    .. [1] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for multiple class
       classification problems", Machine Learning 45 (2001), 171-186.

    Examples
    --------
    The score for dogs separates them from cats a little better than the score for cats does:

    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> multiauc.hand_till_matrix(y_true, y_score)
    PairMatrix: hand_till of 3 classes
            cat     dog     eel
    cat       -  0.7500  1.0000
    dog  0.8750       -  1.0000
    eel  1.0000  1.0000       -
    """
    return _compute_pairs(read_sample(y_true, y_score, sample_weight, labels, absent, outputs), "hand_till")


def _compute_pairs(sample: Sample, metric: str, partition: Any = None) -> PairMatrix:
    options = read_metric_options(sample, partition=partition)
    values = _rust.pair_matrix(sample.arguments(), metric, options)
    return PairMatrix(values, tuple(sample.labels), sample.rows, metric, _inputs=HeldInputs(sample, (metric,), options))


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
    r"""One-vs-rest AUC: each class against all others by its own score, averaged over the classes.

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
        the score of the second of `labels`. In a ``scipy.sparse`` matrix or array, entries that are not stored are
        scores of 0, and duplicate entries are added; time and memory grow with the number of stored entries, even for
        100,000 classes.
    average : {"macro", "prevalence", "prevalence_equal_rest", "micro"}, default "macro"
        ``"macro"`` (AUNU): the mean of the A(c). ``"prevalence"`` (AUNP): their mean weighted by class size,
        :math:`\sum_c (n_c / n) A(c)`, which Provost and Domingos [1]_ proposed (scikit-learn's ``multi_class="ovr"``
        with ``average="weighted"``). ``"prevalence_equal_rest"``: :math:`\sum_c (n_c / n) \frac{1}{K-1} \sum_{d \ne c}
        A(c|d)`, which weights the classes of the rest equally. ``"micro"``: the AUC of all n K scores in one ranking,
        positive in the column of the row's own class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out (``"micro"`` leaves out its
        column), or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    float
        The value, between 0 and 1.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid; the message names the argument, what was found and what to pass.

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
    kind = one_of("average", average, AVERAGES)
    if is_sparse(y_score):
        stored = read_sparse_sample(y_true, y_score, sample_weight, labels, absent, outputs)
        return stored.nan_if_absent(_rust.sparse_one_vs_rest(stored.core, kind))
    return compute_score("one_vs_rest", y_true, y_score, sample_weight, labels, absent, outputs, average=kind)


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
    r"""The AUC of each class against all others pooled, by its own score.

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
        values = _rust.sparse_one_vs_rest_per_class(stored.core).tolist()
    else:
        sample = dense = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
        values = _rust.one_vs_rest_per_class(dense.arguments()).tolist()
    return {sample.labels[c]: values[c] for c in sample.reported_classes()}


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
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes in the order of the columns, as in `auc_mu_score`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

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
    Average precision weights mistakes by how high they rank, so it favours groups of rows in which the class is
    frequent and scores are high [1]_. A model can gain average precision by serving such a group better and the others
    worse. It is not "the AUC for rare classes": if every pair of rows should count the same, use an AUC; if the
    precision at the top of a ranked list matters, use this metric.

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
    by_average = {"macro": "average_precision", "prevalence": "average_precision_prevalence"}
    metric = by_average[one_of("average", average, tuple(by_average))]
    return compute_score(metric, y_true, y_score, sample_weight, labels, absent, outputs)
