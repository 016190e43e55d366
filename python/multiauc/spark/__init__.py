"""Spark: exact metrics of data frames that no machine holds, in two passes, and an evaluator for Spark's own tuning."""

from multiauc.spark import _session as _session  # isort: skip - first: it says what to install
from multiauc.spark.comparison import CertifiedDifference, SparkComparison, compare
from multiauc.spark.evaluation import evaluate
from multiauc.spark.evaluator import MulticlassAucEvaluator
from multiauc.spark.slices import SliceEvaluations

__all__ = [
    "CertifiedDifference",
    "MulticlassAucEvaluator",
    "SliceEvaluations",
    "SparkComparison",
    "compare",
    "evaluate",
]
