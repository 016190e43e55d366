"""Exact areas under the ROC curve for classifiers of more than two classes.

One number: `auc_mu_score`, `hand_till_score`, `one_vs_rest_score`. All pairs and all classes: `auc_mu_matrix`,
`hand_till_matrix`, `one_vs_rest_per_class`, `roc_curves`. One curve for all pairs: `multiclass_roc`. With standard
errors and intervals: `evaluate` for one model, `compare` for several. Labels may be of any kind, scores in any memory
layout.
"""

from multiauc._rust import __version__, debug_build
from multiauc.bootstrap import Bootstrap, BootstrapDifference, ComparisonBootstrap
from multiauc.comparison import Comparison, compare
from multiauc.curves import roc_curves
from multiauc.differences import Difference
from multiauc.estimates import Estimate
from multiauc.evaluation import Evaluation, evaluate
from multiauc.multiclass_roc import multiclass_roc
from multiauc.multiclass_roc_results import MulticlassRoc, MulticlassRocBootstrap, RocBand
from multiauc.one_vs_rest import one_vs_rest_per_class, one_vs_rest_score
from multiauc.pairwise import auc_mu_matrix, auc_mu_score, hand_till_matrix, hand_till_score
from multiauc.partial_auc import PartialAuc, partial_auc, partial_auc_score
from multiauc.results import ConfidenceInterval, PairMatrix, RocCurve
from multiauc.threads import get_num_threads, set_num_threads

__all__ = [
    "Bootstrap",
    "BootstrapDifference",
    "Comparison",
    "ComparisonBootstrap",
    "ConfidenceInterval",
    "Difference",
    "Estimate",
    "Evaluation",
    "MulticlassRoc",
    "MulticlassRocBootstrap",
    "PairMatrix",
    "PartialAuc",
    "RocBand",
    "RocCurve",
    "__version__",
    "auc_mu_matrix",
    "auc_mu_score",
    "compare",
    "evaluate",
    "get_num_threads",
    "hand_till_matrix",
    "hand_till_score",
    "multiclass_roc",
    "one_vs_rest_per_class",
    "one_vs_rest_score",
    "partial_auc",
    "partial_auc_score",
    "roc_curves",
    "set_num_threads",
]

if debug_build:
    import warnings

    warnings.warn("multiauc was compiled without optimisation and is very slow", RuntimeWarning, stacklevel=2)
    del warnings

del debug_build
