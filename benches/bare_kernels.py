"""Measure how far multiauc is from bare kernels, which check nothing, round differences and leave ties unresolved.

    python benches/bare_kernels.py [--smoke] [--output FILE]

The kernels are no part of this repository: they are built from the folder `shared/prototype` beside it, or from the one
that MULTIAUC_BARE_KERNELS names. Without that folder, or without a Rust compiler, there is nothing to measure.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from comparison import machine
from comparison.command_line import write_report
from comparison.data import smooth
from comparison.grid import DTYPES, TIMES, Size
from comparison.timing import Contestant, take_turns
from comparison.tools import all_threads
from comparison.verdicts import verdict

import multiauc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from comparison.data import Sample

NOTE = (
    "Bare kernels are a yardstick, not a peer: compiled for this processor, they check nothing, take labels for column "
    "numbers, round differences and resolve no ties. Tools take turns with a pause of 5 ms, and the best turn counts. "
    "Softmax of normal logits, int64 labels. In each cell: ours / bare, in nanoseconds per score, and the ratio."
)
FOLDER = Path(os.environ.get("MULTIAUC_BARE_KERNELS") or Path(__file__).parents[2] / "shared" / "prototype")
THREADS = (1, 2)
AUC_MU_SIZES = (Size(10_000, 10), Size(100_000, 10), Size(1_000_000, 10), Size(1_000_000, 3), Size(100_000, 100))
EVALUATE_SIZES = (*AUC_MU_SIZES, Size(1_000_000, 2), Size(10_000_000, 2))
SMALL_SIZES = (Size(1_000, 5), Size(1_000, 2), Size(100, 3))
SMOKE_SIZES = (Size(1_000, 5),)
AUC_MU_AIM = 1.3
EVALUATE_AIM = 4.0
#: Half of what a call took around the kernel when the aim was set, in microseconds.
SMALL_AIM = 15.0
BUDGET_SECONDS = 4.0
MAX_TURNS = 15
#: AUC_mu by bucket tables of eight lanes, two buckets per key: the fastest of the kernels.
AUC_MU, BUCKET_TABLES = 0, 15


@dataclass(frozen=True)
class BareKernels:
    """The library of bare kernels."""

    library: ctypes.CDLL

    def auc_mu(self, sample: Sample, threads: int) -> float:
        """AUC_mu of labels 0, 1, ... and scores, both in one block of memory."""
        labels, scores = sample
        out, times = np.zeros(8), np.zeros(8)
        kind = (AUC_MU, BUCKET_TABLES, 8 * scores.itemsize)
        memory = (scores.ctypes.data, labels.ctypes.data, *scores.shape, threads, 0, out.ctypes.data, times.ctypes.data)
        self.library.auc_run(*kind, *memory)
        return float(out[0])


def reason_to_skip() -> str | None:
    """Why there is nothing to compare with, if so."""
    if not (FOLDER / "build.sh").exists():
        return "the bare kernels are not there: no folder shared/prototype beside the repository"
    if shutil.which("rustc") is None:
        return "the bare kernels cannot be built: no rustc"
    return None


def build(folder: str) -> BareKernels:
    """Build the kernels into a folder, and load them."""
    subprocess.run(["sh", str(FOLDER / "build.sh"), folder], check=True)
    library = ctypes.CDLL(str(Path(folder) / "libprototype.so"))
    sizes, pointers = [ctypes.c_size_t] * 3, [ctypes.c_void_p] * 2
    library.auc_run.argtypes = [*[ctypes.c_int] * 3, *pointers, *sizes, ctypes.c_int, *pointers]
    library.auc_run.restype = None
    return BareKernels(library)


def _evaluate(sample: Sample) -> float:
    return multiauc.evaluate(*sample).auc_mu.value


def best_times(kernels: BareKernels, sample: Sample, threads: int, *, evaluates: bool) -> tuple[float, float]:
    """Seconds of our call and of the bare AUC_mu, on that many threads, in turns."""
    multiauc.set_num_threads(threads)
    ours = partial(_evaluate, sample) if evaluates else partial(multiauc.auc_mu_score, *sample)
    contestants = {"ours": Contestant(ours), "bare": Contestant(partial(kernels.auc_mu, sample, threads))}
    timings = take_turns(contestants, max_turns=MAX_TURNS, budget_seconds=BUDGET_SECONDS)
    return timings["ours"].best, timings["bare"].best


def rows(kernels: BareKernels, sizes: tuple[Size, ...], aim: float, *, evaluates: bool) -> Iterator[str]:
    """A line for each type and size: nanoseconds per score and ratios for each number of threads."""
    for dtype in DTYPES:
        for size in sizes:
            sample = smooth(*size, dtype)
            cells, ratios = [], []
            for threads in THREADS:
                ours, bare = best_times(kernels, sample, threads, evaluates=evaluates)
                ratios.append(ours / bare)
                per_score = 1e9 / sample.scores.size
                cells.append(f"{ours * per_score:.2f} / {bare * per_score:.2f} = {ours / bare:.2f}{TIMES}")
            line = f"| {dtype} | {size} | " + " | ".join(cells) + f" | {verdict(max(ratios), at_most=aim)} |"
            print(line, flush=True)
            yield line


def small_rows(kernels: BareKernels, sizes: tuple[Size, ...]) -> Iterator[str]:
    """A line for each size: microseconds of a call, of the kernel, and of what is around it."""
    for size in sizes:
        ours, bare = (1e6 * seconds for seconds in best_times(kernels, smooth(*size), 1, evaluates=False))
        around = ours - bare
        met = "met" if around <= SMALL_AIM else "**not met**"
        line = f"| {size} | {ours:.1f} | {bare:.1f} | {around:.1f} | at most {SMALL_AIM:.0f}: {met} |"
        print(line, flush=True)
        yield line


def report(*, smoke: bool) -> str:
    """Measure everything and write it up."""
    head = [
        "# Against bare kernels",
        "",
        f"Written by `benches/bare_kernels.py`, a part of `make bench`. {machine.describe()[0]}",
    ]
    reason = reason_to_skip()
    if reason is not None:
        return "\n".join([*head, "", f"Not measured: {reason}."]) + "\n"
    sizes, evaluate_sizes, small_sizes = (SMOKE_SIZES,) * 3 if smoke else (AUC_MU_SIZES, EVALUATE_SIZES, SMALL_SIZES)
    load = os.getloadavg()[0]
    columns = "".join(f" {threads} thread{'s' * (threads > 1)} |" for threads in THREADS)
    table = [f"| type | size |{columns} aim |", "|---|---|" + "---:|" * len(THREADS) + "---|"]
    with tempfile.TemporaryDirectory() as folder:
        kernels = build(folder)
        lines = [
            *head,
            f"Load average before the run: {load:.1f}; beyond the number of cores the ratios are rough.",
            "",
            NOTE,
            "",
            "## `auc_mu_score` against the bare AUC_mu",
            "",
            *table,
            *rows(kernels, sizes, AUC_MU_AIM, evaluates=False),
            "",
            "## `evaluate` (four metrics, all pairs and classes, with standard errors) against the bare AUC_mu",
            "",
            *table,
            *rows(kernels, evaluate_sizes, EVALUATE_AIM, evaluates=True),
            "",
            "## Small calls of `auc_mu_score`: microseconds on one thread, float64",
            "",
            "| size | call | bare kernel | around it | aim |",
            "|---|---:|---:|---:|---|",
            *small_rows(kernels, small_sizes),
        ]
    multiauc.set_num_threads(all_threads())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_report(__doc__, lambda smoke: report(smoke=smoke))
