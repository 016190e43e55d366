"""For projects built on scikit-learn: its `roc_auc_score` made fast, and scorers for model selection.

`roc_auc_score` takes the arguments of scikit-learn's function and gives its results, warnings and errors; `patch` puts
it in that function's place everywhere. `auc_mu_scorer`, `hand_till_scorer`, `one_vs_rest_scorer` and
`one_vs_rest_prevalence_scorer` go into ``scoring=`` of `cross_validate`, `GridSearchCV` and similar functions.
`cross_validate_evaluation` and `cross_validate_comparison` give metrics within folds with their intervals and tests.

Needs scikit-learn (``pip install scikit-learn``).
"""

from multiauc.sklearn.roc_auc import Patch, patch, roc_auc_score  # isort: skip - says so if scikit-learn is missing
from multiauc.sklearn.model_selection import (
    AucScorer,
    auc_mu_scorer,
    cross_validate_comparison,
    cross_validate_evaluation,
    hand_till_scorer,
    one_vs_rest_prevalence_scorer,
    one_vs_rest_scorer,
)

__all__ = [
    "AucScorer",
    "Patch",
    "auc_mu_scorer",
    "cross_validate_comparison",
    "cross_validate_evaluation",
    "hand_till_scorer",
    "one_vs_rest_prevalence_scorer",
    "one_vs_rest_scorer",
    "patch",
    "roc_auc_score",
]
