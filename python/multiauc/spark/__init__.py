"""Spark: exact metrics of data frames that no machine holds, in two passes, and an evaluator for Spark's own tuning."""

import os
import sys

try:
    import pyarrow as pa  # noqa: F401 - rows travel between Spark and Python as Arrow batches
    import pyspark  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "multiauc.spark needs PySpark; install it with: pip install pyspark pyarrow 'pandas<3'", name=error.name
    ) from error

# Workers run "python3" of their path unless somebody says otherwise: on one machine hardly ever the interpreter in use.
# Spark reads it when a query is made, so that this is early enough for sessions that exist already.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from multiauc.spark.evaluation import (
    BoundedDifference,
    SliceEvaluations,
    SparkComparison,
    compare,
    evaluate,
)
from multiauc.spark.evaluator import MulticlassAucEvaluator

__all__ = [
    "BoundedDifference",
    "MulticlassAucEvaluator",
    "SliceEvaluations",
    "SparkComparison",
    "compare",
    "evaluate",
]
