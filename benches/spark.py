"""Exact metrics of a Spark data frame against Spark's own BinaryClassificationMetrics, class by class.

    python benches/spark.py [--rows 2000000] [--output FILE]

Both run in one Spark application on the same cached rows: K columns of float64 probabilities and a label. Spark's own
metrics are one-vs-rest values, one class at a time; ours are all pairs of AUC_mu and of M, and one-vs-rest. Bytes that
are shuffled are those that Spark's stages report; memory is that of the driver's Python and of its JVM.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import urllib.request
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyspark
from pyarrow import parquet
from pyspark.mllib.evaluation import BinaryClassificationMetrics
from pyspark.sql import SparkSession

import multiauc
import multiauc.spark

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

CLASSES = 10
#: Classes that Spark's own metrics are measured on; the others take as long.
MEASURED = 3
METRICS = ("auc_mu", "hand_till", "one_vs_rest")
#: How many times faster all pairs must be than Spark's K one-vs-rest values.
TARGET = 10.0
FOLDER = Path("target/bench-spark")


def session() -> SparkSession:
    """Two cores on this machine."""
    made: SparkSession = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("ERROR")
    return made


def rows_of(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of a network."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, CLASSES, size=n)
    logits = rng.normal(size=(n, CLASSES))
    logits[np.arange(n), codes] += 1.5
    powers = np.exp(logits)
    return codes, powers / powers.sum(axis=1, keepdims=True)


def cached(spark: SparkSession, codes: np.ndarray, scores: np.ndarray, partitions: int = 8) -> DataFrame:
    """The rows in Spark's memory, so that nobody's time is that of a disk."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{len(codes)}.parquet"
    parquet.write_table(pa.table({"y": codes, **{f"p_{k}": scores[:, k] for k in range(CLASSES)}}), path)
    df = spark.read.parquet(str(path)).repartition(partitions).persist()
    df.count()
    return df


def shuffled(spark: SparkSession) -> tuple[int, int]:
    """Bytes that all stages so far wrote for others, and how many stages there were."""
    context = spark.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(address) as answer:
        stages = [stage for stage in json.load(answer) if stage["status"] == "COMPLETE"]
    return sum(stage["shuffleWriteBytes"] for stage in stages), len(stages)


def timed(spark: SparkSession, work: Callable[[], Any]) -> tuple[float, int, int, Any]:
    """Seconds, bytes shuffled, stages, and what was found."""
    before, stages = shuffled(spark)
    start = time.perf_counter()
    found = work()
    seconds = time.perf_counter() - start
    after, all_stages = shuffled(spark)
    return seconds, after - before, all_stages - stages, found


def resident(field: str) -> int:
    """Bytes of this process in memory: now (VmRSS), or the most there were (VmHWM)."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def forget_peak() -> None:
    """Let the most that there was be what there is now: the rows were made here, for the comparison."""
    Path("/proc/self/clear_refs").write_text("5")


def jvm_heap(spark: SparkSession) -> int:
    """Bytes of the driver's heap in use, after a collection of garbage; in local mode the executor's too."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - there is no other way to its memory
    jvm.System.gc()
    runtime = jvm.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())


def sparks_own(df: DataFrame, class_: int) -> float:
    """The area of a class against the rest, by Spark."""
    pairs = df.selectExpr(f"p_{class_}", f"double(y = {class_})").rdd.map(lambda row: (float(row[0]), float(row[1])))
    metrics = BinaryClassificationMetrics(pairs)
    area = float(metrics.areaUnderROC)
    metrics.unpersist()
    return area


def report(n: int) -> str:
    """The measurements as Markdown."""
    spark = session()
    codes, scores = rows_of(n)
    df = cached(spark, codes, scores)
    multiauc.spark.evaluate(df.limit(1000), label="y", scores="p_*")  # workers start and import
    lines = [
        "# Spark",
        "",
        (
            f"`python benches/spark.py --rows {n}` on {platform.machine()}, Python {platform.python_version()}, "
            f"PySpark {pyspark.__version__}, multiauc {multiauc.__version__}; master `local[2]`, {CLASSES} classes, "
            "float64, 8 partitions, rows cached. Seconds by the clock, one call each."
        ),
        "",
        "| rows | what | seconds | s per 1e8 cells | MB shuffled | bytes per cell | stages |",
        "|---|---|---|---|---|---|---|",
    ]

    def line(rows: int, what: str, seconds: float, moved: int, stages: int) -> None:
        cells = rows * CLASSES
        lines.append(
            f"| {rows:,} | {what} | {seconds:.1f} | {seconds / cells * 1e8:.0f} | {moved / 1e6:.1f} | "
            f"{moved / cells:.1f} | {stages} |"
        )

    ours, grown = None, 0
    for rows in (n // 4, n // 2, n):
        part = df if rows == n else cached(spark, codes[:rows], scores[:rows])
        kinds: list[tuple[str, dict[str, Any]]] = [
            ("exact: all pairs of AUC_mu and M, one-vs-rest", {}),
            ("exact: all pairs of AUC_mu", {"metrics": ["auc_mu"]}),
            ("guaranteed bounds, all of them", {"exact": False}),
        ]
        for what, options in kinds:
            work = partial(multiauc.spark.evaluate, part, label="y", scores="p_*", **options)
            forget_peak()
            before = resident("VmRSS")
            seconds, moved, stages, found = timed(spark, work)
            grown = max(grown, resident("VmHWM") - before)
            line(rows, what, seconds, moved, stages)
            if rows == n and not options:
                ours = (seconds, found)
        if rows < n:
            part.unpersist()
    heap = jvm_heap(spark)
    assert ours is not None
    expected = multiauc.evaluate(codes, scores)
    equal = all(ours[1].metrics[name].value == expected.metrics[name].value for name in METRICS)
    own = [timed(spark, partial(sparks_own, df, class_)) for class_ in range(MEASURED)]
    for class_, (seconds, moved, stages, _) in enumerate(own):
        line(n, f"BinaryClassificationMetrics, class {class_}", seconds, moved, stages)
    furthest = max(abs(own[class_][3] - expected.per_class[class_].value) for class_ in range(MEASURED))
    # The fastest: other work on the machine can only have made it slower, and so can starting up.
    all_of_theirs = CLASSES * min(seconds for seconds, *_ in own)
    ratio = all_of_theirs / ours[0]
    verdict = "met" if ratio >= TARGET else "**not met**"
    lines += [
        "",
        f"- The exact values are those of `multiauc.evaluate`, bit for bit: {'yes' if equal else '**no**'}.",
        f"- Spark's own values differ from the exact ones by at most {furthest:.0e}.",
        (
            f"- Spark's own {CLASSES} one-vs-rest values would take {all_of_theirs:.0f} s ({CLASSES} times the fastest "
            f"of {MEASURED} classes); all pairs, exactly, took {ours[0]:.1f} s: {ratio:.1f} times faster (at least "
            f"{TARGET:g}: {verdict})."
        ),
        (
            f"- The driver's Python took at most {grown / 1e6:.0f} MB more during a call than before it. The JVM, "
            f"which is driver and executor at once here, held {heap / 1e6:.0f} MB, the cached rows included."
        ),
        "",
    ]
    spark.stop()
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and perhaps write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    text = report(arguments.rows)
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text)


if __name__ == "__main__":
    main()
