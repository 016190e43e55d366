"""Folds of a cross-validation: averages over folds, and their variance from what rows add within folds."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multiauc
from oracle_intervals import effective_numbers, freedom_alike
from oracle_uncertainty import METRICS, Problem
from strategies import mixed_denominators, smooth


def folded(y, scores, folds, metric, weights=None, groups=None, iid=False, other=None):
    """(value, rows): the class of a fold is a class of its own, unless some fold has one row of it."""
    n, k = scores.shape
    w = np.ones(n) if weights is None else weights
    unit = np.arange(n) if groups is None else groups
    names = np.unique(folds)
    single = [c for c in range(k) if any(len(np.unique(unit[(y == c) & (folds == f) & (w > 0)])) == 1 for f in names)]
    value, codes, u, t = 0.0, np.zeros(n, int), np.zeros(n), np.zeros(n)
    effect = np.zeros(n)
    for place, f in enumerate(names):
        rows = np.flatnonzero(folds == f)
        share = w[rows].sum() / w.sum()
        problem = Problem(y[rows], scores[rows], weights=None if weights is None else w[rows])
        of_rows, slopes = problem.components(metric), problem.slopes(metric)
        value += share * problem.value(metric)
        if other is not None:
            second = Problem(y[rows], other[rows], weights=None if weights is None else w[rows])
            value -= share * second.value(metric)
            of_rows, slopes = of_rows - second.components(metric), slopes - second.slopes(metric)
        for c in range(k):
            own = rows[y[rows] == c]
            u[own] = share * w[own] / w[own].sum()
            codes[own] = c if c in single else (place + 1) * k + c
            t[own] = of_rows[y[rows] == c]
            effect[own] = w[own] / w.sum() * slopes[c]
    exists = w > 0
    return value, codes[exists], u[exists], t[exists], unit[exists], effect[exists] if iid else None


def variance_and_freedom(codes, u, t, unit, effect):
    """Rows whose weights u add up to the share of the fold: what `Rows` does with classes of different totals."""
    psi = np.zeros(len(codes))
    strata = np.unique(codes)
    effective = {}
    for k in strata:
        own = codes == k
        sums = np.array([u[own & (unit == g)].sum() for g in np.unique(unit[own])])
        e = effective[k] = sums.sum() ** 2 / (sums**2).sum()
        mean = np.average(t[own], weights=u[own])
        psi[own] = np.sqrt(e / (e - 1)) * u[own] * (t[own] - mean)
    if effect is not None:
        psi = psi + effect
    totals = np.array([psi[unit == g].sum() for g in np.unique(unit)])
    v = (totals**2).sum()
    within = [np.array([psi[(codes == k) & (unit == g)].sum() for g in np.unique(unit[codes == k])]) for k in strata]
    simple = [(s**2).sum() ** 2 / (effective[k] - 1) for k, s in zip(strata, within, strict=True)]
    nu_s = v**2 / sum(simple)
    if len(totals) < sum(map(len, within)):
        bracket = (totals**4).sum() - v**2 / len(totals)
        nu_4 = nu_s if bracket <= 1e-12 * (totals**4).sum() else 2 * v**2 / bracket
    else:
        brackets = [((s**4).sum() - (s**2).sum() ** 2 / len(s), (s**4).sum()) for s in within]
        nu_4 = 2 * v**2 / sum(2 * a if b <= 1e-12 * q else b for (b, q), a in zip(brackets, simple, strict=True))
    return v, max(1.0, min(nu_s, nu_4))


def ceilings(y, scores, folds, metric, weights):
    """The largest components of the classes, averaged over folds."""
    w = np.ones(len(y)) if weights is None else weights
    inside = [folds == one for one in np.unique(folds)]
    of_folds = [Problem(y[rows], scores[rows], weights=w[rows]).chances(metric) for rows in inside]
    return 2 * np.average(of_folds, axis=0, weights=[w[rows].sum() for rows in inside])


def draw(seed, k, least):
    """Labels and folds such that every fold has at least `least` rows of every class."""
    rng = np.random.default_rng(seed)
    n_folds = int(rng.integers(2, 5))
    y = np.tile(np.repeat(np.arange(k), least), n_folds)
    folds = np.repeat(np.arange(n_folds), k * least)
    more = int(rng.integers(0, 40))
    y, folds = np.r_[y, rng.integers(k, size=more)], np.r_[folds, rng.integers(n_folds, size=more)]
    order = rng.permutation(len(y))
    return rng, y[order], folds[order]


@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([1, 2, 3]), st.booleans(), st.booleans())
def test_averages_over_folds(seed, k, least, weighted, iid):
    rng, y, folds = draw(seed, k, least)
    scores, other = mixed_denominators(rng, len(y), k), smooth(rng, len(y), k)
    weights = np.exp(rng.normal(size=len(y))) if weighted else None
    # A class with one row in a fold has its slopes averaged over folds: only its variance without them is defined here.
    iid = iid and least > 1
    options = {"sample_weight": weights, "folds": folds, "sampling": "iid" if iid else "stratified"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = multiauc.evaluate(y, scores, **options)
    for metric in METRICS:
        value, *parts = folded(y, scores, folds, metric, weights, iid=iid)
        v, freedom = variance_and_freedom(*parts)
        found = result.metrics[metric]
        assert found.value == pytest.approx(value, rel=1e-13)
        assert found.variance() == pytest.approx(v, rel=1e-9, abs=1e-18)
        if found.standard_error > 0:
            assert found.degrees_of_freedom == pytest.approx(freedom, rel=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            comparison = multiauc.compare(y, {"a": scores, "b": other}, metric=metric, **options)
        value, *parts = folded(y, scores, folds, metric, weights, iid=iid, other=other)
        v, freedom = variance_and_freedom(*parts)
        difference = comparison.difference("a", "b")
        assert difference.value == pytest.approx(value, abs=1e-13)
        assert difference.variance == pytest.approx(v, rel=1e-9, abs=1e-18)
        if difference.variance > 0:
            most = freedom_alike(ceilings(y, scores, folds, metric, weights), effective_numbers(y, weights))
            assert difference.degrees_of_freedom == pytest.approx(min(freedom, max(1.0, most)), rel=1e-6)


@pytest.mark.parametrize("within", [True, False])
def test_groups_in_folds_and_across_them(within, rng):
    y, folds = np.tile([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], 6), np.repeat([0, 1, 2], 24)
    scores = smooth(rng, len(y), 3)
    groups = 10 * folds + rng.integers(0, 5, size=len(y)) if within else rng.integers(0, 9, size=len(y))
    result = multiauc.evaluate(y, scores, folds=folds, groups=groups)
    for metric in METRICS:
        # Groups with rows of several classes make class sizes random.
        value, *parts = folded(y, scores, folds, metric, groups=groups, iid=True)
        v, freedom = variance_and_freedom(*parts)
        assert result.metrics[metric].value == pytest.approx(value, rel=1e-13)
        assert result.metrics[metric].variance() == pytest.approx(v, rel=1e-10)
        assert result.metrics[metric].degrees_of_freedom == pytest.approx(freedom, rel=1e-8)


def test_one_fold_s_worth_of_rows_twice_is_half_the_variance():
    """Two folds that hold the same rows: the value of one of them, and half its variance."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 10)
    scores = smooth(rng, 30, 3)
    once = multiauc.evaluate(y, scores)
    twice = multiauc.evaluate(np.r_[y, y], np.r_[scores, scores], folds=np.repeat(["a", "b"], 30))
    for metric in METRICS:
        assert twice.metrics[metric].value == pytest.approx(once.metrics[metric].value, rel=1e-15)
        assert twice.metrics[metric].variance() == pytest.approx(once.metrics[metric].variance() / 2, rel=1e-12)
    assert "average over 2 folds" in repr(twice)


def test_perfect_folds_are_exactly_one(rng):
    for _ in range(30):
        y = np.tile([0, 1, 2], 20)
        folds = rng.permutation(np.repeat(np.arange(4), 15))
        if len(np.unique(3 * folds + y)) < 12:
            continue
        result = multiauc.evaluate(y, np.eye(3)[y], folds=folds, sample_weight=np.exp(rng.normal(size=60)))
        assert all(estimate.value == 1.0 for estimate in result.metrics.values())


def test_scales_of_fold_models_do_not_matter(rng):
    """Scores of one fold shifted and stretched: pooled they are another ranking, within folds the same."""
    y, folds = np.tile([0, 1], 60), np.repeat(np.arange(4), 30)
    score = y + rng.normal(size=120)
    moved = (1 + folds) * score + 5 * folds
    value = multiauc.evaluate(y, score, folds=folds).auc_mu.value
    assert multiauc.evaluate(y, moved, folds=folds).auc_mu.value == value
    assert multiauc.auc_mu_score(y, moved) != value
    with pytest.raises(TypeError, match="'pooled'; leave out folds="):
        multiauc.evaluate(y, moved, folds=folds, pooled=True)
    with pytest.raises(TypeError, match="'pooled'; leave out folds="):
        multiauc.compare(y, {"a": score, "b": moved}, folds=folds, pooled=True)


def test_what_folds_cannot_have(rng):
    y, folds = np.tile([0, 1, 2], 8), np.repeat([0, 1], 12)
    scores = smooth(rng, 24, 3)
    result = multiauc.evaluate(y, scores, folds=folds)
    comparison = multiauc.compare(y, {"a": scores, "b": scores[::-1]}, folds=folds)
    for refused in (
        lambda: result.bootstrap(10),
        lambda: comparison.bootstrap(10),
        lambda: comparison.ranking_probabilities(10),
        lambda: result.report("never.html"),
        lambda: comparison.report("never.html"),
        result.influences,
        lambda: multiauc.compare(y, {"a": scores, "b": scores}, folds=folds, metric="multiclass_roc"),
    ):
        with pytest.raises(ValueError, match="with folds is not offered"):
            refused()
    with pytest.raises(ValueError, match="'cautious' is not available for AUC_mu"):
        result.auc_mu.confidence_interval(method="cautious")
    with pytest.raises(ValueError, match="not defined with folds"):
        result.auc_mu.variance("unbiased")
    with pytest.raises(AttributeError, match="without folds"):
        result.per_class  # noqa: B018
    with pytest.raises(ValueError, match=r"fold number 2 of 2 \(in sorted order\) has 1 row and none of 0, 1"):
        multiauc.evaluate(y, scores, folds=np.r_[np.zeros(23), 1])
    with pytest.raises(ValueError, match="folds must have one entry per row, 24 rows"):
        multiauc.evaluate(y, scores, folds=[0, 1])
    with pytest.raises(ValueError, match="folds must have at least two distinct folds"):
        multiauc.evaluate(y, scores, folds=np.zeros(24))


def test_single_rows_of_a_class_and_classes_without_rows(rng):
    y, folds = np.r_[np.tile([0, 1], 10), 2], np.repeat([0, 1], [10, 11])
    scores = smooth(rng, 21, 3)
    kept = y != 2
    with pytest.raises(ValueError, match="none of 2"):
        multiauc.evaluate(y, scores, folds=folds)
    ignored = multiauc.evaluate(y[kept], scores[kept], folds=folds[kept], labels=[0, 1, 2], absent="ignore")
    plain = multiauc.evaluate(y[kept], scores[kept][:, :2], folds=folds[kept])
    assert ignored.auc_mu.value == plain.auc_mu.value
    undefined = multiauc.evaluate(y[kept], scores[kept], folds=folds[kept], labels=[0, 1, 2], absent="nan")
    assert math.isnan(undefined.auc_mu.value)


def test_coverage_of_fold_averages():
    """Models fitted elsewhere, on their own scales: the interval covers the mean of their population values."""
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(300):
        y, folds = np.tile([0, 1], 40), np.repeat(np.arange(4), 20)
        score = (1 + folds) * (1.2 * y + rng.normal(size=80)) + 3 * folds
        low, high = multiauc.evaluate(y, score, folds=folds).auc_mu.confidence_interval()
        hits += low < 0.80193 < high  # Phi(1.2 / sqrt(2))
    assert 0.91 <= hits / 300 <= 0.985
