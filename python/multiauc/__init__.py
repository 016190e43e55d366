"""Exact areas under the ROC curve for classifiers of more than two classes.

One number: `auc_mu_score`, `hand_till_score`, `one_vs_rest_score`, `pdi_score`. All pairs and all classes:
`auc_mu_matrix`, `hand_till_matrix`, `one_vs_rest_per_class`, `roc_curves`. One curve for all pairs: `multiclass_roc`.
With standard errors and intervals: `evaluate` for one model, `compare` for several, `compare_samples` for different
rows, `evaluate_slices` for parts of the rows; `sample_size` plans how many rows they need. Files larger than memory:
`evaluate_dataset`; rows on several machines: `multiauc.dask`, `multiauc.ray`. Volumes, about one row of every class at
a time: `pdi`, `hum`, `ordered_vus`, `landgrebe_duin_score`, `ferri_vus_score`. Labels may be of any kind, scores in any
memory layout.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from multiauc._rust import __version__, debug_build

if TYPE_CHECKING:
    from multiauc import boosting as boosting
    from multiauc import dask as dask
    from multiauc import metrics as metrics
    from multiauc import plotting as plotting
    from multiauc import ray as ray
    from multiauc import sklearn as sklearn
    from multiauc import streaming as streaming
    from multiauc._column_order import ColumnOrderWarning
    from multiauc._surface import RocSurface
    from multiauc.average_precision import average_precision_score
    from multiauc.bootstrap import Bootstrap, BootstrapDifference, ComparisonBootstrap
    from multiauc.comparison import compare
    from multiauc.comparison_results import Comparison
    from multiauc.confusion import ConfusionMatrix, Rate, confusion_matrix
    from multiauc.curves import roc_curves
    from multiauc.datasets import evaluate_dataset
    from multiauc.decision_results import CostComparison, CostDecisions, CostDifference
    from multiauc.decisions import fit_decisions
    from multiauc.densities import NormalScores, ScoreDensities
    from multiauc.differences import Difference
    from multiauc.estimates import Estimate
    from multiauc.evaluation import evaluate
    from multiauc.evaluation_results import Evaluation
    from multiauc.ferri_volumes import ferri_vus_of_confusions, ferri_vus_score
    from multiauc.hard_labels import kappa_score, matthews_score, top_k_accuracy_score
    from multiauc.hull_results import CostCurve, OperatingPoint, RocHull
    from multiauc.hulls import h_measure_score, lc_index, roc_hulls
    from multiauc.hypotheses import OmnibusTest, TestResult
    from multiauc.meta_roc import summary_roc, summary_roc_of_pairs
    from multiauc.meta_roc_results import SummaryRoc, SummaryRocBootstrap, SummaryRocOfPairs
    from multiauc.multiclass_curve_results import MulticlassRoc, MulticlassRocBootstrap, RocBand
    from multiauc.multiclass_curves import multiclass_roc
    from multiauc.one_vs_rest import one_vs_rest_per_class, one_vs_rest_score
    from multiauc.ordered_volumes import ordered_vus, ordered_vus_score
    from multiauc.pairwise import auc_mu_matrix, auc_mu_score, hand_till_matrix, hand_till_score
    from multiauc.partial_areas import PartialAuc, partial_auc, partial_auc_score
    from multiauc.planning import SampleSize, sample_size
    from multiauc.precision_recall import PrecisionRecallCurve, precision_recall_curves
    from multiauc.proper_scores import brier_score, log_loss_score
    from multiauc.results import ConfidenceInterval, PairMatrix
    from multiauc.roc_curve_results import RocCurve, Sensitivity
    from multiauc.slice_results import Slice, Slices
    from multiauc.slices import evaluate_slices
    from multiauc.threads import get_num_threads, set_num_threads
    from multiauc.unpaired import compare_samples
    from multiauc.volume_results import Volume
    from multiauc.volumes import hum, hum_score, landgrebe_duin_score, pdi, pdi_score

__all__ = [
    "Bootstrap",
    "BootstrapDifference",
    "ColumnOrderWarning",
    "Comparison",
    "ComparisonBootstrap",
    "ConfidenceInterval",
    "ConfusionMatrix",
    "CostComparison",
    "CostCurve",
    "CostDecisions",
    "CostDifference",
    "Difference",
    "Estimate",
    "Evaluation",
    "MulticlassRoc",
    "MulticlassRocBootstrap",
    "NormalScores",
    "OmnibusTest",
    "OperatingPoint",
    "PairMatrix",
    "PartialAuc",
    "PrecisionRecallCurve",
    "Rate",
    "RocBand",
    "RocCurve",
    "RocHull",
    "RocSurface",
    "SampleSize",
    "ScoreDensities",
    "Sensitivity",
    "Slice",
    "Slices",
    "SummaryRoc",
    "SummaryRocBootstrap",
    "SummaryRocOfPairs",
    "TestResult",
    "Volume",
    "__version__",
    "auc_mu_matrix",
    "auc_mu_score",
    "average_precision_score",
    "brier_score",
    "compare",
    "compare_samples",
    "confusion_matrix",
    "evaluate",
    "evaluate_dataset",
    "evaluate_slices",
    "ferri_vus_of_confusions",
    "ferri_vus_score",
    "fit_decisions",
    "get_num_threads",
    "h_measure_score",
    "hand_till_matrix",
    "hand_till_score",
    "hum",
    "hum_score",
    "kappa_score",
    "landgrebe_duin_score",
    "lc_index",
    "log_loss_score",
    "matthews_score",
    "multiclass_roc",
    "one_vs_rest_per_class",
    "one_vs_rest_score",
    "ordered_vus",
    "ordered_vus_score",
    "partial_auc",
    "partial_auc_score",
    "pdi",
    "pdi_score",
    "precision_recall_curves",
    "roc_curves",
    "roc_hulls",
    "sample_size",
    "set_num_threads",
    "summary_roc",
    "summary_roc_of_pairs",
    "top_k_accuracy_score",
]

#: The public names of each module. A module is loaded when one of its names is first used, so that `import multiauc`
#: takes no longer than importing NumPy.
_NAMES = {
    "_column_order": ["ColumnOrderWarning"],
    "_surface": ["RocSurface"],
    "average_precision": ["average_precision_score"],
    "bootstrap": ["Bootstrap", "BootstrapDifference", "ComparisonBootstrap"],
    "comparison": ["compare"],
    "comparison_results": ["Comparison"],
    "confusion": ["ConfusionMatrix", "Rate", "confusion_matrix"],
    "curves": ["roc_curves"],
    "datasets": ["evaluate_dataset"],
    "densities": ["NormalScores", "ScoreDensities"],
    "decision_results": ["CostComparison", "CostDecisions", "CostDifference"],
    "decisions": ["fit_decisions"],
    "differences": ["Difference"],
    "estimates": ["Estimate"],
    "evaluation": ["evaluate"],
    "evaluation_results": ["Evaluation"],
    "ferri_volumes": ["ferri_vus_of_confusions", "ferri_vus_score"],
    "hard_labels": ["kappa_score", "matthews_score", "top_k_accuracy_score"],
    "hull_results": ["CostCurve", "OperatingPoint", "RocHull"],
    "hulls": ["h_measure_score", "lc_index", "roc_hulls"],
    "hypotheses": ["OmnibusTest", "TestResult"],
    "meta_roc": ["summary_roc", "summary_roc_of_pairs"],
    "meta_roc_results": ["SummaryRoc", "SummaryRocBootstrap", "SummaryRocOfPairs"],
    "multiclass_curve_results": ["MulticlassRoc", "MulticlassRocBootstrap", "RocBand"],
    "multiclass_curves": ["multiclass_roc"],
    "one_vs_rest": ["one_vs_rest_per_class", "one_vs_rest_score"],
    "ordered_volumes": ["ordered_vus", "ordered_vus_score"],
    "pairwise": ["auc_mu_matrix", "auc_mu_score", "hand_till_matrix", "hand_till_score"],
    "partial_areas": ["PartialAuc", "partial_auc", "partial_auc_score"],
    "planning": ["SampleSize", "sample_size"],
    "precision_recall": ["PrecisionRecallCurve", "precision_recall_curves"],
    "proper_scores": ["brier_score", "log_loss_score"],
    "results": ["ConfidenceInterval", "PairMatrix"],
    "roc_curve_results": ["RocCurve", "Sensitivity"],
    "slice_results": ["Slice", "Slices"],
    "slices": ["evaluate_slices"],
    "threads": ["get_num_threads", "set_num_threads"],
    "unpaired": ["compare_samples"],
    "volume_results": ["Volume"],
    "volumes": ["hum", "hum_score", "landgrebe_duin_score", "pdi", "pdi_score"],
}

#: The public modules, loaded when first used too. They are not in `__all__`: `sklearn` needs scikit-learn.
_MODULES = ["boosting", "dask", "metrics", "plotting", "ray", "sklearn", "spark", "streaming"]


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"multiauc.{module}"), name)
            return value
    if name in _MODULES:
        try:
            return import_module(f"multiauc.{name}")
        except ModuleNotFoundError as error:
            # What looks at all names of a module expects no other error for a name that is not there.
            raise AttributeError(str(error)) from error
    raise AttributeError(f"module 'multiauc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])


if debug_build:
    import warnings

    warnings.warn("multiauc was compiled without optimisation and is very slow", RuntimeWarning, stacklevel=2)
    del warnings

del debug_build
