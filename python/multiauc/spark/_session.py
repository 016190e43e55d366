"""Spark itself: whether it is there, and which Python its workers run."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

try:
    import pyarrow as pa  # noqa: F401 - rows travel between Spark and Python as Arrow batches
    import pyspark  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "multiauc.spark needs pyspark and pyarrow; install them with: pip install multiauc[spark]", name=error.name
    ) from error

# Workers run "python3" of their path unless somebody says otherwise: on one machine hardly ever the interpreter in use.
# Spark reads it when a query is made, so that this is early enough for sessions that exist already.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def cores(df: DataFrame) -> int:
    """How many tasks run at a time."""
    return max(1, int(df.sparkSession.sparkContext.defaultParallelism))


def threads_per_task(df: DataFrame) -> int:
    """How many cores a task has."""
    return max(1, int(df.sparkSession.sparkContext.getConf().get("spark.task.cpus", "1") or 1))
