"""Fits of the summary-ROC models to 2 x 2 tables. Sides are in the order (true positives, false positives)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Standard deviations below this, or correlations this near to 1 or -1, are at the edge of what there can be.
EDGE = 1e-4
# Steps of the logit scale for areas, and how far it is followed: the rest is below 1e-15.
LOGIT_STEP, LOGIT_END = 1.0 / 64.0, 40.0


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """An ordinary regression of D = logit TPR - logit FPR on S = logit TPR + logit FPR.

    Attributes
    ----------
    estimates, covariance
        The intercept and the slope.
    """

    estimates: NDArray[np.float64]
    covariance: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RandomEffects:
    """Two normal random effects, on logit TPR and on logit FPR.

    Attributes
    ----------
    estimates
        Both means, both standard deviations, the correlation.
    covariance
        Theirs; nan for standard deviations and correlation where these are at an edge.
    log_likelihood
        That of the data, or the restricted one.
    """

    estimates: NDArray[np.float64]
    covariance: NDArray[np.float64]
    log_likelihood: float

    @property
    def between(self) -> NDArray[np.float64]:
        """The covariance matrix of the effects."""
        _, _, first, second, correlation = self.estimates.tolist()
        both = correlation * first * second
        return np.array([[first**2, both], [both, second**2]])


def logits(tables: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(logit TPR, logit FPR) of each table with their variances; half added to all cells if any is zero."""
    cells = tables + 0.5 if (tables == 0.0).any() else tables
    tp, fn, fp, tn = cells.T
    return np.log(np.stack([tp / fn, fp / tn], axis=1)), np.stack([1 / tp + 1 / fn, 1 / fp + 1 / tn], axis=1)


def fit_line(tables: NDArray[np.float64]) -> Line:
    """Moses and Littenberg's regression, every table with the same weight."""
    y, _ = logits(tables)
    design = np.column_stack([np.ones(len(y)), y.sum(axis=1)])
    products = design.T @ design
    if np.linalg.cond(products) > 1e12:
        return Line(np.array([math.nan, math.nan]), np.full((2, 2), math.nan))
    gaps = y[:, 0] - y[:, 1]
    estimates = np.linalg.solve(products, design.T @ gaps)
    rest = gaps - design @ estimates
    return Line(estimates, np.linalg.inv(products) * (rest @ rest) / (len(y) - 2))


def fit_normal(
    tables: NDArray[np.float64], *, is_restricted: bool, start: NDArray[np.float64] | None = None
) -> RandomEffects:
    """Reitsma's bivariate model: the logits are normal with known variances within tables.

    `start` are the estimates from similar tables, for one quick descent; errors are not computed then.
    """
    y, within = logits(tables)

    def profile(root: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        a, b, c = root.tolist()
        first, second, both = a * a + within[:, 0], b * b + c * c + within[:, 1], a * b
        determinant = first * second - both * both
        # The inverse of each table's covariance matrix; the means are those that it weights.
        own, other, shared = second / determinant, first / determinant, -both / determinant
        total = np.array([[own.sum(), shared.sum()], [shared.sum(), other.sum()]])
        of_means = np.linalg.inv(total)
        means = of_means @ [(own * y[:, 0] + shared * y[:, 1]).sum(), (shared * y[:, 0] + other * y[:, 1]).sum()]
        x, z = (y - means).T
        deviance = (np.log(determinant) + own * x * x + 2.0 * shared * x * z + other * z * z).sum()
        # Constants as in the likelihood of the 2n logits, or of what is left of them without the two means.
        size = 2 * len(y) - (2 if is_restricted else 0)
        if is_restricted:
            deviance += math.log(np.linalg.det(total))
        return float(deviance) + size * math.log(2.0 * math.pi), means, of_means

    starts = _starts(np.cov(y.T) - np.diag(within.mean(axis=0)), None if start is None else start[2:])
    bounds = [(0.0, None), (None, None), (0.0, None)]
    best = _minimum(lambda root: profile(root)[0], starts, bounds, is_exact=start is None)
    deviance, means, of_means = profile(best)
    spread = _spread_of(best)
    covariance = np.zeros((5, 5))
    covariance[:2, :2] = of_means
    if start is None:
        covariance[2:, 2:] = _inverse_curvature(lambda natural: 0.5 * profile(_root_of(natural))[0], spread, spread)
    return RandomEffects(np.concatenate([means, spread]), covariance, -0.5 * deviance)


def fit_binomial(tables: NDArray[np.float64], start: NDArray[np.float64] | None = None) -> RandomEffects:
    """The generalised linear mixed model: binomial counts whose logits are normal; Laplace's approximation.

    `start` as in `fit_normal`.
    """
    _check_rates(tables)
    counts = Counts(tables)

    def deviance(means_and_root: NDArray[np.float64]) -> float:
        means, (a, b, c) = means_and_root[:2], means_and_root[2:].tolist()
        return -2.0 * (_laplace(counts, means, np.array([[a, 0.0], [b, c]])) + counts.largest)

    y, within = logits(tables)
    roots = _starts(np.cov(y.T) - np.diag(within.mean(axis=0)), None if start is None else start[2:])
    starts = [np.concatenate([y.mean(axis=0) if start is None else start[:2], root]) for root in roots]
    bounds = [(None, None), (None, None), (0.0, None), (None, None), (0.0, None)]
    best = _minimum(deviance, starts, bounds, is_exact=start is None)
    natural = np.concatenate([best[:2], _spread_of(best[2:])])
    _check_maximum(counts, natural)
    if start is not None:
        return RandomEffects(natural, np.full((5, 5), math.nan), -0.5 * deviance(best))

    def half_deviance(values: NDArray[np.float64]) -> float:
        return 0.5 * deviance(np.concatenate([values[:2], _root_of(values[2:])]))

    covariance = _inverse_curvature(half_deviance, natural, natural[2:])
    if np.isnan(covariance).any():
        # At an edge the means alone are known, with the spread as it is.
        covariance[:2, :2] = _inverse_curvature(
            lambda means: 0.5 * deviance(np.concatenate([means, best[2:]])), best[:2], None
        )
    return RandomEffects(natural, covariance, -0.5 * deviance(best))


class Counts:
    """Binomial counts of tables, and their log-likelihoods without the loss of digits that large counts bring.

    Heights are those above the rates seen, where the likelihood is largest: they are small where they matter, while
    the likelihoods themselves are as large as the counts.
    """

    def __init__(self, tables: NDArray[np.float64]) -> None:
        tp, fn, fp, tn = tables.T
        self.hits, self.rest = np.stack([tp, fp], axis=1), np.stack([fn, tn], axis=1)
        self.trials = self.hits + self.rest
        # With half a hit and half a miss more they are finite.
        self.logits = np.log((self.hits + 0.5) / (self.rest + 0.5))
        self.variances = 1.0 / (self.hits + 0.5) + 1.0 / (self.rest + 0.5)
        self._is_inner = (self.hits > 0.0) & (self.rest > 0.0)
        inner = self._is_inner
        self._shares = np.where(inner, self.hits / self.trials, 0.5)
        self._seen = np.log(np.where(inner, self.hits, 1.0) / np.where(inner, self.rest, 1.0))
        self._top = np.where(inner, -self._away(self._seen), 0.0)

    def _away(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.hits * np.logaddexp(0.0, -u) + self.rest * np.logaddexp(0.0, u))

    def heights(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-likelihood of each count at the logits u, less the largest that it has: 0 or below."""
        apart = u - self._seen
        is_near = self._is_inner & (np.abs(apart) < 1.0)
        near = np.where(is_near, apart, 0.0)
        exact = self.trials * (self._shares * near - np.log1p(self._shares * np.expm1(near)))
        return exact if is_near.all() else np.where(is_near, exact, -self._away(u) - self._top)

    @property
    def largest(self) -> float:
        """The log-likelihood at the rates seen, by Loader's form of Stirling's."""
        k, m, n = (x[self._is_inner] for x in (self.hits, self.rest, self.trials))
        # Written so that no product of counts overflows.
        rest = _stirling_errors(n) - _stirling_errors(k) - _stirling_errors(m)
        return float((rest - 0.5 * (math.log(2.0 * math.pi) + np.log(k) + np.log(m / n))).sum())


def _stirling_errors(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of n! less Stirling's approximation n ln n - n + ln(2 pi n) / 2, for n of 1 or more."""
    small = np.minimum(n, 16.0)
    exact = np.array([math.lgamma(x + 1.0) for x in small.tolist()])
    exact = exact - (small + 0.5) * np.log(small) + small - 0.5 * math.log(2.0 * math.pi)
    square = n * n
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / n
    return np.where(n <= 16.0, exact, series)


def _check_rates(tables: NDArray[np.float64]) -> None:
    """Raise where one rate is 0 or 1 in all tables, which no finite logit is."""
    for name, cells, rate in zip(
        ("tp", "fn", "fp", "tn"),
        tables.T,
        ("true-positive rate 0", "true-positive rate 1", "false-positive rate 0", "false-positive rate 1"),
        strict=True,
    ):
        if not cells.any():
            raise ValueError(
                f"{name} must be positive in some table for model='binomial'; got 0 in all of them: the most likely "
                f"{rate} has no finite logit; model='bivariate' adds one half to all cells"
            )


def _check_maximum(counts: Counts, natural: NDArray[np.float64]) -> None:
    """Raise where the likelihood keeps rising, far beyond what logits of counts can be."""
    for side, name in enumerate(("tp and fn", "fp and tn")):
        seen = counts.logits[:, side]
        if abs(natural[side]) > np.abs(seen).max() + 10.0 or natural[2 + side] > 10.0 * (np.ptp(seen) + 1.0):
            raise ValueError(
                f"{name} must show how much rates vary between tables for model='binomial'; their likelihood has no "
                "maximum, as when rates are 0 in some tables and 1 in the others; model='bivariate' adds one half"
            )


def _laplace(counts: Counts, means: NDArray[np.float64], root: NDArray[np.float64]) -> float:
    """The log-likelihood less its largest: at the mode of each table's effects, with the curvature there."""
    # Where the mode would be if logits were normal: near to it for large counts.
    spread = root @ root.T + counts.variances[:, :, None] * np.eye(2)
    effects = np.linalg.solve(spread, (counts.logits - means)[:, :, None])[:, :, 0] @ root

    def height(effects: NDArray[np.float64]) -> NDArray[np.float64]:
        u = means + effects @ root.T
        return np.asarray(counts.heights(u).sum(axis=1) - 0.5 * (effects**2).sum(axis=1))

    def curvature_at(rates: NDArray[np.float64]) -> NDArray[np.float64]:
        within = np.einsum("mi,km,mj->kij", root, counts.trials * rates * (1.0 - rates), root)
        return np.asarray(within + np.eye(2))

    reached = height(effects)
    for _ in range(100):
        rates = expit(means + effects @ root.T)
        slope = (counts.hits - counts.trials * rates) @ root - effects
        step = np.linalg.solve(curvature_at(rates), slope[:, :, None])[:, :, 0]
        for _ in range(40):
            found = height(effects + step)
            worse = found < reached - 1e-12 * (1.0 + np.abs(reached))
            if not worse.any():
                break
            step[worse] *= 0.5
        effects, reached = effects + step, found
        if np.abs(step).max() < 1e-9:
            break
    curvature = curvature_at(expit(means + effects @ root.T))
    return float((reached - 0.5 * np.log(np.linalg.det(curvature))).sum())


def expit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(-x)) without overflow, exact also near 0."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -x)))


def _starts(between: NDArray[np.float64], start: NDArray[np.float64] | None) -> list[NDArray[np.float64]]:
    """Cholesky factors (a, b, c) of [[a, 0], [b, c]]: that of a fit to similar data, or moments and a plain guess."""
    if start is not None:
        return [_root_of(np.maximum(start, [0.05, 0.05, -0.95]).clip(None, [np.inf, np.inf, 0.95]))]
    first, second = np.sqrt(np.maximum(np.diag(between), 0.05)).tolist()
    correlation = max(-0.9, min(0.9, float(between[0, 1]) / (first * second)))
    return [_root_of(np.array([first, second, correlation])), np.array([0.5, 0.1, 0.5]), np.array([0.1, 0.0, 0.1])]


def _root_of(natural: NDArray[np.float64]) -> NDArray[np.float64]:
    first, second, correlation = natural.tolist()
    return np.array([first, correlation * second, second * math.sqrt(max(0.0, 1.0 - correlation**2))])


def _spread_of(root: NDArray[np.float64]) -> NDArray[np.float64]:
    """Both standard deviations and the correlation; 0 where one of them does not vary."""
    a, b, c = root.tolist()
    second = math.hypot(b, c)
    return np.array([a, second, b / second if a > 0.0 and second > 0.0 else 0.0])


def _minimum(
    deviance: Callable[[NDArray[np.float64]], float],
    starts: list[NDArray[np.float64]],
    bounds: list[Any],
    *,
    is_exact: bool,
) -> NDArray[np.float64]:
    """The best of several descents, made exact to eight digits by a simplex if that is wanted."""
    from scipy.optimize import minimize  # noqa: PLC0415

    options = {"ftol": 1e-13, "gtol": 1e-8, "maxiter": 500}
    found = [minimize(deviance, x, method="L-BFGS-B", jac="3-point", bounds=bounds, options=options) for x in starts]
    best = min(found, key=lambda one: float(one.fun))
    if not is_exact:
        return np.asarray(best.x)
    fine = minimize(
        deviance, best.x, method="Nelder-Mead", bounds=bounds, options={"xatol": 1e-8, "fatol": 1e-11, "maxiter": 4000}
    )
    return np.asarray(fine.x if fine.fun <= best.fun else best.x)


def _inverse_curvature(
    function: Callable[[NDArray[np.float64]], float], at: NDArray[np.float64], spread: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The inverse of the matrix of second derivatives; nan at an edge of the spread, or where it has no inverse."""
    unknown = np.full((len(at), len(at)), math.nan)
    if spread is not None and (spread[:2].min() < EDGE or abs(spread[2]) > 1.0 - EDGE):
        return unknown
    steps = 1e-3 * np.maximum(np.abs(at), 0.1)
    if spread is not None:
        steps[-1] = min(steps[-1], 0.3 * (1.0 - abs(at[-1])))
    curvature = np.empty_like(unknown)
    corners = {}

    def value(*moves: tuple[int, int]) -> float:
        if moves not in corners:
            point = at.copy()
            for index, sign in moves:
                point[index] += sign * steps[index]
            corners[moves] = function(point)
        return corners[moves]

    for i in range(len(at)):
        for j in range(i + 1):
            if i == j:
                # Five points: exact to the fourth power of the step.
                inner, outer = value((i, 1)) + value((i, -1)), value((i, 2)) + value((i, -2))
                found = (16.0 * inner - outer - 30.0 * value()) / (12.0 * steps[i] ** 2)
            else:
                same = value((i, 1), (j, 1)) + value((i, -1), (j, -1))
                crossed = value((i, 1), (j, -1)) + value((i, -1), (j, 1))
                found = (same - crossed) / (4.0 * steps[i] * steps[j])
            curvature[i, j] = curvature[j, i] = found
    if np.linalg.eigvalsh(curvature).min() <= 0.0:
        return unknown
    return np.linalg.inv(curvature)


def area(intercept: float, slope: float) -> float:
    """Under logit TPR = intercept + slope * logit FPR; nan unless the curve rises."""
    if not slope > 0.0 or not math.isfinite(slope):
        return math.nan
    if slope > 1.0:
        # Seen from the other axis it is flatter.
        return 1.0 - area(-intercept / slope, 1.0 / slope)
    t = np.arange(-LOGIT_END, LOGIT_END + LOGIT_STEP, LOGIT_STEP)
    # The trapezoidal rule is exact to rounding for what vanishes at both ends like this.
    share = 1.0 / (1.0 + np.exp(-t))
    height = 1.0 / (1.0 + np.exp(-np.clip(intercept + slope * t, -700.0, 700.0)))
    return float(min(1.0, (height * share * (1.0 - share)).sum() * LOGIT_STEP))


def delta_error(
    function: Callable[[NDArray[np.float64]], float], at: NDArray[np.float64], covariance: NDArray[np.float64]
) -> float:
    """The standard error of a function of estimates, by its numerical slopes; nan if one without an error matters."""
    steps = 1e-5 * np.maximum(np.abs(at), 0.1)
    slopes = np.array([(function(at + step) - function(at - step)) / 2.0 for step in np.diag(steps)]) / steps
    if np.isnan(slopes).any():
        return math.nan
    matters = np.abs(slopes) > 1e-12
    if not matters.any():
        return math.nan
    used = covariance[np.ix_(matters, matters)]
    variance = float(slopes[matters] @ used @ slopes[matters])
    return math.sqrt(variance) if variance >= 0.0 else math.nan
