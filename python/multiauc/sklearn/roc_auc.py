"""scikit-learn's `roc_auc_score`, computed by the compiled core, and the patch that puts it in the place of theirs."""

from __future__ import annotations

import sys
from itertools import permutations
from numbers import Real
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from multiauc import _rust
from multiauc._common.hints import needs
from multiauc._input.arrays import as_array, as_scores
from multiauc._input.labels import match_classes, read_label_column
from multiauc._input.sample import read_weights

with needs("multiauc.sklearn needs scikit-learn", "scikit-learn"):
    import sklearn.metrics
    from sklearn.metrics import roc_auc_score as theirs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from multiauc._input.labels import LabelColumn

    Weights = NDArray[np.float64] | None

AVERAGES = ("micro", "macro", "samples", "weighted", None)
MULTI_CLASS = ("raise", "ovr", "ovo")


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

    A drop-in for ``sklearn.metrics.roc_auc_score``: the same arguments and values (to rounding) for binary, multi-class
    and multi-label targets, in a fraction of the time; the Notes list the exceptions. Calls that it does not speed up,
    and invalid calls, go to scikit-learn's own function, which raises its own errors.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, K)
        Labels of two or more classes, or a matrix of zeros and ones with a column per label (multi-label).
    y_score : array-like of shape (n,) or (n, K)
        The score of the greater of two labels, or a score per row and class (or label). As in scikit-learn the columns
        belong to the sorted labels unless `labels` says otherwise; names of a data frame's columns are not read.
    average : {"micro", "macro", "samples", "weighted"} or None, default "macro"
        How to average the values of several classes or labels; None returns all of them. Binary targets ignore it.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    max_fpr : float in (0, 1], optional
        Use the area over false positive rates up to this, standardised after McClish [1]_.
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
    options: dict[str, Any] = {"average": average, "multi_class": multi_class, "max_fpr": max_fpr}
    options |= {"sample_weight": sample_weight, "labels": labels}
    try:
        return _compute(y_true, y_score, **options)
    except (ValueError, TypeError) as error:
        return _ask_scikit_learn(y_true, y_score, options, error)


def _compute(
    y_true: Any, y_score: Any, *, average: Any, sample_weight: Any, max_fpr: Any, multi_class: Any, labels: Any
) -> float | NDArray[np.float64]:
    """The value, or a ValueError or TypeError if the call is wrong or not one of ours."""
    if average not in AVERAGES or multi_class not in MULTI_CLASS or _returns_foreign_array(y_score):
        raise NotOursError
    if isinstance(labels, (str, bytes)) or not (labels is None or hasattr(labels, "__len__")):
        raise NotOursError
    if max_fpr is not None and not (isinstance(max_fpr, Real) and 0 < float(max_fpr) <= 1):
        raise NotOursError
    cut = None if max_fpr in (None, 1) else float(max_fpr)
    scores = _read_scores(y_score)
    weights = None if sample_weight is None else read_weights(sample_weight, len(scores))
    multi_label = _count_dimensions(y_true) == 2
    if (multi_label or weights is not None) and not np.isfinite(scores).all():
        raise NotOursError  # the core checks only rows that have weight, and columns that have both classes
    if multi_label:
        return _average_labels(_read_indicators(y_true, scores), scores, weights, average, cut)
    if scores.ndim == 2 and scores.shape[1] > 1:
        return _average_classes(y_true, scores, weights, labels, multi_class, average, cut)
    column = _read_classes(y_true, len(scores), 2)
    if not len(set(column.distinct)) == len(column.distinct) == 2:
        raise ValueError("y_true must hold two different labels")
    is_positive, _ = column.to_columns([0, 1] if column.distinct[0] < column.distinct[1] else [1, 0], 2)
    return _score_column(scores.reshape(-1), is_positive, weights, cut)


def _read_scores(y_score: Any) -> NDArray[np.float32] | NDArray[np.float64]:
    given = as_array("y_score", y_score)
    is_wide = given.dtype == np.longdouble != np.float64
    if isinstance(y_score, np.matrix) or given.ndim not in (1, 2) or given.size == 0 or is_wide:
        raise NotOursError
    return as_scores("y_score", given)


def _count_dimensions(y_true: Any) -> int:
    if isinstance(y_true, (list, tuple)):
        return 1 if not y_true or isinstance(y_true[0], str) else 1 + np.ndim(y_true[0])
    shape = getattr(y_true, "shape", None)
    return 1 if shape is None else len(shape)


def _returns_foreign_array(y_score: Any) -> bool:
    """Whether scikit-learn is asked to compute in, and answer with, the arrays of another library."""
    return type(y_score) is not np.ndarray and bool(sklearn.get_config().get("array_api_dispatch", False))


def _read_classes(y_true: Any, n_rows: int, n_columns: int) -> LabelColumn:
    """Labels that scikit-learn takes for classes: whole numbers or strings; a ValueError otherwise."""
    column = read_label_column(y_true, n_rows, n_columns)
    kinds = {type(label) for label in column.distinct}
    are_numbers = len(kinds) == 1 and kinds <= {int, float, bool} and getattr(y_true, "dtype", None) != np.object_
    if kinds != {str} and not (are_numbers and all(label == int(label) for label in column.distinct)):
        raise ValueError("y_true must hold whole numbers or strings")
    return column


def _read_indicators(y_true: Any, scores: NDArray[Any]) -> NDArray[np.uint8]:
    """Which labels each row has: zeros and ones, in the shape of the scores."""
    given = as_array("y_true", y_true)
    if given.shape != scores.shape or given.ndim != 2 or given.shape[1] < 2 or given.dtype.kind not in "biuf":
        raise ValueError("y_true must be a matrix of the same shape as y_score")
    if given.dtype != np.bool_ and not ((given == 0) | (given == 1)).all():
        raise ValueError("y_true must hold zeros and ones alone")
    return given.astype(np.uint8)


def _score_column(scores: NDArray[Any], is_positive: Any, weights: Weights, max_fpr: float | None) -> float:
    """The AUC of one score; both classes must have rows."""
    if weights is not None and 0 in _rust.class_sizes(is_positive, weights, 2)[0]:
        raise ValueError("sample_weight must have positive weights for both classes")
    sample = _rust.Sample(scores[:, np.newaxis], is_positive, weights)
    if max_fpr is None:
        return _rust.score(sample, "hand_till")
    return _rust.partial_aucs(sample, [(1, None)], "max_fpr", max_fpr)[0][0]


def _average_labels(
    has_label: NDArray[np.uint8], scores: NDArray[Any], weights: Weights, average: str | None, max_fpr: float | None
) -> float | NDArray[np.float64]:
    """The values of all labels, or their average; nan and a warning where all rows are alike."""
    averaged_by = None
    if average == "micro":
        weights = None if weights is None else weights.repeat(scores.shape[1])
        has_label, scores = has_label.reshape(-1, 1), scores.reshape(-1, 1)
    elif average == "samples":
        has_label, scores, averaged_by, weights = has_label.T, scores.T, weights, None
    elif average == "weighted":
        averaged_by = has_label.sum(axis=0) if weights is None else weights @ has_label
        if np.isclose(averaged_by.sum(), 0):
            raise ValueError("y_true must have positive labels")
    values = np.full(scores.shape[1], np.nan)
    for k in range(scores.shape[1]):
        is_positive = np.ascontiguousarray(has_label[:, k])
        if is_positive.min() < is_positive.max():
            values[k] = _score_column(scores[:, k], is_positive, weights, max_fpr)
    _warn_undefined(int(np.isnan(values).sum()))
    return values if average is None else _weighted_mean(values, averaged_by)


def _average_classes(
    y_true: Any,
    scores: NDArray[Any],
    weights: Weights,
    labels: Any,
    multi_class: str,
    average: str | None,
    max_fpr: float | None,
) -> float | NDArray[np.float64]:
    """Each class against the rest ("ovr") or against each other class ("ovo"): all values, or their average."""
    n_columns = scores.shape[1]
    column = _read_classes(y_true, len(scores), n_columns)
    if n_columns == 2 and len(column.distinct) <= 2:
        raise ValueError("y_score must be one-dimensional for two classes")
    codes, rows = column.to_columns(match_classes(column, labels, None, n_columns)[1], n_columns)
    sizes = rows.astype(np.float64)
    if weights is not None:
        positive, sizes = _rust.class_sizes(codes, weights, n_columns)
        if ((positive == 0) & (rows > 0)).any():
            raise ValueError("sample_weight must have positive weights for all classes that have rows")
    if np.count_nonzero(rows) < 2:
        raise ValueError("y_true must have rows of at least two classes")
    sample = _rust.Sample(scores, codes, weights)
    if (multi_class, average) == ("ovr", "micro"):
        # All cells in one ranking, those of classes without rows among them.
        if max_fpr is None and rows.all():
            return _rust.one_vs_rest(sample, "micro")
        is_class = codes[:, None] == np.arange(n_columns, dtype=codes.dtype)
        return _average_labels(is_class.view(np.uint8), scores, weights, "micro", max_fpr)
    if multi_class == "raise" or average not in ("macro", "weighted", None):
        raise ValueError(f"average={average!r} is not defined for multi_class={multi_class!r}")
    score = _one_vs_rest if multi_class == "ovr" else _one_vs_one
    return score(sample, sizes, average, max_fpr)


def _one_vs_rest(
    sample: _rust.Sample, sizes: NDArray[np.float64], average: str | None, max_fpr: float | None
) -> float | NDArray[np.float64]:
    """Each class against the rest; nan and a warning for those without rows."""
    if max_fpr is None:
        values = _rust.one_vs_rest_per_class(sample)
    else:
        values = np.array(_rust.partial_aucs(sample, [(c, None) for c in range(len(sizes))], "max_fpr", max_fpr)[0])
    _warn_undefined(int(np.count_nonzero(sizes == 0)))
    return values if average is None else _weighted_mean(values, sizes if average == "weighted" else None)


def _one_vs_one(
    sample: _rust.Sample, sizes: NDArray[np.float64], average: str | None, max_fpr: float | None
) -> float | NDArray[np.float64]:
    """Each class that has rows against each other."""
    is_weighted = average == "weighted"
    if max_fpr is None and average is None:
        return _rust.pair_matrix(sample, "hand_till")
    if max_fpr is None:
        return _rust.score(sample, "hand_till", _rust.MetricOptions(pair_weights="size_sum" if is_weighted else None))
    pairs: list[Any] = list(permutations(np.flatnonzero(sizes).tolist(), 2))
    first, second = np.transpose(pairs)
    values: NDArray[np.float64] = np.array(_rust.partial_aucs(sample, pairs, "max_fpr", max_fpr)[0])
    if average is None:
        matrix = np.full((len(sizes), len(sizes)), np.nan)
        matrix[first, second] = values
        return matrix
    return _weighted_mean(values, sizes[first] + sizes[second] if is_weighted else None)


def _weighted_mean(values: NDArray[np.float64], weights: NDArray[Any] | None) -> float:
    """The mean, in which undefined values of no weight do not count."""
    if weights is None:
        return float(values.mean())
    return float(np.average(np.where(weights == 0, 0.0, values), weights=weights))


def _warn_undefined(times: int) -> None:
    """Let scikit-learn raise its own warning of an undefined value, with the right text, class and origin."""
    for _ in range(times):
        theirs([0], [0.0])


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
    is_ovo, labels = options["multi_class"] == "ovo", options["labels"]
    in_order = labels if labels is None or np.ndim(labels) != 1 else np.unique(labels)
    are_moved = in_order is not labels and len(in_order) == len(labels) and not np.array_equal(in_order, labels)
    sum_to_one = not np.isfinite(scores).all() or np.allclose(1, scores.sum(axis=1))
    plain = {
        "sample_weight": (None, is_ovo and options["sample_weight"] is not None),
        "average": ("macro", is_ovo and options["average"] is None),
        "max_fpr": (None, options["max_fpr"] is not None),
        "labels": (in_order, are_moved),
        "y_score": (np.full(scores.shape, 1 / scores.shape[1]), not sum_to_one),
    }
    return {name: value for name, (value, is_beyond) in plain.items() if is_beyond}


class Patch:
    """The handle that `patch` returns: `undo` reverts it, and so does leaving a ``with`` block.

    With several patches, the last one to be undone restores scikit-learn's function.

    Examples
    --------
    >>> import sklearn.metrics
    >>> import multiauc.sklearn
    >>> patched = multiauc.sklearn.patch()
    >>> sklearn.metrics.roc_auc_score is multiauc.sklearn.roc_auc_score
    True
    >>> patched.undo()
    >>> sklearn.metrics.roc_auc_score is multiauc.sklearn.roc_auc_score
    False
    """

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: list[tuple[Any, str]] = list(_find_places(theirs))
        for owner, name in self._places:
            setattr(owner, name, roc_auc_score)
        _in_force.append(self)

    def undo(self) -> None:
        """Restore scikit-learn's function wherever it was replaced, unless other code has replaced it since.

        Modules outside scikit-learn that were loaded in the meantime keep the new function.
        """
        if self not in _in_force:
            return
        _in_force.remove(self)
        places, self._places = self._places, []
        if _in_force:
            _in_force[-1]._places += places  # noqa: SLF001 - of the same class
            return
        of_scikit_learn = [place for place in _find_places(roc_auc_score) if _belongs_to_scikit_learn(place[0])]
        for owner, name in [*places, *of_scikit_learn]:
            if getattr(owner, name, None) is roc_auc_score:
                setattr(owner, name, theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()

    def __repr__(self) -> str:
        return f"Patch(roc_auc_score in {len(self._places)} places)"


#: The patches that have not been undone.
_in_force: list[Patch] = []


def patch() -> Patch:
    """Replace ``sklearn.metrics.roc_auc_score`` by `multiauc.sklearn.roc_auc_score`, everywhere it is in use.

    That is: in scikit-learn's own modules and scorers (``scoring="roc_auc"``, ``"roc_auc_ovr"``, ``"roc_auc_ovo"`` and
    their weighted versions), and in every module loaded so far that has imported the function, under any name. Copies
    kept elsewhere, such as in a list or as a default argument, stay as they are. Modules loaded later import the new
    function, and keep it when the patch is undone. Worker processes of joblib get it with the scorers they are sent.

    Returns
    -------
    Patch
        Call its ``undo()`` to go back, or use ``with patch():`` to replace the function within a block.

    Examples
    --------
    >>> import multiauc.sklearn
    >>> with multiauc.sklearn.patch():
    ...     from sklearn.metrics import roc_auc_score
    ...     roc_auc_score is multiauc.sklearn.roc_auc_score
    True
    """
    return Patch()


def _find_places(function: Any) -> Iterator[tuple[Any, str]]:
    """Every (module or scorer, attribute) that is `function`, outside this package."""
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and not module.__name__.startswith("multiauc."):
            for name in [name for name, value in vars(module).items() if value is function]:
                yield module, name
    for scorer in sklearn.metrics._scorer._SCORERS.values():  # noqa: SLF001 - scikit-learn has no public list of them
        if scorer._score_func is function:  # noqa: SLF001
            yield scorer, "_score_func"


def _belongs_to_scikit_learn(owner: Any) -> bool:
    """Whether a module or scorer is one of scikit-learn's own."""
    return not isinstance(owner, ModuleType) or owner.__name__.partition(".")[0] == "sklearn"
