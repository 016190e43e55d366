"""Values that lie between certain bounds, with their sampling uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from multiauc._common.hints import warn
from multiauc._common.registry import AUC_MU, HAND_TILL, METRICS, ONE_VS_REST, ONE_VS_REST_PREVALENCE
from multiauc._common.result import (
    TABLE_AT_MOST,
    TABLE_EDGE,
    Tabular,
    html_table,
    read_only,
    shortened,
    sizes_in_words,
    text_table,
)
from multiauc._common.wording import decimals, one_of, printable
from multiauc._inference.estimates import Estimate
from multiauc._inference.intervals import ConfidenceInterval, union
from multiauc._input.options import read_level

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from multiauc._inference.intervals import WorstCase

HEADER = ["", "value", "certain bounds", "std. error", "95% interval"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CertifiedValue(Tabular):
    """The value of a metric of all rows of a stream, between certain bounds.

    Attributes
    ----------
    name : hashable
        The metric, or the class that is told from the rest.
    value : float
        The exact value if `exact`, otherwise the middle of the bounds.
    low, high : float
        The exact value of these rows lies between them, always. With weights, up to a rounding of 1e-12.
    standard_error : float
        How much the value varies from sample to sample: as that of `multiauc.evaluate`, from placements in bins and
        from a sample of the rows. nan if a class has a single row, or if the memory of
        the state has no room for a sample (see `Accumulator`).
    degrees_of_freedom : float
        How well the standard error is known.
    smallest_class : int
        The rows of the smallest class.
    """

    name: Any
    value: float
    low: float
    high: float
    standard_error: float
    degrees_of_freedom: float
    smallest_class: int
    # Of both bounds.
    _worst: tuple[WorstCase | None, WorstCase | None] = (None, None)

    @property
    def exact(self) -> bool:
        """Whether both bounds are the value."""
        return self.low == self.high

    def confidence_interval(
        self, level: float = 0.95, method: Literal["wilson", "logit", "wald"] | None = None
    ) -> ConfidenceInterval:
        """An interval that covers the population's value with probability `level`.

        As `Estimate.confidence_interval`, from the lower limit for `low` to the upper limit for `high`: what is not
        known about the rows is added to what is not known about the population.
        """
        tail = read_level(level)
        kind = "wilson" if method is None else one_of("method", method, ("wilson", "logit", "wald"))
        interval = self._interval(tail, kind)
        if math.isnan(interval.low):
            found = "0: the scores do not vary" if self.standard_error == 0.0 else "nan"
            warn(f"there is no interval for {self.name}: its standard error is {found}", RuntimeWarning)
        return interval

    def _interval(self, tail: float, kind: str = "wilson") -> ConfidenceInterval:
        bounds = zip((self.low, self.high), self._worst, strict=True)
        return union(*(self._at(*bound)._interval(tail, kind) for bound in bounds))  # noqa: SLF001

    def _at(self, value: float, worst: WorstCase | None) -> Estimate:
        error = self.standard_error
        known = (self.name, value, error, self.degrees_of_freedom, self.smallest_class)
        return Estimate(*known, error**2, math.nan, 0, None, worst)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Value, bounds, standard error and the limits of the interval by name; nan where they are not known."""
        low, high = self._interval(read_level(level))
        return {
            "value": self.value,
            "certified_low": self.low,
            "certified_high": self.high,
            "exact": self.exact,
            "standard_error": self.standard_error,
            "low": low,
            "high": high,
        }

    def _rows(self, level: float) -> list[dict[str, Any]]:
        return [{"name": self.name, **self.to_dict(level)}]

    def cells(self) -> list[str]:
        """Value, bounds, standard error and 95% interval as text."""
        low, high = self._interval(0.025)
        interval = "-" if math.isnan(low) else f"{decimals(low)} to {decimals(high)}"
        value, bounds = value_and_bounds(self.value, self.low, self.high)
        return [value, bounds, decimals(self.standard_error), interval]

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        """The value, if a number's format is asked for: ``f"{value:.3f}"``."""
        return format(self.value, spec) if spec else str(self)

    def __repr__(self) -> str:
        value, bounds, error, interval = self.cells()
        known = bounds if self.exact or bounds == "-" else f"certainly {bounds}"
        name = printable(str(self.name))
        return f"CertifiedValue({name} {value}, {known}, standard error {error}, 95% interval {interval})"


def value_and_bounds(value: float, low: float, high: float) -> tuple[str, str]:
    """A value and its bounds as text."""
    if math.isnan(value):
        return "nan", "-"
    if low == high:
        return decimals(value), "exact"
    digits = _digits_of(high - low)
    return decimals(value, digits), f"{_floored(low, digits)} to {_ceiled(high, digits)}"


def _digits_of(width: float) -> int:
    """So many decimals that bounds of this distance differ."""
    return 4 if not width > 0.0 else min(16, max(4, 2 - math.floor(math.log10(width))))


def _floored(value: float, digits: int) -> str:
    """Rounded down: what is printed must be true as well."""
    text = f"{value:.{digits}f}"
    return text if float(text) <= value else f"{max(0.0, float(text) - 10.0**-digits):.{digits}f}"


def _ceiled(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text if float(text) >= value else f"{min(1.0, float(text) + 10.0**-digits):.{digits}f}"


# Without slots: with them, assigning to a property of a frozen dataclass fails with an obscure TypeError.
@dataclass(frozen=True, eq=False, repr=False)
class CertifiedEvaluation(Tabular):
    """The metrics of a stream of rows; see `Accumulator.evaluate`.

    Attributes
    ----------
    metrics : dict of CertifiedValue
        By name; `auc_mu`, `hand_till`, `one_vs_rest` and `one_vs_rest_prevalence` are also attributes.
    per_class : dict of CertifiedValue
        Each class against all the others by its own score, by label; empty without one-vs-rest.
    pair_bounds : dict of (ndarray, ndarray)
        Lower and upper bounds of the values of all pairs of classes, as `auc_mu_matrix` and `hand_till_matrix` have
        them, by metric. Read-only.
    labels : tuple
        The classes.
    counts : ndarray of shape (K,)
        The number of rows of each class. Read-only.
    """

    metrics: dict[str, CertifiedValue]
    per_class: dict[Any, CertifiedValue]
    pair_bounds: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    labels: tuple[Any, ...]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", read_only(self.counts))
        bounds = {name: (read_only(low), read_only(high)) for name, (low, high) in self.pair_bounds.items()}
        object.__setattr__(self, "pair_bounds", bounds)

    @property
    def exact(self) -> bool:
        """Whether every value is exact."""
        values = [*self.metrics.values(), *self.per_class.values()]
        return all(value.exact or math.isnan(value.value) for value in values)

    @property
    def auc_mu(self) -> CertifiedValue:
        """AUC_mu."""
        return self._metric(AUC_MU)

    @property
    def hand_till(self) -> CertifiedValue:
        """Hand & Till's M."""
        return self._metric(HAND_TILL)

    @property
    def one_vs_rest(self) -> CertifiedValue:
        """The mean of the classes against the rest."""
        return self._metric(ONE_VS_REST)

    @property
    def one_vs_rest_prevalence(self) -> CertifiedValue:
        """The mean of the classes against the rest, weighted by their sizes."""
        return self._metric(ONE_VS_REST_PREVALENCE)

    def _metric(self, name: str) -> CertifiedValue:
        if name not in self.metrics:
            raise AttributeError(f"{name} was not kept: name it in metrics= of the Accumulator")
        return self.metrics[name]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything in plain Python objects, with intervals of this level; nan where a number is missing."""
        rows = dict(zip(self.labels, self.counts.tolist(), strict=True))
        return {
            "rows": int(self.counts.sum()),
            "labels": list(self.labels),
            "counts": self.counts.tolist(),
            "exact": self.exact,
            "metrics": {name: value.to_dict(level) for name, value in self.metrics.items()},
            "per_class": [
                {"label": label, "rows": rows[label], **value.to_dict(level)} for label, value in self.per_class.items()
            ],
        }

    def _rows(self, level: float) -> list[dict[str, Any]]:
        rows = [{"kind": "metric", "name": name, **one.to_dict(level)} for name, one in self.metrics.items()]
        return rows + [{"kind": "class", "name": name, **one.to_dict(level)} for name, one in self.per_class.items()]

    def __repr__(self) -> str:
        return "\n".join([self._title(), *text_table(self._table())])

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._table())

    def _title(self) -> str:
        return f"Evaluation of {sizes_in_words(self.labels, self.counts)}"

    def _table(self) -> list[list[str]]:
        rows = [[METRICS[name].title, *value.cells()] for name, value in self.metrics.items()]
        classes = [[f"  {shortened(label)}", *value.cells()] for label, value in self.per_class.items()]
        if len(classes) > TABLE_AT_MOST:
            classes[TABLE_EDGE:-TABLE_EDGE] = [["  ...", "", "", "", ""]]
        against_rest = [["each class against the rest", "", "", "", ""], *classes] if classes else []
        return [HEADER, *rows, *against_rest]
