"""Student's t distribution: tails and quantiles, for any positive number of degrees of freedom."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# With this many degrees of freedom the normal distribution agrees in all digits that matter.
NORMAL_FROM = 1e8
TINY = 1e-300
NODES = 48
MANY = 2000.0
NEAR = 1e-6


def two_sided_p(t: float, freedom: float) -> float:
    r"""P(\|T\| >= \|t\|) for Student's T."""
    if math.isinf(t):
        return 0.0
    if math.isnan(t) or math.isnan(freedom):
        return math.nan
    if freedom >= NORMAL_FROM:
        return math.erfc(abs(t) / math.sqrt(2.0))
    half, square = 0.5 * freedom, t * t / freedom
    # The regularised incomplete beta function at 1 / (1 + t^2 / freedom), for a = freedom / 2 and b = 1 / 2.
    x, complement = 1.0 / (1.0 + square), square / (1.0 + square)
    if complement == 0.0:
        return 1.0
    front = math.exp(_log_inverse_beta(half) - half * math.log1p(square) + 0.5 * math.log(complement))
    if x < (half + 1.0) / (half + 2.5):
        return front * _continued_fraction(half, 0.5, x) / half
    return 1.0 - front * _continued_fraction(0.5, half, complement) / 0.5


def two_sided_ps(
    t: NDArray[np.float64], freedom: NDArray[np.float64], logs: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """`two_sided_p` of many statistics at once; nan for nan. `logs` are -log B(freedom / 2, 1 / 2), if known."""
    # Terms of the continued fraction converge within some dozens of steps, all statistics at once.
    nu = np.minimum(freedom, NORMAL_FROM)
    square = t * t / nu
    half, x, complement = 0.5 * nu, 1.0 / (1.0 + square), square / (1.0 + square)
    front = _log_inverse_betas(half) if logs is None else logs
    is_far = x < (half + 1.0) / (half + 2.5)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        front = np.exp(front - half * np.log1p(square) + 0.5 * np.log(complement))
    a, b = np.where(is_far, half, 0.5), np.where(is_far, 0.5, half)
    tails = front * _continued_fractions(a, b, np.where(is_far, x, complement)) / a
    found = np.where(is_far, tails, np.where(t == 0.0, 1.0, 1.0 - tails))
    is_normal = freedom >= NORMAL_FROM
    found[is_normal] = [math.erfc(abs(one) / math.sqrt(2.0)) for one in t[is_normal].tolist()]
    return np.where(np.isnan(t) | np.isnan(nu), np.nan, found)


def upper_p(t: float, freedom: float) -> float:
    """P(T >= t) for Student's T."""
    half = 0.5 * two_sided_p(t, freedom)
    return half if t >= 0.0 else 1.0 - half


def t_power(shift: float, freedom: float, tail: float) -> float:
    r"""How often a two-sided test by Student's t rejects, for a difference of `shift` standard errors.

    P(\|T\| > t) for the noncentral T: over the distribution of the estimated standard error, in units of the true one.
    """
    t = upper_quantile(tail, freedom)
    if freedom >= NORMAL_FROM:
        return _normal_cdf(shift - t) + _normal_cdf(-shift - t)
    # The logarithm of the error has a smooth density, next to nothing beyond ten of its standard deviations.
    spread = 1.0 / math.sqrt(2.0 * freedom)
    logs = np.linspace(-40.0 * spread, 10.0 * spread, 801)
    errors = np.exp(logs)
    weights = np.exp(freedom * (logs - 0.5 * (errors**2 - 1.0)))
    rejected = [_normal_cdf(shift - t * e) + _normal_cdf(-shift - t * e) for e in errors.tolist()]
    return float(np.dot(weights, rejected) / weights.sum())


def _normal_cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def f_tails(x: NDArray[np.float64], first: int, second: float) -> NDArray[np.float64]:
    """P(F >= x) of positive numbers, for the F distribution with these degrees of freedom, the first a whole number.

    It is the regularised incomplete beta function at 1 / (1 + first x / second), for a = second / 2 and b = first / 2,
    by its recurrence in b: sums of positive terms.
    """
    a, odds = 0.5 * second, first * x / second
    share = odds / (1.0 + odds)
    power = np.exp(-a * np.log1p(odds))
    if first % 2 == 0:
        b, tails, term = 0.0, np.zeros_like(x), power
    else:
        b = 0.5
        tails = np.array([two_sided_p(math.sqrt(t), second) for t in (odds * second).tolist()])
        term = 2.0 * math.exp(_log_inverse_beta(a)) * np.sqrt(share) * power
    while b < 0.5 * first:
        tails = tails + term
        term = term * (a + b) / (b + 1.0) * share
        b += 1.0
    return np.asarray(tails)


@lru_cache(maxsize=256)
def upper_quantile(tail: float, freedom: float) -> float:
    """The t with P(T > t) = `tail`, for a tail below one half."""
    if math.isnan(freedom):
        return math.nan
    z = NormalDist().inv_cdf(1.0 - tail)
    if freedom >= NORMAL_FROM:
        return z
    wanted = math.log(2.0 * tail)
    scale = _log_inverse_beta(0.5 * freedom) - 0.5 * math.log(freedom)
    low, high = 0.0, math.inf
    t = z + (z**3 + z) / (4.0 * freedom)
    for _ in range(200):
        p = two_sided_p(t, freedom)
        excess = (math.log(p) if p > 0.0 else -math.inf) - wanted
        low, high = (t, high) if excess > 0.0 else (low, t)
        density = math.exp(scale - 0.5 * (freedom + 1.0) * math.log1p(t * t / freedom))
        step = t + excess * p / (2.0 * density) if density > 0.0 and p > 0.0 else math.nan
        if not low < step < high:
            step = 2.0 * t if math.isinf(high) else 0.5 * (low + high)
        if abs(step - t) <= 1e-14 * t:
            return step
        t = step
    return t


def upper_quantiles(tail: float, freedoms: NDArray[np.float64]) -> NDArray[np.float64]:
    """`upper_quantile` of many degrees of freedom from 1 on, to ten digits; nan for nan.

    The logarithm of t is smooth in 1 / freedom: a polynomial through its Chebyshev points stands for it.
    """
    nodes = 0.5 - 0.5 * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    logs = [math.log(upper_quantile(tail, 1.0 / x)) for x in nodes.tolist()]
    polynomial = np.polynomial.Chebyshev.fit(nodes, logs, NODES - 1, domain=[0.0, 1.0])
    return np.asarray(np.exp(polynomial(1.0 / freedoms)))


def quantiles_as_far(z: NDArray[np.float64], freedoms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The t of each number of degrees of freedom that is exceeded as often as a normal number exceeds z >= 0."""
    # Of many degrees of freedom by the expansion of Cornish and Fisher, where the continued fraction takes long.
    many = np.maximum(freedoms, MANY)
    square = z * z
    terms = (
        (square + 1.0) / 4.0,
        ((5.0 * square + 16.0) * square + 3.0) / 96.0,
        (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0,
        ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92160.0,
    )
    t = z * (1.0 + sum(term / many ** (power + 1) for power, term in enumerate(terms)))
    few = np.flatnonzero((z >= 0.0) & (freedoms < MANY))
    far, nu = np.maximum(z[few], NEAR), freedoms[few]
    wanted = np.log([math.erfc(one / math.sqrt(2.0)) for one in far.tolist()])
    logs = _log_inverse_betas(0.5 * nu)
    scale = logs - 0.5 * np.log(nu)
    # Wallace's approximation, then Newton's steps, on scales where heavy and light tails are nearly straight.
    log_t = 0.5 * (np.log(nu) + np.log(np.expm1(np.minimum(((8 * nu + 1) / (8 * nu + 3)) ** 2 * far**2 / nu, 700.0))))
    for _ in range(12):
        now = np.exp(log_t)
        p = two_sided_ps(now, nu, logs)
        density = np.exp(scale - 0.5 * (nu + 1.0) * np.log1p(now * now / nu))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.clip(np.nan_to_num((np.log(p) - wanted) * p / (2.0 * now * density)), -1.0, 100.0)
        log_t = log_t + step
        if not (np.abs(step) > 1e-12).any():
            break
    # Nearer to 0 both distributions are flat.
    t[few] = np.exp(log_t) * (z[few] / far)
    return np.asarray(t)


def _log_inverse_beta(a: float) -> float:
    """-log B(a, 1/2)."""
    if a > 1e3:
        # Differences of log-gammas cancel; their expansion does not.
        ratio = 0.5 * math.log(a) - 1.0 / (8.0 * a) + 1.0 / (192.0 * a**3)
    else:
        ratio = math.lgamma(a + 0.5) - math.lgamma(a)
    return ratio - 0.5 * math.log(math.pi)


def _log_inverse_betas(a: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([_log_inverse_beta(one) if one == one else math.nan for one in a.tolist()])  # noqa: PLR0124


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, evaluated forwards by Lentz's method."""
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away_from_zero(1.0 + term * d)
            c = _away_from_zero(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < 3e-16:
            break
    return value


def _continued_fractions(a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """`_continued_fraction` of many numbers at once."""

    def away_from_zero(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(np.abs(values) < TINY, TINY, values)

    c, d = np.ones_like(x), 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / away_from_zero(1.0 + term * d)
            c = away_from_zero(1.0 + term / c)
            value = value * c * d
        if not (np.abs(c * d - 1.0) >= 1e-15).any():  # nan never converges
            break
    return value


def _away_from_zero(value: float) -> float:
    return TINY if abs(value) < TINY else value
