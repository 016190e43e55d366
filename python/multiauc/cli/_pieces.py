"""When ``multiauc evaluate`` reads a file in pieces, and why; the user is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from multiauc._common.hints import warn
from multiauc._input.columns import find_score_columns
from multiauc._io.dataset import MEMORY_LIMIT
from multiauc._io.output import STANDARD
from multiauc._io.readers import ParquetRows, are_single
from multiauc._io.sources import find_files, format_by_name, is_address, is_partitioned
from multiauc.cli._flags import as_typed
from multiauc.cli._memory import WHOLE, available_memory, size_in_words
from multiauc.cli._problems import Problem
from multiauc.streaming.accumulator import STREAMED_METRICS

if TYPE_CHECKING:
    from multiauc._io.predictions import Request
    from multiauc._io.sources import Content

# A file whose rows take up more than this part of the memory is read in pieces: in memory they exist about four times.
MEMORY_SHARE = 4
SHARE_IN_WORDS = "a quarter"
# Files that are smaller are not even looked at.
SMALL = 2**24
# A cell of a packed text takes up more in memory than in the file.
UNPACKED = 4
BYTES_OF_LABEL = 16


class InPieces(NamedTuple):
    """How the pieces of a file are to be read.

    Attributes
    ----------
    memory_limit
        In bytes.
    checkpoint
        The file that keeps where the work stands, or None.
    exact
        Whether the rows are read again until nothing is uncertain.
    why
        Why it is read in pieces, in words.
    """

    memory_limit: int
    checkpoint: str | None
    exact: bool
    why: str


def chosen_pieces(
    request: Request,
    *,
    checkpoint: str | None,
    exact: bool,
    memory_limit: int | str | None,
    metrics: tuple[str, ...],
    n_resamples: int,
    options: dict[str, Any],
) -> InPieces | None:
    """How to read the file in pieces, or None if it is to be read whole."""
    path = next(iter(request.sources.values())).path
    asked = _asked_for(checkpoint, exact=exact, memory_limit=memory_limit)
    if memory_limit == WHOLE:
        if asked is not None:
            raise click.UsageError(f"{asked} reads the file in pieces, and --memory-limit {WHOLE} reads it whole")
        return None
    why = asked and f"because of {asked}"
    if why is None and is_address(path):
        why = "because it is in a store"
    if why is None and is_partitioned(path):
        why = "because it is a folder of folders"
    obstacle = _obstacle(request, path, metrics, n_resamples, options)
    if why is not None and obstacle is not None:
        raise Problem(f"{path} is read in pieces {why}, and {obstacle} needs all rows at once")
    if why is None:
        size = _too_large(request, path)
        if size is not None and obstacle is not None:
            whole = f"{path} is read whole because {obstacle} needs all rows at once"
            warn(f"{whole}, though it takes up {size}", RuntimeWarning)
            return None
        why = size and f"because it would take up {size}"
    limit = memory_limit if isinstance(memory_limit, int) else MEMORY_LIMIT
    return None if why is None else InPieces(limit, checkpoint, exact, why)


def _asked_for(checkpoint: str | None, *, exact: bool, memory_limit: int | str | None) -> str | None:
    """The option that asks for pieces."""
    if checkpoint is not None:
        return "--checkpoint"
    if exact:
        return "--exact"
    return "--memory-limit" if isinstance(memory_limit, int) else None


def _obstacle(
    request: Request, path: str, metrics: tuple[str, ...], n_resamples: int, options: dict[str, Any]
) -> str | None:
    """What was asked for that cannot be had in pieces."""
    other = next((metric for metric in metrics if metric not in STREAMED_METRICS), None)
    kind = request.format_in or format_by_name(path)
    found = {
        "standard input": path == STANDARD,
        "an NPZ file": kind == "npz",
        as_typed("metrics", other): other is not None,
        as_typed("bootstrap"): n_resamples > 0,
        as_typed("groups"): request.groups is not None,
        as_typed("by"): bool(request.by),
        as_typed("partition"): options["partition"] is not None,
        as_typed("pair_weights", options["pair_weights"]): options["pair_weights"] != "equal",
        as_typed("sampling", options["sampling"]): options["sampling"] != "stratified",
    }
    return next((what for what, is_so in found.items() if is_so), None)


def _too_large(request: Request, path: str) -> str | None:
    """The size of a file that is too large for memory, in words; None if it is not."""
    memory = available_memory()
    if memory is None or path == STANDARD:
        return None
    try:
        contents = find_files(path)
        sizes = [content.size for content in contents]
    except (ValueError, OSError):  # which reading it whole says better; pipes, too
        return None
    if sum(sizes) < SMALL and sum(sizes) * MEMORY_SHARE < memory // UNPACKED:
        return None
    needed = sum(_size_in_memory(content, request, size) for content, size in zip(contents, sizes, strict=True))
    if needed * MEMORY_SHARE <= memory:
        return None
    free = f"{SHARE_IN_WORDS} of the memory that is free ({size_in_words(memory)})"
    return f"{size_in_words(needed)} in memory, more than {free}"


def _size_in_memory(content: Content, request: Request, size: int) -> int:
    """About how many bytes the columns of a file take up in memory that are read of it."""
    kind = request.format_in or format_by_name(content.path)
    if kind == "parquet":
        try:
            rows = ParquetRows(content)
            names = find_score_columns(rows, next(iter(request.sources.values())).scores, request).names
        except ValueError:  # which reading it says, too
            return size
        return int(rows.n_rows) * ((4 if are_single(rows, names) else 8) * len(names) + BYTES_OF_LABEL)
    return size * (UNPACKED if content.path.endswith(".gz") else 1)
