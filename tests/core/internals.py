"""What several tests need of private modules: facts, the rows that replicates draw, and limits that they lower."""

import time
from typing import Any

import numpy as np
import pytest

from multiauc import _rust
from multiauc._common import progress
from multiauc._common.registry import ANALYTIC_METRICS, METRICS
from multiauc._curves import multiclass
from multiauc._io import checkpoint, dataset, predictions

__all__ = ["ANALYTIC_METRICS", "METRICS"]


def least_memory(n_classes: int, metrics: list[str]) -> int:
    """The smallest `memory_limit` of an accumulator."""
    return _rust.StreamState.least_memory(n_classes, metrics)


def seed_of(rng: int) -> int:
    """The seed that a bootstrap draws from `rng`."""
    return int(np.random.default_rng(rng).integers(2**64, dtype=np.uint64))


def draw_rows(
    codes: Any, scores: Any, rng: int, count: int, *, first: int = 0, weights: Any = None, groups: Any = None,
    sampling: str = "stratified",
) -> Any:  # fmt: skip
    """How often the replicates `first`, `first + 1`, … of a bootstrap with this `rng` draw each row."""
    sample = _rust.Sample(scores, np.asarray(codes, dtype=np.uint8), weights, groups, sampling)
    return _rust.Resampler([sample], ["pdi"], 0).multiplicities(seed_of(rng), first, count)


def draw_curves(sample: Any, place: tuple[int, int | None], rng: int, count: int) -> Any:
    """The same for the curve of a class, or of a pair of classes."""
    codes, scores, weights, sampling = sample
    rows = _rust.Sample(scores, np.asarray(codes, dtype=np.uint8), weights, sampling=sampling)
    resampler = _rust.Resampler.of_curves(rows, [place], "max_fpr", 1.0, 1 << 30)
    return resampler.multiplicities(seed_of(rng), 0, count)


def read_small_batches(patch: pytest.MonkeyPatch, rows: int) -> None:
    """Read files this many rows at a time."""
    patch.setattr(predictions, "FEWEST_ROWS", rows)
    patch.setattr(predictions, "MOST_ROWS", rows)


def read_slowly(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Wait before each batch of a file."""
    read = predictions.RowReader.read
    patch.setattr(predictions.RowReader, "read", lambda *arguments: (time.sleep(seconds), read(*arguments))[1])


def keep_every_checkpoint(patch: pytest.MonkeyPatch) -> None:
    """Write a checkpoint after every batch."""
    patch.setattr(checkpoint, "SECONDS", 0.0)
    patch.setattr(checkpoint, "TIMES_LONGER", 0.0)


def limit_memory_of_files(patch: pytest.MonkeyPatch, state: int, rows: int | None = None) -> None:
    """So many bytes for the accumulator of a file, and for the rows of a pass."""
    patch.setattr(dataset, "STATE_SHARE", 2**30 // state)
    if rows is not None:
        patch.setattr(dataset, "PASS_SHARE", 2**30 // rows)


def show_progress_early(patch: pytest.MonkeyPatch) -> None:
    """Draw the progress of work that takes longer than a moment."""
    patch.setattr(progress, "PATIENCE", 0.01)


def stop_fits_early(patch: pytest.MonkeyPatch) -> None:
    """Let no curve of all pairs converge."""
    patch.setattr(multiclass, "DEFAULTS", multiclass.DEFAULTS._replace(max_iterations=1, tolerance=0.0))
