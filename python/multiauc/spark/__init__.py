"""Spark: exact metrics of data frames that no machine holds, in two passes, and an evaluator for Spark's own tuning."""

import os
import sys

from multiauc._common.hints import needs

with needs("multiauc.spark needs PySpark", "pyspark pyarrow 'pandas<3'"):
    import pyarrow as pa  # noqa: F401 - rows travel between Spark and Python as Arrow batches
    import pyspark  # noqa: F401

# Workers run "python3" of their path unless somebody says otherwise: on one machine hardly ever the interpreter in use.
# Spark reads it when a query is made, so this is early enough for existing sessions.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from multiauc.spark.evaluation import (
    BoundedDifference,
    MulticlassAucEvaluator,
    SliceEvaluations,
    SparkComparison,
    compare,
    evaluate,
)

__all__ = ["BoundedDifference", "MulticlassAucEvaluator", "SliceEvaluations", "SparkComparison", "compare", "evaluate"]
