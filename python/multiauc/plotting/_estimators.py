"""The scores of a fitted scikit-learn classifier."""

from __future__ import annotations

from typing import Any


def scores_of(estimator: Any, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
    """`predict_proba`, or `decision_function` where there is none."""
    for method in ("predict_proba", "decision_function"):
        if hasattr(estimator, method):
            return getattr(estimator, method)(X)
    raise TypeError(
        f"estimator must have predict_proba or decision_function; got {type(estimator).__name__} without either"
    )
