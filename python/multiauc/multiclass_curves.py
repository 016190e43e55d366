"""The multi-class ROC curve: one curve and one area for all ordered pairs of classes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final, Never

import numpy as np

from multiauc import _rust
from multiauc._hints import refuse_unknown
from multiauc._input.options import (
    CENTERS,
    SCOPES,
    positive_integer,
    read_non_negative,
    read_pair_weights,
    read_rate_weights,
    read_thresholds,
)
from multiauc._input.sample import read_sample
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._wording import counted, one_of
from multiauc.multiclass_curve_results import MulticlassRoc

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from multiauc._input.sample import Sample
    from multiauc._types import Absent, Center, Labels, Outputs, PairWeights, Scope

# Most bytes of the matrix of rates, 2T x K(K - 1) numbers.
MEMORY_LIMIT = 2 << 30

# The default options.
THRESHOLDS: Final = 100
SCOPE: Final = "shared"
CENTER: Final = "intercept"
CONTINUITY: Final = 0.5
TOLERANCE: Final = 1e-8
MAX_ITERATIONS: Final = 500

# Far beyond it all rates become one half, and nothing can be mapped back.
LARGEST_CONTINUITY: Final = 1e6


@shares_parameter_texts
def multiclass_roc(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    thresholds: int | ArrayLike = THRESHOLDS,
    scope: Scope = SCOPE,
    center: Center = CENTER,
    pair_weights: PairWeights = None,
    rate_weights: tuple[ArrayLike, ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
    continuity: float = CONTINUITY,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITERATIONS,
    **unknown: Never,
) -> MulticlassRoc:
    r"""The multi-class ROC curve of Wang and Carvalho, and the area D under it.

    For an ordered pair of classes (c, d) and a threshold t, the true-positive rate is the share of class c with
    :math:`p_c > t`, and the false-positive rate the share of class d with :math:`p_c > t`. All rates x, a row for each
    threshold (first the true-positive rates, then the false-positive ones) and a column for each pair, are fitted by

    .. math::
        \operatorname{logit} \mu_{ij} = \Lambda^0_i + \Lambda_i V_j, \qquad \sum_j V_j = 0,

    with the binomial likelihood. The row effects are what all pairs have in common: the curve runs through
    :math:`(\operatorname{expit} \Lambda^{0,fp}_i, \operatorname{expit} \Lambda^{0,tp}_i)` along falling thresholds,
    mapped back from the rates as they were fitted (see `continuity`) to rates.
    With two classes the model is saturated, and the curve is the empirical ROC curve of the second class's score.

    Parameters
    ----------
    {y_true}
    {y_score}
    thresholds : int or array-like, default 100
        How many thresholds T, at the quantiles of levels (i - 1/2) / T of the scores (repeated values count once, so
        that there may be fewer); or the falling thresholds themselves, which all pairs then share.
    scope : {"shared", "class", "pair"}, default "shared"
        Whose quantiles: of all scores, one grid for all pairs; of the score column of the pair's first class; or of
        that column in the rows of the pair's two classes.
    center : {"intercept", "projection"}, default "intercept"
        The model above; or :math:`\operatorname{logit} \mu_{ij} = \Lambda_i V_j` with
        :math:`\Lambda^0_i = \Lambda_i \bar V` afterwards, the paper's Algorithm 1.
    pair_weights : {None, "size_product", "size_sum"} or array-like of shape (K, K), optional
        Weight of each pair in the likelihood: all equal, :math:`n_c n_d`, :math:`n_c + n_d`, or a symmetric
        non-negative matrix.
    rate_weights : (array-like, array-like), optional
        Two K x K positive arrays: the weight of the true-positive rates of the pair (c, d) at [c, d], and that of its
        false-positive rates. They multiply `pair_weights`, and the row effects are means over pairs with the same
        weights. A large weight says that a rate matters: it rewards, it is not a misclassification cost.
    {sample_weight}
    continuity : float, default 0.5
        Draws the rates away from 0 and 1, whose logits are infinite: x becomes (1 - 2e) x + e with e = a / (n + 2a), a
        the number given here (at most a million) and n the harmonic mean of the class sizes (the larger of a class's
        rows and weight). The fitted curve u is mapped back to (u - e) / (1 - 2e), cut off at 0 and 1.
    {labels}
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its pairs out, or return nan.
    {outputs}
    tol : float, default 1e-8
        The fit stops when the deviance falls by less than `tol` times (deviance + 0.1) in a sweep.
    max_iter : int, default 500
        Most sweeps of the fit from a start (there are several where they lead to different optima). A fit that has not
        converged by then warns.

    Returns
    -------
    MulticlassRoc
        With the curve (`fpr`, `tpr`), the area (`auc`), the rates, `bootstrap()` and `plot()`.

    Notes
    -----
    D is one half for a model that knows nothing, and hardly depends on the class sizes, like the average
    `hand_till_score` of the pairwise areas; unlike it, D comes with a curve. Where one threshold, the same for all
    pairs, would have no error in any of them, the curve goes through (0, 1) and D is exactly one.

    References
    ----------
    .. [1] L. Wang and L. Carvalho, "Multiclass ROC", arXiv, 2024.
    .. [2] L. Wang and L. Carvalho, "Deviance matrix factorization", Electronic Journal of Statistics 17(2), 2023,
       3762-3810.

    Examples
    --------
    >>> import numpy as np
    >>> import multiauc
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(3, size=300)
    >>> y_score = rng.random((300, 3))
    >>> y_score[np.arange(300), y_true] += 0.5
    >>> roc = multiauc.multiclass_roc(y_true, y_score)
    >>> roc
    MulticlassRoc(3 classes, 6 pairs, 100 thresholds: auc 0.8830, deviance 2.375)
    >>> low, high = roc.bootstrap(200, rng=0).confidence_interval(level=0.95)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.859 to 0.903
    """
    refuse_unknown(multiclass_roc, unknown)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    options = _curve_options(
        sample,
        read_pair_weights(pair_weights, sample),
        thresholds=read_thresholds(thresholds),
        scope=one_of("scope", scope, SCOPES),
        center=one_of("center", center, CENTERS),
        rate_weights=read_rate_weights(rate_weights, sample.n_classes),
        continuity=read_non_negative("continuity", continuity, largest=LARGEST_CONTINUITY),
        tolerance=read_non_negative("tol", tol),
        max_iterations=positive_integer("max_iter", max_iter),
    )
    return _fitted(sample, options, stacklevel=2)


def default_curve(
    sample: Sample, pair_weights: str | NDArray[np.float64] | None = None, *, stacklevel: int
) -> MulticlassRoc:
    """The curve of a sample with the default options of `multiclass_roc`."""
    return _fitted(sample, _curve_options(sample, pair_weights), stacklevel=stacklevel + 1)


def _curve_options(  # noqa: PLR0913
    sample: Sample,
    pair_weights: str | NDArray[np.float64] | None,
    *,
    thresholds: int | NDArray[np.float64] = THRESHOLDS,
    scope: str = SCOPE,
    center: str = CENTER,
    rate_weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    continuity: float = CONTINUITY,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> dict[str, Any]:
    equal = np.ones((sample.n_classes, sample.n_classes))
    tp_weights, fp_weights = (equal, equal) if rate_weights is None else rate_weights
    return {
        "thresholds": thresholds,
        "scope": scope,
        "center": center,
        "pair_weights": pair_weights,
        "tp_weights": tp_weights,
        "fp_weights": fp_weights,
        "continuity": continuity,
        "tolerance": tolerance,
        "max_iterations": max_iterations,
        "memory_limit": MEMORY_LIMIT,
    }


def _fitted(sample: Sample, options: dict[str, Any], stacklevel: int) -> MulticlassRoc:
    if sample.is_undefined:
        return MulticlassRoc.of_nothing(sample.labels, options["center"])
    model = _rust.multiclass_roc(sample.arguments(), options)
    if not model.converged:
        sweeps = counted(options["max_iterations"], "sweep")
        warnings.warn(
            f"the multi-class ROC curve did not converge in {sweeps}; raise max_iter or tol",
            RuntimeWarning,
            stacklevel=stacklevel + 1,
        )
    return MulticlassRoc.of_model(model, sample.labels, options["center"])
