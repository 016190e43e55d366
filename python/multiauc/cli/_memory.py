"""How much memory there is, and sizes as people write them."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

import click

from multiauc._io.dataset import LEAST_MEMORY

SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?\s*", re.IGNORECASE)
WHOLE = "none"
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

MEMINFO = Path("/proc/meminfo")
# The limit of a container and what it uses of it, by the versions of the kernel's interface.
LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def read_size(text: str) -> int | None:
    """Bytes: 2**20 of them are 1M or 1MiB, a million are 1MB; None if it is not a size."""
    found = SIZE.fullmatch(text)
    if found is None or (found[3] and len(found[3]) == 2 and not found[2]):
        return None
    thousand = 1000 if (found[3] or "").lower() == "b" else 1024
    return int(float(found[1]) * thousand ** POWERS[found[2].lower()])


def read_limit(_: click.Context, __: click.Parameter, text: str | None) -> int | str | None:
    """The limit in bytes, "none", or None if it was not given."""
    if text is None or text.lower() == WHOLE:
        return None if text is None else WHOLE
    size = read_size(text)
    if size is None:
        raise click.BadParameter(f"{text!r} is not a size such as 512MB or 2GiB, nor {WHOLE}.")
    if size < LEAST_MEMORY:
        raise click.BadParameter(f"{text!r} is too little: it takes 256MiB at least.")
    return size


def size_in_words(n_bytes: int) -> str:
    """Bytes as people write them: 1.3 GB."""
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def available_memory() -> int | None:
    """Bytes that the process could still take up; None where the system does not say."""
    found = [_in_container(*files) for files in LIMITS]
    with suppress(OSError, ValueError):
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text("utf-8").splitlines() if ":" in line)
        found.append(int(lines["MemAvailable"].split()[0]) * 1024)
    known = [size for size in found if size is not None]
    if known:
        return max(0, min(known))
    with suppress(AttributeError, OSError, ValueError):  # half of what is built in, on other systems than Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


def _in_container(limit: Path, used: Path) -> int | None:
    try:
        return int(limit.read_text("utf-8")) - int(used.read_text("utf-8"))
    except (OSError, ValueError):  # there is no limit, or it is "max"
        return None
