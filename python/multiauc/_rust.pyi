"""The compiled core. Private: use the functions of `multiauc`, which check their input first.

In every function `scores` is an (n, K) array of float32 or float64 with any strides, `codes` the class of each row as a
column number (uint8 for K <= 256, else uint16), and `weights` None or n non-negative float64 numbers.
Classes without rows (or without weight) are left out and the weights of the others renormalised.
"""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Evaluated",
    "Resampler",
    "RocModel",
    "__version__",
    "auc_mu",
    "auc_mu_matrix",
    "auc_mu_variances",
    "binary_auc",
    "class_sizes",
    "code_bytes",
    "code_integers",
    "compare",
    "debug_build",
    "evaluate",
    "get_num_threads",
    "hand_till",
    "hand_till_matrix",
    "hand_till_variances",
    "influences",
    "interactions",
    "multiclass_roc",
    "one_vs_rest",
    "one_vs_rest_per_class",
    "partial_aucs",
    "roc_curve_points",
    "set_num_threads",
]

type _Scores = NDArray[np.float32] | NDArray[np.float64]
type _Codes = NDArray[np.uint8] | NDArray[np.uint16]
type _Weights = NDArray[np.float64] | None
# (scores, codes, weights, groups): the number of each row's group, uint32, or None.
type _Sample = tuple[_Scores, _Codes, _Weights, NDArray[np.uint32] | None]
type _PairWeights = str | NDArray[np.float64] | None

__version__: str
debug_build: bool

def set_num_threads(n: int) -> None:
    """Number of threads for later calls; 0 restores the default."""

def get_num_threads() -> int: ...
def code_integers(
    values: NDArray[Any],
) -> tuple[_Codes, NDArray[np.intp], NDArray[np.int64]]:
    """(codes, first_rows, counts): classes numbered in increasing order of their integer label.

    `values` is 1-D of any integer dtype. first_rows[k] is a row that holds label k, counts[k] its number of rows.
    """

def code_bytes(
    values: NDArray[np.uint8],
) -> tuple[_Codes, NDArray[np.intp], NDArray[np.int64]]:
    """(codes, first_rows, counts) of fixed-width records, the rows of a C-contiguous (n, width) array.

    Classes are numbered in order of first appearance; first_rows[k] is the first row of class k.
    """

def class_sizes(codes: _Codes, weights: _Weights, n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(rows, weight sums) of each class; rows of weight zero are not counted. Checks the weights."""

def auc_mu(
    scores: _Scores,
    codes: _Codes,
    weights: _Weights,
    partition: NDArray[np.float64] | None,
    pair_weights: str | NDArray[np.float64] | None,
) -> float:
    """`pair_weights`: None, "size_product", "size_sum" or a symmetric K x K array. The same below."""

def auc_mu_matrix(
    scores: _Scores, codes: _Codes, weights: _Weights, partition: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """K x K, symmetric; nan on the diagonal and for absent classes."""

def hand_till(
    scores: _Scores, codes: _Codes, weights: _Weights, pair_weights: str | NDArray[np.float64] | None
) -> float: ...
def hand_till_matrix(scores: _Scores, codes: _Codes, weights: _Weights) -> NDArray[np.float64]:
    """A(c|d) at [c, d]: how well column c separates class c from class d."""

def one_vs_rest(scores: _Scores, codes: _Codes, weights: _Weights, average: str) -> float:
    """`average`: "macro", "prevalence", "prevalence_equal_rest" or "micro"."""

def one_vs_rest_per_class(scores: _Scores, codes: _Codes, weights: _Weights) -> NDArray[np.float64]: ...
def roc_curve_points(
    scores: _Scores,
    codes: _Codes,
    weights: _Weights,
    pairs: list[tuple[int, int | None]],
    drop_intermediate: bool,
) -> list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
    """(fpr, tpr, thresholds) for each (positive class, negative class or None for all others).

    The column of the positive class ranks. The thresholds fall, start at +inf, and a row is called positive when its
    score is >= the threshold.
    """

def binary_auc(scores: NDArray[Any], codes: _Codes, weights: _Weights) -> float:
    """AUC of a 1-D score (float32 or float64, any stride) of class 1 against class 0."""

@final
class RocModel:
    """A fitted multi-class ROC curve: J pairs, T thresholds, rates of a bootstrap sample from bytes kept inside."""

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(positive, negative) columns of each pair."""

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """T x 1 if all pairs share them, else T x J."""

    @property
    def rates(self) -> NDArray[np.float64]:
        """2T x J: true-positive rates by falling thresholds, then false-positive rates."""

    @property
    def means(self) -> NDArray[np.float64]:
        """Fitted rates, 2T x J."""

    @property
    def curve(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """(fpr, tpr, fpr as fitted, tpr as fitted), without end points."""

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
    def smallest_class(self) -> int:
        """Rows of the smallest class that has any."""

    def bootstrap(
        self, seed: int, first: int, count: int, at: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(areas, count x G true-positive rates at `at`) of bootstrap replicates `first`, `first` + 1, ..."""

    def refit(self, rates: NDArray[np.float64], at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """(area, true-positive rates at `at`) of other rates, 2T x J."""

def multiclass_roc(
    scores: _Scores,
    codes: _Codes,
    weights: _Weights,
    thresholds: int | NDArray[np.float64],
    scope: str,
    center: str,
    tp_weights: NDArray[np.float64],
    fp_weights: NDArray[np.float64],
    continuity: float,
    tolerance: float,
    max_iterations: int,
    memory_limit: int,
) -> RocModel:
    """`scores` may have one column for class 1 of two; the weights of rates are K x K."""

@final
class Evaluated:
    """All metrics of a sample with their uncertainty."""

    @property
    def estimates(self) -> NDArray[np.float64]:
        """Rows of (value, variance, degrees of freedom, plug-in variance): AUC_mu, M, one-vs-rest macro, prevalence."""

    @property
    def covariance(self) -> NDArray[np.float64]:
        """4 x 4."""

    @property
    def per_class(self) -> NDArray[np.float64]:
        """The same four numbers for each class against the rest; nan for absent classes."""

    @property
    def auc_mu_values(self) -> NDArray[np.float64]:
        """K x K."""

    @property
    def auc_mu_variances(self) -> NDArray[np.float64]:
        """K x K."""

    @property
    def hand_till_values(self) -> NDArray[np.float64]:
        """K x K."""

    @property
    def hand_till_variances(self) -> NDArray[np.float64]:
        """K x K."""

    @property
    def units(self) -> NDArray[np.int64]:
        """Independent units of each class: its rows, or its groups."""

def evaluate(
    sample: _Sample, partition: NDArray[np.float64] | None, pair_weights: _PairWeights, is_iid: bool
) -> Evaluated: ...
def influences(
    sample: _Sample, partition: NDArray[np.float64] | None, pair_weights: _PairWeights
) -> NDArray[np.float64]:
    """(n, 4): (w / W) (T - mean of T in the class) of each row, by metric."""

def compare(
    samples: list[_Sample],
    partition: NDArray[np.float64] | None,
    pair_weights: _PairWeights,
    is_iid: bool,
    metric: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """(estimates, covariance, differences, units) of m models with the same codes.

    Rows as in `Evaluated.estimates`, m of them and m (m - 1) / 2 for the first less the second, the pairs in order.
    """

def interactions(
    sample: _Sample, partition: NDArray[np.float64] | None, pair_weights: _PairWeights
) -> NDArray[np.float64]:
    """2 x (4 + K): what the unbiased variance subtracts and the bootstrap's adds, by metric and then by class."""

def auc_mu_variances(sample: _Sample, partition: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """K x K."""

def hand_till_variances(sample: _Sample) -> NDArray[np.float64]:
    """K x K."""

type _Curves = list[tuple[int, int | None]]

@final
class Resampler:
    """Replicates of metrics of models scored on the same rows, counted from presorted orders.

    `scores` has an array per model; one column is the score of class 1 of two. `groups` is None or the group of each
    row, then whole groups are drawn. Beyond `memory_limit` bytes the orders are not kept, but made for every block.
    """

    def __new__(
        cls,
        scores: list[Any],
        codes: _Codes,
        weights: _Weights,
        n_classes: int,
        sampling: str,
        groups: NDArray[np.uint32] | None,
        metrics: list[str],
        partition: NDArray[np.float64] | None,
        pair_weights: str | NDArray[np.float64] | None,
        memory_limit: int,
    ) -> Resampler: ...
    @staticmethod
    def of_curves(
        scores: list[Any],
        codes: _Codes,
        weights: _Weights,
        n_classes: int,
        sampling: str,
        groups: NDArray[np.uint32] | None,
        curves: _Curves,
        region: str,
        rate: float,
        memory_limit: int,
    ) -> Resampler:
        """Partial areas of curves: their mean, and their mean by prevalence."""

    @property
    def is_kept(self) -> bool:
        """Whether the orders are in memory."""

    @property
    def block(self) -> int:
        """How many replicates are best asked for at once."""

    def replicates(self, seed: int, first: int, count: int) -> NDArray[np.float64]:
        """Replicates `first`, `first` + 1, ...: a row each, a column per model and metric; nan without some class."""

    def given(self, multiplicities: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The same for given multiplicities of the rows, a row per replicate."""

    def multiplicities(self, seed: int, first: int, count: int) -> NDArray[np.uint8]:
        """How often replicates `first`, `first` + 1, ... hold each row: a row per replicate."""

def partial_aucs(
    scores: NDArray[Any],
    codes: _Codes,
    weights: _Weights,
    n_classes: int,
    curves: _Curves,
    region: str,
    rate: float,
) -> tuple[list[float], float, float]:
    """(value of each curve, mean, mean by prevalence); `region` is "max_fpr" or "min_tpr"."""
