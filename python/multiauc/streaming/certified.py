"""The metrics of a stream, whose values lie between guaranteed bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from multiauc._evaluation.evaluation import MetricEstimates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from multiauc._common.result import Record
    from multiauc._inference.estimates import Estimate


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedEvaluation(MetricEstimates):
    """The metrics of a stream of rows; see `Accumulator.evaluate`.

    Attributes
    ----------
    metrics : dict of Estimate
        By name; `auc_mu`, `hand_till`, `one_vs_rest` and `one_vs_rest_prevalence` are also attributes.
    per_class : dict of Estimate
        Each class against all the others by its own score, by label; empty without one-vs-rest.
    pair_bounds : dict of (ndarray, ndarray)
        Lower and upper bounds of the values of all pairs of classes, as `auc_mu_matrix` and `hand_till_matrix` have
        them, by metric. Read-only.
    labels : tuple
        The classes.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    """

    pair_bounds: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]

    @property
    def per_class(self) -> dict[Any, Estimate]:
        """Each class against all the others by its own score, by label; empty without one-vs-rest."""
        return self._per_class

    @property
    def exact(self) -> bool:
        """Whether every value is exact."""
        values = [*self.metrics.values(), *self.per_class.values()]
        return all(value.exact or math.isnan(value.value) for value in values)

    def to_dict(self, level: float = 0.95) -> Record:
        """Everything in plain Python objects, with intervals of this level; nan where a number is missing."""
        return {**self._counts_by_label(), "exact": self.exact, "per_class": [], **self._estimates(level)}

    def _header(self) -> list[str]:
        return ["", "value", "certain bounds", "std. error", "95% interval"]
