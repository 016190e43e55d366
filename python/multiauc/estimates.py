"""A number with its uncertainty."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from multiauc._input.options import read_level
from multiauc._student import upper_quantile
from multiauc._wording import one_of
from multiauc.results import ConfidenceInterval

if TYPE_CHECKING:
    from multiauc._input.held_inputs import HeldInputs

INTERVALS = ("logit", "wald")
VARIANCES = ("first_order", "unbiased", "bootstrap_limit")

# What is left of two equal variances after one was taken from the other.
ROUNDING = 1e-13

NO_INTERVAL = ConfidenceInterval(math.nan, math.nan)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate:
    """The value of a metric with its closed-form standard error.

    Attributes
    ----------
    name : str
        The metric, or the class that is told from the rest.
    value : float
        The estimate.
    standard_error : float
        The square root of its first-order variance; nan if a class has a single row (or a single group).
    degrees_of_freedom : float
        How well the standard error itself is known, after Satterthwaite: about the size of the class that contributes
        most to it.
    smallest_class : int
        The rows of the smallest class (its groups, where rows are grouped).

    Examples
    --------
    >>> import multiauc
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> estimate = multiauc.evaluate(y_true, [0.1, 0.4, 0.35, 0.3, 0.6, 0.5, 0.8, 0.2]).auc_mu
    >>> estimate
    Estimate(AUC_mu 0.8125, standard error 0.1976, 95% interval 0.0935 to 0.9945)
    >>> low, high = estimate.confidence_interval(level=0.9)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.202 to 0.987
    """

    name: str
    value: float
    standard_error: float
    degrees_of_freedom: float
    smallest_class: int
    _first_order: float
    _plug_in: float
    _place: int = 0
    _inputs: HeldInputs | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # The data stay behind: what needs them cannot be asked of an unpickled estimate.
        known = (self.name, self.value, self.standard_error, self.degrees_of_freedom, self.smallest_class)
        return Estimate, (*known, self._first_order, self._plug_in, self._place)

    def variance(self, kind: Literal["first_order", "unbiased", "bootstrap_limit"] = "first_order") -> float:
        r"""The variance of the estimate.

        Parameters
        ----------
        kind : {"first_order", "unbiased", "bootstrap_limit"}, default "first_order"
            ``"first_order"``: :math:`\sum_k \frac{1}{n_k(n_k-1)} \sum_i (T(i) - \bar T_k)^2`, the square of
            `standard_error`: DeLong's variance, a little too large on average. ``"unbiased"``: less the part that the
            rows of a pair have in common, which makes it right on average; 0, with a warning, where it would be
            negative. ``"bootstrap_limit"``: the variance of infinitely many bootstrap samples drawn within classes.

            The last two exist for rows without weights and groups and for class sizes that are fixed.
        """
        wanted = one_of("kind", kind, VARIANCES)
        if wanted == "first_order":
            return self._first_order
        if self._inputs is None:
            raise ValueError(f"kind={wanted!r} needs the data, which an unpickled result does not have; evaluate again")
        obstacle = self._inputs.why_first_order_only()
        if obstacle is not None:
            raise ValueError(f"kind={wanted!r} is not defined with {obstacle}; 'first_order' is")
        subtracted, added = self._inputs.interactions()[:, self._place].tolist()
        if wanted == "bootstrap_limit":
            return self._plug_in + float(added)
        variance = self._first_order - float(subtracted)
        if abs(variance) <= ROUNDING * self._first_order:
            return 0.0
        if variance < 0.0:
            warnings.warn(
                f"the unbiased variance of {self.name} came out as {variance:.3g} and is reported as 0",
                RuntimeWarning,
                stacklevel=2,
            )
            return 0.0
        return variance

    def confidence_interval(
        self, level: float = 0.95, method: Literal["logit", "wald"] = "logit"
    ) -> ConfidenceInterval:
        r"""An interval that covers the population's value with probability `level`.

        Parameters
        ----------
        level : float, default 0.95
            The nominal coverage.
        method : {"logit", "wald"}, default "logit"
            ``"logit"``: :math:`\operatorname{expit}(\operatorname{logit}\theta \pm t \cdot SE / (\theta(1-\theta)))`,
            inside (0, 1) by construction. ``"wald"``: :math:`\theta \pm t \cdot SE`, cut off at 0 and 1. t is the
            quantile of Student's distribution with `degrees_of_freedom`.

        Returns
        -------
        ConfidenceInterval
            (low, high). At an estimate of 1, where nothing varies, from :math:`(\alpha/2)^{1/m}` to 1, m being the
            smallest class; mirrored at 0. Elsewhere without a standard error (nan, nan), with a warning.
        """
        tail = read_level(level)
        kind = one_of("method", method, INTERVALS)
        interval = self._interval(tail, kind)
        if math.isnan(interval.low):
            found = "0: the scores do not vary" if self.standard_error == 0.0 else "nan"
            warnings.warn(
                f"there is no interval for {self.name}: its standard error is {found}", RuntimeWarning, stacklevel=2
            )
        return interval

    def _interval(self, tail: float, kind: str) -> ConfidenceInterval:
        value, error = self.value, self.standard_error
        if value in (0.0, 1.0):
            # Nothing varies: what a class of that size could still hide.
            reach = tail ** (1.0 / self.smallest_class)
            return ConfidenceInterval(reach, 1.0) if value == 1.0 else ConfidenceInterval(0.0, 1.0 - reach)
        if not error > 0.0:
            return NO_INTERVAL
        t = upper_quantile(tail, self.degrees_of_freedom)
        if kind == "wald":
            return ConfidenceInterval(max(0.0, value - t * error), min(1.0, value + t * error))
        middle, reach = math.log(value / (1.0 - value)), t * error / (value * (1.0 - value))
        return ConfidenceInterval(_expit(middle - reach), _expit(middle + reach))

    def cells(self) -> list[str]:
        """Value, standard error and 95% interval as text."""
        low, high = self._interval(0.025, "logit")
        interval = "-" if math.isnan(low) else f"{low:.4f} to {high:.4f}"
        return [f"{self.value:.4f}", f"{self.standard_error:.4f}", interval]

    def to_dict(self) -> dict[str, Any]:
        """Value, standard error and 95% interval by name."""
        low, high = self._interval(0.025, "logit")
        return {"value": self.value, "standard_error": self.standard_error, "confidence_interval": [low, high]}

    def __repr__(self) -> str:
        value, error, interval = self.cells()
        return f"Estimate({self.name} {value}, standard error {error}, 95% interval {interval})"


def _expit(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
