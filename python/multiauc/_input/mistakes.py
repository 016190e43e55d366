"""Things that are given in the place of scores: models, and the classes that they predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._input.arrays import as_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._input.labels import LabelColumn

# The methods of fitted models that give scores, in the order of preference.
SCORING = ("predict_proba", "decision_function")
SCORES_WANTED = "pass a score per class, such as the output of predict_proba(X) or decision_function(X)"
DECISIONS_ALONE = "for metrics of decisions, such as kappa, y_pred[:, None] == labels will do"


def not_scores(y_score: Any, error: TypeError) -> TypeError:
    """What is wrong with `y_score`, of which `error` says no more than that it has no numbers."""
    if not hasattr(y_score, "dtype") and (
        hasattr(y_score, "predict") or any(hasattr(y_score, name) for name in SCORING)
    ):
        kind = y_score.__name__ if isinstance(y_score, type) else type(y_score).__name__
        method = next((name for name in SCORING if hasattr(y_score, name)), None)
        cure = "pass its scores, a column per class" if method is None else f"pass its scores, .{method}(X)"
        return TypeError(f"y_score must be an array of scores; got a model, {kind}: {cure}")
    found = as_array("y_score", y_score)
    is_column = found.size > 0 and found.ndim in (1, 2) and found.size == len(found)
    first = found.ravel()[0] if is_column else None
    if isinstance(first, (str, bytes)) and not _is_number(first):
        what = f"classes such as {str(first)!r}, as predict(X) returns them"
        return TypeError(f"y_score must hold real numbers; got {what}: {SCORES_WANTED}; {DECISIONS_ALONE}")
    return error


def one_score_of_many_classes(scores: NDArray[Any], column: LabelColumn, labels: Any) -> str | None:
    """A hint, if there is one number per row but more than two classes; `labels` as they were given."""
    n_classes = max(len(column.distinct), len(labels) if hasattr(labels, "__len__") else 0)
    if scores.shape[1] > 1 or n_classes < 3:
        return None
    try:
        are_labels = {float(label) for label in column.distinct}.issuperset(np.unique(scores).tolist())
    except (TypeError, ValueError):
        are_labels = False
    what = "holds classes, as predict(X) returns them" if are_labels else "has one number per row"
    cure = f"{SCORES_WANTED}; {DECISIONS_ALONE}" if are_labels else SCORES_WANTED
    return f"y_score {what}: with more than two classes, {cure}"


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
