"""What the classes of a sample add to a variance, and what they would add with other numbers of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from multiauc._input.held_inputs import HeldInputs

# Deviations of components, which are of the order of 1, that are rounding; and fourth moments less their least value,
# relative to them. Both as in the core.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class VarianceTerms:
    """Sums over the independent units (rows, or groups) of each class that has any.

    Attributes
    ----------
    classes
        The columns of these classes.
    units, effective
        How many units there are, and how many of equal weight would know as much.
    squares, fourths
        Sums of the second and fourth powers of the influences of the units.
    """

    classes: NDArray[np.intp]
    units: NDArray[np.int64]
    effective: NDArray[np.float64]
    squares: NDArray[np.float64]
    fourths: NDArray[np.float64]

    def deviations(self) -> NDArray[np.float64]:
        """The standard deviation of a unit's component in each class: the class adds its square over the size."""
        return np.sqrt(self.units * self.squares / (1.0 - 1.0 / self.effective))

    def effective_of(self, sizes: Sequence[int]) -> NDArray[np.float64]:
        """How many units of equal weight so many of each class would be."""
        return self.effective * (np.array(sizes, dtype=np.float64) / self.units)

    def planned(self, sizes: Sequence[int]) -> tuple[float, float]:
        """(variance, degrees of freedom) with so many units of the same kind per class: those of the sample at `units`.

        The variance is infinite where it could not be estimated, with effectively one unit in a class.
        """
        numbers = np.array(sizes, dtype=np.float64)
        times = numbers / self.units
        effective = self.effective_of(sizes)
        if (effective <= 1.0 + ROUNDING).any():
            return math.inf, 1.0
        # That of the sample, for whatever size is planned: it makes the sample's mean squares right on average.
        factor = 1.0 / (1.0 - 1.0 / self.effective)
        variances = factor * self.squares / times
        fourths = factor**2 * self.fourths / times**3
        by_size = variances**2 / (effective - 1.0)
        spread = fourths - variances**2 / numbers
        by_moments = np.where(spread <= ROUNDING * fourths, by_size, 0.5 * spread)
        variance = float(variances.sum())
        if variance == 0.0:
            return 0.0, math.nan
        return variance, max(1.0, variance**2 / max(float(by_size.sum()), float(by_moments.sum())))


def variance_terms(inputs: HeldInputs, influences: NDArray[np.float64]) -> VarianceTerms:
    """The terms of one number, from the influences of the rows on it; groups must lie within classes."""
    sample = inputs.sample
    weights = np.ones(len(sample.codes)) if sample.weights is None else sample.weights
    counts = weights > 0.0
    rows = np.flatnonzero(counts)
    unit = np.arange(len(rows)) if inputs.groups is None else np.unique(inputs.groups[rows], return_inverse=True)[1]
    class_of = np.zeros(int(unit.max()) + 1, dtype=np.intp)
    class_of[unit] = sample.codes[rows]

    def summed(values: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(class_of, values, sample.n_classes)[present], dtype=np.float64)

    present = np.flatnonzero(sample.rows > 0)
    weight = np.bincount(unit, weights=weights[rows])
    shares = weight / np.bincount(class_of, weights=weight, minlength=sample.n_classes)[class_of]
    influence = np.bincount(unit, weights=influences[rows])
    effective = 1.0 / summed(shares**2)
    squares, fourths = summed(influence**2), summed(influence**4)
    is_rounding = squares <= ROUNDING**2 / effective
    return VarianceTerms(
        present,
        np.bincount(class_of, minlength=sample.n_classes)[present],
        effective,
        np.where(is_rounding, 0.0, squares),
        np.where(is_rounding, 0.0, fourths),
    )
