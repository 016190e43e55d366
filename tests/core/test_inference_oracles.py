"""Tests, families of tests, unpaired comparisons, plans and limits of curves against their formulas in plain NumPy."""

import math

import numpy as np
import pytest
from scipy import stats

import multiauc
from oracle_intervals import effective_numbers, ordered_weights, wilson_interval, worst_case
from oracle_intervals import wilson as wilson_effect
from oracle_uncertainty import METRICS, Problem

DRAWS = 200_000
KINDS = ("plain", "weights", "groups", "groups across classes", "iid")


def drawn(rng: np.random.Generator, n: int = 90) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Rows of three classes and four models that have noise in common."""
    codes = np.r_[np.repeat([0, 1, 2], 4), rng.choice(3, size=n - 12, p=[0.5, 0.3, 0.2])]
    noise = rng.normal(size=(n, 3))
    signals = {"a": 1.0, "b": 1.2, "c": 1.0, "d": 1.5}
    models = {
        name: np.round(signal * np.eye(3)[codes] + 0.7 * noise + 0.7 * rng.normal(size=(n, 3)), 1)
        for name, signal in signals.items()
    }
    return codes, models


def asked(kind: str, rng: np.random.Generator, codes: np.ndarray) -> tuple[dict, dict]:
    """Options of the library, and those of the oracle's `inference`."""
    if kind == "weights":
        return {"sample_weight": rng.lognormal(size=len(codes))}, {}
    if kind.startswith("groups"):
        groups = rng.integers(12, size=len(codes)) + (0 if "across" in kind else 20 * codes)
        return {"groups": groups}, {"groups": groups}
    return ({"sampling": "iid"}, {"iid": True}) if kind == "iid" else ({}, {})


def problems(codes, models, options):
    return {name: Problem(codes, scores, options.get("sample_weight")) for name, scores in models.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", METRICS)
def test_a_value(rng, kind, metric):
    codes, models = drawn(rng)
    options, how = asked(kind, rng, codes)
    estimate = multiauc.evaluate(codes, models["a"], **options).metrics[metric]
    problem = Problem(codes, models["a"], options.get("sample_weight"))
    rows, theta = problem.inference(metric, **how), problem.value(metric)
    weights = options.get("sample_weight")
    n = effective_numbers(codes, weights, options.get("groups"))
    worst = worst_case(metric, theta, n, ordered_weights(metric, np.bincount(codes, weights=weights)))
    effect, freedom = wilson_effect(theta, rows.variance(), rows.degrees_of_freedom(), worst)
    t = (theta - 0.7) / math.sqrt(0.7 * 0.3 * effect)
    expected = {"two-sided": 2 * stats.t.sf(abs(t), freedom), "greater": stats.t.sf(t, freedom)}
    expected["less"] = 1 - expected["greater"]
    for alternative, p_value in expected.items():
        assert estimate.test(0.7, alternative).p_value == pytest.approx(p_value, rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", METRICS)
def test_a_difference_and_its_margins(rng, kind, metric):
    codes, models = drawn(rng)
    options, how = asked(kind, rng, codes)
    difference = multiauc.compare(codes, models, metric=metric, **options).difference("a", "b")
    first, second = (problems(codes, models, options)[name] for name in "ab")
    rows, value = first.inference(metric, model=second, **how), first.value(metric) - second.value(metric)
    error, freedom = math.sqrt(rows.variance()), rows.freedom_of_difference(first.chances(metric))
    assert difference.p_value == pytest.approx(2 * stats.t.sf(abs(value) / error, freedom), rel=1e-8)
    reach = stats.t.isf(0.05, freedom) * error
    assert tuple(difference.confidence_interval(0.9)) == pytest.approx((value - reach, value + reach), rel=1e-8)
    above, below = (stats.t.sf((0.1 + sign * value) / error, freedom) for sign in (1, -1))
    assert difference.non_inferiority(0.1).p_value == pytest.approx(above, rel=1e-8)
    assert difference.equivalence(0.1).p_value == pytest.approx(max(above, below), rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_all_models_at_once(rng, kind):
    """Wald's F by the inverse of the covariance matrix; corrected p-values by drawing from the joint distribution."""
    codes, models = drawn(rng)
    options, how = asked(kind, rng, codes)
    comparison = multiauc.compare(codes, models, **options)
    known = list(problems(codes, models, options).values())
    covariance = np.array([[a.covariance("auc_mu", model=b, **how) for b in known] for a in known])
    values = np.array([problem.value("auc_mu") for problem in known])
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    contrasts = [known[i].inference("auc_mu", model=known[j], **how) for i, j in pairs]
    freedoms = [rows.freedom_of_difference(known[0].chances("auc_mu")) for rows in contrasts]
    freedom = min(freedoms)

    contrasts = np.array([np.eye(4)[0] - np.eye(4)[i] for i in (1, 2, 3)])
    d = contrasts @ values
    f = d @ np.linalg.inv(contrasts @ covariance @ contrasts.T) @ d / 3
    omnibus = comparison.omnibus()
    assert omnibus.f == pytest.approx(f, rel=1e-7)
    assert omnibus.degrees_of_freedom == pytest.approx((3.0, freedom), rel=1e-8)
    assert omnibus.p_value == pytest.approx(stats.f.sf(f, 3, freedom), rel=1e-6)

    contrasts = np.array([np.eye(4)[i] - np.eye(4)[j] for i, j in pairs])
    errors = np.sqrt(np.einsum("pi,ij,pj->p", contrasts, covariance, contrasts))
    normal = rng.multivariate_normal(np.zeros(4), covariance, size=DRAWS) @ contrasts.T / errors
    largest = np.abs(normal).max(axis=1)
    p_values = 2 * stats.t.sf(np.abs(contrasts @ values) / errors, freedoms)
    for found, p in zip(comparison.corrected_p_values().values(), p_values, strict=True):
        share = np.mean(largest >= stats.norm.isf(p / 2))
        assert found == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / DRAWS) + 1e-4)
    tail = stats.norm.sf(np.quantile(largest, 0.95))
    reaches = stats.t.isf(tail, freedoms) * errors
    for (low, high), reach in zip(comparison.simultaneous_intervals().values(), reaches, strict=True):
        assert (high - low) / 2 == pytest.approx(reach, rel=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_different_rows(rng, kind):
    evaluations, rows = [], []
    for n in (90, 60):
        codes, models = drawn(rng, n)
        options, how = asked(kind, rng, codes)
        evaluations.append(multiauc.evaluate(codes, models["a"], **options))
        problem = Problem(codes, models["a"], options.get("sample_weight"))
        rows.append(problem.inference("hand_till", **how))
    found = multiauc.compare_samples(*evaluations, metric="hand_till")
    v = np.array([one.variance() for one in rows])
    freedom = v.sum() ** 2 / sum(v**2 / [one.degrees_of_freedom() for one in rows])
    assert found.degrees_of_freedom == pytest.approx(freedom, rel=1e-8)
    assert found.variance == pytest.approx(v.sum(), rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_accelerations(rng, kind):
    """(1/6) sum u^3 / (sum u^2)^(3/2), u what rows (or groups) add, without the factors for small classes."""
    codes, models = drawn(rng)
    options, how = asked(kind, rng, codes)
    found = multiauc.evaluate(codes, models["a"], **options).bootstrap(5, rng=0).accelerations
    problem = Problem(codes, models["a"], options.get("sample_weight"))
    for acceleration, metric in zip(found, METRICS, strict=True):
        rows = problem.inference(metric, **how)
        u = problem.centred(problem.components(metric))
        if rows.slopes is not None:
            u = u + problem.weights / problem.weights.sum() * rows.slopes[codes]
        u = rows.sums(u)
        assert acceleration == pytest.approx((u**3).sum() / (u**2).sum() ** 1.5 / 6, rel=1e-9)


@pytest.mark.parametrize("metric", ["auc_mu", "hand_till"])
def test_a_plan(rng, metric):
    """V = sum of s_k^2 / n_k: the planned sizes reach the width, and no smaller ones with the same shares do."""
    codes, models = drawn(rng)
    pilot = multiauc.evaluate(codes, models["a"])
    problem = Problem(codes, models["a"])
    t, theta = problem.components(metric), problem.value(metric)
    spreads = np.array([np.var(t[codes == k], ddof=1) for k in range(3)])
    plan = multiauc.sample_size(pilot, metric=metric, half_width=0.01)

    def half_width(sizes: np.ndarray) -> float:
        worst = worst_case(metric, theta, sizes, ordered_weights(metric, sizes))
        low, high = wilson_interval(theta, (spreads / sizes).sum(), plan.degrees_of_freedom, worst)
        return (high - low) / 2

    sizes = np.array(list(plan.per_class.values()), dtype=float)
    # The pilot's squares are those of n_k - 1 independent rows, the plan's of its own number less one.
    assert plan.standard_error == pytest.approx(math.sqrt((spreads / sizes).sum()), rel=0.01)
    assert half_width(sizes) == pytest.approx(0.01, rel=0.01)
    np.testing.assert_allclose(sizes / sizes.sum(), np.bincount(codes) / len(codes), atol=1e-3)
    best = np.array(list(plan.best_per_class.values()), dtype=float)
    np.testing.assert_allclose(best / best.sum(), np.sqrt(spreads) / np.sqrt(spreads).sum(), atol=0.01)


def wilson(share: float, n: int, z: float) -> tuple[float, float]:
    """The roots p of |share - p| = z sqrt(p (1 - p) / n)."""
    a, b, c = 1 + z**2 / n, -(2 * share + z**2 / n), share**2
    roots = np.sqrt(max(0.0, b**2 - 4 * a * c))
    return (-b - roots) / (2 * a), (-b + roots) / (2 * a)


def test_limits_of_a_curve(rng):
    """Wilson's limits of both rates, combined as parts of one distance (Zou and Donner)."""
    positive, negative = np.sort(rng.normal(1.2, 1.0, size=40)), np.sort(rng.normal(size=70))
    curve = multiauc.roc_curves(np.repeat([1, 0], [40, 70]), np.r_[positive, negative])[1]
    band = curve.band(0.9, simultaneous=False)
    z = stats.norm.isf(0.05)

    def height(f: float) -> float:
        """The share of positive rows above the negative row that (up to rounding) a share f of its class is above."""
        above = min(int(np.floor(f * 70 + 1e-9)), 69)
        return float(np.mean(positive > negative[::-1][above]))

    for place in np.flatnonzero((band.fpr > 0.15) & (band.fpr < 0.85))[::7]:
        f = band.fpr[place]
        h = height(f)
        low, high = wilson(h, 40, z)
        before, after = wilson(f, 70, z)
        assert curve.sensitivity(1 - f).value == pytest.approx(h)
        assert band.low[place] == pytest.approx(max(0.0, h - math.hypot(h - low, h - height(before))))
        assert band.high[place] == pytest.approx(min(1.0, h + math.hypot(high - h, height(after) - h)))
