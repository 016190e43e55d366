"""Peak extra memory of one call, measured in a process of its own.

Run as ``python -m comparison.memory TOOL METRIC ROWS CLASSES DTYPE``, it prints the extra bytes.
"""

from __future__ import annotations

import ctypes
import resource
import subprocess
import sys
from pathlib import Path

from comparison import data
from comparison.tools import OURS, PEERS, Tool, all_threads

STATUS = Path("/proc/self/status")


def _kibibytes(field: str) -> int:
    [line] = [line for line in STATUS.read_text().splitlines() if line.startswith(f"{field}:")]
    return int(line.split()[1])


def _reset_peak() -> None:
    """Set the kernel's record of this process's peak to what it uses now."""
    Path("/proc/self/clear_refs").write_text("5")


def _return_free_memory() -> None:
    """Give what the allocator keeps for later back to the system, so that a call cannot use it unseen."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def extra_bytes(tool: Tool, n_rows: int, n_classes: int, dtype: str) -> int:
    """Return the peak memory during one call minus the memory in use just before it."""
    threads = all_threads()
    if tool.set_threads is not None:
        tool.set_threads(threads)
    # Loading code and starting threads is not the cost of a call.
    tool.call(*data.smooth(max(2_000, 200_000 // n_classes), n_classes, dtype), threads)
    sample = data.smooth(n_rows, n_classes, dtype)
    if STATUS.exists():
        _return_free_memory()
        _reset_peak()
        before = _kibibytes("VmRSS")
        tool.call(*sample, threads)
        return 1024 * max(0, _kibibytes("VmHWM") - before)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tool.call(*sample, threads)
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def measure(tool: Tool, n_rows: int, n_classes: int, dtype: str) -> float:
    """Return the extra memory of one call as a multiple of the scores' bytes; the call runs in a fresh process."""
    arguments = [tool.name, tool.metric, str(n_rows), str(n_classes), dtype]
    command = [sys.executable, "-m", "comparison.memory", *arguments]
    folder = Path(__file__).resolve().parent.parent
    run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    itemsize = {"float64": 8, "float32": 4}[dtype]
    return int(run.stdout.split()[-1]) / (n_rows * n_classes * itemsize)


def main() -> None:
    """Measure what the command line names."""
    name, metric, n_rows, n_classes, dtype = sys.argv[1:]
    [tool] = [tool for tool in (*OURS, *PEERS) if (tool.name, tool.metric) == (name, metric)]
    print(extra_bytes(tool, int(n_rows), int(n_classes), dtype))


if __name__ == "__main__":
    main()
