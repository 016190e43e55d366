"""The function that `multiauc.sklearn.roc_auc_score` takes the place of."""

from sklearn.metrics import roc_auc_score as theirs

__all__ = ["theirs"]
