"""Sizes of memory: as they are typed, and how much of it is free."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

import click

SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?\s*", re.IGNORECASE)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
#: The limit that reads files whole.
WHOLE = "none"

MEMINFO = Path("/proc/meminfo")
# The limit of a container and what it uses of it, by the versions of the kernel's interface.
LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def read_size(text: str) -> int | None:
    """Bytes: 2**20 of them are 1M or 1MiB, a million are 1MB; None if it is not a size."""
    found = SIZE.fullmatch(text)
    if found is None or (found[3] and len(found[3]) == 2 and not found[2]):
        return None
    thousand = 1000 if (found[3] or "").lower() == "b" else 1024
    return int(float(found[1]) * thousand ** POWERS[found[2].lower()])


def read_limit(text: str | None) -> int | str | None:
    """The limit in bytes, or "none"."""
    if text is None or text.lower() == WHOLE:
        return text and WHOLE
    from multiauc._io.dataset import LEAST_MEMORY  # noqa: PLC0415 - help and completion do not wait for it

    size = read_size(text)
    if size is None:
        raise click.BadParameter(f"{text!r} is not a size such as 512MB or 2GiB, nor {WHOLE}.")
    if size < LEAST_MEMORY:
        raise click.BadParameter(f"{text!r} is too little: it takes 256MiB at least.")
    return size


def available_memory() -> int | None:
    """Bytes that the process could still take up; None where the system does not say."""
    found = []
    for limit, used in LIMITS:
        with suppress(OSError, ValueError):  # there is no limit, or it is "max"
            found.append(int(limit.read_text("utf-8")) - int(used.read_text("utf-8")))
    with suppress(OSError, ValueError):
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text("utf-8").splitlines() if ":" in line)
        found.append(int(lines["MemAvailable"].split()[0]) * 1024)
    if found:
        return max(0, min(found))
    with suppress(AttributeError, OSError, ValueError):  # half of what is built in, on other systems than Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None
