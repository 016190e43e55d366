"""Where ROC curves are squeezed into the upper left corner, and how much of it to enlarge."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Curve = tuple[Sequence[float] | NDArray, Sequence[float] | NDArray]  # type: ignore[type-arg]

# Curves whose bend is nearer to the corner than this are squeezed; the zoom shows this many times that distance.
SQUEEZED = 0.1
ZOOM_ROUND_BEND = 4.0
ZOOMS = tuple(base * 10.0**-power for power in range(1, 6) for base in (4, 2, 1))
# The limits of a multi-class ROC curve are known at steps of 0.01: a closer zoom would draw them where they are not.
BAND_FROM_ZOOM = 0.1


def zoom_of(curves: Iterable[Curve]) -> float | None:
    """The side of the corner to enlarge, if any of the curves (fpr, tpr) is squeezed into it."""
    bends = [found for found in (bend(fpr, tpr) for fpr, tpr in curves) if 0.0 < found <= SQUEEZED]
    if not bends:
        return None
    return min((zoom for zoom in ZOOMS if zoom >= ZOOM_ROUND_BEND * max(bends)), default=ZOOMS[0])


def bend(fpr: Sequence[float] | NDArray, tpr: Sequence[float] | NDArray) -> float:  # type: ignore[type-arg]
    """How far from the corner (0, 1) a curve meets the falling diagonal, along either axis."""
    last = (0.0, 0.0)
    for x, y in zip(fpr, tpr, strict=True):
        if x + y >= 1.0:
            step = (x - last[0]) + (y - last[1])
            share = 1.0 if step <= 0.0 else (1.0 - last[0] - last[1]) / step
            return float(last[0] + share * (x - last[0]))
        last = (x, y)
    return 1.0
