"""What scikit-learn has: the function that `multiauc.sklearn.roc_auc_score` takes the place of."""

try:
    from sklearn import get_config
    from sklearn.metrics import roc_auc_score as theirs
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "multiauc.sklearn needs scikit-learn; install it with: pip install multiauc[sklearn]"
    ) from error

__all__ = ["get_config", "theirs"]
