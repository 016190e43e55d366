"""scikit-learn's `roc_auc_score`, computed by the compiled core."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multiauc._input.arrays import as_array, as_scores
from multiauc._input.sample import read_weights
from multiauc.sklearn._targets import MultiClass, MultiLabel, binary_score, get_config, theirs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

AVERAGES = ("micro", "macro", "samples", "weighted", None)
MULTI_CLASS = ("raise", "ovr", "ovo")
#: Above this, neighbouring integers can be the same float64.
LARGEST_EXACT_INTEGER = 2**53


class NotOursError(ValueError):
    """A call that scikit-learn's own function has to answer, with a value or with its error."""


def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: Literal["micro", "macro", "samples", "weighted"] | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: Literal["raise", "ovr", "ovo"] = "raise",
    labels: ArrayLike | None = None,
) -> float | NDArray[np.float64]:
    r"""The area under the ROC curve, as scikit-learn's function of this name defines it.

    A replacement for ``sklearn.metrics.roc_auc_score``: the same arguments, values (to rounding), warnings and errors
    for binary, multi-class and multi-label targets, in a fraction of the time. What it cannot compute faster, and every
    call that is wrong, goes to scikit-learn's own function, so that errors are in its words.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, K)
        Labels of two or more classes, or a matrix of zeros and ones with a column per label (multi-label).
    y_score : array-like of shape (n,) or (n, K)
        The score of the greater of two labels, or a score per row and class (or label). As in scikit-learn the columns
        belong to the sorted labels unless `labels` says otherwise; names of a data frame's columns are not read.
    average : {"micro", "macro", "samples", "weighted"} or None, default "macro"
        How the values of several classes or labels become one; None for all of them. Binary targets ignore it.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    max_fpr : float in (0, 1], optional
        Take the area over false positive rates up to this, standardised after McClish [1]_.
    multi_class : {"raise", "ovr", "ovo"}, default "raise"
        With more than two classes: each against the rest, or each against each (Hand & Till's M).
    labels : array-like of shape (K,), optional
        The classes of the columns when there are more than two.

    Returns
    -------
    float or array
        The value; with ``average=None`` an array, of shape (K,) or, for ``"ovo"``, (K, K).

    Notes
    -----
    It allows five things with more than two classes that scikit-learn refuses: `sample_weight` with ``"ovo"``;
    ``average=None`` with ``"ovo"``, which gives the matrix of `multiauc.hand_till_matrix`; `labels` in any order;
    scores whose rows do not sum to 1, such as logits; and `max_fpr`.

    See Also
    --------
    multiauc.sklearn.patch : Put this function in the place of scikit-learn's.

    References
    ----------
    .. [1] D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9 (1989), 190-195.

    Examples
    --------
    >>> from multiauc.sklearn import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> roc_auc_score(["cat", "cat", "dog", "dog", "eel"], y_score, multi_class="ovo")
    0.9375
    """
    options: dict[str, Any] = {
        "average": average,
        "sample_weight": sample_weight,
        "max_fpr": max_fpr,
        "multi_class": multi_class,
        "labels": labels,
    }
    try:
        return _compute(y_true, y_score, **options)
    except (ValueError, TypeError) as error:
        return _ask_scikit_learn(y_true, y_score, options, error)


def _compute(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None,
    sample_weight: Any,
    max_fpr: float | None,
    multi_class: str,
    labels: Any,
) -> float | NDArray[np.float64]:
    """The value, or a ValueError or TypeError if the call is wrong or not one of ours."""
    if average not in AVERAGES or multi_class not in MULTI_CLASS or _returns_foreign_array(y_score):
        raise NotOursError
    if isinstance(labels, (str, bytes)) or not (labels is None or hasattr(labels, "__len__")):
        raise NotOursError
    cut = _read_max_fpr(max_fpr)
    scores = _read_scores(y_score)
    weights = None if sample_weight is None else read_weights(sample_weight, len(scores))
    multi_label = _count_dimensions(y_true) == 2
    if (multi_label or weights is not None) and not np.isfinite(scores).all():
        raise NotOursError  # the core checks only rows that have weight, and columns that have both classes
    if multi_label:
        return MultiLabel.read(as_array("y_true", y_true), scores, weights).score(average, cut)
    if scores.ndim == 2 and scores.shape[1] > 1:
        problem = MultiClass.read(y_true, scores, weights, labels)
        return problem.score(multi_class, average, cut)
    return binary_score(y_true, scores.reshape(-1), weights, cut)


def _read_max_fpr(max_fpr: Any) -> float | None:
    if max_fpr is None:
        return None
    if not isinstance(max_fpr, Real) or not 0 < float(max_fpr) <= 1:
        raise NotOursError
    return None if max_fpr == 1 else float(max_fpr)


def _read_scores(y_score: Any) -> NDArray[np.float32] | NDArray[np.float64]:
    if isinstance(y_score, np.matrix):
        raise NotOursError
    given = as_array("y_score", y_score)
    if given.ndim not in (1, 2) or given.size == 0 or given.dtype == np.longdouble != np.float64:
        raise NotOursError
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8 and np.abs(given).max() > LARGEST_EXACT_INTEGER:
        raise NotOursError
    return as_scores("y_score", given)


def _count_dimensions(y_true: Any) -> int:
    if isinstance(y_true, (list, tuple)):
        return 1 if not y_true or isinstance(y_true[0], str) else 1 + np.ndim(y_true[0])
    shape = getattr(y_true, "shape", None)
    return 1 if shape is None else len(shape)


def _returns_foreign_array(y_score: Any) -> bool:
    """Whether scikit-learn is asked to compute in, and answer with, the arrays of another library."""
    return type(y_score) is not np.ndarray and bool(get_config().get("array_api_dispatch", False))


def _ask_scikit_learn(
    y_true: Any, y_score: Any, options: dict[str, Any], error: Exception
) -> float | NDArray[np.float64]:
    """scikit-learn's answer to a call that is wrong or not one of ours; `error` is what we have to say about it.

    A wrong call that also uses something that only we allow would be refused for that; so it is put to scikit-learn
    with something plain in its place, and where scikit-learn then finds nothing wrong our own error is right.
    """
    beyond = _find_extensions(y_score, options) if _count_dimensions(y_true) == 1 else {}
    if not beyond:
        answer: float | NDArray[np.float64] = theirs(y_true, y_score, **options)
        return answer
    theirs(y_true, beyond.pop("y_score", y_score), **{**options, **beyond})
    raise error


def _find_extensions(y_score: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a multi-class call that only we allow, each with a plain value that scikit-learn allows too."""
    try:
        scores = np.asarray(y_score, dtype=np.float64)
    except (ValueError, TypeError):
        return {}
    if scores.ndim != 2 or scores.shape[1] < 3:
        return {}  # up to two classes, for which we allow nothing more
    beyond: dict[str, Any] = {}
    if options["multi_class"] == "ovo":
        beyond |= {"sample_weight": None} if options["sample_weight"] is not None else {}
        beyond |= {"average": "macro"} if options["average"] is None else {}
    if options["max_fpr"] is not None:
        beyond["max_fpr"] = None
    labels = options["labels"]
    if labels is not None and np.ndim(labels) == 1:
        in_order = np.unique(np.asarray(labels))
        if len(in_order) == len(labels) and not np.array_equal(in_order, labels):
            beyond["labels"] = in_order
    if np.isfinite(scores).all() and not np.allclose(1, scores.sum(axis=1)):
        beyond["y_score"] = np.full(scores.shape, 1 / scores.shape[1])
    return beyond
