"""Signs of damage in files whose formats have no checksum, or none that is always written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pyarrow import ipc

from multiauc._common.hints import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How Parquet is read: pages that have a checksum are compared with it.
PARQUET_OPTIONS: dict[str, Any] = {"page_checksum_verification": True}

# Of fewer rows none can be said to differ from the others.
FEWEST_ROWS = 20
# The share of rows that must sum to 1, how far they may be from it, and how many times as far others must be.
MOST = 0.9
FAR = 1e-3
TIMES = 8.0
# Less is no damage that matters: the scores of a row that were rounded otherwise than those of the others.
NEAR = 1e-6
DIGITS = 6
# What an Arrow file begins with, padded; a stream of messages follows.
BEGINNING = 8


def odd_row(scores: NDArray[Any]) -> tuple[int, int] | None:
    """A row whose scores do not sum to 1 where those of most rows do, and how many such rows there are; or None."""
    if scores.ndim != 2 or scores.shape[1] < 2 or len(scores) < FEWEST_ROWS:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        far = np.abs(scores.sum(axis=1, dtype=np.float64) - 1.0)
        typical = float(np.quantile(far, MOST))
    if not typical <= FAR:
        return None
    odd = np.flatnonzero(~(far <= max(TIMES * typical, NEAR)) | (scores < 0).any(axis=1))
    odd = odd[~_are_rounded(scores[odd], far[odd])]
    return (int(odd[0]), len(odd)) if len(odd) else None


def _are_rounded(scores: NDArray[Any], far: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether rows are decimals so short that rounding explains how far their sums are from 1."""
    found = np.zeros(len(scores), dtype=bool)
    near = 4.0 * np.finfo(scores.dtype).eps
    for digits in range(1, DIGITS + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            are_short = (np.abs(scores - np.round(scores, digits)) <= near).all(axis=1)
        found |= are_short & (far <= scores.shape[1] * (0.5 * 10.0**-digits + near))
    return found


def warn_of_odd_row(place: str, scores: NDArray[Any], n_odd: int) -> None:
    """Say that a row, of which these are the scores, may be damaged; `place` names it."""
    found = "one is negative" if (scores < 0).any() else f"they sum to {scores.sum(dtype=np.float64):.6g}"
    others = "" if n_odd == 1 else f" ({n_odd} rows are like that)"
    warn(
        f"{place}: the scores of nearly all rows are probabilities that sum to 1, and of these {found}{others}; "
        "is the file damaged?",
        RuntimeWarning,
    )


def refuse_other_batches(source: Any, file: Any) -> None:
    """Raise if the end of an Arrow file lists fewer record batches than there are, or more."""
    source.seek(BEGINNING)
    n_found = 0
    for message in ipc.MessageReader.open_stream(source):
        n_found += message.type == "record batch"
    if n_found != file.num_record_batches:
        raise ValueError(f"it holds {n_found} record batches, and its end lists {file.num_record_batches}")
