"""The ROC surface of three classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc._common.result import Result
from multiauc._common.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from multiauc._common.result import Columns
    from multiauc._input.sample import Sample

# Zero as a factor: as in the core, the smallest normal number.
SMALLEST = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocSurface(Result):
    """Rates of right decisions of three classes, as offsets are added to the scores of two of them.

    Attributes
    ----------
    rates : ndarray of shape (3, m, m)
        The rate of each class; the first class's offset rises along the second axis, the second class's along the
        third.
    offsets : ndarray of shape (2, m)
        What is added to the scores of the first class, and of the second, before the largest decides; to logarithms
        or negative distances where these are compared.
    labels : tuple
        The three classes.

    Examples
    --------
    >>> import multiauc
    >>> volume = multiauc.hum([0, 0, 1, 1, 2, 2], [[3, 1, 1], [2, 2, 1], [1, 3, 1], [2, 3, 1], [1, 2, 3], [1, 1, 3]])
    >>> surface = volume.surface(points=10)
    >>> surface
    RocSurface(0, 1, 2: rates of right decisions at 10 x 10 offsets)
    >>> surface.rates.shape
    (3, 10, 10)
    """

    rates: NDArray[np.float64]
    offsets: NDArray[np.float64]
    labels: tuple[Any, ...]

    def _columns(self) -> Columns:
        """One row for each pair of offsets, with the rate of each class."""
        offsets = np.meshgrid(*self.offsets, indexing="ij")
        columns = {f"offset_{label}": values.ravel() for label, values in zip(self.labels[:2], offsets, strict=True)}
        return columns | {f"rate_{label}": rates.ravel() for label, rates in zip(self.labels, self.rates, strict=True)}

    def __repr__(self) -> str:
        points = self.offsets.shape[1]
        names = ", ".join(map(repr, self.labels))
        return f"RocSurface({names}: rates of right decisions at {points} x {points} offsets)"


def find_surface(sample: Sample, rule: str, points: int) -> RocSurface:
    """The surface at offsets that are quantiles of the differences of scores, so that rates are evenly spread."""
    classes = np.flatnonzero(sample.rows).tolist()
    if len(classes) != 3:
        raise ValueError(
            f"an ROC surface can be drawn for three classes; y_true has {counted(len(classes), 'class', 'classes')}"
        )
    judged = score_by_rule(sample.scores[:, classes].astype(np.float64), rule)
    if sample.is_undefined:
        return RocSurface(np.full((3, points, points), np.nan), np.full((2, points), np.nan), tuple(sample.labels))
    first, second = judged[:, 0] - judged[:, 2], judged[:, 1] - judged[:, 2]
    # A row goes to class 1 if x + a is above 0 and above y + b, to class 2 if y + b is, otherwise to class 3.
    a, b = (_offsets(difference, points) for difference in (first, second))
    rates = np.empty((3, points, points))
    weights = np.ones(len(sample.codes)) if sample.weights is None else sample.weights
    for k, column in enumerate(classes):
        rows = np.flatnonzero(sample.codes == column)
        x, y, mass = first[rows], second[rows], weights[rows]
        for index, offset in enumerate(a):
            if k == 0:
                shares = _share_above(np.where(x + offset >= 0, x + offset - y, -np.inf), mass, b)
            elif k == 1:
                shares = 1.0 - _share_above(np.maximum(0.0, x + offset) - y, mass, b)
            else:
                shares = _share_above(np.where(x + offset < 0, -y, -np.inf), mass, b)
            rates[k, index] = shares
    return RocSurface(rates, np.stack([a, b]), tuple(sample.labels[k] for k in classes))


def score_by_rule(scores: NDArray[np.float64], rule: str) -> NDArray[np.float64]:
    """The scores whose sums are compared: as they are, their logarithms, or distances from the corners."""
    if rule == "sum":
        return scores
    if rule == "prod":
        return np.asarray(np.log(np.maximum(scores, SMALLEST)))
    corners = np.eye(scores.shape[1])
    return np.stack([-np.sqrt(((scores - corner) ** 2).sum(axis=1)) for corner in corners], axis=1)


def _offsets(difference: NDArray[np.float64], points: int) -> NDArray[np.float64]:
    inner = -np.quantile(difference, np.linspace(1.0, 0.0, max(points - 2, 1)))
    ends = np.ptp(difference) + 1.0
    return np.concatenate([[inner[0] - 2.0 * ends], inner, [inner[-1] + 2.0 * ends]])[-points:]


def _share_above(
    values: NDArray[np.float64], weights: NDArray[np.float64], limits: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Of each limit, the share of the values that are at least as large."""
    order = np.argsort(values)
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    below = sums[np.searchsorted(values[order], limits, side="left")] / sums[-1]
    return np.asarray(np.clip(1.0 - below, 0.0, 1.0))
