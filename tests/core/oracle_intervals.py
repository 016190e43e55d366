"""Wilson's interval with a shrunken design effect (METHODS 2.2) in plain NumPy and SciPy, as slow as it is clear."""

import numpy as np
from scipy import stats

AVERAGES_OF_PAIRS = ("auc_mu", "hand_till")
ONE_VS_REST = ("one_vs_rest", "one_vs_rest_prevalence")


def effective_numbers(codes, weights=None, groups=None) -> np.ndarray:
    """How many equal rows, or groups, each class is worth."""
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights)
    groups = np.arange(len(codes)) if groups is None else np.asarray(groups)
    found = []
    for k in range(max(codes) + 1):
        sums = [weights[(codes == k) & (groups == g)].sum() for g in np.unique(groups[codes == k])]
        found.append(np.sum(sums) ** 2 / np.square(sums).sum())
    return np.array(found)


def ordered_weights(metric, sizes: np.ndarray, pair_weights=None) -> np.ndarray:
    """omega_cd of ordered pairs: how much the share of c ahead of d, by the score of c, counts."""
    k = len(sizes)
    off = 1.0 - np.eye(k)
    shares = sizes / sizes.sum()
    if metric in AVERAGES_OF_PAIRS:
        raw = off * (np.ones((k, k)) if pair_weights is None else pair_weights)
        return raw / raw.sum()
    rest = off * shares[None, :] / (1.0 - shares)[:, None]
    if isinstance(metric, int):
        return rest * (np.arange(k) == metric)[:, None]
    return rest * (shares if metric == "one_vs_rest_prevalence" else np.full(k, 1.0 / k))[:, None]


def worst_case(metric, value: float, n: np.ndarray, omega: np.ndarray | None) -> tuple[float, float]:
    """(D0, q). `metric` may be the column of a class against the rest."""
    k = len(n)
    if k == 2:
        return (n[1] / n[0] + n[0] / n[1]) / (n[0] + n[1]), 1 / 3
    if metric in AVERAGES_OF_PAIRS:
        b = omega.sum(axis=1) + omega.sum(axis=0)
        rho = [np.mean([n[d] / (n[c] + n[d]) for d in range(k) if d != c]) for c in range(k)]
        return float(np.sum(b**2 * rho / n)), 1 / 3
    if isinstance(metric, int) or metric in ONE_VS_REST:
        b, x = omega.sum(axis=1) + omega.sum(axis=0), min(value, 1 - value)
        return max((b[c] - min(x, b[c] / 2)) / ((1 - x) * n[c]) for c in range(k)), 1 / 4
    return 1 / min(n), 1 / 4


def freedom_alike(b: np.ndarray, n: np.ndarray) -> float:
    """Satterthwaite's degrees of freedom if components vary in proportion to the largest possible, b."""
    v = b**2 / n
    return float(v.sum() ** 2 / (v**2 / (n - 1)).sum())


def worst_case_of_recalls(recalls: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    """(D0, q) of their mean: what the failures of every class let one believe of the data, and the q that does so."""
    b, x = 1 / len(n), min(recalls.mean(), 1 - recalls.mean())
    d0 = max((b - min(x, b / 2)) / ((1 - x) * rows) for rows in n)
    failures = n * np.minimum(recalls, 1 - recalls)
    share = np.average(failures / (failures + 1 / 4), weights=1 / n)
    return d0, x / d0 * (1 / share - 1) if share > 0 else np.inf


def wilson(value: float, variance: float, freedom: float, worst: tuple[float, float]) -> tuple[float, float]:
    """(D, degrees of freedom)."""
    d0, q = worst
    if value in (0.0, 1.0) or variance == 0.0:
        return d0, np.inf
    seen, failures = variance / (value * (1 - value)), min(value, 1 - value) / d0
    share = failures / (failures + q)
    effect = share * seen + (1 - share) * d0
    return effect, freedom * (effect / (share * seen)) ** 2


def wilson_interval(value, variance, freedom, worst, level=0.95) -> tuple[float, float]:
    effect, freedom = wilson(value, variance, freedom, worst)
    t = stats.t.isf((1 - level) / 2, freedom) if np.isfinite(freedom) else stats.norm.isf((1 - level) / 2)
    reach = t * np.sqrt(value * (1 - value) * effect + t**2 * effect**2 / 4)
    middle = value + t**2 * effect / 2
    return (middle - reach) / (1 + t**2 * effect), (middle + reach) / (1 + t**2 * effect)
