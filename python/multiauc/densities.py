"""Scores of known distribution: what the metrics are in the population."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from multiauc import _rust
from multiauc._common.hints import warn
from multiauc._common.wording import decimals, describe_type, listing
from multiauc._input.arrays import as_float64
from multiauc._input.options import check_entries, positive_integer, read_number, read_rng, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

# How far prevalences may be from summing to 1.
ROUNDING = 1e-6
# Nodes of the Gauss-Hermite rules that are compared, and the most by which their results may differ.
NODES = (64, 96)
ACCURACY = 1e-4
# Steps through quantiles that are compared, too, and how near to each other rules must be to be exact.
STEPS = (400, 800)
AGREEMENT = 1e-6
# Quantiles of a distribution between which it rises.
RISES = np.array([0.0, 1e-4, 1e-2, 0.1, 0.5, 0.9, 0.99, 1.0 - 1e-4, 1.0])
# Shares of rows below exp(-LAST) do not show in a double.
LAST = 40.0
# The prevalences of more classes than this are not listed.
LISTED_AT_MOST = 10


class ScorePopulation(ABC):
    """Rows of K classes with K scores of known distribution: the base of `NormalScores` and `ScoreDensities`.

    Rows are independent. All values are exact population values, not estimates.
    """

    #: The number of classes, and the share of the rows that each of them has.
    n_classes: int
    prevalence: NDArray[np.float64]

    @abstractmethod
    def _beats(self, i: int, j: int, column: int, other: int) -> float:
        """How often score `column` of a row of class i is above score `other` of a row of class j, ties half."""

    @abstractmethod
    def _separates(self, c: int, d: int) -> float:
        """How often the difference of scores c and d is larger for a row of class c than for one of class d."""

    @abstractmethod
    def _draw(self, classes: NDArray[np.intp], generator: np.random.Generator) -> NDArray[np.float64]:
        """The scores of rows of these classes."""

    def pair_auc(self, i: int, j: int) -> float:
        r""":math:`A(i|j) = P(s_i(x^{(i)}) > s_i(x^{(j)}))`: how well score i separates class i from class j.

        Parameters
        ----------
        i, j : int
            Two classes, from 0 on.
        """
        for name, value in (("i", i), ("j", j)):
            if not 0 <= whole_number(name, value, "the number of a class") < self.n_classes:
                raise ValueError(f"{name} must be between 0 and {self.n_classes - 1}; got {value}")
        if i == j:
            raise ValueError(f"i and j must be two classes; got {i} twice")
        return float(self.hand_till_matrix[i, j])

    @cached_property
    def hand_till_matrix(self) -> NDArray[np.float64]:
        """A(i|j) at [i, j]; nan on the diagonal. Read-only."""
        return self._matrix(lambda i, j: self._beats(i, j, i, i))

    @cached_property
    def auc_mu_matrix(self) -> NDArray[np.float64]:
        """S(c, d) of AUC_mu, symmetric; nan on the diagonal. Read-only."""
        separates = cache(self._separates)
        return self._matrix(lambda c, d: separates(min(c, d), max(c, d)))

    @property
    def hand_till(self) -> float:
        """Hand & Till's M: the mean of A(i|j)."""
        return float(np.nanmean(self.hand_till_matrix))

    @property
    def auc_mu(self) -> float:
        """AUC_mu: the mean of S(c, d)."""
        return float(np.nanmean(self.auc_mu_matrix))

    @property
    def auc_mu_size_product(self) -> float:
        """AUC_mu with pairs weighted by the product of the prevalences (``pair_weights="size_product"``)."""
        return self._weighted(self.auc_mu_matrix, np.outer(self.prevalence, self.prevalence))

    @property
    def hand_till_size_sum(self) -> float:
        """M with pairs weighted by the sum of the prevalences (``pair_weights="size_sum"``)."""
        return self._weighted(self.hand_till_matrix, np.add.outer(self.prevalence, self.prevalence))

    @property
    def one_vs_rest_per_class(self) -> NDArray[np.float64]:
        """Each class against all others pooled, weighted by prevalence."""
        shares = np.where(np.eye(self.n_classes, dtype=bool), 0.0, self.prevalence) / (1.0 - self.prevalence)[:, None]
        return np.asarray(np.nansum(shares * self.hand_till_matrix, axis=1))

    @property
    def one_vs_rest(self) -> float:
        """One-vs-rest, every class with the same weight (``average="macro"``)."""
        return float(self.one_vs_rest_per_class.mean())

    @property
    def one_vs_rest_prevalence(self) -> float:
        """One-vs-rest, classes weighted by their prevalence (``average="prevalence"``)."""
        return float(self.prevalence @ self.one_vs_rest_per_class)

    @property
    def one_vs_rest_prevalence_equal_rest(self) -> float:
        """The same with the classes of the rest weighted equally (``average="prevalence_equal_rest"``)."""
        return float(self.prevalence @ np.nanmean(self.hand_till_matrix, axis=1))

    @property
    def one_vs_rest_micro(self) -> float:
        """All scores in one ranking (``average="micro"``)."""
        total = sum(
            self.prevalence[i] * self.prevalence[j] * self._beats(i, j, i, other)
            for i, j, other in product(range(self.n_classes), repeat=3)
            if other != j
        )
        return float(total) / (self.n_classes - 1)

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> tuple[NDArray[np.intp], Any]:
        """Draw rows.

        Parameters
        ----------
        n : int
            How many.
        rng : numpy Generator or int, optional
            The random numbers or their seed.

        Returns
        -------
        y_true : ndarray of shape (n,)
            The class of each row, sampled by prevalence: 0, ..., K - 1.
        y_score : ndarray of shape (n, K)
            Its scores.
        """
        generator = read_rng(rng)
        classes = generator.choice(self.n_classes, size=positive_integer("n", n), p=self.prevalence)
        return classes, self._draw(classes, generator)

    def scores_of(self, classes: ArrayLike, rng: np.random.Generator | int | None = None) -> NDArray[np.float64]:
        """Draw the scores of rows of given classes, for samples whose class sizes are fixed.

        Parameters
        ----------
        classes : array-like of shape (n,)
            The class of each row, from 0 to K - 1.
        rng : numpy Generator or int, optional
            The random numbers or their seed.
        """
        numbers = np.asarray(classes)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
            raise ValueError(f"classes must have the number of a class for each row; got {describe_type(classes)}")
        if numbers.min() < 0 or numbers.max() >= self.n_classes:
            raise ValueError(
                f"classes must be between 0 and {self.n_classes - 1}; got {numbers.min()} to {numbers.max()}"
            )
        return self._draw(numbers.astype(np.intp), read_rng(rng))

    def _matrix(self, value: Callable[[int, int], float]) -> NDArray[np.float64]:
        matrix = np.full((self.n_classes, self.n_classes), np.nan)
        for i, j in np.argwhere(~np.eye(self.n_classes, dtype=bool)).tolist():
            matrix[i, j] = value(i, j)
        matrix.flags.writeable = False
        return matrix

    @staticmethod
    def _weighted(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
        known = ~np.isnan(values)
        return float(np.average(values[known], weights=weights[known]))

    def _describe(self) -> str:
        shares = ", ".join(decimals(share) for share in self.prevalence.tolist())
        prevalence = f", prevalence {shares}" if self.n_classes <= LISTED_AT_MOST else ""
        return f"{type(self).__name__}({self.n_classes} classes{prevalence}"

    def __repr__(self) -> str:
        return f"{self._describe()})"


class NormalScores(ScorePopulation):
    r"""Scores with normal distributions, and the population values of all metrics.

    Score i of a row of class j has the mean :math:`\mu_{ij}` and the standard deviation :math:`\sigma_{ij}`. Then

    .. math::
        A(i|j) = \Phi\left(\frac{\mu_{ii} - \mu_{ij}}{\sqrt{\sigma_{ii}^2 + \sigma_{ij}^2}}\right), \qquad
        S(c, d) = \Phi\left(\frac{\mu_{cc} - \mu_{dc} - \mu_{cd} + \mu_{dd}}{\sqrt{\tau_c^2 + \tau_d^2}}\right),

    :math:`\tau_k^2` being the variance of :math:`s_c - s_d` in class k. All averages follow from these.

    Parameters
    ----------
    means : array-like of shape (K, K)
        ``means[i, j]``: the mean of score i in class j.
    sds : float or array-like of shape (K, K)
        The standard deviations, all positive.
    prevalence : array-like of shape (K,), optional
        The prevalence of each class; default: all equal.
    correlation : float, default 0
        Between any two scores of a row, within a class: from -1/(K - 1) to 1. It affects AUC_mu only.

    References
    ----------
    .. [1] B. Ke, "Understanding multiclass extensions of ROC/AUC and their relationships".

    Examples
    --------
    >>> import multiauc
    >>> scores = multiauc.NormalScores([[5, 3, 1], [1, 5, 3], [1, 3, 5]], 1.0)
    >>> scores
    NormalScores(3 classes, prevalence 0.3333, 0.3333, 0.3333: AUC_mu 0.9920, Hand & Till's M 0.9595)
    >>> round(scores.pair_auc(0, 1), 4)
    0.9214
    >>> y_true, y_score = scores.sample(20_000, rng=0)
    >>> round(multiauc.hand_till_score(y_true, y_score), 2)
    0.96
    """

    def __init__(
        self, means: ArrayLike, sds: ArrayLike, *, prevalence: ArrayLike | None = None, correlation: float = 0.0
    ) -> None:
        self.means = as_float64("means", means).copy()
        shape = self.means.shape
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
            raise ValueError(f"means must be a K x K array, a row per score and a column per class; got {shape}")
        deviations = as_float64("sds", sds)
        if np.ndim(sds) > 0 and deviations.shape != shape:
            raise ValueError(f"sds must be a number or have the shape of means, {shape}; got {deviations.shape}")
        self.sds = np.broadcast_to(deviations, shape).copy()
        check_entries("means", self.means, "finite")
        check_entries("sds", self.sds, "positive and finite")
        self.n_classes = len(self.means)
        self.prevalence = read_prevalence(prevalence, self.n_classes)
        lowest = -1.0 / (self.n_classes - 1)
        self.correlation = max(lowest, read_number("correlation", correlation, lowest - ROUNDING, 1.0, "[]"))

    def __repr__(self) -> str:
        return f"{self._describe()}: AUC_mu {decimals(self.auc_mu)}, Hand & Till's M {decimals(self.hand_till)})"

    def _beats(self, i: int, j: int, column: int, other: int) -> float:
        own, rival = ((self.means[at], self.sds[at]) for at in ((column, i), (other, j)))
        return _rust.normal_share_above(own, rival)

    def _separates(self, c: int, d: int) -> float:
        scores, classes = [c, d, c, d], [c, c, d, d]
        means, deviations = self.means[scores, classes].tolist(), self.sds[scores, classes].tolist()
        return _rust.normal_share_separated(means, deviations, self.correlation)

    def _draw(self, classes: NDArray[np.intp], generator: np.random.Generator) -> NDArray[np.float64]:
        spread = np.full((self.n_classes, self.n_classes), self.correlation)
        np.fill_diagonal(spread, 1.0)
        values, vectors = np.linalg.eigh(spread)
        root = vectors * np.sqrt(np.clip(values, 0.0, None))
        noise = generator.standard_normal((len(classes), self.n_classes)) @ root.T
        return np.asarray(self.means.T[classes] + self.sds.T[classes] * noise)


class ScoreDensities(ScorePopulation):
    """Scores with any continuous distributions, and the population values of all metrics, by quadrature.

    Needs scipy (``pip install scipy``). Scores of a row are assumed to be independent within a class, which affects
    AUC_mu only.

    Parameters
    ----------
    densities : sequence of K sequences of K distributions
        ``densities[i][j]``: the distribution of score i in class j, a frozen continuous one of `scipy.stats`.
    prevalence : array-like of shape (K,), optional
        The prevalence of each class; default: all equal.

    Examples
    --------
    >>> from scipy import stats
    >>> import multiauc
    >>> right, wrong = stats.beta(4, 2), stats.beta(2, 4)
    >>> scores = multiauc.ScoreDensities([[right, wrong], [wrong, right]], prevalence=[0.9, 0.1])
    >>> print(f"{scores.pair_auc(0, 1):.4f} {scores.auc_mu:.4f}")
    0.8968 0.9630
    """

    def __init__(self, densities: Sequence[Sequence[Any]], *, prevalence: ArrayLike | None = None) -> None:
        if find_spec("scipy") is None:
            raise ModuleNotFoundError("ScoreDensities needs scipy; install it with: pip install scipy")
        rows = [list(row) for row in densities]
        if len(rows) < 2 or any(len(row) != len(rows) for row in rows):
            raise ValueError(
                "densities must be K sequences of K distributions, K at least 2; "
                f"got {len(rows)} of lengths {listing({len(row) for row in rows})}"
            )
        for i, row in enumerate(rows):
            for j, density in enumerate(row):
                if not all(hasattr(density, name) for name in ("pdf", "cdf", "ppf", "isf", "rvs")):
                    raise TypeError(
                        f"densities[{i}][{j}] must be a frozen continuous distribution of scipy.stats, such as "
                        f"scipy.stats.norm(0, 1); got {describe_type(density)}"
                    )
        self.densities = rows
        self.n_classes = len(rows)
        self.prevalence = read_prevalence(prevalence, self.n_classes)

    def _beats(self, i: int, j: int, column: int, other: int) -> float:
        own, rival = self.densities[column][i], self.densities[other][j]
        # Where the other distribution rises, in shares of the own one that lie below, and above.
        below = own.cdf(rival.ppf(RISES))
        halves = [
            _integrate_half(lambda share: float(rival.cdf(own.ppf(share))), below),
            _integrate_half(lambda share: float(rival.cdf(own.isf(share))), 1.0 - below),
        ]
        found, error = (math.fsum(numbers) for numbers in zip(*halves, strict=True))
        return self._check(f"densities[{column}][{i}] and densities[{other}][{j}]", "A(i|j)", found, error)

    @staticmethod
    def _check(which: str, metric: str, found: float, error: float) -> float:
        """A share and its error, by quadrature: it must be a number, and should be exact."""
        if not (math.isfinite(found) and math.isfinite(error)):
            raise ValueError(
                f"{which} must be proper distributions, whose cdf, ppf and isf are numbers everywhere; the quadrature "
                f"of {metric} gave {found}"
            )
        if error > ACCURACY:
            warn(
                f"{which} are too uneven for the quadrature of {metric}, which is exact to about {error:.1g} only; a "
                "large sample() says more",
                RuntimeWarning,
            )
        return min(1.0, max(0.0, found))

    def _separates(self, c: int, d: int) -> float:
        """By two rules that have nothing in common, because two sizes of one may err alike.

        The Gauss-Hermite rule is all but exact for smooth densities. Where it differs from steps through all
        quantiles, which rough densities do not disturb, these are right.
        """
        coarse, fine = (self._integrate_nodes(c, d, nodes) for nodes in NODES)
        rough, even = (self._integrate_steps(c, d, steps) for steps in STEPS)
        error = abs(rough - even)
        if abs(coarse - fine) <= AGREEMENT and abs(fine - even) <= 3.0 * error + AGREEMENT:
            return fine
        is_known = math.isfinite(coarse) and math.isfinite(fine)
        return self._check(f"the densities of classes {c} and {d}", "AUC_mu", even if is_known else math.nan, error)

    def _integrate_steps(self, c: int, d: int, steps: int) -> float:
        """P(s_c(c) + s_d(d) > s_d(c) + s_c(d)), each of the four scores in steps through its quantiles.

        Numbers of steps without a common factor keep sums of scores on lattices from coinciding.
        """

        def quantiles(column: int, k: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            """In the middles of the shares between v^2 (3 - 2 v) for even v: small where scores may be far out."""
            v = (np.arange(n) + 0.5) / n
            density = self.densities[column][k]
            lower, upper = (x**2 * (3.0 - 2.0 * x) for x in (v, 1.0 - v))
            weights = v * (1.0 - v)
            return np.where(v < 0.5, density.ppf(lower), density.isf(upper)), weights / weights.sum()

        right = quantiles(c, c, steps), quantiles(d, d, steps + 1)
        wrong = quantiles(d, c, steps + 3), quantiles(c, d, steps + 7)
        return _rust.share_of_sums_above(right, wrong)

    def _integrate_nodes(self, c: int, d: int, nodes: int) -> float:
        from scipy.special import ndtr  # noqa: PLC0415

        points, weights = np.polynomial.hermite_e.hermegauss(nodes)
        weights, tail = weights / weights.sum(), ndtr(-np.abs(points))

        def values(column: int, k: int) -> NDArray[np.float64]:
            """The quantiles of a score at those of a standard normal, where the rule is at its best."""
            density = self.densities[column][k]
            return np.asarray(np.where(points < 0.0, density.ppf(tail), density.isf(tail)))

        gaps = values(c, c)[:, None] - values(d, c)[None, :]
        below = np.zeros_like(gaps)
        # P(s_c - s_d <= gap) in class d, over the nodes of s_d.
        for shift, weight in zip(values(d, d).tolist(), weights.tolist(), strict=True):
            below += weight * self.densities[c][d].cdf(gaps + shift)
        return float(min(1.0, weights @ below @ weights))

    def _draw(self, classes: NDArray[np.intp], generator: np.random.Generator) -> NDArray[np.float64]:
        scores = np.empty((len(classes), self.n_classes))
        for j in range(self.n_classes):
            rows = np.flatnonzero(classes == j)
            for i in range(self.n_classes):
                scores[rows, i] = self.densities[i][j].rvs(size=len(rows), random_state=generator)
        return scores


def read_prevalence(prevalence: Any, n_classes: int) -> NDArray[np.float64]:
    """A positive share for each class, summing to 1; equal ones by default."""
    if prevalence is None:
        return np.full(n_classes, 1.0 / n_classes)
    shares = as_float64("prevalence", prevalence)
    if shares.shape != (n_classes,):
        raise ValueError(f"prevalence must have a share for each of the {n_classes} classes; got shape {shares.shape}")
    if not ((shares > 0.0) & np.isfinite(shares)).all():
        raise ValueError(f"prevalence must be positive for every class; got {shares.tolist()}")
    if abs(shares.sum() - 1.0) > ROUNDING:
        raise ValueError(f"prevalence must sum to 1; got a sum of {shares.sum():.6g}")
    return np.asarray(shares / shares.sum())


def _integrate_half(height: Callable[[float], float], steps: NDArray[np.float64]) -> tuple[float, float]:
    """The integral of a height between 0 and 1 over the shares from 0 to 1/2, and its error.

    Over t, where the share is exp(-t) / 2: what happens at tiny shares, however steep, is then spread out and smooth.
    `steps` are shares where the height may change abruptly.
    """
    from scipy.integrate import IntegrationWarning, quad  # noqa: PLC0415

    inner = -np.log(2.0 * steps[(steps > 0.5 * math.exp(-LAST)) & (steps < 0.5)])
    edges = np.unique(np.concatenate([[0.0], inner, [LAST]]))
    found = []
    with warnings.catch_warnings():
        # The error says as much.
        warnings.simplefilter("ignore", IntegrationWarning)
        for low, high in pairwise(edges.tolist()):
            found.append(
                quad(lambda t: height(share := 0.5 * math.exp(-t)) * share, low, high, limit=200, epsabs=1e-13)[:2]
            )
    value, error = (math.fsum(numbers) for numbers in zip(*found, strict=True))
    return value, error
