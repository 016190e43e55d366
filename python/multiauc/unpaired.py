"""Two models, or one model twice, on different rows."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Never

import numpy as np

from multiauc._hints import refuse_unknown
from multiauc._registry import DEFAULT_METRIC, METRICS
from multiauc._slice_tests import SliceDifferences, side_of
from multiauc._wording import described, listing, one_of
from multiauc.differences import Difference, warn_of_untestable
from multiauc.evaluation_results import Evaluation

if TYPE_CHECKING:
    from multiauc._registry import MetricName


def compare_samples(
    a: Evaluation, b: Evaluation, *, metric: MetricName = DEFAULT_METRIC, **unknown: Never
) -> Difference:
    r"""The difference between two evaluations of different rows: two hospitals, last year and this year.

    The samples are independent. The limits :math:`l, u` of both default intervals make those of the difference
    :math:`d = \theta_a - \theta_b`,

    .. math:: d - \sqrt{(\theta_a - l_a)^2 + (u_b - \theta_b)^2} \quad \text{to} \quad
              d + \sqrt{(u_a - \theta_a)^2 + (\theta_b - l_b)^2},

    (MOVER: G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008), 1693-1702), and the test inverts them; its
    degrees of freedom are those of Welch. Models scored on the same rows are compared by `compare`, which knows the
    difference much better.

    Parameters
    ----------
    a, b : Evaluation
        Of samples that have no rows, and no groups, in common.
    metric : str, default "auc_mu"
        What to compare; both must have been evaluated with it.

    Returns
    -------
    Difference
        a minus b.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> def sample(n, noise):
    ...     y_true = rng.integers(3, size=n)
    ...     return y_true, np.eye(3)[y_true] + noise * rng.random((n, 3))
    >>> old, new = multiauc.evaluate(*sample(300, 2)), multiauc.evaluate(*sample(200, 3))
    >>> multiauc.compare_samples(old, new)
    Difference(a - b: +0.1262, standard error 0.0239, 95% interval +0.0811 to +0.1782, t(234.4) 5.92, p <0.0001)
    """
    refuse_unknown(compare_samples, unknown)
    for name, given in (("a", a), ("b", b)):
        if not isinstance(given, Evaluation):
            raise TypeError(f"{name} must be an Evaluation, as `evaluate` returns it; got {described(given)}")
        one_of("metric", metric, tuple(given.metrics))
    if set(a.labels) != set(b.labels):
        raise ValueError(
            f"a and b must have the same classes; got {listing(a.labels)} and {listing(b.labels)}, "
            "whose values do not compare"
        )
    first, second = a.metrics[metric], b.metrics[metric]
    variance = first.variance() + second.variance()
    smallest = METRICS[metric].smallest
    samples = SliceDifferences(side_of(first), side_of(second), np.zeros(1), smallest)
    freedom = float(samples.degrees_of_freedom()[0])
    difference = Difference(
        "a", "b", first.value - second.value, variance, freedom, _largest=1.0 - smallest, _samples=samples
    )
    if math.isnan(variance):
        warnings.warn(
            "there is no test: a standard error is nan, because a class has a single row or a single group",
            RuntimeWarning,
            stacklevel=2,
        )
    warn_of_untestable([difference], stacklevel=2)
    return difference
