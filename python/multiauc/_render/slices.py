"""The numbers of slices, as plain values that JSON can hold; what is not known is None."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multiauc._common.result import without_nan

if TYPE_CHECKING:
    from multiauc._evaluation.slices import Slices


def slice_numbers(slices: Slices, level: float, at_most: int | None = None) -> dict[str, Any]:
    """All slices, or so many of those that are most surely worse."""
    found = slices.to_dict(level)
    numbers: dict[str, Any] = without_nan(
        {
            "metric": slices.metric,
            "reference": slices.reference,
            "by": list(slices.columns),
            "count": len(slices),
            "summary": slices.summary(level),
            "overall": found["overall"],
            "slices": found["slices"][:at_most],
        }
    )
    return numbers
