"""When ``multiauc evaluate`` reads a file in pieces, and why: sizes, and how much memory there is."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from multiauc._common.hints import warn
from multiauc._display.tables import format_size
from multiauc._io.column_rules import score_columns
from multiauc._io.content import format_by_name
from multiauc._io.dataset import LEAST_MEMORY, MEMORY_LIMIT
from multiauc._io.fingerprints import file_size
from multiauc._io.output import STANDARD
from multiauc._io.row_files import ParquetRows
from multiauc._io.stored import is_address, is_partitioned, stored_files
from multiauc.cli._problems import Problem, as_typed
from multiauc.streaming.accumulator import STREAMED_METRICS

if TYPE_CHECKING:
    from multiauc._io.content import Content
    from multiauc._io.predictions import Request
    from multiauc.cli._requests import EvaluateRequest

SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?\s*", re.IGNORECASE)
WHOLE = "none"
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

MEMINFO = Path("/proc/meminfo")
# The limit of a container and what it uses of it, by the versions of the kernel's interface.
LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)

# A file whose rows take up more than this part of the memory is read in pieces: in memory they exist about four times.
MEMORY_SHARE = 4
SHARE_IN_WORDS = "a quarter"
# Files that are smaller are not even looked at.
SMALL = 2**24
# A cell of a packed text takes up more in memory than in the file.
UNPACKED = 4
BYTES_OF_LABEL = 16


class Pieces(NamedTuple):
    """That a file is to be read in pieces: with how many bytes of memory, and why, in words."""

    memory_limit: int
    why: str


def choose_pieces(request: EvaluateRequest, source: Request, metrics: tuple[str, ...]) -> Pieces | None:
    """How to read the file in pieces, or None if it is to be read whole."""
    path = next(iter(source.sources.values())).path
    asked = _asked_for(request)
    if request.memory_limit == WHOLE:
        if asked is not None:
            raise click.UsageError(f"{asked} reads the file in pieces, and --memory-limit {WHOLE} reads it whole")
        return None
    why = asked and f"because of {asked}"
    if why is None and is_address(path):
        why = "because it is in a store"
    if why is None and is_partitioned(path):
        why = "because it is a folder of folders"
    obstacle = _find_obstacle(request, path, metrics)
    if why is not None and obstacle is not None:
        raise Problem(f"{path} is read in pieces {why}, and {obstacle} needs all rows at once")
    if why is None:
        size = _too_large(source, path)
        if size is not None and obstacle is not None:
            whole = f"{path} is read whole because {obstacle} needs all rows at once"
            warn(f"{whole}, though it takes up {size}", RuntimeWarning)
            return None
        why = size and f"because it would take up {size}"
    limit = request.memory_limit if isinstance(request.memory_limit, int) else MEMORY_LIMIT
    return None if why is None else Pieces(limit, why)


def _asked_for(request: EvaluateRequest) -> str | None:
    """The option that asks for pieces."""
    if request.checkpoint is not None:
        return "--checkpoint"
    if request.exact:
        return "--exact"
    return "--memory-limit" if isinstance(request.memory_limit, int) else None


def _find_obstacle(request: EvaluateRequest, path: str, metrics: tuple[str, ...]) -> str | None:
    """What was asked for that cannot be had in pieces."""
    other = next((metric for metric in metrics if metric not in STREAMED_METRICS), None)
    kind = request.format_in or format_by_name(path)
    found = {
        "standard input": path == STANDARD,
        "an NPZ file": kind == "npz",
        as_typed("metrics", other): other is not None,
        as_typed("bootstrap"): bool(request.bootstrap),
        as_typed("groups"): request.groups is not None,
        as_typed("by"): bool(request.by),
        as_typed("partition"): request.partition is not None,
        as_typed("pair_weights", request.pair_weights): request.pair_weights != "equal",
        as_typed("sampling", request.sampling): request.sampling != "stratified",
    }
    return next((what for what, is_so in found.items() if is_so), None)


def _too_large(request: Request, path: str) -> str | None:
    """The size of a file that is too large for memory, in words; None if it is not."""
    memory = available_memory()
    if memory is None or path == STANDARD:
        return None
    try:
        contents = [file.content for file in stored_files(path)]
        sizes = [file_size(content) for content in contents]
    except (ValueError, OSError):  # which reading it whole says better; pipes, too
        return None
    if sum(sizes) < SMALL and sum(sizes) * MEMORY_SHARE < memory // UNPACKED:
        return None
    needed = sum(_size_in_memory(content, request, size) for content, size in zip(contents, sizes, strict=True))
    if needed * MEMORY_SHARE <= memory:
        return None
    free = f"{SHARE_IN_WORDS} of the memory that is free ({format_size(memory)})"
    return f"{format_size(needed)} in memory, more than {free}"


def _size_in_memory(content: Content, request: Request, size: int) -> int:
    """About how many bytes the columns of a file take up in memory that are read of it."""
    kind = request.format_in or format_by_name(content.path)
    if kind == "parquet":
        try:
            rows = ParquetRows(content)
            names = score_columns(rows, next(iter(request.sources.values())).scores, request).names
        except ValueError:  # which reading it says, too
            return size
        return int(rows.n_rows) * ((4 if rows.is_single(names) else 8) * len(names) + BYTES_OF_LABEL)
    return size * (UNPACKED if content.path.endswith(".gz") else 1)


def read_size(text: str) -> int | None:
    """Bytes: 2**20 of them are 1M or 1MiB, a million are 1MB; None if it is not a size."""
    found = SIZE.fullmatch(text)
    if found is None or (found[3] and len(found[3]) == 2 and not found[2]):
        return None
    thousand = 1000 if (found[3] or "").lower() == "b" else 1024
    return int(float(found[1]) * thousand ** POWERS[found[2].lower()])


def read_limit(text: str) -> int | str:
    """The limit in bytes, or "none"."""
    if text.lower() == WHOLE:
        return WHOLE
    size = read_size(text)
    if size is None:
        raise click.BadParameter(f"{text!r} is not a size such as 512MB or 2GiB, nor {WHOLE}.")
    if size < LEAST_MEMORY:
        raise click.BadParameter(f"{text!r} is too little: it takes 256MiB at least.")
    return size


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
