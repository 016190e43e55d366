"""ROC curves of single classes and of pairs of classes."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from multiauc import _rust
from multiauc._hints import refuse_unknown
from multiauc._input.held_inputs import HeldInputs
from multiauc._input.sample import read_sample
from multiauc._parameter_texts import shares_parameter_texts
from multiauc._registry import CURVE_KINDS, DEFAULT_CURVE_KIND, PAIRWISE
from multiauc._wording import one_of
from multiauc.roc_curve_results import RocCurve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from multiauc._input.sample import Sample
    from multiauc._registry import CurveKind
    from multiauc._types import Absent, Labels, Outputs


@shares_parameter_texts
def roc_curves(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    kind: CurveKind = DEFAULT_CURVE_KIND,
    drop_intermediate: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
    **unknown: Never,
) -> dict[Any, RocCurve]:
    r"""The ROC curve of every class, or of every ordered pair of classes.

    For class c and a threshold t, the rows with :math:`p_c \ge t` are called positive, and the curve runs through

    .. math::
        \mathrm{TPR}(t) = \frac{\#\{a \in c : p_c(a) \ge t\}}{n_c}, \qquad
        \mathrm{FPR}(t) = \frac{\#\{b \in R : p_c(b) \ge t\}}{n_R}

    where R is all the other classes (``"one_vs_rest"``) or one other class d (``"pairwise"``). The area under it is the
    value of the class in `one_vs_rest_per_class`, or A(c|d) in `hand_till_matrix`.

    Parameters
    ----------
    {y_true}
    {y_score_of_curves}
    kind : {"one_vs_rest", "pairwise"}, default "one_vs_rest"
        A curve per class, or a curve per ordered pair of classes.
    drop_intermediate : bool, default True
        Leave out points on a straight line between their neighbours. The area stays the same.
    {sample_weight}
    {labels}
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its curves out, or have curves of a
        single point nan.
    {outputs}

    Returns
    -------
    dict
        A `RocCurve` by label, or by pair (c, d) of labels, c being the positive class whose score is read. It has a
        `band` and the `sensitivity` at a specificity; it refers to `y_score` for them and does not copy it.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> curves = multiauc.roc_curves(y_true, y_score)
    >>> curves["cat"]
    RocCurve('cat' against the rest: 5 points, auc 0.8333)
    >>> curves["cat"].thresholds
    array([inf, 0.6, 0.5, 0.4, 0.1])
    >>> multiauc.roc_curves(y_true, y_score, kind="pairwise")["cat", "dog"].auc
    0.75
    """
    refuse_unknown(roc_curves, unknown)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    return curves_of(sample, kind, drop_intermediate=drop_intermediate)


def curves_of(sample: Sample, kind: str, *, drop_intermediate: bool) -> dict[Any, RocCurve]:
    """The curves of a sample, by class or by pair of classes."""
    if not isinstance(drop_intermediate, (bool, np.bool_)):
        raise TypeError(f"drop_intermediate must be True or False; got {drop_intermediate!r}")
    wanted = curve_pairs(sample, one_of("kind", kind, CURVE_KINDS))
    curves = _curves(sample, wanted, drop_intermediate=bool(drop_intermediate))
    return {curve.positive if curve.negative is None else (curve.positive, curve.negative): curve for curve in curves}


def curve_pairs(sample: Sample, kind: str) -> list[tuple[int, int | None]]:
    """(positive class, negative class or None for all others) of each curve that a result has entries for."""
    classes = sample.reported_classes()
    return list(permutations(classes, 2)) if kind == PAIRWISE else [(c, None) for c in classes]


def present_curves(sample: Sample, curves: list[tuple[int, int | None]]) -> list[tuple[int, int | None]]:
    """Those of the curves whose classes have rows."""
    return [(c, d) for c, d in curves if sample.rows[c] and (d is None or sample.rows[d])]


def _curves(sample: Sample, wanted: list[tuple[int, int | None]], *, drop_intermediate: bool) -> Iterator[RocCurve]:
    """The curves in order; the core computes those of present classes in one call."""
    present = present_curves(sample, wanted)
    drawn = _rust.roc_curve_points(sample.arguments(), present, drop_intermediate)
    points = dict(zip(present, drawn, strict=True))
    inputs = HeldInputs(sample, (), {})
    nan = np.array([np.nan])
    for c, d in wanted:
        fpr, tpr, thresholds = points.get((c, d), (nan, nan, nan))
        negative = None if d is None else sample.labels[d]
        yield RocCurve(fpr, tpr, thresholds, sample.labels[c], negative, inputs)
