"""Files larger than memory: time, peak memory and certainty of `evaluate_dataset` on a Parquet file of 2 GB.

    python benches/files.py [--smoke] [--output FILE] [--folder FOLDER] [--rows N]

The file is written once (into target/bench-files, unless told otherwise) and kept for the next time. Every measurement
is a process of its own, whose peak of resident memory the kernel reports; one that only reads the columns is there to
compare with.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

MEMORY_LIMIT = 512 * 10**6
CLASSES = 10
BLOCK = 2**20
EXACT_SHARE = 8

READ = """
import json, sys, time
from pyarrow import parquet
begun = time.perf_counter()
file = parquet.ParquetFile(sys.argv[1], buffer_size=2**20, pre_buffer=False)
columns = ["y", *(name for name in file.schema_arrow.names if name.startswith("p_"))]
rows = sum(batch.num_rows for batch in file.iter_batches(2**18, columns=columns))
found = {"rows": rows}
"""
EVALUATE = """
import json, sys, time
import multiauc
begun = time.perf_counter()
result = multiauc.evaluate_dataset(sys.argv[1], label="y", memory_limit=int(sys.argv[2]), **json.loads(sys.argv[3]))
names = [name for name in ("auc_mu", "hand_till", "one_vs_rest") if hasattr(result, name)]
found = {
    "rows": int(result.counts.sum()),
    "values": {name: getattr(result, name).value for name in names},
    "widths": {name: getattr(result, name).high - getattr(result, name).low for name in names},
}
"""
MEASURED = """
found["seconds"] = time.perf_counter() - begun
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps(found | {"peak": int(peak.split()[1]) * 1024}))
"""


def write_file(path: Path, n_rows: int, seed: int = 0) -> None:
    """Softmax outputs of a network that is right more often than not, float32, with columns that are not needed."""
    rng = np.random.default_rng(seed)
    part = path.with_suffix(".part")
    writer = None
    for first in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - first)
        codes = rng.integers(CLASSES, size=n)
        logits = rng.normal(size=(n, CLASSES)).astype(np.float32) * 2
        logits[np.arange(n), codes] += 3
        scores = np.exp(logits - logits.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
        columns = {f"p_{k}": scores[:, k] for k in range(CLASSES)}
        table = pa.table({"y": codes.astype(np.int8), "row": np.arange(first, first + n)} | columns)
        writer = writer or parquet.ParquetWriter(part, table.schema)
        writer.write_table(table, row_group_size=BLOCK)
    if writer is not None:
        writer.close()
    part.rename(path)


def kept_file(folder: Path, n_rows: int) -> Path:
    """The file of so many rows, written unless it is there."""
    path = folder / f"predictions-{n_rows}.parquet"
    if not path.exists():
        write_file(path, n_rows)
    return path


def measured(code: str, *arguments: str) -> dict[str, Any]:
    """What a process found that runs this code."""
    command = [sys.executable, "-c", code + MEASURED, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def line(what: str, found: dict[str, Any]) -> str:
    """A row of the table."""
    widths = ", ".join(f"{name} {width:.1e}" for name, width in found.get("widths", {}).items())
    speed = found["rows"] / found["seconds"] / 1e6
    return f"| {what} | {found['seconds']:.1f} | {speed:.2f} | {found['peak'] / 1e6:.0f} | {widths} |"


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="tiny data: numbers without meaning, to see that it runs")
    parser.add_argument("--output", type=Path, help="where to write the table; printed otherwise")
    parser.add_argument("--folder", type=Path, default=Path("target/bench-files"), help="where to keep the file")
    parser.add_argument("--rows", type=int, default=44_000_000, help="how many rows the file has")
    arguments = parser.parse_args()
    n_rows = 20_000 if arguments.smoke else arguments.rows
    arguments.folder.mkdir(parents=True, exist_ok=True)
    path = kept_file(arguments.folder, n_rows)
    # Passes grow with the rows, so that the time of exact counting grows with their square.
    fewer = kept_file(arguments.folder, n_rows // EXACT_SHARE)
    one_metric, two_metrics = '{"metrics": ["one_vs_rest"]}', '{"metrics": ["one_vs_rest", "hand_till"]}'
    exact = '{"metrics": ["one_vs_rest"], "exact": true}'
    limit = str(MEMORY_LIMIT)
    lines = [
        line("only reading the columns", measured(READ, str(path))),
        line("one-vs-rest", measured(EVALUATE, str(path), limit, one_metric)),
        line("one-vs-rest and M", measured(EVALUATE, str(path), limit, two_metrics)),
        line("all three metrics", measured(EVALUATE, str(path), limit, "{}")),
        line(f"one-vs-rest, exact=True, {n_rows // EXACT_SHARE:,} rows", measured(EVALUATE, str(fewer), limit, exact)),
    ]
    text = "\n".join(
        [
            "# Files larger than memory",
            "",
            f"`evaluate_dataset(..., memory_limit={MEMORY_LIMIT:_})` on a Parquet file.",
            f"{path.stat().st_size / 1e9:.2f} GB, {n_rows:,} rows, {CLASSES} classes, float32;",
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}.",
            "",
            "| | seconds | million rows/s | peak of memory, MB | width of the guaranteed bounds |",
            "|---|---:|---:|---:|---|",
            *lines,
            "",
        ]
    )
    if arguments.output is None:
        print(text)
    else:
        arguments.output.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
