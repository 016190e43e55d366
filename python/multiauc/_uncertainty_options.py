"""The options of everything with a standard error: level, sampling, groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._arrays import as_array
from multiauc._labels import is_missing
from multiauc._wording import counted, described

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLINGS = ("stratified", "iid")


def read_level(level: Any) -> float:
    """The probability beyond each end of an interval of this level."""
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, (float, int, np.floating, np.integer)):
        raise TypeError(f"level must be a number between 0 and 1; got {described(level)}")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, such as 0.95; got {level!r}")
    return (1.0 - float(level)) / 2.0


def read_groups(groups: Any, n_rows: int) -> NDArray[np.uint32] | None:
    """The number of each row's group."""
    if groups is None:
        return None
    labels = as_array("groups", groups)
    if labels.ndim != 1 or len(labels) != n_rows:
        found = f"shape {labels.shape}" if labels.ndim else described(groups)
        raise ValueError(f"groups must have one entry per row, {counted(n_rows, 'row')}; got {found}")
    if labels.dtype.kind == "O":
        codes, distinct = _number_objects(labels)
    else:
        values, codes = np.unique(labels, return_inverse=True)
        distinct = values.tolist()
    missing = next((label for label in distinct if is_missing(label)), None)
    if missing is not None or None in distinct:
        raise ValueError(f"groups must name the group of every row; got {missing!r} for some")
    if len(distinct) < 2:
        raise ValueError(f"groups must have at least two distinct groups; all rows are in {distinct[0]!r}")
    return codes.astype(np.uint32, copy=False)


def _number_objects(labels: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    numbers: dict[Any, int] = {}
    try:
        codes = np.fromiter((numbers.setdefault(label, len(numbers)) for label in labels), np.int64, len(labels))
    except TypeError as error:
        raise TypeError(f"groups must hold hashable names such as numbers or strings; {error}") from None
    return codes, list(numbers)
