"""Areas under parts of ROC curves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common import hints, registry, result, wording
from multiauc._curves import roc
from multiauc._inference import bootstrap as resampling
from multiauc._inference.estimates import count_smallest
from multiauc._input import options
from multiauc._input.sample import HeldInputs, Sample, read_sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from multiauc._common.types import Absent, Labels, Outputs, PartialAverage, Sampling

AVERAGES = ("macro", "prevalence")


@hints.with_hints
def partial_auc_score(  # noqa: PLR0913 - keyword-only options
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    kind: registry.CurveKind = registry.DEFAULT_CURVE_KIND,
    average: PartialAverage = "macro",
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> float:
    r"""The standardised area under part of the ROC curves, averaged over classes or over ordered pairs of classes.

    With false-positive rates up to f, the area :math:`A = \int_0^f \mathrm{TPR}\, d\mathrm{FPR}` of a curve lies
    between :math:`f^2/2` for chance and f, and its standardised value is (McClish 1989)

    .. math:: \frac{1}{2}\left(1 + \frac{A - f^2/2}{f - f^2/2}\right),

    1/2 for chance and 1 for a perfect score. With two classes and a one-dimensional score this is scikit-learn's
    ``roc_auc_score(max_fpr=f)``. With true-positive rates from t on, the same is done on the curve of
    (1 - TPR, 1 - FPR) with f = 1 - t.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class of each row: integers, strings, bools or a categorical.
    y_score : array-like of shape (n, K)
        The score of each row for each class, float32 or float64, in any memory layout. With two classes also of shape
        (n,) or (n, 1), the score of the second of `labels`; then there is one curve, that of the second class.
    max_fpr : float in (0, 1], optional
        The largest false-positive rate that counts. Pass either this or `min_tpr`.
    min_tpr : float in [0, 1), optional
        The smallest true-positive rate that counts.
    kind : {"one_vs_rest", "pairwise"}, default "one_vs_rest"
        One curve per class against all others, or per ordered pair of classes (c, d), by the score of c.
    average : {"macro", "prevalence"}, default "macro"
        The plain mean of the curves, or weighted by the prevalence of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights of the rows. Sums of weights replace counts: a row of weight 2 counts like two rows, and a
        row of weight 0 is ignored.
    labels : sequence of K labels, optional
        The classes, in column order. If the columns of a data frame are named after these classes, the names decide
        which column is which. Default: the column names of a data frame, if they are strings or contain all labels;
        otherwise the sorted labels of `y_true`, if there are K of them.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave it out, or return nan.
    outputs : {"logits"} or None, default None
        What the columns contain: None uses them as they are; ``"logits"`` applies the softmax to each row first (or the
        logistic function, with one score per row). Scores are compared between rows, so logits and the probabilities
        computed from them give different values.

    Returns
    -------
    float

    References
    ----------
    D. K. McClish, *Analyzing a Portion of the ROC Curve*, Medical Decision Making 9, 1989.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> round(multiauc.partial_auc_score(y_true, y_score, max_fpr=0.5), 4)
    0.8889
    >>> round(multiauc.partial_auc_score(y_true, y_score, min_tpr=0.5, kind="pairwise"), 4)
    0.9167
    """
    kind_of_mean = wording.one_of("average", average, AVERAGES)
    region, rate = options.read_region(max_fpr, min_tpr)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    _, macro, prevalence = _areas(
        sample, _curves(sample, wording.one_of("kind", kind, registry.CURVE_KINDS)), region, rate
    )
    return macro if kind_of_mean == "macro" else prevalence


@hints.with_hints
def partial_auc(  # noqa: PLR0913
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    kind: registry.CurveKind = registry.DEFAULT_CURVE_KIND,
    sample_weight: ArrayLike | None = None,
    labels: Labels = None,
    absent: Absent = "raise",
    outputs: Outputs = None,
) -> PartialAuc:
    """The standardised area under part of every ROC curve, with its averages and a bootstrap of them.

    Parameters
    ----------
    y_true, y_score, max_fpr, min_tpr, kind, sample_weight, labels, outputs
        As in `partial_auc_score`, which defines the value.
    absent : {"raise", "ignore", "nan"}, default "raise"
        What to do if a class has no rows (or no weight): raise an error, leave its curves out, or give them nan.

    Returns
    -------
    PartialAuc
        `.values` by class or by ordered pair, `.macro`, `.prevalence`, and `.bootstrap()` for intervals.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["cat", "cat", "dog", "dog", "eel"]
    >>> y_score = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    >>> multiauc.partial_auc(y_true, y_score, max_fpr=0.5)
    PartialAuc: fpr up to 0.5, 3 classes against the rest
                  area
    cat         0.7778
    dog         0.8889
    eel         1.0000
    macro       0.8889
    prevalence  0.8667
    """
    region, rate = options.read_region(max_fpr, min_tpr)
    sample = read_sample(y_true, y_score, sample_weight, labels, absent, outputs)
    curves = _curves(sample, wording.one_of("kind", kind, registry.CURVE_KINDS))
    areas, macro, prevalence = _areas(sample, curves, region, rate)
    name = sample.labels.__getitem__
    keys = [name(c) if d is None else (name(c), name(d)) for c, d in curves]
    return PartialAuc(
        values=dict(zip(keys, areas, strict=True)),
        macro=macro,
        prevalence=prevalence,
        kind=kind,
        max_fpr=rate if region == "max_fpr" else None,
        min_tpr=rate if region == "min_tpr" else None,
        _inputs=HeldInputs(sample, ()),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartialAuc(result.Printed, result.Result):
    """Standardised areas under part of the ROC curves; see `multiauc.partial_auc`.

    Attributes
    ----------
    values : dict
        The area of each curve by label, or by ordered pair (c, d) of labels, where c is the class whose score is used.
    macro, prevalence : float
        Their mean, and their mean weighted by the prevalence of the positive class.
    kind : {"one_vs_rest", "pairwise"}
        What each class is compared with.
    max_fpr, min_tpr : float or None
        The part of the curves that counts.

    Examples
    --------
    >>> import multiauc
    >>> y_true = ["a", "a", "b", "b", "c", "c"]
    >>> y_score = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]
    >>> areas = multiauc.partial_auc(y_true, y_score, max_fpr=0.5)
    >>> areas.values["b"]
    0.75
    >>> areas.bootstrap(100, rng=0).metrics
    ('macro', 'prevalence')
    """

    values: dict[Any, float]
    macro: float
    prevalence: float
    kind: str
    max_fpr: float | None
    min_tpr: float | None
    _inputs: HeldInputs | None = field(default=None, metadata=result.HELD)

    @hints.with_hints
    def bootstrap(
        self,
        n_resamples: int = 2000,
        rng: np.random.Generator | int | None = None,
        *,
        groups: ArrayLike | None = None,
        sampling: Sampling = "stratified",
    ) -> resampling.Bootstrap:
        """Resample the rows, for the uncertainty of `macro` and `prevalence`.

        Parameters
        ----------
        n_resamples : int, default 2000
            How many resamples.
        rng : numpy Generator or int, optional
            The generator or its seed. The same seed resamples the same rows for every metric and model.
        groups : array-like of shape (n,), optional
            The group of each row (a patient, a user): whole groups are resampled, within classes if `sampling` is
            "stratified" and no group has rows of several classes. A resample without rows of some class is nan and does
            not count.
        sampling : {"stratified", "iid"}, default "stratified"
            Resample rows within each class, or from all rows.

        Returns
        -------
        Bootstrap
            With the columns "macro" and "prevalence". It has no influence values, so ``"bca"`` intervals are not
            available.
        """
        size = options.positive_integer("n_resamples", n_resamples)
        generator = options.read_rng(rng)
        if self._inputs is None:
            raise ValueError(
                "these areas were unpickled and cannot be bootstrapped; call partial_auc on the data again"
            )
        inputs = self._inputs.regroup(groups, sampling)
        sample = inputs.sample
        region, rate = ("max_fpr", self.max_fpr) if self.max_fpr is not None else ("min_tpr", self.min_tpr)
        replicates = np.full((size, 2), np.nan)
        if not np.isnan(self.macro):
            curves = _curves(sample, self.kind)
            limit = resampling.MEMORY_LIMIT
            resampler = _rust.Resampler.of_curves(inputs.arguments(), curves, region, float(rate or 0.0), limit)
            replicates = resampling.run_replicates(resampler, size, resampling.draw_seed(generator))
        estimates = np.array([self.macro, self.prevalence])
        resampling.warn_of_lost_classes(replicates, estimates)
        smallest = count_smallest(inputs.units())
        return resampling.Bootstrap(replicates, AVERAGES, estimates, None, inputs.resampled_unit, sample.rows, smallest)

    def _columns(self) -> result.Columns:
        pairs = self.values if self.kind == registry.PAIRWISE else [(label, None) for label in self.values]
        return {
            "kind": ["curve"] * len(self.values) + list(AVERAGES),
            "positive": [*(c for c, _ in pairs), None, None],
            "negative": [*(d for _, d in pairs), None, None],
            "value": [*self.values.values(), self.macro, self.prevalence],
        }

    def _numbers(self) -> dict[str, result.Numbers]:
        return {name: {"value": value} for name, value in self._named().items()}

    def _named(self) -> dict[str, float]:
        names = [str(key) if self.kind == registry.AGAINST_REST else f"{key[0]} | {key[1]}" for key in self.values]
        return dict(zip(names, self.values.values(), strict=True)) | {
            "macro": self.macro,
            "prevalence": self.prevalence,
        }

    def _title(self) -> str:
        part = f"fpr up to {self.max_fpr:g}" if self.max_fpr is not None else f"tpr from {self.min_tpr:g}"
        if self.kind == registry.PAIRWISE:
            return f"PartialAuc: {part}, {wording.pluralize(len(self.values), 'ordered pair')}"
        return f"PartialAuc: {part}, {wording.pluralize(len(self.values), 'class', 'classes')} against the rest"

    def _table(self) -> result.Cells:
        return [["", "area"], *([name, wording.decimals(value)] for name, value in self._named().items())]


def _areas(sample: Sample, curves: list[roc.Sides], region: str, rate: float) -> tuple[list[float], float, float]:
    """(area of each curve, mean, mean by prevalence), nan for curves of absent classes."""
    present = roc.present_curves(sample, curves)
    areas, macro, prevalence = _rust.partial_aucs(sample.arguments(), present, region, rate)
    area_of = dict(zip(present, areas, strict=True))
    values = [area_of.get(curve, float("nan")) for curve in curves]
    return values, sample.nan_if_absent(macro), sample.nan_if_absent(prevalence)


def _curves(sample: Sample, kind: str) -> list[roc.Sides]:
    """The curves that have an area; a single score has one curve, that of the second class."""
    if sample.has_one_score:
        return [(1, 0 if kind == registry.PAIRWISE else None)]
    return roc.curve_pairs(sample, kind)
