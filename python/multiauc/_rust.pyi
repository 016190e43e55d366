"""The compiled core. Private: use the functions of `multiauc`, which check their input first.

`Sample`, `SparseSample` and `MetricOptions` refer to the arrays they are made from, which are never copied.
*Metrics* are named as in the registry. Classes without rows (or without weight) are left out and the weights of the
others renormalised.
"""

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "METRICS",
    "NORMAL_FROM",
    "Answers",
    "Bounded",
    "Compared",
    "CurveResampler",
    "Estimate",
    "Evaluated",
    "FoundSlices",
    "Interactions",
    "Labelled",
    "MetricOptions",
    "MinP",
    "PairOutcomes",
    "PairTable",
    "Pilot",
    "RangeCounter",
    "RangePlan",
    "RepeatedMetric",
    "Resampler",
    "RocModel",
    "RowSums",
    "Runs",
    "RunsMean",
    "Sample",
    "SampleDifferences",
    "SparseSample",
    "StreamState",
    "SummaryFit",
    "__version__",
    "average_precision_per_class",
    "chance",
    "check_column_order",
    "chi_squared_tail",
    "class_sizes",
    "code_bytes",
    "code_integers",
    "code_objects",
    "compare",
    "compare_classes",
    "compare_folds",
    "compare_labels",
    "confusion",
    "cost_curve",
    "count_groups",
    "covered_share",
    "debug_build",
    "decide",
    "detect_delimiter",
    "evaluate",
    "evaluate_repeats",
    "evaluate_runs",
    "evaluate_slices",
    "f_tail",
    "find_improbable_row",
    "find_odd_rows",
    "fingerprint",
    "fit_decision_rule",
    "fit_summary_roc",
    "get_num_threads",
    "h_measure",
    "holm",
    "hum",
    "hum_score",
    "influences",
    "interactions",
    "interval",
    "lc_index",
    "multiclass_roc",
    "normal_share_above",
    "normal_share_separated",
    "offset_rates",
    "one_vs_rest",
    "one_vs_rest_per_class",
    "pair_matrix",
    "partial_aucs",
    "pdi_per_class",
    "percentile_p_value",
    "precision_recall_points",
    "recode",
    "reliability_points",
    "replicate_interval",
    "roc_curve_points",
    "roc_heights",
    "roc_hull_points",
    "roc_limits",
    "roc_surface",
    "row_mean",
    "score",
    "set_num_threads",
    "share_of_sums_above",
    "side_sizes",
    "sparse_hand_till",
    "sparse_one_vs_rest",
    "sparse_one_vs_rest_per_class",
    "student_power",
    "student_two_sided_p",
    "student_upper_p",
    "student_upper_quantile",
    "sum_to_one",
    "summary_area",
    "test_by_interval",
    "wilson_limits",
    "worst_case",
]

type _Scores = NDArray[np.float32] | NDArray[np.float64]
type _Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
type _Weights = NDArray[np.float64] | None
type _Columns = NDArray[np.int32] | NDArray[np.int64]
type _PairWeights = str | NDArray[np.float64] | None
type _Curves = list[tuple[int, int | None]]
type _Vector = NDArray[np.float64]
type _Points = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

__version__: str
debug_build: bool
#: What the core knows about its metrics: by name, what each of them takes and has.
METRICS: dict[str, dict[str, Any]]
#: With this many degrees of freedom Student's t counts as normal.
NORMAL_FROM: float

@final
class Sample:
    """Rows with a class and a score for every class.

    `scores` are (n, K), float32 or float64 with any strides, or (n, 1), those of the second of two classes; `codes` the
    class of each row as a column number (uint8 for K <= 256, else uint16); `weights` are finite and not negative;
    `groups` the number of each row's group. `sampling` is "stratified" or "iid", of rows or of groups.
    """

    def __new__(
        cls,
        scores: _Scores,
        codes: _Codes,
        weights: _Weights = None,
        groups: NDArray[np.uint32] | None = None,
        sampling: str = "stratified",
    ) -> Sample: ...
    @property
    def is_single(self) -> bool:
        """Whether scores are float32."""

@final
class SparseSample:
    """Rows of which only some scores are stored, float32 or float64, row by row, with their column numbers.

    `starts` says where the scores of each row start and those of the last end, `width` is the number of columns, K or
    1, `codes` (uint32 for K > 65,536) and `weights` are as in `Sample`.
    """

    def __new__(
        cls,
        values: _Scores,
        columns: _Columns,
        starts: NDArray[np.int64],
        width: int,
        codes: _Codes,
        weights: _Weights = None,
    ) -> SparseSample: ...

@final
class MetricOptions:
    """What metrics depend on, where it is not None: each option has a meaning for some of them."""

    def __new__(
        cls,
        partition: NDArray[np.float64] | None = None,
        pair_weights: _PairWeights = None,
        clip: float | None = None,
        k: int | None = None,
    ) -> MetricOptions: ...
    @property
    def partition(self) -> NDArray[np.float64] | None:
        """K x K costs."""

    @property
    def pair_weights(self) -> _PairWeights:
        """A name, "size_product" or "size_sum", or a symmetric K x K array."""

    @property
    def clip(self) -> float | None:
        """The smallest probability that counts as such."""

    @property
    def k(self) -> int | None:
        """How many of the highest scores count."""

def set_num_threads(n: int) -> None:
    """Number of threads for later calls; 0 restores the default."""

def get_num_threads() -> int: ...
def code_integers(
    values: NDArray[Any],
    limit: int,
) -> tuple[_Codes, NDArray[np.intp], NDArray[np.int64]]:
    """(codes, first_rows, counts): classes numbered in increasing order of their integer label.

    `values` is 1-D of any integer dtype, with at most `limit` distinct labels (or 65,536, if that is more).
    first_rows[k] is a row that holds label k, counts[k] its number of rows.
    """

def code_bytes(
    values: NDArray[np.uint8],
    limit: int,
) -> tuple[_Codes, NDArray[np.intp], NDArray[np.int64]]:
    """(codes, first_rows, counts) of fixed-width records, the rows of a C-contiguous (n, width) array.

    Classes are numbered in order of first appearance; first_rows[k] is the first row of class k.
    """

def detect_delimiter(text: str, delimiters: str, is_cut: bool) -> str | None:
    """The delimiter that cuts the first records into most cells, all alike; `is_cut` if more text follows."""

def code_objects(objects: Sequence[Any]) -> tuple[_Codes, list[Any], NDArray[np.int64]]:
    """(codes, distinct objects, counts): hashable objects numbered in order of first appearance."""

def recode(codes: _Codes, columns: Sequence[int], n_classes: int) -> _Codes:
    """Class k becomes `columns[k]`, one of `n_classes`."""

def count_groups(
    codes: _Codes, weights: _Weights, groups: NDArray[np.uint32], n_classes: int
) -> tuple[NDArray[np.int64], bool]:
    """(groups that have rows of each class, whether some has rows of several); rows of weight zero are not counted."""

def class_sizes(codes: _Codes, weights: _Weights, n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(rows, weight sums) of each class; rows of weight zero are not counted. Checks the weights."""

def score(sample: Sample, metric: str, options: MetricOptions = ...) -> float:
    """The value of a metric."""

def pair_matrix(sample: Sample, metric: str, options: MetricOptions = ...) -> NDArray[np.float64]:
    """K x K values of the pairs that a metric averages; nan on the diagonal and for absent classes."""

def one_vs_rest(sample: Sample, average: str) -> float:
    """`average`: "macro", "prevalence", "prevalence_equal_rest" or "micro"."""

def one_vs_rest_per_class(sample: Sample) -> NDArray[np.float64]: ...
def average_precision_per_class(sample: Sample) -> NDArray[np.float64]: ...
def sparse_hand_till(sample: SparseSample, pair_weights: _PairWeights) -> float: ...
def sparse_one_vs_rest(sample: SparseSample, average: str) -> float: ...
def sparse_one_vs_rest_per_class(sample: SparseSample) -> NDArray[np.float64]: ...
def find_odd_rows(scores: _Scores) -> tuple[int, float, bool, int] | None:
    """(row, sum of its scores, whether one is negative, number of such rows) if nearly all others are probabilities."""

def sum_to_one(scores: _Scores, most: int, tolerance: float) -> bool:
    """Whether rows sum to 1 within a tolerance; of many rows `most` are looked at."""

def find_improbable_row(scores: _Scores) -> int | None:
    """The first row whose scores are not probabilities: none negative and the sum 1, within 1e-6 (1e-3 in float32)."""

def fingerprint(scores: _Scores, weights: _Weights = None) -> int:
    """A hash of some of the scores and weights, which notices changes."""

def pdi_per_class(sample: Sample) -> NDArray[np.float64]:
    """What `score` averages for "pdi"; nan for absent classes."""

def hum_score(sample: Sample, rule: str, precision: float, seed: int, is_latin: bool) -> tuple[float, float, bool]:
    """(value, standard error of drawing tuples, whether all were counted); `rule` is "sum", "prod" or "distance".

    `is_latin`: whether tuples, if they are drawn, use each row equally often.
    """

def hum(sample: Sample, rule: str, precision: float, seed: int) -> tuple[Evaluated, float, bool]:
    """The same with the standard error over rows."""

def chance(kind: str, classes: int, shares: list[float] | None, k: int) -> float:
    """What uninformative scores make of a metric whose chance is of this kind."""

def offset_rates(sample: Sample, levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Confusion rates, K x K each, of classifiers that add offsets to the scores: none, and each row of levels.

    A level is the quantile of differences of scores that an offset brings to the boundary.
    """

def covered_share(rates: NDArray[np.float64], classes: int, precision: float, seed: int) -> tuple[float, float]:
    """(share, its standard error) of all confusions that are nowhere below a mixture of classifiers.

    `rates` has a row per classifier: class by class, what its rows are taken for, their own class left out.
    """

def roc_surface(
    codes: NDArray[np.uint32], differences: list[_Vector], weights: _Weights, offsets: list[_Vector]
) -> _Vector:
    """Rates of right decisions, by class, first offset and second offset.

    `differences` are the scores of the first two classes less that of the third, `offsets` what is added to them.
    """

def roc_curve_points(sample: Sample, curves: _Curves, drop_intermediate: bool) -> list[_Points]:
    """(fpr, tpr, thresholds) for each (positive class, negative class or None for all others).

    The column of the positive class ranks. The thresholds fall, start at +inf, and a row is called positive when its
    score is >= the threshold. Where a side has no rows, these and the other curves have one point, nan.
    """

def precision_recall_points(sample: Sample, classes: list[int]) -> list[_Points]:
    """(precision, recall, thresholds) of each class against all others; the thresholds fall and start at +inf."""

def reliability_points(
    sample: Sample, classes: list[int], bins: int, are_uniform: bool
) -> list[tuple[_Vector, _Vector, NDArray[np.int64], _Vector]]:
    """(mean probability, frequency, rows, Kish's numbers of rows) of each class, by bins that have rows.

    Bins are of the same width, or else hold the same number of rows.
    """

def roc_hull_points(sample: Sample, curves: _Curves) -> list[_Points]:
    """The vertices of their upper convex hulls, from (0, 0) to (1, 1)."""

def roc_heights(curve: tuple[NDArray[np.float64], NDArray[np.float64]], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """A curve (fpr, tpr) at false-positive rates; the upper end where it rises straight up."""

def side_sizes(sample: Sample, curves: _Curves) -> list[tuple[float, float]]:
    """The rows of both sides of each curve; with weights, Kish's effective numbers of rows."""

def roc_limits(
    curve: tuple[NDArray[np.float64], NDArray[np.float64]],
    sizes: tuple[float, float],
    z: float,
    at: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(low, high) limits of the true-positive rate; `sizes` are the rows of the positive and the negative class."""

@final
class CurveResampler:
    """The ROC curve of one class in the resamples that any `Resampler` has; nan where one has no row of some side."""

    def __new__(cls, sample: Sample, curve: tuple[int, int | None]) -> CurveResampler: ...
    def heights(self, seed: int, first: int, count: int, at: float) -> NDArray[np.float64]:
        """The true-positive rates at a false-positive rate."""

    def z_to_hold(
        self,
        seed: int,
        first: int,
        count: int,
        sizes: tuple[float, float],
        least: float,
        at: NDArray[np.float64],
        held: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """The smallest z from `least` on whose limits hold the heights `held` at the rates `at`."""

@final
class PairOutcomes:
    """Which rows of pairs of classes are taken for the first, by a threshold or by the higher of both scores."""

    def __new__(cls, sample: Sample, pairs: list[tuple[int, int]], threshold: float | None) -> Self: ...
    def of_sample(self) -> NDArray[np.float64]:
        """True positives, false negatives, false positives and true negatives of each pair."""

@final
class SummaryFit:
    """A fitted summary ROC curve."""

    @property
    def estimates(self) -> NDArray[np.float64]:
        """Intercept and slope of a regression; or means of logit TPR and FPR, their deviations, their correlation."""

    @property
    def covariance(self) -> NDArray[np.float64]: ...
    @property
    def log_likelihood(self) -> float: ...
    @property
    def curve(self) -> tuple[float, float]:
        """Intercept and slope of logit TPR against logit FPR."""

    @property
    def is_symmetric(self) -> bool:
        """Whether nothing shows the shape of the curve."""

    @property
    def values(self) -> list[float]:
        """The area under the curve, nan unless it rises, and the parameters of the model."""

    @property
    def standard_errors(self) -> list[float]:
        """Those of `values`, if tables are independent."""

    def bootstrap(
        self, tables: PairOutcomes, draws: tuple[int, int, int], at: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
        """(values of each resample, heights at rates, how many are symmetric); nan where a resample has no fit.

        `draws` are seed, first and number of resamples.
        """

def fit_summary_roc(tables: NDArray[np.float64], model: str, is_restricted: bool) -> SummaryFit:
    """Fit "moses_littenberg", "bivariate", "hsroc" or "binomial" to three tables or more."""

def summary_area(intercept: float, slope: float) -> float:
    """Under logit TPR = intercept + slope * logit FPR; nan unless the curve rises."""

type _Hull = tuple[NDArray[np.float64], NDArray[np.float64], float]

def cost_curve(
    false_positive: NDArray[np.float64], true_positive: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of a hull: shares of false negatives in the costs at stake, and the smallest expected costs there."""

def h_measure(hull: _Hull, severity_ratio: float) -> float:
    """Of a hull (fpr, tpr, prevalence)."""

def lc_index(a: _Hull, b: _Hull, cost_range: tuple[float, float], most_likely: float) -> float: ...
def decide(
    probabilities: _Scores,
    columns: list[int],
    costs: NDArray[np.float64],
    rule: str,
    scale: float,
    offsets: NDArray[np.float64],
) -> NDArray[np.intp]:
    """The class, a position in `columns`, that a decision rule predicts for each row of scores, (n, K) or (n, 1)."""

def fit_decision_rule(
    sample: Sample, columns: list[int], costs: NDArray[np.float64]
) -> tuple[
    str,
    float,
    NDArray[np.float64],
    float,
    NDArray[np.float64],
    NDArray[np.float64] | None,
    NDArray[np.uint32] | None,
]:
    """(rule, scale, offsets, calibration's p-value, row costs of rule, Bayes and argmax, weights, groups).

    `columns` are sorted by their labels; costs of rows are those of rules fitted to other rows.
    """

def partial_aucs(sample: Sample, curves: _Curves, region: str, rate: float) -> tuple[list[float], float, float]:
    """(value of each curve, mean, mean by prevalence); `region` is "max_fpr" or "min_tpr".

    A curve without rows on one side is nan, and not part of the means.
    """

@final
class Estimate:
    """A value with its variance."""

    @property
    def value(self) -> float: ...
    @property
    def variance(self) -> float: ...
    @property
    def degrees_of_freedom(self) -> float: ...
    @property
    def plug_in(self) -> float:
        """The variance with sums of squares over n_k^2: the main term of the bootstrap's."""

    @property
    def cautious(self) -> tuple[float, float, float] | None:
        """(value, variance, degrees of freedom) with one more row of chance in each class; not of differences."""

    @property
    def worst(self) -> tuple[float, float] | None:
        """Design effect and failures of the worst case; not of differences, nor of all metrics."""

@final
class PairTable:
    """K x K values of pairs of classes, and their variances."""

    @property
    def values(self) -> NDArray[np.float64]: ...
    @property
    def variances(self) -> NDArray[np.float64]: ...
    @property
    def degrees_of_freedom(self) -> NDArray[np.float64]: ...

@final
class Evaluated:
    """Some metrics of a sample with their uncertainty."""

    @property
    def estimates(self) -> dict[str, Estimate]:
        """By metric, in the order asked for."""

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Of the metrics, in that order."""

    @property
    def per_class(self) -> list[Estimate]:
        """Each class against the rest, nan for absent classes; empty unless some metric asked for ranks by columns."""

    @property
    def average_precisions(self) -> list[Estimate]:
        """Average precision of each class, nan for absent classes; empty unless an average of it was asked for."""

    @property
    def pairs(self) -> dict[str, PairTable]:
        """By metric, for those asked for that average over pairs of classes."""

    @property
    def units(self) -> NDArray[np.int64]:
        """Independent units of each class: its rows, or its groups."""

    @property
    def effective_units(self) -> list[float]:
        """How many of equal weight would know as much, by class."""

    @property
    def ceilings(self) -> dict[str, list[float] | None]:
        """The largest component possible in each class, by metric; None where that says nothing."""

@final
class Compared:
    """One metric of several models scored on the same rows."""

    @property
    def estimates(self) -> list[Estimate]:
        """Of each model."""

    @property
    def covariance(self) -> NDArray[np.float64]: ...
    @property
    def differences(self) -> list[Estimate]:
        """The first less the second, for all pairs of models in order."""

    @property
    def units(self) -> NDArray[np.int64]:
        """Independent units of each class: its rows, or its groups."""

    @property
    def effective_units(self) -> list[float]:
        """How many of equal weight would know as much, by class."""

@final
class RunsMean:
    """The mean of a metric over runs, or the difference of two such means."""

    @property
    def estimate(self) -> Estimate:
        """From rows alone, as though the runs were fixed."""

    @property
    def values(self) -> list[float]:
        """Of each run; none for a difference between models with different numbers of runs."""

    @property
    def parts(self) -> tuple[float, float, float]:
        """The variance that comes from rows, that which comes from runs, the degrees of freedom of their sum."""

@final
class Runs:
    """Means over runs by model and metric, and differences by pair of models and metric."""

    @property
    def means(self) -> list[list[RunsMean]]: ...
    @property
    def differences(self) -> list[list[RunsMean]]: ...
    @property
    def units(self) -> NDArray[np.int64]: ...
    @property
    def effective_units(self) -> list[float]: ...

@final
class RepeatedMetric:
    """A metric of a repeated cross-validation, or the difference between those of two models."""

    @property
    def value(self) -> float:
        """The mean over folds, weighted by rows, and over repeats."""

    @property
    def values(self) -> NDArray[np.float64]:
        """Of each fold of each repeat."""

    @property
    def parts(self) -> tuple[float, float, float]:
        """The variance of the rows, what Nadeau and Bengio's adds to it if it is larger, the degrees of freedom."""

    def minus(self, other: RepeatedMetric) -> RepeatedMetric: ...

@final
class Labelled:
    """Some metrics of models whose rows have several labels."""

    @property
    def means(self) -> list[list[Estimate]]:
        """Over labels, by model and metric."""

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Of all means, model by model."""

    @property
    def per_label(self) -> list[list[list[Estimate]]]:
        """By model, label and metric."""

    @property
    def differences(self) -> list[list[Estimate]]:
        """Of the means, the first less the second, by pair of models and metric."""

@final
class Interactions:
    """What the first-order variance leaves out: (what the unbiased variance subtracts, what the bootstrap's adds)."""

    @property
    def metrics(self) -> dict[str, tuple[float, float]]: ...
    @property
    def per_class(self) -> list[tuple[float, float]]: ...

def evaluate(sample: Sample, metrics: list[str], options: MetricOptions) -> Evaluated: ...

@final
class FoundSlices:
    """An entry per slice; nan where a number is not known."""

    @property
    def whole(self) -> Estimate: ...
    @property
    def whole_smallest(self) -> int:
        """Rows (or groups) of the smallest class."""

    @property
    def slices(self) -> _Side: ...
    @property
    def references(self) -> _Side: ...
    @property
    def covariances(self) -> NDArray[np.float64]:
        """Of slice and reference."""

    @property
    def joint(self) -> tuple[list[int], NDArray[np.float64]] | None:
        """The slices that are tested, and the correlations of their differences, where these are few."""

def evaluate_slices(
    sample: Sample,
    slices: NDArray[np.uint32],
    count: int,
    metric: str,
    options: MetricOptions,
    reference: str | None,
    ignores_absent: bool,
    chance: float,
) -> FoundSlices:
    """Every slice by itself, and what it is compared with: "rest", "all" or None; `slices` are those of the rows.

    Where nothing varies and the value is that of `chance`, there is no worst case.
    """

#: (value, variance, degrees of freedom, rows of the smallest class, (design effect, failures) of the worst case).
type _Known = tuple[float, float, float, float, tuple[float, float] | None]
#: (smallest value, largest value, whether values are losses).
type _Scale = tuple[float, float, bool]

def interval(
    known: _Known, rule: str, scale: _Scale, tail: float, cautious: tuple[float, float, float] | None
) -> tuple[float, float]:
    """The limits of an estimate with this probability beyond each: "wilson", "logit", "log", "wald" or "cautious".

    nan where there is none. `cautious` is (value, variance, degrees of freedom) with one more row in each class.
    """

def test_by_interval(
    known: _Known, rule: str, scale: _Scale, null: float
) -> tuple[float, float, tuple[float, float] | None] | None:
    """(t, degrees of freedom, None) of the test that inverts the interval; None if there is none.

    Where all rows are right, or all wrong, p-values that the value is greater, and less, take the place of t.
    """

def wilson_limits(
    values: _Vector,
    variances: _Vector,
    degrees_of_freedom: _Vector,
    design_effects: _Vector,
    failures: float,
    tail: float,
) -> tuple[_Vector, _Vector]:
    """Wilson's limits of many values between 0 and 1, from their variances and their worst cases."""

def replicate_interval(
    values: _Vector,
    estimate: float,
    method: str,
    tail: float,
    smallest_class: float | None,
    acceleration: float | None,
    bound: float | None,
    is_fitted: bool,
) -> tuple[float, float] | str:
    """The limits from bootstrap replicates by "logit", "percentile", "basic" or "bca", or why there are none.

    nan if the estimate or all replicates are. `bound` is 0 or 1, if the rows cannot bring the number closer to it.
    """

def percentile_p_value(replicates: _Vector) -> float:
    """The p-value of a difference of 0: the largest a for which the percentile interval at level 1 - a holds 0."""

#: Values, variances, degrees of freedom, rows of the smallest classes, design effects and failures of the worst cases.
type _Side = tuple[_Vector, _Vector, _Vector, NDArray[np.int64], _Vector, _Vector]

@final
class SampleDifferences:
    """Differences between slices and what they are compared with, or between two samples; nan without a test."""

    def __new__(cls, first: _Side, second: _Side, covariances: _Vector, scale: _Scale) -> SampleDifferences: ...
    @property
    def values(self) -> _Vector: ...
    @property
    def variances(self) -> _Vector: ...
    @property
    def degrees_of_freedom(self) -> _Vector: ...
    @property
    def are_testable(self) -> NDArray[np.bool_]: ...
    @property
    def are_known(self) -> NDArray[np.bool_]:
        """Whether the first estimates have intervals."""

    def first_intervals(self, tail: float) -> list[_Vector]:
        """The limits of the first estimates, with this probability beyond each of them."""

    def intervals(self, tail: float) -> list[_Vector]:
        """The limits of the differences, from those of both estimates."""

    def statistics(self, null: float = 0.0) -> list[_Vector]:
        """(z, t) of the tests whether differences are `null`, which invert the intervals.

        z is the normal number that is exceeded as often, either way, as the p-value; t is Student's, with a sign.
        """

def confusion(
    truth: NDArray[np.uint32],
    predicted: NDArray[np.uint32],
    classes: int,
    weights: _Weights,
    groups: NDArray[np.uint32] | None,
) -> tuple[NDArray[np.float64], list[list[_Vector]], list[_Vector]]:
    """(counts, shares of all rows, of the true class and of the predicted class by entry, F1 by class).

    Shares are [values, variances, effective numbers of rows or groups].
    """

@final
class Pilot:
    """Sums over the independent units (rows, or groups) of each class that has any, for samples of other sizes."""

    def __new__(
        cls,
        codes: NDArray[np.uint32],
        classes: int,
        weights: _Weights,
        groups: NDArray[np.uint32] | None,
        influences: _Vector,
    ) -> Pilot: ...
    @property
    def classes(self) -> list[int]: ...
    @property
    def units(self) -> list[int]: ...
    @property
    def effective(self) -> list[float]:
        """How many units of equal weight would know as much."""

    @property
    def deviations(self) -> list[float]:
        """The standard deviation of a unit's component in each class."""

    def effective_of(self, sizes: Sequence[float]) -> list[float]:
        """How many units of equal weight so many of each class would be."""

    def plan(self, sizes: Sequence[float]) -> tuple[float, float]:
        """(variance, degrees of freedom) with so many units per class."""

def worst_case(metric: str, ceilings: list[float], units: list[float], value: float) -> tuple[float, float] | None:
    """Design effect and failures of the worst case with so many effective units per class; None if it has none."""

def influences(sample: Sample, metrics: list[str], options: MetricOptions) -> NDArray[np.float64]:
    """(n, metrics): (w / W) (T - mean of T in the class) of each row, and what it adds through random class sizes."""

def compare(samples: list[Sample], metric: str, options: MetricOptions) -> Compared:
    """Models with the same codes, weights and groups."""

def compare_classes(
    samples: list[Sample], classes: list[int], wants_correlations: bool
) -> tuple[list[list[Estimate]], NDArray[np.float64] | None]:
    """Differences of models in the AUC of each class against the rest, class by class, and all their correlations.

    The differences are to be multiplied by the number of classes that have rows.
    """

def compare_folds(
    models: list[list[Sample]],
    rows: list[NDArray[np.uint32]],
    whole: Sample,
    metrics: list[str],
    options: MetricOptions,
) -> Compared:
    """Averages over folds, of each model and within it of each metric.

    A model is its samples by fold, and `rows` are the numbers of each fold's rows in the whole sample, whose `units`
    the answer has.
    """

def evaluate_runs(models: list[list[Sample]], metrics: list[str], options: MetricOptions) -> Runs:
    """Some metrics of several runs of each model; all samples have the same rows."""

def evaluate_repeats(
    repeats: list[list[Sample]],
    rows: list[list[NDArray[np.uint32]]],
    codes: NDArray[np.uint32],
    metrics: list[str],
    options: MetricOptions,
) -> list[RepeatedMetric]:
    """Some metrics of the folds of each repeat; `rows` are the numbers of their rows in the whole sample."""

def compare_labels(models: list[list[Sample]], metrics: list[str]) -> Labelled:
    """Models as lists of samples, one per label with the scores of that label; all have the same rows, and are iid."""

def check_column_order(
    sample: Sample, folds: NDArray[np.uint32] | None, shares: NDArray[np.float64] | None
) -> tuple[list[tuple[int, int]], bool]:
    """([(column, class that it fits better)], whether most classes have a one-vs-rest AUC below 1/2), beyond chance.

    `shares` are the A(j|k) of Hand & Till's M of all rows, if they are known; otherwise some rows are looked at, which
    count by their ranks within `folds`, if there are any.
    """

def interactions(sample: Sample, options: MetricOptions) -> Interactions:
    """For rows without weights: of the metrics of the pairwise family."""

@final
class RocModel:
    """A fitted multi-class ROC curve: J pairs, T thresholds, rates of a bootstrap sample from bytes kept inside."""

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(positive, negative) columns of each pair."""

    def fields(self) -> dict[str, Any]:
        """What a `MulticlassRoc` has of the model, by the names of its fields."""

    @property
    def means(self) -> NDArray[np.float64]:
        """Fitted rates, 2T x J."""

    @property
    def factors(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(row slopes, pair scores); empty for two classes."""

    @property
    def area(self) -> float: ...
    @property
    def deviances(self) -> NDArray[np.float64]:
        """The deviance after each sweep; empty for two classes."""

    @property
    def converged(self) -> bool: ...
    @property
    def class_totals(self) -> list[tuple[int, float]]:
        """(column, total weight) of each class that has rows."""

    @property
    def rows(self) -> int:
        """Rows of the sample."""

    def smallest_class(self, sampling: str, groups: NDArray[np.uint32] | None) -> int:
        """Rows of the smallest class that has any, or its groups where groups are drawn."""

    @property
    def separation(self) -> float | None:
        """1 where a threshold separates each pair perfectly, 0 where one does so the wrong way round."""

    def bootstrap(
        self,
        replicates: tuple[int, int, int],
        at: NDArray[np.float64],
        sampling: str,
        groups: NDArray[np.uint32] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(areas, count x G true-positive rates at `at`) of bootstrap `replicates` (seed, first, count).

        nan in replicates that have lost a class. Whole groups are drawn where there are any.
        """

    def refit(self, rates: NDArray[np.float64], at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """(area, true-positive rates at `at`) of other rates, 2T x J."""

def multiclass_roc(
    sample: Sample,
    *,
    thresholds: int | NDArray[np.float64],
    scope: str,
    center: str,
    pair_weights: _PairWeights,
    rate_weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    continuity: float,
    tolerance: float,
    max_iterations: int,
    memory_limit: int,
) -> RocModel:
    """Fit the curve at so many thresholds, or at these; `rate_weights` are K x K, of true and of false positives."""

@final
class Resampler:
    """Replicates of metrics of models scored on the same rows, counted from presorted orders.

    Where the samples have groups, whole groups are drawn. Beyond `memory_limit` bytes the orders are not kept, but made
    for every block.
    """

    def __new__(
        cls, samples: list[Sample], metrics: list[str], memory_limit: int, options: MetricOptions | None = None
    ) -> Resampler: ...
    @staticmethod
    def of_curves(sample: Sample, curves: _Curves, region: str, rate: float, memory_limit: int) -> Resampler:
        """Partial areas of curves: their mean, and their mean by prevalence."""

    @property
    def block(self) -> int:
        """How many replicates are best asked for at once."""

    def replicates(self, seed: int, first: int, count: int) -> NDArray[np.float64]:
        """Replicates `first`, `first` + 1, ...: a row each, a column per model and metric; nan without some class."""

    def multiplicities(self, seed: int, first: int, count: int) -> NDArray[np.uint8]:
        """How often replicates `first`, `first` + 1, ... hold each row: a row per replicate."""

@final
class Bounded:
    """A value between guaranteed bounds, with its variance; without arguments one that is not known."""

    def __new__(cls) -> Bounded: ...
    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def variance(self) -> float: ...
    @property
    def degrees_of_freedom(self) -> float: ...
    @property
    def worst(self) -> list[tuple[float, float] | None]:
        """Design effect and failures of the worst case at each bound."""

@final
class Answers:
    """All that a state knows."""

    @property
    def metrics(self) -> dict[str, Bounded | None]:
        """By metric; None if it is not kept."""

    @property
    def per_class(self) -> list[Bounded | None]:
        """One-vs-rest of each class; None for absent classes."""

    @property
    def pairs(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Lower and upper bounds of all pairs of classes, by metric, if they are kept."""

@final
class RowSums:
    """Sums over rows, exact in any number of parts: accuracy, top-k accuracy, log loss, Brier score, confusion."""

    def __new__(cls, classes: int, metrics: list[str], clip: float | None, k: int) -> RowSums: ...
    def of(self, sample: Sample) -> RowSums:
        """Of a batch, with the same settings."""

    def merge(self, other: RowSums) -> None: ...
    def copy(self) -> RowSums: ...
    def estimates(self) -> dict[str, Bounded]:
        """By metric; accuracy is always there. The bounds of a sum are its value."""

    def confusion(self) -> NDArray[np.float64]:
        """Sums of weights by true and predicted class."""

    def to_bytes(self) -> bytes: ...
    def read_bytes(self, data: bytes) -> RowSums:
        """The sums of some bytes, with the same settings."""

@final
class StreamState:
    """A state that rows are added to, and that merges with others of its kind."""

    def __new__(
        cls, classes: int, metrics: list[str], memory: int, is_single: bool, lattice: int | None
    ) -> StreamState: ...
    @staticmethod
    def least_memory(classes: int, metrics: list[str]) -> int:
        """The least memory of such a state, in bytes."""

    @staticmethod
    def least_memory_for_variances(classes: int, metrics: list[str], is_single: bool) -> int:
        """The least memory of such a state that knows variances, in bytes."""

    def is_made_with(self, classes: int, metrics: list[str], memory: int) -> bool:
        """Whether it was made with these arguments."""

    def update(self, sample: Sample) -> None:
        """Add rows; none of them if one is not as it should be."""

    def settle(self) -> None:
        """Sort the rows that wait into the histograms."""

    def merge(self, other: StreamState) -> None:
        """Add all rows of another state."""

    def answers(self) -> Answers:
        """What the rows so far say."""

    def to_bytes(self) -> bytes:
        """All that the state holds."""

    @staticmethod
    def from_bytes(data: bytes) -> StreamState:
        """The state that was written."""

    def copy(self) -> StreamState:
        """An independent copy."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """Rows of positive weight, by class."""

    @property
    def lattice(self) -> int | None:
        """The m of the coarsest lattice 1/m that holds all scores, where these are float32."""

    @property
    def is_single(self) -> bool:
        """Whether scores are float32."""

@final
class RangeCounter:
    """Exact counts of rows that are gone through several times, each time those of some ranges of scores."""

    def __new__(cls, state: StreamState, memory: int) -> RangeCounter: ...
    def begin_pass(self, memory: int) -> bool:
        """Choose what to gather in the next pass; False if nothing is left."""

    def update(self, sample: Sample) -> None:
        """Show some rows."""

    def end_pass(self) -> None:
        """Count what was gathered."""

    def answers(self, state: StreamState) -> Answers:
        """As those of the state, with exact values."""

@final
class RangePlan:
    """A plan for exact counts of rows that lie on many machines: ranges of scores, which are counted in parts."""

    def __new__(cls, state: StreamState, longest: int) -> RangePlan: ...
    @property
    def keys(self) -> int:
        """About how many keys are to be gathered: a row has one for each pair and column that it counts in."""

    @property
    def gathered_bytes(self) -> int:
        """About how many bytes have been gathered since the last blocks were taken."""

    def split(self, parts: int) -> None:
        """Split the work into parts of about the same size, which are counted apart from each other."""

    def to_bytes(self) -> bytes:
        """The plan, for those who gather rows and those who count them."""

    @staticmethod
    def from_bytes(data: bytes) -> RangePlan:
        """The plan that was written."""

    def update(self, sample: Sample) -> None:
        """Gather the keys of some rows."""

    def take_blocks(self) -> list[tuple[int, bytes]]:
        """What was gathered, packed, with the part that it belongs to; nothing is left."""

    def receive(self, block: bytes) -> None:
        """Take the rows of a block."""

    def take_counts(self) -> bytes:
        """Count what was received; nothing is left."""

    def add_counts(self, counts: bytes) -> None:
        """Take the counts of a part."""

    def answers(self, state: StreamState) -> Answers:
        """As those of the state, with exact values, once the counts of all parts are there."""

def student_two_sided_p(t: float, degrees_of_freedom: float) -> float:
    """P(|T| >= |t|) for Student's T."""

def student_upper_p(t: float, degrees_of_freedom: float) -> float:
    """P(T >= t) for Student's T."""

def student_upper_quantile(tail: float, degrees_of_freedom: float) -> float:
    """The t with P(T > t) = `tail`."""

def student_power(shift: float, degrees_of_freedom: float, tail: float) -> float:
    """How often a two-sided test by Student's t rejects, for a difference of `shift` standard errors."""

def f_tail(x: float, first: int, second: float) -> float:
    """P(F >= x) for x >= 0 and a whole number of first degrees of freedom."""

def holm(p_values: list[float]) -> list[float]:
    """p-values corrected by Holm's method; of those that are nan, none counts."""

def chi_squared_tail(x: float, degrees_of_freedom: int) -> float:
    """P(X >= x) for x >= 0."""

def normal_share_above(own: tuple[float, float], other: tuple[float, float]) -> float:
    """P(X > Y) of independent normal numbers, given as means and standard deviations; ties count half."""

def normal_share_separated(means: list[float], deviations: list[float], correlation: float) -> float:
    """P(X1 - X2 > Y1 - Y2) of normal numbers of which the two of a difference are correlated; ties count half."""

type _Discrete = tuple[NDArray[np.float64], NDArray[np.float64]]

def share_of_sums_above(own: tuple[_Discrete, _Discrete], other: tuple[_Discrete, _Discrete]) -> float:
    """P(X1 + X2 > Y1 + Y2) of independent numbers, given as values and their probabilities; ties count half."""

def row_mean(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None, groups: NDArray[np.uint32] | None
) -> tuple[float, float, float]:
    """(weighted mean, its variance, degrees of freedom) of rows, of which whole groups are independent."""

@final
class MinP:
    """The correction of p-values for the number of tests (single-step min-p).

    The cosines between `vectors`, one for each test, are the correlations of what is tested, if these matter.
    """

    def __new__(cls, count: int, vectors: NDArray[np.float64] | None) -> MinP: ...
    def correct(self, p: float) -> float:
        """How often the smallest of all p-values is at most `p`; nan for nan."""

    def tail_of_one(self, tail: float) -> float:
        """The tail of each interval so that all of them cover at once with probability 1 - 2 `tail`."""
