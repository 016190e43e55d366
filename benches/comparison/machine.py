"""What the measurements were made on and with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

from comparison.tools import OURS, PEERS, all_threads


def processor() -> str:
    """Return the processor's name."""
    source = Path("/proc/cpuinfo")
    if source.exists():
        for line in source.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def memory() -> str:
    """Return the size of the main memory."""
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"


def describe() -> list[str]:
    """Return lines on the machine and the versions of everything that takes part."""
    versions = {tool.package: tool.version for tool in (*OURS, *PEERS) if tool.missing() is None}
    if "torchmetrics" in versions:
        versions["torch"] = importlib.metadata.version("torch")
    versions["numpy"] = importlib.metadata.version("numpy")
    return [
        f"Machine: {processor()}, {all_threads()} cores, {memory()} of memory, {platform.system()}.",
        f"Python {platform.python_version()}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + ".",
    ]
