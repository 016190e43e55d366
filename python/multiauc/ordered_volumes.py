"""The volume under the ROC surface of ordered classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from multiauc._hints import refuse_unknown
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.sample import read_ordered_sample
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._registry import ORDERED_VUS
from multiauc._scoring import score_of
from multiauc.estimates import warn_of_single_units
from multiauc.evaluation import computed
from multiauc.volumes import volume_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from multiauc._types import Absent, Labels
    from multiauc.volume_results import Volume


@shares_parameter_texts
def ordered_vus_score(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    **unknown: Never,
) -> float:
    r"""The volume under the ROC surface of ordered classes: how often scores rise in the order of the classes.

    .. math::
        \mathrm{VUS} = P\bigl(s(x_1) < s(x_2) < \ldots < s(x_K)\bigr)

    for one row of each class [1]_; where t consecutive classes tie, the tuple counts 1/t!. Scores without information
    have the value 1/K!, perfect ones 1. With two classes it is the AUC.

    Parameters
    ----------
    {y_true}
    score : array-like of shape (n,)
        One score per row, higher for later classes.
    {sample_weight}
    labels : sequence of K labels, optional
        The classes in rising order; by default the sorted labels of `y_true`.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if one of `labels` has no rows (or no weight): raise an error, leave it out, or return nan.

    Returns
    -------
    float
        The value, between 0 and 1.

    See Also
    --------
    ordered_vus : The same with a standard error.

    Notes
    -----
    All tuples are counted in one pass over the sorted scores, in time that grows like n log n + nK.

    References
    ----------
    .. [1] C. T. Nakas and C. T. Yiannoutsos, "Ordered multiple-class ROC analysis with continuous measurements",
       Statistics in Medicine 23 (2004), 3437-3449.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["mild", "mild", "moderate", "moderate", "severe"]
    >>> multiauc.ordered_vus_score(y_true, [1.0, 2.5, 2.0, 3.0, 4.0], labels=["mild", "moderate", "severe"])
    0.75
    """
    refuse_unknown(ordered_vus_score, unknown)
    return score_of(
        read_ordered_sample(y_true, score, sample_weight, labels, absent, argument="score"), ORDERED_VUS, {}
    )


def ordered_vus(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    **unknown: Never,
) -> Volume:
    r"""The volume under the ROC surface of ordered classes with its standard error.

    With :math:`T(i)` the share of the tuples through row i that are in order, the variance is
    :math:`\sum_k \frac{1}{n_k (n_k - 1)} \sum_{i \in k} (T(i) - \bar T_k)^2`.

    Parameters
    ----------
    y_true, score, sample_weight, labels, absent
        As in `ordered_vus_score`, which has the formula.

    Returns
    -------
    Volume
        Exact. `evaluate` and `compare` have it too, as the metric ``"ordered_vus"`` of one score per row: with groups
        of rows and paired tests.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> stage = rng.integers(1, 5, size=200)
    >>> multiauc.ordered_vus(stage, stage + rng.normal(size=200))
    Volume(ordered VUS 0.3552, standard error 0.0418, 95% interval 0.2768 to 0.4423; chance 0.0417)
    """
    refuse_unknown(ordered_vus, unknown)
    sample = read_ordered_sample(y_true, score, sample_weight, labels, absent, argument="score")
    inputs = HeldInputs(sample, (ORDERED_VUS,), {})
    found = computed(inputs)
    warn_of_single_units(inputs, found.units, found.effective_units, stacklevel=2)
    return volume_of(inputs, found, ORDERED_VUS)
